"""Woven texts and the files of a tree: written, compared, and removed where nothing weaves them."""

import difflib
import json
from pathlib import Path

from memwall.record import files, machines
from memwall.record.errors import UserError

Texts = dict[str, str]  # by their path in the tree
DIFF_LINES = 40


def write(folder: Path, texts: Texts) -> None:
    """Writes woven texts; files that are already right are left alone."""
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or files.read(path) != text:
            files.write(path, text)


def write_beside(folder: Path, texts: Texts) -> None:
    """Writes woven texts where others may have files; what was not woven is left alone."""
    for name in texts:
        if (folder / name).exists() and not _is_woven(files.read(folder / name)):
            raise UserError(f"{folder / name}: found a file that was not woven, expected"
                            " --output FOLDER without one of that name")
    write(folder, texts)


def _is_woven(text: str) -> bool:
    """Whether a page, its figure or its statements look like ours."""
    if text.startswith(("<!-- Woven", "<svg")):
        return True
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and ("statements" in found or "$schema" in found)


def remove_obsolete(root: Path, texts: Texts) -> None:
    """Deletes pages and figures that nothing weaves any more."""
    for name in obsolete(root, texts):
        (root / name).unlink()
        print(f"removed {name}, which nothing weaves any more")


def obsolete(root: Path, texts: Texts) -> list[str]:
    """Woven files in the tree that `everything` does not contain."""
    chapters = root / "experiments"
    found = [path for name in ("figures/*", "README.md", "answers.md", "report.md", "report.json")
             for path in chapters.glob(f"*/{name}")]
    for folder in (root / "reports" / machine for machine in machines.listed(root)):
        found += [*folder.glob("*.md"), *folder.glob("figures/**/*")]
    names = [path.relative_to(root).as_posix() for path in found if path.is_file()]
    return sorted(name for name in names if name not in texts)


def differences(root: Path, texts: Texts) -> list[str]:
    """What of the tree is not as it would be woven now, each as a readable diff."""
    found = []
    for name, text in texts.items():
        path = root / name
        if not path.exists():
            found.append(f"{name}: missing, expected it to be woven (`just report`)")
        elif (present := files.read(path, name)) != text:
            found.append(f"{name}: differs from what is woven now\n{_diff(present, text)}")
    for name in obsolete(root, texts):
        found.append(f"{name}: found a file that nothing weaves")
    return found


def _diff(present: str, woven: str) -> str:
    lines = list(
        difflib.unified_diff(
            present.splitlines(), woven.splitlines(), "in the tree", "woven", "", "", 1, ""
        )
    )
    shown = [line[:160] for line in lines[:DIFF_LINES]]
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"... {more} more lines"] if more > 0 else [])])

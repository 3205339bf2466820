"""`just new`: a small experiment that already builds, runs, weaves and passes the checks."""

import re
from pathlib import Path

from memwall.pages import short
from memwall.record import definition, files, names
from memwall.record.errors import UserError

TEMPLATES = Path(__file__).with_name("new_experiment")
FILES = ("main.cpp", "kernels.hpp", "experiment.toml", "meson.build")
SUBDIR = re.compile(r"subdir\('([\w-]+)'\)")  # that stands under no condition


def create(root: Path, name: str) -> list[Path]:
    """Writes the files of a new experiment and registers it; nothing that exists is changed. One
    that stands there as it would be written is not refused: the command before may have been ended.
    """
    folder = root / "experiments" / names.require_target(name)
    texts = {file: _filled_in(files.read(TEMPLATES / file), name) for file in FILES}
    if not all((folder / file).is_file() and files.read(folder / file) == text
               for file, text in texts.items()):
        if folder.exists():
            raise UserError(f"new: experiments/{name} exists already, expected another name")
        with files.whole_folder(folder, root) as made:
            for file, text in texts.items():
                files.write(made / file, text)
    if not (folder / "README.md").exists():
        files.write(folder / "README.md", short.not_measured(definition.load(root, name)))
    _register(root / "experiments/meson.build", name)
    return [folder / file for file in (*FILES, "README.md")]


def _filled_in(template: str, name: str) -> str:
    """The text of a new experiment's file."""
    words = {"@NAME@": name, "@MARK@": name.replace("-", "_"), "@TITLE@": title(name)}
    for word, meant in words.items():
        template = template.replace(word, meant)
    return template


def title(name: str) -> str:
    """A name as the beginning of a sentence."""
    return name.replace("-", " ").capitalize()


def _register(path: Path, name: str) -> None:
    """Adds the folder, once, to those that every machine can build, which are sorted."""
    lines = files.read(path).splitlines()
    if f"subdir('{name}')" in lines:
        return
    others = {at: match[1] for at, line in enumerate(lines) if (match := SUBDIR.fullmatch(line))}
    later = (at for at, other in others.items() if other > name)
    behind = max(others, default=len(lines) - 1) + 1
    lines.insert(next(later, behind), f"subdir('{name}')")
    files.write(path, "\n".join([*lines, ""]))

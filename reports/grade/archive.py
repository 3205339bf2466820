"""The autograder archive of Gradescope: the grader, a kit, and two scripts at its root."""

import io
import zipfile
from pathlib import Path

from grade.assignment import TEMPLATES
from grade.definition import Kit
from weave import files

ROOM = Path(__file__).parents[1]
PARTS = ("grade", *(f"weave/{name}.py" for name in (
    "__init__", "definition", "errors", "escape", "files", "names", "processors", "terminal")))


def write(kit: Kit, path: Path) -> None:
    """Writes `autograder.zip`."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            text = TEMPLATES.get_template(name).render(kit=kit)
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, text)
        for part in PARTS:
            for file in _files(ROOM / part):
                archive.write(file, f"reports/{file.relative_to(ROOM)}")
        for file in _files(kit.folder):
            archive.write(file, f"kit/{file.relative_to(kit.folder)}")
    files.write(path, packed.getvalue())


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return [path for path in sorted(place.rglob("*")) if path.is_file()
            and not {"__pycache__", "build", "tests"} & set(path.parts)]

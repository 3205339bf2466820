"""The autograder archive of Gradescope: the grader, a kit, and two scripts at its root."""

import io
import zipfile
from pathlib import Path

from memwall.grade.assignment import TEMPLATES
from memwall.record import files
from memwall.record.kits import Kit

ROOT = Path(__file__).parents[2]
#: What `memwall gradescope` needs, and what it shows.
PARTS = ("__init__.py", "__main__.py", "grade",
         *(f"pages/{name}" for name in (
             "__init__.py", "grades.py", "html.py", "templates/leaderboard.html",
             "templates/student.html", "templates/style.css")),
         *(f"record/{name}.py" for name in (
             "__init__", "errors", "escape", "files", "kits", "names", "processors", "schemas",
             "terminal")), "record/kit.schema.json")


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
            for file in _files(ROOT / "memwall" / part):
                archive.write(file, str(file.relative_to(ROOT)))
        for file in _files(kit.folder):
            archive.write(file, f"kit/{file.relative_to(kit.folder)}")
    files.write(path, packed.getvalue())


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return [path for path in sorted(place.rglob("*")) if path.is_file()
            and not {"__pycache__", "build", "tests"} & set(path.parts)]

"""What learning platforms take: Gradescope, Autolab and GitHub Classroom, of one kit.

Formats: gradescope-autograders.readthedocs.io (specs, submission_metadata), docs.autolabproject.com
(Guide for Lab Authors), github.com/classroom-resources (autograding-command-grader). A fault of the
grader is never a score of 0 on any of them: each template says how.
"""

import io
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from memwall.grade.assignment import TEMPLATES
from memwall.record import files
from memwall.record.kits import Kit

ROOT = Path(__file__).parents[2]
#: What the grader needs on a platform, and what it shows.
PARTS = ("__init__.py", "__main__.py", "grade",
         *(f"pages/{name}" for name in (
             "__init__.py", "class_pages.py", "grades.py", "html.py", "templates/leaderboard.html",
             "templates/class_student.html", "templates/student.html", "templates/style.css")),
         *(f"record/{name}.py" for name in (
             "__init__", "course", "errors", "escape", "files", "kits", "names", "processors",
             "schemas", "terminal")), "record/course.schema.json", "record/kit.schema.json")
#: What stays at home: whoever reads an archive reads how others have tried to cheat.
LEFT_OUT = {"__pycache__", "build", "tests", "cheats", "honest"}


def write(kit: Kit, out: Path) -> list[Path]:
    """Writes a folder for each platform; returns what is to be uploaded."""
    zipped = out / "gradescope/autograder.zip"
    files.write(zipped, _zip(kit))
    made = [zipped, out / "autolab/autograde-Makefile", out / "autolab/autograde.tar"]
    files.write(made[1], _text("autograde-Makefile", kit))
    files.write(made[2], _tar(kit))
    files.write(out / "autolab/README.md", _text("autolab.md.in", kit))
    if not kit.on_gpu:  # GitHub lends no GPU
        made.append(out / "github/.github/workflows/classroom.yml")
        files.write(made[3], _text("classroom.yml", kit))
    return made


def _text(name: str, kit: Kit) -> str:
    return TEMPLATES.get_template(name).render(kit=kit)


def _zip(kit: Kit) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("setup.sh", "run_autograder"):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o755 << 16
            archive.writestr(entry, _text(name, kit))
        for name, content in _contents(kit):
            archive.writestr(name, content)
    return packed.getvalue()


def _tar(kit: Kit) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in _contents(kit):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _contents(kit: Kit) -> Iterator[tuple[str, bytes]]:
    """The grader and the kit, by their names in an archive."""
    for part in PARTS:
        for file in _files(ROOT / "memwall" / part):
            yield str(file.relative_to(ROOT)), file.read_bytes()
    for file in _files(kit.folder):
        yield f"kit/{file.relative_to(kit.folder)}", file.read_bytes()


def _files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    return [path for path in sorted(place.rglob("*")) if path.is_file()
            and not LEFT_OUT & set(path.relative_to(place).parts)]

"""Makes an assignment of a kit of an experiment: one folder for students, one for instructors."""

import shutil
from collections.abc import Iterable
from pathlib import Path

import jinja2

from memwall.record import files, kits, names
from memwall.record.kits import GradeError, Kit

HARNESS = ("kit/*.hpp", "kit/*.cpp", "base/random.hpp", "sparse/csr.hpp", "sparse/allocator.hpp",
           "sparse/assemble.hpp", "sparse/parallel.hpp", "sparse/catalogue/generators.hpp",
           "sparse/catalogue/generators.cpp", "sparse/catalogue/sample.hpp")
BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"
LOADER = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
TEMPLATES = jinja2.Environment(loader=LOADER, undefined=jinja2.StrictUndefined,
                               keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True)


def make(root: Path, name: str, out: Path) -> tuple[Path, Path]:
    """Writes `out/student` and `out/instructor`; returns both."""
    known = kits.all_folders(root)
    if names.require(name, "assignment") not in known:
        raise GradeError(f"no kit of that name: {name}; there are {', '.join(known)}")
    kit = kits.load(known[name])
    student, instructor = out / "student", out / "instructor"
    with files.whole_folder(student) as for_students, files.whole_folder(instructor) as ours:
        _write_student(root, kit, for_students)
        _write_instructor(kit, for_students, ours)
    return student, instructor


def _write_instructor(kit: Kit, student: Path, instructor: Path) -> None:
    instructor.chmod(0o700)
    shutil.copytree(student, instructor / "student")
    shutil.copy(kit.folder / "kit.toml", instructor)
    files.write(instructor / "name", f"{kit.name}\n")
    for one in ("model", "naive"):
        text = kit.folder / (kit.file if one == "model" else f"{one}{kit.suffix}")
        shutil.copy(text, instructor / f"{one}{kit.suffix}")
    shutil.copytree(kit.folder / "ladder", instructor / "ladder")
    page = TEMPLATES.get_template("instructor.md.in").render(kit=kit)
    files.write(instructor / "README.md", page)


def _write_student(root: Path, kit: Kit, student: Path) -> None:
    for pattern in HARNESS:
        for path in sorted((root / "lib").glob(pattern)):
            target = student / "harness" / path.relative_to(root / "lib")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    for name in (f"naive{kit.suffix}", f"floor{kit.suffix}", "call.cpp", f"{kit.function}.hpp"):
        if (kit.folder / name).exists():
            shutil.copy(kit.folder / name, student)
    text = files.read(kit.folder / kit.file)
    files.write(student / kit.file, without_solution(text, kit.file))
    for name, called in (("Makefile", "Makefile"), ("student.just", "Justfile")):
        text = TEMPLATES.get_template(name).render(kit=kit, tasks=tasks(kit))
        files.write(student / called, text)
    for name, task in tasks(kit).items():
        files.write(student / "harness" / f"{name}.task", task)
    if kit.log:
        files.write(student / "harness/log.sh", files.read(Path(LOADER.searchpath[0]) / "log.sh"))
    files.write(student / "README.md", handout(kit))


def without_solution(text: str, name: str = "solution") -> str:
    """The text with each region from BEGIN SOLUTION to END SOLUTION replaced by a line."""
    lines, opened = [], 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        if BEGIN in line:
            if opened:
                raise GradeError(f"{name}:{number}: {BEGIN} within the one of line {opened}")
            opened = number
            indent = line[:len(line) - len(line.lstrip())]
            if indent:  # outside functions there is nothing that has to be written
                lines.append(f"{indent}// YOUR CODE HERE\n")
        elif END in line:
            if not opened:
                raise GradeError(f"{name}:{number}: {END} without {BEGIN}")
            opened = 0
        elif not opened:
            lines.append(line)
    if opened:
        raise GradeError(f"{name}:{opened}: {BEGIN} without {END}")
    return "".join(lines)


def tasks(kit: Kit) -> dict[str, str]:
    """What the judge of a student is told: the heads of `test` and `score`."""
    public = [case.line for case in kit.cases if not case.hidden]
    return {"test": task(kit, [*kit.tests, *public], rounds=1, people=True),
            "score": points_line(kit) + task(kit, public, rounds=kit.rounds, people=True)}


def points_line(kit: Kit) -> str:
    """What a judge counts points with for people, who do not have the model solution. Where there
    are thresholds they need no judge for that."""
    if kit.thresholds:
        return ""
    shares = [f"model\t{case.name}\t{case.model:g}\t{case.weight:g}" for case in kit.cases
              if case.model and not case.hidden]
    lines = [f"points\t{kit.correctness:g}\t{kit.speed:g}\t{kit.span:g}", *shares]
    return "".join(f"{line}\n" for line in lines)


def task(kit: Kit, cases: Iterable[str], rounds: int, people: bool = False) -> str:
    """Lines for the judge, without contenders."""
    lines = [f"rounds\t{rounds}", f"ranks\t{kit.ranks}", f"processors\t{kit.processors}",
             f"problem\t{kit.problem}", *(["people"] if people else []),
             *(["boxes keep time"] if kit.on_gpu else []),
             *(f"case\t{case}" for case in cases)]
    return "".join(f"{line}\n" for line in lines)


def handout(kit: Kit) -> str:
    """The page that students read."""
    environment = TEMPLATES.overlay(loader=jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader(kit.folder), LOADER]))
    return environment.get_template("handout.md.in").render(
        kit=kit, naive=files.read(kit.folder / f"naive{kit.suffix}"))

"""`python -m grade COMMAND`: makes assignments of kits, and grades what students hand in."""

import argparse
import sys
from pathlib import Path

from grade import assignment, definition, grading, submissions
from weave.errors import WeaveError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="grade", description=__doc__)
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    make = commands.add_parser("assignment", usage="just assignment NAME --out DIR",
                               help="make the kits for students and instructors")
    make.add_argument("name", metavar="NAME", help="an experiment with a kit/")
    make.add_argument("--out", type=Path, required=True, help="a folder for both kits")
    make.set_defaults(command=_assignment)

    grade = commands.add_parser("grade", usage="just grade KIT SUBMISSION... [--out DIR]",
                                help="grade submissions, best in a quiet hour")
    grade.add_argument("kit", type=Path, metavar="KIT", help="an instructor kit")
    grade.add_argument("submissions", type=Path, nargs="+", metavar="SUBMISSION",
                       help="NAME.cpp, or a folder or an archive NAME; NAME@TRY tells tries apart")
    grade.add_argument("--out", type=Path, help="default: KIT/grades")
    grade.set_defaults(command=_grade)

    chosen = parser.parse_args(arguments)
    try:
        return chosen.command(chosen)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


def _assignment(given: argparse.Namespace) -> int:
    student, instructor = assignment.make(given.root, given.name, given.out)
    print(f"for students: {student}\nfor instructors: {instructor}")
    return 0


def _grade(given: argparse.Namespace) -> int:
    kit = definition.load(given.kit)
    handed_in = [submissions.read(kit, path) for path in given.submissions]
    out = given.out or kit.folder.parent / "grades"
    records = grading.grade_all(kit, handed_in, out, lambda line: print(line, flush=True))
    return 0 if len(records) == len(handed_in) else 1


if __name__ == "__main__":
    sys.exit(main())

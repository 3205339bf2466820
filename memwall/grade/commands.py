"""The commands of course assignments: makes them of kits, and grades what students hand in."""

import argparse
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from memwall.grade import archive, assignment, grading, rehearsal, submissions
from memwall.record import errors, files, kits
from memwall.record.errors import UserError
from memwall.record.kits import GradeError, Kit
from memwall.record.terminal import harmless


class GradePages(Protocol):
    """Who shows grades."""

    def write(self, kit: Kit, records: Sequence[grading.Record], out: Path) -> None:
        """Writes everything that follows from all grades there are into a folder."""

    def gradescope(self, kit: Kit, record: grading.Record) -> grading.Record:
        """One grade as Gradescope reads it."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
                 pages: GradePages) -> None:
    """Adds what this room does to the command line; `pages` shows the grades."""
    make = commands.add_parser("assignment", usage="just assignment NAME --out DIR",
                               help="make the kits for students and instructors")
    make.add_argument("name", metavar="NAME", help="a kit: an experiment, and its part")
    make.add_argument("--out", type=Path, required=True, help="a folder for both kits")
    make.set_defaults(command=_assignment)

    grade = commands.add_parser("grade", usage="just grade KIT [--out DIR] -- SUBMISSION...",
                                help="grade submissions, best in a quiet hour")
    grade.add_argument("kit", type=Path, metavar="KIT", help="an instructor kit")
    grade.add_argument("submissions", type=Path, nargs="+", metavar="SUBMISSION",
                       help="NAME.cpp, or a folder or an archive NAME; NAME@1, NAME@2 are tries;"
                            " behind -- nothing is an option, whatever it is called")
    grade.add_argument("--out", type=Path, metavar="DIR",
                       help="for grades and pages; default: grades/ beside KIT")
    grade.set_defaults(command=lambda given: _grade(given, pages))

    rehearse = commands.add_parser("rehearse", usage="just rehearse NAME --out DIR",
                                   help="grade a made-up class: is this machine good for grading?")
    rehearse.add_argument("name", metavar="NAME", help="a kit: an experiment, and its part")
    rehearse.add_argument("--out", type=Path, required=True, help="a folder for all of it")
    rehearse.set_defaults(command=lambda given: _rehearse(given, pages))

    online = commands.add_parser("gradescope", help="what the autograder of Gradescope calls")
    online.add_argument("kit", type=Path)
    online.add_argument("submission", type=Path)
    online.add_argument("results", type=Path, help="results.json to write")
    online.set_defaults(command=lambda given: _gradescope(given, pages))


def _assignment(given: argparse.Namespace) -> int:
    student, instructor = assignment.make(given.root, given.name, given.out)
    print(f"for students: {student}\nfor instructors: {instructor}")
    return 0


def _grade(given: argparse.Namespace, pages: GradePages) -> int:
    kit = kits.load(given.kit)
    return _graded(kit, given.submissions, given.out or kit.folder.parent / "grades", pages)


def _rehearse(given: argparse.Namespace, pages: GradePages) -> int:
    _, instructor = assignment.make(given.root, given.name, given.out)
    kit = kits.load(instructor)
    handed_in = rehearsal.hand_in(kit, given.out / "handed-in")
    status = _graded(kit, handed_in, given.out / "grades", pages)
    if not status:
        _say(rehearsal.said(grading.all_records(given.out / "grades", kit)))
    return status


def _graded(kit: Kit, paths: Sequence[Path], out: Path, pages: GradePages) -> int:
    """Grades what lies at some paths and writes all pages; the exit status."""
    paths = [path for path in paths if not submissions.is_log(path)]
    litter = [path for path in paths if submissions.is_litter(path)]
    for path in litter:
        _say(f"{path}: no submission, a system has put it there")
    handed_in, nobodys = submissions.read_all(kit, [path for path in paths if path not in litter])
    for line in nobodys:
        _say(line)
    if not handed_in:
        raise GradeError("nothing to grade")
    try:
        with files.exclusive(out, patience_s=30):
            records = grading.grade_all(kit, handed_in, out, _say)
            pages.write(kit, grading.all_records(out, kit), out)
            archive.write(kit, out / "autograder.zip")
    except OSError as error:
        if error.errno not in errors.OF_WRITING and not isinstance(error, shutil.Error):
            raise
        raise UserError(f"{errors.line_of(error)}: each grade so far is kept; make room, then start"
                        " the same command again") from error
    _say(f"wrote {out}/leaderboard.html, students/, grades.csv, gradescope/, autograder.zip")
    without = len(handed_in) - len(records)
    if without:
        _say(f"{without} of {len(handed_in)} have no grade yet: start the same command again")
    return 1 if without or nobodys else 0


def _gradescope(given: argparse.Namespace, pages: GradePages) -> int:
    kit = kits.load(given.kit)
    files.write_json(given.results, _online(kit, given.submission, pages))
    return 0


def _online(kit: Kit, submission: Path, pages: GradePages) -> dict[str, Any]:
    try:
        with tempfile.TemporaryDirectory() as out:
            records = grading.grade_all(kit, [submissions.read(kit, submission)], Path(out), _say)
        if records:
            return pages.gradescope(kit, records[0])
    except Exception as error:  # what it says may name hidden cases: it is for instructors
        _say(errors.line_of(error))
    return {"score": 0, "output": "The fault is ours, not yours; no grade yet. Hand in once more;"
            " if this comes again, tell your instructor: the output of the grader says why.",
            "output_format": "text", "stdout_visibility": "hidden"}


def _say(line: str) -> None:
    print(harmless(line), flush=True)

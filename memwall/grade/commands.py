"""The commands of course assignments: makes them of kits, and grades what students hand in."""

import argparse
import json
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from memwall.grade import (
    alike,
    assignment,
    exports,
    grading,
    platforms,
    rehearsal,
    sheet,
    submissions,
)
from memwall.record import course as courses
from memwall.record import errors, files, kits
from memwall.record.course import AlikePair, Assignment, Course, GradedTry, SheetRow
from memwall.record.errors import UserError
from memwall.record.kits import GradeError, Kit
from memwall.record.terminal import harmless


class GradePages(Protocol):
    """Who shows grades."""

    def write(self, kit: Kit, records: Sequence[grading.Record], out: Path) -> None:
        """Writes everything that follows from all grades there are into a folder."""

    def write_class(self, course: Course, class_kits: Mapping[str, Kit],
                    rows: Sequence[SheetRow],
                    tries: Mapping[str, Mapping[str, Sequence[GradedTry]]],
                    pairs: Mapping[str, Sequence[AlikePair]], out: Path) -> None:
        """Writes the sheet of a class, and a page for each of its people."""

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
    grade.add_argument("--cores", metavar="N,N...", type=_cores, default=(),
                       help="hardware threads to time on; default: some of different cores")
    grade.set_defaults(command=lambda given: _grade(given, pages))

    whole = commands.add_parser(
        "class", usage="just class DIR [--no-grading]",
        help="grade what a class has handed in, and write its sheet")
    whole.add_argument("folder", type=Path, metavar="DIR", help="with class.toml and roster.csv")
    whole.add_argument("--no-grading", action="store_true",
                       help="write the sheet from the grades that there are; needs no root")
    whole.set_defaults(command=lambda given: _class(given, pages))

    rehearse = commands.add_parser("rehearse", usage="just rehearse NAME --out DIR [--class]",
                                   help="grade a made-up class: is this machine good for grading?")
    rehearse.add_argument("name", metavar="NAME", help="a kit: an experiment, and its part")
    rehearse.add_argument("--out", type=Path, required=True, help="a folder for all of it")
    rehearse.add_argument("--class", action="store_true", dest="whole",
                          help="make up a class of twenty for `just class`, and grade nothing yet")
    rehearse.set_defaults(command=lambda given: _rehearse(given, pages))

    upload = commands.add_parser(
        "platforms", usage="just platforms KIT [--out DIR]",
        help="make what Gradescope, Autolab and GitHub Classroom take")
    upload.add_argument("kit", type=Path, metavar="KIT", help="an instructor kit")
    upload.add_argument("--out", type=Path, metavar="DIR", help="default: platforms/ beside KIT")
    upload.set_defaults(command=_platforms)

    online = commands.add_parser("gradescope", help="what the autograder of Gradescope calls")
    online.add_argument("kit", type=Path)
    online.add_argument("submission", type=Path)
    online.add_argument("results", type=Path, help="results.json to write")
    online.add_argument("--metadata", type=Path, help="submission_metadata.json of Gradescope")
    online.set_defaults(command=lambda given: _gradescope(given, pages))

    autolab = commands.add_parser("autolab", help="what the autograder of Autolab calls")
    autolab.add_argument("kit", type=Path)
    autolab.add_argument("submission", type=Path)
    autolab.set_defaults(command=_autolab)


def _assignment(given: argparse.Namespace) -> int:
    student, instructor = assignment.make(given.root, given.name, given.out)
    print(f"for students: {student}\nfor instructors: {instructor}")
    return 0


def _grade(given: argparse.Namespace, pages: GradePages) -> int:
    kit = kits.load(given.kit)
    return _graded(kit, given.submissions, given.out or kit.folder.parent / "grades", pages,
                   given.cores)


def _cores(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _class(given: argparse.Namespace, pages: GradePages) -> int:
    course = courses.load(given.folder)
    out = course.folder / "sheet"
    class_kits = {one.name: kits.load(one.kit) for one in course.assignments}
    tries: dict[str, dict[str, list[GradedTry]]] = {}
    pairs: dict[str, list[AlikePair]] = {}
    problems = 0
    for one in course.assignments:
        kit = class_kits[one.name]
        handed_in, nobodys = _of_class(course, one, kit)
        for line in nobodys:
            _say(f"{one.name}: {line}")
        problems += len(nobodys)
        if handed_in and not given.no_grading:
            _say(f"{one.name}: {kit.title}")
            with files.exclusive(one.grades, patience_s=30):
                grading.grade_all(kit, handed_in, one.grades, _say, course.cores)
        tries[one.name], without = _tries(kit, handed_in, one.grades)
        problems += without
        if without:
            _say(f"{one.name}: {without} of {len(handed_in)} have no grade yet")
        try:
            pairs[one.name] = _alike(kit, handed_in)
        except UserError as error:  # texts can be written that take the tool for ever
            _say(f"{one.name}: hand-ins are not compared: {error}")
            pairs[one.name] = []
    if not alike.is_here():
        _say(alike.MISSING)
    pages.write_class(course, class_kits, sheet.rows(course, class_kits, tries), tries, pairs, out)
    _say(f"wrote {out}/for-lecturers and {out}/for-students")
    return 1 if problems else 0


def _of_class(course: Course, one: Assignment, kit: Kit
              ) -> tuple[list[submissions.Submission], list[str]]:
    """What was handed in for an assignment, under the names of teams; and a line for each that
    cannot be told whose it is."""
    found: list[submissions.Submission] = []
    nobodys: list[str] = []
    for late, folder in one.handed_in():
        paths = [path for path in sorted(folder.iterdir())
                 if not submissions.is_litter(path) and not submissions.is_log(path)]
        read, lines = submissions.read_all(kit, paths)
        nobodys += lines
        for submission in read:
            try:
                person = exports.whose(submission.label, course.people)
            except UserError as error:
                nobodys.append(str(error))
                continue
            if exports.is_late(submission.label) and not late:
                nobodys.append(f"{submission.label}: late, as Canvas says, but in {folder}: put it"
                               f" into {folder.name}+N, of N days")
            again = len(course.decided(one.name, person, "regrade"))
            label = f"{submission.label} (+{late})" if late else submission.label
            found.append(replace(submission, student=person.team, label=label, late=late,
                                 regrades=again))
    return found, nobodys


def _tries(kit: Kit, handed_in: Sequence[submissions.Submission], out: Path
           ) -> tuple[dict[str, list[GradedTry]], int]:
    """The grades of all that was handed in, by team, and how many have none. The same bytes count
    as they came first."""
    tries: dict[str, dict[Path, GradedTry]] = defaultdict(dict)
    without = 0
    for one in sorted(handed_in, key=lambda one: one.late):
        path = grading.path_of(out, kit, one)
        if not path.exists():
            without += 1
            continue
        record = {**files.read_json(path), "label": one.label}
        tries[one.student].setdefault(path, GradedTry(record, one.late))
    return {team: list(found.values()) for team, found in tries.items()}, without


def _alike(kit: Kit, handed_in: Sequence[submissions.Submission]) -> list[AlikePair]:
    """Hand-ins of different teams that are alike; solutions of the kit stand among them. Who is
    still close to naive, which all were given, has copied nothing by being alike."""
    if not alike.is_here():
        return []
    whose = {one.label: one.student for one in handed_in if one.text}
    texts = {one.label: one.text for one in handed_in if one.text}
    for path in [kit.folder / f"naive{kit.suffix}", kit.folder / f"model{kit.suffix}",
                 *sorted((kit.folder / "ladder").glob(f"*{kit.suffix}"))]:
        if path.exists():
            texts[f"kit: {path.stem}"] = path.read_bytes()
    found = alike.pairs(texts)
    naive = "kit: naive"
    given = {name for pair in found if naive in (pair.one, pair.other)
             for name in (pair.one, pair.other)}
    return [pair for pair in found if whose.get(pair.one) != whose.get(pair.other)
            and not {pair.one, pair.other} <= given]


def _rehearse(given: argparse.Namespace, pages: GradePages) -> int:
    if given.whole:
        _, instructor = assignment.make(given.root, given.name, given.out / "first")
        rehearsal.make_class(kits.load(instructor), given.out)
        _say(f"made up a class of twenty in {given.out}; now: just class {given.out}")
        return 0
    _, instructor = assignment.make(given.root, given.name, given.out)
    kit = kits.load(instructor)
    handed_in = rehearsal.hand_in(kit, given.out / "handed-in")
    status = _graded(kit, handed_in, given.out / "grades", pages)
    if not status:
        _say(rehearsal.said(grading.all_records(given.out / "grades", kit)))
    return status


def _graded(kit: Kit, paths: Sequence[Path], out: Path, pages: GradePages,
            cores: Sequence[int] = ()) -> int:
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
            records = grading.grade_all(kit, handed_in, out, _say, cores)
            pages.write(kit, grading.all_records(out, kit), out)
    except OSError as error:
        if error.errno not in errors.OF_WRITING and not isinstance(error, shutil.Error):
            raise
        raise UserError(f"{errors.line_of(error)}: each grade so far is kept; make room, then start"
                        " the same command again") from error
    _say(f"wrote {out}/leaderboard.html, students/, grades.csv, gradescope/")
    without = len(handed_in) - len(records)
    if without:
        _say(f"{without} of {len(handed_in)} have no grade yet: start the same command again")
    return 1 if without or nobodys else 0


def _platforms(given: argparse.Namespace) -> int:
    kit = kits.load(given.kit)
    for path in platforms.write(kit, given.out or kit.folder.parent / "platforms"):
        _say(f"wrote {path}")
    return 0


def _gradescope(given: argparse.Namespace, pages: GradePages) -> int:
    """Writes results.json, or nothing where the fault is the grader's: then there is no score."""
    kit = kits.load(given.kit)
    record = _online(kit, given.submission)
    if record is None:
        return 1
    result = pages.gradescope(kit, record)
    files.write_json(given.results, _with_best(result, _earlier(given.metadata)))
    return 0


def _earlier(metadata: Path | None) -> list[dict[str, Any]]:
    """Earlier submissions, as Gradescope tells of them; what cannot be read is none."""
    if metadata is None or not metadata.exists():
        return []
    try:
        earlier = files.read_json(metadata).get("previous_submissions", [])
        return [one for one in earlier if isinstance(one.get("score"), int | float | str)
                and float(one["score"]) >= 0]
    except (UserError, AttributeError, ValueError, TypeError):
        return []


def _with_best(result: dict[str, Any], earlier: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The best submission counts, not the latest: its score, with a line that says so."""
    best = max(earlier, key=lambda one: float(one["score"]), default=None)
    if best is None or float(best["score"]) <= result["score"]:
        return result
    line = (f"This one: {result['score']:.1f} points. Yours of {best.get('submission_time')}"
            f" counts, with {float(best['score']):.1f}: the best does.")
    return {**result, "score": float(best["score"]),
            "output": "\n".join(filter(None, (line, result["output"])))}


def _autolab(given: argparse.Namespace) -> int:
    """Tells the scores in the last line, of which nothing is told where the fault is the grader's:
    the Makefile that Autolab runs then tells that there are none."""
    kit = kits.load(given.kit)
    record = _online(kit, given.submission)
    if record is None:
        return 1
    for line in (record["reason"], record["compiler"]):
        if line:
            _say(line)
    for number, one in enumerate(record["outcomes"]):
        known_as = kit.cases[number].known_as
        _say(f"{known_as}: " + (f"wrong, {one['wrong']}" if one["wrong"] else "right"
                                + (f", {one['speedup']:.2f} times as fast as naive"
                                   if one["speedup"] else "")))
    scores = {"Correctness": round(record["correctness"], 2), "Speed": round(record["speed"], 2),
              "Grader": 0}
    _say(json.dumps({"scores": scores, "scoreboard": [round(record["points"], 2),
                                                      round(record["speedup"] or 0, 2)]}))
    return 0


def _online(kit: Kit, submission: Path) -> grading.Record | None:
    """The grade of the one submission that is there; None where the fault is the grader's."""
    try:
        with tempfile.TemporaryDirectory() as out:
            records = grading.grade_all(kit, [submissions.read(kit, submission)], Path(out),
                                        _complain)
        if records:
            return records[0]
    except Exception as error:  # what it says may name hidden cases: it is for instructors
        _complain(errors.line_of(error))
    _say("The fault is ours, not yours; no grade yet. Hand in once more; if this comes again, tell"
         " your instructor: the grader's output says why.")
    return None


def _complain(line: str) -> None:
    print(harmless(line), file=sys.stderr, flush=True)


def _say(line: str) -> None:
    print(harmless(line), flush=True)

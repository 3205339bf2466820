"""Grades submissions: compiles all, times one at a time, keeps each grade once it is there."""

import dataclasses
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from memwall.grade import points
from memwall.grade.submissions import Submission
from memwall.grade.workshop import Compiled, Workshop, opened
from memwall.record import files
from memwall.record.kits import GradeError, Kit

Record = dict[str, Any]


def grade_all(kit: Kit, submissions: Sequence[Submission], out: Path,
              say: Callable[[str], None]) -> list[Record]:
    """Grades what has no grade yet; returns the records of all. The caller holds `out` alone."""
    missing = [one for one in submissions if not path_of(out, kit, one).exists()]
    say(f"{len(submissions)} submissions, {len(submissions) - len(missing)} graded before")
    refused = [one for one in missing if one.refused]
    for one in refused:
        keep(out, kit, one, refusal(one, f"refused: {one.refused}"))
    waiting = [one for one in missing if not one.refused]
    if waiting:
        say("compiling the judge, the model and naive")
        with opened(kit) as shop:
            _grade(shop, waiting, out, say)
    return [files.read_json(path_of(out, kit, one)) for one in submissions
            if path_of(out, kit, one).exists()]


def _grade(shop: Workshop, waiting: Sequence[Submission], out: Path,
           say: Callable[[str], None]) -> None:
    say(f"compiling {len(waiting)} in a sandbox; then one at a time is timed")
    with ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(shop.compile, waiting, range(len(waiting))))
    for number, (submission, program) in enumerate(zip(waiting, programs, strict=True), 1):
        try:
            record = judged(shop, submission, program)
        except GradeError as error:
            say(f"{number}/{len(waiting)} {submission.label}: the fault is ours, no grade: {error}")
            continue
        keep(out, shop.kit, submission, record)
        say(f"{number}/{len(waiting)} {submission.label}: {record['points']:.1f} points"
            + (f" ({record['reason']})" if record["reason"] else ""))
        if program.path:
            program.path.unlink()


def judged(shop: Workshop, submission: Submission, program: Compiled, attempts: int = 3) -> Record:
    """The record of one submission; a noisy machine gets some attempts, and then gives no grade."""
    if program.path is None:
        return refusal(submission, "it does not compile", program.said)
    grade = points.grade(shop.kit, shop.judge(program.path))
    for _ in range(attempts - 1):
        if grade.noise <= points.QUIET:
            break
        grade = points.grade(shop.kit, shop.judge(program.path))
    if grade.noise > points.QUIET and attempts > 1:
        raise GradeError(f"two copies of the model differ by {100 * math.expm1(grade.noise):.0f} %:"
                         " this machine is too noisy now; start again in a quiet hour")
    return {**about(submission), **dataclasses.asdict(grade), "compiler": program.said,
            "tier": shop.tier}


def refusal(submission: Submission, reason: str, compiler: str = "") -> Record:
    """The record of what was never called."""
    empty = points.Grade(0, 0, 0, reason, (), None, None, None)
    return {**about(submission), **dataclasses.asdict(empty), "compiler": compiler, "tier": ""}


def about(submission: Submission) -> Record:
    """Who handed in what."""
    return {"student": submission.student, "label": submission.label,
            "digest": submission.digest()}


def path_of(out: Path, kit: Kit, submission: Submission) -> Path:
    """Where the grade of a submission is kept; another kit, another grade."""
    return out / "grades" / f"{submission.label}-{submission.digest()[:12]}-{kit.digest()[:8]}.json"


def all_records(out: Path, kit: Kit) -> list[Record]:
    """The records of all that was ever graded with this kit."""
    return [files.read_json(path)
            for path in sorted((out / "grades").glob(f"*-{kit.digest()[:8]}.json"))]


def keep(out: Path, kit: Kit, submission: Submission, record: Record) -> None:
    """Writes a grade."""
    files.write_json(path_of(out, kit, submission), record)

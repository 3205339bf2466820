"""Grades submissions: compiles all, times one at a time, keeps each grade once it is there."""

import dataclasses
import math
import shutil
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from memwall.grade import points, worklog
from memwall.grade.submissions import Submission
from memwall.grade.workshop import JUDGE_SECONDS, Binary, Exhausted, Workshop, opened
from memwall.record import errors, files, names
from memwall.record.kits import GradeError, InputFamily, Kit

Record = dict[str, Any]
Compiling = tuple[Submission, Future[Binary]]
#: So often a judge is called at most, to make the points of one submission surer.
SESSIONS = 12
#: While all are compiled nobody waits longer for a word.
SILENT_S = 20
#: What nobody has handed in yet will take as long as so many of the last texts did, since a machine
#: becomes slower, too.
RECENT = 60
#: How long all take is told when one of so many has been timed.
LEAST_PART = 20


class NoiseError(GradeError):
    """The machine was too noisy for a grade."""


def grade_all(kit: Kit, submissions: Sequence[Submission], out: Path,
              say: Callable[[str], None], cores: Sequence[int] = ()) -> list[Record]:
    """Grades what has no grade yet; returns the records of all. The caller holds `out` alone.

    The same bytes of one student are graded once, however often they are handed in: who hands in
    again draws no new lot.
    """
    distinct: dict[Path, Submission] = {}
    for one in submissions:
        first = distinct.setdefault(path_of(out, kit, one), one)
        if first is not one:
            say(f"{one.label}: the same as {first.label}, and graded with it")
    for one in submissions:
        if one.log:
            files.write_json(log_of(out, one.student), [dataclasses.asdict(entry)
                                                        for entry in worklog.read(one.log)])
    missing = [one for path, one in distinct.items() if not path.exists()]
    say(f"{len(submissions)} submissions, {len(distinct) - len(missing)} graded before")
    for one in missing:
        if one.refused:
            keep(out, kit, one, refusal(one, f"refused: {one.refused}"))
            say(f"{one.label}: refused: {one.refused}")
    waiting = [one for one in missing if not one.refused]
    if waiting:
        say("compiling the judge, the model and naive")
        with opened(kit, cores=cores) as shop:
            _grade(shop, waiting, out, say)
        (out / "queue.txt").unlink(missing_ok=True)
    kept = [path_of(out, kit, one) for one in submissions]
    return [files.read_json(path) for path in kept if path.exists()]


def _grade(shop: Workshop, waiting: Sequence[Submission], out: Path,
           say: Callable[[str], None]) -> None:
    say(f"compiling {len(waiting)} in a sandbox; then one at a time is timed")
    with ThreadPoolExecutor(2) as pool:
        begun = said = time.monotonic()
        compiling = [(one, pool.submit(shop.compile, one, number))
                     for number, one in enumerate(waiting)]
        for number, (_, compiled) in enumerate(compiling, 1):
            futures.wait([compiled])
            if (now := time.monotonic()) > said + SILENT_S:
                said = now
                left = (now - begun) / number * (len(compiling) - number)
                say(queue(out, "compiled", number, len(compiling), left))
    disturbed = _time(shop, compiling, out, say)
    if disturbed:
        say(f"noise prevented {len(disturbed)} grades: once more")
        _time(shop, disturbed, out, say)


def _time(shop: Workshop, compiling: Sequence[Compiling], out: Path,
          say: Callable[[str], None]) -> list[Compiling]:
    """Grades one after the other; returns those that noise prevented. Whatever happens with one
    happens to it alone, but for a full disk, which stops all."""
    disturbed = []
    texts = [submission.text if _has_program(compiled) else None
             for submission, compiled in compiling]
    pace = Pace()
    for number, (submission, compiled) in enumerate(compiling, 1):
        whose = f"{number}/{len(compiling)} {submission.label}"
        if pace.is_known_for(len(compiling)):
            left = sum(pace.of(text) for text in texts[number - 1:] if text is not None)
            say(queue(out, "timed", number - 1, len(compiling), left))
        begun = time.monotonic()
        try:
            program = compiled.result()
            record = judged(shop, submission, program)
        except NoiseError as error:
            say(f"{whose}: {error}")
            disturbed.append((submission, compiled))
            continue
        except Exception as error:
            if _fills_disk(error):
                raise
            say(f"{whose}: the fault is ours, no grade: {errors.line_of(error)}")
            continue
        finally:
            if (text := texts[number - 1]) is not None:
                pace.took(text, time.monotonic() - begun)
        keep(out, shop.kit, submission, record)
        say(f"{whose}: {record['points']:.1f} points"
            + (f" ({record['reason']})" if record["reason"] else ""))
        program.remove()
    return disturbed


class Pace:
    """How long texts take to be graded: the same text as long as it did in the mean, any other one
    as long as the mean of the latest ones."""

    def __init__(self) -> None:
        self._seconds: dict[bytes, list[float]] = {}  # the latest text last

    def is_known_for(self, count: int) -> bool:
        """Whether enough were timed to tell how long so many take: one, and a twentieth. Of 200,
        as a class hands them in, the first two told half as much again as it was, the first ten a
        tenth."""
        timed = sum(map(len, self._seconds.values()))
        return timed > 0 and LEAST_PART * timed >= count

    def took(self, text: bytes, seconds: float) -> None:
        self._seconds[text] = [*self._seconds.pop(text, []), seconds]

    def of(self, text: bytes) -> float:
        """Seconds; something must have been timed."""
        latest = list(self._seconds.values())[-RECENT:]
        return statistics.mean(self._seconds.get(text) or map(statistics.mean, latest))


def _has_program(compiled: Future[Binary]) -> bool:
    return compiled.exception() is None and compiled.result().path is not None


def queue(out: Path, what: str, done: int, count: int, left: float) -> str:
    """How many wait, and for how many seconds; for a file as well, which others may look at."""
    line = f"{done} of {count} are {what}, {count - done} wait; {length(left)} left"
    until = time.strftime("%H:%M", time.localtime(time.time() + left))
    files.write(out / "queue.txt", f"{line}, until {until}\n")
    return line


def length(seconds: float) -> str:
    """A time for people."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _fills_disk(error: Exception) -> bool:
    return isinstance(error, shutil.Error) or (
        isinstance(error, OSError) and error.errno in errors.OF_WRITING)


def judged(shop: Workshop, submission: Submission, program: Binary, attempts: int = 3) -> Record:
    """The record of one submission, with what held it (which sandbox, and which way to freeze it)
    and the seconds that its calls took.

    Calls are added, of cases whose points are not certain, until the standard error of all points
    is as small as the kit asks, so that equals get about the same. A noisy machine gets some
    attempts, and then gives no grade; who is faster than the floor is so in each of them, or not
    accused."""
    if program.path is None:
        return refusal(submission, "it does not compile", program.said)
    begun = time.monotonic()
    calls: list[dict[str, Any]] = []
    unsure: list[InputFamily] = []
    sessions, left = 0, attempts - 1
    while True:
        try:
            calls += [{**call, "session": sessions} for call in (
                shop.judge_again(program.path, unsure) if calls else shop.judge(program.path))]
            grade = points.grade(shop.kit, calls)
        except Exhausted as error:
            return refusal(submission, str(error), program.said)
        sessions += 1
        noisy = attempts > 1 and grade.noise > points.QUIET
        if noisy and not left:
            raise NoiseError("two copies of the model differ by"
                             f" {100 * math.expm1(grade.noise):.0f} %: this machine is too noisy"
                             " now; start again in a quiet hour")
        if noisy or (grade.is_doubtful and left):
            calls, left = [], left - 1
            continue
        unsure = [case for case, one in zip(shop.kit.cases, grade.outcomes, strict=True)
                  if one.error > 0]
        is_long = time.monotonic() - begun > JUDGE_SECONDS  # also of one that mostly sleeps
        if attempts == 1 or grade.error <= shop.kit.error or sessions >= SESSIONS or is_long:
            return {**about(submission), **dataclasses.asdict(grade), "compiler": program.said,
                    "tier": shop.tier, "freezer": calls[0]["freezer"],
                    "seconds": round(time.monotonic() - begun, 1)}


def refusal(submission: Submission, reason: str, compiler: str = "") -> Record:
    """The record of what was not called to its end."""
    empty = points.Grade(0, 0, 0, reason, (), None, None, None)
    return {**about(submission), **dataclasses.asdict(empty), "compiler": compiler, "tier": "",
            "freezer": "", "seconds": 0}


def about(submission: Submission) -> Record:
    """Who handed in what."""
    return {"student": submission.student, "label": submission.label,
            "digest": submission.digest()}


def path_of(out: Path, kit: Kit, submission: Submission) -> Path:
    """Where the grade of these bytes of this student is kept; another kit, another grade."""
    return (out / "grades" / f"{names.of_file(submission.student)}-{submission.digest()[:12]}"
            f"-{kit.digest()[:8]}{f'-{submission.regrades}' * (submission.regrades > 0)}.json")


def log_of(out: Path, student: str) -> Path:
    """Where the work log of a student is kept: that which was handed in last."""
    return out / "logs" / f"{names.of_file(student)}.json"


def all_records(out: Path, kit: Kit) -> list[Record]:
    """The records of all that was ever graded with this kit."""
    return [files.read_json(path)
            for path in sorted((out / "grades").glob(f"*-{kit.digest()[:8]}*.json"))]


def keep(out: Path, kit: Kit, submission: Submission, record: Record) -> None:
    """Writes a grade."""
    files.write_json(path_of(out, kit, submission), record)

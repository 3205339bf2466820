"""A kit that is graded in seconds, and what its cheats must get."""

import atexit
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memwall.grade import assignment, grading, points, submissions, workshop
from memwall.record import kits

ROOT = Path(__file__).resolve().parents[3]
SCORES = re.compile(r"^// Scores: (zero|fewer|as without|race)(?:: (.*))?$", re.M)
#: What a program can choose, and by which it could tell what a hidden case is like.
TOLD = re.compile(r"y\[|code \d|line \d")
#: Other tests run beside this one, and now and then naive code looks faster than itself: a cheat
#: pays if it does so each time.
ATTEMPTS = 3
PAID = "it is paid for speed"
MORE_POINTS = 5  # than the same code without the cheat: they are noise


def small(folder: Path, name: str, cases: Sequence[str], rounds: int = 5) -> kits.Kit:
    """An instructor kit with few small cases, called a few times; one that is called `secret` is
    hidden."""
    _, instructor = assignment.make(ROOT, name, folder)
    path = instructor / "kit.toml"
    head = path.read_text().partition("[[case]]")[0]
    text = "".join(f'[[case]]\ncase = "{case}"\nabout = ""\nnext = ""\n'
                   f'hidden = {str(case.startswith("secret ")).lower()}\n' for case in cases)
    path.write_text(re.sub(r"^rounds = .*$", f"rounds = {rounds}", head, flags=re.M) + text)
    shutil.copytree(_judge(), instructor / "student/build", copy_function=shutil.copy)
    return kits.load(instructor)


@functools.cache
def _judge() -> Path:
    """The judge, which all kits compile alike, and its objects: once for all tests."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    student, _ = assignment.make(ROOT, "spmv-serial-steps", folder)
    subprocess.run(["make", "-s", "-j2", "-C", student, "build/judge"], check=True)
    return student / "build"


def unpunished(shop: workshop.Workshop, cheats: Path, names: Sequence[str] = ("*",),
               whole: bool = False) -> list[str]:
    """A line for each cheat of a folder that gets what it must not; whole: of three times that it
    is graded, in one, beside the same code without the cheat."""
    files = sorted({path for name in names for path in cheats.glob(f"{name}{shop.kit.suffix}")})
    handed_in = [submissions.read(shop.kit, path)
                 for path in (*files, shop.kit.folder / f"naive{shop.kit.suffix}")]
    with ThreadPoolExecutor(2) as pool:
        *programs, honest = pool.map(shop.compile, handed_in, range(len(handed_in)))
    problems = []
    for path, submission, program in zip(files, handed_in, programs, strict=False):
        for _ in range(ATTEMPTS):
            record = quiet_record(shop, submission, program)
            beside = (quiet_record(shop, handed_in[-1], honest)["speed"] + MORE_POINTS
                      if whole else shop.kit.speed / 2)
            problem = complaint(shop.kit, path.read_text(), record, beside)
            if whole and "// Scores: as without" in path.read_text():
                print(f"{path.stem}: {record['speed']:.1f}, without {beside - MORE_POINTS:.1f}")
            if bool(problem) == whole or (problem and problem != PAID):
                break
        if path.read_text().count("// Scores: race") and program.path:
            found = [one["race"] for one in shop.races(program.path)]
            problem = "" if found and all(found) else f"no race was found in a case: {found}"
        if problem:
            problems.append(f"{path.name}: {problem}: {record}")
    return problems or ([] if files else ["no cheats"])


def quiet_record(shop: workshop.Workshop, submission: submissions.Submission,
                 program: workshop.Compiled) -> grading.Record:
    """A grade in which two copies of the model took as long, if one of a few is such a one."""
    for _ in range(ATTEMPTS):
        record = grading.judged(shop, submission, program, attempts=1)
        if all(one["noise"] <= points.QUIET for one in record["outcomes"]):
            break
    return record


def complaint(kit: kits.Kit, text: str, record: grading.Record, beside: float) -> str:
    """What is wrong with the grade of a cheat; `beside` is the most that it may get for speed."""
    scores = SCORES.search(text)
    assert scores, "a cheat says what it scores"
    kind, reason = scores.groups()
    said = " ".join([record["reason"], *(one["wrong"] for one in record["outcomes"])])
    hidden = {case.name for case in kit.cases if case.hidden}
    if any(TOLD.search(one["wrong"]) for one in record["outcomes"] if one["name"] in hidden):
        return f"it tells what a hidden case is like: {said}"
    if kind == "race":
        return ""
    if kind == "as without":
        return "" if record["speed"] <= beside else PAID
    if not re.search(reason, said):
        return f"it is not told {reason!r}"
    most = 0 if kind == "zero" else kit.correctness / 2
    return "" if record["points"] <= most else "it gets points"

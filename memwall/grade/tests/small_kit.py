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
HONEST = ROOT / "memwall/grade/honest"
SCORES = re.compile(r"^// Scores: (zero|fewer|as without|race)(?:: (.*))?$", re.M)
#: All that may be said of a hidden case: a program could choose among more sentences, and tell by
#: that what the case is like.
OF_HIDDEN = re.compile("|".join((
    "", r"(it gives no result as expected|a race) \(of hidden cases no more is told\)",
    "it (answered before it was asked|worked while it was stopped|left a process running)",
    r"it used more processor time than \d+ processors? ha(s|ve)",
    r"a call took \d\.\d\d of the time of the floor, which no call can do without")))
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
    head = re.sub(r"^rounds = .*$", f"rounds = {rounds}", head, flags=re.M)
    path.write_text(head.replace("[points]\n", "[points]\nerror = 100\n") + text)
    hand_judge(instructor / "student")
    return kits.load(instructor)


def hand_judge(student: Path) -> None:
    """Puts a judge into a student's folder, as if it had been built there."""
    shutil.copytree(_judge(), student / "build", copy_function=shutil.copy)


@functools.cache
def _judge() -> Path:
    """The judge, which all kits compile alike: once for all tests of a process, which is why those
    that need it are of one group."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    student, _ = assignment.make(ROOT, "spmv-serial-steps", folder)
    subprocess.run(["make", "-s", "-C", student, "build/judge"], check=True)
    return student / "build"


def honest_solutions(kind: str, folder: Path) -> list[Path]:
    """Right solutions of many kinds, written into a folder as they would be handed in: each is one
    file, with the row that most of them multiply alike."""
    row = (HONEST / "row.hpp").read_text()
    written = []
    for path in sorted((HONEST / kind).glob("*.cpp")):
        written.append(folder / path.name)
        written[-1].write_text(path.read_text().replace('#include "row.hpp"\n', row))
    return written


#: How a cheat of the kits for sparse products begins, and what tells that it needs their arrays.
OF_SPARSE = """#include "spmv.hpp"
#define spmv honest
#include "naive.cpp"
#undef spmv
"""
GPU_CHEAT = ("__device__ void cheat(std::int32_t rows, std::int32_t columns, std::int32_t depth,"
             " float const* values, float const* x, float* y)")
NEEDS_SPARSE = re.compile(r"row_ptr|a\.col\b|vectors|kit/link\.hpp")


def adapted(problem: Path, others: Path, folder: Path) -> Path:
    """A folder with the cheats of a problem, and those of the sparse one that can be adapted, with
    what they are compared with."""
    adapter = (problem / "adapter.hpp").read_text()
    (folder / "honest").mkdir(parents=True)
    for path in [*others.glob("*.cpp"), *others.glob("honest/*.cpp")]:
        text = path.read_text()
        if OF_SPARSE in text and not NEEDS_SPARSE.search(text):
            (folder / path.relative_to(others)).write_text(text.replace(OF_SPARSE, adapter))
    for path in problem.glob("*.cpp"):
        shutil.copy(path, folder)
    return folder


def adapted_for_gpu(problem: Path, others: Path, folder: Path) -> Path:
    """As above, for device code: of each cheat the kernel becomes a function that is given all."""
    adapter = (problem / "adapter.cuh").read_text()
    folder.mkdir(parents=True)
    for path in others.glob("*.cu"):
        text = path.read_text().replace('#include "spmv.hpp"\n', adapter)
        text = re.sub(r"__device__ void honest\(std::int32_t rows, std::int32_t const\* row_ptr"
                      r".*?\n}\n", "", text, flags=re.S)
        text = re.sub(r"__global__ void spmv\(.*?double\* y\)", GPU_CHEAT, text, flags=re.S)
        text = text.replace("honest(rows, row_ptr, col,", "honest(rows, columns, depth,")
        text = text.replace("y[rows + 8]",
                            "y[(depth == 1 ? rows : std::int64_t{rows} * columns) + 8]")
        text = text.replace("__longlong_as_double", "__int_as_float").replace("double", "float")
        if not re.search(r"row_ptr\[|col\[|<<<", text):
            (folder / path.name).write_text(text)
    for path in problem.glob("*.cu"):
        shutil.copy(path, folder)
    return folder


def unpunished(shop: workshop.Workshop, cheats: Path, names: Sequence[str] = ("*",),
               whole: bool = False) -> list[str]:
    """A line for each cheat of a folder that gets what it must not; whole: of three times that it
    is graded, in one, beside the same code without the cheat."""
    files = sorted({path for name in names for path in cheats.glob(f"{name}{shop.kit.suffix}")})
    beside = [honest(shop.kit, path) for path in files] if whole else []
    handed_in = [submissions.read(shop.kit, path) for path in [*files, *sorted(set(beside))]]
    with ThreadPoolExecutor(2) as pool:
        compiled = list(pool.map(shop.compile, handed_in, range(len(handed_in))))
    entries = dict(zip([*files, *sorted(set(beside))], zip(handed_in, compiled, strict=True),
                       strict=True))
    problems: dict[Path, str] = {}
    left = files
    for _ in range(ATTEMPTS):
        without = {path: quiet_record(shop, *entries[path])["speed"] for path in sorted({*beside})}
        for path in left:
            if "// Scores: race" in path.read_text():
                problems[path] = free_race(shop, *entries[path])
                continue
            record = quiet_record(shop, *entries[path])
            most = shop.kit.speed / 2
            if whole:
                speed = without[beside[files.index(path)]]
                most = speed + MORE_POINTS
                print(f"{path.stem}: {record['points']:.1f}, {record['speed']:.1f} for speed,"
                      f" without {speed:.1f}")
            said = complaint(shop.kit, path.read_text(), record, most)
            problems[path] = f"{said}: {record}" if said else ""
        # Whole, a cheat has to fail each time; in short one that was fast by chance is tried again.
        left = [path for path in left
                if (not problems[path] if whole else problems[path].startswith(PAID))]
    told = [f"{path.name}: {said}" for path, said in problems.items() if said]
    return told or ([] if files else ["no cheats"])


def free_race(shop: workshop.Workshop, submission: submissions.Submission,
              program: workshop.Binary) -> str:
    """What is wrong where a race in each case brings points, or is not told of each."""
    record = quiet_record(shop, submission, program)
    outcomes = record["outcomes"]
    # Where the machine was never quiet, a time below the floor is told in place of a race.
    if (record["points"] == 0 and len(outcomes) == len(shop.kit.cases)
            and any(one["race"] for one in outcomes)
            and all(one["race"] or one["below_floor"] for one in outcomes)
            and not said_of_hidden(shop.kit, record)):
        return ""
    return f"a race costs nothing, or tells too much: {record}"


def honest(kit: kits.Kit, cheat: Path) -> Path:
    """The same code as that of a cheat, without it: mostly that of naive."""
    named = re.search(r"^// Scores: as without: (\w+)$", cheat.read_text(), re.M)
    if named:
        return cheat.parent / f"honest/{named[1]}{kit.suffix}"
    return kit.folder / f"naive{kit.suffix}"


def quiet_record(shop: workshop.Workshop, submission: submissions.Submission,
                 program: workshop.Binary) -> grading.Record:
    """A grade in which two copies of the model took as long, and which accuses nobody for a time
    alone, if one of a few is such a one."""
    for _ in range(ATTEMPTS):
        record = grading.judged(shop, submission, program, attempts=1)
        if all(one["noise"] <= points.QUIET and not one["below_floor"]
               for one in record["outcomes"]):
            break
    return record


def said_of_hidden(kit: kits.Kit, record: grading.Record) -> list[str]:
    """What is said of hidden cases that must not be."""
    hidden = {case.name for case in kit.cases if case.hidden}
    return [one["wrong"] for one in record["outcomes"]
            if one["name"] in hidden and not OF_HIDDEN.fullmatch(one["wrong"])]


def complaint(kit: kits.Kit, text: str, record: grading.Record, most_speed: float) -> str:
    """What is wrong with the grade of a cheat."""
    scores = SCORES.search(text)
    assert scores, "a cheat says what it scores"
    kind, reason = scores.groups()
    said = " ".join([record["reason"], *(one["wrong"] for one in record["outcomes"])])
    if said_of_hidden(kit, record):
        return f"it tells what a hidden case is like: {said}"
    if any(re.search(r" is \S+, expected ", one["wrong"]) for one in record["outcomes"]):
        return f"it tells what it has found: {said}"
    if kind == "as without":
        return "" if record["speed"] <= most_speed else PAID
    if not re.search(reason, said):
        return f"it is not told {reason!r}"
    most = 0 if kind == "zero" else kit.correctness / 2
    return "" if record["points"] <= most else "it gets points"

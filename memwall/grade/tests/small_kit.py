"""A kit that is graded in seconds, and what its cheats must get."""

import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memwall.grade import assignment, grading, submissions, workshop
from memwall.record import kits

ROOT = Path(__file__).resolve().parents[3]
SCORES = re.compile(r"^// Scores: (zero|fewer|as without)(?:: (.*))?$", re.M)
#: Other tests run beside this one, and now and then naive code looks faster than itself: a cheat
#: pays if it does so each time.
ATTEMPTS = 3
PAID = "it is paid for speed"


def small(folder: Path, name: str, cases: Sequence[str]) -> kits.Kit:
    """An instructor kit with few small cases, called a few times."""
    _, instructor = assignment.make(ROOT, name, folder)
    path = instructor / "kit.toml"
    head = path.read_text().partition("[[case]]")[0]
    text = "".join(f'[[case]]\ncase = "{case}"\nabout = ""\nnext = ""\n' for case in cases)
    path.write_text(re.sub(r"^rounds = .*$", "rounds = 5", head, flags=re.M) + text)
    return kits.load(instructor)


def unpunished(shop: workshop.Workshop, cheats: Path, names: Sequence[str] = ("*",)) -> list[str]:
    """A line for each cheat of a folder that gets what it must not."""
    files = sorted(path for name in names for path in cheats.glob(f"{name}{shop.kit.suffix}"))
    handed_in = [submissions.read(shop.kit, path) for path in files]
    with ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(shop.compile, handed_in, range(len(handed_in))))
    problems = []
    for path, submission, program in zip(files, handed_in, programs, strict=True):
        for _ in range(ATTEMPTS):
            record = grading.judged(shop, submission, program, attempts=1)
            problem = complaint(shop.kit, path.read_text(), record)
            if problem != PAID:
                break
        if problem:
            problems.append(f"{path.name}: {problem}: {record}")
    return problems or ([] if files else ["no cheats"])


def complaint(kit: kits.Kit, text: str, record: grading.Record) -> str:
    """What is wrong with the grade of a cheat."""
    scores = SCORES.search(text)
    assert scores, "a cheat says what it scores"
    kind, reason = scores.groups()
    said = " ".join([record["reason"], *(one["wrong"] for one in record["outcomes"])])
    if kind == "as without":
        # The same code without the cheat is that of naive, which is paid nothing but noise.
        noise = kit.speed / 2
        return "" if record["speed"] < noise else PAID
    if not re.search(reason, said):
        return f"it is not told {reason!r}"
    most = 0 if kind == "zero" else kit.correctness / 2
    return "" if record["points"] <= most else "it gets points"

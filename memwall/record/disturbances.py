"""Which rounds of a point count: those in which no sample was disturbed, unless to leave the others
out would be a choice."""

from collections.abc import Iterable, Sequence
from typing import Any

#: What the harness can notice, as it names it (`lib/bench/disturbance.hpp`).
KINDS = ("preempted", "migrated", "stolen", "throttled", "shared")
#: If more of the rounds were disturbed, that is how the machine is: all count.
MOST_LEFT_OUT = 1 / 5
#: If one of two variants was disturbed so much oftener than the other, that may be its own doing:
#: all of both count.
MOST_APART = 1 / 10


def left_out(raw: Any) -> tuple[int, int]:
    """How many rounds of a raw result do not count, over all points, and of how many."""
    points = [cases for cases in of_points(raw["cases"]).values() if cases]
    counted = sum(len(counted_rounds(cases)) for cases in points)
    taken = sum(_taken(cases) for cases in points)
    return taken - counted, taken


def told(raw: Any) -> str:
    """What of a raw result was disturbed, in words; empty of one that did not watch for it."""
    points = [cases for cases in of_points(raw["cases"]).values() if cases]
    unused, taken = left_out(raw)
    restless = sum(_disturbed(cases) > MOST_LEFT_OUT * _taken(cases) for cases in points)
    if not any("disturbed" in case for case in raw["cases"]):
        return ""
    parts = [f"{disturbed(raw)} of {taken} rounds were disturbed"]
    if unused:
        parts.append(f"{unused} of them do not count")
    if restless:
        parts.append(f"at {restless} of {len(points)} points more than a fifth were disturbed, and"
                     " there all rounds count")
    return "; ".join(parts)


def disturbed(raw: Any) -> int:
    """How many rounds of a raw result were disturbed, over all points, whether they count or
    not."""
    return sum(map(_disturbed, of_points(raw["cases"]).values()))


def of_points(cases: Iterable[Any]) -> dict[Any, list[Any]]:
    """The raw cases that passed at each point, of whatever variant; none where all failed."""
    found: dict[Any, list[Any]] = {}
    for case in cases:
        at = found.setdefault(place(case), [])
        if case["samples_s"]:
            at.append(case)
    return found


def place(case: Any) -> tuple[Any, ...]:
    """Where a raw case of whatever variant stands."""
    known = {**case["parameters"], "study": case["study"]}
    return case["launch"], *sorted((key, str(value)) for key, value in known.items())


def disturbed_samples(case: Any) -> set[int]:
    """The numbers of a raw case's samples that anything disturbed."""
    return set().union(*case.get("disturbed", {}).values())


def counted_rounds(cases: Sequence[Any]) -> list[int]:
    """The numbers of the rounds that count, of the raw cases of a point that passed."""
    taken, disturbed = _taken(cases), set().union(*map(disturbed_samples, cases))
    keeps_all = len(disturbed) > MOST_LEFT_OUT * taken
    return [at for at in range(taken) if keeps_all or at not in disturbed]


def _taken(cases: Sequence[Any]) -> int:
    return max((len(case["samples_s"]) for case in cases), default=0)


def _disturbed(cases: Sequence[Any]) -> int:
    return len(set().union(*map(disturbed_samples, cases)))

"""Where a variant stops being faster, along a number of the points such as a feature of the matrix.

In each round the logarithm of the ratio is interpolated linearly between neighbouring points; the
place is where it comes down through zero. Of several such places in a round the last one from the
left counts. A round that has none counts as the right end of what was measured if its last point is
faster, else as the left end: that end then stands for "there or beyond". The value is the median of
the rounds' places, with the order-statistic interval of all medians here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from weave import formats, statistics
from weave.comparison import Comparison
from weave.errors import WeaveError
from weave.expectations import (
    INCONCLUSIVE,
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
    expect_faster,
)
from weave.measurements import Measurements
from weave.statistics import Estimate


@dataclass(frozen=True)
class Curve:
    """How much faster a variant is at each value of a number, the smallest first."""

    along: str
    parts: Mapping[float, Comparison]

    @cached_property
    def xs(self) -> list[float]:
        return list(self.parts)

    @cached_property
    def place(self) -> Estimate:
        """Where it stops being faster; an end of the range stands for there or beyond."""
        points = [statistics.geometric_mean_per_round(part.ratios) for part in self.parts.values()]
        rounds = zip(*points, strict=True)
        return statistics.estimate([_last_fall(self.xs, ratios) for ratios in rounds])

    @property
    def within(self) -> bool:
        """Whether there is such a place between the points that were measured."""
        return self.xs[0] < self.place.value < self.xs[-1]

    @property
    def falls(self) -> int:
        """How often the medians come down through one."""
        medians = [part.overall.value for part in self.parts.values()]
        return sum(a > 1 >= b for a, b in zip(medians, medians[1:], strict=False))

    def words(self) -> str:
        """`0.33 (0.31–0.36)`, or why there is no such place."""
        first, last = formats.factor(self.xs[0]), formats.factor(self.xs[-1])
        if self.within:
            return formats.factor(self.place.value) + f" ({self._interval()}){self._which()}"
        medians = [part.overall.value for part in self.parts.values()]
        if min(medians) > 1:
            return f"none: faster everywhere, from {first} to {last}"
        if max(medians) <= 1:
            return f"none: nowhere faster, from {first} to {last}"
        return f"none that the rounds agree on, from {first} to {last}"

    def sentence(self, comparison: Comparison) -> str:
        """`Along nzseg_per_nnz, csrl stops being faster than csr at 0.33 (0.31–0.36)`."""
        ending = f"stops being faster than {comparison.than}"
        if self.within:
            return f"Along {self.along}, `{comparison.faster}` {ending} at {self.words()}"
        why = self.words().removeprefix("none").removeprefix(": ").strip()
        return f"Along {self.along}, `{comparison.faster}` nowhere {ending} ({why})"

    def _interval(self) -> str:
        place, written = self.place, formats.factor(self.place.value)
        low, _, high = formats.interval(place, written).partition("–")
        below = "below " if place.low <= self.xs[0] else ""
        return f"{below}{low}–{high}" + (" or beyond" if place.high >= self.xs[-1] else "")

    def _which(self) -> str:
        return f", the last of {self.falls} such places" if self.falls > 1 else ""


def curve(measured: Measurements, comparison: Comparison, along: str) -> Curve:
    """A comparison split by the numbers of an axis or a feature."""
    if not measured.is_feature(along) and along not in measured.axes:
        raise WeaveError(f'no axis and no feature "{along}" in the result')
    values = [measured.fact(case, along) for case, _ in comparison.points]
    words = [value for value in values if not isinstance(value, (int, float))]
    if words:
        raise WeaveError(f'"{along}" has the value "{words[0]}", expected numbers')
    parts = dict(zip(dict.fromkeys(values), comparison.split(values), strict=True))
    return Curve(along, {value: parts[value] for value in sorted(parts)})


def examine(
    measured: Measurements, comparison: Comparison, along: str, between: tuple[float, float]
) -> Finding:
    """Faster at every point up to the first value of `between`, at none from the second one on."""
    found = curve(measured, comparison, along)
    low, high = between
    below = {x: expect_faster(part).verdict for x, part in found.parts.items() if x <= low}
    above = {x: expect_faster(part).verdict for x, part in found.parts.items() if x >= high}
    if not below or not above:
        side = f"up to {low:g}" if not below else f"from {high:g} on"
        return Finding(NOT_APPLICABLE, f"No point with {along} {side} was measured.")
    wrong = [x for x, verdict in below.items() if verdict == NOT_REPRODUCED]
    wrong += [x for x, verdict in above.items() if verdict == REPRODUCED]
    undecided = [x for x, v in (below | above).items() if v == INCONCLUSIVE]
    verdict = NOT_REPRODUCED if wrong else INCONCLUSIVE if undecided else REPRODUCED
    sentence = (
        f"{found.sentence(comparison)}, {_extent(comparison, found)}: faster at"
        f" {_of(below, REPRODUCED)} points up to {low:g} and at {_of(above, REPRODUCED)} from"
        f" {high:g} on{_told('against this', wrong, found)}{_told('undecided', undecided, found)}."
    )
    decided_by = f"at {formats.factor(found.place.value)}" if found.within else "no crossover"
    return Finding(verdict, sentence, decided_by)


def _last_fall(xs: Sequence[float], ratios: Sequence[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    for i in reversed(range(len(xs) - 1)):
        if logs[i] > 0 >= logs[i + 1]:
            return xs[i] + (xs[i + 1] - xs[i]) * logs[i] / (logs[i] - logs[i + 1])
    return xs[-1] if logs[-1] > 0 else xs[0]


def _extent(comparison: Comparison, found: Curve) -> str:
    region = f", {comparison.region}" if comparison.region else ""
    return f"with a {formats.coverage(found.place)} of {len(found.xs)} points{region}"


def _of(verdicts: Mapping[float, str], wanted: str) -> str:
    return f"{list(verdicts.values()).count(wanted)} of {len(verdicts)}"


def _told(what: str, places: Sequence[float], found: Curve) -> str:
    texts = [f"{formats.factor(x)} {formats.speedup(found.parts[x].overall)}" for x in places]
    return f"; {what}: {', '.join(texts)}" if texts else ""

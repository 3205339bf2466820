"""Where a variant stops being faster, along a number of the points such as a feature of the matrix.

In each round the logarithm of the ratio is interpolated linearly between neighbouring points; the
place is where it comes down through zero. Of several such places in a round the last one from
the left counts. A round that has none counts as the right end of what was measured if its last
point is faster, else as the left end: that end then stands for "there or beyond". The value is
the median of the rounds' places, with the order-statistic interval of all medians here.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from memwall.analysis import numerics
from memwall.analysis.comparisons import Comparison
from memwall.analysis.expectations import Finding, claimed, numbers
from memwall.analysis.measurements import Measurements
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import FEATURES, Unknown
from memwall.analysis.statements import Statement
from memwall.analysis.verdicts import UNDECIDED, VERDICTS, Kind, Position, Reason
from memwall.record import notation


@dataclass(frozen=True)
class Curve:
    """How much faster a variant is at each value of a number, the smallest first."""

    along: str
    comparison: Comparison
    parts: Mapping[float, Comparison]

    @cached_property
    def xs(self) -> list[float]:
        return list(self.parts)

    @cached_property
    def place(self) -> Estimate:
        """Where it stops being faster; an end of the range stands for there or beyond."""
        return self._place(1.0)

    def _place(self, factor: float) -> Estimate:
        """The place if every ratio were so many times what it is, in the rounds that all have."""
        points = [part.rounds for part in self.parts.values()]
        rounds = [[factor * ratio for ratio in ratios] for ratios in zip(*points, strict=False)]
        return numerics.estimate([_last_fall(self.xs, ratios) for ratios in rounds])

    @property
    def within(self) -> bool:
        """Whether there is such a place between the points that were measured."""
        return self.xs[0] < self.place.value < self.xs[-1]

    def reach(self, noise: float) -> tuple[float, float]:
        """The interval of the place, widened by a noise floor; infinite where it is beyond."""
        low, high = self._place(1 / noise).low, self._place(noise).high
        return (-math.inf if low <= self.xs[0] else low,
                math.inf if high >= self.xs[-1] else high)

    @property
    def side(self) -> str:
        """Where it is, if not between the points: `beyond 0.9`."""
        if self.place.value >= self.xs[-1]:
            return f"beyond {notation.factor(self.xs[-1])}"
        return f"below {notation.factor(self.xs[0])}"

    @property
    def falls(self) -> int:
        """How often the medians come down through one."""
        medians = [part.overall.value for part in self.parts.values()]
        return sum(a > 1 >= b for a, b in pairwise(medians))

    def words(self) -> str:
        """`0.33 (0.31–0.36)`, or why there is no such place."""
        first, last = notation.factor(self.xs[0]), notation.factor(self.xs[-1])
        if self.within:
            return f"{self.written()} ({self.interval()}){self._which()}"
        medians = [part.overall.value for part in self.parts.values()]
        if min(medians) > 1:
            return f"none: faster everywhere from {first} to {last}"
        if max(medians) <= 1:
            return f"none: nowhere faster from {first} to {last}"
        return f"none that the rounds agree on from {first} to {last}"

    def sentence(self, edges: Sequence[float]) -> str:
        """`csrl` stops being faster than `csr` at 0.33 (0.31–0.36) runs per nonzero."""
        one, than = f"`{self.comparison.faster}`", self.comparison.than
        noun = FEATURES.get(self.along, self.along.replace("_", " "))
        first, last = notation.factor(self.xs[0]), notation.factor(self.xs[-1])
        range_ = f"from {first} to {last} {noun}"
        medians = [part.overall.value for part in self.parts.values()]
        if self.within:
            return (f"{one} stops being faster than {than} at {self.written(edges)}"
                    f" ({self.interval(edges)}) {noun}{self._which()}")
        if min(medians) > 1:
            return f"{one} nowhere stops being faster than {than}: faster everywhere {range_}"
        if max(medians) <= 1:
            return f"{one} is nowhere faster than {than} {range_}"
        return f"{one} nowhere stops being faster than {than} in most rounds {range_}"

    def written(self, edges: Sequence[float] = ()) -> str:
        """The place, told apart from what decides."""
        return numerics.beside(self.place, notation.factor(self.place.value), edges)

    def interval(self, edges: Sequence[float] = ()) -> str:
        """`0.31–0.36`, an end of what was measured as `below 0.1` or `or beyond`."""
        place, written = self.place, self.written(edges)
        low, _, high = numerics.interval(place, written).partition("–")
        below = "below " if place.low <= self.xs[0] else ""
        return f"{below}{low}–{high}" + (" or beyond" if place.high >= self.xs[-1] else "")

    def _which(self) -> str:
        return f", the last of {self.falls} such places" if self.falls > 1 else ""


def curve(measured: Measurements, comparison: Comparison, along: str) -> Curve:
    """A comparison split by the numbers of an axis or a feature."""
    if not measured.is_feature(along) and along not in measured.axes:
        raise Unknown(f'no axis and no feature "{along}" in the result')
    values: list[float] = []
    for point in comparison.points:
        value = measured.fact(point.case, along)
        if not isinstance(value, (int, float)):
            raise Unknown(f'"{along}" has the value "{value}", expected numbers')
        values.append(value)
    parts = dict(zip(dict.fromkeys(values), comparison.split(values), strict=True))
    return Curve(along, comparison, {value: parts[value] for value in sorted(parts)})


def examine(
    measured: Measurements, comparison: Comparison, along: str, between: tuple[float, float]
) -> Finding:
    """Whether the place lies between two numbers. Where a round has none, an end of what was
    measured stands for "there or beyond": beyond both numbers that decides too."""
    found = curve(measured, comparison, along)
    if len(found.xs) < 2:
        return Finding(UNDECIDED, Statement(f"Only one value of {along} was measured.", "missing"),
                       reason=Reason.TOO_FEW)
    position = _position(found, between, comparison.noise)
    verdict = VERDICTS[Kind.CROSSOVER][position]
    reason = None
    if position == Position.OPEN:
        quiet = _position(found, between, 1.0)
        reason = Reason.CROSSES if quiet == Position.OPEN else Reason.NOISY
    wanted = f"between {between[0]:g} and {between[1]:g}"
    floor = f"; {comparison.floor}" if comparison.floor else ""
    text = (f"{found.sentence(between)} ({notation.plural(len(found.xs), 'point')}"
            f"{comparison.in_region}{numerics.lack_of_coverage(found.place)}{floor})."
            f"{claimed(wanted, verdict, reason)}")
    statement = Statement(text, "crossover", {**numbers(found.place), "points": len(found.xs),
                                              "verdict": verdict})
    decided_by = f"at {found.written(between)}" if found.within else found.side
    return Finding(verdict, statement, decided_by, found.interval(between), found.place, between,
                   reason=reason)


def _position(found: Curve, between: tuple[float, float], noise: float) -> Position:
    """Where the place lies, its interval widened by the noise: elsewhere than expected, there is
    one all the same; beyond what was measured there is none."""
    (low, high), (first, last) = between, found.reach(noise)
    if low <= first and last <= high:
        return Position.INSIDE
    if last < low:
        return Position.SHORT if math.isfinite(first) else Position.OPPOSITE
    if first > high:
        return Position.BEYOND if math.isfinite(last) else Position.OPPOSITE
    return Position.OPEN


def _last_fall(xs: Sequence[float], ratios: Sequence[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    for i in reversed(range(len(xs) - 1)):
        if logs[i] > 0 >= logs[i + 1]:
            return xs[i] + (xs[i + 1] - xs[i]) * logs[i] / (logs[i] - logs[i + 1])
    return xs[-1] if logs[-1] > 0 else xs[0]

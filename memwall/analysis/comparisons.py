"""Two variants over the points of a region: how much faster one is, how much less it needs, or how
much more it reaches.

The ratio of each round is a geometric mean over the points; its median and interval count. What
was counted and not timed (stored bytes) has one value at each point, and its ratio no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.basis import Basis, Over, Pair
from memwall.analysis.measurements import Measurements, once
from memwall.analysis.measures import TIME, Measure
from memwall.analysis.metrics import Samples
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import Absence, NoNumber, is_counted, unprofiled
from memwall.analysis.verdicts import ALIKE_HIGH, ALIKE_LOW
from memwall.record import notation, regions
from memwall.record.regions import Where, phrase
from memwall.record.results import Case

#: So many inputs that a pattern stands for are named.
MOST_NAMED = 3


@dataclass(frozen=True)
class Point:
    """Where both were measured, and how many times better the first was: in each round or once."""

    case: Case
    than: Case
    label: str
    ratios: Samples
    doubt: tuple[float, float] = (1.0, 1.0)  # by what factors all of them may be wrong together


@dataclass(frozen=True)
class Comparison:
    """How much faster one variant is than another, at each point and over all. A difference counts
    only outside the noise floor, which is what two runs of the same code differ by."""

    faster: str
    than: str  # a name, or what the other one is in words
    points: tuple[Point, ...]
    noise: float  # at least 1
    unmeasured: int = 0  # points of the region where one of the two was skipped
    region: str = ""  # what `where` narrows to, in words
    of: Measure = TIME
    per: tuple[str, ...] = ("matrix",)  # the coordinates that make a unit which counts once

    @cached_property
    def rounds(self) -> list[float]:
        """The geometric mean over the points, in each round."""
        return numerics.geometric_mean_per_round([point.ratios for point in self.points])

    @cached_property
    def overall(self) -> Estimate:
        """The median of the rounds."""
        doubts = zip(*(point.doubt for point in self.points), strict=True)
        return numerics.estimate(self.rounds).widened(*map(numerics.geometric_mean, doubts))

    @property
    def is_better(self) -> bool:
        """Whether the first is, beyond the noise."""
        return self.overall.low > self.noise

    @property
    def is_worse(self) -> bool:
        """Whether the first is, beyond the noise."""
        return self.overall.high < 1 / self.noise

    @property
    def is_alike(self) -> bool:
        """Whether the two are, within 5 %."""
        return self.overall.low >= ALIKE_LOW and self.overall.high <= ALIKE_HIGH

    @cached_property
    def each(self) -> list["Comparison"]:
        """One comparison for each point."""
        return self.split(range(len(self.points)))

    @cached_property
    def units(self) -> list["Comparison"]:
        """One comparison for each unit that counts once: a matrix, unless `per` says otherwise.
        Two precisions of one point are not two units."""
        return self.split([self._unit(point.case) for point in self.points])

    def unit_axes(self, case: Case) -> list[str]:
        """The coordinates that make the unit of a case."""
        named = [name for name in self.per if name in case.parameters]
        return named or [name for name in case.parameters if name != "precision"]

    def _unit(self, case: Case) -> tuple[object, ...]:
        return tuple(case.parameters[name] for name in self.unit_axes(case))

    def split(self, keys: Sequence[object]) -> list["Comparison"]:
        """One comparison for each of the keys that the points have, in the order of the points."""
        groups: dict[object, list[Point]] = {}
        for key, point in zip(keys, self.points, strict=True):
            groups.setdefault(key, []).append(point)
        return [replace(self, points=tuple(group)) for group in groups.values()]

    @property
    def floor(self) -> str:
        """The noise floor that a difference must exceed, in words, if it is known."""
        return f"noise floor {self.floor_percent}" if self.floor_percent else ""

    @property
    def floor_percent(self) -> str:
        """`3.8 %`, if it is known."""
        is_known = self.of.is_timed and self.noise != 1
        return notation.percent(self.noise - 1) if is_known else ""

    @property
    def opposed(self) -> int:
        """At how many points by themselves, of several, the other side is better beyond the noise
        than the one that is better in the mean."""
        if not self.of.is_timed or len(self.points) < 2:
            return 0
        is_first = self.overall.value > 1
        return sum(each.is_worse if is_first else each.is_better for each in self.each)

    @property
    def in_region(self) -> str:
        """What it is narrowed to, after a comma."""
        return f", {self.region}" if self.region else ""

    @property
    def noun(self) -> str:
        """What a unit is called: after its axis, unless that counts something, as `columns`."""
        first = self.points[0].case.parameters
        return next((name for name in self.per if name in first and name[-1] != "s"), "point")

    @property
    def name(self) -> str:
        """The unit that this is, if it is one."""
        return " ".join(map(str, self._unit(self.points[0].case))) or self.points[0].label


@once
def compare(
    measured: Measurements,
    faster: str,
    than: Over,
    where: Where,
    of: Measure = TIME,
    per: tuple[str, ...] = ("matrix",),
) -> Comparison | Absence:
    """A variant and what it is compared with, where both were timed; why not, if nowhere."""
    basis = Basis(measured, than)
    first = measured.find(faster, where)
    if first.absence:
        return Absence(first.absence.kind, f"`{faster}` {_was(first.absence)}")
    others = {name: measured.find(name, {**where, **basis.moved}) for name in basis.rivals}
    absences = {name: found.absence for name, found in others.items() if found.absence}
    if absences and len(absences) == len(others):
        kind = next(iter(absences.values())).kind
        return Absence(kind, "; ".join(f"`{name}` {_was(a)}" for name, a in absences.items()))
    pairs = basis.pairs(first.cases)
    present = [name for name, found in others.items() if found.cases]
    named = basis.over_marked + (_present(present) if len(present) < len(others) else "")
    if not pairs:
        return Absence("missing", f"`{faster}` and {named} were timed at no common point")
    pairs = [pair for pair in pairs if all(map(is_counted, of.quantities, (pair.case, pair.than)))]
    if not pairs:
        return unprofiled(*of.quantities)
    points, why = measured.told(lambda pair: _point(of, pair), pairs)
    if not points:
        return Absence("missing", why)
    known = [len(found.cases) + found.unmeasured for found in (first, *others.values())]
    compared = [case for point in points for case in (point.case, point.than)]
    noise = measured.noise_of(compared, of.noise).factor if of.is_timed else 1.0
    region = phrase(_narrowed(measured, where, [point.case for point in points]))
    return Comparison(faster, named, tuple(points), noise, max(known) - len(points), region, of,
                      per)


def _present(names: Sequence[str]) -> str:
    """Who was there of those of which the best one counts, as others were not."""
    if len(names) > MOST_NAMED:
        return f" ({len(names)} of them were there)"
    return f" (here {notation.listed([f'`{name}`' for name in names])})"


def _narrowed(measured: Measurements, where: Where, cases: Sequence[Case]) -> dict[str, Any]:
    """A region with no value of several, and no pattern, that none of its cases has."""
    found = dict(where)
    for name, wanted in where.items():
        values = dict.fromkeys(measured.fact(case, name) for case in cases)
        most = max(MOST_NAMED, len(regions.listed(wanted)))
        if regions.is_choice(wanted) and len(values) <= most:
            found[name] = list(values)
    return found


def _point(of: Measure, pair: Pair) -> Point:
    """A point that has a ratio; raises `NoNumber` for another one."""
    ratios = of.ratios(pair)
    if min(ratios) <= 0:
        raise NoNumber(f"{pair.case.variant} has no {of.quantities[0]}, nothing to compare")
    return Point(pair.case, pair.than, pair.label, ratios, of.doubt(pair))


def _was(absence: Absence) -> str:
    if absence.kind == "missing":
        return f"was {absence.reason}"
    return (
        f"was skipped: {absence.reason}"
        if absence.kind == "skipped"
        else f"failed: {absence.reason}"
    )

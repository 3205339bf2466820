"""Two variants over the points of a region: how much faster one is, how much less it needs, or how
much more it reaches.

The ratio of each round is a geometric mean over the points; its median and interval count. What
was counted and not timed (stored bytes) has one value at each point, and its ratio no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

from memwall.analysis import numerics
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import Basis, Over, measure_of, plain, told
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import COUNTER, Absence, NoNumber, is_counted, quantity, unprofiled
from memwall.record import notation
from memwall.record.regions import Where, words
from memwall.record.results import Case

Points = tuple[tuple[Case, Case], ...]


class Measure(Protocol):
    """What is compared in place of time."""

    better: str  # what the first side is to be: "less", "more"
    worse: str
    is_timed: bool  # so that two runs of the same code differ by the noise floor
    quantities: tuple[str, str]  # metrics or counts, of the first side and of the other

    def ratios(self, first: Case, than: Case) -> list[float]:
        """How many times better the first is, in each round or once."""

    def doubt(self, first: Case, than: Case) -> tuple[float, float]:
        """By how much these ratios may all be wrong together: the least and the largest factor."""

    def sides(self, faster: str, than: str) -> str:
        """Both sides in words."""

    def said(self, faster: str, than: str, times: Estimate, edges: Sequence[float]) -> str:
        """What was found, in words."""


@dataclass(frozen=True)
class Counted:
    """A quantity of each side that was counted, the same unless told: less is better."""

    less: str
    than: str
    better = "less"
    worse = "more"
    is_timed = False

    @property
    def quantities(self) -> tuple[str, str]:
        return self.less, self.than

    def ratios(self, first: Case, than: Case) -> list[float]:
        """How many times less the first needs."""
        needed, others = quantity(self.less, first), quantity(self.than, than)
        if not needed or not others:
            empty = (first, self.less) if not needed else (than, self.than)
            raise NoNumber(f"{empty[0].variant} records no {empty[1]}, nothing to compare")
        return [others / needed]

    def doubt(self, first: Case, than: Case) -> tuple[float, float]:
        return 1.0, 1.0

    def sides(self, faster: str, than: str) -> str:
        """The stored bytes of `csrl` against those of `csr`."""
        others = "those" if self.less == self.than else f"the {plain(self.than)}"
        return f"The {plain(self.less)} of `{faster}` against {others} of {than}"

    def said(self, faster: str, than: str, times: Estimate, edges: Sequence[float]) -> str:
        """`csrl` needs 0.60x the stored bytes of `csr`."""
        less, others = plain(self.less), plain(self.than)
        part = replace(times, value=1 / times.value, low=1 / times.high, high=1 / times.low)
        needed = numerics.beside(part, notation.factor(part.value), edges) + "x"
        if self.less == self.than:
            return f"`{faster}` needs {needed} the {less} of {than}"
        return f"The {less} of `{faster}` are {needed} the {others} of {than}"


@dataclass(frozen=True)
class Reached:
    """A metric of rounds, such as the part of its launch's ceiling: more is better."""

    measured: Measurements
    name: str
    better = "more"
    worse = "less"

    @property
    def is_timed(self) -> bool:
        return not self.name.startswith(COUNTER)

    @property
    def quantities(self) -> tuple[str, str]:
        return self.name, self.name

    def ratios(self, first: Case, than: Case) -> list[float]:
        """How many times more the first reaches."""
        basis, metric = Basis(self.measured), measure_of(self.name)
        others = metric.of(basis, than)
        if min(others) <= 0:
            raise NoNumber(f"{than.variant} has no {self.name}, nothing to compare")
        return numerics.ratios(metric.of(basis, first), others)

    def doubt(self, first: Case, than: Case) -> tuple[float, float]:
        """Parts of two ceilings are as uncertain as both ceilings are."""
        if not measure_of(self.name).of_ceiling or first.launch == than.launch:
            return 1.0, 1.0
        own, others = (self.measured.ceiling(case.launch).rate for case in (first, than))
        value = others.value / own.value
        return others.low / own.high / value, others.high / own.low / value

    def sides(self, faster: str, than: str) -> str:
        """The part of its ceiling of `halo` against that of `halo` on one rank."""
        return f"The {measure_of(self.name).noun} of `{faster}` against that of {than}"

    def said(self, faster: str, than: str, times: Estimate, edges: Sequence[float]) -> str:
        """`halo` reaches 0.95x the part of the ceiling that `halo` reaches on one rank."""
        written = numerics.beside(times, notation.factor(times.value), edges)
        return f"`{faster}` reaches {written}x the {measure_of(self.name).noun} that {than} reaches"


@dataclass(frozen=True)
class Comparison:
    """How much faster one variant is than another, at each point and over all."""

    faster: str
    than: str  # a name, or what the other one is in words
    points: Points
    noise: float
    labels: tuple[str, ...]
    unmeasured: int  # points of the region where one of the two was skipped
    region: str = ""  # what `where` narrows to, in words
    of: Measure | None = None  # None: time
    per: tuple[str, ...] = ("matrix",)  # the coordinates that make a unit which counts once
    edges: tuple[float, ...] = ()  # ratios that decide, from which numbers must be told apart

    @cached_property
    def overall(self) -> Estimate:
        """Geometric mean over the points."""
        found = numerics.estimate(numerics.geometric_mean_per_round(self.ratios))
        if self.of is None:
            return found
        doubts = [self.of.doubt(faster, than) for faster, than in self.points]
        low, high = (numerics.geometric_mean(factors) for factors in zip(*doubts, strict=True))
        return found.widened(low, high)

    @cached_property
    def each(self) -> tuple[Estimate, ...]:
        alone = self.split(range(len(self.points)))
        return tuple(one.overall for one in alone)

    def units(self) -> list["Comparison"]:
        """One comparison for each unit that counts once: a matrix, unless `per` says otherwise.
        Two precisions of one point are not two units."""
        return self.split([self._unit(case) for case, _ in self.points])

    def _unit(self, case: Case) -> tuple[object, ...]:
        named = [name for name in self.per if name in case.parameters]
        names = named or [name for name in case.parameters if name != "precision"]
        return tuple(case.parameters[name] for name in names)

    def split(self, keys: Sequence[object]) -> list["Comparison"]:
        """One comparison for each of the keys that the points have, in the order of the points."""
        groups: dict[object, list[int]] = {}
        for index, key in enumerate(keys):
            groups.setdefault(key, []).append(index)
        return [
            replace(
                self,
                points=tuple(self.points[i] for i in group),
                labels=tuple(self.labels[i] for i in group),
            )
            for group in groups.values()
        ]

    @property
    def better(self) -> str:
        return self.of.better if self.of else "faster"

    @property
    def worse(self) -> str:
        return self.of.worse if self.of else "slower"

    @property
    def noun(self) -> str:
        """What a unit is called: after its axis, unless that counts something, as `columns`."""
        first = self.points[0][0].parameters
        return next((name for name in self.per if name in first and name[-1] != "s"), "point")

    @property
    def name(self) -> str:
        """The unit that this is, if it is one."""
        return " ".join(map(str, self._unit(self.points[0][0]))) or self.labels[0]

    @cached_property
    def ratios(self) -> list[list[float]]:
        """For each point the ratio of each round; a single one of what was counted."""
        if self.of is None:
            return [numerics.ratios(than.samples, faster.samples) for faster, than in self.points]
        return [self.of.ratios(first, than) for first, than in self.points]


def compare(
    measured: Measurements,
    faster: str,
    than: Over,
    where: Where,
    of: Measure | None = None,
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
    pairs = [(case, basis.partner(case)) for case in first.cases]
    points = tuple((case, partner) for case, partner in pairs if partner is not None)
    named = f"`{than}`" if isinstance(than, str) else basis.over_words
    if not points:
        return Absence("missing", f"`{faster}` and {named} were timed at no common point")
    if of:
        points = tuple(pair for pair in points if all(map(is_counted, of.quantities, pair)))
        if not points:
            return unprofiled(*of.quantities)
        points, why = _comparable(measured, of, points)
        if not points:
            return Absence("missing", why)
    known = [len(found.cases) + found.unmeasured for found in (first, *others.values())]
    labels = tuple(measured.label(case) for case, _ in points)
    targets = {case.target for pair in points for case in pair}
    noise = 1.0 if of and not of.is_timed else measured.noise_on(targets).factor
    unmeasured = max(known) - len(points)
    return Comparison(faster, named, points, noise, labels, unmeasured, words(where), of, per)


def _comparable(measured: Measurements, of: Measure, points: Points) -> tuple[Points, str]:
    """The points that have a ratio, and what the first says that has none."""
    def asked(pair: tuple[Case, Case]) -> tuple[Case, Case]:
        if min(of.ratios(*pair)) <= 0:
            raise NoNumber(f"{pair[0].variant} has no {of.quantities[0]}, nothing to compare")
        return pair

    kept, why = told(measured, asked, points)
    return tuple(kept), why


def _was(absence: Absence) -> str:
    if absence.kind == "missing":
        return f"was {absence.reason}"
    return (
        f"was skipped: {absence.reason}"
        if absence.kind == "skipped"
        else f"failed: {absence.reason}"
    )

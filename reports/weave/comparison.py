"""Two variants over the points of a region: how much faster one is, or how much less it needs.

The ratio of each round is a geometric mean over the points; its median and interval count. What was
counted and not timed (stored bytes) has one value at each point, and its ratio no interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from weave import statistics
from weave.errors import WeaveError
from weave.measurements import Absence, Measurements
from weave.metrics import Basis, Over, quantity
from weave.region import Where, words
from weave.results import Case
from weave.statistics import Estimate

Points = tuple[tuple[Case, Case], ...]


@dataclass(frozen=True)
class Quantities:
    """What is compared in place of time: a quantity of each side, the same unless told."""

    less: str
    than: str

    def ratio(self, less: Case, than: Case) -> float:
        """How many times less the first needs."""
        first, second = quantity(self.less, less), quantity(self.than, than)
        if not first or not second:
            empty = (less, self.less) if not first else (than, self.than)
            raise WeaveError(f"{empty[0].variant} records no {empty[1]}, nothing to compare")
        return second / first


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
    of: Quantities | None = None  # None: time

    @cached_property
    def overall(self) -> Estimate:
        """Geometric mean over the points."""
        return statistics.estimate(statistics.geometric_mean_per_round(self.ratios))

    @cached_property
    def each(self) -> tuple[Estimate, ...]:
        return tuple(statistics.estimate(ratios) for ratios in self.ratios)

    @cached_property
    def each_matrix(self) -> tuple[Estimate, ...]:
        """One estimate for each matrix, or for each point where points have no matrix."""
        return tuple(one.overall for one in self.by_matrix())

    def by_matrix(self) -> list["Comparison"]:
        """One comparison for each matrix, or for each point where points have no matrix."""
        return self.split([a.parameters.get("matrix", i) for i, (a, _) in enumerate(self.points)])

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
        return "less" if self.of else "faster"

    @property
    def worse(self) -> str:
        return "more" if self.of else "slower"

    @property
    def noun(self) -> str:
        return "matrix" if all("matrix" in a.parameters for a, _ in self.points) else "point"

    @property
    def name(self) -> str:
        """The matrix, or the point where points have none."""
        return str(self.points[0][0].parameters.get("matrix", self.labels[0]))

    @cached_property
    def ratios(self) -> list[list[float]]:
        """For each point the ratio of each round; a single one of what was counted."""
        if self.of is None:
            return [statistics.ratios(than.samples, faster.samples) for faster, than in self.points]
        return [[self.of.ratio(less, than)] for less, than in self.points]


def compare(
    measured: Measurements, faster: str, than: Over, where: Where, of: Quantities | None = None
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
    known = [len(found.cases) + found.unmeasured for found in (first, *others.values())]
    labels = tuple(measured.label(case) for case, _ in points)
    noise = 1.0 if of else measured.noise.factor
    unmeasured = max(known) - len(points)
    return Comparison(faster, named, points, noise, labels, unmeasured, words(where), of)


def _was(absence: Absence) -> str:
    if absence.kind == "missing":
        return f"was {absence.reason}"
    return (
        f"was skipped: {absence.reason}"
        if absence.kind == "skipped"
        else f"failed: {absence.reason}"
    )

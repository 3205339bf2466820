"""A metric of a variant in a region: its value over the points there, or why it has none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.basis import Basis, Pair
from memwall.analysis.measurements import NOT_MEASURED, Found
from memwall.analysis.metrics import Samples, metric_named
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import Absence, NoNumber, is_counted, unprofiled
from memwall.record.errors import UserError
from memwall.record.regions import Where, words
from memwall.record.results import Case


@dataclass(frozen=True)
class Cell:
    """A measured value, or why there is none."""

    estimate: Estimate | None = None
    absence: Absence | None = None
    points: int = 0
    unmeasured: int = 0  # points of the region that have no value
    stale: bool = False


def measure(basis: Basis, name: str, variant: str | None, where: Where) -> Cell:
    """A metric of one variant in a region; without a variant only what all variants share."""
    metric, measured = metric_named(name), basis.measured
    if variant is None:
        if not metric.of_point:
            raise UserError(f'"{name}" differs between variants: name one, or put them in rows')
        return _of_points(basis, name, where)
    found = measured.find(variant, where)
    if found.absence:
        return Cell(absence=found.absence, stale=measured.is_stale(variant))
    stale = measured.is_stale(variant, *(basis.rivals if metric.relative else ()))
    counted = [case for case in found.cases if is_counted(name, case)]
    if not counted:
        return Cell(absence=unprofiled(name), stale=stale)
    pairs = basis.pairs(counted) if metric.relative else basis.alone(counted)
    if not pairs:
        return Cell(absence=_without_partner(basis, found, where), stale=stale)
    return replace(_over_points(name, pairs, len(found.cases) + found.unmeasured), stale=stale)


def _of_points(basis: Basis, name: str, where: Where) -> Cell:
    measured = basis.measured
    cases: dict[Any, Case] = {}
    for case in measured.select(where, timed=False):
        cases.setdefault(frozenset(measured.coordinates(case).items()), case)
    if not cases:
        if measured.may_lack:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        raise UserError(f"nothing was measured where {words(where) or 'everywhere'}")
    return _over_points(name, basis.alone(cases.values()), len(cases))


def _over_points(name: str, pairs: Sequence[Pair], count: int) -> Cell:
    """The mean over those of `count` points that have a number, or why none has."""
    if len(pairs) > 1 and not metric_named(name).mean:
        labels = ", ".join(pair.label for pair in pairs[:3])
        raise UserError(
            f'"{name}" has no mean over points, found {len(pairs)} of them ({labels}, ...):'
            " narrow where= or add an axis to rows="
        )
    rounds, why = numbers_of(name, pairs)
    if not rounds:
        return Cell(absence=Absence("missing", why))
    means = numerics.geometric_mean_per_round(rounds)
    estimate = numerics.estimate(means) if len(means) > 1 else numerics.exact(means[0])
    return Cell(estimate, points=len(rounds), unmeasured=count - len(rounds))


def numbers_of(name: str, pairs: Sequence[Pair]) -> tuple[list[Samples], str]:
    """The numbers of those points that have one, and what the first says that has none. Of several
    those that are 0 have no place in a geometric mean."""
    metric = metric_named(name)

    def of(pair: Pair) -> Samples:
        values = metric.of(pair)
        if len(pairs) > 1 and min(values) <= 0:
            raise NoNumber(f"{name} of {pair.case.variant} is 0 at {pair.label}")
        return values

    return pairs[0].basis.measured.told(of, pairs)


def _without_partner(basis: Basis, found: Found, where: Where) -> Absence:
    """Why none of the timed cases has a partner: what happened to the other variants."""
    elsewhere = {**where, **basis.moved}
    absences = [(name, basis.measured.find(name, elsewhere).absence) for name in basis.rivals]
    if absences and all(absence is not None for _, absence in absences):
        reasons = "; ".join(f"`{name}` {absence}" for name, absence in absences)
        return Absence("missing", f"nothing to compare with, {reasons}")
    if basis.measured.partial or (basis.measured.may_lack and not basis.rivals):
        return Absence("missing", "nothing to compare with in this run")
    where_found = basis.measured.label(found.cases[0])
    raise UserError(f"no case to compare with: over={basis.over!r} at {where_found}")



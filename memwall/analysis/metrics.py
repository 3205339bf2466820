"""What can be computed from samples: one entry in `METRICS` for each column, axis or value."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeVar

from memwall.analysis import numerics
from memwall.analysis.measurements import NOT_MEASURED, Found, Measurements
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import (
    COUNTER,
    Absence,
    NoNumber,
    Unknown,
    is_counted,
    quantity,
    unprofiled,
)
from memwall.record import notation
from memwall.record.errors import UserError
from memwall.record.regions import Where, words
from memwall.record.results import Case

Over = str | Mapping[str, Any] | None
Item = TypeVar("Item")
Made = TypeVar("Made")
#: `over={"best_of": "peer"}`: the variant that is fastest at each point, of a group, of a list, or
#: of those that `{"group": [...], "variant": ["vector_*", "!vector_shared*"]}` selects.
BEST_OF = "best_of"
#: What one of a group is called, where that is another word than the group's name.
GROUP_NOUNS = {"peer": "library"}
Ceilings = str | Sequence[str] | None
#: `count:messages`: what a variant counted in its setup (`Variant::count`).
COUNT = "count:"
#: `round:cycles`: a number that a variant recorded for each sample.
ROUND = "round:"


@dataclass(frozen=True)
class Basis:
    """What values refer to: the variant they are compared with, the ceiling they are a part of."""

    measured: Measurements
    over: Over = None
    ceiling: Ceilings = None  # of several the one that allows least counts

    def partner(self, case: Case) -> Case | None:
        """The case that `case` is compared with: another variant, other coordinates, or both.

        Of several rivals it is the one with the lowest median at this point.
        """
        if self.over is None:
            raise UserError("found no over=, expected the variant to compare with")
        names = self.rivals if self.names_rivals else (case.variant,)
        found = [self.measured.partner(case, name, self.moved) for name in names]
        timed = [partner for partner in found if partner is not None]
        return min(timed, key=lambda partner: numerics.median(partner.samples), default=None)

    @cached_property
    def moved(self) -> dict[str, Any]:
        """The coordinates in which a case's partner differs from it."""
        moved = {} if isinstance(self.over, str) else dict(self.over or {})
        return {name: value for name, value in moved.items() if name not in ("variant", BEST_OF)}

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        """The variants that values refer to; none if it is the same one at other coordinates."""
        if self.over is None or isinstance(self.over, str):
            return (self.over,) if self.over else ()
        if BEST_OF in self.over:
            return self._contenders(self.over[BEST_OF])
        return (self.over["variant"],) if "variant" in self.over else ()

    @property
    def names_rivals(self) -> bool:
        """Whether values refer to other variants, not to the same one elsewhere."""
        return isinstance(self.over, str) or bool({"variant", BEST_OF} & set(self.over or ()))

    @property
    def over_variant(self) -> str | None:
        """The variant that values refer to, if it is another one and the same at every point."""
        return self.rivals[0] if len(self.rivals) == 1 else None

    @property
    def over_words(self) -> str:
        """What values are compared with, for captions: plain text."""
        if isinstance(self.over, str) or self.over is None:
            return self.over or ""
        if not self.names_rivals:
            return words(self.over)
        wanted = self.over.get(BEST_OF)
        named = (
            self.over["variant"] if wanted is None
            else f"the best {GROUP_NOUNS.get(wanted, wanted)}" if isinstance(wanted, str)
            else f"the best of those where {words(wanted)}" if isinstance(wanted, Mapping)
            else f"the best of {notation.listed(wanted)}"
        )
        return f"{named} at {words(self.moved)}" if self.moved else named

    def _contenders(self, wanted: str | Sequence[str] | Where) -> tuple[str, ...]:
        """A group's variants, those of a list, or those of a region; each must be known."""
        if isinstance(wanted, str):
            return self.measured.members(wanted)
        if isinstance(wanted, Mapping):
            return tuple(self.measured.values("variant", wanted))
        for name in wanted:
            self.measured.find(name, {})
        return tuple(wanted)


@dataclass(frozen=True)
class Metric:
    """A quantity of a case: one value for each round, or a single one."""

    header: str
    kind: str  # time, rate, factor, percent, bytes, count or number
    of: Callable[[Basis, Case], Sequence[float]]
    mean: bool = False  # a geometric mean over points has a meaning
    relative: bool = False  # refers to `over`
    of_point: bool = False  # the same for every variant of a point
    of_ceiling: bool = False  # refers to what the case's launch reached at best
    unit: str = ""

    @property
    def noun(self) -> str:
        """What it is called in a sentence."""
        return "part of its ceiling" if self.of_ceiling else self.header


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
    metric = metric_named(name)
    measured = basis.measured
    if variant is None:
        if not metric.of_point:
            raise UserError(f'"{name}" differs between variants: name one, or put them in rows')
        return _of_points(basis, metric, name, where)
    found = measured.find(variant, where)
    if found.absence:
        return Cell(absence=found.absence, stale=measured.is_stale(variant))
    counted = [case for case in found.cases if is_counted(name, case)]
    cases = [c for c in counted if not metric.relative or basis.partner(c) is not None]
    stale = measured.is_stale(variant, *(basis.rivals if metric.relative else ()))
    if not counted:
        return Cell(absence=unprofiled(name), stale=stale)
    if not cases:
        return Cell(absence=_without_partner(basis, found, where), stale=stale)
    return replace(_over_points(basis, metric, name, cases, len(found.cases) + found.unmeasured),
                   stale=stale)


def metric_named(name: str) -> Metric:
    """An entry of `METRICS`."""
    if name.startswith((COUNT, COUNTER)):
        return _count_metric(name)
    if name.startswith(ROUND):
        return _round_metric(name.removeprefix(ROUND))
    if name not in METRICS:
        known = ", ".join(METRICS)
        raise UserError(f'no metric "{name}", expected one of {known}, {COUNT}NAME, {COUNTER}NAME')
    return METRICS[name]


def plain(quantity: str) -> str:
    """A quantity in words: `l2 sectors`."""
    return quantity.removeprefix(COUNTER).replace("_", " ")


def measure_of(name: str) -> Metric:
    """A metric that each case has by itself, of which more is better, or a counter."""
    own = {name: one for name, one in METRICS.items()
           if one.kind in ("rate", "percent") and not one.relative and not one.of_point}
    metric = metric_named(name)
    if name not in own and not name.startswith(COUNTER):
        raise UserError(f'found more of "{name}", expected one of {", ".join(own)}')
    return metric


@cache
def _count_metric(name: str) -> Metric:
    counted = name.removeprefix(COUNT)
    return Metric(plain(counted), "number", lambda b, c: [quantity(counted, c)])


@cache
def _round_metric(name: str) -> Metric:
    def of(basis: Basis, case: Case) -> Sequence[float]:
        if name not in case.rounds:
            raise Unknown(f'{case.variant} recorded no "{name}" for each round')
        return case.rounds[name]

    return Metric(plain(name), "number", of, mean=True)


def _of_points(basis: Basis, metric: Metric, name: str, where: Where) -> Cell:
    measured = basis.measured
    cases: dict[Any, Case] = {}
    for case in measured.select(where, timed=False):
        cases.setdefault(frozenset(measured.coordinates(case).items()), case)
    if not cases:
        if measured.may_lack:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        raise UserError(f"nothing was measured where {words(where) or 'everywhere'}")
    return _over_points(basis, metric, name, list(cases.values()), len(cases))


def _over_points(basis: Basis, metric: Metric, name: str, cases: Sequence[Case],
                 count: int) -> Cell:
    """The mean over those of `count` points that have a number, or why none has."""
    if len(cases) > 1 and not metric.mean:
        labels = ", ".join(basis.measured.label(case) for case in cases[:3])
        raise UserError(
            f'"{name}" has no mean over points, found {len(cases)} of them ({labels}, ...):'
            " narrow where= or add an axis to rows="
        )
    rounds, why = numbers_of(basis, name, cases)
    if not rounds:
        return Cell(absence=Absence("missing", why))
    if all(len(values) == 1 for values in rounds):
        value = numerics.geometric_mean([values[0] for values in rounds])
        estimate = Estimate(value, value, value, 1.0, 1)
    else:
        estimate = numerics.estimate(numerics.geometric_mean_per_round(rounds))
    return Cell(estimate, points=len(rounds), unmeasured=count - len(rounds))


def numbers_of(basis: Basis, name: str,
               cases: Sequence[Case]) -> tuple[list[Sequence[float]], str]:
    """The numbers of those cases that have one, and what the first says that has none. Of several
    those that are 0 have no place in a geometric mean."""
    metric = metric_named(name)

    def of(case: Case) -> Sequence[float]:
        values = metric.of(basis, case)
        if len(cases) > 1 and min(values) <= 0:
            raise NoNumber(f"{name} of {case.variant} is 0 at {basis.measured.label(case)}")
        return values

    return told(basis.measured, of, cases)


def told(measured: Measurements, of: Callable[[Item], Made],
          items: Iterable[Item]) -> tuple[list[Made], str]:
    """What can be told of some things, and why the first cannot of which nothing can.

    Raises `Unknown` where nothing can be told of any, and the result of a chapter has no such name.
    """
    made: list[Made] = []
    lacking: list[NoNumber] = []
    for item in items:
        try:
            made.append(of(item))
        except NoNumber as error:
            lacking.append(error)
    unknown = next((error for error in lacking if isinstance(error, Unknown)), None)
    if unknown and not made and not measured.may_lack:
        raise unknown
    return made, str(lacking[0]) if lacking else ""


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


def _rate(basis: Basis, case: Case) -> float:
    ceilings = basis.measured.ceilings(case.launch, basis.ceiling)
    return next((each for each in ceilings if each.moves_bytes), ceilings[0]).rate.value


def _bound(basis: Basis, case: Case) -> float:
    """Seconds that the ceilings allow for the compulsory work: of several the longest."""
    ceilings = basis.measured.ceilings(case.launch, basis.ceiling)
    return max(ceiling.work_of(case) / ceiling.rate.value for ceiling in ceilings)


def _over(above: float, below: float, what: str, case: Case) -> float:
    """A quotient, if there is one."""
    if below <= 0:
        raise NoNumber(f"{case.variant} has no {what}")
    return above / below


def _speedup(basis: Basis, case: Case) -> list[float]:
    partner = basis.partner(case)
    assert partner is not None
    return numerics.ratios(partner.samples, case.samples)


def _per_operation(basis: Basis, case: Case) -> list[float]:
    if not case.operations:
        raise NoNumber(f"{case.variant} declares no operations")
    return [seconds / case.operations for seconds in case.samples]


def _nonzeros(basis: Basis, case: Case) -> float:
    name = case.parameters.get("matrix")
    features = basis.measured.result.raw["datasets"].get(name, {}).get("features", {})
    if not features.get("nonzeros"):
        raise NoNumber(f"{name} has no nonzeros")
    return features["nonzeros"]


def _traffic(basis: Basis, case: Case) -> float:
    """Bytes that a call moves in its own format: the compulsory ones, but for the matrix.

    What is not matrix (x and y) is the same for all, and `over` tells how much that is: it must
    read the format that the compulsory bytes are counted in.
    """
    partner = basis.partner(case)
    assert partner is not None
    for one in (case, partner):
        if not one.format_bytes:
            raise NoNumber(f"{one.variant} records no bytes of its format")
    return case.bytes - partner.format_bytes + case.format_bytes


def _break_even(basis: Basis, case: Case) -> list[float]:
    """Calls after which the setup has paid: infinite where the variant is not faster."""
    partner = basis.partner(case)
    assert partner is not None
    gains = [slow - fast for slow, fast in zip(partner.samples, case.samples, strict=True)]
    return [case.setup_seconds / gain if gain > 0 else float("inf") for gain in gains]


def _setup_calls(basis: Basis, case: Case) -> list[float]:
    partner = basis.partner(case)
    assert partner is not None
    return [case.setup_seconds / seconds for seconds in partner.samples]


def _rate_of_work(unit: str, work: Callable[[Case], float]) -> Metric:
    return Metric(unit, "rate", lambda b, c: [work(c) / s for s in c.samples], mean=True, unit=unit)


METRICS: dict[str, Metric] = {
    "median": Metric("median", "time", lambda b, c: c.samples),
    "ci": Metric("interval", "time", lambda b, c: c.samples),
    "gbps": _rate_of_work("GB/s", lambda c: c.bytes / 1e9),
    "gflops": _rate_of_work("GFLOP/s", lambda c: c.flops / 1e9),
    "tflops": _rate_of_work("TFLOP/s", lambda c: c.flops / 1e12),
    "of_ceiling": Metric(
        "of ceiling",
        "percent",
        lambda b, c: [_bound(b, c) / s for s in c.samples],
        mean=True,
        of_ceiling=True,
        unit="%",
    ),
    "speedup": Metric("speed-up", "factor", _speedup, mean=True, relative=True, unit="x"),
    "stored_bytes_per_nonzero": Metric(
        "stored bytes per nonzero",
        "number",
        lambda b, c: [c.format_bytes / _nonzeros(b, c)],
        mean=True,
        unit="B",
    ),
    "stored_bytes": Metric("stored", "bytes", lambda b, c: [c.format_bytes]),
    "per_operation": Metric("per operation", "time", _per_operation, mean=True),
    "gops": Metric("operations, G/s", "rate",
                   lambda b, c: [1e-9 / s for s in _per_operation(b, c)], mean=True, unit="G/s"),
    "setup": Metric("setup", "time", lambda b, c: [c.setup_seconds]),
    "byte_gain": Metric(
        "speed-up that its bytes allow",
        "factor",
        lambda b, c: [_over(c.bytes, _traffic(b, c), "bytes of its own", c)],
        mean=True,
        relative=True,
        unit="x",
    ),
    "of_own_bound": Metric(
        "of the bound of its own bytes",
        "percent",
        lambda b, c: [_traffic(b, c) / _rate(b, c) / s for s in c.samples],
        mean=True,
        relative=True,
        unit="%",
    ),
    "setup_calls": Metric("setup in calls", "count", _setup_calls, mean=True, relative=True),
    "break_even": Metric("calls to break even", "count", _break_even, relative=True),
    "bytes": Metric("compulsory bytes", "bytes", lambda b, c: [c.bytes], of_point=True),
    "flops": Metric("flops", "count", lambda b, c: [c.flops], of_point=True),
    "intensity": Metric(
        "flops per byte",
        "number",
        lambda b, c: [_over(c.flops, c.bytes, "bytes", c)],
        mean=True,
        of_point=True,
    ),
    "bound": Metric("bound", "time", lambda b, c: [_bound(b, c)], of_point=True),
    "bound_gflops": Metric(
        "bound, GFLOP/s", "rate", lambda b, c: [_over(c.flops / 1e9, _bound(b, c), "work", c)],
        mean=True,
        of_point=True,
        unit="GFLOP/s",
    ),
    "ceiling": Metric("ceiling", "rate", lambda b, c: [_rate(b, c) / 1e9], mean=True,
                      of_point=True, unit="GB/s"),
}

"""What can be computed from samples: one entry in `METRICS` for each column, axis or value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weave import statistics
from weave.errors import WeaveError
from weave.measurements import NOT_MEASURED, Absence, Found, Measurements, Where, region_words
from weave.results import Case
from weave.statistics import Estimate

Over = str | Mapping[str, Any] | None


@dataclass(frozen=True)
class Basis:
    """What values refer to: the variant they are compared with, the ceiling they are a part of."""

    measured: Measurements
    over: Over = None
    ceiling: str | None = None

    def partner(self, case: Case) -> Case | None:
        """The case that `case` is compared with: another variant, other coordinates, or both."""
        if self.over is None:
            raise WeaveError("found no over=, expected the variant to compare with")
        changes = {"variant": self.over} if isinstance(self.over, str) else dict(self.over)
        variant = changes.pop("variant", case.variant)
        return self.measured.partner(case, variant, changes)

    @property
    def over_variant(self) -> str | None:
        """The variant that values refer to, if it is another one."""
        if self.over is None or isinstance(self.over, str):
            return self.over
        return self.over.get("variant")


@dataclass(frozen=True)
class Metric:
    """A quantity of a case: one value for each round, or a single one."""

    header: str
    kind: str  # time, rate, factor, percent, bytes, count or number
    of: Callable[[Basis, Case], Sequence[float]]
    mean: bool = False  # a geometric mean over points has a meaning
    relative: bool = False  # refers to `over`
    of_point: bool = False  # the same for every variant of a point
    unit: str = ""


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
            raise WeaveError(f'"{name}" differs between variants: name one, or put them in rows')
        return _of_points(basis, metric, name, where)
    found = measured.find(variant, where)
    if found.absence:
        return Cell(absence=found.absence, stale=measured.is_stale(variant))
    cases = [c for c in found.cases if not metric.relative or basis.partner(c) is not None]
    stale = measured.is_stale(variant, *([basis.over_variant] if basis.over_variant else []))
    if not cases:
        return Cell(absence=_without_partner(basis, found, where), stale=stale)
    return Cell(
        estimate=_over_points(basis, metric, name, cases),
        points=len(cases),
        unmeasured=found.unmeasured + len(found.cases) - len(cases),
        stale=stale,
    )


def metric_named(name: str) -> Metric:
    """An entry of `METRICS`."""
    if name not in METRICS:
        raise WeaveError(f'no metric "{name}", expected one of {", ".join(METRICS)}')
    return METRICS[name]


def _of_points(basis: Basis, metric: Metric, name: str, where: Where) -> Cell:
    measured = basis.measured
    cases: dict[Any, Case] = {}
    for case in measured.select(where, timed=False):
        cases.setdefault(frozenset(measured.coordinates(case).items()), case)
    if not cases:
        if measured.partial:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        raise WeaveError(f"nothing was measured where {region_words(where) or 'everywhere'}")
    return Cell(_over_points(basis, metric, name, list(cases.values())), points=len(cases))


def _over_points(basis: Basis, metric: Metric, name: str, cases: Sequence[Case]) -> Estimate:
    if len(cases) > 1 and not metric.mean:
        labels = ", ".join(basis.measured.label(case) for case in cases[:3])
        raise WeaveError(
            f'"{name}" has no mean over points, found {len(cases)} of them ({labels}, ...):'
            " narrow where= or add an axis to rows="
        )
    rounds = [metric.of(basis, case) for case in cases]
    if all(len(values) == 1 for values in rounds):
        value = statistics.geometric_mean([values[0] for values in rounds])
        return Estimate(value, value, value, 1.0, 1)
    return statistics.estimate(statistics.geometric_mean_per_round(rounds))


def _without_partner(basis: Basis, found: Found, where: Where) -> Absence:
    """Why none of the timed cases has a partner: what happened to the other variant."""
    other = basis.over_variant
    if other is not None:
        absence = basis.measured.find(other, where).absence
        if absence is not None:
            return Absence("missing", f"nothing to compare with, `{other}` {absence}")
    if basis.measured.partial:
        return Absence("missing", "nothing to compare with in this run")
    where_found = basis.measured.label(found.cases[0])
    raise WeaveError(f"no case to compare with: over={basis.over!r} at {where_found}")


def _rate(basis: Basis, case: Case) -> float:
    return basis.measured.ceiling(case.launch, basis.ceiling).rate.value


def _bound(basis: Basis, case: Case) -> float:
    """Seconds that the ceiling allows for the compulsory work."""
    ceiling = basis.measured.ceiling(case.launch, basis.ceiling)
    return ceiling.work_of(case) / ceiling.rate.value


def _speedup(basis: Basis, case: Case) -> list[float]:
    partner = basis.partner(case)
    assert partner is not None
    return statistics.ratios(partner.samples, case.samples)


def _per_operation(basis: Basis, case: Case) -> list[float]:
    if not case.operations:
        raise WeaveError(f"{case.variant} at {basis.measured.label(case)} declares no operations")
    return [seconds / case.operations for seconds in case.samples]


def _nonzeros(basis: Basis, case: Case) -> float:
    name = case.parameters.get("matrix")
    features = basis.measured.result.raw["datasets"].get(name, {}).get("features", {})
    if not features.get("nonzeros"):
        raise WeaveError(f'the data set "{name}" has no feature "nonzeros", its number of nonzeros')
    return features["nonzeros"]


def _break_even(basis: Basis, case: Case) -> list[float]:
    """Calls after which the setup has paid: infinite where the variant is not faster."""
    partner = basis.partner(case)
    assert partner is not None
    gains = [slow - fast for slow, fast in zip(partner.samples, case.samples, strict=True)]
    return [case.setup_seconds / gain if gain > 0 else float("inf") for gain in gains]


METRICS: dict[str, Metric] = {
    "median": Metric("median", "time", lambda b, c: c.samples),
    "ci": Metric("interval", "time", lambda b, c: c.samples),
    "gbps": Metric(
        "GB/s", "rate", lambda b, c: [c.bytes / s / 1e9 for s in c.samples], mean=True, unit="GB/s"
    ),
    "gflops": Metric(
        "GFLOP/s",
        "rate",
        lambda b, c: [c.flops / s / 1e9 for s in c.samples],
        mean=True,
        unit="GFLOP/s",
    ),
    "of_ceiling": Metric(
        "of ceiling",
        "percent",
        lambda b, c: [_bound(b, c) / s for s in c.samples],
        mean=True,
        unit="%",
    ),
    "speedup": Metric("speed-up", "factor", _speedup, mean=True, relative=True, unit="x"),
    "stored_bytes_per_nonzero": Metric(
        "stored bytes per nonzero",
        "number",
        lambda b, c: [c.stored_bytes / _nonzeros(b, c)],
        mean=True,
        unit="B",
    ),
    "stored_bytes": Metric("stored", "bytes", lambda b, c: [c.stored_bytes]),
    "per_operation": Metric("per operation", "time", _per_operation, mean=True),
    "setup": Metric("setup", "time", lambda b, c: [c.setup_seconds]),
    "break_even": Metric("calls to break even", "count", _break_even, relative=True),
    "bytes": Metric("compulsory bytes", "bytes", lambda b, c: [c.bytes], of_point=True),
    "flops": Metric("flops", "count", lambda b, c: [c.flops], of_point=True),
    "intensity": Metric(
        "flops per byte", "number", lambda b, c: [c.flops / c.bytes], mean=True, of_point=True
    ),
    "bound": Metric("bound", "time", lambda b, c: [_bound(b, c)], of_point=True),
    "bound_gflops": Metric(
        "bound, GFLOP/s",
        "rate",
        lambda b, c: [c.flops / _bound(b, c) / 1e9],
        mean=True,
        of_point=True,
        unit="GFLOP/s",
    ),
    "ceiling": Metric(
        "ceiling",
        "rate",
        lambda b, c: [_rate(b, c) / 1e9],
        mean=True,
        of_point=True,
        unit="GB/s",
    ),
}

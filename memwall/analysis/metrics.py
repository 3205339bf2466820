"""What can be computed of a case from its samples: one entry in `METRICS` for each column, axis or
value. A value of several cases, or why there is none, is a `Cell` (`cells.py`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from memwall.analysis import energy, numerics
from memwall.analysis.basis import Pair
from memwall.analysis.quantities import COUNTED, COUNTER, NoNumber, Unknown, quantity
from memwall.record.errors import UserError
from memwall.record.results import Case, samples_of_both

#: `count:messages`: what a variant counted in its setup (`Variant::count`).
COUNT = "count:"
#: `round:cycles`: a number that a variant recorded for each sample.
ROUND = "round:"
#: `pj_per_byte:idle`: above what the variant `idle` takes at the same point in the same time.
ABOVE = ":"
#: Samples, or a single number.
Samples = Sequence[float]


@dataclass(frozen=True)
class Metric:
    """A quantity of a case: one value for each round, or a single one."""

    header: str
    kind: str  # time, rate, factor, percent, bytes, count or number
    of: Callable[[Pair], Samples]
    mean: bool = False  # a geometric mean over points has a meaning
    relative: bool = False  # refers to `over`
    of_point: bool = False  # the same for every variant of a point
    of_ceiling: bool = False  # refers to what the case's launch reached at best
    unit: str = ""
    noise: str = ""  # what of the rounds A/A pairs tell its noise by; empty: their times

    @property
    def noun(self) -> str:
        """What it is called in a sentence."""
        return "part of its ceiling" if self.of_ceiling else self.header


def metric_named(name: str) -> Metric:
    """An entry of `METRICS`."""
    if name.startswith((COUNT, COUNTER)):
        return _count_metric(name)
    if name.startswith(ROUND):
        return _round_metric(name.removeprefix(ROUND))
    kind, _, baseline = name.partition(ABOVE)
    if kind in ENERGIES and baseline:
        return _energy_metric(kind, baseline)
    if name not in METRICS:
        known = ", ".join(METRICS)
        above = ", ".join(f"{kind}{ABOVE}BASELINE" for kind in ENERGIES)
        raise UserError(f'no metric "{name}", expected one of {known}, {COUNT}NAME, {COUNTER}NAME,'
                        f" {ROUND}NAME, {above}")
    return METRICS[name]


def plain(quantity: str) -> str:
    """A quantity in words: `l2 sectors`."""
    return COUNTED.get(quantity, quantity.removeprefix(COUNTER).replace("_", " "))


def measure_of(name: str) -> Metric:
    """A metric that each case has by itself, of which more is better, or a counter."""
    metric = metric_named(name)
    if not _is_own_rate(metric) and not name.startswith(COUNTER):
        own = ", ".join(name for name, one in METRICS.items() if _is_own_rate(one))
        raise UserError(f'found more of "{name}", expected one of {own}')
    return metric


def _is_own_rate(metric: Metric) -> bool:
    return metric.kind in ("rate", "percent") and not metric.relative and not metric.of_point


@cache
def _count_metric(name: str) -> Metric:
    counted = name.removeprefix(COUNT)
    return Metric(plain(counted), "number", lambda p: [quantity(counted, p.case)])


@cache
def _round_metric(name: str) -> Metric:
    def of(pair: Pair) -> Samples:
        if name not in pair.case.rounds:
            raise Unknown(f'{pair.case.variant} recorded no "{name}" for each round')
        return pair.case.rounds[name]

    return Metric(plain(name), "number", of, mean=True)


@cache
def _energy_metric(kind: str, baseline: str) -> Metric:
    metric, of = ENERGIES[kind]
    return replace(metric, header=f"{metric.header} above {baseline}", of=lambda p: of(p, baseline))


def _rate(p: Pair) -> float:
    return next((each for each in p.ceilings if each.moves_bytes), p.ceilings[0]).rate.value


def _bound(p: Pair) -> float:
    """Seconds that the ceilings allow for the compulsory work: of several the longest."""
    return max(ceiling.work_of(p.case) / ceiling.rate.value for ceiling in p.ceilings)


def _share(bound: float, case: Case) -> Samples:
    return [bound / seconds for seconds in case.samples]


def _over(above: float, below: float, what: str, case: Case) -> float:
    """A quotient, if there is one."""
    if below <= 0:
        raise NoNumber(f"{case.variant} has no {what}")
    return above / below


def _per_operation(p: Pair) -> Samples:
    if not p.case.operations:
        raise NoNumber(f"{p.case.variant} declares no operations")
    return [seconds / p.case.operations for seconds in p.case.samples]


def _nonzeros(p: Pair) -> float:
    """Those of the matrix of a case."""
    name = p.case.parameters.get("matrix")
    nonzeros: float = p.basis.measured.features(name).get("nonzeros", 0)
    if not nonzeros:
        raise NoNumber(f"{name} has no nonzeros")
    return nonzeros


def _traffic(p: Pair) -> float:
    """Bytes that a call moves in its own format: the compulsory ones, but for the matrix.

    What is not matrix (x and y) is the same for all, and `over` tells how much that is: it must
    read the format that the compulsory bytes are counted in.
    """
    for one in (p.case, p.than):
        if not one.format_bytes:
            raise NoNumber(f"{one.variant} records no bytes of its format")
    return p.case.bytes - p.than.format_bytes + p.case.format_bytes


def _break_even(p: Pair) -> Samples:
    """Calls after which the setup has paid: infinite where the variant is not faster."""
    gains = [slow - fast for slow, fast in zip(*samples_of_both(p.than, p.case), strict=True)]
    return [p.case.setup_seconds / gain if gain > 0 else float("inf") for gain in gains]


def _rate_of_work(unit: str, work: Callable[[Case], float]) -> Metric:
    return Metric(unit, "rate", lambda p: [work(p.case) / s for s in p.case.samples], mean=True,
                  unit=unit)


METRICS: dict[str, Metric] = {
    "median": Metric("median", "time", lambda p: p.case.samples),
    "ci": Metric("interval", "time", lambda p: p.case.samples),
    "gbps": _rate_of_work("GB/s", lambda c: c.bytes / 1e9),
    "gflops": _rate_of_work("GFLOP/s", lambda c: c.flops / 1e9),
    "tflops": _rate_of_work("TFLOP/s", lambda c: c.flops / 1e12),
    "of_ceiling": Metric(
        "of ceiling",
        "percent",
        lambda p: _share(_bound(p), p.case),
        mean=True,
        of_ceiling=True,
        unit="%",
    ),
    "speedup": Metric(
        "speed-up",
        "factor",
        lambda p: numerics.ratios(*samples_of_both(p.than, p.case)),
        mean=True,
        relative=True,
        unit="x",
    ),
    "stored_bytes_per_nonzero": Metric(
        "stored bytes per nonzero", "number", lambda p: [p.case.format_bytes / _nonzeros(p)],
        mean=True, unit="B"
    ),
    "per_nonzero": Metric(
        "per nonzero", "time", lambda p: [s / _nonzeros(p) for s in p.case.samples], mean=True
    ),
    "bound_per_nonzero": Metric(
        "bound per nonzero", "time", lambda p: [_bound(p) / _nonzeros(p)], mean=True, of_point=True
    ),
    "stored_bytes": Metric("stored", "bytes", lambda p: [p.case.format_bytes]),
    "per_operation": Metric("per operation", "time", _per_operation, mean=True),
    "gops": Metric(
        "operations, G/s",
        "rate",
        lambda p: [1e-9 / s for s in _per_operation(p)],
        mean=True,
        unit="G/s",
    ),
    "setup": Metric("setup", "time", lambda p: [p.case.setup_seconds]),
    "byte_gain": Metric(
        "speed-up that its bytes allow",
        "factor",
        lambda p: [_over(p.case.bytes, _traffic(p), "bytes of its own", p.case)],
        mean=True,
        relative=True,
        unit="x",
    ),
    "of_own_bound": Metric(
        "of the bound of its own bytes",
        "percent",
        lambda p: _share(_traffic(p) / _rate(p), p.case),
        mean=True,
        relative=True,
        unit="%",
    ),
    "setup_calls": Metric(
        "setup in calls",
        "count",
        lambda p: [p.case.setup_seconds / seconds for seconds in p.than.samples],
        mean=True,
        relative=True,
    ),
    "break_even": Metric("calls to break even", "count", _break_even, relative=True),
    "watts": Metric("power", "number", lambda p: energy.watts(p.case), mean=True, unit="W"),
    "calls_per_joule": Metric(
        "number of calls for a joule",
        "rate",
        lambda p: [1 / joules for joules in energy.joules(p.case)],
        mean=True,
        unit="calls/J",
        noise=energy.JOULES,
    ),
    "bytes": Metric("compulsory bytes", "bytes", lambda p: [p.case.bytes], of_point=True),
    "flops": Metric("flops", "count", lambda p: [p.case.flops], of_point=True),
    "intensity": Metric(
        "flops per byte",
        "number",
        lambda p: [_over(p.case.flops, p.case.bytes, "bytes", p.case)],
        mean=True,
        of_point=True,
    ),
    "bound": Metric("bound", "time", lambda p: [_bound(p)], of_point=True),
    "bound_gflops": Metric(
        "bound, GFLOP/s",
        "rate",
        lambda p: [_over(p.case.flops / 1e9, _bound(p), "work", p.case)],
        mean=True,
        of_point=True,
        unit="GFLOP/s",
    ),
    "ceiling": Metric("ceiling", "rate", lambda p: [_rate(p) / 1e9], mean=True, of_point=True,
                      unit="GB/s"),
}

Above = Callable[[Pair, str], Samples]


def _above(header: str, kind: str, unit: str, of: Above) -> tuple[Metric, Above]:
    nothing: Callable[[Pair], Samples] = lambda _: ()  # noqa: E731 - until there is a baseline
    return Metric(header, kind, nothing, mean=True, unit=unit, noise=energy.JOULES), of


#: What joules above a baseline are told as; each is a metric with the baseline's name behind it.
ENERGIES: dict[str, tuple[Metric, Above]] = {
    "joules_above": _above("joules", "number", "J", energy.above),
    "pj_per_byte": _above(
        "energy of a byte", "number", "pJ",
        lambda p, than: energy.cost(p, than, p.case.bytes, "bytes")),
    "pj_per_operation": _above(
        "energy of an operation", "number", "pJ",
        lambda p, than: energy.cost(p, than, p.case.operations, "operations")),
    "gb_per_joule": _above(
        "number of bytes for a joule", "rate", "GB/J",
        lambda p, than: energy.yielded(p, than, p.case.bytes, "bytes")),
    "gop_per_joule": _above(
        "number of operations for a joule", "rate", "Gop/J",
        lambda p, than: energy.yielded(p, than, p.case.operations, "operations")),
}

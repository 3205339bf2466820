"""What can be computed from samples: one entry in `METRICS` for each column, axis or value; and two
variants compared by it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Protocol

from weave import numerics
from weave.definition import WeaveError, Where, words
from weave.measurements import COUNTER, NOT_MEASURED, Absence, Found, Measurements
from weave.measurements import is_counted, quantity, unprofiled
from weave.numerics import Estimate
from weave.results import Case

Over = str | Mapping[str, Any] | None
#: `over={"best_of": "peer"}`: the variant that is fastest at each point, of a group, of a list, or
#: of those that `{"group": [...], "variant": ["vector_*", "!vector_shared*"]}` selects.
BEST_OF = "best_of"
#: What one of a group is called, where that is another word than the group's name.
GROUP_NOUNS = {"peer": "library"}
Ceilings = str | Sequence[str] | None
#: `count:messages`: what a variant counted in its setup (`Setup::count`).
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
            raise WeaveError("found no over=, expected the variant to compare with")
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
            else f"the best of {numerics.listed(wanted)}"
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
            raise WeaveError(f'"{name}" differs between variants: name one, or put them in rows')
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
    return Cell(
        estimate=_over_points(basis, metric, name, cases),
        points=len(cases),
        unmeasured=found.unmeasured + len(found.cases) - len(cases),
        stale=stale,
    )


def metric_named(name: str) -> Metric:
    """An entry of `METRICS`."""
    if name.startswith((COUNT, COUNTER)):
        return _count_metric(name)
    if name.startswith(ROUND):
        return _round_metric(name.removeprefix(ROUND))
    if name not in METRICS:
        known = ", ".join(METRICS)
        raise WeaveError(f'no metric "{name}", expected one of {known}, {COUNT}NAME, {COUNTER}NAME')
    return METRICS[name]


def measure_of(name: str) -> Metric:
    """A metric that each case has by itself, of which more is better, or a counter."""
    own = {name: one for name, one in METRICS.items()
           if one.kind in ("rate", "percent") and not one.relative and not one.of_point}
    metric = metric_named(name)
    if name not in own and not name.startswith(COUNTER):
        raise WeaveError(f'found more of "{name}", expected one of {", ".join(own)}')
    return metric


@cache
def _count_metric(name: str) -> Metric:
    counted = name.removeprefix(COUNT)
    return Metric(_plain(counted), "number", lambda b, c: [quantity(counted, c)])


@cache
def _round_metric(name: str) -> Metric:
    def of(basis: Basis, case: Case) -> Sequence[float]:
        if name not in case.rounds:
            raise WeaveError(f'{case.variant} recorded no "{name}" for each round')
        return case.rounds[name]

    return Metric(_plain(name), "number", of, mean=True)


def _of_points(basis: Basis, metric: Metric, name: str, where: Where) -> Cell:
    measured = basis.measured
    cases: dict[Any, Case] = {}
    for case in measured.select(where, timed=False):
        cases.setdefault(frozenset(measured.coordinates(case).items()), case)
    if not cases:
        if measured.may_lack:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        raise WeaveError(f"nothing was measured where {words(where) or 'everywhere'}")
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
        value = numerics.geometric_mean([values[0] for values in rounds])
        return Estimate(value, value, value, 1.0, 1)
    return numerics.estimate(numerics.geometric_mean_per_round(rounds))


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
    raise WeaveError(f"no case to compare with: over={basis.over!r} at {where_found}")


def _rate(basis: Basis, case: Case) -> float:
    ceilings = basis.measured.ceilings(case.launch, basis.ceiling)
    return next((each for each in ceilings if each.moves_bytes), ceilings[0]).rate.value


def _bound(basis: Basis, case: Case) -> float:
    """Seconds that the ceilings allow for the compulsory work: of several the longest."""
    ceilings = basis.measured.ceilings(case.launch, basis.ceiling)
    return max(ceiling.work_of(case) / ceiling.rate.value for ceiling in ceilings)


def _speedup(basis: Basis, case: Case) -> list[float]:
    partner = basis.partner(case)
    assert partner is not None
    return numerics.ratios(partner.samples, case.samples)


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


def _traffic(basis: Basis, case: Case) -> float:
    """Bytes that a call moves in its own format: the compulsory ones, but for the matrix.

    What is not matrix (x and y) is the same for all, and `over` tells how much that is: it must
    read the format that the compulsory bytes are counted in.
    """
    partner = basis.partner(case)
    assert partner is not None
    for one in (case, partner):
        if not one.format_bytes:
            where = basis.measured.label(one)
            raise WeaveError(f"{one.variant} at {where} records no bytes of its format")
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
        lambda b, c: [c.bytes / _traffic(b, c)],
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
    "intensity": Metric("flops per byte", "number", lambda b, c: [c.flops / c.bytes], mean=True,
                        of_point=True),
    "bound": Metric("bound", "time", lambda b, c: [_bound(b, c)], of_point=True),
    "bound_gflops": Metric(
        "bound, GFLOP/s", "rate", lambda b, c: [c.flops / _bound(b, c) / 1e9], mean=True,
        of_point=True,
        unit="GFLOP/s",
    ),
    "ceiling": Metric("ceiling", "rate", lambda b, c: [_rate(b, c) / 1e9], mean=True,
                      of_point=True, unit="GB/s"),
}


# --- comparisons ----------------------------------------------------------------------------------
# Two variants over the points of a region: how much faster one is, how much less it needs, or how
# much more it reaches.
#
# The ratio of each round is a geometric mean over the points; its median and interval count. What
# was counted and not timed (stored bytes) has one value at each point, and its ratio no interval.

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
            raise WeaveError(f"{empty[0].variant} records no {empty[1]}, nothing to compare")
        return [others / needed]

    def doubt(self, first: Case, than: Case) -> tuple[float, float]:
        return 1.0, 1.0

    def sides(self, faster: str, than: str) -> str:
        """The stored bytes of `csrl` against those of `csr`."""
        others = "those" if self.less == self.than else f"the {_plain(self.than)}"
        return f"The {_plain(self.less)} of `{faster}` against {others} of {than}"

    def said(self, faster: str, than: str, times: Estimate, edges: Sequence[float]) -> str:
        """`csrl` needs 0.60x the stored bytes of `csr`."""
        less, others = _plain(self.less), _plain(self.than)
        part = replace(times, value=1 / times.value, low=1 / times.high, high=1 / times.low)
        needed = numerics.beside(part, numerics.factor(part.value), edges) + "x"
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
        if not all(others):
            raise WeaveError(f"{than.variant} has no {self.name}, nothing to compare")
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
        written = numerics.beside(times, numerics.factor(times.value), edges)
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
    known = [len(found.cases) + found.unmeasured for found in (first, *others.values())]
    labels = tuple(measured.label(case) for case, _ in points)
    targets = {case.target for pair in points for case in pair}
    noise = 1.0 if of and not of.is_timed else measured.noise_on(targets).factor
    unmeasured = max(known) - len(points)
    return Comparison(faster, named, points, noise, labels, unmeasured, words(where), of, per)


def _plain(quantity: str) -> str:
    return quantity.removeprefix(COUNTER).replace("_", " ")


def _was(absence: Absence) -> str:
    if absence.kind == "missing":
        return f"was {absence.reason}"
    return (
        f"was skipped: {absence.reason}"
        if absence.kind == "skipped"
        else f"failed: {absence.reason}"
    )

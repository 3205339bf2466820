"""Words mean numbers: what a comparison says about an expectation, and where it turns round.

A difference counts only if its interval lies outside the noise floor, which is what two runs of the
same code differ by. A word that claims can use is one function from a comparison to a finding,
listed in `EXPECTATIONS`; a number stands for itself: at least so many times faster.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from memwall.analysis import numerics
from memwall.analysis.comparisons import Comparison
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import Cell
from memwall.analysis.numerics import Estimate
from memwall.analysis.quantities import Unknown
from memwall.record import notation
from memwall.record.errors import UserError

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
UNDECIDED = "UNDECIDED"
TOO_FEW = "TOO FEW DATA"
NOT_APPLICABLE = "NOT APPLICABLE"

CLEARLY, SEVERAL, FAR = 1.2, 3.0, 2.0
ALIKE_LOW, ALIKE_HIGH = 0.95, 1.05
NEVER_BELOW = 0.97
SIGNIFICANT = 0.05
RESTLESS = 1.5  # where equal code differs by so much, small differences say nothing
NAMED = 6  # matrices that a sentence lists

Expectation = str | float | tuple[float, float]


Band = tuple[float | None, float | None]
ABOVE_ONE: Band = (1.0, None)
ALIKE: Band = (ALIKE_LOW, ALIKE_HIGH)


@dataclass(frozen=True)
class Finding:
    """What was found about an expectation; `verdict` is one of the five above."""

    verdict: str
    sentence: str
    decided_by: str = ""  # the number that the verdict rests on, for tables
    interval: str = ""  # its interval in the same digits
    estimate: Estimate | None = None  # the same with its interval, for figures
    holds: Band = (None, None)  # between which values the expectation holds
    is_ratio: bool = True  # else a value with a unit


def examine(comparison: Comparison, expect: Expectation, on: str = "all") -> Finding:
    """Whether an expectation holds on all points together, or on any or every one by itself: a
    matrix, or whatever the comparison counts."""
    judge = _judge(expect)
    comparison = replace(comparison, edges=tuple(e for e in band(expect) if e is not None))
    found = judge(comparison) if on == "all" else _on_each(comparison, expect, judge, on)
    return replace(found, holds=band(expect))


def examine_value(what: str, found: Cell, text: str, least: float | None,
                  most: float | None) -> Finding:
    """Whether a value lies where it is expected, with its whole interval."""
    estimate = found.estimate
    assert estimate is not None
    wanted = " and ".join([*([f"at least {least:g}"] if least is not None else []),
                           *([f"at most {most:g}"] if most is not None else [])])
    low, high = least if least is not None else -math.inf, most if most is not None else math.inf
    if low <= estimate.low and estimate.high <= high:
        verdict, meaning = REPRODUCED, f"{wanted}, as expected"
    elif estimate.high < low or estimate.low > high:
        verdict, meaning = NOT_REPRODUCED, f"not {wanted}"
    else:
        verdict, meaning = UNDECIDED, f"{wanted} is not decided"
    number, _, interval = text.partition(" (")
    return Finding(verdict, f"{what} is {text}: {meaning}.", number, interval.removesuffix(")"),
                   estimate, (least, most), is_ratio=False)


def band(expect: Expectation) -> Band:
    """Between which ratios an expectation holds; None: no bound."""
    if isinstance(expect, tuple):
        return expect
    if not isinstance(expect, str):
        return expect, None
    return BANDS.get(expect, ABOVE_ONE)


def describe(comparison: Comparison) -> str:
    """Two variants in the words that claims use, as far as the interval decides."""
    overall, noise = comparison.overall, comparison.noise
    if _is_alike(overall):
        return "alike"
    if overall.low > max(1.0, noise):
        return f"{_extent_word(overall.low)} faster"
    if overall.high < min(1.0, 1 / noise):
        return f"{_extent_word(1 / overall.high)} slower"
    return "not distinguishable from noise"


def _extent_word(least: float) -> str:
    words = ((SEVERAL, "several times"), (FAR, "far"), (CLEARLY, "clearly"))
    return next((word for bound, word in words if least >= bound), "a little")


# --- words ---------------------------------------------------------------------------------------


def expect_faster(comparison: Comparison) -> Finding:
    """The interval lies above 1. Alike is not faster; neither is a difference inside the noise."""
    overall, noise = comparison.overall, comparison.noise
    if overall.low > max(1.0, noise):
        return _finding(REPRODUCED, comparison, f"which is {comparison.better}")
    if overall.high < 1 / noise:
        return _finding(NOT_REPRODUCED, comparison, f"which is {comparison.worse}")
    if _is_alike(overall):
        return _finding(NOT_REPRODUCED, comparison, "which is alike, within 5 %")
    if overall.high < 1 and overall.high * noise <= ALIKE_HIGH:
        return _finding(NOT_REPRODUCED, comparison, f"which is alike or {comparison.worse}")
    why = "inside the noise floor" if overall.low > 1 else "not decided by this interval"
    return _finding(UNDECIDED, comparison, f"a direction {why}")


def expect_clearly(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, CLEARLY, f"clearly {comparison.better}")


def expect_several(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, SEVERAL, f"several times {comparison.better}")


def expect_far(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, FAR, f"far {comparison.better}")


def expect_alike(comparison: Comparison) -> Finding:
    overall, noise = comparison.overall, comparison.noise
    if _is_alike(overall):
        return _finding(REPRODUCED, comparison, "which is alike, within 5 %")
    if overall.low > max(ALIKE_HIGH, noise) or overall.high < min(ALIKE_LOW, 1 / noise):
        return _finding(NOT_REPRODUCED, comparison, "which differs by more than 5 %")
    return _finding(UNDECIDED, comparison, "alike within 5 % or not: not decided")


def expect_never_below(comparison: Comparison) -> Finding:
    """No point's interval lies wholly below 0.97."""
    low = [
        (label, estimate)
        for label, estimate in zip(comparison.labels, comparison.each, strict=True)
        if estimate.high < NEVER_BELOW
    ]
    beyond = [entry for entry in low if entry[1].high < 1 / comparison.noise]
    worst = min(comparison.each, key=lambda estimate: estimate.value)
    edges = comparison.edges
    places = ", ".join(f"{label or 'there'} {numerics.speedup(e, edges)}"
                       for label, e in (beyond or low))
    if not low:
        lowest = numerics.speedup(worst, edges)
        text = f"nowhere wholly below {NEVER_BELOW}x; the lowest is {lowest}"
        found = _finding(REPRODUCED, comparison, text)
    elif beyond:
        found = _finding(NOT_REPRODUCED, comparison, f"below {NEVER_BELOW}x: {places}")
    else:
        found = _finding(UNDECIDED, comparison, f"below only within the noise floor: {places}")
    return _resting_on(found, worst, edges)


def expect_most(comparison: Comparison) -> Finding:
    """One-sided sign test over what the comparison counts, the matrices unless it says otherwise;
    what is alike or not beyond the noise does not win."""
    estimates, noise = [part.overall for part in comparison.units()], comparison.noise
    count = len(estimates)
    if numerics.sign_test(count, count) >= SIGNIFICANT:
        reason = f"{notation.plural(count, comparison.noun)} are too few for a sign test"
        return Finding(TOO_FEW, reason + ", which needs at least 5.")
    wins = sum(estimate.low > max(1.0, noise) for estimate in estimates)
    losses = sum(estimate.high < min(1.0, 1 / noise) for estimate in estimates)
    alike = sum(
        _is_alike(e) and not e.low > max(1.0, noise) and not e.high < min(1.0, 1 / noise)
        for e in estimates
    )
    open_ = count - wins - losses - alike
    p = numerics.sign_test(wins, count)
    text = (
        f"{comparison.better} on {wins} of {notation.plural(count, comparison.noun)}, alike on"
        f" {alike}, {comparison.worse} on {losses}, undecided on {open_}; sign test"
        f" p = {notation.significant(p, 2)}"
    )
    if p < SIGNIFICANT:
        found = _finding(REPRODUCED, comparison, f"{text}: most")
    elif numerics.sign_test(wins + open_, count) >= SIGNIFICANT:
        found = _finding(NOT_REPRODUCED, comparison, f"{text}: not most")
    else:
        found = _finding(UNDECIDED, comparison, f"{text}: not decided")
    return replace(found, decided_by=f"{wins} of {count}", interval="")


def expect_keeps_up(comparison: Comparison) -> Finding:
    """The interval lies above 0.95: faster, alike, or slower by less than anyone would notice."""
    overall, bound = comparison.overall, f"{ALIKE_LOW:g}x"
    if _at_least(comparison, ALIKE_LOW):
        return _finding(REPRODUCED, comparison, f"which keeps up (not below {bound})")
    if overall.high < min(ALIKE_LOW, 1 / comparison.noise):
        return _finding(NOT_REPRODUCED, comparison, f"which does not keep up (below {bound})")
    return _finding(UNDECIDED, comparison, f"{bound} is not decided")


BANDS: dict[str, Band] = {
    "clearly": (CLEARLY, None),
    "several": (SEVERAL, None),
    "far": (FAR, None),
    "alike": ALIKE,
    "keeps-up": (ALIKE_LOW, None),
    "never-below": (NEVER_BELOW, None),
}
EXPECTATIONS: dict[str, Callable[[Comparison], Finding]] = {
    "faster": expect_faster,
    "less": expect_faster,
    "more": expect_faster,
    "clearly": expect_clearly,
    "several": expect_several,
    "far": expect_far,
    "most": expect_most,
    "alike": expect_alike,
    "keeps-up": expect_keeps_up,
    "never-below": expect_never_below,
}


def _judge(expect: Expectation) -> Callable[[Comparison], Finding]:
    if isinstance(expect, tuple):
        return lambda comparison: _expect_between(comparison, *expect)
    if not isinstance(expect, str):
        return lambda comparison: _expect_at_least(comparison, expect)
    if expect not in EXPECTATIONS:
        known = ", ".join(EXPECTATIONS)
        raise UserError(f'found expect="{expect}", expected a number or one of {known}')
    return EXPECTATIONS[expect]


def _on_each(
    comparison: Comparison, expect: Expectation, judge: Callable[[Comparison], Finding], on: str
) -> Finding:
    """An expectation on each unit by itself: `any` needs one that meets it, `every` all."""
    parts = {part.name: part for part in comparison.units()}
    found = {name: judge(part).verdict for name, part in parts.items()}
    holding = [name for name, verdict in found.items() if verdict == REPRODUCED]
    failing = [name for name, verdict in found.items() if verdict == NOT_REPRODUCED]
    if on == "any":
        decided = (bool(holding), len(failing) == len(found))
        named = holding or [max(parts, key=lambda name: parts[name].overall.value)]
    else:
        decided = (len(holding) == len(found), bool(failing))
        others = [name for name in found if name not in holding]
        named = failing or others or [min(parts, key=lambda name: parts[name].overall.value)]
    verdict = REPRODUCED if decided[0] else NOT_REPRODUCED if decided[1] else UNDECIDED
    told = {name: parts[name].overall for name in named}
    sentence = (
        f"{_sides(comparison)}, each {comparison.noun} by itself"
        f"{_in_region(comparison)}: {_wanted(expect, comparison)} on {len(holding)} of"
        f" {notation.plural(len(found), comparison.noun)}, not on {len(failing)}, undecided on"
        f" {len(found) - len(holding) - len(failing)} ({_places(told, comparison.edges)})."
    )
    best = max if on == "any" else min
    shown = best(told.values(), key=lambda estimate: estimate.value)
    return _resting_on(Finding(verdict, sentence), shown, comparison.edges)


def _sides(comparison: Comparison) -> str:
    faster, than = comparison.faster, comparison.than
    if comparison.of:
        return comparison.of.sides(faster, than)
    return f"`{faster}` against {than}"


def _wanted(expect: Expectation, comparison: Comparison) -> str:
    if isinstance(expect, tuple):
        return f"{expect[0]:g}x to {expect[1]:g}x"
    if not isinstance(expect, str):
        return f"at least {expect:g}x"
    words = {
        "clearly": f"clearly {comparison.better}",
        "several": f"several times {comparison.better}",
        "far": f"far {comparison.better}",
        "keeps-up": f"not below {ALIKE_LOW:g}x",
        "never-below": f"not wholly below {NEVER_BELOW:g}x",
    }
    return words.get(expect, expect)


def _places(estimates: Mapping[str, Estimate], edges: Sequence[float]) -> str:
    """`band64 2.31x (2.29–2.33), fem3 ...`."""
    texts = [f"{name} {numerics.speedup(estimate, edges)}" for name, estimate in estimates.items()]
    more = [f"{len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return ", ".join([*texts[:NAMED], *more])


def _expect_at_least(comparison: Comparison, threshold: float, word: str = "") -> Finding:
    overall, noise = comparison.overall, comparison.noise
    bound = f"{threshold:g}x"
    wanted = f"{word} (at least {bound})" if word else f"at least {bound}"
    if _at_least(comparison, threshold):
        return _finding(REPRODUCED, comparison, wanted)
    if overall.high < threshold and (threshold > noise or overall.high < 1 / noise):
        return _finding(NOT_REPRODUCED, comparison, f"not {wanted}")
    if overall.low > noise:
        return _finding(
            UNDECIDED, comparison, f"{comparison.better}, but {bound} lies in the interval"
        )
    return _finding(UNDECIDED, comparison, f"{bound} is not decided")


def _expect_between(comparison: Comparison, least: float, most: float) -> Finding:
    overall, wanted = comparison.overall, f"from {least:g}x to {most:g}x"
    if overall.low >= least and overall.high <= most:
        return _finding(REPRODUCED, comparison, f"which lies {wanted}")
    if overall.high < least or overall.low > most:
        return _finding(NOT_REPRODUCED, comparison, f"which does not lie {wanted}")
    return _finding(UNDECIDED, comparison, f"{wanted} is not decided")


def _at_least(comparison: Comparison, threshold: float) -> bool:
    """Where a little less would do, noise cannot have made it up, unless the machine is
    restless."""
    is_little = threshold < 1 and comparison.noise < RESTLESS
    least = threshold if is_little else max(threshold, comparison.noise)
    return comparison.overall.low >= least


def _is_alike(estimate: Estimate) -> bool:
    return estimate.low >= ALIKE_LOW and estimate.high <= ALIKE_HIGH


def _finding(verdict: str, comparison: Comparison, meaning: str) -> Finding:
    overall = comparison.overall
    found = _resting_on(Finding(verdict, ""), overall, comparison.edges)
    details = _extent(comparison)
    if comparison.of is None or comparison.of.is_timed:
        details = f"{numerics.coverage(overall)} {found.interval}; {details}"
    said = (comparison.of.said(comparison.faster, comparison.than, overall, comparison.edges)
            if comparison.of else
            f"`{comparison.faster}` runs at {found.decided_by} the speed of {comparison.than}")
    return replace(found, sentence=f"{said} ({details}): {meaning}.")


def _resting_on(found: Finding, estimate: Estimate, edges: Sequence[float]) -> Finding:
    """A finding with the ratio that it rests on."""
    written = numerics.beside(estimate, notation.factor(estimate.value), edges)
    return replace(found, decided_by=written + "x", interval=numerics.interval(estimate, written),
                   estimate=estimate)


def _extent(comparison: Comparison) -> str:
    count = len(comparison.points)
    extent = "1 point" if count == 1 else f"geometric mean over {notation.plural(count, 'point')}"
    extent += _in_region(comparison)
    if comparison.unmeasured:
        extent += f", {comparison.unmeasured} more without one of the two"
    return extent


def _in_region(comparison: Comparison) -> str:
    return f", {comparison.region}" if comparison.region else ""


# --- crossovers -----------------------------------------------------------------------------------
# Where a variant stops being faster, along a number of the points such as a feature of the matrix.
#
# In each round the logarithm of the ratio is interpolated linearly between neighbouring points; the
# place is where it comes down through zero. Of several such places in a round the last one from
# the left counts. A round that has none counts as the right end of what was measured if its last
# point is faster, else as the left end: that end then stands for "there or beyond". The value is
# the median of the rounds' places, with the order-statistic interval of all medians here.


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
        return self._place(1.0)

    def _place(self, factor: float) -> Estimate:
        """The place if every ratio were so many times what it is."""
        points = [numerics.geometric_mean_per_round(part.ratios) for part in self.parts.values()]
        rounds = [[factor * ratio for ratio in ratios] for ratios in zip(*points, strict=True)]
        return numerics.estimate([_last_fall(self.xs, ratios) for ratios in rounds])

    @property
    def within(self) -> bool:
        """Whether there is such a place between the points that were measured."""
        return self.xs[0] < self.place.value < self.xs[-1]

    @cached_property
    def reach(self) -> tuple[float, float]:
        """The interval of the place, widened by the noise floor; infinite where it is beyond."""
        noise = next(iter(self.parts.values())).noise
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
            return notation.factor(self.place.value) + f" ({self.interval()}){self._which()}"
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

    def interval(self) -> str:
        """`0.31–0.36`, an end of what was measured as `below 0.1` or `or beyond`."""
        place, written = self.place, notation.factor(self.place.value)
        low, _, high = numerics.interval(place, written).partition("–")
        below = "below " if place.low <= self.xs[0] else ""
        return f"{below}{low}–{high}" + (" or beyond" if place.high >= self.xs[-1] else "")

    def _which(self) -> str:
        return f", the last of {self.falls} such places" if self.falls > 1 else ""


def curve(measured: Measurements, comparison: Comparison, along: str) -> Curve:
    """A comparison split by the numbers of an axis or a feature."""
    if not measured.is_feature(along) and along not in measured.axes:
        raise Unknown(f'no axis and no feature "{along}" in the result')
    values = [measured.fact(case, along) for case, _ in comparison.points]
    words = [value for value in values if not isinstance(value, (int, float))]
    if words:
        raise Unknown(f'"{along}" has the value "{words[0]}", expected numbers')
    parts = dict(zip(dict.fromkeys(values), comparison.split(values), strict=True))
    return Curve(along, {value: parts[value] for value in sorted(parts)})


def examine_crossover(
    measured: Measurements, comparison: Comparison, along: str, between: tuple[float, float]
) -> Finding:
    """Whether the place lies between two numbers. Where a round has none, an end of what was
    measured stands for "there or beyond": beyond both numbers that decides too."""
    found = curve(measured, comparison, along)
    if len(found.xs) < 2:
        return Finding(TOO_FEW, f"Only one value of {along} was measured.")
    low, high = between
    first, last = found.reach
    if low <= first and last <= high:
        verdict = REPRODUCED
    elif last < low or first > high:
        verdict = NOT_REPRODUCED
    else:
        verdict = UNDECIDED
    sentence = (f"{found.sentence(comparison)}, {_crossover_extent(comparison, found)}; expected"
                f" between {low:g} and {high:g}.")
    decided_by = f"at {notation.factor(found.place.value)}" if found.within else found.side
    return Finding(verdict, sentence, decided_by, found.interval(), found.place, between,
                   is_ratio=False)


def _last_fall(xs: Sequence[float], ratios: Sequence[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    for i in reversed(range(len(xs) - 1)):
        if logs[i] > 0 >= logs[i + 1]:
            return xs[i] + (xs[i + 1] - xs[i]) * logs[i] / (logs[i] - logs[i + 1])
    return xs[-1] if logs[-1] > 0 else xs[0]


def _crossover_extent(comparison: Comparison, found: Curve) -> str:
    extent = f"with a {numerics.coverage(found.place)} of {len(found.xs)} points"
    return extent + _in_region(comparison)

"""Words mean numbers: what a comparison says about an expectation.

A word that claims can use is an entry of `EXPECTATIONS`; a number stands for itself: at least so
many times faster.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from memwall.analysis import numerics
from memwall.analysis.cells import Cell
from memwall.analysis.comparisons import ALIKE_HIGH, ALIKE_LOW, Comparison
from memwall.analysis.numerics import Estimate
from memwall.record import notation
from memwall.record.errors import UserError

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
UNDECIDED = "UNDECIDED"
TOO_FEW = "TOO FEW DATA"
NOT_APPLICABLE = "NOT APPLICABLE"

CLEARLY, SEVERAL, FAR = 1.2, 3.0, 2.0
NEVER_BELOW = 0.97
SIGNIFICANT = 0.05
RESTLESS = 1.5  # where equal code differs by so much, small differences say nothing
NAMED = 6  # matrices that a sentence lists

Expectation = str | float | tuple[float, float]
#: Between which values an expectation holds; None: no bound.
Band = tuple[float | None, float | None]


@dataclass(frozen=True)
class Finding:
    """What was found about an expectation; `verdict` is one of the five above."""

    verdict: str
    sentence: str
    decided_by: str = ""  # the number that the verdict rests on, for tables
    interval: str = ""  # its interval in the same digits
    estimate: Estimate | None = None  # the same with its interval, for figures
    holds: Band = (None, None)
    comparison: Comparison | None = None  # in which it was found; else it is a value with a unit


@dataclass(frozen=True)
class Expected:
    """What is expected of a comparison: who judges that, between which ratios it holds, and how it
    is said, with `{better}` for what one side is to be."""

    judge: Callable[["Expected", Comparison], Finding]
    holds: Band = (1.0, None)
    words: str = ""

    @property
    def edges(self) -> tuple[float, ...]:
        """Ratios that decide, from which numbers must be told apart."""
        return tuple(edge for edge in self.holds if edge is not None)

    def said(self, comparison: Comparison) -> str:
        return self.words.format(better=comparison.of.better)

    def found(self, verdict: str, comparison: Comparison, meaning: str) -> Finding:
        """A finding about all points of a comparison together."""
        overall, of = comparison.overall, comparison.of
        details = _extent(comparison)
        if of.is_timed:
            written = numerics.factor(overall, self.edges)
            interval = numerics.interval(overall, written)
            details = f"{numerics.coverage(overall)} {interval}; {details}"
        said = of.said(comparison.faster, comparison.than, overall, self.edges)
        return self.resting_on(comparison, overall, verdict, f"{said} ({details}): {meaning}.")

    def resting_on(self, comparison: Comparison, estimate: Estimate, verdict: str,
                   sentence: str) -> Finding:
        """A finding with the ratio that it rests on."""
        written = numerics.factor(estimate, self.edges)
        return Finding(verdict, sentence, f"{written}x", numerics.interval(estimate, written),
                       estimate, self.holds, comparison)


def examine(comparison: Comparison, expect: Expectation, on: str = "all") -> Finding:
    """Whether an expectation holds on all points together, or on any or every one by itself: a
    matrix, or whatever the comparison counts."""
    expected = _expected(expect)
    if on == "all":
        return expected.judge(expected, comparison)
    return _on_each(expected, comparison, on)


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
                   estimate, (least, most))


def describe(comparison: Comparison) -> str:
    """Two variants in the words that claims use, as far as the interval decides."""
    overall = comparison.overall
    if comparison.is_alike:
        return "alike"
    if comparison.is_better:
        return f"{_extent_word(overall.low)} faster"
    if comparison.is_worse:
        return f"{_extent_word(1 / overall.high)} slower"
    return "not distinguishable from noise"


def _extent_word(least: float) -> str:
    words = ((SEVERAL, "several times"), (FAR, "far"), (CLEARLY, "clearly"))
    return next((word for bound, word in words if least >= bound), "a little")


# --- words ---------------------------------------------------------------------------------------


def _faster(expected: Expected, comparison: Comparison) -> Finding:
    """The interval lies above 1. Alike is not faster; neither is a difference inside the noise."""
    overall, worse = comparison.overall, comparison.of.worse
    if comparison.is_better:
        return expected.found(REPRODUCED, comparison, f"which is {comparison.of.better}")
    if comparison.is_worse:
        return expected.found(NOT_REPRODUCED, comparison, f"which is {worse}")
    if comparison.is_alike:
        return expected.found(NOT_REPRODUCED, comparison, "which is alike, within 5 %")
    if overall.high < 1 and overall.high * comparison.noise <= ALIKE_HIGH:
        return expected.found(NOT_REPRODUCED, comparison, f"which is alike or {worse}")
    why = "inside the noise floor" if overall.low > 1 else "not decided by this interval"
    return expected.found(UNDECIDED, comparison, f"a direction {why}")


def _at_least(expected: Expected, comparison: Comparison) -> Finding:
    overall, noise, threshold = comparison.overall, comparison.noise, expected.edges[0]
    bound, said = f"{threshold:g}x", expected.said(comparison)
    wanted = f"{said} (at least {bound})" if bound not in said else said
    if _reaches(comparison, threshold):
        return expected.found(REPRODUCED, comparison, wanted)
    if overall.high < threshold and (threshold > noise or overall.high < 1 / noise):
        return expected.found(NOT_REPRODUCED, comparison, f"not {wanted}")
    if comparison.is_better:
        meaning = f"{comparison.of.better}, but {bound} lies in the interval"
        return expected.found(UNDECIDED, comparison, meaning)
    return expected.found(UNDECIDED, comparison, f"{bound} is not decided")


def _reaches(comparison: Comparison, threshold: float) -> bool:
    """Where a little less would do, noise cannot have made it up, unless the machine is
    restless."""
    is_little = threshold < 1 and comparison.noise < RESTLESS
    least = threshold if is_little else max(threshold, comparison.noise)
    return comparison.overall.low >= least


def _between(expected: Expected, comparison: Comparison) -> Finding:
    overall, (least, most) = comparison.overall, expected.edges
    wanted = f"from {least:g}x to {most:g}x"
    if overall.low >= least and overall.high <= most:
        return expected.found(REPRODUCED, comparison, f"which lies {wanted}")
    if overall.high < least or overall.low > most:
        return expected.found(NOT_REPRODUCED, comparison, f"which does not lie {wanted}")
    return expected.found(UNDECIDED, comparison, f"{wanted} is not decided")


def _alike(expected: Expected, comparison: Comparison) -> Finding:
    overall, noise = comparison.overall, comparison.noise
    if comparison.is_alike:
        return expected.found(REPRODUCED, comparison, "which is alike, within 5 %")
    if overall.low > max(ALIKE_HIGH, noise) or overall.high < min(ALIKE_LOW, 1 / noise):
        return expected.found(NOT_REPRODUCED, comparison, "which differs by more than 5 %")
    return expected.found(UNDECIDED, comparison, "alike within 5 % or not: not decided")


def _keeps_up(expected: Expected, comparison: Comparison) -> Finding:
    """The interval lies above 0.95: faster, alike, or slower by less than anyone would notice."""
    bound = f"{ALIKE_LOW:g}x"
    if _reaches(comparison, ALIKE_LOW):
        return expected.found(REPRODUCED, comparison, f"which keeps up (not below {bound})")
    if comparison.overall.high < min(ALIKE_LOW, 1 / comparison.noise):
        return expected.found(NOT_REPRODUCED, comparison,
                              f"which does not keep up (below {bound})")
    return expected.found(UNDECIDED, comparison, f"{bound} is not decided")


def _never_below(expected: Expected, comparison: Comparison) -> Finding:
    """No point's interval lies wholly below 0.97."""
    low = [part for part in comparison.each if part.overall.high < NEVER_BELOW]
    beyond = [part for part in low if part.is_worse]
    worst = min(comparison.each, key=lambda part: part.overall.value).overall
    places = ", ".join(
        f"{part.points[0].label or 'there'} {numerics.speedup(part.overall, expected.edges)}"
        for part in beyond or low)
    if beyond:
        verdict, meaning = NOT_REPRODUCED, f"below {NEVER_BELOW}x: {places}"
    elif low:
        verdict, meaning = UNDECIDED, f"below only within the noise floor: {places}"
    else:
        lowest = numerics.speedup(worst, expected.edges)
        verdict = REPRODUCED
        meaning = f"nowhere wholly below {NEVER_BELOW}x; the lowest is {lowest}"
    sentence = expected.found(verdict, comparison, meaning).sentence
    return expected.resting_on(comparison, worst, verdict, sentence)


def _most(expected: Expected, comparison: Comparison) -> Finding:
    """One-sided sign test over what the comparison counts, the matrices unless it says otherwise;
    what is alike or not beyond the noise does not win."""
    units, of = comparison.units, comparison.of
    count = len(units)
    counted = notation.plural(count, comparison.noun)
    if numerics.sign_test(count, count) >= SIGNIFICANT:
        return Finding(TOO_FEW, f"{counted} are too few for a sign test, which needs at least 5.")
    wins = sum(unit.is_better for unit in units)
    losses = sum(unit.is_worse for unit in units)
    alike = sum(unit.is_alike and not unit.is_better and not unit.is_worse for unit in units)
    open_ = count - wins - losses - alike
    p = numerics.sign_test(wins, count)
    text = (
        f"{of.better} on {wins} of {counted}, alike on {alike}, {of.worse} on {losses}, undecided"
        f" on {open_}; sign test p = {notation.significant(p, 2)}"
    )
    if p < SIGNIFICANT:
        found = expected.found(REPRODUCED, comparison, f"{text}: most")
    elif numerics.sign_test(wins + open_, count) >= SIGNIFICANT:
        found = expected.found(NOT_REPRODUCED, comparison, f"{text}: not most")
    else:
        found = expected.found(UNDECIDED, comparison, f"{text}: not decided")
    return replace(found, decided_by=f"{wins} of {count}", interval="")


EXPECTATIONS: dict[str, Expected] = {
    "faster": Expected(_faster, words="faster"),
    "less": Expected(_faster, words="less"),
    "more": Expected(_faster, words="more"),
    "clearly": Expected(_at_least, (CLEARLY, None), "clearly {better}"),
    "several": Expected(_at_least, (SEVERAL, None), "several times {better}"),
    "far": Expected(_at_least, (FAR, None), "far {better}"),
    "most": Expected(_most, words="most"),
    "alike": Expected(_alike, (ALIKE_LOW, ALIKE_HIGH), "alike"),
    "keeps-up": Expected(_keeps_up, (ALIKE_LOW, None), f"not below {ALIKE_LOW:g}x"),
    "never-below": Expected(_never_below, (NEVER_BELOW, None),
                            f"not wholly below {NEVER_BELOW:g}x"),
}


def _expected(expect: Expectation) -> Expected:
    if isinstance(expect, tuple):
        return Expected(_between, expect, f"{expect[0]:g}x to {expect[1]:g}x")
    if not isinstance(expect, str):
        return Expected(_at_least, (expect, None), f"at least {expect:g}x")
    if expect not in EXPECTATIONS:
        known = ", ".join(EXPECTATIONS)
        raise UserError(f'found expect="{expect}", expected a number or one of {known}')
    return EXPECTATIONS[expect]


def _on_each(expected: Expected, comparison: Comparison, on: str) -> Finding:
    """An expectation on each unit by itself: `any` needs one that meets it, `every` all."""
    parts = {part.name: part for part in comparison.units}
    found = {name: expected.judge(expected, part).verdict for name, part in parts.items()}
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
    sides = comparison.of.sides(comparison.faster, comparison.than)
    sentence = (
        f"{sides}, each {comparison.noun} by itself{comparison.in_region}:"
        f" {expected.said(comparison)} on {len(holding)} of"
        f" {notation.plural(len(found), comparison.noun)}, not on {len(failing)}, undecided on"
        f" {len(found) - len(holding) - len(failing)} ({_places(told, expected.edges)})."
    )
    best = max if on == "any" else min
    shown = best(told.values(), key=lambda estimate: estimate.value)
    return expected.resting_on(comparison, shown, verdict, sentence)


def _places(estimates: Mapping[str, Estimate], edges: Sequence[float]) -> str:
    """`band64 2.31x (2.29–2.33), fem3 ...`."""
    texts = [f"{name} {numerics.speedup(estimate, edges)}" for name, estimate in estimates.items()]
    more = [f"{len(texts) - NAMED} more"] if len(texts) > NAMED else []
    return ", ".join([*texts[:NAMED], *more])


def _extent(comparison: Comparison) -> str:
    count = len(comparison.points)
    extent = "1 point" if count == 1 else f"geometric mean over {notation.plural(count, 'point')}"
    extent += comparison.in_region
    if comparison.unmeasured:
        extent += f", {comparison.unmeasured} more without one of the two"
    return extent


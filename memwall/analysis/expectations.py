"""Words mean numbers: what a comparison says about an expectation.

A word that claims can use is an entry of `EXPECTATIONS`; a number stands for itself: at least so
many times faster.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count as count_from

from memwall.analysis import numerics
from memwall.analysis.cells import Cell
from memwall.analysis.comparisons import Comparison
from memwall.analysis.numerics import Estimate
from memwall.analysis.verdicts import (
    ALIKE_HIGH,
    ALIKE_LOW,
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    OF_ALL,
    OF_ANY,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
    Band,
    Kind,
    Position,
    Reach,
    Reason,
    of_several,
    position_of_ratio,
    position_of_value,
)
from memwall.record import notation
from memwall.record.errors import UserError

CLEARLY, SEVERAL, FAR = 1.2, 3.0, 2.0
NEVER_BELOW = 0.97
SIGNIFICANT = 1 - numerics.LEVEL
NAMED = 6  # matrices that a sentence lists

Expectation = str | float | tuple[float, float]


@dataclass(frozen=True)
class Finding:
    """What was found about an expectation; `verdict` is one of those of `verdicts.py`."""

    verdict: str
    sentence: str
    decided_by: str = ""  # the number that the verdict rests on, for tables
    interval: str = ""  # its interval in the same digits
    estimate: Estimate | None = None  # the same with its interval, for figures
    holds: Band = (None, None)
    comparison: Comparison | None = None  # in which it was found; else it is a value with a unit
    reason: Reason | None = None  # why it is undecided


@dataclass(frozen=True)
class Expected:
    """What is expected of a comparison: who judges that, which kind of claim it is, between which
    ratios it holds, and how it is said, with `{better}` for what one side is to be."""

    judge: Callable[["Expected", Comparison], Finding]
    kind: Kind
    holds: Band
    words: str

    @property
    def edges(self) -> tuple[float, ...]:
        """Ratios that decide, from which numbers must be told apart."""
        return tuple(edge for edge in self.holds if edge is not None)

    def said(self, comparison: Comparison) -> str:
        return self.words.format(better=comparison.of.better)

    def found(self, position: Position, comparison: Comparison, meaning: str,
              reason: Reason | None = None) -> Finding:
        """A finding about all points of a comparison together."""
        overall, of = comparison.overall, comparison.of
        details = _extent(comparison)
        if of.is_timed:
            written = numerics.factor(overall, self.edges)
            interval = numerics.interval(overall, written)
            details = f"{numerics.coverage(overall)} {interval}; {details}"
        said = of.said(comparison.faster, comparison.than, overall, self.edges)
        return self.resting_on(comparison, overall, VERDICTS[self.kind][position],
                               f"{said} ({details}): {meaning}.", reason)

    def resting_on(self, comparison: Comparison, estimate: Estimate, verdict: str,
                   sentence: str, reason: Reason | None = None) -> Finding:
        """A finding with the ratio that it rests on."""
        written = numerics.factor(estimate, self.edges)
        return Finding(verdict, sentence, f"{written}x", numerics.interval(estimate, written),
                       estimate, self.holds, comparison, reason)


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
    position = position_of_value(Reach(estimate.low, estimate.high), (least, most))
    meaning = {Position.INSIDE: f"{wanted}, as expected", Position.OPPOSITE: f"not {wanted}",
               Position.OPEN: f"{wanted} is not decided"}[position]
    reason = Reason.CROSSES if position == Position.OPEN else None
    number, _, interval = text.partition(" (")
    return Finding(VERDICTS[Kind.WITHIN][position], f"{what} is {text}: {meaning}.", number,
                   interval.removesuffix(")"), estimate, (least, most), reason=reason)


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


def _by_position(expected: Expected, comparison: Comparison) -> Finding:
    """By where the interval of all points together lies."""
    reach = Reach(comparison.overall.low, comparison.overall.high, comparison.noise)
    position = position_of_ratio(reach, expected.holds)
    if position == Position.OPEN:
        quiet = position_of_ratio(replace(reach, noise=1.0), expected.holds)
        reason = Reason.CROSSES if quiet == Position.OPEN else Reason.NOISY
        meaning = f"{expected.said(comparison)} is not decided, as {reason.value}"
        return expected.found(position, comparison, meaning, reason)
    return expected.found(position, comparison, _meaning(expected, comparison, position))


def _meaning(expected: Expected, comparison: Comparison, position: Position) -> str:
    """What a position that decides says."""
    said, of = expected.said(comparison), comparison.of
    edges = [f"{edge:g}x" for edge in expected.edges if edge != 1 and f"{edge:g}x" not in said]
    claimed = f"{said} (at least {edges[0]})" if len(edges) == 1 else said
    is_upward = expected.holds[0] is not None and expected.holds[0] >= 1
    if position == Position.INSIDE:
        return f"which is {claimed}"
    if position == Position.SHORT:
        return f"which is {of.better if is_upward else of.worse}, but {_not(claimed)}"
    if position == Position.BEYOND:
        return f"which is beyond {claimed}"
    if position == Position.ALIKE:
        return "which is alike, within 5 %"
    opposite = of.worse if is_upward else of.better
    return f"which is {opposite}" if expected.holds == (1.0, None) else f"which is {_not(claimed)}"


def _not(words: str) -> str:
    """What denies words, of which some deny something themselves."""
    return words.removeprefix("not ") if words.startswith("not ") else f"not {words}"


def _never_below(expected: Expected, comparison: Comparison) -> Finding:
    """No point's interval lies wholly below 0.97."""
    low = [part for part in comparison.each if part.overall.high < NEVER_BELOW]
    beyond = [part for part in low if part.is_worse]
    worst = min(comparison.each, key=lambda part: part.overall.value).overall
    places = ", ".join(
        f"{part.points[0].label or 'there'} {numerics.speedup(part.overall, expected.edges)}"
        for part in beyond or low)
    reason = None
    if beyond:
        position, meaning = Position.OPPOSITE, f"below {NEVER_BELOW}x: {places}"
    elif low:
        position, meaning = Position.OPEN, f"below only within the noise floor: {places}"
        reason = Reason.NOISY
    else:
        lowest = numerics.speedup(worst, expected.edges)
        position = Position.INSIDE
        meaning = f"nowhere wholly below {NEVER_BELOW}x; the lowest is {lowest}"
    found = expected.found(position, comparison, meaning, reason)
    return expected.resting_on(comparison, worst, found.verdict, found.sentence, reason)


def _most(expected: Expected, comparison: Comparison) -> Finding:
    """One-sided sign tests over what the comparison counts, the matrices unless it says otherwise:
    most if so many wins are no chance, not most if so many others are none. What is alike or not
    beyond the noise does not win."""
    units, of = comparison.units, comparison.of
    count = len(units)
    wins = sum(unit.is_better for unit in units)
    losses = sum(unit.is_worse for unit in units)
    alike = sum(unit.is_alike and not unit.is_better and not unit.is_worse for unit in units)
    open_ = count - wins - losses - alike
    text = (
        f"{of.better} on {wins} of {notation.plural(count, comparison.noun)}, alike on {alike},"
        f" {of.worse} on {losses}, undecided on {open_}"
    )
    p = {name: notation.significant(numerics.sign_test(number, count), 2)
         for name, number in (("most", wins), ("not most", losses + alike))}
    reason = None
    if numerics.sign_test(wins, count) < SIGNIFICANT:
        position, meaning = Position.INSIDE, f"sign test p = {p['most']}: most"
    elif numerics.sign_test(losses + alike, count) < SIGNIFICANT:
        position, meaning = Position.OPPOSITE, f"sign test p = {p['not most']}: not most"
    elif numerics.sign_test(count, count) >= SIGNIFICANT:
        position, reason = Position.OPEN, Reason.TOO_FEW
        meaning = f"a sign test needs at least {_fewest()}, so not decided"
    else:
        position, reason = Position.OPEN, Reason.CROSSES if open_ else Reason.TOO_FEW
        meaning = f"sign test p = {p['most']}: not decided"
    found = expected.found(position, comparison, f"{text}; {meaning}", reason)
    return replace(found, decided_by=f"{wins} of {count}", interval="")


def _fewest() -> int:
    """Of so many a sign test can decide."""
    return next(count for count in count_from(1) if numerics.sign_test(count, count) < SIGNIFICANT)


def _ratio(holds: Band, words: str, kind: Kind = Kind.FASTER) -> Expected:
    return Expected(_by_position, kind, holds, words)


EXPECTATIONS: dict[str, Expected] = {
    "faster": _ratio((1.0, None), "faster"),
    "less": _ratio((1.0, None), "less"),
    "more": _ratio((1.0, None), "more"),
    "clearly": _ratio((CLEARLY, None), "clearly {better}"),
    "several": _ratio((SEVERAL, None), "several times {better}"),
    "far": _ratio((FAR, None), "far {better}"),
    "most": Expected(_most, Kind.MOST, (1.0, None), "most"),
    "alike": _ratio((ALIKE_LOW, ALIKE_HIGH), "alike, within 5 %", Kind.ALIKE),
    "keeps-up": _ratio((ALIKE_LOW, None), f"not below {ALIKE_LOW:g}x", Kind.WITHIN),
    "never-below": Expected(_never_below, Kind.WITHIN, (NEVER_BELOW, None),
                            f"not wholly below {NEVER_BELOW:g}x"),
}


def _expected(expect: Expectation) -> Expected:
    if isinstance(expect, tuple):
        return _ratio(expect, f"from {expect[0]:g}x to {expect[1]:g}x", Kind.WITHIN)
    if not isinstance(expect, str):
        return _ratio((expect, None), f"at least {expect:g}x")
    if expect not in EXPECTATIONS:
        known = ", ".join(EXPECTATIONS)
        raise UserError(f'found expect="{expect}", expected a number or one of {known}')
    return EXPECTATIONS[expect]


def _on_each(expected: Expected, comparison: Comparison, on: str) -> Finding:
    """An expectation on each unit by itself: `any` needs one that meets it, `every` all."""
    parts = {part.name: part for part in comparison.units}
    each = {name: expected.judge(expected, part) for name, part in parts.items()}
    verdict = of_several({one.verdict for one in each.values()}, OF_ANY if on == "any" else OF_ALL)
    count = {word: sum(one.verdict == word for one in each.values()) for word in OF_ALL}
    named = [name for name, one in each.items() if one.verdict == verdict]
    if (on == "any") != (verdict == REPRODUCED):  # all are like these: the one nearest to the edge
        nearest = max if on == "any" else min
        named = [nearest(named, key=lambda name: parts[name].overall.value)]
    told = {name: parts[name].overall for name in named}
    sides = comparison.of.sides(comparison.faster, comparison.than)
    sentence = (
        f"{sides}, each {comparison.noun} by itself{comparison.in_region}:"
        f" {expected.said(comparison)} on {count[REPRODUCED]} of"
        f" {notation.plural(len(each), comparison.noun)}, "
        + (f"in direction only on {count[DIRECTION_ONLY]}, " if count[DIRECTION_ONLY] else "")
        + f"not on {count[NOT_REPRODUCED]}, undecided on {count[UNDECIDED]}"
        f" ({_places(told, expected.edges)})."
    )
    best = max if on == "any" else min
    shown = best(told.values(), key=lambda estimate: estimate.value)
    reasons = [one.reason for one in each.values() if one.reason] if verdict == UNDECIDED else []
    return expected.resting_on(comparison, shown, verdict, sentence,
                               reasons[0] if reasons else None)


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


"""Words mean numbers: what a comparison says about an expectation.

A word that claims can use is an entry of `EXPECTATIONS`; a number stands for itself: at least so
many times faster.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

from memwall.analysis import numerics
from memwall.analysis.cells import Cell
from memwall.analysis.comparisons import Comparison
from memwall.analysis.metrics import metric_named
from memwall.analysis.numerics import Estimate
from memwall.analysis.statements import Statement
from memwall.analysis.units import plain_edge, with_unit
from memwall.analysis.verdicts import (
    ALIKE_HIGH,
    ALIKE_LOW,
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    OF_ALL,
    OF_ANY,
    OF_OWN,
    REPRODUCED,
    RESTLESS,
    UNDECIDED,
    VERDICTS,
    Bounds,
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

Expectation = str | float | tuple[float, float]


@dataclass(frozen=True)
class Finding:
    """What was found about an expectation; `verdict` is one of those of `verdicts.py`."""

    verdict: str
    statement: Statement
    decided_by: str = ""  # the number that the verdict rests on, for tables
    interval: str = ""  # its interval in the same digits
    estimate: Estimate | None = None  # the same with its interval, for figures
    holds: Bounds = (None, None)
    comparison: Comparison | None = None  # in which it was found; else it is a value with a unit
    reason: Reason | None = None  # why it is undecided

    @property
    def margin(self) -> float:
        """How far what holds lies within its edges."""
        if self.verdict != REPRODUCED or self.estimate is None:
            return 0.0
        low, high = self.holds
        return min(self.estimate.low - low if low is not None else inf,
                   high - self.estimate.high if high is not None else inf)

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return self.statement.text


#: How a sentence ends that says what a claim came to.
ENDINGS = {
    REPRODUCED: "it holds",
    DIRECTION_ONLY: "the direction holds, the size does not",
    NOT_REPRODUCED: "it does not hold",
    UNDECIDED: "it is not decided",
}


def claimed(words: str, verdict: str, reason: Reason | None) -> str:
    """` Claimed is clearly faster (at least 1.2 times): it does not hold.`"""
    why = f", as {reason.value}" if reason else ""
    return f" Claimed is {words}: {ENDINGS[verdict]}{why}."


def numbers(estimate: Estimate) -> dict[str, float]:
    """An estimate as operands of a statement."""
    return {"value": estimate.value, "low": estimate.low, "high": estimate.high}


@dataclass(frozen=True)
class Expected:
    """What is expected of a comparison: who judges that, which kind of claim it is, between which
    ratios it holds, and how it is said, with `{better}` for what one side is to be."""

    judge: Callable[["Expected", Comparison], Finding]
    kind: Kind
    holds: Bounds
    words: str

    @property
    def edges(self) -> tuple[float, ...]:
        """Ratios that decide, from which numbers must be told apart."""
        return tuple(edge for edge in self.holds if edge is not None)

    def said(self, comparison: Comparison) -> str:
        return self.words.format(better=comparison.of.claimed(comparison.faster))

    def found(self, comparison: Comparison, estimate: Estimate, verdict: str,
              statement: Statement, reason: Reason | None = None, where: str = "") -> Finding:
        """A finding with the ratio that it rests on, and how its sentence ends: with what is
        claimed, and `where`."""
        text = statement.text + claimed(self.said(comparison) + where, verdict, reason)
        written = numerics.factor(estimate, self.edges)
        return Finding(verdict, statement.saying(text).about(verdict=verdict), f"{written}x",
                       numerics.interval(estimate, written), estimate, self.holds, comparison,
                       reason)


def examine(comparison: Comparison, expect: Expectation, on: str = "all",
            is_own: bool = False) -> Finding:
    """Whether an expectation holds on all points together, or on any or every one by itself: a
    matrix, or whatever the comparison counts. `is_own` is a target of our own."""
    expected = _expected(expect)
    if on == "all":
        return expected.judge(expected, comparison)
    return _on_each(expected, comparison, on, is_own)


def examine_value(who: str, what: str, found: Cell, metric: str, band: Bounds) -> Finding:
    """Whether a value lies where it is expected, with its whole interval."""
    estimate, (least, most) = found.estimate, band
    assert estimate is not None
    edges = [f"{words} {plain_edge(metric, edge)}"
             for words, edge in (("at least", least), ("at most", most)) if edge is not None]
    wanted = " and ".join(edges)
    position = position_of_value(Reach(estimate.low, estimate.high), band)
    verdict = VERDICTS[Kind.WITHIN][position]
    reason = Reason.CROSSES if position == Position.OPEN else None
    text = with_unit(metric, estimate, [edge for edge in band if edge is not None])
    number, _, interval = text.partition(" (")
    verb = "takes" if metric_named(metric).kind == "time" else "reaches"
    sentence = f"{who} {verb} {text}{what}.{claimed(wanted, verdict, reason)}"
    statement = Statement(sentence, "value", {**numbers(estimate), "verdict": verdict})
    return Finding(verdict, statement, number, interval.removesuffix(")"), estimate, band,
                   reason=reason)


# --- words ---------------------------------------------------------------------------------------


def _by_position(expected: Expected, comparison: Comparison) -> Finding:
    """By where the interval of all points together lies."""
    overall = comparison.overall
    reach = Reach(overall.low, overall.high, comparison.noise)
    position = position_of_ratio(reach, expected.holds)
    reason = _why(reach, expected) if position == Position.OPEN else None
    if position == Position.ALIKE:
        reason = Reason.ALIKE
    written = numerics.factor(overall, expected.edges)
    said = comparison.of.said(comparison.faster, comparison.than, written)
    operands = {**numbers(overall), "points": len(comparison.points)}
    statement = Statement(f"{said} ({_details(expected, comparison)}).", "ratio", operands)
    return expected.found(comparison, overall, VERDICTS[expected.kind][position], statement, reason)


def _why(reach: Reach, expected: Expected) -> Reason:
    """Why a ratio is not decided."""
    if position_of_ratio(replace(reach, noise=1.0), expected.holds) != Position.OPEN:
        return Reason.NOISY
    is_crossed = any(reach.low <= edge <= reach.high for edge in expected.edges)
    return Reason.CROSSES if is_crossed else Reason.SIDE


def _details(expected: Expected, comparison: Comparison) -> str:
    """`1.20–1.26; 5 points, fp64; noise floor 3.8 %`."""
    return _listed(_interval(expected, comparison), _extent(comparison), comparison.floor)


def _interval(expected: Expected, comparison: Comparison) -> str:
    """`1.20–1.26`, and what it lacks; nothing of what was counted or has no width."""
    overall = comparison.overall
    written = numerics.factor(overall, expected.edges)
    lack = numerics.lack_of_coverage(overall)
    if not comparison.of.is_timed or not (numerics.in_brackets(overall, written) or lack):
        return ""
    return numerics.interval(overall, written) + lack


def _listed(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _never_below(expected: Expected, comparison: Comparison) -> Finding:
    """No point's interval lies wholly below 0.97; one that reaches from below it so far up that it
    says nothing leaves the question open, or a noisier machine would lose less often."""
    low = [part for part in comparison.each if part.overall.high < NEVER_BELOW]
    beyond = [part for part in low if part.is_worse]
    wide = [part for part in comparison.each if part.overall.low < NEVER_BELOW
            and part.overall.high > RESTLESS * part.overall.low]
    lowest = min(comparison.each, key=lambda part: part.overall.value)
    worst = lowest.overall
    reason = None
    if beyond:
        position = Position.OPPOSITE
    elif low or wide:
        position, reason = Position.OPEN, Reason.NOISY if low else Reason.WIDE
    else:
        position = Position.INSIDE
    times = numerics.factor(worst, expected.edges)
    details = _listed(lowest.points[0].label, _interval(expected, lowest))
    text = (f"{comparison.of.said(comparison.faster, comparison.than, times)} at the lowest of"
            f" {notation.plural(len(comparison.points), 'point')}{comparison.in_region}"
            f"{f' ({details})' if details else ''}; at {len(beyond) or 'none'} it is"
            f" wholly below {NEVER_BELOW:g} times, beyond the noise floor"
            f"{f' of {comparison.floor_percent}' if comparison.floor_percent else ''}"
            f"{f', at {len(wide)} the interval is too wide to tell' if wide else ''}.")
    statement = Statement(text, "lowest", {**numbers(worst), "points": len(comparison.points),
                                           "below": len(beyond), "wide": len(wide)})
    return expected.found(comparison, worst, VERDICTS[expected.kind][position], statement, reason)


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
    p = numerics.sign_test(wins, count)
    reason = None
    if p < SIGNIFICANT:
        position = Position.INSIDE
    elif numerics.sign_test(losses + alike, count) < SIGNIFICANT:
        position = Position.OPPOSITE
    else:
        position = Position.OPEN
        is_few = numerics.sign_test(count, count) >= SIGNIFICANT
        reason = Reason.TOO_FEW if is_few else Reason.MANY_OPEN if open_ else Reason.SPLIT
    text = (f"`{comparison.faster}` is {of.better} than {comparison.than} on {wins} of"
            f" {notation.plural(count, comparison.noun)}, alike on {alike}, {of.worse} on {losses},"
            f" undecided on {open_} ("
            + _listed(comparison.region, comparison.floor,
                      f"sign test: p = {notation.significant(p, 2)}") + ").")
    statement = Statement(text, "most", {"units": count, "wins": wins, "losses": losses,
                                         "alike": alike, "p": p})
    found = expected.found(comparison, comparison.overall, VERDICTS[expected.kind][position],
                           statement, reason)
    return replace(found, decided_by=f"{wins} of {count}", interval="")


def _ratio(holds: Bounds, words: str, kind: Kind = Kind.FASTER) -> Expected:
    return Expected(_by_position, kind, holds, words)


EXPECTATIONS: dict[str, Expected] = {
    "faster": _ratio((1.0, None), "{better}"),
    "less": _ratio((1.0, None), "{better}"),
    "more": _ratio((1.0, None), "{better}"),
    "clearly": _ratio((CLEARLY, None), f"clearly {{better}} (at least {CLEARLY:g} times)"),
    "several": _ratio((SEVERAL, None), f"several times {{better}} (at least {SEVERAL:g} times)"),
    "far": _ratio((FAR, None), f"far {{better}} (at least {FAR:g} times)"),
    "most": Expected(_most, Kind.MOST, (1.0, None), "{better} on most"),
    "alike": _ratio((ALIKE_LOW, ALIKE_HIGH), "alike, within 5 %", Kind.ALIKE),
    "keeps-up": _ratio((ALIKE_LOW, None), f"at least {ALIKE_LOW:g} times", Kind.WITHIN),
    "never-below": Expected(_never_below, Kind.WITHIN, (NEVER_BELOW, None),
                            f"nowhere wholly below {NEVER_BELOW:g} times"),
}


def _expected(expect: Expectation) -> Expected:
    if isinstance(expect, tuple):
        return _ratio(expect, f"between {expect[0]:g} and {expect[1]:g} times", Kind.WITHIN)
    if not isinstance(expect, str):
        return _ratio((expect, None), f"at least {expect:g} times")
    if expect not in EXPECTATIONS:
        known = ", ".join(EXPECTATIONS)
        raise UserError(f'found expect="{expect}", expected a number or one of {known}')
    return EXPECTATIONS[expect]


def _on_each(expected: Expected, comparison: Comparison, on: str, is_own: bool) -> Finding:
    """An expectation on each unit by itself: `any` needs one that meets it, `every` all."""
    parts = {part.name: part for part in comparison.units}
    each = {name: expected.judge(expected, part) for name, part in parts.items()}
    order = OF_ANY if on == "any" else OF_OWN if is_own else OF_ALL
    verdict = of_several({one.verdict for one in each.values()}, order)
    count = {word: sum(one.verdict == word for one in each.values()) for word in OF_ALL}
    named = [name for name, one in each.items() if one.verdict == verdict]
    best = max if on == "any" else min
    name = best(named, key=lambda name: parts[name].overall.value)
    shown = parts[name].overall
    times = numerics.factor(shown, expected.edges)
    interval = _interval(expected, parts[name])
    others = "".join(f", {words} {count[word]}" for word, words in OTHERS.items() if count[word])
    text = (
        f"{comparison.of.sides(comparison.faster, comparison.than)}, each {comparison.noun} by"
        f" itself{comparison.in_region}{f' ({comparison.floor})' if comparison.floor else ''}:"
        f" as claimed on {count[REPRODUCED] or 'none'} of"
        f" {notation.plural(len(each), comparison.noun)}{others}."
        f" {'Open' if verdict == UNDECIDED else 'What decides'} is {name} with {times} times"
        f"{f' ({interval})' if interval else ''}."
    )
    statement = Statement(text, "each", {
        **numbers(shown), "unit": name, "units": len(each), "reproduced": count[REPRODUCED],
        "direction": count[DIRECTION_ONLY], "refuted": count[NOT_REPRODUCED],
        "undecided": count[UNDECIDED]})
    quantity = "at least one" if on == "any" else on
    return expected.found(comparison, shown, verdict, statement, each[name].reason,
                          f" on {quantity} {comparison.noun}")


#: What else units may come to, and how it is counted.
OTHERS = {DIRECTION_ONLY: "in direction only on", NOT_REPRODUCED: "not on",
          UNDECIDED: "undecided on"}


def _extent(comparison: Comparison) -> str:
    extent = notation.plural(len(comparison.points), "point") + comparison.in_region
    if comparison.unmeasured:
        verb = "lacks" if comparison.unmeasured == 1 else "lack"
        extent += f"; {comparison.unmeasured} more {verb} one of the two"
    if comparison.opposed:
        extent += f"; at {comparison.opposed} of them it is the other way round"
    return extent

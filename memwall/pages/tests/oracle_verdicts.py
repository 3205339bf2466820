"""What conditions of claims come to on a run: the part of the independent evaluator of reports
(`oracle.py`) that judges."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from statistics import geometric_mean
from typing import Any

from memwall.pages.tests.oracle_run import LEVEL, Absent, Case, Number, Run, interval, over_points

HOLDS, DIRECTION, REFUTED, OPEN = "REPRODUCED", "DIRECTION ONLY", "NOT REPRODUCED", "UNDECIDED"
EDGES = {"faster": (1.0, None), "less": (1.0, None), "more": (1.0, None), "clearly": (1.2, None),
         "several": (3.0, None), "far": (2.0, None), "alike": (0.95, 1.05),
         "keeps-up": (0.95, None), "never-below": (0.97, None), "most": (1.0, None)}


@dataclass
class Found:
    """What a condition comes to."""

    verdict: str
    number: Number | None = None
    kind: str = "ratio"
    counts: Mapping[str, int] = field(default_factory=dict)
    is_missing: bool = False
    is_few: bool = False
    why: str = ""  # it is not decided, or not what a number seems to say
    noise: float = 1.0
    unmeasured: int | None = None  # points that lack one of the two sides
    opposed: int = 0  # points that are the other way round


def upper_tail(wins: int, trials: int) -> float:
    """The chance of at least so many heads."""
    return sum(math.comb(trials, k) for k in range(wins, trials + 1)) / 2**trials


def order(is_own: bool) -> tuple[str, ...]:
    """Which of several verdicts tells where all must hold: of a target of our own the direction
    alone is a failure."""
    return (REFUTED, DIRECTION, OPEN, HOLDS) if is_own else (REFUTED, OPEN, DIRECTION, HOLDS)


def worst(verdicts: set[str], is_own: bool = False) -> str:
    """Of conditions that must all hold."""
    return next(one for one in order(is_own) if one in verdicts)


@dataclass
class Comparison:
    """Ratios at points: above 1 where the first side is better."""

    run: Run
    points: list[tuple[Case, Sequence[float], tuple[float, float]]]
    noise: float
    per: Sequence[str]
    unmeasured: int = 0
    is_timed: bool = True

    @staticmethod
    def of(run: Run, condition: Mapping[str, Any]) -> "Comparison":
        """What a condition compares; Absent if nothing is there to be compared."""
        where = condition.get("where", {})
        side = next(name for name in ("faster", "less", "more") if name in condition)
        faster, than = run.first(condition[side], where), condition["than"]
        if not isinstance(than, Mapping):
            than = run.first(than, where)
        pairs, points = run.pairs(faster, than, where), []
        for one, other in pairs:
            try:
                ratio, doubt = ratios_of(run, condition, side, one, other)
            except Absent:
                continue
            points.append((one, ratio, doubt, other))
        if not points:
            raise Absent("no point has numbers")
        compared = [case for one, _, _, other in points for case in (one, other)]
        is_timed = side != "less" and not condition.get("of", "").startswith("counter:")
        noise = run.noise(compared, condition.get("of", "")) if is_timed else 1.0
        per = condition.get("per", "matrix")
        moved = {name: value for name, value in than.items()
                 if name not in ("variant", "best_of")} if isinstance(than, Mapping) else {}
        known = [run.asked_points(faster, where),
                 *(run.asked_points(name, {**where, **moved}) for name in run.rivals(than))]
        return Comparison(run, [(one, ratio, doubt) for one, ratio, doubt, _ in points], noise,
                          [per] if isinstance(per, str) else per, max(known) - len(points),
                          is_timed)

    @property
    def overall(self) -> Number:
        rounds = over_points([ratio for _, ratio, _ in self.points])
        low, high = (geometric_mean([doubt[end] for _, _, doubt in self.points]) for end in (0, 1))
        found = interval(rounds)
        return Number(found.value, found.low * low, found.high * high)

    def split(self, key: Callable[[Case], Any]) -> dict[Any, "Comparison"]:
        parts: dict[Any, Comparison] = {}
        for point in self.points:
            part = parts.setdefault(key(point[0]), Comparison(self.run, [], self.noise, self.per,
                                                              self.unmeasured, self.is_timed))
            part.points.append(point)
        return parts

    def units(self) -> dict[Any, "Comparison"]:
        """What counts once: the coordinates of `per`, or all but the precision."""
        return self.split(self.unit)

    def unit(self, case: Case) -> tuple[Any, ...]:
        point = {"study": case["study"], **case["parameters"]}
        named = [name for name in self.per if name in point]
        return tuple(point[name] for name in named or point if name != "precision" or named)

    def by_kind(self, axes: Sequence[str]) -> dict[str, "Comparison"]:
        """By some coordinates, matrices that differ in size alone together."""
        def kind(case: Case) -> str:
            point = {"study": case["study"], **case["parameters"]}
            return " ".join(re.sub(r"-(tiny|small|half|gpu|xl)$", "", str(point[name]))
                            for name in axes if name in point)
        return self.split(kind)


def ratios_of(run: Run, condition: Mapping[str, Any], side: str, one: Case,
              other: Case) -> tuple[Sequence[float], tuple[float, float]]:
    """How many times better one case is than another, and by what factors that is in doubt."""
    if side == "less":
        needed = run.quantity(condition["of"], one)
        others = run.quantity(condition.get("than_of", condition["of"]), other)
        if not needed or not others:
            raise Absent(condition["of"])
        return [others / needed], (1.0, 1.0)
    if side == "more":
        pair = [run.metric(condition["of"], case) for case in (one, other)]
        ratio = [a / b for a, b in zip(*pair, strict=False)]
        if condition["of"] != "of_ceiling" or one["launch"] == other["launch"]:
            return ratio, (1.0, 1.0)
        own, its = (run.bounds(case)[0]["rate"] for case in (one, other))
        value = its.value / own.value
        return ratio, (its.low / own.high / value, its.high / own.low / value)
    mine, its = run.both(one, other)
    return [b / a for a, b in zip(mine, its, strict=True)], (1.0, 1.0)


def position(found: Number, noise: float, low: float | None, high: float | None) -> str:
    """inside, short, beyond, alike, opposite or open: where a ratio lies that was claimed to be
    above 1, below 1 or about 1."""
    least, most = low or 0.0, math.inf if high is None else high
    if least > 1 or (least, most) == (1, math.inf):
        return above(found.low, found.high, noise, least, most)
    if most < 1 or (least, most) == (0, 1):
        return above(1 / found.high, 1 / found.low, noise, 1 / most,
                     1 / least if least else math.inf)
    if (noise < 1.5 or found.low > noise) and least <= found.low and found.high <= most:
        return "inside"
    if found.high < min(least, 1 / noise) or found.low > max(most, noise):
        return "opposite"
    return "open"


def above(low: float, high: float, noise: float, least: float, most: float) -> str:
    if low > noise:
        if least <= low and high <= most:
            return "inside"
        if high < least:
            return "short"
        return "beyond" if low > most else "open"
    if high < 1 / noise:
        return "opposite"
    if (low >= 0.95 and high <= 1.05) or (high < 1 and high * noise <= 1.05):
        return "alike"
    return "open"


def judged(comparison: Comparison, expect: Any) -> Found:
    """An expectation on all points together."""
    if expect == "most":
        return of_most(comparison)
    if expect == "never-below":
        return of_lowest(comparison)
    low, high = EDGES[expect] if isinstance(expect, str) else (
        tuple(expect) if isinstance(expect, list) else (expect, None))
    found = comparison.overall
    where = position(found, comparison.noise, low, high)
    verdict = {"inside": HOLDS, "short": DIRECTION, "beyond": DIRECTION, "alike": REFUTED,
               "opposite": REFUTED, "open": OPEN}[where]
    why = "alike" if where == "alike" else ""
    if where == "open":
        crosses = any(edge is not None and found.low <= edge <= found.high for edge in (low, high))
        why = "noisy" if position(found, 1.0, low, high) != "open" else (
            "crosses" if crosses else "side")
    return Found(verdict, found, counts={"points": len(comparison.points)}, why=why,
                 noise=comparison.noise, unmeasured=comparison.unmeasured,
                 opposed=opposed(comparison, found))


def opposed(comparison: Comparison, mean: Number) -> int:
    """At how many of several points the side is better that is not so in the mean."""
    if len(comparison.points) < 2 or not comparison.is_timed:
        return 0
    each = [part.overall for part in comparison.split(id).values()]
    noise = comparison.noise
    return sum(one.high < 1 / noise if mean.value > 1 else one.low > noise for one in each)


def of_most(comparison: Comparison) -> Found:
    """A sign test over units."""
    noise, counts = comparison.noise, {"wins": 0, "losses": 0, "alike": 0, "open": 0}
    for unit in comparison.units().values():
        found = unit.overall
        if found.low > noise:
            counts["wins"] += 1
        elif found.high < 1 / noise:
            counts["losses"] += 1
        elif found.low >= 0.95 and found.high <= 1.05:
            counts["alike"] += 1
        else:
            counts["open"] += 1
    units = sum(counts.values())
    verdict, why = OPEN, "many open" if counts["open"] else "split"
    if 0.5**units >= 1 - LEVEL:
        why = "few"
    if upper_tail(counts["wins"], units) < 1 - LEVEL:
        verdict = HOLDS
    elif upper_tail(counts["losses"] + counts["alike"], units) < 1 - LEVEL:
        verdict = REFUTED
    return Found(verdict, None, "most", {**counts, "units": units},
                 why=why if verdict == OPEN else "", noise=comparison.noise)


def of_lowest(comparison: Comparison) -> Found:
    """No point wholly below 0.97, and none that says nothing."""
    each = [interval(over_points([ratio])) for _, ratio, _ in comparison.points]
    low = [one for one in each if one.high < 0.97]
    beyond = [one for one in low if one.high < 1 / comparison.noise]
    wide = [one for one in each if one.low < 0.97 and one.high > 1.5 * one.low]
    verdict = REFUTED if beyond else OPEN if low or wide else HOLDS
    why = ("noisy" if low else "wide") if verdict == OPEN else ""
    counts = {"points": len(each), "below": len(beyond), "wide": len(wide)}
    return Found(verdict, min(each, key=lambda one: one.value), "lowest", counts, why=why,
                 noise=comparison.noise)


def on_each(comparison: Comparison, expect: Any, on: str, is_own: bool = False) -> Found:
    """An expectation on every unit by itself, or on any."""
    parts = list(comparison.units().values())
    each = [judged(part, expect) for part in parts]
    found = [one.verdict for one in each]
    ranks = (HOLDS, OPEN, DIRECTION, REFUTED) if on == "any" else order(is_own)
    verdict = next(one for one in ranks if one in found)
    chosen = [(part.overall, one) for part, one in zip(parts, each, strict=True)
              if one.verdict == verdict]
    number, shown = (max if on == "any" else min)(chosen, key=lambda one: one[0].value)
    counts = {"units": len(parts), "reproduced": found.count(HOLDS),
              "direction": found.count(DIRECTION), "refuted": found.count(REFUTED),
              "undecided": found.count(OPEN)}
    return Found(verdict, number, "each", counts, why=shown.why, noise=comparison.noise)


def of_value(run: Run, condition: Mapping[str, Any], variant: str,
             where: Mapping[str, Any]) -> Found:
    """A metric between bounds, over all points or at every one by itself."""
    if condition.get("on", "all") == "all":
        return of_one_value(run, condition, variant, where)
    per = condition.get("per", "matrix")
    axes = [axis for axis in ([per] if isinstance(per, str) else per)
            if any(axis in run.coordinates(case) for case in run.cases)]
    each = []
    for values in product(*(run.values(axis, where) for axis in axes)):
        try:
            each.append(of_one_value(run, condition, variant,
                                     {**where, **dict(zip(axes, values, strict=True))}))
        except Absent:
            continue
    if not each:
        raise Absent("no unit")
    verdict = worst({one.verdict for one in each})
    low, high = condition.get("at_least", -math.inf), condition.get("at_most", math.inf)

    def margin(one: Found) -> float:
        """What holds is told of where it comes nearest to an edge, else of the first."""
        assert one.number is not None
        return min(one.number.low - low, high - one.number.high) if verdict == HOLDS else 0.0

    first = min((one for one in each if one.verdict == verdict), key=margin)
    counts = {"holding": sum(one.verdict == HOLDS for one in each), "units": len(each)}
    return Found(verdict, first.number, "value", counts, why=first.why)


def of_one_value(run: Run, condition: Mapping[str, Any], variant: str,
                 where: Mapping[str, Any]) -> Found:
    ceiling = condition.get("ceiling", [])
    names = [ceiling] if isinstance(ceiling, str) else list(ceiling)
    points = []
    for case in run.find(variant, where):
        try:
            points.append(run.metric(condition["value"], case, names))
        except Absent:
            continue
    if not points:
        raise Absent(condition["value"])
    rounds = over_points(points)
    number = interval(rounds) if len(rounds) > 1 else Number(rounds[0], rounds[0], rounds[0])
    low = condition.get("at_least", -math.inf)
    high = condition.get("at_most", math.inf)
    verdict = HOLDS if low <= number.low and number.high <= high else (
        REFUTED if number.high < low or number.low > high else OPEN)
    return Found(verdict, number, "value", why="crosses" if verdict == OPEN else "")


def of_crossover(comparison: Comparison, condition: Mapping[str, Any]) -> Found:
    """Where along a number the first side stops being faster, and whether that is between two."""
    run, along = comparison.run, condition["along"]
    parts = comparison.split(lambda case: run.facts(case)[along])
    xs = sorted(parts)
    if len(xs) < 2:
        return Found(OPEN, is_few=True)
    curves = [over_points([ratio for _, ratio, _ in parts[x].points]) for x in xs]

    def place(factor: float) -> Number:
        return interval([last_fall(xs, [factor * ratio for ratio in rounds])
                         for rounds in zip(*curves, strict=False)])

    def verdict_with(noise: float) -> str:
        first, last = place(1 / noise).low, place(noise).high
        first = -math.inf if first <= xs[0] else first
        last = math.inf if last >= xs[-1] else last
        low, high = condition["between"]
        if low <= first and last <= high:
            return HOLDS
        if last < low:
            return DIRECTION if math.isfinite(first) else REFUTED
        if first > high:
            return DIRECTION if math.isfinite(last) else REFUTED
        return OPEN

    verdict = verdict_with(comparison.noise)
    why = "crosses" if verdict_with(1.0) == OPEN else "noisy"
    return Found(verdict, place(1.0), "crossover", {"points": len(xs)},
                 why=why if verdict == OPEN else "", noise=comparison.noise)


def last_fall(xs: Sequence[float], ratios: Sequence[float]) -> float:
    """The last place where a line through logarithms comes down through zero."""
    logs = [math.log(ratio) for ratio in ratios]
    for i in reversed(range(len(xs) - 1)):
        if logs[i] > 0 >= logs[i + 1]:
            return xs[i] + (xs[i + 1] - xs[i]) * logs[i] / (logs[i] - logs[i + 1])
    return xs[-1] if logs[-1] > 0 else xs[0]

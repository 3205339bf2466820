"""From values to pixels: where an axis ends, and which of its numbers are written."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weave.sheet import TINY, steady, text_width

ALIKE = (0.95, 1.05)  # ratios that are called alike
#: Ratios that are written first where there is room, by how much they tell.
RATIOS = (
    (1.0,),
    (0.5, 2.0),
    (0.1, 10.0),
    (0.2, 5.0),
    (0.01, 100.0),
    (0.02, 50.0),
    (0.05, 20.0),
    (0.001, 1000.0),
    (0.75, 1.5),
    (0.8, 1.2),
    (0.9, 1.1),
    (0.95, 1.05),
)
MOST_TICKS = 7
LONGEST_INTERVAL = 1.5  # of the reach of the values; what is longer ends in an arrow
LOPSIDED = 3.0  # so much farther on one side: the other side is shortened


@dataclass(frozen=True)
class Scale:
    """A stretch of values and the pixels it is drawn on; `high` may be at the top."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """The place of a value in pixels, at the end of the axis if it lies beyond."""
        inside = min(max(value, self.low), self.high)
        place = (self._of(inside) - self._of(self.low)) / (self._of(self.high) - self._of(self.low))
        return round(steady(self.start + place * (self.end - self.start)), 2)

    def holds(self, value: float) -> bool:
        """Whether a value is on the axis."""
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack

    def on(self, start: float, end: float) -> "Scale":
        """The same values on other pixels."""
        return Scale(self.low, self.high, start, end, self.log)

    def _of(self, value: float) -> float:
        return math.log(value) if self.log else value


def ratios(values: Iterable[float], ends: Iterable[float], centred: bool = True) -> Scale:
    """A log axis of ratios around 1 with all values, and the ends of intervals that fit.

    Centred on 1, so that a factor is as long to the left as to the right; but where values lie far
    on one side alone, the empty side is a third as long.
    """
    logs = [math.log(value) for value in values if value > 0]
    reach = max((abs(one) for one in logs), default=0.0)
    most = LONGEST_INTERVAL * reach + math.log(1.05)
    logs += [one for end in ends if end > 0 and abs(one := math.log(end)) <= most]
    least = math.log(1.12)
    below = max(least, 1.08 * -min(logs, default=0.0))
    above = max(least, 1.08 * max(logs, default=0.0))
    if not centred or max(below, above) > max(LOPSIDED * min(below, above), math.log(1.6)):
        shorter = max(min(below, above), max(below, above) / LOPSIDED if centred else 0)
        below, above = (shorter, above) if below < above else (below, shorter)
    else:
        below = above = max(below, above)
    return Scale(steady(math.exp(-below)), steady(math.exp(above)), 0, 1, log=True)


def from_zero(tops: Iterable[float]) -> Scale:
    """A linear axis from zero, a little longer than what is on it."""
    return Scale(0, steady(1.06 * max(tops, default=1.0)) or 1.0, 0, 1)


def around(values: Sequence[float]) -> Scale:
    """A linear axis that ends a little beyond the least and the largest value."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    floor = 0.0 if low >= 0 and low - room < 0.25 * high else low - room
    return Scale(steady(floor), steady(high + room), 0, 1)


def powers(values: Sequence[float]) -> Scale:
    """A log axis of positive values that ends a little beyond the least and the largest."""
    positive = [value for value in values if value > 0] or [1.0, 10.0]
    low, high = math.log(min(positive)), math.log(max(positive))
    room = max(0.06 * (high - low), 0.08)
    return Scale(steady(math.exp(low - room)), steady(math.exp(high + room)), 0, 1, log=True)


def ticks(
    scale: Scale, first: Sequence[float] = (), size: float = TINY, gap: float = 9, unit: str = ""
) -> list[float]:
    """The values that are written below an axis: as many round ones as there is room for.

    `first` are written before any other.
    """
    placed: list[float] = []
    rounds = _round_values(scale)
    for group in [*((value,) for value in first), *rounds]:
        inside = [v for v in group if scale.holds(v) and v not in placed]
        if inside and len(placed) + len(inside) <= MOST_TICKS + len(first):
            if _apart([*placed, *inside], scale, size, gap, unit):
                placed += inside
    return sorted(placed)


def written(value: float) -> str:
    """The number of a tick."""
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-4:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:,.6g}"


def _apart(values: Sequence[float], scale: Scale, size: float, gap: float, unit: str) -> bool:
    ordered = sorted(values, key=scale.at)
    for left, right in zip(ordered, ordered[1:], strict=False):
        widths = text_width(written(left), size) + text_width(written(right) + unit, size)
        if abs(scale.at(right) - scale.at(left)) < widths / 2 + gap:
            return False
    return True


def _round_values(scale: Scale) -> list[tuple[float, ...]]:
    """Groups of round numbers; a group is written whole or not at all."""
    if not scale.log:
        return _multiples(scale)
    if scale.low < 1 < scale.high and scale.high / scale.low < 1e5:
        return [*RATIOS]
    decades = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
    wide = [d for d in decades]
    groups = [tuple(10.0**d for d in wide[:: step]) for step in (1, 2, 3, 4)]
    tight = scale.high / scale.low < 30
    fine = [tuple(f * 10.0**d for d in wide for f in (2, 5))] if scale.high / scale.low < 3e3 else []
    finest = [(f * 10.0**d,) for d in wide for f in (3, 1.5, 7, 4)] if tight else []
    return [*groups[:1], *groups[1:], *fine, *finest]


def _multiples(scale: Scale) -> list[tuple[float, ...]]:
    """Of round steps the smallest whose numbers fit comes first; one step only is used."""
    span = scale.high - scale.low
    exponent = math.floor(math.log10(span))
    for step in (f * 10.0 ** (exponent + e) for e in (-1, 0, 1) for f in (1, 2, 2.5, 5)):
        begin, end = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
        values = tuple(steady(step * k) for k in range(begin, end + 1))
        if len(values) <= MOST_TICKS and _apart(values, scale, TINY, 9, ""):
            return [values]
    return []

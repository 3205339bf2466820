"""From values to pixels: where an axis ends, and which of its numbers are written."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
    (0.0001, 10000.0),
    (0.75, 1.5),
    (0.8, 1.2),
    (0.9, 1.1),
    (0.95, 1.05),
)
MOST_TICKS = 7
FEW_DECADES = 3e3  # from one end to the other: 2 and 5 of each decade are written too
LONGEST_INTERVAL = 1.5  # of the reach of the values; what is longer ends in an arrow
LOPSIDED = 1.5  # so much farther on one side: the other side is shortened
SHORTEST = 3.0  # to so much of the longer side, if it needs no more


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
    on one side alone, the other side is as long as it needs, and at least a third of it.
    """
    logs = [math.log(value) for value in values if value > 0]
    reach = max((abs(one) for one in logs), default=0.0)
    most = LONGEST_INTERVAL * reach + math.log(1.05)
    logs += [one for end in ends if end > 0 and abs(one := math.log(end)) <= most]
    least = math.log(1.12)
    below = max(least, 1.08 * -min(logs, default=0.0))
    above = max(least, 1.08 * max(logs, default=0.0))
    if not centred or max(below, above) > max(LOPSIDED * min(below, above), math.log(1.6)):
        shorter = max(min(below, above), max(below, above) / SHORTEST if centred else 0)
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


def with_log(label: str, kind: str) -> str:
    """What an axis is called, with the kind of its scale where that is not linear."""
    if kind == "linear":
        return label
    return f"{label[:-1]}, log scale)" if label.endswith(")") else f"{label} (log scale)"


def ticks(
    scale: Scale, first: Sequence[float] = (), size: float = TINY, gap: float = 9
) -> list[float]:
    """The values that are written below an axis: as many round ones as there is room for.

    `first` are written before any other.
    """
    placed: list[float] = []
    for value in first:
        if scale.holds(value) and _apart([*placed, value], scale, size, gap):
            placed.append(value)
    most = MOST_TICKS + len(placed)
    for group in _round_values(scale):
        inside = [v for v in group if scale.holds(v) and v not in placed]
        if not inside or len(placed) + len(inside) > most:
            continue
        if _apart([*placed, *inside], scale, size, gap):
            placed += inside
            if not scale.log:
                break  # one step only
    return sorted(placed)


def written(value: float) -> str:
    """The number of a tick."""
    if abs(value) >= 1e6 or 0 < abs(value) < 1e-4:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
    return f"{value:,.6g}"


def _apart(values: Sequence[float], scale: Scale, size: float, gap: float) -> bool:
    """Whether numbers can stand beside each other."""
    ordered = sorted(values)
    for left, right in pairwise(ordered):
        widths = text_width(written(left), size) + text_width(written(right), size)
        if abs(scale.at(right) - scale.at(left)) < widths / 2 + gap:
            return False
    return True


def _round_values(scale: Scale) -> list[tuple[float, ...]]:
    """Groups of round numbers; a group is written whole or not at all."""
    if not scale.log:
        return _multiples(scale)
    if scale.low < 1 < scale.high and scale.high / scale.low < 1e5:
        return [*RATIOS, *((value,) for pair in RATIOS for value in pair)]
    decades = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
    groups = [tuple(10.0**d for d in decades[::step]) for step in (1, 2, 3, 4)]
    if scale.high / scale.low < FEW_DECADES:
        groups += [tuple(f * 10.0**d for d in decades for f in (2, 5))]
        groups += [(f * 10.0**d,) for d in decades for f in (2, 5, 3, 1.5, 7, 4)]
    return groups


def _multiples(scale: Scale) -> list[tuple[float, ...]]:
    """Of round steps all multiples on the axis, the smallest step first."""
    exponent = math.floor(math.log10(scale.high - scale.low))
    found = []
    for step in (f * 10.0 ** (exponent + e) for e in (-1, 0, 1) for f in (1, 2, 2.5, 5)):
        begin, end = math.ceil(scale.low / step - 1e-9), math.floor(scale.high / step + 1e-9)
        found.append(tuple(steady(step * k) for k in range(begin, end + 1)))
    return found

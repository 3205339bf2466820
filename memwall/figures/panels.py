"""What panels have in common: from values to pixels (where an axis ends, which of its numbers are
written), rows of dots, intervals, legends; and charts, which become dots or lines.

Each kind of figure is a plain dataclass and a function that draws it as SVG.

| kind | shows |
| --- | --- |
| `dots.dots(Dots)` | values of variants on inputs, with intervals: ratios, shares of a bound |
| `dots.bars(Chart)` | linear quantities from zero; what is a ratio or a share becomes dots |
| `rows.claims(Claims)` | what claims came to on machines |
| `rows.across(Across)` | one comparison, input by input, on all machines |
| `rows.timeline(Timeline)` | what a variant did when |
| `curves.lines(Lines)`, `curves.lines_of(Chart)` | values over numbers |
| `curves.roofline(Roofline)` | rates over intensities, below what the machine allows |
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from memwall.figures.sheet import (
    BODY,
    MARGIN,
    ROLES,
    SMALL,
    TINY,
    WIDTH,
    Sheet,
    ink,
    line_height,
    middle,
    role_colour,
    series_colour,
    shortened,
    steady,
    text_width,
)

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

    def __post_init__(self) -> None:
        """An axis has a length, also around a value beside which 1 is nothing."""
        if not self.low < self.high:
            room = 1e-6 * abs(self.low) or 1.0
            object.__setattr__(self, "low", self.low - room)
            object.__setattr__(self, "high", self.high + room)

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


def scale_of_ratios(values: Iterable[float], ends: Iterable[float], centred: bool = True) -> Scale:
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


def scale_from_zero(tops: Iterable[float]) -> Scale:
    """A linear axis from zero, a little longer than what is on it."""
    return Scale(0, steady(1.06 * max(tops, default=1.0)) or 1.0, 0, 1)


def scale_around(values: Sequence[float]) -> Scale:
    """A linear axis that ends a little beyond the least and the largest value."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    floor = 0.0 if low >= 0 and low - room < 0.25 * high else low - room
    return Scale(steady(floor), steady(high + room), 0, 1)


def scale_of_powers(values: Sequence[float]) -> Scale:
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


# --- panels ---------------------------------------------------------------------------------------

NAMES = {"fp32": "single precision", "fp64": "double precision", "library": "libraries"}
SHAPES = ("dot", "square", "triangle")
SHAPE_OF = {"fp32": "dot", "fp64": "square", "fp16": "triangle", "bf16": "triangle"}
GROUP_ROLES = ("ours", "library", "reference")  # of rows, whose markers are all dots
PITCH = 24.0  # pixels from one row to the next
GAP = 20.0  # pixels between panels side by side
ALIKE_WORDS = "alike (within 5 %)"
NOT_MEASURED = "not measured"
SKIPPED = "skipped"  # where its reason has no room
T = TypeVar("T")


@dataclass(frozen=True)
class Value:
    """A value with its interval, or a word in its place."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    absence: str = ""


@dataclass(frozen=True)
class Frame:
    """Where a panel is drawn."""

    scale: Scale
    top: float
    bottom: float
    bound: float | None = None  # the value that a line is drawn at


def ratio_scale(values: Iterable[Value]) -> Scale:
    """A log axis around 1 that has room for the values and most of their intervals."""
    there = [value for value in values if not value.absence]
    return scale_of_ratios([v.value for v in there], [e for v in there for e in (v.low, v.high)])


def ratio_ground(sheet: Sheet, frame: Frame) -> None:
    """The band of what is alike, and the line at 1."""
    scale = frame.scale
    sheet.box(scale.at(ALIKE[0]), frame.top, scale.at(ALIKE[1]), frame.bottom, ink("alike"))
    sheet.line([(scale.at(1), frame.top), (scale.at(1), frame.bottom)], ink("muted"))


def dot_rows(
    sheet: Sheet,
    frame: Frame,
    cells: Sequence[Sequence[Value | None]],
    series: Sequence[str],
    pitch: float,
    looks: "Looks | None" = None,
) -> None:
    """A row of dots for each of `cells`, which has a value for each of `series`."""
    looks = looks or Looks()
    step = min(10.0, (pitch - 6) / len(series)) if len(series) > 1 else 0.0
    for row, values in enumerate(cells):
        y = looks.places[row] if looks.places else frame.top + 4 + pitch * (row + 0.5)
        words = {NOT_MEASURED if value is None else value.absence for value in values}
        if "" not in words:
            word(sheet, frame, y, sorted(words)[0])
            continue
        for place, (name, value) in enumerate(zip(series, values, strict=True)):
            if value is None or value.absence:
                continue
            at = y + step * (place - (len(series) - 1) / 2)
            one_hue = looks.roles and len(series) == 1
            colour = role_colour(looks.roles[row]) if one_hue else colour_of(name, place)
            if looks.bars:
                thick = min(12.0, step - 1) if step else 12.0
                end = frame.scale.at(value.value)
                sheet.box(frame.scale.start, at - thick / 2, end, at + thick / 2, colour, over=2.2)
                interval(sheet, frame.scale, at, value.low, value.high, ink("ink"))
                continue
            interval(sheet, frame.scale, at, value.low, value.high, colour)
            shape = shape_of(name, place)
            if frame.scale.holds(value.value):
                sheet.mark(frame.scale.at(value.value), at, shape, colour, 8.5)


@dataclass(frozen=True)
class Looks:
    """How rows are drawn: at which heights, in which roles if there is one series, as bars."""

    places: Sequence[float] = ()
    roles: Sequence[str] = ()
    bars: bool = False


def shape_of(name: str, place: int) -> str:
    """The marker of a series."""
    return SHAPE_OF.get(name, SHAPES[place % len(SHAPES)])


def word(sheet: Sheet, frame: Frame, y: float, word: str) -> None:
    """A word in the place of dots, right of the line at 1 if it fits there."""
    left, right = frame.scale.start, frame.scale.end
    if frame.bound is not None and frame.scale.at(frame.bound) > left + 0.6 * (right - left):
        right = frame.scale.at(frame.bound) - 4
    one = frame.scale.at(1) + 8 if frame.scale.log and frame.scale.holds(1) else left + 4
    text = word if text_width(word, TINY, italic=True) <= right - left - 4 else SKIPPED
    start = one if one + text_width(text, TINY, italic=True) <= right else left + 4
    end = start + text_width(text, TINY, italic=True)
    sheet.box(start - 3, y - 7, min(end + 3, right), y + 7, ink("panel"), over=2.5)
    sheet.text(start, y + middle(TINY), text, TINY, ink("muted"), italic=True)


def colour_of(name: str, place: int) -> str:
    """The colour of a series: that of its role, or else of its place."""
    return role_colour(name) if name in ROLES else series_colour(place)


def label_width(names: Sequence[str], mono: bool) -> float:
    """Pixels from the left edge to the panels: the longest name, bold, and room around it."""
    widest = max(text_width(n, SMALL if mono else BODY, not mono, False, mono) for n in names)
    return math.ceil(MARGIN + widest + 12)


def row_names(
    sheet: Sheet, names: Sequence[str], right: float, top: float, pitch: float = PITCH
) -> None:
    """Names of machines, the first one bold."""
    for row, name in enumerate(names):
        y = top + pitch * (row + 0.5) + middle(BODY)
        sheet.text(right - 12, y, name, BODY, align="right", bold=row == 0)


def panel_head(
    sheet: Sheet, left: float, top: float, width: float, name: str, about: str
) -> None:
    """A title and a line below it, just above a panel."""
    baseline = top - 8
    if about:
        sheet.text(left, baseline, shortened(about, width + GAP - 6, TINY), TINY)
        baseline -= line_height(SMALL)
    sheet.text(left, baseline, shortened(name, width + GAP - 6, SMALL, True), SMALL, bold=True)


def interval(
    sheet: Sheet, scale: Scale, y: float, low: float, high: float, colour: str
) -> None:
    """A line from end to end; an arrow where it leaves the axis."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return
    low, high = steady(low), steady(high)
    if high > low:
        sheet.line([(scale.at(low), y), (scale.at(high), y)], colour, 1.8)
    if not scale.holds(low):
        sheet.arrow(scale.start - 3, y, False, colour)
    if not scale.holds(high):
        sheet.arrow(scale.end + 3, y, True, colour)


def axis(
    sheet: Sheet,
    scale: Scale,
    y: float,
    first: Sequence[float] = (),
    unit: str = "",
    red: float | None = None,
) -> None:
    """A line below a panel with ticks and their numbers, `red` is that of the bound."""
    sheet.line([(scale.start, y), (scale.end, y)], ink("muted"))
    shown = ticks(scale, first)
    for value in shown:
        x = scale.at(value)
        sheet.line([(x, y), (x, y + 4)], ink("muted"))
        text = written(value)
        colour = ink("limit") if value == red else ""
        sheet.text(x, y + 17, text, TINY, colour, align="center")
        if unit and value == shown[-1]:
            sheet.text(x + text_width(text, TINY) / 2, y + 17, f" {unit}", TINY, colour)


def legend(
    sheet: Sheet, series: Sequence[str], heading: str = "", alike: bool = False, bound: str = "",
    bars: bool = False,
) -> None:
    """A heading to the left, what colours, bands and lines mean to the right."""
    x = WIDTH - MARGIN
    if alike:
        x -= text_width(ALIKE_WORDS, SMALL)
        sheet.text(x, 20, ALIKE_WORDS, SMALL)
        sheet.box(x - 30, 10, x - 6, 23, ink("alike"))
        x -= 48
    if bound:
        x -= text_width(bound, SMALL)
        sheet.text(x, 20, bound, SMALL, ink("limit"))
        sheet.line([(x - 9, 9), (x - 9, 24)], ink("limit"), 2)
        x -= 30
    for place in reversed(range(len(series))):
        name = series[place]
        if not name:  # one series, which needs no name
            continue
        words = NAMES.get(name, name)
        colour = colour_of(name, place)
        x -= text_width(words, SMALL)
        sheet.text(x, 20, words, SMALL)
        if bars:
            sheet.box(x - 26, 11, x - 6, 21, colour)
        else:
            sheet.line([(x - 28, 16), (x - 6, 16)], colour, 1.8)
            shape = "dot" if name in (*GROUP_ROLES, "yours") else shape_of(name, place)
            sheet.mark(x - 17, 16, shape, colour, 8.5)
        x -= 44
    if heading:
        sheet.text(MARGIN, 21, heading, BODY + 1, bold=True)


def chunks(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Pieces that are as even as can be, none longer than told."""
    count = -(-len(items) // most)
    size = -(-len(items) // count)
    return [items[begin : begin + size] for begin in range(0, len(items), size)]


# --- charts, drawn as dots or as lines ------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """A value for each category; `slot` is its colour among lines, `role` that among rows."""

    name: str
    slot: int
    values: tuple[Value, ...]
    modelled: bool = False  # computed, not measured: a dotted line without markers
    role: str = "ours"
    group: str = ""


@dataclass(frozen=True)
class Band:
    """A place on the axis of categories with its interval, in the colour of its series."""

    label: str
    slot: int
    place: float
    low: float
    high: float


@dataclass(frozen=True)
class Chart:
    """What is drawn. `limits` is what the ceiling allows in each category, if it is drawn.

    `kind` is that of the quantity: "factor" is drawn on a log axis around 1, "percent" as dots and
    from zero, all others as bars from zero or, with `log_values`, as dots.
    """

    title: str
    category_label: str
    value_label: str
    categories: tuple[str | float, ...]
    series: tuple[Series, ...]
    limits: tuple[float, ...] | None = None
    limit_label: str = ""
    log_categories: bool = False
    log_values: bool = False
    named_categories: bool = True  # each is named below the axis, if there is room for all
    marks: tuple[tuple[str, float], ...] = ()  # lines across, each with its name
    bands: tuple[Band, ...] = ()
    kind: str = ""
    abouts: tuple[str, ...] = ()  # a line below the name of each category
    rows_are_series: bool = True  # else categories are rows, and series have colours

"""What charts have in common: values, the axes that they need, and layers of marks.

Each kind of figure is a plain dataclass and a function that makes a chart of it.

| kind | shows |
| --- | --- |
| `dots.dots(Dots)` | values of variants on inputs, with intervals: ratios, shares of a bound |
| `dots.bars(Chart)` | linear quantities from zero; what is a ratio or a share becomes dots |
| `rows.claims(Claims)` | what claims came to on machines |
| `rows.across(Across)` | one comparison, input by input, on all machines |
| `rows.timeline(Timeline)` | what a variant did when |
| `curves.lines(Chart)` | values over numbers |
| `curves.roofline(Roofline)` | rates over intensities, below what the machine allows |
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import altair as alt

from memwall.analysis import numerics
from memwall.figures.sheet import (
    ROLES,
    SMALL,
    TINY,
    Rows,
    View,
    ink,
    layered,
    role_colour,
    series_colour,
    steady,
    text_width,
    view,
)

#: Ratios that are written first where there is room, by how much they tell.
RATIOS = ((1.0,), (0.5, 2.0), (0.1, 10.0), (0.2, 5.0), (0.01, 100.0), (0.02, 50.0), (0.05, 20.0),
          (0.001, 1000.0), (0.0001, 10000.0), (0.75, 1.5), (0.8, 1.2), (0.9, 1.1), (0.95, 1.05))
MOST_TICKS, MOST_UPRIGHT = 7, 10
MANY = 99  # ticks: of more than Vega expects it would drop some
FEW_DECADES = 3e3  # from one end to the other: 2 and 5 of each decade are written too
LONGEST_INTERVAL = 1.5  # of the reach of the values; what is longer leaves the axis
LOPSIDED = 1.5  # so much farther on one side: the other side is shortened
SHORTEST = 3.0  # to so much of the longer side, if it needs no more
ALIKE = (0.95, 1.05)  # ratios that are called alike
ALIKE_NOTE = "Grey band: alike, within 5 %."
INTERVALS = f"Thin lines: {100 * numerics.LEVEL:.1f} % intervals."
NOISIEST = 1.5  # the factor that two runs of one code may differ by in what is drawn
NOT_MEASURED = "not measured"
SKIPPED = "skipped"  # where its reason has no room
GAP = 22.0  # pixels between panels side by side
EDGE = 14.0  # pixels that the last number below an axis reaches over it
T = TypeVar("T")


@dataclass(frozen=True)
class Value:
    """A value with its interval and its samples, or a word in its place."""

    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    absence: str = ""
    samples: int = 0

    def told(self) -> dict[str, Any]:
        """What the specification says of it; hovering shows these."""
        if self.absence:
            return {"word": self.absence}
        told: dict[str, Any] = {"value": self.value}
        if math.isfinite(self.low) and math.isfinite(self.high):
            told |= {"low": self.low, "high": self.high}
        return told | ({"samples": self.samples} if self.samples else {})


# --- axes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """A stretch of values, on a linear or a logarithmic axis."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        """An axis has a length, also around a value beside which 1 is nothing."""
        if not self.low < self.high:
            room = 1e-6 * abs(self.low) or 1.0
            object.__setattr__(self, "low", self.low - room)
            object.__setattr__(self, "high", self.high + room)

    def share(self, value: float) -> float:
        """Where a value lies between the ends, from 0 to 1."""
        return (self._of(value) - self._of(self.low)) / (self._of(self.high) - self._of(self.low))

    def value(self, share: float) -> float:
        """What lies there: the inverse of `share`."""
        low, high = self._of(self.low), self._of(self.high)
        return math.exp(low + share * (high - low)) if self.log else low + share * (high - low)

    def holds(self, value: float) -> bool:
        """Whether a value is on the axis."""
        slack = 1e-9 * max(abs(self.low), abs(self.high))
        return self.low - slack <= value <= self.high + slack

    def _of(self, value: float) -> float:
        return math.log(value) if self.log else value

    def altair(self, pixels: float | None = None) -> alt.Scale:
        """The same for Altair, along the whole panel or so many pixels of it."""
        along: dict[str, Any] = {} if pixels is None else {"range": [0, pixels]}
        return alt.Scale(type="log" if self.log else "linear", domain=[self.low, self.high],
                         nice=False, zero=False, clamp=True, **along)


def scale_of_ratios(values: Iterable[float], ends: Iterable[float] = (),
                    centred: bool = True) -> Scale:
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
    return Scale(steady(math.exp(-below)), steady(math.exp(above)), log=True)


def scale_from_zero(tops: Iterable[float]) -> Scale:
    """A linear axis from zero, a little longer than what is on it."""
    return Scale(0, steady(1.06 * max(tops, default=1.0)) or 1.0)


def scale_around(values: Sequence[float]) -> Scale:
    """A linear axis that ends a little beyond the least and the largest value."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = 0.08 * (high - low) or 0.08 * abs(high) or 1.0
    floor = 0.0 if low >= 0 and low - room < 0.25 * high else low - room
    return Scale(steady(floor), steady(high + room))


def scale_of_powers(values: Sequence[float]) -> Scale:
    """A log axis of positive values that ends a little beyond the least and the largest."""
    positive = [value for value in values if value > 0] or [1.0, 10.0]
    low, high = math.log(min(positive)), math.log(max(positive))
    room = max(0.06 * (high - low), 0.08)
    return Scale(steady(math.exp(low - room)), steady(math.exp(high + room)), log=True)


def scale_of(kind: str, values: Iterable[Value], bounds: Iterable[float] = (),
             unit: str = "") -> Scale:
    """The axis of values: a "ratio" around 1, "linear" from zero or "log"; with bounds that do not
    lie far beyond all values."""
    there = [value for value in values if not value.absence]
    middles = [value.value for value in there]
    ends = [end for v in there for end in (v.low, v.high) if math.isfinite(end)]
    if kind == "ratio":
        reach = max((abs(math.log(v)) for v in middles if v > 0), default=0.0)
        near = [b for b in bounds if b > 0 and abs(math.log(b)) < reach + 0.1]
        return scale_of_ratios([*middles, *near], ends)
    if kind == "log":
        least, most = min(middles, default=1.0), max(middles, default=1.0)
        return scale_of_powers([*middles, *(b for b in bounds if least / 3 < b < 3 * most)])
    most = max(middles, default=0.0)
    near = [b for b in bounds if b < 3 * most or unit == "%"]
    return scale_from_zero([most, *(end for end in ends if end <= 1.4 * most), *near])


def ticks(scale: Scale, pixels: float, first: Sequence[float] = (),
          upright: bool = False) -> list[float]:
    """The values that are written beside an axis: as many round ones as there is room for; `first`
    are written before any other."""
    placed: list[float] = []
    for value in first:
        if scale.holds(value) and _apart([*placed, value], scale, pixels, upright):
            placed.append(value)
    most = (MOST_UPRIGHT if upright else MOST_TICKS) + len(placed)
    for group in _round_values(scale):
        inside = [v for v in group if scale.holds(v) and v not in placed]
        if not inside or len(placed) + len(inside) > most:
            continue
        if _apart([*placed, *inside], scale, pixels, upright):
            placed += inside
            if not scale.log:
                break  # one step only
    return sorted(placed)


def _apart(values: Sequence[float], scale: Scale, pixels: float, upright: bool) -> bool:
    """Whether numbers can stand beside each other."""
    room = [12.0 if upright else text_width(f"{v:,.6g}", TINY) / 2 + 5 for v in sorted(values)]
    places = [pixels * scale.share(value) for value in sorted(values)]
    return all(places[k + 1] - places[k] >= room[k] + room[k + 1] for k in range(len(places) - 1))


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


def with_log(label: str, kind: str) -> str:
    """What an axis is called, with the kind of its scale where that is not linear."""
    if kind == "linear":
        return label
    return f"{label[:-1]}, log scale)" if label.endswith(")") else f"{label} (log scale)"


# --- layers ---------------------------------------------------------------------------------------

NAMES = {"fp32": "single precision", "fp64": "double precision", "fp16": "half precision",
         "ours": "ours", "library": "libraries", "reference": "reference"}
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
SHAPE_OF = {"fp32": "circle", "fp64": "square", "ours": "circle", "library": "diamond",
            "reference": "square"}


def base(told: Sequence[dict[str, Any]]) -> alt.Chart:
    """A chart of such data."""
    return alt.Chart(alt.Data(values=Rows(told)))


def values_of(told: Sequence[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    """Those rows that have all of the names."""
    return [row for row in told if all(name in row for name in names)]


def value_axis(scale: Scale, pixels: float, title: str | None = None,
               first: Sequence[float] = (), written: str = ",.6~g") -> alt.X:
    """The horizontal axis of values, so many pixels long."""
    axis = alt.Axis(values=ticks(scale, pixels, first), tickCount=MANY, format=written, grid=False)
    return alt.X("value:Q", title=title, scale=scale.altair(pixels), axis=axis)


HEADING = "\u2013 "  # begins the heading of a group of rows


def names_axis(order: Sequence[str], shown: bool, bold: str = "") -> alt.Y:
    """The vertical axis of names, the first of them `bold` if told; headings stand in italics."""
    def heading(of: str, value: str | int, other: str | int) -> dict[str, Any]:
        test = f"indexof(datum.value, '{HEADING}') == 0"
        return {of: {"condition": {"test": test, "value": value}, "value": other}}

    special = {}
    if any(name.startswith(HEADING) for name in order):
        special = (heading("labelFontStyle", "italic", "normal") | heading("gridOpacity", 0, 1)
                   | heading("labelColor", ink("muted"), ink("ink")))
    if bold and order[:1] == [bold]:
        special["labelFontWeight"] = {"condition": {"test": "datum.index == 0", "value": "bold"},
                                      "value": "normal"}
    axis = alt.Axis(labels=shown, ticks=False, domain=False, grid=True, labelPadding=8, **special)
    return alt.Y("name:N", title=None, axis=axis, scale=alt.Scale(domain=list(order)))


def ratio_ground() -> list[alt.Chart]:
    """The band of what is alike, and the line at 1."""
    band = base([{"from": ALIKE[0], "to": ALIKE[1]}])
    one = base([{"at": 1}]).mark_rule(color=ink("muted")).encode(x=alt.X("at:Q"))
    ends = {"x": alt.X("from:Q"), "x2": alt.X2("to")}
    return [band.mark_rect(color=ink("alike"), opacity=1).encode(**ends), one]


def bound_line(bound: float) -> alt.Chart:
    """Where the machine's limit is."""
    rule = base([{"bound": bound}]).mark_rule(color=ink("limit"), strokeWidth=2)
    return rule.encode(x=alt.X("bound:Q"))


def colour_of(name: str, place: int) -> str:
    """The colour of a series: that of its role, or else of its place."""
    return role_colour(name) if name in (*ROLES, "yours") else series_colour(place)


def kinds(names: Sequence[str]) -> dict[str, Any]:
    """Colour and shape of series by the field `kind`, with one legend for both."""
    words = [NAMES.get(name, name) for name in names]
    colours = [colour_of(name, place) for place, name in enumerate(names)]
    shapes = [SHAPE_OF.get(n, SHAPES[place % len(SHAPES)]) for place, n in enumerate(names)]
    legend: dict[str, Any] = {} if len(names) > 1 else {"legend": None}
    return {
        "color": alt.Color("kind:N", scale=alt.Scale(domain=words, range=colours), **legend),
        "shape": alt.Shape("kind:N", scale=alt.Scale(domain=words, range=shapes), **legend),
    }


@dataclass(frozen=True)
class Frame:
    """What panels of one figure share: rows, colours, the axis and the size."""

    order: Sequence[str]  # of rows
    names: Sequence[str]  # of colours
    series: Sequence[str]  # beside each other in a row; one: in its middle
    scale: Scale
    width: float
    height: float
    ratio: bool = False
    bars: bool = False
    bold: str = ""
    label: str | None = None  # of the axis, where it is not told above
    faint: bool = False  # dots let others through


def panel(frame: Frame, told: Sequence[dict[str, Any]], title: alt.TitleParams, first: bool,
          bound: float | None = None) -> View:
    """What is below one title: the ground, the bound, intervals, dots, and words in their place.
    The `first` panel of a line has the names of rows."""
    scale, width = frame.scale, frame.width
    bound = bound if bound is not None and scale.holds(bound) else None
    ground: list[Any] = ratio_ground() if frame.ratio else []
    if bound is not None:
        ground.append(bound_line(bound))
    shared: dict[str, Any] = {"y": names_axis(frame.order, first, frame.bold)}
    if len(frame.series) > 1:
        order = [NAMES.get(name, name) for name in frame.series]
        shared["yOffset"] = alt.YOffset("kind:N", scale=alt.Scale(domain=order, paddingOuter=0.6))
    x = value_axis(scale, width, frame.label,
                   [1.0] if frame.ratio else [bound] if bound == 100 else [])
    colours = kinds(frame.names)
    rows, tips = alt.Chart(), {"content": "data"}
    tint = {"color": alt.value(ink("ink")) if frame.bars else colours["color"]}
    whiskers = rows.mark_rule(strokeWidth=1.6).encode(x=alt.X("low:Q"), x2=alt.X2("high"), **tint)
    if frame.bars:
        dots = rows.mark_bar(size=11, tooltip=tips).encode(x=x, color=colours["color"])
        layers = [dots, whiskers]
    else:
        dots = rows.mark_point(filled=True, size=56, opacity=0.45 if frame.faint else 1,
                               tooltip=tips).encode(x=x, **colours)
        layers = [dots] if frame.faint else [whiskers, dots]
    room = width * scale.share(bound) if bound and scale.share(bound) > 0.6 else width
    there = values_of(told, "value")
    drawn = [*ground, rows_of(layers, there, **shared)]
    if words := _words(told, room - 8):
        drawn.append(base(words).mark_text(
            align="left", fontStyle="italic", fontSize=TINY, color=ink("muted"),
        ).encode(x=alt.value(4), y=alt.Y("name:N"), text=alt.Text("word:N")))
    return layered(*drawn, width=width, height=frame.height, title=view(title))


def rows_of(layers: Sequence[Any], told: Sequence[dict[str, Any]], **shared: Any) -> View:
    """Layers that have data and channels in common."""
    channels = view(alt.Chart().mark_point().encode(**shared))["encoding"]
    return layered(*layers, data={"values": Rows(told)}, encoding=channels)


def _words(told: Sequence[dict[str, Any]], room: float) -> list[dict[str, Any]]:
    """A word for each name that has no value."""
    named = {row["name"] for row in values_of(told, "value")}
    words = {row["name"]: row["word"] for row in values_of(told, "word")
             if row["name"] not in named}
    return [{"name": name, "word": word if text_width(word, TINY) <= room else SKIPPED}
            for name, word in words.items()]


def in_lines(lines: Sequence[Sequence[View]], between: float) -> View:
    """Panels below and beside each other: a line each, filled up with empty views."""
    columns = max(map(len, lines))
    blank = view(base([]).mark_point().properties(width=1, height=1))
    panels = [each for line in lines for each in [*line, *[blank] * (columns - len(line))]]
    return {"concat": panels, "columns": columns, "bounds": "flush",
            "spacing": {"row": between, "column": GAP}}


def label_width(names: Sequence[str]) -> float:
    """Pixels that names beside an axis take, and room around them."""
    return max((text_width(name, SMALL, bold=True) for name in names), default=0) + 14


def chunks(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Pieces that are as even as can be, none longer than told."""
    count = max(1, -(-len(items) // most))
    size = max(1, -(-len(items) // count))
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

    `title` is the question. `kind` is that of the quantity: "factor" is drawn on a log axis around
    1, "percent" as dots and from zero, all others as bars from zero or, with `log_values`, as dots.
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
    marks: tuple[tuple[str, float], ...] = ()  # lines across, each with what stands beside it
    bands: tuple[Band, ...] = ()
    kind: str = ""
    abouts: tuple[str, ...] = ()  # a line below the name of each category
    rows_are_series: bool = True  # else categories are rows, and series have colours
    notes: tuple[str, ...] = ()  # sentences below the question

    @property
    def scale(self) -> str:
        """Of its values: "ratio", "log" or "linear"."""
        return "ratio" if self.kind == "factor" else "log" if self.log_values else "linear"


def spaced(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Names of rows in order, each group of them below its heading if there are several, and most
    have more than two; `rows` are names with their groups."""
    changes = sum(one[1] != other[1] for one, other in pairwise(rows))
    groups = len({group for _, group in rows})
    headed = groups > 1 and groups == changes + 1 and groups < 0.4 * len(rows)
    order: list[str] = []
    for k, (name, group) in enumerate(rows):
        if headed and (k == 0 or rows[k - 1][1] != group):
            order.append(HEADING + group)
        order.append(name)
    return order

"""Charts as SVG: the same bytes for the same data, legible on light and dark pages.

Each kind is a plain dataclass and a function that draws it. Text becomes outlines (`svg.fonttype:
path`): a figure embedded in a page cannot load a font, and labels that were laid out with one font
overlap in another.

| kind | shows |
| --- | --- |
| `dots(Dots)` | values of variants on inputs, with intervals: ratios, shares of a bound |
| `claims(Claims)` | what claims came to on machines |
| `across(Across)` | one comparison, input by input, on all machines |
| `lines(Chart)` | values over numbers |
| `bars(Chart)` | linear quantities from zero; what is a ratio or a share becomes dots |
| `timeline(Timeline)` | what a variant did when |
| `roofline(Roofline)` | rates over intensities, below what the machine allows |
"""

from collections.abc import Sequence
from dataclasses import dataclass

from weave import curves
from weave.curves import Ceiling, Roofline, Spot, roofline
from weave.dots import Dots, Panel, Row, dots
from weave.panels import Value
from weave.results import Span
from weave.rows import (
    Across,
    Block,
    ClaimCell,
    ClaimColumn,
    Claims,
    Column,
    Timeline,
    across,
    claims,
    timeline,
)
from weave.sheet import STYLE, saved

__all__ = [
    "STYLE",
    "Across",
    "Band",
    "Block",
    "Ceiling",
    "Chart",
    "ClaimCell",
    "ClaimColumn",
    "Claims",
    "Column",
    "Dots",
    "Panel",
    "Roofline",
    "Row",
    "Series",
    "Span",
    "Spot",
    "Timeline",
    "Value",
    "across",
    "bars",
    "claims",
    "dots",
    "lines",
    "roofline",
    "saved",
    "timeline",
]

LOG_NUMBERS = 8.0  # numbers that span more are drawn on a log axis


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


def bars(chart: Chart) -> str:
    """Bars of linear quantities; dots of ratios, of shares and of what is on a log axis."""
    return dots(as_dots(chart))


def lines(chart: Chart) -> str:
    """A line for each series over numbers."""
    return curves.lines(as_lines(chart))


def as_dots(chart: Chart) -> Dots:
    """The rows of a chart: its series, with a panel for each category, or its categories."""
    many = chart.rows_are_series and len(chart.series) > 1
    limits: Sequence[float | None] = chart.limits or [None] * len(chart.categories)
    unit = "%" if chart.kind == "percent" else ""
    scale = "ratio" if chart.kind == "factor" else "log" if chart.log_values else "linear"
    if many:
        abouts = chart.abouts or ("",) * len(chart.categories)
        named = zip(chart.categories, abouts, limits, strict=True)
        prefix = "" if isinstance(chart.categories[0], str) else f"{chart.category_label} "
        panels = tuple(Panel(f"{prefix}{_text(c)}", about, limit) for c, about, limit in named)
        rows = tuple(Row(series.name, series.group, series.role) for series in chart.series)
        count = range(len(chart.categories))
        cells = tuple(
            tuple(tuple([series.values[at]]) for series in chart.series) for at in count)
        names: tuple[str, ...] = ("",)
    else:
        same = len(set(limits)) == 1
        panels = (Panel("", bound=limits[0] if same else None),)
        prefix = "" if isinstance(chart.categories[0], str) else f"{chart.category_label} "
        rows = tuple(Row(f"{prefix}{_text(c)}", role=chart.series[0].role)
                     for c in chart.categories)
        count = range(len(chart.categories))
        cells = (tuple(tuple(series.values[at] for series in chart.series) for at in count),)
        names = tuple(series.name for series in chart.series)
    return Dots(
        title=chart.title,
        panels=panels,
        rows=rows,
        cells=cells,
        series=names,
        scale=scale,
        value_label=chart.value_label,
        unit=unit,
        bound_label=chart.limit_label,
        bars=scale == "linear" and chart.kind != "percent",
        noun=chart.category_label,
    )


def as_lines(chart: Chart) -> curves.Lines:
    """The points of a chart; numbers that span more than a factor of 8 are on a log axis."""
    xs = [float(category) for category in chart.categories]
    wide = bool(xs) and min(xs) > 0 and max(xs) > LOG_NUMBERS * min(xs)
    found = tuple(
        curves.Line(
            series.name,
            tuple(
                (x, value)
                for x, value in zip(xs, series.values, strict=True)
                if not value.absence
            ),
            series.slot,
            series.modelled,
        )
        for series in chart.series
    )
    places = [curves.Place(f"{name} {at:g}", at) for name, at in chart.marks]
    places += [curves.Place(b.label, b.place, b.low, b.high, b.slot) for b in chart.bands]
    return curves.Lines(
        title=chart.title,
        x_label=chart.category_label,
        y_label=chart.value_label,
        lines=found,
        log_x=chart.log_categories or (wide and chart.named_categories),
        scale="ratio" if chart.kind == "factor" else "log" if chart.log_values else "linear",
        named=tuple(xs) if chart.named_categories else (),
        limits=tuple(zip(xs, chart.limits, strict=True)) if chart.limits else (),
        limit_label=chart.limit_label,
        places=tuple(places),
    )


def _text(category: str | float) -> str:
    return category if isinstance(category, str) else f"{category:g}"

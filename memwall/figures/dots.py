"""Values of variants on inputs: a panel for each input, a row for each variant, a dot each.

Where there are more inputs than a page can show, a row has a faint dot for each of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import altair as alt

from memwall.analysis import numerics
from memwall.figures import sheet
from memwall.figures.panels import (
    ALIKE_NOTE,
    EDGE,
    GAP,
    INTERVALS,
    NAMES,
    NOT_MEASURED,
    Chart,
    Frame,
    Scale,
    Value,
    base,
    chunks,
    in_lines,
    label_width,
    panel,
    scale_of,
    spaced,
    values_of,
    with_log,
)
from memwall.figures.sheet import (
    MARGIN,
    ROLES,
    SMALL,
    TINY,
    WIDTH,
    Drawn,
    View,
    ink,
    layered,
    line_height,
)

MANY_PANELS = 12  # more inputs are drawn as clouds, or, of few variants, as rows
NARROWEST = 124.0  # pixels of a panel
PITCH = 20.0  # pixels from one row to the next, of one series

#: By panel, row and series.
Cells = tuple[tuple[tuple[Value | None, ...], ...], ...]


@dataclass(frozen=True)
class Row:
    """A variant. `group` stands in italics above the first row of it; `role` is the colour of its
    dots where there is one series only (`ours`, `library`, `reference`)."""

    name: str
    group: str = ""
    role: str = "ours"


@dataclass(frozen=True)
class Panel:
    """An input: its name, a line below it, and where the bound is in it."""

    title: str
    about: str = ""
    bound: float | None = None


@dataclass(frozen=True)
class Dots:
    """`cells[panel][row][series]`; None is "not measured", a `Value` with an absence that word.

    `title` is the question. `scale` is "ratio" (log, around 1, with the band of what is alike),
    "linear" (from zero) or "log". `bound_label` names the vertical line of the panels. With `bars`
    (linear only) a bar stands for each value. `noun` is what a panel is.
    """

    title: str
    panels: tuple[Panel, ...]
    rows: tuple[Row, ...]
    cells: Cells
    series: tuple[str, ...] = ("fp32", "fp64")
    scale: str = "ratio"
    value_label: str = ""
    unit: str = ""
    bound_label: str = ""
    bars: bool = False
    noun: str = "matrix"
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """What colours tell: series, or whose code a row is."""
        if len(self.series) > 1:
            return self.series
        roles = {row.role for row in self.rows}
        return tuple(role for role in (*ROLES, "yours") if role in roles)

    def kind(self, row: int, place: int) -> str:
        """The word of a dot in the legend."""
        name = self.series[place] if len(self.series) > 1 else self.rows[row].role
        return NAMES.get(name, name)


def dots(data: Dots) -> Drawn:
    """The figure."""
    if len(data.panels) > MANY_PANELS:
        if len(data.rows) > 1:
            return _clouds(data)
        data = _turned(data)
    order = spaced([(row.name, row.group) for row in data.rows])
    labels = label_width(order)
    room = WIDTH - 2 * MARGIN - labels - EDGE
    most = max(1, int((room + GAP) / (NARROWEST + GAP)))
    lines = chunks(range(len(data.panels)), most)
    width = (room - GAP * (len(lines[0]) - 1)) / len(lines[0])
    scale, series = _scale(data), data.series
    label = _label(data) if len(data.panels) == 1 else None
    frame = Frame(order, data.kinds, series, scale, width,
                  (PITCH + 8.0 * (len(series) - 1)) * len(order), data.scale == "ratio", data.bars,
                  label=label)
    drawn = [[_panel(data, frame, at, k == 0) for k, at in enumerate(line)] for line in lines]
    titled = 2 if any(panel.about for panel in data.panels) else 1
    return sheet.chart(in_lines(drawn, 34 + line_height(SMALL) * titled), data.title,
                       _notes(data, scale), labels)


def _turned(data: Dots) -> Dots:
    """The inputs of a single variant as rows."""
    bounds = {panel.bound for panel in data.panels}
    bound = bounds.pop() if len(bounds) == 1 else None
    return replace(
        data,
        panels=(Panel(data.rows[0].name, bound=bound),),
        rows=tuple(Row(panel.title, role=data.rows[0].role) for panel in data.panels),
        cells=(tuple(of_panel[0] for of_panel in data.cells),),
    )


def _panel(data: Dots, frame: Frame, at: int, first: bool) -> View:
    of = data.panels[at]
    told = [{"name": row.name, "kind": data.kind(k, place), **_value(value).told()}
            for k, row in enumerate(data.rows)
            for place, value in enumerate(data.cells[at][k])]
    title = alt.TitleParams(of.title, subtitle=of.about, dx=0, limit=frame.width + GAP - 4)
    return panel(frame, told, title, first, of.bound)


def _value(value: Value | None) -> Value:
    return Value(absence=NOT_MEASURED) if value is None else value


def _scale(data: Dots) -> Scale:
    values = [_value(value) for panel in data.cells for row in panel for value in row]
    bounds = [panel.bound for panel in data.panels if panel.bound is not None]
    return scale_of(data.scale, values, bounds, data.unit)


def _label(data: Dots) -> str:
    label = with_log(data.value_label, data.scale)
    if data.scale == "ratio" and label.startswith("speed-up"):
        return f"slower \u2190 {label} \u2192 faster"
    return label


def _notes(data: Dots, scale: Scale, clouds: bool = False) -> list[str]:
    """What the axis, lines and colours mean, in sentences."""
    notes = [f"Across: {_label(data)}."] if len(data.panels) > 1 else []
    if any(panel.bound is not None and scale.holds(panel.bound) for panel in data.panels):
        notes.append(f"Red line: {data.bound_label}.")
    if data.scale == "ratio":
        notes.append(ALIKE_NOTE)
    if clouds:
        notes.append(f"A dot for each {data.noun}, a stroke for their geometric mean.")
    elif any(v.low < v.high for panel in data.cells for row in panel for v in row if v):
        notes.append(INTERVALS)
    return [*notes, *data.notes]


# --- a cloud for each variant --------------------------------------------------------------------


def _clouds(data: Dots) -> Drawn:
    """A row for each variant: a faint dot for each input, a stroke for their mean, and the names of
    the inputs with the least and the largest value."""
    order = spaced([(row.name, row.group) for row in data.rows])
    labels, scale = label_width(order), _scale(data)
    width = WIDTH - 2 * MARGIN - labels - EDGE
    inner = Scale(scale.value(-0.12), scale.value(1.12), scale.log) if scale.low else scale
    told = [{"name": row.name, "kind": data.kind(k, place), data.noun: of.title,
             **_value(data.cells[at][k][place]).told()}
            for at, of in enumerate(data.panels) for k, row in enumerate(data.rows)
            for place in range(len(data.series))]
    bounds = {of.bound for of in data.panels}
    frame = Frame(order, data.kinds, data.series, inner, width,
                  (PITCH + 12.0 * (len(data.series) - 1)) * len(order), data.scale == "ratio",
                  label=_label(data), faint=True)
    there = values_of(told, "value")
    drawn = panel(frame, told, alt.TitleParams(""), True,
                  bounds.pop() if len(bounds) == 1 else None)
    ends = [{**found[end], "label": found[end][data.noun], "end": end} for found in _by_row(there)
            for end in (0, -1)]
    means = [{"name": f[0]["name"], "kind": f[0]["kind"],
              "value": numerics.geometric_mean([row["value"] for row in f])}
             for f in _by_row(there)]
    place: dict[str, Any] = {"x": alt.X("value:Q"), "y": alt.Y("name:N")}
    if len(data.series) > 1:
        place["yOffset"] = alt.YOffset("kind:N")
    looks: dict[int, dict[str, Any]] = {0: {"align": "right", "dx": -8},
                                        -1: {"align": "left", "dx": 8}}
    names = [base([row for row in ends if row["end"] == end]).mark_text(
        fontSize=TINY, limit=110, color=ink("muted"), **look,
    ).encode(text=alt.Text("label:N"), **place) for end, look in looks.items()]
    strokes = base(means).mark_tick(thickness=3, size=15)
    strokes = strokes.encode(color=alt.Color("kind:N"), **place)
    return sheet.chart(layered(drawn, strokes, *names), data.title,
                       _notes(data, scale, clouds=True), labels)


def _by_row(there: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The values of each row and series, from the least to the largest."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in there:
        found.setdefault((row["name"], row["kind"]), []).append(row)
    return [sorted(rows, key=lambda row: row["value"]) for rows in found.values()]


# --- charts ---------------------------------------------------------------------------------------


def bars(chart: Chart) -> Drawn:
    """Bars of linear quantities; dots of ratios, of shares and of what is on a log axis."""
    return dots(as_dots(chart))


def as_dots(chart: Chart) -> Dots:
    """The rows of a chart: its series, with a panel for each category, or its categories."""
    limits: Sequence[float | None] = chart.limits or [None] * len(chart.categories)
    prefix = "" if isinstance(chart.categories[0], str) else f"{chart.category_label} "
    names = [f"{prefix}{_text(category)}" for category in chart.categories]
    places = range(len(names))
    if chart.rows_are_series and len(chart.series) > 1:
        abouts = chart.abouts or ("",) * len(names)
        panels = tuple(Panel(*each) for each in zip(names, abouts, limits, strict=True))
        rows = tuple(Row(series.name, series.group, series.role) for series in chart.series)
        cells: Cells = tuple(tuple((one.values[at],) for one in chart.series) for at in places)
        series: tuple[str, ...] = ("",)
    else:
        panels = (Panel("", bound=limits[0] if len(set(limits)) == 1 else None),)
        rows = tuple(Row(name, role=chart.series[0].role) for name in names)
        cells = (tuple(tuple(one.values[at] for one in chart.series) for at in places),)
        series = tuple(one.name for one in chart.series)
    return Dots(
        title=chart.title,
        panels=panels,
        rows=rows,
        cells=cells,
        series=series,
        scale=chart.scale,
        value_label=chart.value_label,
        unit="%" if chart.kind == "percent" else "",
        bound_label=chart.limit_label,
        bars=chart.scale == "linear" and chart.kind != "percent",
        noun=chart.category_label,
        notes=chart.notes,
    )


def _text(category: str | float) -> str:
    return category if isinstance(category, str) else f"{category:g}"

"""Values of variants on inputs: a panel for each input, a row for each variant, a dot each.

Where there are more rows than one panel can show they are folded into several side by side; where
there are more inputs than a page can show, a row has a faint dot for each of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memwall.analysis import numerics
from memwall.figures.panels import (
    GAP,
    NOT_MEASURED,
    PITCH,
    Chart,
    Frame,
    Looks,
    Scale,
    Value,
    axis,
    chunks,
    colour_of,
    dot_rows,
    label_width,
    legend,
    panel_head,
    ratio_ground,
    ratio_scale,
    scale_from_zero,
    scale_of_powers,
    with_log,
)
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
    shortened,
    text_width,
)

MOST_ROWS = 14  # of a panel
MANY_PANELS = 12  # more inputs are drawn as clouds, or, of few variants, as rows
FEW_PANELS = 3
NARROWEST = 112.0  # pixels of a panel
GROUP = 19.0  # pixels of the heading of a group
TIGHT = 21.0  # pixels from one row to the next, of one series
FOOT = 30.0  # pixels of an axis with its numbers


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

    `scale` is "ratio" (log, around 1, with the band of what is alike), "linear" (from zero) or
    "log". `bound_label` names the vertical line of the panels. With `bars` (linear only) a bar
    stands for each value. `noun` is what a panel is.
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
    heading: str = ""
    bars: bool = False
    noun: str = "matrix"


def dots(data: Dots) -> str:
    """The figure as SVG."""
    return draw_dots(data).svg(data.title)


def draw_dots(data: Dots) -> Sheet:
    """The sheet of `dots`, for those who look at what is on it."""
    if len(data.panels) > MANY_PANELS:
        if len(data.rows) > 1:
            return _clouds(data)
        data = _turned(data)
    if len(data.rows) > MOST_ROWS and len(data.panels) <= FEW_PANELS:
        return _folded(data)
    return _grid(data)


def _turned(data: Dots) -> Dots:
    """The inputs of a single variant as rows."""
    bound = _one_bound(data)
    return replace(
        data,
        panels=(Panel(data.rows[0].name, bound=bound),),
        rows=tuple(Row(panel.title, role=data.rows[0].role) for panel in data.panels),
        cells=(tuple(of_panel[0] for of_panel in data.cells),),
        bound_label=data.bound_label if bound is not None else "",
    )


# --- a panel for each input ----------------------------------------------------------------------


def _grid(data: Dots) -> Sheet:
    """Panels in lines; a line of panels for at most so many rows."""
    labels = _label_width(data.rows)
    room = WIDTH - MARGIN - labels
    lines = chunks(list(range(len(data.panels))), int((room + GAP) // (NARROWEST + GAP)))
    parts = _parts(data.rows)
    broadest = len(lines[0])
    width = (room - GAP * (broadest - 1)) / broadest
    scale = _scale(data)
    sheet, top = Sheet(4000), _opened(data, scale)
    _legend(sheet, data, scale)
    for line in lines:
        for part in parts:
            rows = [data.rows[row] for row in part]
            top += _head_height([data.panels[at] for at in line], rows)
            places, bottom = _row_places(sheet, rows, labels, top, _pitch(data))
            for place, at in enumerate(line):
                left = labels + place * (width + GAP)
                panel = data.panels[at]
                panel_head(sheet, left, top, width, panel.title, panel.about)
                frame = Frame(scale.on(left, left + width), top, bottom)
                _panel(sheet, data, frame, panel, at, part, places)
            top = bottom + FOOT
    return _closed(sheet, data, (labels + WIDTH - MARGIN) / 2, top)


def _parts(rows: Sequence[Row]) -> list[list[int]]:
    """Rows that stand together: as many whole groups as there is room for."""
    groups: list[list[int]] = []
    for i, row in enumerate(rows):
        if groups and rows[groups[-1][0]].group == row.group:
            groups[-1].append(i)
        else:
            groups.append([i])
    groups = [list(part) for group in groups for part in chunks(group, MOST_ROWS)]
    count = -(-len(rows) // MOST_ROWS)
    parts: list[list[int]] = [[]]
    for group in groups:
        full = len(parts[-1]) + len(group) > MOST_ROWS
        even = len(parts[-1]) + len(group) / 2 > len(rows) / count
        if parts[-1] and (full or (even and len(parts) < count)):
            parts.append([])
        parts[-1] += group
    return parts


def _room_for_names(columns: int) -> float:
    """Of one of so many columns side by side."""
    return (WIDTH - 2 * MARGIN + GAP) / columns * 0.52


def _folded(data: Dots) -> Sheet:
    """Few panels of many rows: each in columns side by side, with names of its own."""
    columns = min(4, max(2, -(-len(data.rows) // MOST_ROWS)))
    longest = max(text_width(row.name, SMALL, mono=True) for row in data.rows)
    while columns > 2 and longest > _room_for_names(columns):
        columns -= 1
    per_column = max(-(-len(data.rows) // columns), 1)
    parts = chunks(list(range(len(data.rows))), per_column)
    outer = (WIDTH - 2 * MARGIN + GAP) / len(parts)
    most = _room_for_names(len(parts))
    rows = [replace(r, name=shortened(r.name, most, SMALL)) for r in data.rows]
    widest = max(text_width(row.name, SMALL, mono=True) for row in rows)
    scale = _scale(data)
    sheet, top = Sheet(4000), _opened(data, scale)
    _legend(sheet, data, scale)
    for at, panel in enumerate(data.panels):
        if panel.title:
            top += _head_height([panel], [])
            panel_head(sheet, MARGIN, top, WIDTH, panel.title, panel.about)
        top += GROUP if any(_headed([rows[row] for row in part]) for part in parts) else 6
        lowest = top
        for column, part in enumerate(parts):
            names = [rows[row] for row in part]
            labels = MARGIN + column * outer + widest + 12
            places, bottom = _row_places(sheet, names, labels, top, _pitch(data),
                                         MARGIN + column * outer)
            right = MARGIN + (column + 1) * outer - GAP
            frame = Frame(scale.on(labels, right), top, bottom)
            _panel(sheet, data, frame, panel, at, part, places)
            lowest = max(lowest, bottom)
        top = lowest + FOOT
    return _closed(sheet, data, WIDTH / 2, top)


def _panel(
    sheet: Sheet,
    data: Dots,
    frame: Frame,
    panel: Panel,
    at: int,
    part: Sequence[int],
    places: Sequence[float],
) -> None:
    """What is below a title: the ground, the bound, the dots, the axis."""
    scale = frame.scale
    if data.scale == "ratio":
        ratio_ground(sheet, frame)
    if not data.bars:
        for y in places:
            sheet.line([(scale.start, y), (scale.end, y)], ink("grid"), 0.8, over=1.6)
    bound = panel.bound if panel.bound is not None and scale.holds(panel.bound) else None
    frame = replace(frame, bound=bound)
    if bound is not None:
        ends = [(scale.at(bound), frame.top), (scale.at(bound), frame.bottom)]
        sheet.line(ends, ink("limit"), 2, over=2.3)
    cells = [data.cells[at][row] for row in part]
    roles = [data.rows[row].role for row in part]
    dot_rows(sheet, frame, cells, data.series, _pitch(data), Looks(places, roles, data.bars))
    if data.bars:
        sheet.line([(scale.start, frame.top), (scale.start, frame.bottom)], ink("muted"))
    shared = bound if data.unit == "%" and _one_bound(data) is not None else None
    first = [1.0] if data.scale == "ratio" else [] if shared is None else [shared]
    axis(sheet, scale, frame.bottom, first, red=shared)


def _row_places(
    sheet: Sheet, rows: Sequence[Row], right: float, top: float, pitch: float, left: float = MARGIN
) -> tuple[list[float], float]:
    """Writes names and headings of groups; the middle of each row, and where the rows end."""
    places, y = [], top + 4
    groups = [row.group for row in rows]
    headed = _headed(rows)
    for number, row in enumerate(rows):
        if headed and (number == 0 or groups[number - 1] != row.group):
            if number:
                y += GROUP
            sheet.text(left, y - 5, row.group, TINY, ink("muted"), italic=True)
        y += pitch
        places.append(round(y - pitch / 2, 2))
        sheet.text(right - 10, y - pitch / 2 + middle(SMALL), row.name, SMALL, align="right",
                   mono=True)
    return places, y + 4


def _headed(rows: Sequence[Row]) -> bool:
    """Whether groups are named: there are some, and not one for each row."""
    changes = sum(one.group != other.group for one, other in pairwise(rows))
    groups = len({row.group for row in rows})
    return groups > 1 and groups == changes + 1 and groups < 0.7 * len(rows)


# --- a cloud for each variant --------------------------------------------------------------------


def _clouds(data: Dots) -> Sheet:
    """A row for each variant: a faint dot for each input, a strong one for their mean.

    The inputs with the least and the largest value are named.
    """
    labels = _label_width(data.rows)
    pitch = 22.0 * max(1, len(data.series)) + (4 if len(data.series) > 1 else 0)
    scale = _cloud_scale(data, labels)
    sheet, top = Sheet(4000), _opened(data, scale)
    _legend(sheet, data, scale, clouds=True)
    for part in _parts(data.rows):
        rows = [data.rows[row] for row in part]
        top += 8 + (GROUP if _headed(rows) else 0)
        places, bottom = _row_places(sheet, rows, labels, top, pitch)
        frame = Frame(scale, top, bottom)
        if data.scale == "ratio":
            ratio_ground(sheet, frame)
        bound = _one_bound(data)
        if bound is not None and scale.holds(bound):
            ends = [(scale.at(bound), top), (scale.at(bound), bottom)]
            sheet.line(ends, ink("limit"), 2, over=2.1)
        for row, y in zip(part, places, strict=True):
            sheet.line([(labels, y), (WIDTH - MARGIN, y)], ink("grid"), 0.8, over=1.6)
            for place, name in enumerate(data.series):
                at = y + 22 * (place - (len(data.series) - 1) / 2)
                one_hue = len(data.series) == 1
                colour = role_colour(data.rows[row].role) if one_hue else colour_of(name, place)
                _cloud(sheet, data, frame, row, place, at, colour)
        shared = bound if data.unit == "%" else None
        first = [1.0] if data.scale == "ratio" else [] if shared is None else [shared]
        axis(sheet, scale, bottom, first, red=shared)
        sheet.line([(labels, bottom), (WIDTH - MARGIN, bottom)], ink("muted"))
        top = bottom + FOOT
    return _closed(sheet, data, (scale.start + scale.end) / 2, top)


def _cloud(
    sheet: Sheet, data: Dots, frame: Frame, row: int, place: int, y: float, colour: str
) -> None:
    found = _of_row(data, row, place)
    if not found:
        words = {(c[row][place] or Value(absence=NOT_MEASURED)).absence for c in data.cells}
        sheet.text(frame.scale.start + 4, y + middle(TINY), sorted(words)[0], TINY,
                   ink("muted"), italic=True)
        return
    for value, _ in found:
        sheet.mark(frame.scale.at(value), y, "dot", colour, 6.5, faint=True)
    if data.scale != "log":
        mean = numerics.geometric_mean([value for value, _ in found])
        sheet.mark(frame.scale.at(mean), y, "bar", colour, 17)
    for value, name, to_right in ((*found[0], False), (*found[-1], True)):
        x = frame.scale.at(value) + (9 if to_right else -9)
        text = shortened(name, 120, TINY)
        width = text_width(text, TINY)
        left = x if to_right else x - width
        sheet.box(left - 3, y - 7, left + width + 3, y + 7, ink("panel"), over=2.4)
        sheet.text(x, y + middle(TINY), text, TINY, ink("muted"),
                   align="left" if to_right else "right")


def _of_row(data: Dots, row: int, place: int) -> list[tuple[float, str]]:
    """The values of a variant with the names of their inputs, from the least to the largest."""
    return sorted(
        (cell.value, panel.title)
        for cells, panel in zip(data.cells, data.panels, strict=True)
        if (cell := cells[row][place]) is not None and not cell.absence
    )


def _cloud_scale(data: Dots, labels: float) -> Scale:
    """Leaves room for the names at both ends of the clouds."""
    start, end = labels + 4, WIDTH - MARGIN - 4
    values = [v for row in range(len(data.rows)) for s in range(len(data.series))
              for v, _ in _of_row(data, row, s)]
    scale = _scale(data, [Value(v, v, v) for v in values])
    for _ in range(4):
        scale = scale.on(start, end)
        before, after = 0.0, 0.0
        for row in range(len(data.rows)):
            for place in range(len(data.series)):
                if found := _of_row(data, row, place):
                    (least, first), (most, last) = found[0], found[-1]
                    width = text_width(shortened(first, 120, TINY), TINY) + 13
                    before = max(before, labels - (scale.at(least) - width))
                    width = text_width(shortened(last, 120, TINY), TINY) + 13
                    after = max(after, scale.at(most) + width - (WIDTH - MARGIN))
        if before <= 0 and after <= 0:
            break
        start, end = start + before, end - after
    return scale


# --- parts ---------------------------------------------------------------------------------------


def _scale(data: Dots, values: Sequence[Value] | None = None) -> Scale:
    if values is None:
        values = [c for cells in data.cells for row in cells for c in row if c and not c.absence]
    bounds = [panel.bound for panel in data.panels if panel.bound is not None]
    if data.scale == "ratio":
        reach = max((abs(math.log(v.value)) for v in values if v.value > 0), default=0.0)
        near = [b for b in bounds if b > 0 and abs(math.log(b)) < reach + 0.1]
        return ratio_scale([*values, *(Value(b, b, b) for b in near)])
    if data.scale == "log":
        return scale_of_powers([v.value for v in values])
    most = max((v.value for v in values), default=0.0)
    tops = [v.high for v in values if math.isfinite(v.high) and v.high <= 1.4 * most]
    near = [b for b in bounds if b < 3 * most or data.unit == "%"]
    return scale_from_zero([most, *tops, *near])


def _one_bound(data: Dots) -> float | None:
    """The bound, if it is the same in all panels."""
    bounds = {panel.bound for panel in data.panels}
    return bounds.pop() if len(bounds) == 1 else None


def _pitch(data: Dots) -> float:
    many = len(data.series)
    return TIGHT if many == 1 else PITCH if many == 2 else 9.0 * many + 4


def _label_width(rows: Sequence[Row]) -> float:
    return label_width([row.name for row in rows], mono=True)


def _opened(data: Dots, scale: Scale) -> float:
    """Where the first line of panels begins: below the legend, if there is one."""
    return 30.0 if _has_legend(data, scale) or len(data.panels) > MANY_PANELS else 4.0


def _has_legend(data: Dots, scale: Scale) -> bool:
    shown = len(data.series) > 1 or data.heading or data.scale == "ratio"
    bound = data.bound_label and _is_bounded(data, scale)
    return bool(shown or bound or len({row.role for row in data.rows}) > 1)


def _is_bounded(data: Dots, scale: Scale) -> bool:
    """Whether the bound is on the axis of any panel."""
    return any(panel.bound is not None and scale.holds(panel.bound) for panel in data.panels)


def _legend(sheet: Sheet, data: Dots, scale: Scale, clouds: bool = False) -> None:
    if not (_has_legend(data, scale) or clouds):
        return
    bounded = _is_bounded(data, scale)
    if clouds:
        bounded = bounded and _one_bound(data) is not None
    roles = [role for role in ROLES if role in {row.role for row in data.rows}]
    names = data.series if len(data.series) > 1 else tuple(roles) if len(roles) > 1 else ()
    heading = data.heading
    if clouds and not heading:
        mean = "" if data.scale == "log" else ", a stroke for their geometric mean"
        sheet.text(MARGIN, 20, f"A dot for each {data.noun}{mean}.", SMALL, ink("muted"))
    legend(sheet, names, heading, data.scale == "ratio", data.bound_label if bounded else "",
           data.bars)


def _head_height(panels: Sequence[Panel], rows: Sequence[Row]) -> float:
    titles = any(panel.title for panel in panels)
    about = any(panel.about for panel in panels)
    height = (line_height(SMALL) + 6 if titles else 0) + (line_height(SMALL) if about else 0) + 8
    return max(height, GROUP if _headed(rows) else 0)


def _closed(sheet: Sheet, data: Dots, centre: float, top: float) -> Sheet:
    """Writes what the axes mean and cuts the sheet off below."""
    label = with_log(data.value_label, data.scale)
    if data.scale == "ratio" and label.startswith("speed-up"):
        label = f"slower  ←  {label}  →  faster"
    if data.value_label:
        sheet.text(centre, top + 8, shortened(label, WIDTH - 2 * MARGIN, BODY), SMALL,
                   align="center")
        top += 20
    sheet.crop(top)
    return sheet


# --- charts ---------------------------------------------------------------------------------------


def bars(chart: Chart) -> str:
    """Bars of linear quantities; dots of ratios, of shares and of what is on a log axis."""
    return dots(as_dots(chart))


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
        cells: Cells = tuple(
            tuple((series.values[at],) for series in chart.series) for at in count)
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


def _text(category: str | float) -> str:
    return category if isinstance(category, str) else f"{category:g}"

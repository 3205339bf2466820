"""Values over numbers: lines with direct labels, and the roofline."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memwall.figures.panels import (
    ALIKE,
    ALIKE_WORDS,
    Chart,
    Scale,
    Value,
    colour_of,
    scale_from_zero,
    scale_of_powers,
    scale_of_ratios,
    shape_of,
    ticks,
    with_log,
    written,
)
from memwall.figures.sheet import (
    MARGIN,
    ROLES,
    SERIES,
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
from memwall.record import notation

LABELLED = 14  # lines that are named at their ends; more have a legend
TALL = 330.0  # pixels of an axis
MARKS = ("dot", "square", "triangle", "diamond", "ring", "hollow")
LONGEST_NAME = 190.0
EARLY = 90.0  # pixels before the right end: a line that ends there is named where it ends
Point = tuple[float, float]
MODELLED = " (model)"  # ends the name of a line that goes on where a measured one ends


@dataclass(frozen=True)
class Line:
    """A line: points in the order of `x`, with intervals; what was computed is dotted.

    `slot` is its colour unless its name is a role (`fp32`, `fp64`).
    """

    name: str
    points: tuple[tuple[float, Value], ...]
    slot: int = 0
    modelled: bool = False  # computed; its name ends with MODELLED if it goes on a measured one


@dataclass(frozen=True)
class Mark:
    """A place on the axis of numbers: a band where it was measured, a dashed line where told."""

    name: str
    at: float
    low: float | None = None
    high: float | None = None
    slot: int | None = None


@dataclass(frozen=True)
class Lines:
    """`scale` is that of the values: "linear" (from zero), "log" or "ratio" (log, around 1).

    `named` are the numbers that are written below the axis; none: round ones. `limits` are what a
    bound allows at some numbers.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    log_x: bool = False
    scale: str = "linear"
    named: tuple[float, ...] = ()
    limits: tuple[tuple[float, float], ...] = ()
    limit_label: str = ""
    places: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class CeilingLine:
    """What a machine can do at best: a bandwidth in byte/s, or a rate in flop/s."""

    name: str
    rate: float
    moves_bytes: bool


@dataclass(frozen=True)
class Spot:
    """A variant on an input: flops per byte, and flop/s with their interval. `role` as in `Row`."""

    name: str
    intensity: float
    rate: Value
    role: str = "ours"


@dataclass(frozen=True)
class Roofline:
    """Rates over intensities, below slopes (bandwidths) and roofs (rates)."""

    title: str
    ceilings: tuple[CeilingLine, ...]
    spots: tuple[Spot, ...]


def lines(data: Lines) -> str:
    """The figure as SVG."""
    return draw_lines(data).svg(data.title)


def roofline(data: Roofline) -> str:
    """The figure as SVG."""
    return draw_roofline(data).svg(data.title)


# --- lines ---------------------------------------------------------------------------------------


def draw_lines(data: Lines) -> Sheet:
    """The sheet of `lines`, for those who look at what is on it."""
    direct = len(data.lines) <= LABELLED
    names = [line.name for line in data.lines] + ([data.limit_label] if data.limits else [])
    names = [shortened(name, LONGEST_NAME, SMALL) for name in names]
    beside = max(text_width(n, SMALL) for n in names) + 26 if direct else 10.0
    values = _values(data)
    yscale = _value_scale(data, values)
    top = 34.0 + (0 if direct else _legend_height(data))
    rows = _place_rows(data)
    top += line_height(TINY) * (1 + max(rows, default=-1))
    bottom = top + TALL
    yscale = yscale.on(bottom, top)
    yticks = _value_ticks(yscale, data.scale)
    left = MARGIN + max(text_width(written(v), TINY) for v in yticks or [0]) + 10
    right = WIDTH - MARGIN - beside
    xs = [x for line in data.lines for x, _ in line.points]
    xscale = _number_scale(xs, data).on(left + 6, right)
    sheet = Sheet(bottom + 48)
    label = with_log(data.y_label, data.scale)
    sheet.text(MARGIN, 16, shortened(label, 0.8 * WIDTH, SMALL), SMALL)
    _ground(sheet, data, yscale, yticks, left, right)
    _numbers(sheet, data, xscale, bottom, xs)
    _draw_places(sheet, data, xscale, top, bottom)
    for line in data.lines:
        _draw_line(sheet, line, xscale, yscale)
    if data.limits:
        points = [(xscale.at(x), yscale.at(y)) for x, y in data.limits]
        sheet.line(points, ink("limit"), 2)
    if direct:
        _name_ends(sheet, data, names, xscale, yscale, right, top, bottom)
    else:
        _name_above(sheet, data)
    return sheet


def _values(data: Lines) -> list[Value]:
    return [value for line in data.lines for _, value in line.points]


def _value_scale(data: Lines, values: Sequence[Value]) -> Scale:
    limits = [limit for _, limit in data.limits]
    middles = [value.value for value in values]
    ends = [end for v in values for end in (v.low, v.high) if math.isfinite(end)]
    if data.scale == "ratio":
        return scale_of_ratios([*middles, *limits], ends)
    if data.scale == "log":
        return scale_of_powers([*middles, *limits])
    most = max(middles, default=1.0)
    return scale_from_zero([most, *limits, *(end for end in ends if end <= 1.4 * most)])


def _number_scale(xs: Sequence[float], data: Lines) -> Scale:
    """The axis of numbers ends at the first and the last, and has room for places told."""
    xs = [*xs, *(place.at for place in data.places)]
    low, high = min(xs, default=1.0), max(xs, default=2.0)
    if low == high:
        low, high = (low / 2, high * 2) if data.log_x and low > 0 else (low - 1, high + 1)
    return Scale(steady(low), steady(high), 0, 1, log=data.log_x and low > 0)


def _value_ticks(scale: Scale, kind: str) -> list[float]:
    """Numbers beside a vertical axis: they need room in height, not in width."""
    across = Scale(scale.low, scale.high, 0, abs(scale.end - scale.start), scale.log)
    return ticks(across, [1.0] if kind == "ratio" else [], gap=12)


def _ground(
    sheet: Sheet, data: Lines, yscale: Scale, yticks: Sequence[float], left: float, right: float
) -> None:
    if data.scale == "ratio":
        high, low = yscale.at(ALIKE[1]), yscale.at(ALIKE[0])
        sheet.box(left, high, right, low, ink("alike"))
        x = WIDTH - MARGIN - text_width(ALIKE_WORDS, SMALL)
        sheet.text(x, 16, ALIKE_WORDS, SMALL)
        sheet.box(x - 30, 6, x - 6, 19, ink("alike"))
    for value in yticks:
        y = yscale.at(value)
        one = data.scale == "ratio" and value == 1
        ends = [(left, y), (right, y)]
        sheet.line(ends, ink("muted" if one else "grid"), 1, over=1.6)
        sheet.text(left - 6, y + middle(TINY), written(value), TINY, align="right")


def bytes_written(value: float) -> str:
    """The size of a tick: 64 KiB."""
    return re.sub(r"\.0+(?= )", "", notation.size(value))


def _numbers(
    sheet: Sheet, data: Lines, xscale: Scale, bottom: float, xs: Sequence[float]
) -> None:
    """The axis of numbers."""
    sheet.line([(xscale.start - 6, bottom), (xscale.end, bottom)], ink("muted"))
    words = bytes_written if data.x_label == "bytes" else written
    free = xscale.start - WIDTH
    for value in sorted({*data.named} & {*xs}) if data.named else ticks(xscale, gap=14):
        x, text = xscale.at(value), words(value)
        half = max(text_width(text, TINY) / 2 + 4, 13)
        if x - half >= free:
            sheet.line([(x, bottom), (x, bottom + 4)], ink("muted"))
            sheet.text(x, bottom + 17, text, TINY, align="center")
            free = x + half
    scale = " (log scale)" if xscale.log and not data.named else ""
    centre = (xscale.start + xscale.end) / 2
    sheet.text(centre, bottom + 37, data.x_label + scale, SMALL, align="center")


def _draw_line(sheet: Sheet, line: Line, xscale: Scale, yscale: Scale) -> None:
    colour = colour_of(line.name, line.slot)
    places = [(xscale.at(x), yscale.at(v.value)) for x, v in line.points]
    if line.modelled:
        sheet.line(places, colour, 1.6, dashes=(2, 3))
        return
    spread = [(x, v) for x, v in line.points if v.low < v.high]
    if len(spread) > 1:
        upper = [(xscale.at(x), yscale.at(v.high)) for x, v in spread]
        lower = [(xscale.at(x), yscale.at(v.low)) for x, v in reversed(spread)]
        sheet.area([*upper, *lower], colour, 0.16)
    sheet.line(places, colour, 1.8, over=3)
    for x, y in places:
        sheet.mark(x, y, _mark_of(line), colour, 7.0)


def _mark_of(line: Line) -> str:
    """Colours come round again with other markers."""
    if line.name in ROLES:
        return shape_of(line.name, line.slot)
    return MARKS[line.slot // len(SERIES) % len(MARKS)]


def _name_ends(
    sheet: Sheet,
    data: Lines,
    names: Sequence[str],
    xscale: Scale,
    yscale: Scale,
    right: float,
    top: float,
    bottom: float,
) -> None:
    """Names beside the last points; a thin line leads from a name that had to move."""
    ends: list[tuple[Point, str, str]] = []
    early: list[tuple[Point, str, str]] = []
    goes_on = {line.name[: -len(MODELLED)] for line in data.lines if line.name.endswith(MODELLED)}
    for line, name in zip(data.lines, names, strict=False):
        if line.points and line.name not in goes_on:
            x, value = line.points[-1]
            end = (xscale.at(x), yscale.at(value.value))
            kept = early if end[0] < right - EARLY else ends
            kept.append((end, name, colour_of(line.name, line.slot)))
    if data.limits:
        x, limit = data.limits[-1]
        ends.append(((xscale.at(x), yscale.at(limit)), names[-1], ink("limit")))
    heights = apart([end[1] for end, _, _ in ends], 15.0, top, bottom + 4)
    above = apart([end[1] - 9 for end, _, _ in early], 15.0, top, bottom - 8)
    for ((x, _), name, colour), height in zip(early, above, strict=True):
        right_end = x + 11 + text_width(name, SMALL)
        sheet.box(x + 8, height - 10, right_end, height + 4, ink("panel"), 0.8, over=3.2)
        sheet.text(x + 9, height, name, SMALL, colour)
    for ((x, y), name, colour), height in zip(ends, heights, strict=True):
        if abs(height - y) > 3 or x < right - 1:
            path = [(x + 5, y), (right + 6, y), (right + 16, height)] if x >= right - 1 else [
                (x + 5, y), (right + 6, height), (right + 16, height)]
            sheet.line(path, colour, 0.8)
        sheet.text(right + 19, height + middle(SMALL), name, SMALL, colour)


def _legend_height(data: Lines) -> float:
    return 8 + line_height(SMALL) * -(-(len(data.lines) + bool(data.limits)) // 4)


def _name_above(sheet: Sheet, data: Lines) -> None:
    """A legend in four columns."""
    entries = [(line.name, colour_of(line.name, line.slot), _mark_of(line)) for line in data.lines]
    if data.limits:
        entries.append((data.limit_label, ink("limit"), ""))
    per_column = -(-len(entries) // 4)
    for number, (name, colour, mark) in enumerate(entries):
        x = MARGIN + number // per_column * (WIDTH - 2 * MARGIN) / 4
        y = 36 + number % per_column * line_height(SMALL)
        sheet.line([(x, y - 4), (x + 20, y - 4)], colour, 1.8)
        if mark:
            sheet.mark(x + 10, y - 4, mark, colour, 7.0)
        sheet.text(x + 26, y, shortened(name, 215, SMALL), SMALL)


def _draw_places(sheet: Sheet, data: Lines, xscale: Scale, top: float, bottom: float) -> None:
    """Bands for measured places, dashed lines for those that others told; names at the top."""
    for place in data.places:
        colour = ink("muted") if place.slot is None else series_colour(place.slot)
        x = xscale.at(place.at)
        if place.low is not None and place.high is not None:
            sheet.box(xscale.at(place.low), top, xscale.at(place.high), bottom, colour, 0.2)
            sheet.line([(x, top), (x, bottom)], colour, 1)
        else:
            sheet.line([(x, top), (x, bottom)], colour, 1.4, dashes=(5, 4))
    height = line_height(TINY)
    rows = _place_rows(data)
    for place, row in zip(data.places, rows, strict=True):
        x = xscale.at(place.at)
        colour = ink("muted") if place.slot is None else series_colour(place.slot)
        baseline = top - 5 - height * (max(rows) - row)
        sheet.line([(x, baseline - 9), (x, top)], colour, 1)
        sheet.text(x + 5, baseline, place.name, TINY, colour)


def _place_rows(data: Lines) -> list[int]:
    """The line of text above the axis in which the name of each place stands: names go right of
    their place, one in a line, the leftmost highest."""
    order = sorted(range(len(data.places)), key=lambda i: (data.places[i].at, i))
    rows = [0] * len(order)
    for number, i in enumerate(order):
        rows[i] = number
    return rows


def apart(wanted: Sequence[float], distance: float, top: float, bottom: float) -> list[float]:
    """Heights as near to those wanted as can be, none nearer to another than told."""
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    groups: list[list[int]] = []
    for i in order:
        groups.append([i])
        while len(groups) > 1 and (
            _begin(groups[-2], wanted, distance, top, bottom) + len(groups[-2]) * distance
            > _begin(groups[-1], wanted, distance, top, bottom)
        ):
            last = groups.pop()
            groups[-1] += last
    heights = [0.0] * len(wanted)
    for group in groups:
        begin = _begin(group, wanted, distance, top, bottom)
        for k, i in enumerate(group):
            heights[i] = round(begin + k * distance, 2)
    return heights


def _begin(
    group: Sequence[int], wanted: Sequence[float], distance: float, top: float, bottom: float
) -> float:
    """Where the first of some labels stands that touch each other."""
    length = (len(group) - 1) * distance
    centre = sum(wanted[i] for i in group) / len(group)
    return max(top, min(centre - length / 2, bottom - length))


# --- roofline ------------------------------------------------------------------------------------


def draw_roofline(data: Roofline) -> Sheet:
    """The sheet of `roofline`, for those who look at what is on it."""
    slopes = [c for c in data.ceilings if c.moves_bytes]
    roofs = [c for c in data.ceilings if not c.moves_bytes]
    spots = [s for s in data.spots if not s.rate.absence]
    names = [shortened(spot.name, LONGEST_NAME, SMALL) for spot in spots]
    xs = [spot.intensity for spot in spots]
    xs += [roof.rate / slope.rate for slope in slopes for roof in roofs]
    low, high = min(xs, default=0.1), max(xs, default=10.0)
    xscale = Scale(steady(low / 2.2), steady(high * (4 if roofs else 3)), 0, 1, log=True)
    tops = [roof.rate for roof in roofs] or [slope.rate * xscale.high for slope in slopes]
    rates = [spot.rate.value for spot in spots] + tops
    yscale = Scale(steady(min(rates) / 2.2), steady(max(rates) * 1.5), 0, 1, log=True)
    top, bottom = 30.0, 30.0 + TALL + 60
    left, right = MARGIN + 52, WIDTH - MARGIN
    xscale, yscale = xscale.on(left, right), yscale.on(bottom, top)
    sheet = Sheet(bottom + 48)
    sheet.text(MARGIN, 16, "rate (GFLOP/s, log scale)", SMALL)
    _decades(sheet, xscale, yscale)
    first = min((xscale.at(spot.intensity) for spot in spots), default=left)
    boxes = _ceilings(sheet, slopes, roofs, xscale, yscale, first)
    _spots(sheet, spots, names, xscale, yscale, boxes)
    return sheet


def _decades(sheet: Sheet, xscale: Scale, yscale: Scale) -> None:
    """Axes with their numbers; rates are written in GFLOP/s."""
    giga = Scale(yscale.low / 1e9, yscale.high / 1e9, 0, abs(yscale.end - yscale.start), True)
    for value in ticks(giga, gap=20):
        y = yscale.at(value * 1e9)
        sheet.line([(xscale.start, y), (xscale.end, y)], ink("grid"), 1, over=1.2)
        sheet.text(xscale.start - 6, y + middle(TINY), written(value), TINY, align="right")
    bottom = yscale.start
    sheet.line([(xscale.start, bottom), (xscale.end, bottom)], ink("muted"))
    for value in ticks(xscale, gap=14):
        x = xscale.at(value)
        sheet.line([(x, bottom), (x, bottom + 4)], ink("muted"))
        sheet.text(x, bottom + 17, written(value), TINY, align="center")
    centre = (xscale.start + xscale.end) / 2
    sheet.text(centre, bottom + 37, "flops per byte of compulsory traffic (log scale)", SMALL,
               align="center")


def _ceilings(
    sheet: Sheet,
    slopes: Sequence[CeilingLine],
    roofs: Sequence[CeilingLine],
    xscale: Scale,
    yscale: Scale,
    first: float,
) -> list[tuple[float, float, float, float]]:
    """Lines with their names; the boxes that the names take. A roof's name stands where the roof
    begins if there is room before the `first` point, else at its end."""
    boxes = []
    steepest = max((slope.rate for slope in slopes), default=0.0)
    highest = max((roof.rate for roof in roofs), default=math.inf)
    for slope in slopes:
        begin = max(xscale.low, yscale.low / slope.rate)
        end = min(xscale.high, highest / slope.rate)
        places = [(xscale.at(x), yscale.at(x * slope.rate)) for x in (begin, end)]
        sheet.line(places, ink("limit"), 2 if slope.rate == steepest else 1.2)
    for roof in roofs:
        begin = roof.rate / steepest if steepest else xscale.low
        y = yscale.at(roof.rate)
        sheet.line([(xscale.at(begin), y), (xscale.end, y)], ink("limit"),
                   2 if roof.rate == highest else 1.2)
    heights = apart([yscale.at(roof.rate) - 7 for roof in roofs], 15, yscale.end, yscale.start)
    for roof, y in zip(roofs, heights, strict=True):
        text = f"{roof.name}, {_rate(roof.rate)} GFLOP/s"
        width = text_width(text, SMALL)
        early = xscale.at(roof.rate / steepest) + 12 + width if steepest else math.inf
        end = early if early < first - 12 else xscale.end
        sheet.text(end, y, text, SMALL, ink("limit"), align="right")
        boxes.append((end - width, y - 11, end, y + 10))
    for slope, at in zip(slopes, _along(slopes, xscale, yscale, highest), strict=True):
        boxes.append(_name_slope(sheet, slope, at, xscale, yscale))
    return boxes


def _along(
    slopes: Sequence[CeilingLine], xscale: Scale, yscale: Scale, highest: float
) -> list[float]:
    """Where the names of slopes stand: one after the other, from the left."""
    found = []
    for number, slope in enumerate(slopes):
        begin = max(xscale.low, yscale.low / slope.rate)
        end = min(xscale.high, highest / slope.rate)
        share = 0.05 + 0.3 * number
        found.append(math.exp(math.log(begin) + share * (math.log(end) - math.log(begin))))
    return found


def _name_slope(
    sheet: Sheet, slope: CeilingLine, at: float, xscale: Scale, yscale: Scale
) -> tuple[float, float, float, float]:
    """A name left above a slope, where no point can be: its end is at the line."""
    text = f"{slope.name}, {_rate(slope.rate)} GB/s"
    width = text_width(text, SMALL)
    x, y = xscale.at(at), yscale.at(at * slope.rate)
    angle = math.degrees(math.atan2(_slope_of(xscale, yscale), 1))
    sheet.text(x - 5 * math.sin(math.radians(angle)), y - 5 * math.cos(math.radians(angle)), text,
               SMALL, ink("limit"), angle=round(angle, 1))
    along, up = width * math.cos(math.radians(angle)), width * math.sin(math.radians(angle))
    return (x - 12, y - up - 16, x + along, y)


def _slope_of(xscale: Scale, yscale: Scale) -> float:
    """Pixels up for each pixel to the right, of a line of one bandwidth."""
    right = (xscale.end - xscale.start) / math.log(xscale.high / xscale.low)
    up = abs(yscale.end - yscale.start) / math.log(yscale.high / yscale.low)
    return up / right


def _spots(
    sheet: Sheet,
    spots: Sequence[Spot],
    names: Sequence[str],
    xscale: Scale,
    yscale: Scale,
    boxes: Sequence[tuple[float, float, float, float]],
) -> None:
    """Points with intervals; names to the right, moved up or down where they would overlap."""
    columns: dict[float, list[int]] = {}
    for i in sorted(range(len(spots)), key=lambda i: spots[i].intensity):
        x = xscale.at(spots[i].intensity)
        near = next((c for c in columns if abs(c - x) < 40), None)
        columns.setdefault(x if near is None else near, []).append(i)
    for members in columns.values():
        right = max(xscale.at(spots[i].intensity) for i in members)
        wanted = [yscale.at(spots[i].rate.value) for i in members]
        limits = (yscale.end + 10, yscale.start - 10)
        heights = apart(wanted, 15.0, *limits)
        for _ in members:
            boxes_hit = [
                [b for b in boxes if b[0] < right + 17 + text_width(names[i], SMALL)
                 and right + 17 < b[2] and b[1] < h + 7 and h - 7 < b[3]]
                for i, h in zip(members, heights, strict=True)
            ]
            if not any(boxes_hit):
                break
            wanted = [max(w, hit[0][3] + 8) if hit else w
                      for w, hit in zip(wanted, boxes_hit, strict=True)]
            heights = apart(wanted, 15.0, *limits)
        for i, height in zip(members, heights, strict=True):
            spot = spots[i]
            x, y = xscale.at(spot.intensity), yscale.at(spot.rate.value)
            colour = role_colour(spot.role)
            if spot.rate.low < spot.rate.high:
                ends = [(x, yscale.at(end)) for end in (spot.rate.low, spot.rate.high)]
                sheet.line(ends, colour, 1.8, over=3)
            if abs(height - y) > 3 or right - x > 1:
                sheet.line([(x + 5, y), (right + 14, height)], colour, 0.8)
            sheet.mark(x, y, "dot", colour, 8.5)
            width = text_width(names[i], SMALL)
            sheet.box(right + 15, height - 7, right + 19 + width, height + 7, ink("panel"),
                      over=3.5)
            sheet.text(right + 17, height + middle(SMALL), names[i], SMALL, colour)


def _rate(value: float) -> str:
    return f"{value / 1e9:,.3g}" if value < 1e12 else f"{value / 1e9:,.0f}"


# --- charts ---------------------------------------------------------------------------------------

LOG_NUMBERS = 8.0  # numbers that span more are drawn on a log axis


def lines_of(chart: Chart) -> str:
    """A line for each series over numbers."""
    return lines(as_lines(chart))


def as_lines(chart: Chart) -> Lines:
    """The points of a chart; numbers that span more than a factor of 8 are on a log axis."""
    xs = [float(category) for category in chart.categories]
    wide = bool(xs) and min(xs) > 0 and max(xs) > LOG_NUMBERS * min(xs)
    found = tuple(
        Line(
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
    places = [Mark(f"{name} {at:g}", at) for name, at in chart.marks]
    places += [Mark(b.label, b.place, b.low, b.high, b.slot) for b in chart.bands]
    return Lines(
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

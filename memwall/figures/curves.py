"""Values over numbers: lines with their names at their ends, and the roofline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from memwall.analysis import numerics
from memwall.figures import sheet
from memwall.figures.panels import (
    ALIKE_NOTE,
    MANY,
    NAMES,
    SHAPES,
    Chart,
    Scale,
    Series,
    Value,
    base,
    colour_of,
    kinds,
    scale_of,
    scale_of_powers,
    ticks,
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
    ink,
    layered,
    series_colour,
    steady,
    text_width,
)

TALL = 330.0  # pixels of an axis
LEFT = 58.0  # pixels of the numbers beside it
LOG_NUMBERS = 8.0  # numbers that span more are drawn on a log axis
MODELLED = " (model)"  # ends the name of a line that goes on where a measured one ends
APART = 15.0  # pixels from one name to the next
LEADER = 16.0  # pixels from the last number to the names


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
    notes: tuple[str, ...] = ()


# --- lines ---------------------------------------------------------------------------------------


def lines(chart: Chart) -> Drawn:
    """A line for each series over numbers; numbers that span more than a factor of 8 are on a log
    axis."""
    names = [s.name for s in chart.series] + ([chart.limit_label] if chart.limits else [])
    beside = max(text_width(name, SMALL) for name in names) + 24
    width = WIDTH - 2 * MARGIN - LEFT - beside - 6
    x, y = _number_scale(chart), _value_scale(chart)
    layers: list[Any] = _ground(chart, y, width)
    layers += _places(chart, x)
    for series in chart.series:
        layers += _line(chart, series)
    if chart.limits:
        told = [{"x": at, "value": limit}
                for at, limit in zip(_numbers(chart), chart.limits, strict=True)]
        layers.append(base(told).mark_line(color=ink("limit"), strokeWidth=2).encode(
            x=alt.X("x:Q"), y=alt.Y("value:Q")))
    layers += _ends(chart, x, y, width)
    axes = {"x": _x_axis(chart, x, width - LEADER), "y": _y_axis(chart, y)}
    drawn = layered(base([]).mark_point().encode(**axes), *layers, width=width, height=TALL)
    notes = [f"Upwards: {with_log(chart.value_label, chart.scale)}."]
    if chart.scale == "ratio":
        notes.append(ALIKE_NOTE)
    if any(value.low < value.high for one in chart.series for value in one.values):
        notes.append(f"Bands round lines: {100 * numerics.LEVEL:.1f} % intervals.")
    if any(one.modelled for one in chart.series):
        notes.append("Dotted: computed, not measured.")
    return sheet.chart(drawn, chart.title, [*notes, *chart.notes], LEFT - 14)


def _numbers(chart: Chart) -> list[float]:
    return [float(category) for category in chart.categories]


def _value_scale(chart: Chart) -> Scale:
    values = [value for series in chart.series for value in series.values]
    limits = chart.limits or ()
    return scale_of(chart.scale, [*values, *(Value(v, v, v) for v in limits)])


def _number_scale(chart: Chart) -> Scale:
    """The axis of numbers ends at the first and the last, and has room for places told."""
    numbers = _numbers(chart)
    wide = min(numbers) > 0 and max(numbers) > LOG_NUMBERS * min(numbers)
    log = (chart.log_categories or (wide and chart.named_categories)) and min(numbers) > 0
    numbers += [at for _, at in chart.marks] + [band.place for band in chart.bands]
    low, high = min(numbers), max(numbers)
    if low == high:
        low, high = (low / 2, high * 2) if log else (low - 1, high + 1)
    return Scale(steady(low), steady(high), log)


def _x_axis(chart: Chart, scale: Scale, width: float) -> alt.X:
    numbers = sorted(set(_numbers(chart)))
    values = _thinned(numbers, scale, width) if chart.named_categories else ticks(scale, width)
    told = scale.log and not chart.named_categories
    words: dict[str, Any] = {"labelExpr": BYTES} if chart.category_label == "bytes" else {}
    axis = alt.Axis(values=values, tickCount=MANY, format=",.6~g", grid=False,
                    titlePadding=8, **words)
    title = chart.category_label + (" (log scale)" if told else "")
    return alt.X("x:Q", title=title, scale=scale.altair(width), axis=axis)


#: The size of a tick in the words of powers of two.
BYTES = ("datum.value >= 1073741824 ? datum.value / 1073741824 + ' GiB'"
         " : datum.value >= 1048576 ? format(datum.value / 1048576, '.4~g') + ' MiB'"
         " : datum.value >= 1024 ? format(datum.value / 1024, '.4~g') + ' KiB'"
         " : datum.value + ' B'")


def _thinned(numbers: Sequence[float], scale: Scale, width: float) -> list[float]:
    """As many of the numbers as have room beside each other, from the left."""
    found: list[float] = []
    free = -math.inf
    for number in numbers:
        place, half = width * scale.share(number), text_width(f"{number:,.6g}", TINY) / 2 + 8
        if place - half >= free:
            found.append(number)
            free = place + half
    return found


def _y_axis(chart: Chart, scale: Scale) -> alt.Y:
    values = ticks(scale, TALL, [1.0] if chart.scale == "ratio" else [], upright=True)
    axis = alt.Axis(values=values, tickCount=MANY, format=",.6~g", grid=True, domain=False,
                    ticks=False, labelFontSize=TINY, labelPadding=6)
    return alt.Y("value:Q", title=None, scale=scale.altair(), axis=axis)


def _ground(chart: Chart, scale: Scale, width: float) -> list[Any]:
    """The band of what is alike, and the line at 1."""
    if chart.scale != "ratio":
        return []
    ends = {"x": alt.value(0), "x2": alt.value(width)}
    band = base([{"value": 0.95, "to": 1.05}]).mark_rect(color=ink("alike"), opacity=1)
    one = base([{"value": 1}]).mark_rule(color=ink("muted"))
    return [band.encode(y=alt.Y("value:Q"), y2=alt.Y2("to"), **ends),
            one.encode(y=alt.Y("value:Q"), **ends)]


def _line(chart: Chart, series: Series) -> list[Any]:
    """The line, its points, and the band of their intervals."""
    told = values_of([{"name": series.name, "x": at, **value.told()}
                      for at, value in zip(_numbers(chart), series.values, strict=True)], "value")
    colour = colour_of(series.name, series.slot)
    at: dict[str, Any] = {"x": alt.X("x:Q"), "y": alt.Y("value:Q")}
    line = base(told).mark_line(color=colour, strokeWidth=1.8).encode(**at)
    if series.modelled:
        return [line.mark_line(color=colour, strokeWidth=1.6, strokeDash=[2, 3])]
    shape = SHAPES[chart.series.index(series) % len(SHAPES)]
    points = base(told).mark_point(color=colour, filled=True, opacity=1, size=44, shape=shape,
                                   tooltip={"content": "data"}).encode(**at)
    spread = values_of(told, "low")
    band = base(spread).mark_area(color=colour, opacity=0.16, clip=True).encode(
        x=alt.X("x:Q"), y=alt.Y("low:Q"), y2=alt.Y2("high"))
    return [band, line, points] if any(r["low"] < r["high"] for r in spread) else [line, points]


def _ends(chart: Chart, x: Scale, y: Scale, width: float) -> list[Any]:
    """Names to the right of last points, moved so that none lies on another; a thin line leads from
    each point to its name."""
    goes_on = {s.name[: -len(MODELLED)] for s in chart.series if s.name.endswith(MODELLED)}
    last = [(s.name, colour_of(s.name, s.slot),
             [(at, v.value) for at, v in zip(_numbers(chart), s.values, strict=True)
              if not v.absence][-1])
            for s in chart.series if s.name not in goes_on]
    if chart.limits:
        last.append((chart.limit_label, ink("limit"), (x.high, chart.limits[-1])))
    heights = apart([TALL * (1 - y.share(value)) for _, _, (_, value) in last], APART, 0, TALL)
    told = [{"x": at, "value": value, "to": y.value(1 - height / TALL), "name": name,
             "colour": colour}
            for (name, colour, (at, value)), height in zip(last, heights, strict=True)]
    colour = alt.Color("colour:N", scale=None)
    return [base(told).mark_rule(strokeWidth=0.9, strokeDash=[1, 2]).encode(
                x=alt.X("x:Q"), x2=alt.value(width), y=alt.Y("value:Q"), y2=alt.Y2("to"),
                color=colour),
            base(told).mark_text(align="left", dx=4).encode(
                x=alt.value(width), y=alt.Y("to:Q"), text=alt.Text("name:N"), color=colour)]


def _places(chart: Chart, x: Scale) -> list[Any]:
    """Bands for measured places, dashed lines for those that others told, named above from the
    left, the leftmost highest."""
    marks = [(label, at, at, at, ink("muted")) for label, at in chart.marks]
    bands = [(b.label, b.place, b.low, b.high, series_colour(b.slot)) for b in chart.bands]
    layers: list[Any] = []
    places = sorted(marks + bands, key=lambda place: place[1])
    for row, (label, at, low, high, colour) in enumerate(places):
        above = -8 - 14 * (len(places) - 1 - row)
        told = base([{"x": at, "low": max(low, x.low), "high": min(high, x.high), "name": label}])
        if low < high:
            layers.append(told.mark_rect(color=colour, opacity=0.18).encode(
                x=alt.X("low:Q"), x2=alt.X2("high"), y=alt.value(0), y2=alt.value(TALL)))
        rule = told.mark_rule(color=colour, strokeDash=[1, 0] if low < high else [5, 4])
        layers.append(rule.encode(x=alt.X("x:Q"), y=alt.value(above - 5), y2=alt.value(TALL)))
        right = x.share(at) > 0.7
        layers.append(told.mark_text(
            align="right" if right else "left", dx=-5 if right else 5, fontSize=TINY, color=colour,
        ).encode(x=alt.X("x:Q"), y=alt.value(above), text=alt.Text("name:N")))
    return layers


def apart(wanted: Sequence[float], distance: float, top: float, bottom: float) -> list[float]:
    """Heights as near to those wanted as can be, none nearer to another than told."""
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    groups: list[list[int]] = []

    def begin(group: Sequence[int]) -> float:
        """Where the first of some labels stands that touch each other."""
        length = (len(group) - 1) * distance
        centre = sum(wanted[i] for i in group) / len(group)
        return max(top, min(centre - length / 2, bottom - length))

    for i in order:
        groups.append([i])
        while len(groups) > 1 and (begin(groups[-2]) + len(groups[-2]) * distance
                                   > begin(groups[-1])):
            last = groups.pop()
            groups[-1] += last
    heights = [0.0] * len(wanted)
    for group in groups:
        for k, i in enumerate(group):
            heights[i] = round(begin(group) + k * distance, 2)
    return heights


# --- roofline ------------------------------------------------------------------------------------


def roofline(data: Roofline) -> Drawn:
    """Rates below what the machine allows, each named to its right."""
    slopes = [c for c in data.ceilings if c.moves_bytes]
    roofs = [c for c in data.ceilings if not c.moves_bytes]
    spots = [spot for spot in data.spots if not spot.rate.absence]
    ridges = [roof.rate / slope.rate for slope in slopes for roof in roofs]
    xs = [*(spot.intensity for spot in spots), *ridges]
    x = Scale(steady(min(xs, default=0.1) / 2.2), steady(max(xs, default=10) * 1.4), log=True)
    tops = [roof.rate for roof in roofs] or [slope.rate * x.high for slope in slopes]
    y = scale_of_powers([v / 1e9 for v in [*(spot.rate.value for spot in spots), *tops]])
    beside = max((text_width(spot.name, SMALL) for spot in spots), default=0) + 24
    width = WIDTH - 2 * MARGIN - LEFT - beside - 6
    layers: list[Any] = []
    for ceiling in data.ceilings:
        layers += _ceiling(ceiling, slopes, roofs, x, y)
    layers += _spots(spots, x, y)
    axes = {
        "x": alt.X("x:Q", title="flops per byte of compulsory traffic (log scale)",
                   scale=x.altair(), axis=alt.Axis(
                       values=ticks(x, width), tickCount=MANY, format=",.6~g", grid=False,
                       titlePadding=8)),
        "y": alt.Y("value:Q", title=None, scale=y.altair(), axis=alt.Axis(
            values=ticks(y, TALL, upright=True), tickCount=MANY, format=",.6~g", domain=False,
            ticks=False, labelFontSize=TINY, labelPadding=6)),
    }
    drawn = layered(base([]).mark_point().encode(**axes), *layers, width=width, height=TALL)
    notes = ["Upwards: rate (GFLOP/s, log scale).", "Red: what the machine allows.", *data.notes]
    return sheet.chart(drawn, data.title, notes, LEFT - 14)


def _ceiling(ceiling: CeilingLine, slopes: Sequence[CeilingLine], roofs: Sequence[CeilingLine],
             x: Scale, y: Scale) -> list[Any]:
    """A slope up to the highest roof, or a roof from the steepest slope; its name along it."""
    rate, highest = ceiling.rate / 1e9, max((r.rate for r in roofs), default=math.inf) / 1e9
    steepest = max((s.rate for s in slopes), default=0) / 1e9
    if ceiling.moves_bytes:
        begin, end = max(x.low, y.low / rate), min(x.high, highest / rate)
        ends = [(begin, begin * rate), (end, end * rate)]
        name = {"x": begin, "value": begin * rate, "name": f"{ceiling.name}, {rate:,.4g} GB/s"}
    else:
        begin = rate / steepest if steepest else x.low
        ends = [(begin, rate), (x.high, rate)]
        name = {"x": begin, "value": rate, "name": f"{ceiling.name}, {rate:,.5g} GFLOP/s"}
    line = base([{"x": a, "value": b} for a, b in ends]).mark_line(color=ink("limit"))
    dx, dy = (14, -2) if ceiling.moves_bytes else (4, -9)
    text = base([name]).mark_text(align="left", dx=dx, dy=dy, color=ink("limit"))
    at: dict[str, Any] = {"x": alt.X("x:Q"), "y": alt.Y("value:Q")}
    return [line.encode(**at), text.encode(text=alt.Text("name:N"), **at)]


def _spots(spots: Sequence[Spot], x: Scale, y: Scale) -> list[Any]:
    """Points with intervals, and their names at the right edge."""
    heights = apart([TALL * (1 - y.share(s.rate.value / 1e9)) for s in spots], APART, 0, TALL)
    told = [{"name": s.name, "kind": NAMES.get(s.role, s.role), "x": s.intensity,
             "value": s.rate.value / 1e9,
             "low": s.rate.low / 1e9, "high": s.rate.high / 1e9, "samples": s.rate.samples,
             "edge": x.high, "height": y.value(1 - height / TALL)}
            for s, height in zip(spots, heights, strict=True)]
    roles = tuple(role for role in ROLES if role in {spot.role for spot in spots})
    colours = kinds(roles)
    of = base(told)
    leader = of.mark_rule(color=ink("muted"), strokeWidth=0.8).encode(
        x=alt.X("x:Q"), x2=alt.X2("edge"), y=alt.Y("value:Q"), y2=alt.Y2("height"))
    return [
        leader,
        of.mark_rule(strokeWidth=1.6).encode(x=alt.X("x:Q"), y=alt.Y("low:Q"), y2=alt.Y2("high"),
                                             color=colours["color"]),
        of.mark_point(filled=True, size=58, opacity=1, tooltip={"content": "data"}).encode(
            x=alt.X("x:Q"), y=alt.Y("value:Q"), **colours),
        of.mark_text(align="left", dx=7).encode(
            x=alt.X("edge:Q"), y=alt.Y("height:Q"), text=alt.Text("name:N"),
            color=colours["color"]),
    ]

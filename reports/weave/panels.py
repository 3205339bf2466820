"""What panels of dots have in common: rows, axes, intervals, legends."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from weave import scales, theme
from weave.scales import ALIKE, Scale
from weave.sheet import (
    BODY,
    MARGIN,
    SMALL,
    TINY,
    WIDTH,
    Sheet,
    line_height,
    middle,
    shortened,
    steady,
    text_width,
)

NAMES = {"fp32": "single precision", "fp64": "double precision", "library": "libraries"}
SHAPES = ("dot", "square", "triangle")
SHAPE_OF = {"fp32": "dot", "fp64": "square"}
GROUP_ROLES = ("ours", "library", "reference")  # of rows, whose markers are all dots
PITCH = 24.0  # pixels from one row to the next
GAP = 20.0  # pixels between panels side by side
ALIKE_WORDS = "alike (within 5 %)"
NOT_MEASURED = "not measured"
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
    return scales.ratios([v.value for v in there], [e for v in there for e in (v.low, v.high)])


def ratio_ground(sheet: Sheet, frame: Frame) -> None:
    """The band of what is alike, and the line at 1."""
    scale = frame.scale
    sheet.box(scale.at(ALIKE[0]), frame.top, scale.at(ALIKE[1]), frame.bottom, theme.ink("alike"))
    sheet.line([(scale.at(1), frame.top), (scale.at(1), frame.bottom)], theme.ink("muted"))


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
            colour = theme.role(looks.roles[row]) if one_hue else colour_of(name, place)
            if looks.bars:
                thick = min(12.0, step - 1) if step else 12.0
                end = frame.scale.at(value.value)
                sheet.box(frame.scale.start, at - thick / 2, end, at + thick / 2, colour, over=2.2)
                interval(sheet, frame.scale, at, value.low, value.high, theme.ink("ink"))
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
    text = shortened(word, right - left - 4, TINY)
    start = one if one + text_width(text, TINY, italic=True) <= right else left + 4
    end = start + text_width(text, TINY, italic=True)
    sheet.box(start - 3, y - 7, min(end + 3, right), y + 7, theme.ink("panel"), over=2.5)
    sheet.text(start, y + middle(TINY), text, TINY, theme.ink("muted"), italic=True)


def colour_of(name: str, place: int) -> str:
    """The colour of a series: that of its role, or else of its place."""
    return theme.role(name) if name in theme.ROLES else theme.series(place)


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
    sheet.line([(scale.start, y), (scale.end, y)], theme.ink("muted"))
    shown = scales.ticks(scale, first)
    for value in shown:
        x = scale.at(value)
        sheet.line([(x, y), (x, y + 4)], theme.ink("muted"))
        text = scales.written(value)
        colour = theme.ink("limit") if value == red else ""
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
        sheet.box(x - 30, 10, x - 6, 23, theme.ink("alike"))
        x -= 48
    if bound:
        x -= text_width(bound, SMALL)
        sheet.text(x, 20, bound, SMALL, theme.ink("limit"))
        sheet.line([(x - 9, 9), (x - 9, 24)], theme.ink("limit"), 2)
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
            shape = "dot" if name in GROUP_ROLES else shape_of(name, place)
            sheet.mark(x - 17, 16, shape, colour, 8.5)
        x -= 44
    if heading:
        sheet.text(MARGIN, 21, heading, BODY + 1, bold=True)


def chunks(items: Sequence[T], most: int) -> list[Sequence[T]]:
    """Pieces that are as even as can be, none longer than told."""
    count = -(-len(items) // most)
    size = -(-len(items) // count)
    return [items[begin : begin + size] for begin in range(0, len(items), size)]

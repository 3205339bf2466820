"""Figures of rows: `claims` on machines, one comparison `across` machines, a `timeline` of lanes.

Machines are rows, claims and inputs are columns, colours are roles.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from memwall.figures.panels import (
    GAP,
    PITCH,
    Frame,
    Scale,
    Value,
    axis,
    chunks,
    dot_rows,
    interval,
    label_width,
    legend,
    panel_head,
    ratio_ground,
    ratio_scale,
    row_names,
    scale_around,
    scale_of_powers,
    scale_of_ratios,
    ticks,
    written,
)
from memwall.figures.sheet import (
    BODY,
    MARGIN,
    SMALL,
    TINY,
    WIDTH,
    Sheet,
    ink,
    line_height,
    middle,
    series_colour,
    shortened,
    text_width,
    wrapped,
)
from memwall.record import notation
from memwall.record.results import Span

# What a claim came to on one machine. HOLDS and FAILS are for targets of our own.
REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
DIRECTION_ONLY, OUT_OF_DATE = "direction only", "out of date"
HOLDS, FAILS = "holds", "fails"
MARKER_OF = {
    REPRODUCED: "dot",
    HOLDS: "dot",
    NOT_REPRODUCED: "cross",
    FAILS: "cross",
    UNDECIDED: "ring",
    DIRECTION_ONLY: "diamond",
    OUT_OF_DATE: "hollow",
}
TITLE_LINES = 4  # of a claim
LEAST_AXIS = 88.0  # pixels of the axis of a claim
GUIDED = 5  # so many machines are told apart without lines across
CLAIM_COLUMNS = 5  # panels of claims side by side
INPUT_COLUMNS = 7  # panels of inputs side by side


@dataclass(frozen=True)
class ClaimCell:
    """What one claim came to on one machine.

    `verdict` is a key of `MARKER_OF`. `number` is what is written to the right, as it is ("1.13",
    "0.96  4 of 5"). Without a finite `value` only `number` is written, small and italic: a reason.
    """

    verdict: str = ""
    number: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class ClaimColumn:
    """A claim: its short title (up to four lines are made of it), and a cell for each machine.

    `holds` is where the claim holds; an end that is None is open: `(1.2, None)` is "at least 1.2".
    `scale` is "ratio" (log, with a line at 1), "log" or "linear"; `unit` ends the last number below
    the axis ("%", "TFLOP/s"). A cell that is None stays blank: it cannot be asked there.
    """

    title: str
    cells: tuple[ClaimCell | None, ...]
    holds: tuple[float | None, float | None] | None = None
    scale: str = "ratio"
    unit: str = ""


@dataclass(frozen=True)
class Claims:
    """Claims on machines: one column a claim, one row a machine, the lead machine first and bold.

    `heading` is written above the columns, if there is one; `title` is for screen readers.
    """

    title: str
    machines: tuple[str, ...]
    columns: tuple[ClaimColumn, ...]
    heading: str = ""


@dataclass(frozen=True)
class Column:
    """An input: its name, and a line below it (rows, nonzeros a row)."""

    name: str
    about: str = ""


@dataclass(frozen=True)
class Block:
    """A comparison: its heading, and `cells[machine][column][series]`.

    A cell that is None was not measured; a `Value` with an absence is that word.
    """

    heading: str
    cells: tuple[tuple[tuple[Value | None, ...], ...], ...]


@dataclass(frozen=True)
class Across:
    """Ratios on machines: columns are inputs, rows are machines, blocks are comparisons.

    `machines` has the lead machine first; `series` are roles (`fp32`, `fp64`) or names.
    `value_label` is what 1 refers to: "speed-up over accumulator".
    """

    title: str
    machines: tuple[str, ...]
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    series: tuple[str, ...] = ("fp32", "fp64")
    value_label: str = "speed-up"
    heading: str = ""


def claims(data: Claims) -> str:
    """A dot plot of claims as SVG: interval, verdict as marker, the band where the claim holds."""
    return draw_claims(data).svg(data.title)


def across(data: Across) -> str:
    """Small multiples as SVG: the same ratios on every machine, input by input."""
    return draw_across(data).svg(data.title)


# --- claims --------------------------------------------------------------------------------------


def draw_claims(data: Claims) -> Sheet:
    """The sheet of `claims`, for those who look at what is on it."""
    labels = label_width(data.machines, mono=False)
    lines, width = _claim_lines(data.columns, labels)
    titles = [[wrapped(c.title, width, TITLE_LINES, SMALL) for c in line] for line in lines]
    heads = [max(t.count("\n") + 1 for t in line) * line_height(SMALL) + 10 for line in titles]
    body = PITCH * len(data.machines) + 8
    top = 34.0
    sheet = Sheet(top + sum(head + body + 44 for head in heads))
    _claims_legend(sheet, data)
    for line, names, head in zip(lines, titles, heads, strict=True):
        top += head
        row_names(sheet, data.machines, labels, top + 4)
        for index, (column, name) in enumerate(zip(line, names, strict=True)):
            left = labels + index * (width + GAP)
            baseline = top - 10 - name.count("\n") * line_height(SMALL)
            sheet.text(left, baseline, name, SMALL)
            _claim_panel(sheet, column, left, left + width, top, top + body)
        top += body + 44
    sheet.crop(top - 16)
    return sheet


def _claim_lines(
    columns: Sequence[ClaimColumn], labels: float
) -> tuple[list[Sequence[ClaimColumn]], float]:
    """Columns in lines, each with the same width: as many as leave room for axes and numbers."""
    numbers = max(
        (text_width(cell.number, SMALL) for column in columns for cell in column.cells
         if cell is not None and math.isfinite(cell.value)), default=0.0)
    for most in range(CLAIM_COLUMNS, 0, -1):
        lines = chunks(columns, most)
        width = (WIDTH - MARGIN - labels - GAP * (len(lines[0]) - 1) - MARGIN) / len(lines[0])
        if width - numbers >= LEAST_AXIS:
            break
    return lines, width


def _claim_panel(
    sheet: Sheet, column: ClaimColumn, left: float, right: float, top: float, bottom: float
) -> None:
    cells = [cell for cell in column.cells if cell is not None]
    drawn = [cell for cell in cells if math.isfinite(cell.value)]
    if not drawn:
        _claim_words(sheet, column, left, right, top)
        return
    numbers = max(text_width(cell.number, SMALL) for cell in drawn)
    scale = _claim_scale(column, drawn).on(left, right - numbers - 10)
    edges = [edge for edge in column.holds or () if edge is not None]
    if column.holds is not None:
        low, high = column.holds
        begin = scale.start if low is None else scale.at(low)
        sheet.box(begin, top, scale.end if high is None else scale.at(high), bottom,
                  ink("holds"))
    if column.scale == "ratio":
        sheet.line([(scale.at(1), top), (scale.at(1), bottom)], ink("muted"))
    axis(sheet, scale, bottom, [*([1.0] if column.scale == "ratio" else []), *edges], column.unit)
    for row, cell in enumerate(column.cells):
        y = top + 4 + PITCH * (row + 0.5)
        if len(column.cells) > GUIDED:
            sheet.line([(scale.start, y), (scale.end, y)], ink("grid"), 0.8, over=1.6)
        if cell is None or not math.isfinite(cell.value):
            continue
        interval(sheet, scale, y, cell.low, cell.high, ink("ink"))
        marker = MARKER_OF[cell.verdict]
        sheet.mark(scale.at(cell.value), y, marker, ink("ink"), 9.5)
        sheet.text(right, y + middle(SMALL), cell.number, SMALL, align="right")
    _claim_words(sheet, column, left, right, top)


def _claim_words(
    sheet: Sheet, column: ClaimColumn, left: float, right: float, top: float
) -> None:
    """Reasons in the place of numbers."""
    for row, cell in enumerate(column.cells):
        if cell is not None and not math.isfinite(cell.value):
            y = top + 4 + PITCH * (row + 0.5) + middle(TINY)
            words = shortened(cell.number or cell.verdict, right - left, TINY)
            sheet.text(right, y, words, TINY, ink("muted"), align="right", italic=True)


def _claim_scale(column: ClaimColumn, cells: Sequence[ClaimCell]) -> Scale:
    edges = [edge for edge in column.holds or () if edge is not None]
    values = [cell.value for cell in cells]
    ends = [end for cell in cells for end in (cell.low, cell.high) if math.isfinite(end)]
    if column.scale == "ratio":
        return scale_of_ratios([*values, *(e * f for e in edges for f in (0.97, 1.03))], ends,
                             centred=False)
    if column.scale == "log":
        return scale_of_powers([*values, *ends, *edges])
    return scale_around([*values, *ends, *edges])


def _claims_legend(sheet: Sheet, data: Claims) -> None:
    """What the markers mean that are there, from the right."""
    found = {c.verdict for column in data.columns for c in column.cells
             if c is not None and math.isfinite(c.value)}
    words: dict[str, list[str]] = {}
    for verdict, marker in MARKER_OF.items():
        if verdict in found:
            words.setdefault(marker, []).append(verdict)
    x = WIDTH - MARGIN
    if any(column.holds for column in data.columns):
        x -= text_width("claim holds here", SMALL)
        sheet.text(x, 20, "claim holds here", SMALL)
        sheet.box(x - 30, 10, x - 6, 23, ink("holds"))
        x -= 48
    for marker in reversed(words):
        text = ", ".join(words[marker])
        x -= text_width(text, SMALL)
        sheet.text(x, 20, text, SMALL)
        sheet.mark(x - 11, 16, marker, ink("ink"), 9.5)
        x -= 34
    if data.heading:
        sheet.text(MARGIN, 21, data.heading, BODY + 1, bold=True)


# --- across --------------------------------------------------------------------------------------


def draw_across(data: Across) -> Sheet:
    """The sheet of `across`, for those who look at what is on it."""
    labels = label_width(data.machines, mono=False)
    lines = chunks(list(range(len(data.columns))), INPUT_COLUMNS)
    broadest = max(len(line) for line in lines)
    width = (WIDTH - MARGIN - labels - GAP * (broadest - 1) - MARGIN) / broadest
    pitch = PITCH + (4 if len(data.series) > 1 else 0)
    body = pitch * len(data.machines) + 8
    head = 2 * line_height(SMALL) + 8
    values = [v for b in data.blocks for row in b.cells for cell in row for v in cell if v]
    scale = ratio_scale(values)
    sheet = Sheet(100 + len(lines) * len(data.blocks) * (head + body + 40))
    top = 34.0
    legend(sheet, data.series, data.heading, alike=True)
    for block in data.blocks:
        for number, line in enumerate(lines):
            top += head + (16 if number == 0 and block.heading else 0)
            if number == 0 and block.heading:
                sheet.text(MARGIN, top - head - 2, block.heading, BODY, italic=True,
                           colour=ink("muted"))
            row_names(sheet, data.machines, labels, top + 4, pitch)
            for place, index in enumerate(line):
                left = labels + place * (width + GAP)
                column = data.columns[index]
                panel_head(sheet, left, top, width, column.name, column.about)
                cells = [row[index] for row in block.cells]
                frame = Frame(scale.on(left, left + width), top, top + body)
                ratio_ground(sheet, frame)
                axis(sheet, frame.scale, frame.bottom, [1.0])
                dot_rows(sheet, frame, cells, data.series, pitch)
            top += body + 24
    centre = (labels + WIDTH - MARGIN) / 2
    sheet.text(centre, top + 18, f"slower  ←  {data.value_label} (log scale)  →  faster", SMALL,
               align="center")
    sheet.crop(top + 30)
    return sheet


# --- what a variant did when: lanes with named spans ----------------------------------------------

THICK = 24.0  # pixels of a lane
LEAST = 18.0  # pixels of each span, where several of a lane overlap
BETWEEN = 10.0  # pixels between lanes
NUMBER = re.compile(r"[\s_:#\[(-]*\d+[\])]?$")


@dataclass(frozen=True)
class Timeline:
    """Lanes in the order in which they come first; `heading` is written above, if there is one.

    The name of a span without its number is its kind, such as "copy" of "copy 3".
    """

    title: str
    spans: tuple[Span, ...]
    heading: str = ""


def timeline(data: Timeline) -> str:
    """The figure as SVG."""
    return draw_timeline(data).svg(data.title)


def kind_of(name: str) -> str:
    """What a span is, without which one."""
    return NUMBER.sub("", name) or name


def draw_timeline(data: Timeline) -> Sheet:
    """The sheet of `timeline`, for those who look at what is on it."""
    lanes = list(dict.fromkeys(span.lane for span in data.spans))
    kinds = list(dict.fromkeys(kind_of(span.name) for span in data.spans))
    slots = {kind: slot for slot, kind in enumerate(kinds)}
    last = max(span.end for span in data.spans)
    unit, name = notation.time_unit([last / 3])
    labels = MARGIN + max(text_width(lane, BODY) for lane in lanes) + 12
    scale = Scale(0, last / unit * 1.005, labels, WIDTH - MARGIN - 14)
    depths = {lane: _depths([s for s in data.spans if s.lane == lane]) for lane in lanes}
    thick = {lane: max(THICK, LEAST * found[0][1]) for lane, found in depths.items()}
    top = 34.0
    bottom = top + sum(thick.values()) + BETWEEN * len(lanes) + 6
    sheet = Sheet(bottom + 44)
    _legend(sheet, data, slots)
    for value in ticks(scale, gap=24):
        x = scale.at(value)
        sheet.line([(x, top), (x, bottom)], ink("grid"), 1, over=1)
        sheet.text(x, bottom + 17, written(value), TINY, align="center")
    sheet.line([(scale.start, bottom), (scale.end, bottom)], ink("muted"))
    sheet.text((scale.start + scale.end) / 2, bottom + 36, f"time ({name})", SMALL, align="center")
    y = top
    for lane in lanes:
        begin, height = y + BETWEEN / 2, thick[lane]
        sheet.text(labels - 12, begin + height / 2 + middle(BODY), lane, BODY, align="right")
        across = [(scale.start, begin + height / 2), (scale.end, begin + height / 2)]
        sheet.line(across, ink("grid"), 1, over=1)
        of_lane = [span for span in data.spans if span.lane == lane]
        for span, (depth, count) in zip(of_lane, depths[lane], strict=True):
            part = height / count
            colour = series_colour(slots[kind_of(span.name)])
            _span(sheet, span, scale, unit, begin + part * (depth + 0.5), part - 1, colour)
        y += height + BETWEEN
    return sheet


def _span(
    sheet: Sheet, span: Span, scale: Scale, unit: float, y: float, thick: float, colour: str
) -> None:
    """A bar with as much of its name inside as fits, and a gap to its neighbour."""
    begin, end = scale.at(span.begin / unit), scale.at(span.end / unit)
    gap = 0.6 if end - begin > 3 else 0.0
    sheet.box(begin, y - thick / 2, max(end - gap, begin + 0.8), y + thick / 2, colour, over=2.2)
    number = NUMBER.search(span.name)
    shorter = re.sub(r"\D", "", number[0]) if number else ""
    for text in (span.name, shorter):
        if text and thick >= 13 and text_width(text, TINY, bold=True) + 6 <= end - begin:
            sheet.text((begin + end) / 2, y + middle(TINY), text, TINY, ink("panel"),
                       align="center", bold=True)
            return


def _depths(spans: Sequence[Span]) -> list[tuple[int, int]]:
    """For each span of a lane its place among those that overlap, and how many places there are."""
    free: list[float] = []
    depths = {}
    for i in sorted(range(len(spans)), key=lambda i: (spans[i].begin, spans[i].end)):
        slack = 1e-9 * (spans[i].end - spans[i].begin)
        depth = next((d for d, end in enumerate(free) if end <= spans[i].begin + slack), len(free))
        free[depth : depth + 1] = [spans[i].end]
        depths[i] = depth
    return [(depths[i], len(free)) for i in range(len(spans))]


def _legend(sheet: Sheet, data: Timeline, slots: dict[str, int]) -> None:
    x = WIDTH - MARGIN
    for kind in reversed(slots):
        x -= text_width(kind, SMALL)
        sheet.text(x, 20, kind, SMALL)
        sheet.box(x - 22, 10, x - 6, 22, series_colour(slots[kind]))
        x -= 38
    if data.heading:
        sheet.text(MARGIN, 21, data.heading, BODY + 1, bold=True)

"""Figures of rows: `claims` on machines, one comparison `across` machines, a `timeline` of lanes.

Machines are rows, claims and inputs are columns, colours are roles.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from memwall.figures import sheet
from memwall.figures.panels import (
    ALIKE_NOTE,
    EDGE,
    GAP,
    INTERVALS,
    MANY,
    NOT_MEASURED,
    Frame,
    Scale,
    Value,
    base,
    chunks,
    in_lines,
    label_width,
    names_axis,
    panel,
    rows_of,
    scale_around,
    scale_of,
    scale_of_powers,
    scale_of_ratios,
    ticks,
    value_axis,
)
from memwall.figures.panels import NAMES as WORDS
from memwall.figures.sheet import (
    MARGIN,
    SMALL,
    TINY,
    WIDTH,
    Drawn,
    View,
    ink,
    layered,
    line_height,
    series_colour,
    text_width,
    view,
    wrapped,
)
from memwall.record import notation
from memwall.record.results import Span

# What a claim came to on one machine. HOLDS and FAILS are for targets of our own.
REPRODUCED, NOT_REPRODUCED, UNDECIDED = "reproduced", "not reproduced", "undecided"
DIRECTION_ONLY, OUT_OF_DATE = "direction only", "out of date"
HOLDS, FAILS = "holds", "fails"
CROSS = "M-1,-0.6L-0.6,-1L0,-0.4L0.6,-1L1,-0.6L0.4,0L1,0.6L0.6,1L0,0.4L-0.6,1L-1,0.6L-0.4,0Z"
#: The shape of a verdict, and whether it is filled.
MARKER_OF = {
    REPRODUCED: ("circle", True),
    HOLDS: ("circle", True),
    NOT_REPRODUCED: (CROSS, True),
    FAILS: (CROSS, True),
    UNDECIDED: ("circle", False),
    DIRECTION_ONLY: ("diamond", False),
    OUT_OF_DATE: ("square", False),
}
OPEN_IN_THE_GREEN = "Undecided in the green: too little was measured, or the noise is too large."
PITCH = 22.0  # pixels from one row to the next
CLAIM_COLUMNS = 5  # panels of claims side by side
LEAST_AXIS = 88.0  # pixels of the axis of a claim
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

    @property
    def is_old(self) -> bool:
        """Whether all there is to say is that its numbers are of an older text."""
        return self.verdict == OUT_OF_DATE and not math.isfinite(self.value)


@dataclass(frozen=True)
class ClaimColumn:
    """A claim: its short title, and a cell for each machine.

    `holds` is where the claim holds; an end that is None is open: `(1.2, None)` is "at least 1.2".
    `scale` is "ratio" (log, with a line at 1), "log" or "linear"; `unit` stands after the title. A
    cell that is None cannot be asked there: such a machine has no row, nor has one whose numbers
    are out of date.
    """

    title: str
    cells: tuple[ClaimCell | None, ...]
    holds: tuple[float | None, float | None] | None = None
    scale: str = "ratio"
    unit: str = ""

    @property
    def titled(self) -> str:
        """The title with the unit, unless it tells it; numbers that are shares tell theirs."""
        is_told = self.unit in ("", "%") or self.title.endswith(f" {self.unit}")
        return self.title.replace("`", "") + ("" if is_told else f" ({self.unit})")


@dataclass(frozen=True)
class Claims:
    """Claims on machines: one column a claim, one row a machine, the lead machine first and bold.

    `title` is the question.
    """

    title: str
    machines: tuple[str, ...]
    columns: tuple[ClaimColumn, ...]
    notes: tuple[str, ...] = ()


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

    @property
    def is_measured(self) -> bool:
        """Whether anything of it was measured."""
        return any(value for row in self.cells for cell in row for value in cell)


@dataclass(frozen=True)
class Across:
    """Ratios on machines: columns are inputs, rows are machines, blocks are comparisons.

    `machines` has the lead machine first; `series` are roles (`fp32`, `fp64`) or names. `title` is
    the question, `value_label` what 1 refers to: "speed-up over accumulator".
    """

    title: str
    machines: tuple[str, ...]
    columns: tuple[Column, ...]
    blocks: tuple[Block, ...]
    series: tuple[str, ...] = ("fp32", "fp64")
    value_label: str = "speed-up"
    notes: tuple[str, ...] = ()


# --- claims --------------------------------------------------------------------------------------


def claims(data: Claims) -> Drawn:
    """A panel for each claim: interval, verdict as marker, the band where the claim holds. Claims
    that the same machines were asked stand together; no machine has a row that must stay empty."""
    labels = label_width(data.machines)
    room = WIDTH - 2 * MARGIN - labels - EDGE
    numbers = max((text_width(cell.number, SMALL) for column in data.columns
                   for cell in column.cells if cell and math.isfinite(cell.value)), default=0.0)
    most = next(n for n in range(CLAIM_COLUMNS, 0, -1)
                if n == 1 or (room - GAP * (n - 1)) / n - numbers - 8 >= LEAST_AXIS)
    width = (room - GAP * (most - 1)) / most
    lines = [[_claim(data, column, asked, width, numbers + 8, k == 0)
              for k, column in enumerate(line)]
             for asked, columns in _by_machines(data.columns).items()
             for line in chunks(columns, most) if asked]
    high = max(len(wrapped(c.titled, width, SMALL)) for c in data.columns) * line_height(SMALL)
    notes = ["Green: the claim holds here."] if any(c.holds for c in data.columns) else []
    if any(_is_open_in_the_green(cell, column) for column in data.columns for cell in column.cells):
        notes.append(OPEN_IN_THE_GREEN)
    notes += [INTERVALS, *data.notes]
    return sheet.chart(in_lines(lines, 34 + high), data.title, notes, labels)


def _is_open_in_the_green(cell: ClaimCell | None, column: ClaimColumn) -> bool:
    """Whether something else than the interval leaves a claim undecided."""
    if cell is None or cell.verdict != UNDECIDED or column.holds is None:
        return False
    low, high = column.holds
    return (low is None or cell.low >= low) and (high is None or cell.high <= high)


def _by_machines(columns: Sequence[ClaimColumn]) -> dict[tuple[int, ...], list[ClaimColumn]]:
    """Claims by the machines that they were asked on."""
    found: dict[tuple[int, ...], list[ClaimColumn]] = {}
    for column in columns:
        asked = tuple(k for k, cell in enumerate(column.cells) if cell and not cell.is_old)
        found.setdefault(asked, []).append(column)
    return found


def _claim(data: Claims, column: ClaimColumn, asked: Sequence[int], width: float, numbers: float,
           first: bool) -> View:
    told = [_cell_told(data.machines[k], column.cells[k]) for k in asked]
    scale, edges = _claim_scale(column), [edge for edge in column.holds or () if edge is not None]
    one = [1.0] if column.scale == "ratio" else []
    ground: list[Any] = []
    if column.holds is not None:
        low, high = column.holds
        band = base([{"from": scale.low if low is None else max(low, scale.low),
                      "to": scale.high if high is None else min(high, scale.high)}])
        ends = {"x": alt.X("from:Q"), "x2": alt.X2("to")}
        ground.append(band.mark_rect(color=ink("holds"), opacity=1).encode(**ends))
    if one:
        ground.append(base([{"at": 1}]).mark_rule(color=ink("muted")).encode(x=alt.X("at:Q")))
    rows = alt.Chart()
    layers = [
        rows.mark_rule(strokeWidth=1.6, color=ink("ink")).encode(x=alt.X("low:Q"),
                                                                 x2=alt.X2("high")),
        rows.mark_point(size=62, opacity=1, stroke=ink("ink"), strokeWidth=1.3,
                        tooltip={"content": "data"}).encode(
            x=value_axis(scale, width - numbers, None, [*one, *edges],
                         ",.2~f" if one else ",.6~g"),
            **_verdicts(data)),
        rows.mark_text(align="right").encode(x=alt.value(width), text=alt.Text("number:N")),
    ]
    y = names_axis([data.machines[k] for k in asked], first, bold=data.machines[0])
    title = alt.TitleParams(wrapped(column.titled, width, SMALL), fontWeight="normal", dx=0)
    return layered(*ground, rows_of(layers, told, y=y), width=width,
                   height=PITCH * len(asked), title=view(title))


def _verdicts(data: Claims) -> dict[str, Any]:
    """Shape and face of verdicts, with a legend of those that are there."""
    found = {cell.verdict for column in data.columns for cell in column.cells
             if cell and math.isfinite(cell.value)}
    domain = [verdict for verdict in MARKER_OF if verdict in found]
    shapes, filled = zip(*(MARKER_OF[verdict] for verdict in domain), strict=True)
    faces = [ink("ink" if face else "panel") for face in filled]
    seen = {MARKER_OF[verdict]: verdict for verdict in reversed(domain)}  # each marker once
    legend = alt.Legend(values=[verdict for verdict in domain if verdict in seen.values()])
    return {"shape": alt.Shape("verdict:N", legend=legend,
                               scale=alt.Scale(domain=domain, range=list(shapes))),
            "fill": alt.Fill("verdict:N", legend=legend,
                             scale=alt.Scale(domain=domain, range=faces))}


def _cell_told(machine: str, cell: ClaimCell | None) -> dict[str, Any]:
    assert cell is not None
    words = {"name": machine, "verdict": cell.verdict, "number": cell.number or cell.verdict}
    return words | Value(cell.value, cell.low, cell.high).told() if math.isfinite(cell.value) \
        else words


def _claim_scale(column: ClaimColumn) -> Scale:
    cells = [cell for cell in column.cells if cell and math.isfinite(cell.value)]
    edges = [edge for edge in column.holds or () if edge is not None]
    values = [cell.value for cell in cells]
    ends = [end for cell in cells for end in (cell.low, cell.high) if math.isfinite(end)]
    if column.scale == "ratio":
        return scale_of_ratios([*values, *(e * f for e in edges for f in (0.97, 1.03))], ends,
                               centred=False)
    if column.scale == "log":
        return scale_of_powers([*values, *ends, *edges])
    return scale_around([*values, *ends, *edges])


# --- across --------------------------------------------------------------------------------------


def across(data: Across) -> Drawn:
    """Small multiples: the same ratios on every machine, input by input; a block for each
    comparison, whose inputs and machines are those that it was measured on."""
    labels = label_width(data.machines)
    room = WIDTH - 2 * MARGIN - labels - EDGE
    inputs = {block: [k for k in range(len(data.columns))
                      if any(value for row in block.cells for value in row[k])]
              for block in data.blocks}
    most = min(INPUT_COLUMNS, max(map(len, inputs.values())))
    width = (room - GAP * (most - 1)) / most
    lines = []
    for block in data.blocks:
        asked = [k for k, row in enumerate(block.cells) if any(v for cell in row for v in cell)]
        scale = scale_of("ratio", [v for row in block.cells for c in row for v in c if v])
        height = (PITCH + 6 * (len(data.series) - 1)) * len(asked)
        frame = Frame([data.machines[k] for k in asked], data.series, data.series, scale, width,
                      height, ratio=True, bold=data.machines[0])
        lines += [[_across(data, block, frame, asked, column, k == 0, number == 0)
                   for k, column in enumerate(line)]
                  for number, line in enumerate(chunks(inputs[block], most))]
    notes = [f"Across: slower \u2190 {data.value_label} (log scale) \u2192 faster.", ALIKE_NOTE,
             INTERVALS, *data.notes]
    return sheet.chart(in_lines(lines, 80), data.title, notes, labels)


def _across(data: Across, block: Block, frame: Frame, asked: Sequence[int], column: int,
            first: bool, headed: bool) -> View:
    told = [{"name": data.machines[k], "kind": WORDS.get(name, name),
             **(value or Value(absence=NOT_MEASURED)).told()}
            for k in asked
            for name, value in zip(data.series, block.cells[k][column], strict=True)]
    of = data.columns[column]
    heading = [block.heading if first and headed else ""] if block.heading else []
    title = alt.TitleParams([*heading, of.name], subtitle=of.about, dx=0)
    return panel(frame, told, title, first)


# --- what a variant did when: lanes with named spans ----------------------------------------------

LANE = 30.0  # pixels of a lane
LEAST = 19.0  # pixels of each span, where several of a lane overlap
NUMBER = re.compile(r"[\s_:#\[(-]*\d+[\])]?$")


@dataclass(frozen=True)
class Timeline:
    """Lanes in the order in which they come first; `title` is the question.

    The name of a span without its number is its kind, such as "copy" of "copy 3".
    """

    title: str
    spans: tuple[Span, ...]
    notes: tuple[str, ...] = ()


def kind_of(name: str) -> str:
    """What a span is, without which one."""
    return NUMBER.sub("", name) or name


def timeline(data: Timeline) -> Drawn:
    """A lane for each engine, with what it did when."""
    lanes = list(dict.fromkeys(span.lane for span in data.spans))
    kinds_found = list(dict.fromkeys(kind_of(span.name) for span in data.spans))
    last = max(span.end for span in data.spans)
    unit, name = notation.time_unit([last / 3])
    labels = label_width(lanes)
    width, scale = WIDTH - 2 * MARGIN - labels - EDGE, Scale(0, last / unit * 1.005)
    told, order = [], []
    for lane in lanes:
        of_lane = [span for span in data.spans if span.lane == lane]
        depths = _depths(of_lane)
        order += [lane] + [f"{lane} {HIDDEN * k}" for k in range(1, depths[0][1])]
        told += [_span(span, lane if depth == 0 else f"{lane} {HIDDEN * depth}", unit, scale, width)
                 for span, (depth, _) in zip(of_lane, depths, strict=True)]
    pitch = LANE if len(order) == len(lanes) else LEAST
    y = alt.Y("lane:N", title=None, scale=alt.Scale(domain=order, paddingInner=0.15),
              axis=alt.Axis(ticks=False, domain=False, grid=False, labelPadding=8,
                            labelExpr=f"indexof(datum.label, '{HIDDEN}') < 0 ? datum.label : ''"))
    x = alt.X("begin:Q", title=f"time ({name})", scale=scale.altair(), axis=alt.Axis(
        values=ticks(scale, width), tickCount=MANY, format=",.6~g", grid=True, titlePadding=8))
    colour = alt.Color("kind:N", legend=None, scale=alt.Scale(
        domain=kinds_found, range=[series_colour(k) for k in range(len(kinds_found))]))
    named = [row for row in told if row["label"]]
    drawn = layered(
        base(told).mark_bar(stroke=ink("panel"), strokeWidth=0.6,
                            tooltip={"content": "data"}).encode(
            x=x, x2=alt.X2("end"), y=y, color=colour),
        base(named).mark_text(fontSize=TINY, fontWeight="bold", color=ink("panel")).encode(
            x=alt.X("middle:Q"), y=y, text=alt.Text("label:N")),
        width=width, height=pitch * len(order))
    return sheet.chart(drawn, data.title, data.notes, labels)


HIDDEN = "\u00a0\u00a0"  # marks further rows of a lane, which have no name


def _span(span: Span, lane: str, unit: float, scale: Scale, width: float) -> dict[str, Any]:
    """A bar, and as much of its name as fits into it."""
    begin, end = span.begin / unit, span.end / unit
    room = width * (scale.share(end) - scale.share(begin)) - 6
    number = NUMBER.search(span.name)
    shorter = re.sub(r"\D", "", number[0]) if number else ""
    label = next((text for text in (span.name, shorter)
                  if text and text_width(text, TINY, bold=True) <= room), "")
    return {"name": span.name, "lane": lane, "kind": kind_of(span.name), "begin": begin,
            "end": end, "middle": (begin + end) / 2, "label": label}


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

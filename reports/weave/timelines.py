"""What a variant did when: lanes with named spans."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from weave import formats, scales, theme
from weave.results import Span
from weave.scales import Scale
from weave.sheet import BODY, MARGIN, SMALL, TINY, WIDTH, Sheet, middle, text_width

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
    unit, name = formats.time_unit([last / 3])
    labels = MARGIN + max(text_width(lane, BODY) for lane in lanes) + 12
    scale = Scale(0, last / unit * 1.005, labels, WIDTH - MARGIN - 14)
    depths = {lane: _depths([s for s in data.spans if s.lane == lane]) for lane in lanes}
    thick = {lane: max(THICK, LEAST * found[0][1]) for lane, found in depths.items()}
    top = 34.0
    bottom = top + sum(thick.values()) + BETWEEN * len(lanes) + 6
    sheet = Sheet(bottom + 44)
    _legend(sheet, data, slots)
    for value in scales.ticks(scale, gap=24):
        x = scale.at(value)
        sheet.line([(x, top), (x, bottom)], theme.ink("grid"), 1, over=1)
        sheet.text(x, bottom + 17, scales.written(value), TINY, align="center")
    sheet.line([(scale.start, bottom), (scale.end, bottom)], theme.ink("muted"))
    sheet.text((scale.start + scale.end) / 2, bottom + 36, f"time ({name})", SMALL, align="center")
    y = top
    for lane in lanes:
        begin, height = y + BETWEEN / 2, thick[lane]
        sheet.text(labels - 12, begin + height / 2 + middle(BODY), lane, BODY, align="right")
        across = [(scale.start, begin + height / 2), (scale.end, begin + height / 2)]
        sheet.line(across, theme.ink("grid"), 1, over=1)
        of_lane = [span for span in data.spans if span.lane == lane]
        for span, (depth, count) in zip(of_lane, depths[lane], strict=True):
            part = height / count
            colour = theme.series(slots[kind_of(span.name)])
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
            sheet.text((begin + end) / 2, y + middle(TINY), text, TINY, theme.ink("panel"),
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
        sheet.box(x - 22, 10, x - 6, 22, theme.series(slots[kind]))
        x -= 38
    if data.heading:
        sheet.text(MARGIN, 21, data.heading, BODY + 1, bold=True)

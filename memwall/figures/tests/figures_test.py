"""Figures: steady bytes, both themes, every value in its place or a word for it."""

import math
import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Literal

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.lines import Line2D
from matplotlib.transforms import Bbox

from memwall.figures import curves, dots, drawings, rows
from memwall.figures.curves import CeilingLine, Roofline, Spot
from memwall.figures.dots import Dots, Panel, Row
from memwall.figures.panels import (
    Band,
    Chart,
    Series,
    Value,
    scale_from_zero,
    scale_of_ratios,
    ticks,
)
from memwall.figures.rows import Across, Block, ClaimCell, ClaimColumn, Claims, Column, Timeline
from memwall.figures.sheet import (
    COLOURS,
    DECLARATION,
    INK,
    MONO,
    POINT,
    PROPERTY_OF,
    SANS,
    SERIES,
    WIDTH,
    Sheet,
    ink,
    role_colour,
)
from memwall.record.results import Span


def chart(series: int, categories: int) -> Chart:
    return Chart(
        title="Speed <of> each & all",
        category_label="matrix",
        value_label="speed-up (x)",
        categories=tuple(f"m{k}" for k in range(categories)),
        series=tuple(
            Series(f"v{s}", s, tuple(Value(1 + s / 9, 1, 1.2 + s / 9) for _ in range(categories)))
            for s in range(series)
        ),
        limits=tuple(2.5 for _ in range(categories)),
        limit_label="memory bound (read)",
        kind="factor",
    )


MACHINES = ("lead-machine-2c", "intel-xeon-16c-h200", "example")


def ratio(source: random.Random) -> Value:
    value = 2 ** source.gauss(0, 0.4)
    return Value(value, value * (1 - 0.1 * source.random()), value * (1 + 0.1 * source.random()))


def some_dots(panels: int, count: int, series: tuple[str, ...] = ("fp32", "fp64")) -> Dots:
    source = random.Random(1)
    return Dots(
        title="Dots",
        panels=tuple(Panel(f"matrix-{k}", f"{k} per row") for k in range(panels)),
        rows=tuple(Row(f"variant_{k}", f"group {k // 6}") for k in range(count)),
        cells=tuple(
            tuple(tuple(ratio(source) for _ in series) for _ in range(count))
            for _ in range(panels)
        ),
        series=series,
        value_label="speed-up over textbook",
    )


def some_claims(columns: int = 7) -> Claims:
    verdicts = list(rows.MARKER_OF)
    return Claims(
        title="Claims",
        machines=MACHINES,
        columns=tuple(
            ClaimColumn(
                f"Claim {k} says that something is clearly faster than another",
                tuple(
                    ClaimCell(verdicts[(k + m) % len(verdicts)], f"1.{k}{m}", 1 + k / 9, 1, 1.2 + k)
                    for m in range(len(MACHINES))
                ),
                (1.2, None) if k % 2 else (0.95, 1.05),
            )
            for k in range(columns)
        ),
    )


def some_across() -> Across:
    source = random.Random(2)
    inputs = tuple(Column(f"matrix-{k}", f"{k} per row") for k in range(5))
    cells = tuple(tuple((ratio(source), ratio(source)) for _ in inputs) for _ in MACHINES)
    return Across("Across", MACHINES, inputs, (Block("one", cells), Block("other", cells)))


def some_lines(count: int, slope: float = 1.0) -> Chart:
    data = replace(chart(count, 5), categories=(1, 2, 4, 8, 16), kind="")
    return replace(data, series=tuple(
        replace(one, values=tuple(Value(slope * k, k, 1.1 * k) for k in range(1, 6)))
        for one in data.series))


def some_spans() -> Timeline:
    found = []
    for k in range(5):
        found += [Span("upload engine", f"upload {k}", k * 1e-3, k * 1e-3 + 0.9e-3),
                  Span("compute", f"kernel {k}", k * 1e-3 + 0.9e-3, k * 1e-3 + 1e-3)]
    found += [Span("host", "wait", 0, 5e-3), Span("host", "check", 1e-3, 3e-3)]
    return Timeline("Timeline", tuple(found))


def some_roofline() -> Roofline:
    ceilings = (CeilingLine("read", 35e9, True), CeilingLine("fma", 90e9, False))
    spots = tuple(Spot(f"variant {k}", 0.125, Value((3 + k / 50) * 1e9, 2.9e9, 3.2e9))
                  for k in range(6))
    return Roofline("Roofline", ceilings, spots)


SHEETS: dict[str, Callable[[], Sheet]] = {
    "one panel": lambda: dots.draw_dots(some_dots(1, 5)),
    "panels": lambda: dots.draw_dots(some_dots(5, 14)),
    "rows in two parts": lambda: dots.draw_dots(some_dots(4, 23, ("fp64",))),
    "rows side by side": lambda: dots.draw_dots(some_dots(1, 38)),
    "clouds": lambda: dots.draw_dots(some_dots(38, 12, ("fp64",))),
    "one variant of many inputs": lambda: dots.draw_dots(some_dots(38, 1)),
    "claims": lambda: rows.draw_claims(some_claims()),
    "across": lambda: rows.draw_across(some_across()),
    "lines": lambda: curves.draw_lines(curves.as_lines(some_lines(7))),
    "timeline": lambda: rows.draw_timeline(some_spans()),
    "roofline": lambda: curves.draw_roofline(some_roofline()),
}
SVGS: dict[str, Callable[[], str]] = {
    "dots": lambda: dots.dots(some_dots(3, 9)),
    "clouds": lambda: dots.dots(some_dots(30, 9)),
    "claims": lambda: rows.claims(some_claims()),
    "across": lambda: rows.across(some_across()),
    "lines": lambda: curves.lines_of(some_lines(3)),
    "timeline": lambda: rows.timeline(some_spans()),
    "roofline": lambda: curves.roofline(some_roofline()),
}


def boxes(drawn: Sheet) -> list[tuple[str, Bbox]]:
    """What each text takes on the page, in pixels; turned texts left out."""
    renderer = FigureCanvasAgg(drawn.figure).get_renderer()
    level = [text for text in drawn.texts if not text.get_rotation()]
    return [(text.get_text(), text.get_window_extent(renderer)) for text in level]


def words(drawn: Sheet) -> list[str]:
    return [text.get_text() for text in drawn.texts]


@pytest.mark.parametrize("name", SHEETS)
def test_no_text_overlaps_another_or_leaves_the_page(name: str) -> None:
    drawn = SHEETS[name]()
    found = boxes(drawn)
    page = Bbox([[-0.5, -0.5], [WIDTH + 0.5, drawn.height + 0.5]])
    for text, box in found:
        assert page.count_contains([box.min, box.max]) == 2, f"{text} leaves the page"
    for (one, first), (other, second) in combinations(found, 2):
        shared = Bbox.intersection(first.padded(-1.5), second.padded(-1.5))
        assert shared is None, f"{one} overlaps {other}"


@pytest.mark.parametrize("name", SHEETS)
def test_no_text_is_too_small_to_read(name: str) -> None:
    sizes = [float(text.get_fontsize()) / POINT for text in SHEETS[name]().texts]
    assert min(sizes) >= 11


@pytest.mark.parametrize("name", SVGS)
def test_every_kind_is_steady_and_follows_the_theme(name: str) -> None:
    svg = SVGS[name]()
    assert svg == SVGS[name]()
    assert ElementTree.fromstring(svg).get("width") == "759pt"  # 1,012 pixels
    for attribute, colour in DECLARATION.findall(svg):
        assert colour in PROPERTY_OF, f"{attribute}: {colour} stays as it is on dark pages"


@pytest.mark.parametrize(("panels", "count"), [(1, 5), (5, 14), (4, 23), (1, 38), (38, 1)])
def test_every_value_has_a_dot(panels: int, count: int) -> None:
    drawn = dots.draw_dots(some_dots(panels, count))
    for role, kind in (("fp32", "dot"), ("fp64", "square")):
        found = [m for m in drawn.marks if (m.kind, m.colour) == (kind, role_colour(role))]
        assert len(found) == panels * count + 1  # one in the legend


def test_a_cloud_has_a_faint_dot_for_each_input_and_a_stroke_for_their_mean() -> None:
    drawn = dots.draw_dots(some_dots(38, 12, ("fp64",)))
    assert sum(mark.kind == "dot" for mark in drawn.marks) == 38 * 12
    assert sum(mark.kind == "bar" for mark in drawn.marks) == 12


def test_at_most_fourteen_rows_stand_below_each_other() -> None:
    for count in (15, 23, 38, 60):
        parts = dots._parts([Row(f"v{k}", f"group {k // 20}") for k in range(count)])
        assert max(len(part) for part in parts) <= 14
        assert [each for part in parts for each in part] == list(range(count))
    found = [box for text, box in boxes(dots.draw_dots(some_dots(1, 38))) if text[:8] == "variant_"]
    columns = [round(box.x1) for box in found]
    assert len(columns) == 38
    assert max(columns.count(x) for x in columns) <= 14


def test_groups_stay_together_where_rows_are_parted() -> None:
    parts = dots._parts([Row(f"v{k}", f"group {k // 5}") for k in range(22)])
    assert [len(part) for part in parts] == [10, 12]


def test_words_stand_where_nothing_was_measured() -> None:
    data = some_dots(2, 2)
    cells = (((None, None), (Value(absence="no dense blocks"),) * 2), data.cells[1])
    found = words(dots.draw_dots(replace(data, cells=cells)))
    assert found.count("not measured") == 1
    assert found.count("no dense blocks") == 1


def test_an_interval_that_leaves_the_axis_ends_in_an_arrow() -> None:
    data = some_dots(2, 2)
    wide = (Value(1, 0.001, 900), Value(1, 0.99, 1.01))
    cells = ((data.cells[0][0], wide), data.cells[1])
    assert dots.draw_dots(data).arrows == 0
    assert dots.draw_dots(replace(data, cells=cells)).arrows == 2


def test_ratios_are_centred_on_one() -> None:
    scale = scale_of_ratios([0.8, 1.1, 1.3], [0.78, 1.32])
    assert math.isclose(scale.low * scale.high, 1, rel_tol=1e-6)
    assert scale.low < 0.78 < 1.32 < scale.high


def test_the_empty_side_of_ratios_is_shortened() -> None:
    scale = scale_of_ratios([1.1, 5, 40], [])
    assert scale.high > 40
    assert math.isclose(-math.log(scale.low), math.log(scale.high) / 3, rel_tol=1e-6)


def share(value: float) -> Value:
    return Value(value, value - 1, value + 1)


def test_the_bound_is_one_labelled_line_at_100() -> None:
    data = replace(
        some_dots(3, 4),
        panels=tuple(Panel(f"m{k}", bound=100.0) for k in range(3)),
        cells=tuple(tuple((share(40), share(90)) for _ in range(4)) for _ in range(3)),
        scale="linear",
        unit="%",
        bound_label="memory bound (read)",
    )
    drawn = dots.draw_dots(data)
    red = [text.get_text() for text in drawn.texts if text.get_color() == ink("limit")]
    assert red == ["memory bound (read)", *["100"] * 3]
    lines = [a for a in drawn.figure.artists if isinstance(a, Line2D)
             if a.get_color() == ink("limit")]
    assert len(lines) == 4  # one in the legend
    assert words(drawn).count("0") == 3


def test_a_bound_beyond_the_axis_is_not_in_the_legend() -> None:
    data = replace(some_dots(2, 3), bound_label="memory bound")
    for bound, count in ((1.5, 1), (900.0, 0)):
        panels = tuple(replace(panel, bound=bound) for panel in data.panels)
        drawn = dots.draw_dots(replace(data, panels=panels))
        assert words(drawn).count("memory bound") == count


def test_a_ratio_is_never_a_bar_and_a_rate_is_from_zero() -> None:
    data = chart(3, 4)
    assert not dots.as_dots(data).bars
    assert dots.as_dots(data).scale == "ratio"
    assert not dots.as_dots(replace(data, kind="percent")).bars
    rate = dots.as_dots(replace(data, kind="rate"))
    assert rate.bars
    assert dots._scale(rate).low == 0
    assert dots.as_dots(replace(data, kind="time", log_values=True)).scale == "log"


def test_series_are_rows_unless_they_are_precisions() -> None:
    data = chart(2, 4)
    assert [row.name for row in dots.as_dots(data).rows] == ["v0", "v1"]
    both = replace(data, rows_are_series=False)
    assert [row.name for row in dots.as_dots(both).rows] == ["m0", "m1", "m2", "m3"]
    assert dots.as_dots(both).series == ("v0", "v1")


def test_markers_tell_verdicts() -> None:
    drawn = rows.draw_claims(some_claims(5))
    inside = [mark for mark in drawn.marks if mark.y > 30]
    assert len(inside) == 5 * len(MACHINES)
    assert {mark.kind for mark in inside} == set(rows.MARKER_OF.values())
    assert "direction only" in words(drawn)
    assert words(drawn).count("1.00") == 1


def test_five_claims_stand_side_by_side_and_the_lead_machine_is_bold() -> None:
    for columns, lines in ((5, 1), (6, 2), (11, 3)):
        drawn = rows.draw_claims(some_claims(columns))
        lead = [text for text in drawn.texts if text.get_text() == MACHINES[0]]
        assert len(lead) == lines
        assert all(text.get_fontweight() == "bold" for text in lead)


def test_a_blank_cell_is_blank_and_a_reason_is_a_word() -> None:
    data = some_claims(1)
    cells = (None, ClaimCell(number="no GPU"), data.columns[0].cells[2])
    drawn = rows.draw_claims(replace(data, columns=(replace(data.columns[0], cells=cells),)))
    assert len([mark for mark in drawn.marks if mark.y > 30]) == 1
    assert "no GPU" in words(drawn)


def test_across_repeats_inputs_in_each_block() -> None:
    drawn = rows.draw_across(some_across())
    assert words(drawn).count("matrix-3") == 2
    assert len([mark for mark in drawn.marks if mark.y > 30]) == 2 * 5 * len(MACHINES) * 2


def test_numbers_that_span_much_are_on_a_log_axis() -> None:
    assert curves.as_lines(some_lines(2)).log_x
    near = replace(some_lines(2), categories=(1, 2, 3, 4, 8))
    assert not curves.as_lines(near).log_x


def test_lines_are_named_at_their_ends() -> None:
    drawn = curves.draw_lines(curves.as_lines(some_lines(7)))
    found = {text: box for text, box in boxes(drawn) if text.startswith("v")}
    assert set(found) == {f"v{k}" for k in range(7)}
    assert min(box.x0 for box in found.values()) > 800


def test_what_goes_on_as_a_model_is_named_once_and_a_model_alone_as_well() -> None:
    """The label of a measured line is that of the model which goes on from it."""
    names = ("one", "one" + curves.MODELLED, "alone")
    value = Value(1.0, 1.0, 1.0)
    lines = tuple(
        curves.Line(name, ((1.0, value), (2.0, value)), slot, modelled=name != "one")
        for slot, name in enumerate(names)
    )
    drawn = curves.draw_lines(curves.Lines("", "x", "y", lines))
    assert set(names) & {*words(drawn)} == {"one" + curves.MODELLED, "alone"}


def test_labels_keep_their_distance_and_order() -> None:
    heights = curves.apart([10, 11, 12, 80, 81], 15, 0, 100)
    assert sorted(heights) == heights
    assert all(below - above >= 15 for above, below in pairwise(heights))
    assert heights[0] >= 0
    assert heights[-1] <= 100


def test_spans_are_named_where_they_fit_and_coloured_by_kind() -> None:
    drawn = rows.draw_timeline(some_spans())
    found = words(drawn)
    assert "upload 3" in found
    assert "kernel 3" not in found
    assert {"upload", "kernel", "upload engine", "compute"} <= set(found)
    kinds = [rows.kind_of(n) for n in ("copy 3", "copy[12]", "copy", "h2d_0")]
    assert kinds == ["copy", "copy", "copy", "h2d"]


def test_a_roofline_names_what_bounds() -> None:
    drawn = curves.draw_roofline(some_roofline())
    assert {"read, 35 GB/s", "fma, 90 GFLOP/s", "variant 5"} <= set(words(drawn))
    assert len(drawn.marks) == 6


def test_ticks_are_round_and_do_not_touch() -> None:
    found = ticks(scale_from_zero([110]).on(0, 130), [100])
    assert found == [0, 20, 40, 60, 80, 100] or found == [0, 25, 50, 75, 100]
    assert 1.0 in ticks(scale_of_ratios([0.5, 2], []).on(0, 120), [1.0])


SIZES = [(1, 1), (3, 5), (6, 6), (7, 3), (9, 4), (2, 32), (9, 14)]


@pytest.mark.parametrize(("series", "categories"), SIZES)
def test_same_data_same_bytes(series: int, categories: int) -> None:
    assert dots.bars(chart(series, categories)) == dots.bars(chart(series, categories))


@pytest.mark.parametrize("draw", [dots.bars, curves.lines_of])
def test_a_figure_is_well_formed_and_has_a_title(draw: Callable[[Chart], str]) -> None:
    data = replace(chart(3, 4), categories=(1, 2, 4, 8))
    root = ElementTree.fromstring(draw(data))
    assert root.findtext("{*}title") == "Speed <of> each & all"
    assert root.get("role") == "img"


@pytest.mark.parametrize(("series", "categories"), SIZES)
def test_every_colour_follows_the_theme(series: int, categories: int) -> None:
    svg = dots.bars(chart(series, categories))
    for attribute, colour in DECLARATION.findall(svg):
        assert colour in PROPERTY_OF, f"{attribute}: {colour} stays as it is on dark pages"
    assert not re.search(r'(?:fill|stroke)="#', svg)
    assert " style=" not in svg


def test_places_are_drawn_in_colours_that_follow_the_theme() -> None:
    plain = replace(chart(2, 4), categories=(0.1, 0.2, 0.5, 1.0), named_categories=False)
    band = Band("v0 stops being faster", 0, 0.3, 0.28, 0.33)
    placed = replace(plain, marks=(("article", 0.3), ("paper", 0.5)), bands=(band,))
    svg = curves.lines_of(placed)
    assert svg == curves.lines_of(placed) != curves.lines_of(plain)
    for _, colour in DECLARATION.findall(svg):
        assert colour in PROPERTY_OF


def test_colours_are_told_apart() -> None:
    for theme_index in (0, 1):
        colours = [pair[theme_index] for pair in COLOURS.values()]
        assert len(set(colours)) == len(colours)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(first: str, second: str) -> float:
    bright, dim = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


@pytest.mark.parametrize("index", [0, 1])
def test_contrast_on_both_panels(index: int) -> None:
    panel = INK["panel"][index]
    assert _contrast(INK["ink"][index], panel) > 7
    assert _contrast(INK["muted"][index], panel) > 4.5
    assert _contrast(INK["limit"][index], panel) > 4.5
    for pair in SERIES:
        assert _contrast(pair[index], panel) > 2.8


@pytest.mark.parametrize("name", [SANS, MONO])
@pytest.mark.parametrize("weight", ["normal", "bold"])
@pytest.mark.parametrize("style", ["normal", "italic"])
def test_fonts_are_those_that_come_with_matplotlib(name: str, weight: str,
                                                   style: Literal["normal", "italic"]) -> None:
    """Others of the same name, which a system may have, have other glyphs."""
    found = fontManager.findfont(FontProperties(family=name, weight=weight, style=style))
    assert Path(found).resolve().is_relative_to(Path(matplotlib.get_data_path()).resolve())
    assert ("Bold" in found) == (weight == "bold")


def test_nothing_tells_when_or_by_what_it_was_drawn() -> None:
    svg = dots.bars(chart(3, 5))
    assert "dc:date" not in svg
    assert "dc:creator" not in svg
    assert not re.search(r"[Mm]atplotlib v?\d", svg)


def test_a_missing_bar_changes_the_figure() -> None:
    data = chart(2, 2)
    absent = Series("v1", 1, (Value(absence="failed"), data.series[1].values[1]))
    assert dots.bars(replace(data, series=(data.series[0], absent))) != dots.bars(data)


def test_a_page_holds_many_matrices() -> None:
    """38 matrices are no 38 panels."""

    def height(series: int, categories: int) -> float:
        found = re.search(r'viewBox="0 0 \S+ (\S+)"', dots.bars(chart(series, categories)))
        assert found
        return float(found[1])

    assert height(9, 38) < height(9, 12)
    assert height(2, 38) < height(9, 38) < 400


def test_last_digits_do_not_matter() -> None:
    """Processors differ in the last bit of a logarithm; figures must not."""
    data = chart(1, 2)
    values = tuple(
        Value(v.value * (1 + 1e-15), v.low, v.high * (1 - 1e-15)) for v in data.series[0].values
    )
    moved = replace(data, series=(replace(data.series[0], values=values),))
    assert dots.bars(moved) == dots.bars(data)


@pytest.mark.parametrize("id", drawings.DRAWINGS)
def test_drawings_are_steady_and_follow_the_theme(id: str) -> None:
    svg = drawings.DRAWINGS[id]("A drawing.")
    assert svg == drawings.DRAWINGS[id]("A drawing.")
    assert ElementTree.fromstring(svg).findtext("{*}title") == "A drawing."
    for _, colour in DECLARATION.findall(svg):
        assert colour in PROPERTY_OF


def test_engines_take_pieces_as_they_were_issued() -> None:
    def last(order: Sequence[str], engine_of: dict[str, str]) -> int:
        lanes = drawings.scheduled(order, engine_of)
        return max(piece.end for pieces in lanes.values() for piece in pieces)

    assert last(drawings.DEPTH_FIRST, drawings.ONE_ENGINE) == 12  # nothing overlaps
    assert last(drawings.BREADTH_FIRST, drawings.ONE_ENGINE) == 10
    assert last(drawings.DEPTH_FIRST, drawings.BOTH_WAYS) == 9
    assert last(drawings.BREADTH_FIRST, drawings.BOTH_WAYS) == 10


def test_banks_take_one_word_each_in_a_cycle() -> None:
    cycles = {name: drawings.cycles_of(writes) for name, writes in drawings.PACKED.items()}
    assert all(sorted(found) == list(range(16)) for found in cycles.values())
    assert [max(found.values()) + 1 for found in cycles.values()] == [4, 2, 2]


def test_runs_are_found_in_the_drawn_matrix() -> None:
    runs = drawings.runs_of(["xx.x", "....", ".xx."])
    assert [(run.row, run.start, run.length) for run in runs] == [(0, 0, 2), (0, 3, 1), (2, 1, 2)]

"""Figures: what their specifications say, steady bytes, both themes, text that fits."""

import functools
import json
import math
import random
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import altair as alt
import pytest
import vl_convert

from memwall.figures import curves, dots, drawings, drawings_gpu, rows, sheet
from memwall.figures.curves import CeilingLine, Roofline, Spot
from memwall.figures.dots import Dots, Panel, Row
from memwall.figures.panels import (
    HEADING,
    NOISIEST,
    Band,
    Chart,
    Series,
    Value,
    scale_from_zero,
    scale_of_ratios,
    spaced,
    ticks,
)
from memwall.figures.plots import worded
from memwall.figures.rows import Across, Block, ClaimCell, ClaimColumn, Claims, Column, Timeline
from memwall.figures.sheet import DARK, INK, SERIES, WIDTH, Drawn
from memwall.pages.book import House
from memwall.record.results import Span
from memwall.record.sources import REPOSITORY

MACHINES = ("lead-machine-2c", "intel-xeon-16c-h200", "example")
MOST_APART = 7  # things that colours and shapes tell apart


def ratio(source: random.Random) -> Value:
    value = 2 ** source.gauss(0, 0.4)
    return Value(value, value * (1 - 0.1 * source.random()), value * (1 + 0.1 * source.random()),
                 samples=21)


def chart(series: int, categories: int) -> Chart:
    return Chart(
        title="How fast <is> each & all?",
        category_label="matrix",
        value_label="speed-up (x)",
        categories=tuple(f"m{k}" for k in range(categories)),
        series=tuple(
            Series(f"v{s}", s, tuple(Value(1 + s / 9, 1, 1.2 + s / 9) for _ in range(categories)))
            for s in range(series)
        ),
        limits=tuple(2.5 for _ in range(categories)),
        limit_label="what memory allows (read)",
        kind="factor",
    )


def some_dots(panels: int, count: int, series: tuple[str, ...] = ("fp32", "fp64")) -> Dots:
    source = random.Random(1)
    return Dots(
        title="Which is faster?",
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
        title="Which claims hold?",
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
    return Across("Alike?", MACHINES, inputs, (Block("one", cells), Block("other", cells)))


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
    return Timeline("What happens when?", tuple(found))


def some_roofline() -> Roofline:
    ceilings = (CeilingLine("read", 35e9, True), CeilingLine("fma", 90e9, False))
    spots = tuple(Spot(f"variant {k}", 0.125, Value((3 + k / 50) * 1e9, 2.9e9, 3.2e9))
                  for k in range(6))
    return Roofline("How near?", ceilings, spots)


KINDS: dict[str, Callable[[], Drawn]] = {
    "panels": lambda: dots.dots(some_dots(5, 9)),
    "many inputs": lambda: dots.dots(some_dots(38, 5)),
    "one variant of many inputs": lambda: dots.dots(some_dots(14, 1)),
    "bars": lambda: dots.bars(replace(chart(3, 4), kind="rate")),
    "claims": lambda: rows.claims(some_claims()),
    "across": lambda: rows.across(some_across()),
    "lines": lambda: curves.lines(some_lines(7)),
    "timeline": lambda: rows.timeline(some_spans()),
    "roofline": lambda: curves.roofline(some_roofline()),
}


@functools.cache
def drawn(kind: str) -> Drawn:
    return KINDS[kind]()


def views(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every view of a specification that has a mark."""
    if "mark" in spec:
        yield spec
    for part in (*spec.get("concat", ()), *spec.get("layer", ())):
        yield from views({"data": spec.get("data", {}), **part})


def told(figure: Drawn, mark: str) -> list[dict[str, Any]]:
    """The data of all marks of a kind."""
    return [row for view in views(json.loads(figure.spec)) if view["mark"]["type"] == mark
            for row in view["data"]["values"]]


def axes(figure: Drawn, channel: str = "x") -> list[dict[str, Any]]:
    """The axes of values that are written out."""
    found = [view.get("encoding", {}).get(channel, {}) for view in views(json.loads(figure.spec))]
    return [each for each in found if each.get("axis", {}).get("values") is not None]


# --- every kind -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_valid_and_has_a_title_and_a_text(kind: str) -> None:
    figure = drawn(kind)
    spec = json.loads(figure.spec)
    alt.Chart.from_dict(spec).to_dict(validate=True)
    root = ElementTree.fromstring(figure.svg)
    assert root.findtext("{*}title") == " ".join(spec["title"]["text"])
    assert root.findtext("{*}desc") == " ".join(spec["title"].get("subtitle", []))
    assert root.get("role") == "img"
    assert root.get("width") == str(WIDTH), "a figure is as wide as a page"


@pytest.mark.parametrize("kind", KINDS)
def test_every_colour_has_one_for_dark_pages(kind: str) -> None:
    svg = drawn(kind).svg
    used = set(sheet.COLOUR.findall(svg))
    assert used
    for which, colour in used:
        assert f'[{which}="{colour}"]{{{which}:{DARK[colour]}}}' in svg
    assert 'fill="black"' not in svg


def test_bytes_are_the_same_in_two_processes() -> None:
    """Identifiers that a renderer counts are those of the figure alone."""
    program = ("from memwall.figures.tests import figures_test as t\n"
               "import hashlib\n"
               "{first}\n"
               "told = [t.KINDS['lines']()]\n"
               "print(hashlib.sha256(''.join(f.svg + f.spec for f in told).encode()).hexdigest())")
    firsts = ("", "t.KINDS['lines'](), t.KINDS['roofline'](), t.sheet.rendered.cache_clear()")
    found = [subprocess.run([sys.executable, "-c", program.format(first=first)], text=True,
                            cwd=REPOSITORY, capture_output=True, check=True).stdout
             for first in firsts]
    assert found[0] == found[1] != ""


def test_a_specification_tells_whose_numbers_it_has() -> None:
    spec = json.loads(drawn("roofline").of("example-2c").spec)
    assert spec["usermeta"] == {"machine": "example-2c"}
    assert spec["layer"] == json.loads(drawn("roofline").spec)["layer"]
    assert Drawn("<svg/>").of("example-2c").spec == ""


def test_identifiers_begin_anew_in_each_figure() -> None:
    found = re.findall(r'id="(\w+)"', drawn("lines").svg)
    assert found == [f"i{k}" for k in range(len(found))]
    assert set(re.findall(r"url\(#(\w+)\)", drawn("lines").svg)) <= set(found)


def test_last_digits_do_not_matter() -> None:
    """Processors differ in the last bit of a logarithm; figures must not."""
    data = chart(1, 2)
    values = tuple(
        Value(v.value * (1 + 1e-15), v.low, v.high * (1 - 1e-15)) for v in data.series[0].values
    )
    moved = replace(data, series=(replace(data.series[0], values=values),))
    assert dots.bars(moved) == dots.bars(data)


def test_a_text_takes_the_room_that_was_planned_for_it() -> None:
    """What letters take is known without a font: it is compared with what Vega measures."""

    def measured(text: str, weight: str) -> float:
        written = {"text": {"value": text}, "fontSize": {"value": 100},
                   "font": {"value": sheet.FONT}, "fontWeight": {"value": weight}}
        ends = {"width": {"signal": "datum.bounds.x2 - datum.bounds.x1"}}
        svg = vl_convert.vega_to_svg({"width": 10, "height": 10, "marks": [
            {"type": "text", "name": "words", "encode": {"enter": written}},
            {"type": "rect", "from": {"data": "words"}, "encode": {"update": {
                **ends, "height": {"value": 7}, "fill": {"value": "red"}}}}]})
        return float(re.findall(r'd="M0,0h([\d.]+)v7', svg)[0])

    for weight in ("normal", "bold"):
        for text in ("Thin lines: 98.3 % intervals.", "intel-xeon-16c-h100, WAVE (x)?"):
            wide = sheet.text_width(text, 100, weight == "bold")
            assert measured(text, weight) == pytest.approx(wide, rel=0.01)  # letters that lean
    svg = drawn("claims").svg
    assert 'textLength="' in svg, "systems without the fonts squeeze theirs"


def test_letters_of_strangers_are_letters() -> None:
    name = "<script> & \"quotes\" {{x}} \\"
    data = replace(some_dots(1, 1), rows=(Row(name),))
    svg = dots.dots(data).svg
    assert "<script" not in svg
    assert name in "".join(ElementTree.fromstring(svg).itertext())


# --- dots and bars --------------------------------------------------------------------------------


@pytest.mark.parametrize(("panels", "count"), [(1, 5), (5, 9), (38, 1)])
def test_every_value_is_told_with_interval_and_samples(panels: int, count: int) -> None:
    data = some_dots(panels, count)
    found = told(dots.dots(data), "point")
    assert len(found) == panels * count * 2
    assert all(row["low"] <= row["value"] <= row["high"] for row in found)
    assert {row["samples"] for row in found} == {21}


def test_a_cloud_has_a_dot_for_each_input_and_a_stroke_for_their_mean() -> None:
    figure = drawn("many inputs")
    assert len(told(figure, "point")) == 38 * 5 * 2
    assert len(told(figure, "tick")) == 5 * 2


def test_ratios_have_one_on_their_axis() -> None:
    for kind in ("panels", "many inputs", "across"):
        for axis in axes(drawn(kind)):
            low, high = axis["scale"]["domain"]
            assert low < 1 < high
            assert 1 in axis["axis"]["values"]


def test_rates_begin_at_zero_and_ratios_are_no_bars() -> None:
    for axis in axes(drawn("bars")):
        assert axis["scale"]["domain"][0] == 0
    assert told(drawn("bars"), "bar")
    assert not told(dots.bars(chart(3, 4)), "bar")
    assert dots.as_dots(replace(chart(3, 4), kind="time", log_values=True)).scale == "log"


def test_words_stand_where_nothing_was_measured() -> None:
    data = some_dots(2, 2)
    cells = (((None, None), (Value(absence="no dense blocks"),) * 2), data.cells[1])
    words = {row["word"] for row in told(dots.dots(replace(data, cells=cells)), "text")}
    assert words == {"not measured", "no dense blocks"}


def share(value: float) -> Value:
    return Value(value, value - 1, value + 1)


def test_a_share_has_a_red_line_at_100_and_its_name() -> None:
    data = replace(
        some_dots(3, 4),
        panels=tuple(Panel(f"m{k}", bound=100.0) for k in range(3)),
        cells=tuple(tuple((share(40), share(90)) for _ in range(4)) for _ in range(3)),
        scale="linear",
        unit="%",
        bound_label="what memory allows (read)",
    )
    figure = dots.dots(data)
    assert [row["bound"] for row in told(figure, "rule") if "bound" in row] == [100.0] * 3
    assert "Red line: what memory allows (read)." in figure.svg
    assert all(100 in axis["axis"]["values"] for axis in axes(figure))


def test_a_bound_far_beyond_the_values_is_not_drawn() -> None:
    for bound, count in ((1.5, 2), (900.0, 0)):
        data = replace(some_dots(2, 3), bound_label="memory",
                       panels=tuple(Panel(f"m{k}", bound=bound) for k in range(2)))
        figure = dots.dots(data)
        assert len([row for row in told(figure, "rule") if "bound" in row]) == count
        assert ("Red line" in figure.svg) == bool(count)


def test_series_are_rows_unless_they_are_precisions() -> None:
    data = chart(2, 4)
    assert [row.name for row in dots.as_dots(data).rows] == ["v0", "v1"]
    both = replace(data, rows_are_series=False)
    assert [row.name for row in dots.as_dots(both).rows] == ["m0", "m1", "m2", "m3"]
    assert dots.as_dots(both).series == ("v0", "v1")


def test_groups_of_rows_have_headings_where_they_are_large() -> None:
    assert spaced([(f"v{k}", f"g{k // 3}") for k in range(6)]) == [
        HEADING + "g0", "v0", "v1", "v2", HEADING + "g1", "v3", "v4", "v5"]
    assert spaced([(f"v{k}", f"g{k}") for k in range(4)]) == ["v0", "v1", "v2", "v3"]


# --- axes -----------------------------------------------------------------------------------------


def test_ratios_are_centred_on_one_and_an_empty_side_is_shortened() -> None:
    scale = scale_of_ratios([0.8, 1.1, 1.3], [0.78, 1.32])
    assert math.isclose(scale.low * scale.high, 1, rel_tol=1e-5)
    assert scale.low < 0.78 < 1.32 < scale.high
    scale = scale_of_ratios([1.1, 5, 40])
    assert scale.high > 40
    assert math.isclose(-math.log(scale.low), math.log(scale.high) / 3, rel_tol=1e-5)


def test_ticks_are_round_and_do_not_touch() -> None:
    assert ticks(scale_from_zero([110]), 130, [100]) in ([0, 20, 40, 60, 80, 100],
                                                         [0, 25, 50, 75, 100])
    assert 1.0 in ticks(scale_of_ratios([0.5, 2]), 120, [1.0])


def test_an_axis_knows_its_places() -> None:
    for scale in (scale_from_zero([110]), scale_of_ratios([0.2, 7])):
        for at in (0.0, 0.3, 1.0):
            assert scale.share(scale.value(at)) == pytest.approx(at, abs=1e-12)


# --- claims and machines --------------------------------------------------------------------------


def test_a_claim_tells_each_machine_once() -> None:
    found = told(rows.claims(some_claims(5)), "point")
    assert sorted(row["name"] for row in found) == sorted(MACHINES * 5)
    assert {row["verdict"] for row in found} == set(rows.MARKER_OF)


def test_a_machine_that_was_not_asked_has_no_row() -> None:
    data = some_claims(2)
    old = ClaimCell(rows.OUT_OF_DATE, "out of date")
    asked = replace(data.columns[0], cells=(None, old, data.columns[0].cells[2]))
    figure = rows.claims(replace(data, columns=(asked, data.columns[1])))
    names = [view["encoding"]["y"]["scale"]["domain"] for view in json_panels(figure)]
    assert names == [["example"], list(MACHINES)]


@pytest.mark.parametrize(("verdict", "low", "is_said"), [
    (rows.UNDECIDED, 1.3, True), (rows.UNDECIDED, 1.1, False), (rows.HOLDS, 1.3, False)])
def test_why_a_claim_is_open_in_the_green_is_said(verdict: str, low: float, is_said: bool) -> None:
    """Its interval alone would decide it."""
    cell = ClaimCell(verdict, "?", 1.4, low, 1.5)
    column = ClaimColumn("faster", (cell, None, None), (1.2, None))
    figure = rows.claims(Claims("Which?", MACHINES, (column,)))
    assert (rows.OPEN_IN_THE_GREEN in figure.spec) == is_said


@pytest.mark.parametrize(("title", "unit", "titled"), [
    ("`gemm`", "µs", "gemm (µs)"), ("at most 6 µs", "µs", "at most 6 µs"),
    ("a share", "%", "a share")])
def test_a_title_tells_its_unit_once(title: str, unit: str, titled: str) -> None:
    assert ClaimColumn(title, (), unit=unit).titled == titled


def json_panels(figure: Drawn) -> list[dict[str, Any]]:
    """The layers that have rows."""
    panels = json.loads(figure.spec)["concat"]
    return [layer for panel in panels for layer in panel.get("layer", ())
            if "y" in layer.get("encoding", {})]


def test_a_reason_stands_where_a_claim_has_no_number() -> None:
    data = some_claims(1)
    cells = (ClaimCell(number="no GPU"), *data.columns[0].cells[1:])
    figure = rows.claims(replace(data, columns=(replace(data.columns[0], cells=cells),)))
    assert "no GPU" in {row["number"] for row in told(figure, "text")}


def test_a_comparison_has_the_inputs_and_machines_that_it_was_measured_on() -> None:
    data = some_across()
    none = (None, None)
    cells = tuple(tuple(none if m == 1 or k > 2 else cell for k, cell in enumerate(row))
                  for m, row in enumerate(data.blocks[0].cells))
    figure = rows.across(replace(data, blocks=(Block("one", cells),)))
    panels = json_panels(figure)
    assert len(panels) == 3
    assert panels[0]["encoding"]["y"]["scale"]["domain"] == [MACHINES[0], MACHINES[2]]


# --- lines, rooflines, timelines ------------------------------------------------------------------


def test_numbers_that_span_much_are_on_a_log_axis() -> None:
    near = replace(some_lines(2), categories=(1, 2, 3, 4, 8))
    assert axes(drawn("lines"))[0]["scale"]["type"] == "log"
    assert axes(curves.lines(near))[0]["scale"]["type"] == "linear"


def test_every_line_is_named_at_its_end() -> None:
    names = {row["name"] for row in told(drawn("lines"), "text")}
    assert names == {*(f"v{k}" for k in range(7)), "what memory allows (read)"}


def test_what_goes_on_as_a_model_is_named_once_and_a_model_alone_as_well() -> None:
    names = ("one", "one" + curves.MODELLED, "alone")
    series = tuple(Series(name, slot, (Value(1, 1, 1), Value(2, 2, 2)), modelled=name != "one")
                   for slot, name in enumerate(names))
    data = Chart("?", "ranks", "y", (1, 2), series)
    assert {row["name"] for row in told(curves.lines(data), "text")} == {names[1], names[2]}


def test_labels_keep_their_distance_and_order() -> None:
    heights = curves.apart([10, 11, 12, 80, 81], 15, 0, 100)
    assert sorted(heights) == heights
    assert all(below - above >= 15 for above, below in pairwise(heights))
    assert heights[0] >= 0
    assert heights[-1] <= 100


def test_places_are_drawn_with_their_names() -> None:
    plain = replace(chart(2, 4), categories=(0.1, 0.2, 0.5, 1.0), named_categories=False)
    band = Band("v0 stops being faster", 0, 0.3, 0.28, 0.33)
    marks = (("article 0.3", 0.3), ("paper 0.5", 0.5))
    figure = curves.lines(replace(plain, marks=marks, bands=(band,)))
    assert {"article 0.3", "paper 0.5", band.label} <= {r["name"] for r in told(figure, "text")}


def test_spans_are_named_where_they_fit_and_coloured_by_kind() -> None:
    figure = drawn("timeline")
    labels = {row["label"] for row in told(figure, "text")}
    assert "upload 3" in labels
    assert "kernel 3" not in labels
    assert {row["kind"] for row in told(figure, "bar")} == {"upload", "kernel", "wait", "check"}
    kinds = [rows.kind_of(n) for n in ("copy 3", "copy[12]", "copy", "h2d_0")]
    assert kinds == ["copy", "copy", "copy", "h2d"]


def test_a_roofline_names_what_bounds() -> None:
    figure = drawn("roofline")
    names = {row["name"] for row in told(figure, "text")}
    assert {"read, 35 GB/s", "fma, 90 GFLOP/s", "variant 5"} <= names
    assert len(told(figure, "point")) == 6


# --- what is committed ----------------------------------------------------------------------------

COMMITTED = sorted(REPOSITORY.glob("experiments/*/figures/*.vl.json"))


@pytest.mark.xdist_group("committed")
@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.name)
def test_a_committed_figure_tells_no_more_than_seven_things_apart(path: Any, committed: House
                                                                  ) -> None:
    """And no machine in it is noisier than 50 %, and no axis of ratios leaves out 1."""
    figure = Drawn("", path.read_text(encoding="utf-8"))
    for view in views(json.loads(figure.spec)):
        for channel in ("color", "shape", "fill"):
            domain = view.get("encoding", {}).get(channel, {}).get("scale") or {}
            assert len(domain.get("domain", ())) <= MOST_APART
    lines = [view for view in views(json.loads(figure.spec)) if view["mark"]["type"] == "line"]
    assert len(lines) <= MOST_APART + 1  # and the bound
    named = {row.get("name") for row in told(figure, "point")}
    assert not named & noisy(committed, path.parents[1].name)
    for panel in [*axes(figure), *axes(figure, "y")]:
        if "Grey band: alike" in figure.spec and panel["field"] == "value":
            assert panel["scale"]["domain"][0] < 1 < panel["scale"]["domain"][1]


def noisy(house: House, experiment: str) -> set[str]:
    """Machines whose run of an experiment belongs into tables only."""
    return {one.machine for one in house.found if one.result.experiment == experiment
            and not one.title and one.measured.noise.factor > NOISIEST}


@pytest.mark.xdist_group("committed")
def test_some_machine_is_too_noisy_for_figures(committed: House) -> None:
    assert "intel-xeon-2c" in noisy(committed, "spmv-mpi-partitioning")


# --- colours --------------------------------------------------------------------------------------


def test_colours_are_told_apart() -> None:
    assert len(DARK) == len(set(DARK)), "a light colour stands for one dark one"
    for index in (0, 1):
        series = [pair[index] for pair in SERIES]
        assert len(set(series)) == len(series)


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


# --- drawings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", drawings.DRAWINGS)
def test_drawings_are_steady_and_follow_the_theme(id: str) -> None:
    svg = drawings.DRAWINGS[id]("What is <drawn>?", "About it.")
    assert svg == drawings.DRAWINGS[id]("What is <drawn>?", "About it.")
    root = ElementTree.fromstring(svg)
    assert (root.findtext("{*}title"), root.findtext("{*}desc")) == ("What is <drawn>?",
                                                                   "About it.")
    for which, colour in sheet.COLOUR.findall(svg):
        assert f'[{which}="{colour}"]{{{which}:{DARK[colour]}}}' in svg


@pytest.mark.parametrize("id", drawings.DRAWINGS)
def test_nothing_of_a_drawing_leaves_the_page(id: str) -> None:
    root = ElementTree.fromstring(drawings.DRAWINGS[id]("?", ""))
    for text in root.iter("{*}text"):
        wide = sheet.text_width(text.text or "", float(text.get("font-size", "")),
                                text.get("font-weight") == "bold")
        left = float(text.get("x", "")) - {"start": 0, "middle": wide / 2, "end": wide}[
            text.get("text-anchor", "")]
        assert left >= 0, f"{text.text} begins left of the page"
        assert left + wide <= WIDTH, f"{text.text} ends right of the page"
    for box in root.iter("{*}rect"):
        assert float(box.get("x", "0")) + float(box.get("width", "")) <= WIDTH


def test_engines_take_pieces_as_they_were_issued() -> None:
    def last(order: Sequence[str], engine_of: dict[str, str]) -> int:
        lanes = drawings_gpu.scheduled(order, engine_of)
        return max(piece.end for pieces in lanes.values() for piece in pieces)

    assert last(drawings_gpu.DEPTH_FIRST, drawings_gpu.ONE_ENGINE) == 12  # nothing overlaps
    assert last(drawings_gpu.BREADTH_FIRST, drawings_gpu.ONE_ENGINE) == 10
    assert last(drawings_gpu.DEPTH_FIRST, drawings_gpu.BOTH_WAYS) == 9
    assert last(drawings_gpu.BREADTH_FIRST, drawings_gpu.BOTH_WAYS) == 10


def test_banks_take_one_word_each_in_a_cycle() -> None:
    cycles = {name: drawings_gpu.cycles_of(writes)
              for name, writes in drawings_gpu.PACKED.items()}
    assert all(sorted(found) == list(range(16)) for found in cycles.values())
    assert [max(found.values()) + 1 for found in cycles.values()] == [4, 2, 2]


def test_runs_are_found_in_the_drawn_matrix() -> None:
    runs = drawings.runs_of(["xx.x", "....", ".xx."])
    assert [(run.row, run.start, run.length) for run in runs] == [(0, 0, 2), (0, 3, 1), (2, 1, 2)]


def test_words_stand_in_the_place_of_names_with_the_only_value_of_a_row() -> None:
    words = {"m0": "to the host", "v0": "the whole"}
    one = worded(chart(2, 1), words)
    assert one.categories == ("to the host",)
    assert [row.name for row in one.series] == ["the whole: 1.0 x", "v1: 1.1 x"]
    assert [row.name for row in worded(chart(1, 2), words).series] == ["the whole"]
    bare = worded(replace(chart(2, 1), value_label="share of a bound"), words)
    assert bare.series[0].name == "the whole: 1.0"

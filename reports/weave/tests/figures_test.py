"""Figures: steady bytes, both themes, every value in its place or a word for it."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import replace

import pytest

from weave import drawings, figures, theme
from weave.figures import Band, Chart, Series, Value


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
        reference=1.0,
    )


SIZES = [(1, 1), (3, 5), (6, 6), (7, 3), (9, 4), (2, 32), (9, 14)]


@pytest.mark.parametrize(("series", "categories"), SIZES)
def test_same_data_same_bytes(series: int, categories: int) -> None:
    assert figures.bars(chart(series, categories)) == figures.bars(chart(series, categories))


@pytest.mark.parametrize("draw", [figures.bars, figures.lines])
def test_a_figure_is_well_formed_and_has_a_title(draw: Callable[[Chart], str]) -> None:
    data = replace(chart(3, 4), categories=(1, 2, 4, 8))
    root = ElementTree.fromstring(draw(data))
    assert root.findtext("{*}title") == "Speed <of> each & all"
    assert root.get("role") == "img"


@pytest.mark.parametrize(("series", "categories"), SIZES)
def test_every_colour_follows_the_theme(series: int, categories: int) -> None:
    svg = figures.bars(chart(series, categories))
    for attribute, colour in theme.DECLARATION.findall(svg):
        assert colour in theme.PROPERTY_OF, f"{attribute}: {colour} stays as it is on dark pages"
    assert not re.search(r'(?:fill|stroke)="#', svg)
    assert " style=" not in svg


def test_places_are_drawn_in_colours_that_follow_the_theme() -> None:
    plain = replace(chart(2, 4), categories=(0.1, 0.2, 0.5, 1.0), named_categories=False)
    band = Band("v0 stops being faster", 0, 0.3, 0.28, 0.33)
    placed = replace(plain, marks=(("article", 0.3), ("paper", 0.5)), bands=(band,))
    svg = figures.lines(placed)
    assert svg == figures.lines(placed) != figures.lines(plain)
    for _, colour in theme.DECLARATION.findall(svg):
        assert colour in theme.PROPERTY_OF


def test_colours_are_told_apart() -> None:
    for theme_index in (0, 1):
        colours = [pair[theme_index] for pair in theme.COLOURS.values()]
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
    panel = theme.INK["panel"][index]
    assert _contrast(theme.INK["ink"][index], panel) > 7
    assert _contrast(theme.INK["muted"][index], panel) > 4.5
    assert _contrast(theme.INK["limit"][index], panel) > 4.5
    for pair in theme.SERIES:
        assert _contrast(pair[index], panel) > 2.8


def test_nothing_tells_when_or_by_what_it_was_drawn() -> None:
    svg = figures.bars(chart(3, 5))
    assert "dc:date" not in svg
    assert "dc:creator" not in svg
    assert not re.search(r"[Mm]atplotlib v?\d", svg)


def test_a_missing_bar_changes_the_figure() -> None:
    data = chart(2, 2)
    absent = Series("v1", 1, (Value(absence="failed"), data.series[1].values[1]))
    assert figures.bars(replace(data, series=(data.series[0], absent))) != figures.bars(data)


def test_many_groups_of_bars_are_rows_of_dots() -> None:
    """A page holds 38 rows of dots, but not 38 panels; a few bars more or less change nothing."""

    def height(series: int, categories: int) -> float:
        found = re.search(r'viewBox="0 0 \S+ (\S+)"', figures.bars(chart(series, categories)))
        assert found
        return float(found[1])

    assert height(9, 38) == height(2, 38) < 2 * height(9, 12)
    assert height(3, 38) < 600


def test_last_digits_do_not_matter() -> None:
    """Processors differ in the last bit of a logarithm; books must not."""
    data = chart(1, 2)
    values = tuple(
        Value(v.value * (1 + 1e-15), v.low, v.high * (1 - 1e-15)) for v in data.series[0].values
    )
    moved = replace(data, series=(replace(data.series[0], values=values),))
    assert figures.bars(moved) == figures.bars(data)


@pytest.mark.parametrize("id", drawings.DRAWINGS)
def test_drawings_are_steady_and_follow_the_theme(id: str) -> None:
    svg = drawings.DRAWINGS[id]("A drawing.")
    assert svg == drawings.DRAWINGS[id]("A drawing.")
    assert ElementTree.fromstring(svg).findtext("{*}title") == "A drawing."
    for _, colour in theme.DECLARATION.findall(svg):
        assert colour in theme.PROPERTY_OF


def test_runs_are_found_in_the_drawn_matrix() -> None:
    runs = drawings.runs_of(["xx.x", "....", ".xx."])
    assert [(run.row, run.start, run.length) for run in runs] == [(0, 0, 2), (0, 3, 1), (2, 1, 2)]

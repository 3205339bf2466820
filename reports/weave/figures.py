"""Draws charts as SVG: the same bytes for the same data, legible on light and dark pages.

Text becomes outlines (`svg.fonttype: path`): a figure embedded in a page cannot load a font, and
labels that were laid out with one font overlap in another.
"""

import io
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.container import Container
from matplotlib.figure import Figure

from weave import theme
from weave.rows import (  # the kinds of figures that are rows of dots, for those who draw
    Across,
    Block,
    ClaimCell,
    ClaimColumn,
    Claims,
    Column,
    Value,
    across,
    claims,
)

WIDTH = 7.6  # inches; 730 pixels on a page
GROUPED_SERIES = 6  # more are drawn as small multiples
STANDING_BARS = 56  # more lie
BAR_GROUPS = 12  # more, with more bars than can stand, are rows of dots
LABEL_LETTERS = 70  # more are turned
UPRIGHT_LETTERS = 40  # of a line of a label beside a vertical axis
MARKERS = "osD^vP*X"
DASHES = ("-", "--", ":", "-.")
MODELLED = (0, (1, 1.2))

STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8.5,
    "axes.titlesize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.linewidth": 0.8,
    "axes.edgecolor": theme.ink("muted"),
    "axes.facecolor": theme.ink("panel"),
    "axes.labelcolor": theme.ink("ink"),
    "axes.titlecolor": theme.ink("ink"),
    "figure.facecolor": theme.ink("panel"),
    "savefig.facecolor": theme.ink("panel"),
    "grid.color": theme.ink("grid"),
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "text.color": theme.ink("ink"),
    "xtick.color": theme.ink("muted"),
    "ytick.color": theme.ink("muted"),
    "xtick.labelcolor": theme.ink("ink"),
    "ytick.labelcolor": theme.ink("ink"),
    "svg.fonttype": "path",
    "svg.hashsalt": "memwall",
}
__all__ = ["Across", "Block", "ClaimCell", "ClaimColumn", "Claims", "Column", "across", "claims"]
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


@dataclass(frozen=True)
class Series:
    """One colour of a chart: a value for each category."""

    name: str
    slot: int
    values: tuple[Value, ...]
    modelled: bool = False  # computed, not measured: a dotted line without markers


@dataclass(frozen=True)
class Band:
    """A place on the axis of categories with its interval, in the colour of its series."""

    label: str
    slot: int
    place: float
    low: float
    high: float


@dataclass(frozen=True)
class Chart:
    """What is drawn. `limits` is what the ceiling allows in each category, if it is drawn."""

    title: str
    category_label: str
    value_label: str
    categories: tuple[str | float, ...]
    series: tuple[Series, ...]
    limits: tuple[float, ...] | None = None
    limit_label: str = ""
    reference: float | None = None  # a line that values are compared with, such as 1x
    log_categories: bool = False
    log_values: bool = False
    named_categories: bool = True  # each is named below the axis, if there is room for all
    marks: tuple[tuple[str, float], ...] = ()  # lines across, each with its name
    bands: tuple[Band, ...] = ()


def bars(chart: Chart) -> str:
    """Groups of bars while their colours can be told apart, else a panel for each category.

    Where both would fill pages, a row of dots for each category.
    """
    with matplotlib.rc_context(STYLE):
        horizontal = len(chart.series) * len(chart.categories) > STANDING_BARS
        if horizontal and len(chart.categories) > BAR_GROUPS:
            return saved(_dots(chart), chart.title)
        if len(chart.series) > GROUPED_SERIES:
            return saved(_small_multiples(chart), chart.title)
        return saved(_grouped(chart, horizontal), chart.title)


def lines(chart: Chart) -> str:
    """A line for each series over numbers."""
    with matplotlib.rc_context(STYLE):
        return saved(_lines(chart), chart.title)


def saved(figure: Figure, title: str) -> str:
    """The SVG of a figure drawn in `STYLE`, in colours that follow the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=NO_METADATA)
    text = theme.switching(buffer.getvalue(), title)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def _steady(value: float) -> float:
    """Without the last digits, in which processors differ."""
    return float(f"{value:.7g}")


def _errors(values: Sequence[Value]) -> list[list[float]]:
    below = [_steady(value.value - value.low) for value in values]
    above = [_steady(value.high - value.value) for value in values]
    return [below, above]


def _grouped(chart: Chart, horizontal: bool) -> Figure:
    """A group of bars for each category: standing, or lying where there are many."""
    count = len(chart.categories)
    height = 0.9 + count * (0.1 + 0.11 * len(chart.series)) if horizontal else 3.5
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    axes = figure.add_subplot()
    width = 0.8 / len(chart.series)
    for index, series in enumerate(chart.series):
        at = [i + width * (index - (len(chart.series) - 1) / 2) for i in range(count)]
        _bar_series(axes, at, series, 0.92 * width, horizontal)
    _name_categories(axes, chart, horizontal)
    axes.grid(axis="x" if horizontal else "y")
    _scale_values(axes, chart, horizontal)
    _draw_reference(axes, chart, horizontal)
    _draw_limits(axes, chart, horizontal)
    _legend(figure, axes)
    return figure


def _draw_limits(axes: Axes, chart: Chart, horizontal: bool) -> None:
    """A short line in each category: what the ceiling allows there."""
    for index, limit in enumerate(chart.limits or ()):
        draw = axes.vlines if horizontal else axes.hlines
        label = chart.limit_label if index == 0 else "_"
        ends = (index - 0.46, index + 0.46)
        draw(_steady(limit), *ends, theme.ink("limit"), lw=1.6, label=label)


def _dots(chart: Chart) -> Figure:
    """A row for each category, a dot with its interval for each series; no dot where no value."""
    count = len(chart.categories)
    figure = Figure(figsize=(WIDTH, 1.2 + 0.17 * count), layout="constrained")
    axes = figure.add_subplot()
    for index, series in enumerate(chart.series):
        shift = 0.5 * (index / len(chart.series) - 0.5)
        there = [i for i, value in enumerate(series.values) if not value.absence]
        values = [series.values[i] for i in there]
        axes.errorbar(
            [_steady(value.value) for value in values],
            [i + shift for i in there],
            xerr=_errors(values),
            label=series.name,
            color=theme.series(series.slot),
            fmt=MARKERS[(series.slot + series.slot // len(theme.SERIES)) % len(MARKERS)],
            markersize=3.2,
            elinewidth=0.7,
        )
    _name_categories(axes, chart, horizontal=True)
    axes.grid()
    _scale_values(axes, chart, horizontal=True)
    _draw_reference(axes, chart, horizontal=True)
    _draw_limits(axes, chart, horizontal=True)
    _legend(figure, axes)
    return figure


def _upright(label: str) -> str:
    """A label beside a vertical axis, in lines that are no longer than the axis is high."""
    return textwrap.fill(label, UPRIGHT_LETTERS)


def _name_categories(axes: Axes, chart: Chart, horizontal: bool) -> None:
    names = [str(category) for category in chart.categories]
    if horizontal:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set(xlabel=chart.value_label, ylabel=chart.category_label)
    else:
        axes.set_xticks(range(len(names)), names)
        axes.set(xlabel=chart.category_label, ylabel=_upright(chart.value_label))
    axes.tick_params(axis="y" if horizontal else "x", length=0)
    if not horizontal and sum(map(len, names)) > LABEL_LETTERS:
        for label in axes.get_xticklabels():
            label.set(rotation=35, horizontalalignment="right", rotation_mode="anchor")


def _draw_reference(axes: Axes, chart: Chart, horizontal: bool) -> None:
    if chart.reference is not None:
        draw = axes.axvline if horizontal else axes.axhline
        draw(chart.reference, color=theme.ink("muted"), linewidth=1)


def _small_multiples(chart: Chart) -> Figure:
    count = len(chart.categories)
    columns = min(4 if count > 9 else 3, count)
    rows = math.ceil(count / columns)
    height = rows * (0.55 + 0.165 * len(chart.series)) + 0.6
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for index, category in enumerate(chart.categories):
        axes = grid[index // columns][index % columns]
        for row, series in enumerate(chart.series):
            one = Series("_", series.slot, (series.values[index],))  # named by its row
            _bar_series(axes, [row], one, 0.74, horizontal=True)
        axes.set_title(str(category), loc="left", fontweight="bold")
        axes.grid(axis="x")
        axes.tick_params(axis="y", length=0)
        _draw_reference(axes, chart, horizontal=True)
        if chart.limits:
            label = chart.limit_label if index == 0 else "_"
            at = _steady(chart.limits[index])
            axes.axvline(at, color=theme.ink("limit"), linewidth=1.6, label=label)
    for axes in grid.flat[count:]:
        axes.set_visible(False)
    for index in range(max(0, count - columns), count):
        grid[index // columns][index % columns].tick_params(axis="x", labelbottom=True)
    first = grid[0][0]
    first.set_yticks(range(len(chart.series)), [series.name for series in chart.series])
    first.set_ylim(len(chart.series) - 0.4, -0.6)
    _scale_values(first, chart, horizontal=True)
    figure.supxlabel(chart.value_label, fontsize=8.5)
    if chart.limits:
        _legend(figure, first)
    return figure


def _bar_series(
    axes: Axes, at: Sequence[float], series: Series, thickness: float, horizontal: bool
) -> None:
    """Bars with their intervals; a word where there is no bar."""
    there = [i for i, value in enumerate(series.values) if not value.absence]
    values = [series.values[i] for i in there]
    places, heights = [at[i] for i in there], [_steady(value.value) for value in values]
    colour, ink = theme.series(series.slot), theme.ink("ink")
    whiskers: dict[str, Any] = {"color": ink, "elinewidth": 0.9, "capsize": 1.6, "capthick": 0.9}
    if horizontal:
        axes.barh(places, heights, thickness, color=colour, label=series.name)
        axes.errorbar(heights, places, xerr=_errors(values), fmt="none", **whiskers)
    else:
        axes.bar(places, heights, thickness, color=colour, label=series.name)
        axes.errorbar(places, heights, yerr=_errors(values), fmt="none", **whiskers)
    for i, value in enumerate(series.values):
        if value.absence:
            _word(axes, at[i], value.absence, horizontal)


def _word(axes: Axes, at: float, word: str, horizontal: bool) -> None:
    style: dict[str, Any] = {"color": theme.ink("muted"), "fontsize": 6.5, "fontstyle": "italic"}
    if horizontal:
        axes.annotate(
            word,
            (0, at),
            (3, 0),
            xycoords=("axes fraction", "data"),
            textcoords="offset points",
            va="center",
            **style,
        )
    else:
        axes.annotate(
            word,
            (at, 0),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            rotation=90,
            **style,
        )


def _lines(chart: Chart) -> Figure:
    figure = Figure(figsize=(WIDTH, 3.7), layout="constrained")
    axes = figure.add_subplot()
    xs = [_steady(float(category)) for category in chart.categories]
    for series in chart.series:
        there = [i for i, value in enumerate(series.values) if not value.absence]
        values = [series.values[i] for i in there]
        axes.errorbar(
            [xs[i] for i in there],
            [_steady(value.value) for value in values],
            yerr=_errors(values),
            label=series.name,
            color=theme.series(series.slot),
            marker="" if series.modelled else MARKERS[series.slot % len(MARKERS)],
            linestyle=MODELLED if series.modelled else _dashes(series.slot),
            markersize=4,
            linewidth=1.4,
            elinewidth=0.9,
            capsize=2,
        )
    if chart.limits:
        limits = [_steady(limit) for limit in chart.limits]
        axes.plot(xs, limits, color=theme.ink("limit"), lw=1.6, label=chart.limit_label)
    _draw_reference(axes, chart, horizontal=False)
    _draw_places(axes, chart)
    axes.grid()
    if chart.log_categories:
        axes.set_xscale("log", base=2)
    if chart.named_categories and len(xs) <= 12:
        axes.set_xticks(xs, [f"{x:g}" for x in xs])
        axes.minorticks_off()
    axes.set_xlabel(chart.category_label)
    axes.set_ylabel(_upright(chart.value_label))
    _scale_values(axes, chart, horizontal=False)
    _legend(figure, axes)
    return figure


def _dashes(slot: int) -> str:
    """Colours come round again with other dashes."""
    return DASHES[slot // len(theme.SERIES) % len(DASHES)]


def _draw_places(axes: Axes, chart: Chart) -> None:
    """Bands for measured places, dashed lines with their names for those that others told."""
    for band in chart.bands:
        colour, ends = theme.series(band.slot), (_steady(band.low), _steady(band.high))
        axes.axvspan(*ends, facecolor=colour, alpha=0.22, linewidth=0, label=band.label)
        axes.axvline(_steady(band.place), color=colour, linewidth=1)
    for name, at in chart.marks:
        axes.axvline(at, color=theme.ink("muted"), linewidth=1.2, linestyle=(0, (4, 3)))
        axes.annotate(
            f"{name} {at:g}",
            (at, 1),
            (3, -3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="top",
            color=theme.ink("ink"),
        )


def _scale_values(axes: Axes, chart: Chart, horizontal: bool) -> None:
    """Linear scales begin at zero: the length of a bar is its value."""
    if chart.log_values:
        (axes.set_xscale if horizontal else axes.set_yscale)("log")
        return
    tops = [v.high for series in chart.series for v in series.values if not v.absence]
    tops += [*(chart.limits or ()), chart.reference or 0]
    top = _steady(1.06 * max(tops, default=1.0)) or 1.0
    (axes.set_xlim if horizontal else axes.set_ylim)(0, top)


def _legend(figure: Figure, axes: Axes) -> None:
    """Series first, then what they are compared with."""
    found = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if found:
        found.sort(key=lambda entry: not isinstance(entry[0], Container))
        handles, labels = zip(*found, strict=True)
        figure.legend(handles, labels, loc="outside upper left", ncols=min(4, len(labels)))

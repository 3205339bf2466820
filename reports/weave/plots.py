"""`plot.bars`, `plot.lines` and `plot.drawing`: the figures of a report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weave import crossover as crossovers
from weave import figures, formats, statistics, theme
from weave import model as models
from weave.blocks import FEATURES
from weave.comparison import compare
from weave.definition import Figure as Picture
from weave.drawings import DRAWINGS
from weave.errors import WeaveError
from weave.measurements import NOT_MEASURED, Absence, Measurements
from weave.metrics import Basis, Cell, Over, measure, metric_named
from weave.region import Where
from weave.results import Case

# What the ceiling allows, in the quantity that is drawn.
LIMITS = {"median", "gbps", "gflops", "of_ceiling", "speedup"}
VARIANT_AXES = ("variant", "group")


@dataclass
class Plot:
    """The verbs `plot.*` of one report; keeps what they drew by file name."""

    measured: Measurements
    prefix: str  # folder of the figures as the page sees it
    drawn: dict[str, str] = field(default_factory=dict)

    def bars(
        self,
        id: str,
        x: str,
        y: str,
        series: str = "variant",
        where: Where | None = None,
        over: Over = None,
        ceiling: str | None = None,
        log: bool = False,
    ) -> str:
        """Bars of `y`: a group for each `x`, a bar for each `series`."""
        chart = self._chart(id, x, y, series, where or {}, Basis(self.measured, over, ceiling), log)
        return self._place(id, chart, figures.bars)

    def lines(
        self,
        id: str,
        x: str,
        y: str,
        series: str = "variant",
        where: Where | None = None,
        over: Over = None,
        ceiling: str | None = None,
        log: bool = False,
        log_x: bool = False,
        marks: Mapping[str, float] | None = None,
        crossover: Sequence[str] = (),
    ) -> str:
        """A line of `y` over the numbers of axis or feature `x` for each `series`.

        `marks` are places by name; of the variants in `crossover` it is drawn where they stop being
        faster than `over`.
        """
        basis = Basis(self.measured, over, ceiling)
        chart = self._chart(id, x, y, series, where or {}, basis, log, log_x, with_gaps=True)
        bands = [self._band(variant, over, x, where or {}) for variant in crossover]
        chart = replace(
            chart,
            named_categories=not self.measured.is_feature(x),
            marks=tuple((marks or {}).items()),
            bands=tuple(band for band in bands if band is not None),
        )
        words = [category for category in chart.categories if isinstance(category, str)]
        if words:
            raise WeaveError(f'plot.lines: x="{x}" has the value "{words[0]}", expected numbers')
        return self._place(id, chart, figures.lines)

    def studied(self, id: str, count: str, where: Where, log: bool = False) -> str:
        """A line for each variant over the numbers that end the names of its counts.

        A variant that counts `messages_8` and `messages_64` has a line of `messages` at 8 and 64.
        """
        found: dict[str, dict[int, float]] = {}
        for name in self.measured.values("variant", where):
            cases = self.measured.find(name, where).cases
            counts = [c for case in cases if (c := models.studied(case, count))]
            if len(counts) > 1:
                raise WeaveError(f'plot.studied: {name} counts "{count}" at several points')
            found |= {name: counts[0]} if counts else {}
        lines = [_Line(name, slot, found[name]) for slot, name in enumerate(found)]
        return self._over_ranks(id, lines, count.replace("_", " "), log)

    def modelled(self, id: str, variants: Sequence[str], where: Where, ring: str) -> str:
        """Measured times over ranks, and what the latency-bandwidth model makes of partitions.

        The variant `ring` sends messages, on all ranks; the partitions were studied on one.
        """
        rates = models.rates(self.measured)
        network = models.network(self.measured, ring, {"ranks": "max", "threads": 1})
        lines: list[_Line] = []
        for slot, name in enumerate(variants):
            cases = self.measured.find(name, {**where, "threads": 1}).cases
            times = {self._ranks(case): 1e3 * statistics.median(case.samples) for case in cases}
            lines.append(_Line(name, slot, times))
            alone = [case for case in cases if models.studied(case, "imbalance")]
            if network is not None and alone:
                model = models.Model(network, rates)
                predicted = {ranks: 1e3 * model.seconds(alone[0], ranks)
                             for ranks in models.studied(alone[0], "imbalance")}
                lines.append(_Line(f"{name} (model)", slot, predicted, modelled=True))
        marks = (("measured up to", float(max(rates))),) if rates else ()
        return self._over_ranks(id, lines, "time of a call (ms)", True, marks)

    def _ranks(self, case: Case) -> int:
        return int(self.measured.coordinates(case)["ranks"])

    def _over_ranks(
        self,
        id: str,
        lines: Sequence["_Line"],
        label: str,
        log: bool,
        marks: tuple[tuple[str, float], ...] = (),
    ) -> str:
        """A chart over numbers of ranks; few lines at a time, so each has a colour of its own."""
        categories = sorted({ranks for line in lines for ranks in line.values})
        chart = figures.Chart(
            title=self.measured.experiment.figure(id).caption,
            category_label="ranks",
            value_label=label,
            categories=tuple(categories),
            series=tuple(line.series(categories) for line in lines),
            log_categories=True,
            log_values=log,
            marks=marks,
        )
        return self._place(id, chart, figures.lines)

    def drawing(self, id: str) -> str:
        """A figure that explains and does not measure, from `drawings.py`."""
        figure = self.measured.experiment.figure(id)
        if id not in DRAWINGS:
            raise WeaveError(f'no drawing "{id}", expected one of {", ".join(DRAWINGS)}')
        self._require_new(id, figure)
        self.drawn[figure.file] = DRAWINGS[id](figure.caption)
        return f"![{figure.caption}]({self.prefix}/{figure.file})\n\n*{figure.caption}*"

    def _require_new(self, id: str, figure: Picture) -> None:
        if figure.file in self.drawn:
            raise WeaveError(f'the figure "{id}" is drawn twice')

    def _place(self, id: str, chart: figures.Chart, draw: Callable[[figures.Chart], str]) -> str:
        figure = self.measured.experiment.figure(id)
        self._require_new(id, figure)
        if not any(_has_values(series) for series in chart.series):
            if self.measured.may_lack:
                return f"*{figure.caption} (Not measured in this run.)*"
            raise WeaveError(f'the figure "{id}" would be empty: nothing was measured for it')
        shown = [series for series in chart.series if _has_values(series)]
        self.drawn[figure.file] = draw(replace(chart, series=tuple(shown)))
        absent = [f"`{s.name}` {s.values[0].absence}" for s in chart.series if not _has_values(s)]
        without = f" Not drawn: {', '.join(absent)}." if absent else ""
        return f"![{figure.caption}]({self.prefix}/{figure.file})\n\n*{figure.caption}{without}*"

    def _chart(
        self,
        id: str,
        x: str,
        y: str,
        series: str,
        where: Where,
        basis: Basis,
        log: bool,
        log_x: bool = False,
        with_gaps: bool = False,
    ) -> figures.Chart:
        """`with_gaps`: a series need not have been measured in every category."""
        figure = self.measured.experiment.figure(id)
        metric = metric_named(y)
        categories = self.measured.values(x, where)
        names = [n for n in self.measured.values(series, where) if not _is_reference(y, basis, n)]
        cells = {
            (name, category): self._cell(basis, y, {**where, x: category, series: name}, with_gaps)
            for name in names
            for category in categories
        }
        scale, unit = _scale(y, list(cells.values()))
        slots = self._slots(series, names)
        drawn = tuple(
            figures.Series(
                str(name) + (" STALE" if any(cells[name, c].stale for c in categories) else ""),
                slots[index],
                tuple(_value(cells[name, category], scale) for category in categories),
            )
            for index, name in enumerate(names)
        )
        limits, limit_label = self._limits(basis, y, {x: categories, series: names}, where, scale)
        over = f" over {basis.over_words}" if metric.relative and basis.rivals else ""
        return figures.Chart(
            title=figure.caption,
            category_label=FEATURES.get(x, x),
            value_label=f"{_words(y)}{over}" + (f" ({unit})" if unit else ""),
            categories=tuple(categories),
            series=drawn,
            limits=limits,
            limit_label=limit_label,
            reference=1.0 if metric.kind == "factor" else None,
            log_categories=log_x,
            log_values=log,
        )

    def _band(self, variant: str, over: Over, x: str, where: Where) -> figures.Band | None:
        """Where a variant stops being faster, if that lies between the points."""
        compared = compare(self.measured, variant, over, where)
        if isinstance(compared, Absence):
            return None
        found = crossovers.curve(self.measured, compared, x)
        if not found.within:
            return None
        place, slot = found.place, self._slot("variant", variant, 0)
        label = f"{variant} stops being faster"
        return figures.Band(label, slot, place.value, place.low, place.high)

    def _cell(self, basis: Basis, y: str, region: Where, with_gaps: bool) -> Cell:
        there = self.measured.select(region, timed=False) or self.measured.skips(region)
        if with_gaps and not there:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        variants = self.measured.values("variant", region)
        return measure(basis, y, variants[0] if len(variants) == 1 else None, region)

    def _slots(self, axis: str, names: list[Any]) -> list[int]:
        """Colours of the series of one figure, where there are enough of them no two alike."""
        slots = [self._slot(axis, name, index) for index, name in enumerate(names)]
        enough = len(names) <= len(theme.SERIES)
        alike = enough and len({theme.series(slot) for slot in slots}) < len(slots)
        return list(range(len(names))) if alike else slots

    def _slot(self, axis: str, name: Any, index: int) -> int:
        """A variant has one colour in all figures of a report."""
        variants = self.measured.variants
        return variants.index(name) if axis == "variant" and name in variants else index

    def _limits(
        self, basis: Basis, y: str, axes: Mapping[str, list[Any]], where: Where, scale: float
    ) -> tuple[tuple[float, ...] | None, str]:
        """What the ceiling allows in each category: nothing where series have different bounds.

        `axes` has the categories first, then the series.
        """
        points = {k: v for k, v in where.items() if k not in VARIANT_AXES}
        cases = self.measured.select(points)
        if not cases or y not in LIMITS:
            return None, ""
        if not all(self.measured.has_ceiling(case.launch) for case in cases):
            return None, ""
        (x, categories), (series, names) = axes.items()
        limits = []
        for category in categories:
            regions = [
                points | {k: v for k, v in ((x, category), (series, n)) if k not in VARIANT_AXES}
                for n in names
            ]
            found = [limit for r in regions if (limit := self._limit(basis, y, r)) is not None]
            if not found or len(found) < len(regions) or max(found) > min(found) * (1 + 1e-9):
                return None, ""
            limits.append(found[0] / scale)
        ceiling = self.measured.ceiling(cases[0].launch, basis.ceiling)
        kind = "memory bound" if ceiling.moves_bytes else "ceiling"
        return tuple(limits), f"{kind} ({ceiling.name})"

    def _limit(self, basis: Basis, y: str, region: Where) -> float | None:
        if y == "of_ceiling":
            return 1.0
        if y == "speedup":
            if basis.over_variant is None:
                return None
            cell = measure(basis, "of_ceiling", basis.over_variant, region)
            return 1 / cell.estimate.value if cell.estimate else None
        name = {"median": "bound", "gbps": "ceiling", "gflops": "bound_gflops"}[y]
        estimate = measure(basis, name, None, region).estimate
        return estimate.value if estimate else None


@dataclass(frozen=True)
class _Line:
    """What was counted or computed for some numbers of ranks."""

    name: str
    slot: int
    values: Mapping[int, float]
    modelled: bool = False

    def series(self, categories: Sequence[int]) -> figures.Series:
        """The line at each category, or that there is nothing there."""
        absent = figures.Value(absence=NOT_MEASURED)
        found = {ranks: figures.Value(v, v, v) for ranks, v in self.values.items()}
        values = tuple(found.get(ranks, absent) for ranks in categories)
        return figures.Series(self.name, self.slot, values, self.modelled)


def _has_values(series: figures.Series) -> bool:
    return any(not value.absence for value in series.values)


def _is_reference(y: str, basis: Basis, name: Any) -> bool:
    """The variant that speed-ups refer to is a line at 1, no bar."""
    return y == "speedup" and isinstance(basis.over, str) and name == basis.over


def _value(cell: Cell, scale: float) -> figures.Value:
    if cell.estimate is None:
        assert cell.absence is not None
        return figures.Value(absence=cell.absence.kind)
    scaled = cell.estimate.scaled(1 / scale)
    return figures.Value(scaled.value, scaled.low, scaled.high)


def _scale(name: str, cells: list[Cell]) -> tuple[float, str]:
    """What values are divided by, and the unit that this makes."""
    metric = metric_named(name)
    values = [cell.estimate.value for cell in cells if cell.estimate]
    if metric.kind == "time":
        return formats.time_unit(values)
    if metric.kind == "bytes":
        return formats.byte_unit(values)
    if metric.kind == "percent":
        return 0.01, "%"
    return 1.0, metric.unit


def _words(name: str) -> str:
    words = {
        "median": "time of a call",
        "gbps": "compulsory traffic",
        "gflops": "rate",
        "of_ceiling": "part of the ceiling",
        "setup": "time of the setup",
    }
    return words.get(name, metric_named(name).header)

"""`plot.bars`, `plot.lines` and `plot.drawing`: the figures of a report."""

import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memwall.analysis import crossovers, numerics
from memwall.analysis.basis import Basis, Over
from memwall.analysis.cells import Cell, measure
from memwall.analysis.comparisons import compare
from memwall.analysis.measurements import NOT_MEASURED, Measurements
from memwall.analysis.metrics import metric_named
from memwall.analysis.quantities import FEATURES, Absence, NoNumber
from memwall.figures import curves, dots, models, rows
from memwall.figures.curves import MODELLED, CeilingLine, Roofline, Spot
from memwall.figures.dots import Dots, Panel, Row
from memwall.figures.drawings import DRAWINGS
from memwall.figures.panels import NOISIEST, Band, Chart, Series, Value
from memwall.figures.rows import Timeline
from memwall.figures.sheet import ROLE_OF_GROUP, SERIES, Drawn, series_colour, steady
from memwall.record import notation
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.results import Case

# What the ceiling allows, in the quantity that is drawn.
LIMITS = {"median", "per_nonzero", "gbps", "gflops", "of_ceiling", "speedup"}
VARIANT_AXES = ("variant", "group")
# What stands in the place of a value, but for a reason to skip it.
ABSENT = FAILED, MISSING = ("failed", "not measured")
#: How it ends what stands in the place of a figure that noise would make misleading.
NOT_DRAWN = "Its numbers stand in tables.)*"
FARTHEST = 8  # times the measured ranks that a model is drawn for
LEAST_NUMBERS = 3  # so many numbers are an axis of their own
GROUP_WORDS = {"own": "ours", "peer": "libraries", "format": "formats", "step": "steps"}


@dataclass
class Plot:
    """The verbs `plot.*` of one report; keeps what they drew by file name."""

    measured: Measurements
    prefix: str  # folder of the figures as the page sees it
    drawn: dict[str, str] = field(default_factory=dict)  # pictures, and their specifications

    def bars(self, id: str, x: str, y: str, series: str = "variant", where: Where | None = None,
             over: Over = None, ceiling: str | None = None, log: bool = False,
             called: Mapping[str, str] | None = None) -> str:
        """Values of `y`: a panel for each `x` with a row for each variant; for another `series` a
        row for each `x`, in the colours of the series.

        Quantities from zero are bars; ratios, parts of a ceiling and log scales are dots; over
        three numbers or more they are lines. `called` are words for panels and rows; with them
        a row that has one value tells it.
        """
        if told := self._too_noisy(id, where):
            return told
        chart = self._chart(id, x, y, series, where or {}, Basis(self.measured, over, ceiling), log)
        numbers = [category for category in chart.categories if not isinstance(category, str)]
        over_numbers = len(numbers) == len(chart.categories) >= LEAST_NUMBERS
        chart = worded(chart, called) if called else chart
        return self._place(id, chart, curves.lines if over_numbers else dots.bars)

    def dots(self, id: str, x: str = "matrix", rows: str = "variant", y: str = "of_ceiling",
             series: str | None = "precision", where: Where | None = None, over: Over = None,
             ceiling: str | None = None) -> str:
        """Dots of `y`: a panel for each `x`, a row for each of `rows`, a colour for each `series`.

        Ratios are drawn around 1, parts of a ceiling from zero, all others on a log axis.
        """
        if told := self._too_noisy(id, where):
            return told
        figure, region = self.measured.experiment.figure(id), where or {}
        basis = Basis(self.measured, over, ceiling)
        categories, of_rows = (self.measured.values(axis, region) for axis in (x, rows))
        of_rows = [name for name in of_rows if not _is_reference(y, basis, name)]
        names = self.measured.values(series, region) if series else [""]
        points = [
            [[{**region, x: c, rows: r} | ({series: n} if series else {}) for n in names]
             for r in of_rows]
            for c in categories
        ]
        cells = [[[self._cell(basis, y, at, True) for at in row] for row in p] for p in points]
        flat = [cell for panel in cells for row in panel for cell in row]
        scale, unit = _scale(y, flat)
        there = [k for k in range(len(of_rows)) if any(c.estimate for p in cells for c in p[k])]
        limits, limit_label = self._limits(
            basis, y, {x: categories, series or "variant": names}, region, scale)
        kind = metric_named(y).kind
        data = Dots(
            title=figure.question,
            panels=tuple(
                Panel(c if isinstance(c, str) else f"{x} {c}", self._about(x, c),
                              limits[k] if limits else None)
                for k, c in enumerate(categories)
            ),
            rows=tuple(self._row(rows, of_rows[k], [p[k] for p in cells]) for k in there),
            cells=tuple(
                tuple(tuple(_value(cell, scale) for cell in panel[k]) for k in there)
                for panel in cells
            ),
            series=tuple(str(name) for name in names),
            scale="ratio" if kind == "factor" else "linear" if kind == "percent" else "log",
            value_label=self._value_label(basis, y, unit),
            unit=unit if unit == "%" else "",
            bound_label=limit_label,
            noun=x,
        )
        return self._put(id, dots.dots(data).of(self._machine) if there else None)

    def timeline(self, id: str, variant: str, where: Where | None = None) -> str:
        """What a variant did when at one point, in the round with the median time."""
        found = self.measured.find(variant, where or {})
        if told := self._too_noisy(id, where):
            return told
        if not found.cases:
            return self._put(id, None)
        if len(found.cases) > 1:
            raise UserError(
                f'plot.timeline: found {variant} at {len(found.cases)} points, expected one:'
                " narrow where="
            )
        spans = found.cases[0].timeline
        if not spans:
            return self._put(id, None)
        data = Timeline(self.measured.experiment.figure(id).question, spans)
        return self._put(id, rows.timeline(data).of(self._machine))

    def roofline(self, id: str, where: Where, variants: Sequence[str],
                 ceilings: Sequence[str]) -> str:
        """Rates of variants over their flops per byte, below the ceilings of their launch."""
        if told := self._too_noisy(id, where):
            return told
        found = [case for name in variants for case in self.measured.find(name, where).cases]
        cases = [case for case in found if case.flops and case.bytes]  # others have no place in it
        if not cases:
            return self._put(id, None)
        places = {self.measured.label(case) for case in cases}
        spots = []
        for case in cases:
            rate = numerics.estimate([case.flops / seconds for seconds in case.samples])
            label = f" {self.measured.label(case)}" if len(places) > 1 else ""
            spots.append(
                Spot(
                    case.variant + label,
                    case.flops / case.bytes,
                    Value(rate.value, rate.low, rate.high, samples=rate.rounds),
                    ROLE_OF_GROUP.get(case.group, "ours"),
                )
            )
        launch = cases[0].launch
        known, _ = self.measured.told(
            lambda name: self.measured.ceilings.one(launch, name), ceilings)
        above = tuple(CeilingLine(c.name, c.rate.value, c.moves_bytes) for c in known)
        data = Roofline(self.measured.experiment.figure(id).question, above, tuple(spots))
        return self._put(id, curves.roofline(data).of(self._machine))

    def lines(self, id: str, x: str, y: str, series: str = "variant", where: Where | None = None,
              over: Over = None, ceiling: str | None = None, log: bool = False,
              log_x: bool = False, marks: Mapping[str, float] | None = None,
              crossover: Sequence[str] = (), bound: bool = True) -> str:
        """A line of `y` over the numbers of axis or feature `x` for each `series`, and what a
        ceiling allows, unless nothing comes from there: `bound = false`.

        `marks` are places by name; of the variants in `crossover` it is drawn where they stop being
        faster than `over`.
        """
        if told := self._too_noisy(id, where):
            return told
        basis = Basis(self.measured, over, ceiling)
        chart = self._chart(id, x, y, series, where or {}, basis, log, log_x, with_gaps=True)
        bands = [self._band(variant, over, x, where or {}) for variant in crossover]
        chart = replace(
            chart,
            named_categories=not self.measured.is_feature(x),
            marks=_labelled(marks or {}),
            limits=chart.limits if bound else None,
            bands=tuple(band for band in bands if band is not None),
        )
        words = [category for category in chart.categories if isinstance(category, str)]
        if words:
            raise UserError(f'plot.lines: x="{x}" has the value "{words[0]}", expected numbers')
        return self._place(id, chart, curves.lines)

    def sizes(self, id: str, y: str, called: Mapping[str, str], where: Where | None = None) -> str:
        """A line of `y` over the sizes that end the names of variants, as in `chase_64_KiB`, and
        what the processor's caches hold. `called` are words for the `line`, a `cache` and `y`."""
        if told := self._too_noisy(id, where):
            return told
        names = self.measured.values("variant", where or {})
        cells = [self._cell(Basis(self.measured), y, {**(where or {}), "variant": one}, True)
                 for one in names]
        scale, unit = _scale(y, cells)
        sizes = [binary_size(name) for name in names]
        caches = self.measured.result.raw["machine"]["cpu"]["caches"]
        held = [(f"{called['cache']} {one['level']}: {_binary(one['bytes'])}", float(one["bytes"]))
                for one in caches
                if one["kind"] != "instruction" and min(sizes) < one["bytes"] < max(sizes)]
        line = Series(called["line"], 0, tuple(_value(cell, scale) for cell in cells))
        chart = Chart(
            title=self.measured.experiment.figure(id).question,
            category_label="bytes",
            value_label=f"{called['y']} ({unit})",
            categories=tuple(float(size) for size in sizes),
            series=(line,),
            log_categories=True,
            log_values=True,
            marks=tuple(held),
        )
        return self._place(id, chart, curves.lines)

    def pairs(self, id: str, x: str, y: str, pairs: Mapping[str, Sequence[str]],
              called: Mapping[str, str], where: Where | None = None, times: float = 1.0,
              log: bool = False, marks: Mapping[str, float] | None = None) -> str:
        """A line of `y` for each pair, a variant over another one, over `times` the numbers of `x`:
        upwards from zero with a line at 1 if `called` has a word for `one`, else as `y` is drawn.
        It has words for `x` and `y` too; `marks` are places by name."""
        if told := self._too_noisy(id, where):
            return told
        region, one = where or {}, called.get("one", "")
        numbers = self.measured.values(x, region)
        cells = [[self._cell(Basis(self.measured, over), y, {**region, x: n, "variant": name}, True)
                  for n in numbers] for name, over in pairs.values()]
        slots = self._slots("variant", [over for _, over in pairs.values()])
        chart = Chart(
            title=self.measured.experiment.figure(id).question,
            category_label=called.get("x", FEATURES.get(x, x)),
            value_label=called.get("y", _words(y)),
            categories=tuple(steady(times * number) for number in numbers),
            series=tuple(Series(name, slot, tuple(_value(cell, 1.0) for cell in of_pair))
                         for name, slot, of_pair in zip(pairs, slots, cells, strict=True)),
            limits=tuple(1.0 for _ in numbers) if one else None,
            limit_label=one,
            log_values=log,
            named_categories=not self.measured.is_feature(x),
            marks=_labelled(marks or {}),
            kind="number" if one else metric_named(y).kind,
        )
        return self._place(id, chart, curves.lines)

    def studied(self, id: str, count: str, where: Where, log: bool = False) -> str:
        """A line for each variant over the numbers that end the names of its counts.

        A variant that counts `messages_8` and `messages_64` has a line of `messages` at 8 and 64.
        """
        found: dict[str, dict[int, float]] = {}
        for name in self.measured.values("variant", where):
            cases = self.measured.find(name, where).cases
            counts = [c for case in cases if (c := models.studied(case, count))]
            if len(counts) > 1:
                raise UserError(f'plot.studied: {name} counts "{count}" at several points')
            found |= {name: counts[0]} if counts else {}
        lines = [_Line(name, slot, found[name]) for slot, name in enumerate(found)]
        return self._over_ranks(id, lines, count.replace("_", " "), log)

    def modelled(self, id: str, variants: Sequence[str], where: Where, ring: str) -> str:
        """Measured times over ranks, and what the latency-bandwidth model makes of partitions.

        The variant `ring` sends messages, on all ranks; the partitions were studied on one. The
        model goes to `FARTHEST` times the ranks that were measured: beyond, nothing supports it.
        """
        if told := self._too_noisy(id, where):
            return told
        reached = models.rates(self.measured)
        try:
            messages = models.network(self.measured, ring, {"ranks": "max", "threads": 1})
        except NoNumber:
            messages = None
        lines: list[_Line] = []
        for slot, name in enumerate(variants):
            cases = self.measured.find(name, {**where, "threads": 1}).cases
            times = {self._ranks(case): 1e3 * statistics.median(case.samples) for case in cases}
            lines.append(_Line(name, slot, times))
            alone = [case for case in cases if models.studied(case, "imbalance")]
            if messages is not None and alone and reached:
                model = models.Model(messages, reached)
                predicted = {ranks: 1e3 * model.seconds(alone[0], ranks)
                             for ranks in models.studied(alone[0], "imbalance")
                             if ranks <= FARTHEST * max(reached)}
                lines.append(_Line(name + MODELLED, slot, predicted, modelled=True))
        marks = _labelled({"measured up to": float(max(reached))} if reached else {})
        return self._over_ranks(id, lines, "time of a call (ms)", True, marks)

    def bus(self, id: str, variant: str, where: Where | None = None) -> str:
        """A rate over the bus at one point, above what each generation of PCI Express promises."""
        if told := self._too_noisy(id, where):
            return told
        region = {**(where or {}), "variant": variant}
        measured = self._cell(Basis(self.measured), "gbps", region, True)
        gpus = self.measured.result.raw["machine"]["gpus"]
        bus = gpus[0].get("bus") if gpus else None
        if measured.estimate is None or bus is None:
            return self._put(id, None)
        absent = Value(absence=NOT_MEASURED)
        nominal = [
            Series(f"generation {generation}", generation - 1,
                   tuple(Value(v, v, v) for lanes in models.LANES
                         for v in [models.bus_rate(generation, lanes) / 1e9]), modelled=True)
            for generation in models.LANE_RATES
        ]
        found = tuple(_value(measured, 1.0) if lanes == bus["lanes"] else absent
                      for lanes in models.LANES)
        chart = Chart(
            title=self.measured.experiment.figure(id).question,
            category_label="lanes",
            value_label="one direction of the bus (GB/s)",
            categories=tuple(float(lanes) for lanes in models.LANES),
            series=(*nominal, Series("measured", len(nominal), found)),
            log_categories=True,
            log_values=True,
        )
        return self._place(id, chart, curves.lines)

    def _ranks(self, case: Case) -> int:
        return int(self.measured.coordinates(case)["ranks"])

    def _over_ranks(self, id: str, lines: Sequence["_Line"], label: str, log: bool,
                    marks: tuple[tuple[str, float], ...] = ()) -> str:
        """A chart over numbers of ranks; few lines at a time, so each has a colour of its own."""
        categories = sorted({ranks for line in lines for ranks in line.values})
        chart = Chart(
            title=self.measured.experiment.figure(id).question,
            category_label="ranks",
            value_label=label,
            categories=tuple(categories),
            series=tuple(line.series(categories) for line in lines),
            log_categories=True,
            log_values=log,
            marks=marks,
        )
        return self._place(id, chart, curves.lines)

    def drawing(self, id: str) -> str:
        """A figure that explains and does not measure, from `drawings.py`."""
        figure = self.measured.experiment.figure(id)
        if id not in DRAWINGS:
            raise UserError(f'no drawing "{id}", expected one of {", ".join(DRAWINGS)}')
        return self._put(id, Drawn(DRAWINGS[id](figure.question, figure.caption)))

    def _place(self, id: str, chart: Chart, draw: Callable[[Chart], Drawn]) -> str:
        shown = [series for series in chart.series if _has_values(series)]
        lacking = [s for s in chart.series if s.values and not _has_values(s)]
        absent = [f"`{s.name}` {_kind(s.values[0].absence)}" for s in lacking]
        without = f" Not drawn: {', '.join(absent)}." if absent else ""
        drawn = draw(replace(chart, series=tuple(shown))).of(self._machine) if shown else None
        return self._put(id, drawn, without)

    @property
    def _machine(self) -> str:
        return str(self.measured.result.raw["machine"]["slug"])

    def _too_noisy(self, id: str, where: Where | None) -> str:
        """What stands in the place of a figure where two runs of the same code differ by so much
        that it would mislead; else nothing."""
        noise = self.measured.noise_of(self.measured.select(where or {})).factor
        if noise <= NOISIEST:
            return ""
        return (f"*{self.measured.experiment.figure(id).caption} (Not drawn: the same code, timed"
                f" twice, differs by more than half in this run. {NOT_DRAWN}")

    def _put(self, id: str, drawn: Drawn | None, without: str = "") -> str:
        """Keeps a figure under its file's name; None: nothing was measured for it."""
        figure = self.measured.experiment.figure(id)
        if figure.file in self.drawn:
            raise UserError(f'the figure "{id}" is drawn twice')
        if drawn is None:
            if self.measured.may_lack:
                return f"*{figure.caption} (Not measured in this run.)*"
            raise UserError(f'the figure "{id}" would be empty: nothing was measured for it')
        self.drawn |= drawn.files(figure.file)
        return f"![{figure.question}]({self.prefix}/{figure.file})\n\n*{figure.caption}{without}*"

    def _chart(self, id: str, x: str, y: str, series: str, where: Where, basis: Basis, log: bool,
               log_x: bool = False, with_gaps: bool = False) -> Chart:
        """`with_gaps`: a series need not have been measured in every category."""
        figure = self.measured.experiment.figure(id)
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
            Series(
                str(name) + (" STALE" if any(cells[name, c].stale for c in categories) else ""),
                slots[index],
                tuple(_value(cells[name, category], scale) for category in categories),
                role=self._role(series, name),
                group=self._group(name) if series == "variant" else "",
            )
            for index, name in enumerate(names)
        )
        limits, limit_label = self._limits(basis, y, {x: categories, series: names}, where, scale)
        return Chart(
            title=figure.question,
            category_label=FEATURES.get(x, x),
            value_label=self._value_label(basis, y, unit),
            categories=tuple(categories),
            series=drawn,
            limits=limits,
            limit_label=limit_label,
            log_categories=log_x,
            log_values=log,
            kind=metric_named(y).kind,
            abouts=tuple(self._about(x, category) for category in categories),
            rows_are_series=series in VARIANT_AXES,
        )

    def _value_label(self, basis: Basis, y: str, unit: str) -> str:
        relative = metric_named(y).relative and basis.rivals
        over = f" over {basis.over_words}" if relative else ""
        shown = f" ({unit})" if unit and unit != "x" else ""
        return f"{_words(y)}{over}{shown}"

    def _about(self, axis: str, name: Any) -> str:
        """A line below the name of a data set: how long its rows are."""
        features = self.measured.features(name)
        if axis != "matrix" or "mean_row" not in features:
            return ""
        mean = features["mean_row"]
        return f"{notation.count(mean) if mean >= 10 else f'{mean:.2g}'} per row"

    def _row(self, axis: str, name: Any, cells: Sequence[Sequence[Cell]]) -> Row:
        stale = " STALE" if any(cell.stale for row in cells for cell in row) else ""
        group = self._group(name) if axis == "variant" else ""
        return Row(f"{name}{stale}", group, self._role(axis, name))

    def _role(self, axis: str, name: Any) -> str:
        """The role in the colours of a row: whose code a variant is."""
        if axis != "variant":
            return "ours"
        of_group = next((c.group for c in self.measured.cases if c.variant == name), "own")
        return ROLE_OF_GROUP.get(of_group, "ours")

    def _group(self, name: Any) -> str:
        """What stands above the variants of a group."""
        found = next((c.group for c in self.measured.cases if c.variant == name), "own")
        return GROUP_WORDS.get(found, found)

    def _band(self, variant: str, over: Over, x: str, where: Where) -> Band | None:
        """Where a variant stops being faster, if that lies between the points."""
        compared = compare(self.measured, variant, over, where)
        if isinstance(compared, Absence):
            return None
        found, _ = self.measured.told(lambda one: crossovers.curve(self.measured, one, x),
                                      [compared])
        if not found or not found[0].within:
            return None
        place, slot = found[0].place, self._slot("variant", variant, 0)
        label = f"{variant} stops being faster"
        return Band(label, slot, place.value, place.low, place.high)

    def _cell(self, basis: Basis, y: str, region: Where, with_gaps: bool) -> Cell:
        there = self.measured.select(region, timed=False) or self.measured.skips(region)
        if with_gaps and not there:
            return Cell(absence=Absence("missing", NOT_MEASURED))
        variants = self.measured.values("variant", region)
        return measure(basis, y, variants[0] if len(variants) == 1 else None, region)

    def _slots(self, axis: str, names: list[Any]) -> list[int]:
        """Colours of the series of one figure, where there are enough of them no two alike."""
        slots = [self._slot(axis, name, index) for index, name in enumerate(names)]
        enough = len(names) <= len(SERIES)
        alike = enough and len({series_colour(slot) for slot in slots}) < len(slots)
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
        if y == "of_ceiling":
            return tuple(1 / scale for _ in next(iter(axes.values()))), self._bound(basis, cases)
        if not all(self.measured.is_bounded(case) for case in cases):
            return None, ""
        of = self.measured.ceilings.of
        bounds, _ = self.measured.told(
            lambda case: [one.work_of(case) for one in of(case.launch, basis.ceiling)], cases)
        if len(bounds) < len(cases) or not all(map(all, bounds)):
            return None, ""  # it limits other work: bytes, where these only compute
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
        return tuple(limits), self._bound(basis, cases)

    def _bound(self, basis: Basis, cases: Sequence[Case]) -> str:
        """What limits these cases, by the ceiling that their work takes the longest at."""
        of = self.measured.ceilings.of
        binding, _ = self.measured.told(lambda case: max(
            of(case.launch, basis.ceiling, case.target),
            key=lambda one: one.work_of(case) / one.rate.value), cases)
        words = {one.name: "arithmetic" if not one.moves_bytes else "the bus" if "bus" in one.name
                 else "memory" for one in binding}
        allowing = " or ".join(dict.fromkeys(words.values())) or "the machine"
        return f"what {allowing} allows" + (f" ({next(iter(words))})" if len(words) == 1 else "")

    def _limit(self, basis: Basis, y: str, region: Where) -> float | None:
        if y == "speedup":
            if basis.over_variant is None:
                return None
            cell = measure(basis, "of_ceiling", basis.over_variant, region)
            return 1 / cell.estimate.value if cell.estimate else None
        name = {"median": "bound", "per_nonzero": "bound_per_nonzero", "gbps": "ceiling",
                "gflops": "bound_gflops"}[y]
        estimate = measure(basis, name, None, region).estimate
        return estimate.value if estimate else None


@dataclass(frozen=True)
class _Line:
    """What was counted or computed for some numbers of ranks."""

    name: str
    slot: int
    values: Mapping[int, float]
    modelled: bool = False

    def series(self, categories: Sequence[int]) -> Series:
        """The line at each category, or that there is nothing there."""
        absent = Value(absence=NOT_MEASURED)
        found = {ranks: Value(v, v, v) for ranks, v in self.values.items()}
        values = tuple(found.get(ranks, absent) for ranks in categories)
        return Series(self.name, self.slot, values, self.modelled)


def worded(chart: Chart, words: Mapping[str, str]) -> Chart:
    """A chart with words in the place of names; behind those of a row stands its only value."""
    found = re.search(r"\((\w+)\)$", chart.value_label)
    unit = f" {found[1]}" if found else ""

    def told(row: Series) -> str:
        name, there = words.get(row.name, row.name), [v for v in row.values if not v.absence]
        is_only = len(row.values) == len(there) == 1
        return f"{name}: {notation.significant(there[0].value, 2)}{unit}" if is_only else name

    panels = tuple(words.get(c, c) if isinstance(c, str) else c for c in chart.categories)
    rows = tuple(replace(row, name=told(row)) for row in chart.series)
    return replace(chart, categories=panels, series=rows)


def _labelled(marks: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """Places with what stands beside them: `article 0.3`."""
    return tuple((f"{name} {at:g}", at) for name, at in marks.items())


def _binary(size: int) -> str:
    scale, unit = notation.byte_unit([size])
    return f"{size / scale:g} {unit}"


def binary_size(name: str) -> int:
    """The bytes that end a name: 65536 of `chase_64_KiB`."""
    _, count, unit = name.rsplit("_", 2)
    return int(count) << {"KiB": 10, "MiB": 20, "GiB": 30}[unit]


def _kind(absence: str) -> str:
    return absence if absence in ABSENT else "skipped"


def _has_values(series: Series) -> bool:
    return any(not value.absence for value in series.values)


def _is_reference(y: str, basis: Basis, name: Any) -> bool:
    """The variant that speed-ups refer to is a line at 1, no bar."""
    return y == "speedup" and isinstance(basis.over, str) and name == basis.over


def _value(cell: Cell, scale: float) -> Value:
    if cell.estimate is None:
        assert cell.absence is not None
        known = {"failed": FAILED, "missing": MISSING}
        return Value(absence=known.get(cell.absence.kind, cell.absence.reason))
    scaled = cell.estimate.scaled(1 / scale)
    return Value(scaled.value, scaled.low, scaled.high, samples=scaled.rounds)


def _scale(name: str, cells: list[Cell]) -> tuple[float, str]:
    """What values are divided by, and the unit that this makes."""
    metric = metric_named(name)
    values = [cell.estimate.value for cell in cells if cell.estimate]
    if metric.kind == "time":
        return notation.time_unit(values)
    if metric.kind == "bytes":
        return notation.byte_unit(values)
    if metric.kind == "percent":
        return 0.01, "%"
    return 1.0, metric.unit


def _words(name: str) -> str:
    words = {
        "median": "time of a call",
        "per_nonzero": "time for each nonzero",
        "gbps": "compulsory traffic",
        "gflops": "rate",
        "gops": "operations",
        "of_ceiling": "share of the bound reached",
        "setup": "time of the setup",
    }
    return words.get(name, metric_named(name).header)

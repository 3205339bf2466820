"""Markdown tables: rows of metrics, pivots of one metric."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from memwall.analysis import numerics, shares
from memwall.analysis.basis import Basis
from memwall.analysis.cells import Cell, measure
from memwall.analysis.measurements import NOT_MEASURED, Measurements
from memwall.analysis.metrics import metric_named
from memwall.analysis.units import count_words
from memwall.record import notation
from memwall.record.errors import UserError
from memwall.record.regions import Where, words
from memwall.record.results import Case

NO_VALUE = "–"
TEXT_COLUMNS = {"verdict": "verdict", "cache": "cache", "over": "compared with", "note": "note"}
PROSE_COLUMNS = ("over", "note")
STALE = "*(out of date)*"
NOTHING = f"*{NOT_MEASURED[0].upper()}{NOT_MEASURED[1:]}.*"
MOST_COLUMNS = 12  # of a pivot that has fewer rows: more of them go downwards


def listing(basis: Basis, rows: Sequence[str], cols: Sequence[str], where: Where) -> str:
    """One line for each combination of the row axes, one column for each metric."""
    regions = _regions(basis.measured, rows, where)
    for name in cols:
        if name not in TEXT_COLUMNS:
            metric_named(name)
    if not regions:
        return NOTHING
    lines = [[_cell(basis, name, region) for name in cols] for region in regions]
    units = _units(cols, lines)
    head = [*rows, *(_header(name, units) for name in cols)]
    body = []
    for region, cells in zip(regions, lines, strict=True):
        stale = any(isinstance(cell, Cell) and cell.stale for cell in cells)
        labels = [axis_value(axis, region[axis]) for axis in rows]
        labels[-1] += f" {STALE}" if stale else ""
        body.append([*labels, *_texts(cols, cells, units)])
    prose = [len(rows) + index for index, name in enumerate(cols) if name in PROSE_COLUMNS]
    table = markdown(head, body, numbers=len(rows), prose=prose)
    return table + _note(basis, cols, [cell for line in lines for cell in line], where, rows)


def pivot(basis: Basis, rows: str, columns: str, value: str, where: Where) -> str:
    """One metric, an axis downwards and an axis across; a wide table is turned round."""
    metric = metric_named(value)
    where, lost = _without_lost(basis.measured, (rows, columns), where)
    down, across = (basis.measured.values(axis, where) for axis in (rows, columns))
    if len(across) > max(MOST_COLUMNS, len(down)):
        rows, columns, across = columns, rows, down
    regions = _regions(basis.measured, [rows], where)
    if not regions or not across:
        return NOTHING
    lines = [[_cell(basis, value, {**region, columns: c}) for c in across] for region in regions]
    units = _units([value] * len(across), lines)
    title = metric.header + _unit_suffix(value, units)
    head = [f"{title}: {rows} \\ {columns}", *(axis_value(columns, column) for column in across)]
    body = []
    for region, cells in zip(regions, lines, strict=True):
        texts = []
        for cell in cells:
            assert isinstance(cell, Cell)
            texts.append(_small_interval(_text(value, cell, units)) + _stale_mark(cell))
        body.append([axis_value(rows, region[rows]), *texts])
    note = _note(basis, [value], [cell for line in lines for cell in line], where, [rows, columns])
    missing = f"\n\n<sub>Not measured in this run: {', '.join(lost)}.</sub>" if lost else ""
    return markdown(head, body, numbers=1) + note + missing


def _without_lost(
    measured: Measurements, axes: Sequence[str], where: Where
) -> tuple[Where, list[str]]:
    """A region without the variants that a result may lack and does, and their names."""
    if "variant" not in axes or not measured.may_lack:
        return where, []
    names = measured.values("variant", where)
    there = [name for name in names if name in measured.variants]
    lost = [axis_value("variant", name) for name in names if name not in there]
    return ({**where, "variant": there} if lost else where), lost


def _small_interval(text: str) -> str:
    """`1.23x (1.20–1.26)` with the interval in small type: pivots are wide."""
    value, parenthesis, interval = text.partition(" (")
    return f"{value} <sub>{interval[:-1]}</sub>" if parenthesis else text


def _stale_mark(cell: Cell) -> str:
    return f" {STALE}" if cell.stale else ""


def markdown(
    head: Sequence[str], body: Sequence[Sequence[str]], numbers: int, prose: Sequence[int] = (),
    centred: Sequence[int] = ()
) -> str:
    """A table whose columns from the position `numbers` on, but for `prose`, are right-aligned."""
    left = [index < numbers or index in prose for index in range(len(head))]
    rule = [":-:" if index in centred else "---" if is_left else "---:"
            for index, is_left in enumerate(left)]
    lines = [head, rule, *body]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in lines)


def aligned(rows: Sequence[Sequence[str]], sides: str = "") -> list[str]:
    """A table for a terminal; each column stands to the left, or as `sides` tells: `<<>`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = sides or "<" * len(widths)
    return ["  ".join(f"{cell:{side}{width}}" for cell, side, width
                      in zip(row, sides, widths, strict=True)).rstrip() for row in rows]


def axis_value(axis: str, value: Any) -> str:
    """How a value of an axis is written: names of code as code."""
    return f"`{value}`" if axis in ("variant", "group") else str(value)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def _regions(measured: Measurements, rows: Sequence[str], where: Where) -> list[Where]:
    """`where` narrowed to each combination of the row axes that was measured or skipped."""
    regions: list[Where] = []
    for combination in product(*(measured.values(axis, where) for axis in rows)):
        regions.append({**where, **dict(zip(rows, combination, strict=True))})
    if len(rows) > 1:
        regions = [region for region in regions if _exists(measured, region)]
    if not regions and not measured.may_lack:
        raise UserError(
            f"no rows: nothing was measured where {words(where) or 'everywhere'}"
        )
    return regions


def _exists(measured: Measurements, region: Where) -> bool:
    """Whether anything, timed or not, stands in a region."""
    return bool(measured.select(region, timed=False)) or bool(measured.skips(region))


def _cell(basis: Basis, name: str, region: Where) -> Cell | str:
    variant = _only(basis.measured, region)
    if name in TEXT_COLUMNS:
        return _text_column(basis, name, variant, region)
    of_point = metric_named(name).of_point
    others = {axis: value for axis, value in region.items() if axis not in ("variant", "group")}
    return measure(basis, name, None if of_point else variant, others if of_point else region)


def _only(measured: Measurements, region: Where) -> str | None:
    """The one variant of a region."""
    variants = measured.values("variant", region)
    return variants[0] if len(variants) == 1 else None


def _text_column(basis: Basis, name: str, variant: str | None, region: Where) -> str:
    if variant is None:
        raise UserError(f'"{name}" differs between variants: name one, or put them in rows')
    found = basis.measured.find(variant, region)
    if found.absence:
        return str(found.absence) if name == "verdict" else NO_VALUE
    if name == "over":
        texts = [f"`{pair.than.variant}`" for pair in basis.pairs(found.cases)]
    elif name == "note":
        texts = [note for case in found.cases for note in case.notes]
    elif name == "cache":
        texts = sorted({case.cache for case in found.cases})
    else:
        return _checks(found.cases)
    return ", ".join(dict.fromkeys(texts)) or NO_VALUE


def _checks(cases: Sequence[Case]) -> str:
    checks = dict.fromkeys(check for case in cases for check in case.verdict["checks"])
    return "passed: " + " and ".join(checks)


def _units(cols: Sequence[str], lines: Sequence[Sequence[Cell | str]]) -> Mapping[str, Any]:
    """One unit for all times of calls, one each for setups and operations, one for sizes."""
    found: dict[str, list[float]] = {}
    for line in lines:
        for name, cell in zip(cols, line, strict=True):
            if isinstance(cell, Cell) and cell.estimate:
                found.setdefault(_family(name), []).append(cell.estimate.value)
    chosen: dict[str, Any] = {}
    for family, values in found.items():
        unit = notation.byte_unit if family == "bytes" else notation.time_unit
        chosen[family] = unit(values)
    return chosen


def _family(name: str) -> str:
    if name in ("setup", "per_operation"):
        return name
    return metric_named(name).kind if metric_named(name).kind in ("time", "bytes") else "plain"


def _header(name: str, units: Mapping[str, Any]) -> str:
    if name in TEXT_COLUMNS:
        return TEXT_COLUMNS[name]
    return metric_named(name).header + _unit_suffix(name, units)


def _unit_suffix(name: str, units: Mapping[str, Any]) -> str:
    family = _family(name)
    return f" [{units[family][1]}]" if family != "plain" and family in units else ""


def _texts(cols: Sequence[str], cells: Sequence[Cell | str], units: Mapping[str, Any]) -> list[str]:
    """The reason of an absence stands once in a line."""
    texts: list[str] = []
    told = False
    for name, cell in zip(cols, cells, strict=True):
        if isinstance(cell, Cell) and cell.absence:
            texts.append(NO_VALUE if told or "verdict" in cols else str(cell.absence))
            told = True
        else:
            texts.append(cell if isinstance(cell, str) else _text(name, cell, units))
    return texts


def _text(name: str, cell: Cell, units: Mapping[str, Any]) -> str:
    if cell.estimate is None:
        assert cell.absence is not None
        return cell.absence.kind if cell.absence.kind != "missing" else str(cell.absence)
    text = written(name, cell.estimate, units.get(_family(name)))
    return text + ("\\*" if cell.unmeasured else "")


def written(name: str, estimate: numerics.Estimate, unit: tuple[float, str] | None = None) -> str:
    """A value of a metric, in a unit that a header names, or else with its own."""
    kind = metric_named(name).kind
    if kind in ("time", "bytes"):
        if unit is None:
            return (notation.time if kind == "time" else notation.size)(estimate.value)
        scaled = estimate.scaled(1 / unit[0])
        text = notation.significant(scaled.value)
        return numerics.interval(scaled, text) if name == "ci" else text
    if kind == "factor":
        return numerics.speedup(estimate)
    if kind == "percent":
        return notation.percent(estimate.value)
    if kind == "count":
        return count_words(estimate.value)
    return notation.significant(estimate.value)


def _note(
    basis: Basis,
    cols: Sequence[str],
    cells: Sequence[Cell | str],
    where: Where,
    axes: Sequence[str],
) -> str:
    """What the numbers above are, so that no table has to be explained by hand."""
    values = [cell for cell in cells if isinstance(cell, Cell) and cell.estimate]
    parts = []
    if any(not metric_named(name).of_point for name in cols if name not in TEXT_COLUMNS):
        parts += _statistics_note(values, any(_has_interval(name) for name in cols))
    if any(metric_named(name).relative for name in cols if name not in TEXT_COLUMNS):
        parts.append(f"compared with {_over_words(basis)} round by round")
    parts += _mean_note(values)
    if {"of_ceiling", "bound", "bound_gflops"} & set(cols):
        parts.append(f"ceiling: {ceiling_words(basis, where)}")
    if "of_ceiling" in cols and (why := shares.reasons(basis, basis.measured.select(where))):
        parts.append(f"above {notation.percent(shares.MOST)}: {', or '.join(why)}")
    fixed = words({name: value for name, value in where.items() if name not in axes})
    parts += [fixed] if fixed else []
    if any(cell.unmeasured for cell in values):
        parts.append("\\* not at all points, see the skipped cases")
    text = "; ".join(parts)
    return f"\n\n<sub>{text[0].upper()}{text[1:]}.</sub>" if parts else ""


def _has_interval(name: str) -> bool:
    """Whether cells of a column are printed with their intervals."""
    return name == "ci" or (name not in TEXT_COLUMNS and metric_named(name).kind == "factor")


def _statistics_note(values: Sequence[Cell], with_intervals: bool) -> list[str]:
    sampled = [cell.estimate for cell in values if cell.estimate and cell.estimate.rounds > 1]
    if not sampled:
        return []
    medians = f"medians of {notation.plural(sampled[0].rounds, 'round')}"
    if not with_intervals:
        return [medians]
    words = numerics.coverage(sampled[0])
    if sampled[0].coverage < numerics.LEVEL:
        return [f"medians with a {words}"]
    return [f"{medians} with {words}s"]


def _mean_note(values: Sequence[Cell]) -> list[str]:
    most = max((cell.points for cell in values), default=0)
    return [f"geometric mean over {notation.plural(most, 'point')}"] if most > 1 else []


def _over_words(basis: Basis) -> str:
    if isinstance(basis.over, str):
        return f"`{basis.over}`"
    return basis.over_words + (" at each point" if len(basis.rivals) > 1 else "")


def ceiling_words(basis: Basis, where: Where) -> str:
    """The ceiling that bounds are drawn from, each where launches differ."""
    measured = basis.measured
    launches = dict.fromkeys(case.launch for case in measured.select(where, timed=False))
    ceilings, why = measured.told(lambda at: measured.ceilings.one(at, basis.ceiling), launches)
    texts = dict.fromkeys(
        f"{ceiling.name} at {notation.significant(ceiling.rate.value / 1e9)} {ceiling.unit}"
        + (f" over {notation.size(ceiling.working_set)}" if ceiling.working_set else "")
        for ceiling in ceilings
    )
    return ", ".join(texts) or why

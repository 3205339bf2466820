"""The section Results: a table a study, of the machine that measured most of it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import median
from typing import Any

from memwall.analysis.basis import Basis
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import ROUND, metric_named
from memwall.analysis.statements import Statement
from memwall.pages.blocks import folded
from memwall.pages.report.told import MOST_COLUMNS, Told, chunks
from memwall.pages.survey import OnMachine
from memwall.pages.tables import markdown
from memwall.record import notation
from memwall.record.regions import Where, phrase
from memwall.record.results import STUDY, Case

MEANING = ("A cell is the median time of a call or, where the heading says so, something else that"
           " was measured. In brackets stands the share of the *memory bound*: the time that a"
           " ceiling allows for the work which no program can avoid, as a part of the time that was"
           " measured; 100 % would be at the ceiling. A *ceiling* is a rate that a probe reached at"
           " best in the same run, before, between and after the other measurements. A share may"
           " be above 100 % where a format stores fewer bytes than are counted, where data lie in a"
           " cache, or where the machine gave more than while its ceiling was measured. A cell is"
           " empty where a variant was not measured; why stands below the tables.")
MEANING_OF_RATES = ("A cell is the median of what its table's heading says. It is empty where a"
                    " variant was not measured; why stands below the tables.")
#: What is measured, in the head of a table.
NOUNS = {"median": "time of a call", "per_operation": "time of one operation"}
#: And what it is where rates are told, if all cases have such work.
RATES: dict[str, Callable[[Case], float]] = {
    "gbps": lambda case: case.bytes, "gflops": lambda case: case.flops}
NUMBER = re.compile(r"\d[\d.]*")
#: Rows of a table of variants of several kinds.
MOST_ROWS = 12


def section(told: Told) -> str:
    """Tables of every study; what was skipped is said once a study."""
    parts = [MEANING_OF_RATES if told.experiment.rates else f"{MEANING} {_ceiling(told)}"]
    studies = dict.fromkeys(study for one in told.runs
                            for study in one.measured.loose.values(STUDY, {}))
    for study in studies:
        one = widest(told, study)
        if one.measured.loose.select({STUDY: study}):
            about = f", on `{one.machine}`" if len(told.runs) > 1 else ""
            parts += [f"### Study `{study}`{about}", *OfStudy(told, one, study).parts()]
    return "\n\n".join(parts)


def _ceiling(told: Told) -> str:
    """Which ceiling bounds are drawn from."""
    named = [f"`{name}`" for name in told.experiment.ceilings]
    others = ("the fastest probe that moves bytes where a variant runs, and the probe of arithmetic"
              " in its precision; the one counts that allows least")
    if not named:
        return f"Ceilings here are {others}."
    return (f"The ceiling here is that of {' or '.join(named)}, whichever allows less; where these"
            f" do not run, as on a GPU, {others}.")


def widest(told: Told, study: str) -> OnMachine:
    """The lead machine if it measured a study, else the one that measured most of it."""
    counts = {one.machine: len(one.measured.loose.select({STUDY: study})) for one in told.runs}
    lead = told.runs[0]
    if counts[lead.machine]:
        return lead
    return max(told.runs, key=lambda one: counts[one.machine])


@dataclass(frozen=True)
class OfStudy:
    """One study of a run, and how its tables are laid out."""

    told: Told
    one: OnMachine
    study: str

    @property
    def measured(self) -> Measurements:
        return self.one.measured.loose

    @property
    def cases(self) -> list[Case]:
        return self.measured.select({STUDY: self.study})

    def parts(self) -> Iterator[str]:
        """Tables of the last point of all other axes, those of the others folded, and skips."""
        across, others = self._axes()
        points = self._points(others)
        yield from self._tables(across, points[-1], is_open=True)
        for point in points[:-1]:
            tables = "\n\n".join(self._tables(across, point, is_open=False))
            yield folded(phrase(point), tables)
        lines = list(self._skipped())
        if lines:
            yield "\n".join(f"- {self.told.say(line, self.one)}" for line in lines)

    def _axes(self) -> tuple[str, list[str]]:
        """The axis that tables have across, the one with most values; and the others that vary."""
        values: dict[str, set[Any]] = {}
        for case in self.cases:
            for name, value in self.measured.coordinates(case).items():
                values.setdefault(name, set()).add(value)
        varying = [name for name, found in values.items() if len(found) > 1]
        inputs = [name for name in varying if name in self.cases[0].parameters
                  and name != "precision"]
        across = max(inputs or varying or ["precision"], key=lambda name: len(values.get(name, ())))
        return across, [name for name in varying if name != across]

    def _points(self, axes: Sequence[str]) -> list[dict[str, Any]]:
        """Values of axes at which anything was measured."""
        region = {STUDY: self.study}
        values = [self.measured.values(axis, region) for axis in axes]
        points = [dict(zip(axes, combination, strict=True)) for combination in product(*values)]
        return [point for point in points if self.measured.select({**region, **point})]

    def _tables(self, across: str, point: Where, is_open: bool) -> Iterator[str]:
        """Tables of one point: one for all variants, or one for each kind of them."""
        region = {STUDY: self.study, **point}
        cases = self.measured.select(region)
        groups: dict[str, dict[str, None]] = {}
        for case in cases:
            groups.setdefault(case.group, {})[case.variant] = None
        packs = list(_packs({group: list(kind) for group, kind in groups.items()}))
        if not is_open:
            packs = [list(groups)]
        about = [f"with {phrase(point)}"] if is_open and point else []
        if len(packs) > 1:
            about.append(f"kinds {notation.listed([f'`{group}`' for group in packs[0]])}")
        if about:
            text = "; ".join(about)
            yield f"{text[0].upper()}{text[1:]}:"
        for number, pack in enumerate(packs):
            names = [name for group in pack for name in groups[group]]
            tables = "\n\n".join(self._of_variants(across, region, names))
            yield tables if number == 0 else folded(
                f"{', '.join(pack)}: {notation.plural(len(names), 'variant')}", tables)

    def _of_variants(self, across: str, region: Where, names: Sequence[str]) -> Iterator[str]:
        """Variants downwards; across if there are more values than columns."""
        cases = self.measured.select({**region, "variant": list(names)})
        there = {self.measured.coordinates(case).get(across) for case in cases}
        values = [value for value in self.measured.values(across, region) if value in there] \
            if across in self.measured.axes else []
        if not values:
            yield self._table("variant", list(names), across, [""], region)
        elif len(values) <= MOST_COLUMNS:
            yield self._table("variant", list(names), across, values, region)
        else:
            for part in chunks(names):
                yield self._table(across, values, "variant", list(part), region)

    def _table(self, down: str, rows: Sequence[Any], across: str, columns: Sequence[Any],
               region: Where) -> str:
        """One table, as a statement: each cell is of one case, as the region tells all else."""
        metric = self._metric(region)
        cases = {(self._place(case, down), self._place(case, across) if columns != [""] else ""):
                 case for case in self.measured.select(region)}
        there = [[cases.get((row, column)) for column in columns] for row in rows]
        values = [[self._median(metric, case) if case else None for case in line]
                  for line in there]
        shares = [[self._share(case) if case else None for case in line] for line in there]
        known = [value for line in values for value in line if value is not None]
        scale, unit = (notation.time_unit(known) if metric_named(metric).kind == "time"
                       else (1.0, ""))
        body = [[_name(down, row), *(_text(value, share, scale)
                                     for value, share in zip(line, of_line, strict=True))]
                for row, line, of_line in zip(rows, values, shares, strict=True)]
        noun = NOUNS.get(metric, metric_named(metric).header)
        title = f"{noun}{f' [{unit}]' if unit else ''}: {down}"
        head = [title if columns == [""] else f"{title} \\ {across}",
                *(_name(across, column) or "value" for column in columns)]
        operands = {"metric": metric, "where": dict(region), "down": down, "rows": list(rows),
                    "across": across, "columns": list(columns), "scale": scale, "values": values,
                    "shares": shares}
        return self.told.say(Statement(markdown(head, body, 1), "measurements", operands), self.one)

    def _place(self, case: Case, axis: str) -> Any:
        return case.variant if axis == "variant" else self.measured.coordinates(case).get(axis)

    def _metric(self, region: Where) -> str:
        """What a table of a study shows: what a variant recorded for each round, the time of an
        operation, a rate where the experiment wants these, or the time of a call."""
        cases = self.measured.select(region)
        recorded = [name for case in cases for name in case.rounds]
        if recorded and all(recorded[0] in case.rounds for case in cases):
            return f"{ROUND}{recorded[0]}"
        repeats = all(case.operations for case in cases) and any(c.operations > 1 for c in cases)
        if repeats:
            return "per_operation"
        rates = [name for name, work in RATES.items() if all(map(work, cases))] \
            if self.told.experiment.rates else []
        return rates[0] if rates else "median"

    def _median(self, metric: str, case: Case, ceilings: Sequence[str] = ()) -> float:
        """The median of a metric over the rounds of a case."""
        (pair,) = Basis(self.measured, None, ceilings).alone([case])
        return median(metric_named(metric).of(pair))

    def _share(self, case: Case) -> float | None:
        """Which part of its bound a case reaches, if it has one. What is told as a rate has none:
        it is such a bound itself."""
        ceilings = [] if self.told.experiment.rates else self._ceilings(case)
        if not ceilings or not self.measured.is_bounded(case):
            return None
        return self._median("of_ceiling", case, ceilings) or None

    def _ceilings(self, case: Case) -> list[str]:
        """What bounds a case: what the experiment names, as far as it runs on the same target, else
        the probes of that target."""
        probes = self.measured.ceilings.probes(case.launch)
        there = {name: probe for name, probe in probes.items() if probe.target == case.target}
        if named := [name for name in self.told.experiment.ceilings if name in there]:
            return named
        moving = [name for name, probe in there.items() if probe.moves_bytes]
        fastest = max(moving, key=lambda name: there[name].rate.value, default="")
        precision = str(case.parameters.get("precision", "-"))
        return [name for name, probe in there.items() if name == fastest
                or (not probe.moves_bytes and name.endswith(f"_{precision}"))]

    def _skipped(self) -> Iterator[Statement]:
        """What was skipped or failed, once for each reason."""
        places: dict[str, dict[str, set[str]]] = {}
        for entry in self.measured.skips({STUDY: self.study}):
            name = entry.get("variant", "")
            of = places.setdefault(f"was skipped: {entry['reason']}", {})
            of.setdefault(name, set()).add(self.measured.place(entry))
        for case in self.measured.select({STUDY: self.study}, timed=False):
            if not case.passed:
                of = places.setdefault(f"failed: {case.verdict['reason']}", {})
                of.setdefault(case.variant, set()).add(self.measured.label(case))
        known = {self.measured.label(case)
                 for case in self.measured.select({STUDY: self.study}, timed=False)}
        known = known.union(*(at for variants in places.values() for at in variants.values()))
        for (verb, why), variants in _alike(places).items():
            for count in dict.fromkeys(map(len, variants.values())):
                names = [name for name, at in variants.items() if len(at) == count]
                listed = notation.listed([f"`{name}`" if name else "every variant"
                                          for name in names])
                where = f" at {count} of {notation.plural(len(known), 'point')}"
                verb_here = verb.replace("was ", "were ", 1) if len(names) > 1 else verb
                text = f"{listed} {verb_here}{'' if count == len(known) else where}: {why}"
                yield Statement(f"{text[0].upper()}{text[1:]}".removesuffix(".") + ".", "skipped",
                                {"study": self.study, "variants": names, "points": count,
                                 "of": len(known), "reason": why})


def _alike(places: Mapping[str, Mapping[str, set[str]]]
           ) -> dict[tuple[str, str], dict[str, set[str]]]:
    """Reasons that differ in numbers alone, together: what happened, and the first of them."""
    firsts: dict[str, tuple[str, str]] = {}
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for reason, variants in places.items():
        verb, _, why = reason.partition(": ")
        of = found.setdefault(firsts.setdefault(NUMBER.sub("0", reason), (verb, why)), {})
        for name, at in variants.items():
            of[name] = of.get(name, set()) | at
    return found


def _packs(groups: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """Kinds of variants in tables of about one screen."""
    pack: list[str] = []
    rows = 0
    for group, kind in groups.items():
        if pack and rows + len(kind) > MOST_ROWS:
            yield pack
            pack, rows = [], 0
        pack.append(group)
        rows += len(kind)
    if pack:
        yield pack


def _name(axis: str, value: Any) -> str:
    if value == "":
        return ""
    if axis == "variant" or isinstance(value, str):
        return f"`{value}`"
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _text(value: float | None, share: float | None, scale: float) -> str:
    """`1.23 (87 %)`; nothing where nothing was measured."""
    if value is None:
        return ""
    text = notation.significant(value / scale)
    return text if share is None else f"{text} ({notation.percent(share)})"

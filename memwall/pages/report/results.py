"""The section Results: a table a study, of the machine that measured most of it."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from statistics import median
from typing import Any

from memwall.analysis.basis import Basis
from memwall.analysis.energy import JOULES
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import ROUND, metric_named
from memwall.analysis.statements import Statement
from memwall.pages.blocks import folded
from memwall.pages.report.told import MOST_COLUMNS, Told, chunks
from memwall.pages.survey import OnMachine
from memwall.pages.tables import markdown
from memwall.record import notation
from memwall.record.regions import Where, phrase
from memwall.record.results import STUDY, Case, parameters

MEANING = ("A cell is the median of what its table's heading says. It is empty where a variant was"
           " not measured; what was skipped or failed is told below the tables.")
MEANING_OF_OPERATIONS = ("An *operation* is what the program counts of a call: an access, a row, a"
                         " product, a byte; a time may so be shorter than anything that happens.")
MEANING_OF_SHARES = ("In brackets stands the share of the *bound*: the time that a ceiling allows"
                     " for the work which no program can avoid, as a part of the time that was"
                     " measured; 100 % would be at the ceiling. A *ceiling* is what a probe reached"
                     " in the same run, before, between and after the other measurements: the"
                     " median pass of its fastest look, in older runs of all its looks. A share"
                     " may be above 100 % where a format stores fewer bytes than are counted,"
                     " where data lie in a cache, where tensor cores do the arithmetic, which no"
                     " probe uses, or where the machine gave more than while its ceiling was"
                     " measured.")
#: What is measured, in the head of a table.
NOUNS = {"median": "time of a call",
         "per_operation": "time of a call, divided by its operations"}
#: And what it is where rates are told, if all cases have such work.
RATES: dict[str, Callable[[Case], float]] = {
    "gbps": lambda case: case.bytes, "gflops": lambda case: case.flops}
NUMBER = re.compile(r"\d+(?:\.\d+)*")
#: How probes of arithmetic end that are of one precision.
PRECISIONS = ("fp16", "bf16", "fp32", "fp64")
#: How a variant's note begins that says what ran.
CHOSEN = re.compile(r"[a-z]\w*(?=[;:,])")
#: So many numbers of one reason are told one by one.
MOST_NUMBERS = 3
#: Rows of a table of variants of several kinds.
MOST_ROWS = 12


def section(told: Told) -> str:
    """Tables of every study; what was skipped is said once a study."""
    parts: list[str] = []
    before = len(told.records)
    studies = dict.fromkeys(study for one in told.runs
                            for study in one.measured.loose.values(STUDY, {}))
    for study in studies:
        one = widest(told, study)
        if one.measured.loose.select({STUDY: study}):
            about = f", on `{one.machine}`" if len(told.runs) > 1 else ""
            parts += [f"### Study `{study}`{about}", *OfStudy(told, one, study).parts()]
    tables = [record["operands"] for record in told.records[before:]
              if record["predicate"] == "measurements"]
    meaning = [MEANING]
    if any(table["metric"] == "per_operation" for table in tables):
        meaning.append(MEANING_OF_OPERATIONS)
    if any(share is not None for table in tables for row in table["shares"] for share in row):
        meaning += [MEANING_OF_SHARES, _ceiling(told)]
    return "\n\n".join([" ".join(meaning), *parts])


def _ceiling(told: Told) -> str:
    """Which ceiling bounds are drawn from."""
    named = [f"`{name}`" for name in told.experiment.ceilings]
    others = ("the fastest probe that moves bytes where a variant runs and, if there is one, the"
              " probe of arithmetic in its precision; of two the one that allows less")
    if not named:
        return f"The ceiling here is {others}."
    text = f"The ceiling here is that of {' or '.join(named)}"
    if len(named) > 1:
        text += ", whichever allows less"
    if any(name.endswith(PRECISIONS) for name in told.experiment.ceilings):
        text += ", of arithmetic the probe in the precision of a case"
    if any(not _is_named_there(one.measured, case) for one in told.runs
           for case in one.measured.cases):
        text += f"; where {'they do' if len(named) > 1 else 'it does'} not run, {others}"
    return f"{text}."


def _is_named_there(measured: Measurements, case: Case) -> bool:
    """Whether a probe that the experiment names ran where a case did."""
    probes = measured.ceilings.probes(case.launch)
    return any(name in probes and probes[name].target == case.target
               for name in measured.experiment.ceilings)


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
        """What was timed to be compared: where one variant of several was timed with its twin and
        with nothing else, that tells of noise alone."""
        every = self.measured.select({STUDY: self.study})
        return [case for case in every if self._place_of(case) not in self._of_noise]

    def _select(self, region: Where) -> list[Case]:
        return [case for case in self.measured.select(region)
                if self._place_of(case) not in self._of_noise]

    @staticmethod
    def _place_of(case: Case) -> str:
        return repr((case.launch, sorted(case.parameters.items(), key=str)))

    @cached_property
    def _of_noise(self) -> frozenset[str]:
        """Places where nothing but one A/A pair was timed, and nothing was skipped, in a study of
        several variants."""
        there: dict[str, list[Case]] = {}
        for case in self.one.result.cases:
            if case.parameters[STUDY] == self.study:
                there.setdefault(self._place_of(case), []).append(case)
        if len({case.variant for cases in there.values() for case in cases}) == 1:
            return frozenset()
        skipped = {repr((entry["launch"], sorted(parameters(entry).items(), key=str)))
                   for entry in self.one.result.raw["skipped"]}
        of_noise = frozenset(place for place, cases in there.items()
                             if len({case.variant for case in cases}) == 1
                             and any(case.twin for case in cases) and place not in skipped)
        return of_noise if len(of_noise) < len(there) else frozenset()

    def parts(self) -> Iterator[str]:
        """Tables of the point of all other axes at which most variants were timed, of several such
        the last; those of the others folded, and skips."""
        across, others = self._axes()
        points = self._points(others)
        counts = [len({case.variant for case in self._select({STUDY: self.study, **point})})
                  for point in points]
        shown = max(range(len(points)), key=lambda at: (counts[at], at))
        yield from self._tables(across, points[shown], is_open=True)
        for point in [*points[:shown], *points[shown + 1:]]:
            tables = "\n\n".join(self._tables(across, point, is_open=False))
            yield folded(phrase(point), tables)
        lines = [*self._chosen(), *self._skipped()]
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
        return [point for point in points if self._select({**region, **point})]

    def _tables(self, across: str, point: Where, is_open: bool) -> Iterator[str]:
        """Tables of one point: one for all variants, or one for each kind of them."""
        region = {STUDY: self.study, **point}
        cases = self._select(region)
        groups: dict[str, dict[str, None]] = {}
        for case in cases:
            groups.setdefault(case.group, {})[case.variant] = None
        packs = list(_packs({group: list(kind) for group, kind in groups.items()}))
        if not is_open:
            packs = [list(groups)]
        about = [f"with {phrase(point)}"] if is_open and point else []
        if len(packs) > 1:  # the one with most numbers comes first, and stands open
            first = max(packs, key=lambda pack: sum(case.group in pack for case in cases))
            packs = [first, *(pack for pack in packs if pack is not first)]
            about.append(f"kind{'s' * (len(first) > 1)}"
                         f" {notation.listed([f'`{group}`' for group in first])}")
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
        cases = self._select({**region, "variant": list(names)})
        there = {self.measured.coordinates(case).get(across) for case in cases}
        values = [value for value in self.measured.values(across, region) if value in there] \
            if across in self.measured.axes else []
        if not values:
            yield self._table("variant", list(names), across, [""], region)
        elif len(values) <= MOST_COLUMNS:
            yield self._table("variant", list(names), across, values, region)
        else:
            for part in chunks(names):
                timed = {self.measured.coordinates(case).get(across) for case in cases
                         if case.variant in part}
                rows = [value for value in values if value in timed]
                yield self._table(across, rows, "variant", list(part), region)

    def _table(self, down: str, rows: Sequence[Any], across: str, columns: Sequence[Any],
               region: Where) -> str:
        """One table, as a statement: each cell is of one case, as the region tells all else."""
        metric = self._metric(region)
        cases = {(self._place(case, down), self._place(case, across) if columns != [""] else ""):
                 case for case in self._select(region)}
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
        cases = self._select(region)
        recorded = [name for case in cases for name in case.rounds]
        shown = JOULES if JOULES in recorded else next(iter(recorded), "")
        if shown and all(shown in case.rounds for case in cases):
            return f"{ROUND}{shown}"
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
        precision = str(case.parameters.get("precision", "-"))
        if named := [name for name in self.told.experiment.ceilings if name in there]:
            return [_of_precision(name, precision, there) for name in named]
        moving = [name for name, probe in there.items() if probe.moves_bytes]
        fastest = max(moving, key=lambda name: there[name].rate.value, default="")
        return [name for name, probe in there.items() if name == fastest
                or (not probe.moves_bytes and name.endswith(f"_{precision}"))]

    def _chosen(self) -> Iterator[Statement]:
        """What ran where variants choose it, and at how many of their points."""
        took: dict[str, Counter[str]] = {}
        for case in self.measured.select({STUDY: self.study}):
            if case.notes:
                chosen = CHOSEN.match(case.notes[0])
                took.setdefault(case.variant, Counter())[chosen[0] if chosen else ""] += 1
        for variant, times in took.items():
            if "" not in times and any(not variant.startswith(name) for name in times):
                at = [f"`{name}` at {count}" for name, count in times.most_common()]
                text = f"Of {notation.plural(times.total(), 'point')} `{variant}` chose"
                yield Statement(f"{text} {notation.listed(at)}.", "chosen",
                                {"study": self.study, "variant": variant, "times": dict(times)})

    def _skipped(self) -> Iterator[Statement]:
        """What was skipped or failed, once for each reason, at how many of the points where it was
        asked."""
        places: dict[str, dict[str, set[str]]] = {}
        for entry in self.measured.skips({STUDY: self.study}):
            name = entry.get("variant", "")
            of = places.setdefault(f"was skipped: {entry['reason']}", {})
            of.setdefault(name, set()).add(self.measured.place(entry))
        for case in self.measured.select({STUDY: self.study}, timed=False):
            if not case.passed:
                of = places.setdefault(f"failed: {case.verdict['reason']}", {})
                of.setdefault(case.variant, set()).add(self.measured.label(case))
        asked = self._asked(places)
        together: dict[tuple[str, tuple[str, ...], int, int], list[str]] = {}
        for (verb, name, _), reasons in _alike(places).items():
            count = len(set().union(*reasons.values()))
            key = verb, tuple(reasons), count, len(asked[name])
            together.setdefault(key, []).append(name)
        for (verb, whys, count, known), names in together.items():
            listed = notation.listed([f"`{name}`" if name else "every variant" for name in names])
            where = f" at {count} of {notation.plural(known, 'point')}"
            verb_here = verb.replace("was ", "were ", 1) if len(names) > 1 else verb
            text = f"{listed} {verb_here}{'' if count == known else where}: {_ranges(whys)}"
            yield Statement(f"{text[0].upper()}{text[1:]}".removesuffix(".") + ".", "skipped",
                            {"study": self.study, "variants": names, "points": count, "of": known,
                             "reasons": list(whys)})

    def _asked(self, places: Mapping[str, Mapping[str, set[str]]]) -> dict[str, set[str]]:
        """The points at which each variant was timed, skipped or failed; without a name all."""
        asked: dict[str, set[str]] = {"": set()}
        for case in self.measured.select({STUDY: self.study}, timed=False):
            asked.setdefault(case.variant, set()).add(self.measured.label(case))
        for variants in places.values():
            for name, at in variants.items():
                asked.setdefault(name, set()).update(at)
        asked[""] = set().union(*asked.values())
        return asked


def _of_precision(name: str, precision: str, there: Collection[str]) -> str:
    """The probe of arithmetic in a case's precision, in the place of that in another one."""
    stem, _, of = name.rpartition("_")
    other = f"{stem}_{precision}"
    return other if of in PRECISIONS and other in there else name


def _alike(places: Mapping[str, Mapping[str, set[str]]]
           ) -> dict[tuple[str, str, str], dict[str, set[str]]]:
    """For each variant the reasons that differ in numbers alone, together: what happened to it, and
    where for each of them."""
    found: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    for reason, variants in places.items():
        verb, _, why = reason.partition(": ")
        for name, at in variants.items():
            found.setdefault((verb, name, NUMBER.sub("0", why)), {})[why] = at
    return found


def _ranges(reasons: Sequence[str]) -> str:
    """One text of several that differ in numbers, which are told, or from which to which they
    were."""
    texts = [NUMBER.split(reason) for reason in reasons]
    numbers = zip(*(NUMBER.findall(reason) for reason in reasons), strict=True)
    told = texts[0][0]
    for of, text in zip(numbers, texts[0][1:], strict=True):
        ordered = sorted(dict.fromkeys(of), key=lambda number: float(number.rstrip(".") or 0))
        few = f"{', '.join(ordered[:-1])} or {ordered[-1]}" if len(ordered) > 1 else ordered[0]
        told += (few if len(ordered) <= MOST_NUMBERS else f"{ordered[0]} to {ordered[-1]}") + text
    return told


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

"""The verbs of `report.md.in`: every number of a report comes through one of them. And how a
template that says them becomes a text."""

import re
import statistics
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from types import CodeType
from typing import Any, Protocol

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from memwall.analysis import claims, crossovers, expectations, needs, numerics, units
from memwall.analysis.basis import Basis, Over
from memwall.analysis.cells import Cell, measure, numbers_of
from memwall.analysis.claims import Verdict
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.expectations import Expectation
from memwall.analysis.measurements import NOT_MEASURED, Measurements
from memwall.analysis.metrics import metric_named
from memwall.analysis.quantities import Absence, NoNumber
from memwall.analysis.verdicts import OUT_OF_DATE, REPRODUCED
from memwall.figures import plots
from memwall.pages import blocks, tables
from memwall.pages.survey import ChapterPlot, Survey
from memwall.record import files, notation
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.results import Case

STALE = " *(out of date)*"


@dataclass(frozen=True)
class Verbs:
    """What a template can say about one result, and about all machines that have one."""

    measured: Measurements
    survey: Survey
    machine_name: str
    figures: str  # the folder of the figures as the page sees it
    reports: str  # the folder `reports/` as the page sees it
    drawn: dict[str, str] = field(default_factory=dict)  # figures by file name
    new_code: list[str] = field(default_factory=list)  # shown, but newer than the result

    def all(self) -> dict[str, Any]:
        """Every verb by its name in templates."""
        verbs: Sequence[Callable[..., Any]] = (
            self.across,
            self.article,
            self.ceiling,
            self.ceilings,
            self.claim,
            self.claims,
            self.code,
            self.compare,
            self.count,
            self.crossover,
            self.datasets,
            self.diff,
            self.fastest,
            self.has,
            self.has_run,
            self.holds,
            self.library,
            self.machine,
            self.machines,
            self.measured_here,
            self.network,
            self.noise,
            self.numbers_from,
            self.on,
            self.predates,
            self.predicted,
            self.ratio,
            self.run,
            self.runs,
            self.skipped,
            self.speedup,
            self.spread,
            self.table,
            self.tally,
            self.value,
            self.verdict,
            self.wins,
        )
        named = {verb.__name__: verb for verb in verbs}
        experiment = self.measured.experiment
        return {
            **named,
            "measured": named.pop("measured_here"),
            "plot": self.plot,
            "title": experiment.title,
            "question": experiment.question,
        }

    # --- code ------------------------------------------------------------------------------------

    def code(self, name: str, fold: bool | None = None) -> str:
        """The text of a variant as it stood when it was timed."""
        if self.measured.freshness.predates(name):
            self.new_code.append(name)
        return blocks.code(self.measured, name, fold)

    def diff(self, before: str, after: str) -> str:
        """What changed between two steps."""
        return blocks.diff(self.measured, before, after)

    # --- tables and figures ----------------------------------------------------------------------

    def table(
        self,
        rows: str | Sequence[str] = "variant",
        cols: Sequence[str] | None = None,
        columns: str | None = None,
        value: str | None = None,
        where: Where | None = None,
        over: Over = None,
        ceiling: str | None = None,
    ) -> str:
        """Rows of metrics (`cols`), or one metric (`value`) over two axes (`rows`, `columns`)."""
        basis = self._basis(over, ceiling)
        axes = [rows] if isinstance(rows, str) else list(rows)
        if cols is not None and columns is None and value is None:
            return tables.listing(basis, axes, cols, where or {})
        if cols is None and columns is not None and value is not None and len(axes) == 1:
            return tables.pivot(basis, axes[0], columns, value, where or {})
        raise UserError("table: expected rows= and cols=, or rows=, columns= and value=")

    @cached_property
    def plot(self) -> ChapterPlot:
        """The verbs that draw."""
        return ChapterPlot(self.measured, self.figures, self.drawn, survey=self.survey)

    # --- numbers in sentences --------------------------------------------------------------------

    def speedup(self, variant: str, over: Over, where: Where | None = None) -> str:
        """`1.23x (1.20–1.26)`: median of the per-round ratios, geometric mean over the points."""
        cell = measure(self._basis(over), "speedup", variant, where or {})
        return self._said(cell, lambda estimate: numerics.speedup(estimate))

    def value(
        self,
        metric: str,
        variant: str | None = None,
        where: Where | None = None,
        over: Over = None,
        ceiling: str | None = None,
    ) -> str:
        """A metric with its unit and, where it was sampled, its interval."""
        cell = measure(self._basis(over, ceiling), metric, variant, where or {})
        return self._said(cell, lambda estimate: units.with_unit(metric, estimate))

    def ratio(self, metric: str, variant: str, over: str, where: Where | None = None) -> str:
        """A metric without rounds (`stored_bytes`, `setup`, ...) over another variant's: over
        several points the geometric mean of what it is at each."""
        region = where or {}
        for name in (variant, over):
            if absence := self.measured.find(name, region).absence:
                return self._said(Cell(absence=absence), str)
        ratios, why = [], NOT_MEASURED
        for pair in self._basis(over).pairs(self.measured.find(variant, region).cases):
            values, lacking = numbers_of(metric, pair.split())
            if any(len(rounds) > 1 for rounds in values):
                raise UserError(f'ratio: "{metric}" was sampled in rounds, use speedup')
            if len(values) == 2:
                ratios.append(values[0][0] / values[1][0])
            why = lacking or why
        if not ratios:
            return self._said(Cell(absence=Absence("missing", why)), str)
        stale = STALE if self.measured.is_stale(variant, over) else ""
        return notation.factor(numerics.geometric_mean(ratios)) + "x" + stale

    def predicted(
        self, metric: str = "bound", where: Where | None = None, ceiling: str | None = None
    ) -> str:
        """What the ceiling allows: compulsory work over measured rate, lowest to highest point."""
        if not metric_named(metric).of_point:
            raise UserError(f'predicted: "{metric}" is measured, expected bound or bound_gflops')
        basis, measured = self._basis(None, ceiling), self.measured
        cases = measured.select(where or {}, timed=False)
        if not cases:
            return self._said(measure(basis, metric, None, where or {}), str)
        found, why = numbers_of(metric, basis.alone(cases))
        if not found:
            return why
        values = sorted({values[0] for values in found})
        texts = [units.plain_unit(metric, value) for value in (values[0], values[-1])]
        return " to ".join(dict.fromkeys(texts))

    def ceiling(self, name: str | None = None, where: Where | None = None) -> str:
        """A measured ceiling with its interval: `10.1 GB/s (9.9–10.2)`."""
        cases = self.measured.select(where or {}, timed=False)
        launches = list(dict.fromkeys(case.launch for case in cases))
        if not launches:
            if self.measured.may_lack:
                return NOT_MEASURED
            raise UserError(f"nothing was measured where {where}")
        ceilings, why = self.measured.told(
            lambda at: self.measured.ceilings.one(at, name), launches)
        if not ceilings:
            return why
        found = max(ceilings, key=lambda ceiling: ceiling.rate.value)  # what it can do at best
        rate = found.rate.scaled(1e-9)
        text = notation.significant(rate.value)
        return f"{text} {found.unit} ({numerics.interval(rate, text)})"

    def network(self, ring: str, where: Where | None = None) -> str:
        """`0.61 µs and 5.2 GB/s`: what a message costs, fitted to those of the variant `ring`."""
        try:
            found = plots.network(self.measured, ring, where or {})
        except NoNumber as error:
            return f"unknown ({error})"
        if found is None:
            return NOT_MEASURED
        bandwidth = notation.significant(found.bytes_per_s / 1e9)
        return f"{notation.time(found.latency_s)} and {bandwidth} GB/s"

    def compare(self, faster: str, than: Over, where: Where | None = None) -> str:
        """Two variants in the words of claims: `clearly faster`, `alike`, `a little slower`."""
        compared = compare(self.measured, faster, than, where or {})
        if isinstance(compared, Absence):
            return f"not compared ({compared.reason})"
        return expectations.describe(compared) + self._stale(faster, than)

    def wins(self, variant: str, over: Over, where: Where | None = None) -> str:
        """`14 of 18 matrices`: where a variant is faster beyond the noise floor."""
        compared = compare(self.measured, variant, over, where or {})
        if isinstance(compared, Absence):
            return f"none ({compared.reason})"
        wins = sum(unit.is_better for unit in compared.units)
        total = notation.plural(len(compared.units), compared.noun)
        return f"{wins} of {total}{self._stale(variant, over)}"

    def crossover(self, variant: str, over: Over, x: str, where: Where | None = None) -> str:
        """`0.33 (0.31–0.36)`: where along a number of the points a variant stops being faster."""
        compared = compare(self.measured, variant, over, where or {})
        if isinstance(compared, Absence):
            return f"unknown ({compared.reason})"
        curves, why = self.measured.told(lambda one: crossovers.curve(self.measured, one, x),
                                         [compared])
        return curves[0].words() + self._stale(variant, over) if curves else f"unknown ({why})"

    def fastest(self, where: Where | None = None, among: Sequence[str] | None = None) -> str:
        """The variant with the smallest geometric mean of medians, of those timed everywhere."""
        names = list(among or self.measured.values("variant", where or {}))
        found = {name: self.measured.find(name, where or {}) for name in names}
        timed = {name: f.cases for name, f in found.items() if f.cases and not f.unmeasured}
        most = max((len(cases) for cases in timed.values()), default=0)
        complete = {name: cases for name, cases in timed.items() if len(cases) == most}
        if not complete:
            raise UserError(f"fastest: nothing was timed where {where or '(everywhere)'}")
        return min(complete, key=lambda name: _mean_of_medians(complete[name]))

    def count(self, axis: str, where: Where | None = None) -> str:
        """How many values an axis has."""
        return str(len(self.measured.values(axis, where or {})))

    def article(self, text: str, machine: str) -> str:
        """An article's own figure, which was measured on another machine."""
        if not text or not machine:
            raise UserError("article: expected a figure and the machine it was measured on")
        return f"{text} (the article, on {machine})"

    # --- claims ----------------------------------------------------------------------------------

    def claim(self, id: str) -> str:
        """The claim in our words with its verdict and what was measured for it."""
        return blocks.claim(self._judge(id))

    def verdict(self, id: str) -> str:
        """`REPRODUCED`, `NOT REPRODUCED`, `UNDECIDED`, ...; of our own targets `HOLDS`, `FAILS`."""
        return self._judge(id).word

    def holds(
        self,
        faster: str,
        than: Over,
        expect: Expectation = "faster",
        where: Where | None = None,
        on: str = "all",
    ) -> bool:
        """Whether an expectation in the words of claims holds, for conditional sentences."""
        if on not in ("all", "any", "every"):
            raise UserError(f'holds: found on="{on}", expected all, any or every')
        compared = compare(self.measured, faster, than, where or {})
        if not isinstance(compared, Comparison):
            return False
        return expectations.examine(compared, expect, on).verdict == REPRODUCED

    def measured_here(self, variant: str, where: Where | None = None) -> bool:
        """Whether a variant was timed, for conditional sentences."""
        return bool(self.measured.find(variant, where or {}).cases)

    def predates(self, name: str) -> bool:
        """Whether a variant or a source text came later than this result, for conditional text.
        A narrowed run lacks what it lacks for other reasons too."""
        return not self.measured.partial and self.measured.freshness.predates(name)

    # --- machine and provenance ------------------------------------------------------------------

    def machine(self, what: str = "summary") -> str:
        """A fact about the machine: summary, cpu, cores, threads, caches, memory, os, ..."""
        raw = self.measured.result.raw
        machine, cpu = raw["machine"], raw["machine"]["cpu"]
        facts: dict[str, Callable[[], str]] = {
            "summary": lambda: blocks.machine_summary(machine),
            "cpu": lambda: cpu["model"],
            "architecture": lambda: cpu["architecture"],
            "cores": lambda: str(cpu["cores"]),
            "threads": lambda: str(cpu["hardware_threads"]),
            "sockets": lambda: str(cpu["sockets"]),
            "caches": lambda: blocks.caches(machine),
            "last_level_cache": lambda: notation.size(cpu["last_level_cache_bytes"]),
            "memory": lambda: notation.size(machine["memory_bytes"]),
            "os": lambda: machine["os"],
            "compiler": lambda: raw["build"]["compiler"],
            "gpu": lambda: blocks.gpus(machine) or "no GPU",
        }
        if what not in facts:
            raise UserError(f'machine: found "{what}", expected one of {", ".join(facts)}')
        return facts[what]()

    def library(self, name: str) -> str:
        """The version of a library that the program loaded, in the library's own words."""
        libraries = self.measured.result.raw["libraries"]
        return libraries.get(name, "not loaded")

    def has(self, *asked: str) -> bool:
        """Whether the machine and the run meet needs in the words of claims (`avx2`, ...)."""
        machine = self.measured.result.raw["machine"]
        return not needs.barring(machine, asked) and not needs.lacking(self.measured, asked)

    def datasets(self) -> str:
        """A table of the data sets and their features."""
        return blocks.datasets(self.measured)

    def skipped(self) -> str:
        """What was skipped or failed, with reasons."""
        return blocks.skipped(self.measured)

    def noise(self) -> str:
        """The noise floor: by what factor two runs of the same code differ."""
        return blocks.noise(self.measured)

    def run(self, title: str) -> "Verbs":
        """The same verbs about a run that this machine kept under a title."""
        for one in self.survey.runs(title):
            if one.machine == self.machine_name:
                return replace(self, measured=one.measured)
        raise UserError(f'run: {self.machine_name} has kept no run "{title}"')

    def on(self, machine: str) -> "Verbs":
        """The same verbs about another machine, for passages that say whose numbers they tell."""
        for one in self.survey.runs():
            if one.machine == machine:
                return replace(self, measured=one.measured, machine_name=machine)
        known = ", ".join(self.survey.machines)
        raise UserError(f'on: found "{machine}", expected one of {known}')

    def has_run(self, title: str) -> bool:
        """Whether this machine kept a run under a title, for passages about it."""
        return self.machine_name in [one.machine for one in self.survey.runs(title)]

    # --- all machines ----------------------------------------------------------------------------

    def numbers_from(self) -> str:
        """Whose numbers the text tells, and how many machines ran the experiment."""
        count = len(self.survey.machines)
        ran = f"{self.survey.machine_count()} {'has' if count == 1 else 'have'}"
        return (f"*Numbers without a machine are from `{self.machine_name}`; {ran} run this"
                " experiment.*")

    def machines(self) -> str:
        """`four machines`: how many have run the experiment."""
        return self.survey.machine_count()

    def across(self, variant: str, over: Over = None, where: Where | None = None, run: str = "",
               metric: str = "speedup") -> str:
        """`2.17x to 3.57x on four machines`: the lowest and the highest of them."""
        found = self.survey.across(variant, over, where, run, metric)
        return self._or_error(found, f'across: no machine has measured "{variant}"')

    def spread(self, ceiling: str) -> str:
        """`34.8, 28.1 and 12.0 GB/s`: a ceiling on each machine, the lead machine's first."""
        found = self.survey.spread(ceiling)
        return self._or_error(found, f'spread: no machine has measured the ceiling "{ceiling}"')

    def ceilings(self, *names: str) -> str:
        """A table of what probes reached at best, with the share of the nominal peak where one is
        recorded: probes downwards, machines across."""
        return self.survey.ceilings_table(names)

    def tally(self, id: str) -> str:
        """`on 3 of the 4 machines that could tell`: where a claim was reproduced, or holds."""
        return self.survey.tally(id)

    def claims(self) -> str:
        """One picture of all claims, their verdicts on all machines, and what decided them."""
        return f"{self.plot.claims()}\n\n{self.survey.claims_table()}"

    def runs(self) -> str:
        """The runs of all machines, and folded where every number of this page comes from."""
        title = f"Commit, compiler, flags, checksums and skipped cases of {self.machine_name}"
        return (self.survey.runs_table(self.reports) + "\n\n"
                + blocks.folded(title, blocks.provenance(self.measured)))

    # --- helpers ---------------------------------------------------------------------------------

    def _basis(self, over: Over, ceiling: str | None = None) -> Basis:
        return Basis(self.measured, over, ceiling)

    def _or_error(self, found: str | None, error: str) -> str:
        """What a narrowed run and all others lack reads so on its page; else it is an error."""
        if found is None and not self.measured.partial:
            raise UserError(error)
        return found or NOT_MEASURED

    def _stale(self, variant: str, over: Over) -> str:
        return STALE if self.measured.is_stale(variant, *self._basis(over).rivals) else ""

    def _judge(self, id: str) -> Verdict:
        return claims.judge(self.measured, self.measured.experiment.claim(id))

    def _said(self, cell: Cell, say: Callable[[Any], str]) -> str:
        """A value, or why there is none: the text is shared by machines that lack a variant."""
        if cell.estimate is None:
            assert cell.absence is not None
            return str(cell.absence)
        return say(cell.estimate) + (STALE if cell.stale else "")


def _mean_of_medians(cases: Sequence[Case]) -> float:
    return numerics.geometric_mean([statistics.median(case.samples) for case in cases])


# --- from a template to a text --------------------------------------------------------------------

TEMPLATE_FRAME = "<template>"


class Given(Extension):
    """`{% given "1.unroll" is "NOT REPRODUCED" %} ... {% endgiven %}`: a passage that is true if
    the verdict is that, or `{% given EXPRESSION %}` if the expression holds.

    In a chapter it must be so, or the weave stops with the line; a verdict that is out of date
    counts as it was when it was written about. On the page of another machine the passage is left
    out, with a sentence in its place where a verdict differs.
    """

    tags = {"given"}  # noqa: RUF012 - as Jinja declares it
    environment: "Weaver"

    def parse(self, parser: Parser) -> nodes.Node:
        """Reads the tag; called by Jinja."""
        line = next(parser.stream).lineno
        asked: list[nodes.Expr] = []
        if parser.stream.current.type == "string" and parser.stream.look().test("name:is"):
            asked.append(self._verdict(parser))
            while parser.stream.skip_if("name:and"):
                asked.append(self._verdict(parser))
        else:
            asked.append(parser.parse_expression())
        body = parser.parse_statements(("name:endgiven",), drop_needle=True)
        call = self.call_method("_passage", [nodes.List(asked)])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _verdict(self, parser: Parser) -> nodes.Expr:
        """The names of a claim and of the verdict that is expected."""
        claim = parser.stream.expect("string").value
        parser.stream.expect("name:is")
        return nodes.Const((claim, parser.stream.expect("string").value))

    def _passage(self, asked: Sequence[bool | tuple[str, str]], caller: Callable[[], str]) -> str:
        verbs, is_chapter = self.environment.verbs, self.environment.is_chapter
        assert isinstance(verbs, Verbs), "only a chapter's template asks for verdicts"
        for one in asked:
            if isinstance(one, tuple):
                found = verbs.verdict(one[0])
                if found == one[1] or (is_chapter and found == OUT_OF_DATE):
                    continue  # what was measured is told as it was, and marked
                if is_chapter:
                    raise UserError(f'given: found "{one[0]}" {found} on the lead machine'
                                     f" {verbs.machine_name}, expected {one[1]}")
                return (f"*(On this machine `{one[0]}` is {found}: what the chapter says of its"
                        " lead machine here does not apply.)*")
            if not one:
                if is_chapter:
                    raise UserError("given: found that this does not hold on the lead machine"
                                     f" {verbs.machine_name}")
                return ""
        return caller()


class Speaker(Protocol):
    """What gives a template its verbs."""

    def all(self) -> dict[str, Any]:
        """Every verb by its name in the template."""


class Weaver(jinja2.Environment):
    """What templates are compiled in, and who speaks in the one that is rendered."""

    verbs: Speaker
    is_chapter: bool

    def __init__(self) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, lstrip_blocks=True, extensions=[Given])


@cache
def _compiled(source: str) -> CodeType:
    """A template is woven for many machines, and takes a tenth of a second to compile."""
    return Weaver().compile(source)


def render(path: Path, shown: str, verbs: Speaker, is_chapter: bool = False) -> str:
    """The text of a template; errors name its line."""
    environment = Weaver()
    environment.verbs, environment.is_chapter = verbs, is_chapter
    try:
        code = _compiled(files.read(path, shown))
        named = environment.make_globals(verbs.all())
        text = jinja2.Template.from_code(environment, code, named).render()
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"{shown}:{error.lineno}: {error.message}") from error
    except (UserError, jinja2.UndefinedError, TypeError) as error:
        raise UserError(f"{shown}:{_template_line(error)}: {_one_line(error)}") from error
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _template_line(error: Exception) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == TEMPLATE_FRAME]
    return lines[-1] or 0 if lines else 0


def _one_line(error: Exception) -> str:
    """A wrong call reads `table() got ...`, without the class it belongs to."""
    return str(error).replace("\n", " ").replace("Verbs.", "").replace("Plot.", "plot.")

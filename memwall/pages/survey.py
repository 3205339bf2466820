"""One experiment on all machines: the verbs of a chapter that compare them, and their figures.

Machines are compared by ratios within each of them, on the inputs that each has: an input that a
machine lacks is blank.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from memwall.analysis import claims, needs
from memwall.analysis.basis import Basis, Over
from memwall.analysis.ceilings import Ceiling
from memwall.analysis.cells import measure
from memwall.analysis.claims import Verdict
from memwall.analysis.expectations import Finding
from memwall.analysis.measurements import Elsewhere, Measurements
from memwall.analysis.verdicts import (
    NOT_ASKED,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
    Reason,
)
from memwall.figures import rows
from memwall.figures.panels import NOISIEST, Value
from memwall.figures.plots import NOT_DRAWN, Plot
from memwall.figures.rows import Across, Block, ClaimCell, ClaimColumn, Claims, Column
from memwall.record import notation
from memwall.record.definition import Claim, Condition, Experiment
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.results import Result

#: What tells sizes of one kind of matrix apart.
SIZE = re.compile(r"-(tiny|small|half|gpu|xl)$")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
INFERRED = ("Inferred: read off a figure or a design of the article, which does not say it in so"
            " many words.")
NOT_RUN = "not run on this machine"
#: Marks a ceiling that was measured in an older way than others beside it.
OLDER = "†"
OLDER_MEANS = (f"{OLDER} By an older definition of a ceiling, the median pass of all looks: other"
               " measurements may exceed it, and it is no number to compare with those of the newer"
               " definition.")

@dataclass(frozen=True)
class OnMachine:
    """What one machine found: its complete run, or one that was kept beside it under a title."""

    machine: str
    measured: Measurements
    title: str = ""

    @property
    def result(self) -> Result:
        return self.measured.result

    @property
    def shown(self) -> str:
        """Its file, as errors name it."""
        return f"reports/{self.machine}/results/{self.result.path.name}"

    def judge(self, claim: Claim, is_told: bool = True) -> Verdict:
        """The verdict of a claim here. What a result of the machine that a chapter tells of lacks
        is an error that names the claim; on any other machine an input that it lacks came after
        its run, and all else leaves the claim undecided."""
        try:
            return claims.judge(self.measured, claim)
        except UserError as error:
            if isinstance(error, Elsewhere) and not is_told:
                return Verdict(claim, OUT_OF_DATE, (), error.told)
            shown = f"experiments/{self.measured.experiment.name}/experiment.toml"
            why = f'{shown}: claim "{claim.id}" on {self.machine}: {error}'
            if is_told:
                raise UserError(why) from error
            return Verdict(claim, UNDECIDED, (), f"{why}.")


#: As `told` of a survey that no definition was written about.
NOBODY = "-"


@dataclass(frozen=True)
class Survey:
    """All results of one experiment; `lead` is the machine that the text speaks of, `told` that of
    the chapter: what cannot be asked of this one is a mistake of who wrote it. Empty: the lead."""

    experiment: Experiment
    lead: str
    found: tuple[OnMachine, ...]
    told: str = ""
    #: What the machines are that have no complete run of it.
    others: Mapping[str, needs.Machine] = field(default_factory=dict)
    #: By the ids of runs the other experiments that have cases of the same one: of a program that
    #: was divided after it ran.
    divided: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def runs(self, title: str = "") -> list[OnMachine]:
        """The complete runs, or the kept ones of a title: the lead machine's first."""
        of_title = [one for one in self.found if one.title == title]
        return sorted(of_title, key=lambda one: (one.machine != self.lead, one.machine))

    @property
    def machines(self) -> list[str]:
        return [one.machine for one in self.runs()]

    @cached_property
    def verdicts(self) -> Mapping[str, Mapping[str, Verdict]]:
        """By the claims' ids and the machines."""
        told = self.told or self.lead
        return {claim.id: {one.machine: one.judge(claim, one.machine == told)
                           for one in self.runs()}
                for claim in self.experiment.claims}

    def everywhere(self, claim: Claim) -> dict[str, Verdict]:
        """The verdicts of a claim on all machines: where nothing was run it is undecided, unless
        the machine is one that cannot be asked."""
        found = dict(self.verdicts[claim.id])
        for machine, facts in self.others.items():
            barred = needs.barring(facts, [*self.asked_of_machines, *claim.needs])
            found[machine] = (Verdict(claim, NOT_ASKED, (), "; ".join(barred)) if barred
                              else Verdict(claim, UNDECIDED, (), NOT_RUN))
        return found

    @property
    def asked_of_machines(self) -> list[str]:
        """What the experiment needs of a machine: tools can be installed."""
        return [need for need in self.experiment.needs if needs.is_known(need)]

    # --- verbs -----------------------------------------------------------------------------------

    def machine_count(self) -> str:
        """`four machines`: how many have run the experiment."""
        return _machines(len(self.machines))

    def tally(self, id: str) -> str:
        """`on 3 of the 4 machines that could tell`: where a claim was reproduced, or holds."""
        verdicts = self.verdicts[self.experiment.claim(id).id].values()
        found = [verdict.decided for verdict in verdicts if verdict.decided]
        yes = found.count(REPRODUCED)
        no = len(found) - yes
        if not yes + no:
            return "on none, as no machine could tell"
        if not no:
            return f"on every machine that could tell ({yes})"
        if no == 1 and not yes:
            return "on none (1 machine could tell)"
        return f"on {yes or 'none'} of the {yes + no} machines that could tell"

    def arithmetic(self, claim: Claim) -> tuple[str, Verdict] | None:
        """The one verdict of a claim that follows from the inputs alone, and on whose inputs; None
        for another claim, or where nobody has asked it."""
        asked = [(name, verdict) for name, verdict in self.verdicts[claim.id].items()
                 if verdict.is_asked]
        if not claim.is_arithmetic or not asked:
            return None
        decided = (each for each in asked if each[1].decided)
        return next(decided, asked[0])


def best_ceilings(measured: Measurements) -> dict[str, Ceiling]:
    """Each probe's rate in the launch in which it is highest."""
    best: dict[str, Ceiling] = {}
    for launch in range(len(measured.result.raw["launches"])):
        for name, found in measured.ceilings.probes(launch).items():
            if name not in best or found.rate.value > best[name].rate.value:
                best[name] = found
    return best


def kind_of(matrix: str) -> str:
    """What a matrix is called without its size: `pois2d` of `pois2d-small`."""
    return SIZE.sub("", matrix)


def has(measured: Measurements, where: Where) -> bool:
    """Whether anything of a region was measured; a result may lack its axes."""
    try:
        return bool(measured.select(where))
    except UserError:
        return False


def _machines(count: int) -> str:
    return f"{_number(count)} machine{'' if count == 1 else 's'}"


def _number(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


# --- `plot.claims` and `plot.across`: the figures that compare machines ---------------------------

CLAIMS_FILE = "claims.svg"
TOO_NOISY = "(No figure of the claims, as [two runs of the same code](#runs) differ too much."
PRECISIONS = ("fp32", "fp64")


@dataclass
class ChapterPlot(Plot):
    """The verbs `plot.*` of a page, with those that draw all machines."""

    survey: Survey = field(kw_only=True)

    def claims(self) -> str:
        """All measured claims on all machines: what decided each, and where it holds."""
        measured = [claim for claim in self.survey.experiment.claims
                    if not claim.is_arithmetic and self.survey.machines]
        columns = [column for claim in measured
                   for column in _columns(self.survey, self.survey.verdicts[claim.id])]
        if not columns:
            is_noisy = any(map(_is_noisy, self.survey.runs()))
            return f"*{TOO_NOISY} {NOT_DRAWN}" if is_noisy else ""
        count = self.survey.machine_count()
        where = f"which of {count}" if len(self.survey.machines) > 1 else "this machine"
        title = f"Which claims hold on {where}?"
        notes = _left_out(self.survey.runs())
        told = Claims(title, tuple(self.survey.machines), tuple(columns), notes)
        self.drawn |= rows.claims(told).files(CLAIMS_FILE)
        return f"![{title}]({self.prefix}/{CLAIMS_FILE})"

    def across(self, id: str, variants: Sequence[str] | Mapping[str, tuple[str, Over]],
               over: Over = None, x: str = "matrix", where: Where | None = None, run: str = "",
               series: Sequence[str] = PRECISIONS) -> str:
        """Speed-ups on every machine, input by input: a block for each variant, or for each name of
        a comparison `{name: (variant, over)}`; columns are kinds of inputs, or numbers of threads.
        `series=[""]` takes all precisions together."""
        figure = self.measured.experiment.figure(id)
        of_all = self.survey.runs(run)
        if not of_all and not self.measured.partial:
            raise UserError(f'plot.across: no machine has a run "{run}"')
        found = [one for one in of_all if not _is_noisy(one)]
        names = variants if isinstance(variants, Mapping) else {v: (v, over) for v in variants}
        inputs = _inputs(found, x, where or {})
        if not inputs:
            return self._put(id, None)
        columns = tuple(Column(kind, _about(found, x, of)) for kind, of in inputs.items())
        blocks = tuple(
            Block(heading, tuple(tuple(_values(one, x, of, pair, where or {}, series)
                                       for of in inputs.values()) for one in found))
            for heading, pair in names.items())
        blocks = tuple(block for block in blocks if block.is_measured)
        if not blocks:
            return self._put(id, None)
        label = f"speed-up over {_over_words(names, found[0].measured)}"
        machines = tuple(one.machine for one in found)
        chart = Across(figure.question, machines, columns, blocks, tuple(series), label,
                       _left_out(of_all))
        return self._put(id, rows.across(chart))


def _is_noisy(one: OnMachine) -> bool:
    """Whether a run appears in tables only."""
    return one.measured.noise.factor > NOISIEST


def _left_out(found: Sequence[OnMachine]) -> tuple[str, ...]:
    """The note of a figure that has not all runs."""
    noisy = [f"{one.machine} ({notation.percent(one.measured.noise.factor - 1)})" for one in found
             if _is_noisy(one)]
    return (f"Left out, noise floor above 50 %: {', '.join(noisy)}.",) if noisy else ()


def _columns(survey: Survey, verdicts: Mapping[str, Verdict]) -> list[ClaimColumn]:
    """A column for a claim, or for each of its conditions that has a label of its own."""
    claim = next(iter(verdicts.values())).claim
    labelled = [i for i, c in enumerate(claim.conditions) if c.label]
    shown: list[tuple[str, int | None]] = [(claim.conditions[i].label, i) for i in labelled]
    return [column for title, index in shown or [(claim.short.replace("`", ""), None)]
            if (column := _column(survey, verdicts, title, index)) is not None]


def _column(survey: Survey, verdicts: Mapping[str, Verdict], title: str,
            index: int | None) -> ClaimColumn | None:
    noisy = {one.machine for one in survey.runs() if _is_noisy(one)}
    chosen = {machine: None if machine in noisy else _finding(verdicts[machine], index)
              for machine in survey.machines}
    example = next((f for f in chosen.values() if f is not None and f.estimate), None)
    if example is None:
        return None
    claim = next(iter(verdicts.values())).claim
    condition = claim.conditions[index or 0]
    estimates = [f.estimate.value for f in chosen.values() if f is not None and f.estimate]
    of_one, unit = _unit(condition, estimates)
    cells = tuple(_cell(verdicts[machine], chosen[machine], index, of_one)
                  for machine in survey.machines)
    low, high = (edge if edge is None else of_one * edge for edge in example.holds)
    return ClaimColumn(title, cells, (low, high), "ratio" if example.comparison else "linear", unit)


def _finding(verdict: Verdict, index: int | None) -> Finding | None:
    if not verdict.is_asked:
        return None
    if index is None:
        return verdict.telling
    return verdict.findings[index] if index < len(verdict.findings) else None


def _cell(verdict: Verdict, finding: Finding | None, index: int | None,
          of_one: float) -> ClaimCell | None:
    if finding is None or not verdict.is_asked:
        return None
    words = claims.OWN if verdict.claim.is_own else {}
    word = (verdict.word if index is None or verdict.verdict == OUT_OF_DATE
            else words.get(finding.verdict, finding.verdict)).lower()
    if finding.estimate is None:
        few = finding.reason == Reason.TOO_FEW
        return ClaimCell(word, "too few" if few else finding.decided_by)
    is_open = finding.interval if finding.verdict == UNDECIDED else word == UNDECIDED.lower()
    number = "?" if is_open else finding.decided_by.removesuffix("x")
    e = finding.estimate.scaled(of_one)
    return ClaimCell(word, number, e.value, e.low, e.high)


def _unit(condition: Condition, values: Sequence[float]) -> tuple[float, str]:
    """The unit of a panel's axis, and how many of it are one of what a condition counts in."""
    if condition.value.startswith("of_"):
        return 100, "%"
    if condition.value == "median":
        seconds, unit = notation.time_unit(values)
        return 1 / seconds, unit
    return 1, {"gflops": "GFLOP/s", "tflops": "TFLOP/s", "gbps": "GB/s"}.get(condition.value, "")


def _inputs(found: Sequence[OnMachine], x: str, where: Where) -> dict[str, list[Any]]:
    """The kinds of inputs, short rows or small numbers first, and what they are called on one
    machine or another."""
    kinds: dict[str, dict[Any, None]] = {}
    order: dict[str, float] = {}
    for one in found:
        if not has(one.measured, where):
            continue
        for value in one.measured.values(x, where):
            kind = kind_of(str(value))
            kinds.setdefault(kind, {})[value] = None
            order.setdefault(kind, _mean_row(one.measured, value) if isinstance(value, str)
                             else float(value))
    return {kind: list(kinds[kind]) for kind in sorted(kinds, key=lambda k: (order[k], k))}


def _mean_row(measured: Measurements, name: Any) -> float:
    return measured.features(name).get("mean_row", 0.0)


def _about(found: Sequence[OnMachine], x: str, names: Sequence[Any]) -> str:
    if not isinstance(names[0], str):
        return x
    means = [mean for one in found for name in names if (mean := _mean_row(one.measured, name))]
    return f"{means[0]:.0f} per row" if means else ""


def _values(one: OnMachine, x: str, names: Sequence[Any], pair: tuple[str, Over], where: Where,
            series: Sequence[str]) -> tuple[Value | None, ...]:
    variant, over = pair
    measured = one.measured.loose
    values: list[Value | None] = []
    for precision in series:
        of = {**where, **({"precision": precision} if precision else {})}
        here = [n for n in names if has(measured, {**of, x: n})]
        if not here:
            values.append(None)
            continue
        region = {**of, x: here[0]}
        cell = measure(Basis(measured, over), "speedup", variant, region)
        e = cell.estimate
        values.append(Value(e.value, e.low, e.high, samples=e.rounds) if e else None)
    return tuple(values)


def _over_words(names: Mapping[str, tuple[str, Over]], measured: Measurements) -> str:
    words = dict.fromkeys(Basis(measured, over).over_words for _, over in names.values())
    return next(iter(words)) if len(words) == 1 else "what each is compared with"

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
from memwall.analysis.cells import Cell, measure
from memwall.analysis.claims import Verdict
from memwall.analysis.expectations import Finding
from memwall.analysis.measurements import Measurements
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_ASKED,
    NOT_REPRODUCED,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
    Reason,
)
from memwall.figures import rows
from memwall.figures.panels import Value
from memwall.figures.plots import Plot
from memwall.figures.rows import Across, Block, ClaimCell, ClaimColumn, Claims, Column
from memwall.pages.tables import markdown
from memwall.record import notation
from memwall.record.definition import Claim, Condition, Experiment
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.results import Result

#: What tells sizes of one kind of matrix apart.
SIZE = re.compile(r"-(tiny|small|half|gpu|xl)$")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
LEGEND = {
    REPRODUCED: "✓ reproduced",
    DIRECTION_ONLY: "≈ the direction holds, the size does not",
    NOT_REPRODUCED: "✗ not reproduced",
    UNDECIDED: "? undecided",
    OUT_OF_DATE: "↻ the code is newer than this run: measure again",
    NOT_ASKED: "blank: cannot be asked of that machine",
}
INFERRED = ("Inferred: read off a figure or a design of the article, which does not say it in so"
            " many words.")
NOT_RUN = "not run on this machine"
#: Marks a ceiling that was measured in an older way than others beside it.
OLDER = "†"
OLDER_MEANS = f"{OLDER} By an older definition of a ceiling: no number to compare with the others."
#: What a run says of itself, below the table of runs.
FLOOR = ("The noise floor is the largest difference that the run found between two copies of the"
         " same code (A/A pairs), timed as if they were two versions: a smaller difference between"
         " two versions counts as none. What ran on a GPU alone is held against pairs on the GPU.")
OWN_CEILING = ("Every run measures its ceiling anew: the one of another chapter, and so of another"
               " run, may differ.")


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
        title = f"@{self.title}" if self.title else ""
        return f"reports/{self.machine}/results/{self.result.experiment}{title}.json"

    def judge(self, claim: Claim, is_told: bool = True) -> Verdict:
        """The verdict of a claim here. What cannot be asked of the machine that a chapter tells of
        is an error that names the claim; of any other machine it is the verdict."""
        try:
            return claims.judge(self.measured, claim)
        except UserError as error:
            shown = f"experiments/{self.measured.experiment.name}/experiment.toml"
            why = f'{shown}: claim "{claim.id}" on {self.machine}: {error}'
            if is_told:
                raise UserError(why) from error
            return Verdict(claim, NOT_ASKED, (), f"{why}.")


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

    def cells(self, variant: str, over: Over, where: Where, title: str = "",
              metric: str = "speedup") -> dict[str, Cell]:
        """A metric on each machine that has it."""
        found = {one.machine: measure(Basis(one.measured.loose, over), metric, variant, where)
                 for one in self.runs(title) if has(one.measured, where)}
        return {machine: cell for machine, cell in found.items() if cell.estimate}

    # --- verbs -----------------------------------------------------------------------------------

    def machine_count(self) -> str:
        """`four machines`: how many have run the experiment."""
        return _machines(len(self.machines))

    def across(self, variant: str, over: Over = None, where: Where | None = None, run: str = "",
               metric: str = "speedup") -> str | None:
        """`2.17x to 3.57x on four machines`: lowest and highest median; None without any."""
        found = self.cells(variant, over, where or {}, run, metric)
        values = [cell.estimate.value for cell in found.values() if cell.estimate]
        if not values:
            return None
        told = [_value(metric, value) for value in (min(values), max(values))]
        where_to = "one machine" if len(values) == 1 else f"{_number(len(values))} machines"
        return f"{' to '.join(dict.fromkeys(told))} on {where_to}"

    def spread(self, ceiling: str, unit: bool = True) -> str | None:
        """`34.8, 28.1 and 12.0 GB/s`: a ceiling's best launch on each machine, the lead first;
        None without any."""
        rates = []
        for one in self.runs():
            launches = range(len(one.result.raw["launches"]))
            found = [c for i in launches if (c := one.measured.ceilings.probes(i).get(ceiling))]
            rates += [max(found, key=lambda c: c.rate.value)] if found else []
        if not rates:
            return None
        newest = max(found.definition for found in rates)
        texts = [f"{notation.significant(found.rate.value / 1e9)}{_age(found, newest)}"
                 for found in rates]
        return notation.listed(texts) + (f" {rates[0].unit}" if unit else "")

    def ceilings_table(self, names: Sequence[str] = ()) -> str:
        """What probes reached at best on each machine, and its share of the nominal peak where the
        run recorded one: all probes, or those of some names."""
        best = {one.machine: best_ceilings(one.measured) for one in self.runs()}
        peaks = {one.machine: one.measured.ceilings.peaks for one in self.runs()}
        known = {name: found for of in best.values() for name, found in of.items()}
        for name in names:
            if name not in known:
                raise UserError(f'ceilings: no machine has measured "{name}", only'
                                 f" {', '.join(sorted(known))}")
        machines = [f"**{name}**" if name == self.lead else name for name in self.machines]
        definitions = {found.definition for of in best.values() for found in of.values()}
        rows = []
        for name in names or sorted(known, key=lambda n: (not known[n].moves_bytes, n)):
            cells = [_of_peak(best[machine].get(name), peaks[machine].get(f"peak:{name}"),
                              max(definitions)) for machine in self.machines]
            rows.append([f"`{name}`", known[name].unit, *cells])
        note = f"\n\n<sub>{OLDER_MEANS}</sub>" if len(definitions) > 1 else ""
        return markdown(["ceiling", "unit", *machines], rows, 2) + note

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
        return f"on {yes or 'none'} of the {yes + no} machines that could tell"

    def claims_table(self) -> str:
        """Tables of verdicts, claims downwards and machines across, with what decided them."""
        if not self.machines:
            return "*No machine has a complete run yet.*"
        measured = [c for c in self.experiment.claims if not c.is_arithmetic]
        articles = [c for c in measured if not c.is_own]
        own = [c for c in measured if c.is_own]
        parts = []
        if articles:
            numbers = dict.fromkeys(str(claim.article) for claim in articles)
            noun = "article" if len(numbers) == 1 else "articles"
            parts.append(self._table(f"claim of {noun} {notation.listed(list(numbers))}", articles))
        if own:
            parts.append(self._table("our own target", own))
        return "\n\n".join([*parts, *self._arithmetic(), self._reasons()])

    def _table(self, title: str, shown: Sequence[Claim]) -> str:
        machines = [f"**{name}**" if name == self.lead else name for name in self.machines]
        rows = [[_named(claim), *(cell(self.verdicts[claim.id][name]) for name in self.machines)]
                for claim in shown]
        return (markdown([title, *machines], rows, 1 + len(machines))
                + f"\n\n<sub>{self._legend(shown)}</sub>")

    def _legend(self, shown: Sequence[Claim]) -> str:
        """What is to be known below a table of claims, of its symbols and no others."""
        found = {verdict.verdict for claim in shown for verdict in self.verdicts[claim.id].values()}
        legend = {**LEGEND, REPRODUCED: "✓ holds", NOT_REPRODUCED: "✗ fails"} if (
            shown[0].is_own) else LEGEND
        texts = [text for verdict, text in legend.items() if verdict in found]
        told = [f"{' · '.join(texts)}."]
        if found != {NOT_ASKED}:
            interval = ", or the interval that does not" if UNDECIDED in found else ""
            told.append(f"Beside a symbol: the number that decided it{interval}.")
        if any("," in cell(v) for claim in shown for v in self.verdicts[claim.id].values()):
            told.append("Two numbers: two conditions, which the claim in full tells.")
        if any(claim.inferred for claim in shown):
            told.append(INFERRED)
        rounds = notation.listed([str(one.result.run["rounds"]) for one in self.runs()])
        return " ".join([*told, f"Medians of {rounds} rounds."])

    def _arithmetic(self) -> list[str]:
        """Claims that follow from the inputs alone: told once, for those of the lead machine or of
        the first one that can tell."""
        rows, tellers = [], []
        for claim in self.experiment.claims:
            told = self.arithmetic(claim)
            if told is not None:
                tellers.append(told[0])
                rows.append([_named(claim), cell(told[1])])
        if not rows:
            return []
        whose = notation.listed([f"`{name}`" for name in dict.fromkeys(tellers)])
        return [markdown(["arithmetic", "for these matrices"], rows, 2),
                "<sub>These follow from the matrices and the rules alone, whoever runs them: here"
                f" the matrices of {whose}.</sub>"]

    def arithmetic(self, claim: Claim) -> tuple[str, Verdict] | None:
        """The one verdict of a claim that follows from the inputs alone, and on whose inputs; None
        for another claim, or where nobody has asked it."""
        asked = [(name, verdict) for name, verdict in self.verdicts[claim.id].items()
                 if verdict.is_asked]
        if not claim.is_arithmetic or not asked:
            return None
        decided = (each for each in asked if each[1].decided)
        return next(decided, asked[0])

    def _reasons(self) -> str:
        """What decided each verdict on the lead machine, folded; nothing if it only kept a run."""
        if self.lead not in self.machines:
            return ""
        lines = []
        for claim in self.experiment.claims:
            verdict = self.verdicts[claim.id][self.lead]
            remarks = [finding.sentence for finding in verdict.findings]
            remarks += [verdict.note] if verdict.note else []
            text = " ".join(f"{remark[0].upper()}{remark[1:]}" for remark in remarks)
            lines.append(f"- `{claim.id}` **{verdict.word}**: {claim.says}\n  {text}")
        body = "\n".join(lines)
        return (f"<details><summary>The claims in full, and what decided them on {self.lead}"
                f"</summary>\n\n{body}\n\n</details>")

    def runs_table(self, link: str) -> str:
        """The run of every machine. `link` leads from the page to the folder `reports/`."""
        rows = []
        runs = [each for title in self._titles() for each in self.runs(title)]
        highest = [_highest_ceiling(one.measured) for one in runs]
        definitions = {found.definition for found in highest if found}
        for one, ceiling in zip(runs, highest, strict=True):
            run, measured = one.result.run, one.measured
            name = f"[{one.machine}]({link}/{one.machine}/README.md)"
            stale = [f"`{variant}`" for variant in measured.stale_variants]
            more = f" and {len(stale) - 4} more" if len(stale) > 4 else ""
            floor = measured.noise
            rows.append([
                f"**{name}**" if one.machine == self.lead and not one.title else name,
                f"`{run['id'][:8]}`" + (f" ({one.title})" if one.title else ""),
                run["utc"][:10],
                run["profile"],
                str(run["rounds"]),
                notation.percent(floor.factor - 1) if floor.pairs else "unknown",
                _rate_text(ceiling, max(definitions, default=1)),
                ", ".join(stale[:4]) + more or "–",
            ])
        head = ["machine", "run", "date", "profile", "rounds", "noise floor", "ceiling",
                "out of date"]
        older = f" {OLDER_MEANS}" if len(definitions) > 1 else ""
        return f"{markdown(head, rows, 3)}\n\n<sub>{FLOOR} {OWN_CEILING}{older}</sub>"

    def _titles(self) -> list[str]:
        return sorted({one.title for one in self.found})


def cell(verdict: Verdict) -> str:
    """`✓ 3.57`: a symbol, and up to two numbers that decided it."""
    numbers = ", ".join(number.removesuffix("x") for number in verdict.numbers[:2])
    return f"{verdict.symbol} {numbers}".strip()


def _named(claim: Claim) -> str:
    inferred = " (inferred)" if claim.inferred else ""
    return f'<a id="{claim.anchor}"></a>{claim.short}{inferred}'


def best_ceilings(measured: Measurements) -> dict[str, Ceiling]:
    """Each probe's rate in the launch in which it is highest."""
    best: dict[str, Ceiling] = {}
    for launch in range(len(measured.result.raw["launches"])):
        for name, found in measured.ceilings.probes(launch).items():
            if name not in best or found.rate.value > best[name].rate.value:
                best[name] = found
    return best


def _age(found: Ceiling, newest: int) -> str:
    return OLDER if found.definition < newest else ""


def _of_peak(found: Ceiling | None, peak: Ceiling | None, newest: int) -> str:
    if found is None:
        return ""
    text = f"{notation.significant(found.rate.value / 1e9)}{_age(found, newest)}"
    if peak is None:
        return text
    return f"{text} ({notation.percent(found.rate.value / peak.rate.value)})"


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


def _value(metric: str, value: float) -> str:
    if metric == "speedup":
        return notation.times(value)
    return notation.percent(value) if metric.startswith("of_") else notation.significant(value)


def _highest_ceiling(measured: Measurements) -> Ceiling | None:
    """The experiment's ceiling at best, in one launch or another."""
    launches = range(len(measured.result.raw["launches"]))
    found = [measured.ceilings.one(i) for i in launches if measured.ceilings.are_known(i)]
    return max(found, key=lambda ceiling: ceiling.rate.value, default=None)


def _rate_text(found: Ceiling | None, newest: int) -> str:
    if found is None:
        return "–"
    rate = notation.significant(found.rate.value / 1e9)
    return f"{found.name} {rate} {found.unit}{_age(found, newest)}"


# --- `plot.claims` and `plot.across`: the figures that compare machines ---------------------------

CLAIMS_FILE = "claims.svg"
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
            return ""
        title = f"Claims about {self.survey.experiment.name} on {self.survey.machine_count()}"
        self.drawn[CLAIMS_FILE] = rows.claims(
            Claims(title, tuple(self.survey.machines), tuple(columns)))
        alt = f"{title}: what was measured, and where each claim holds"
        return f"![{alt}]({self.prefix}/{CLAIMS_FILE})"

    def across(self, id: str, variants: Sequence[str] | Mapping[str, tuple[str, Over]],
               over: Over = None, x: str = "matrix", where: Where | None = None, run: str = "",
               series: Sequence[str] = PRECISIONS) -> str:
        """Speed-ups on every machine, input by input: a block for each variant, or for each name of
        a comparison `{name: (variant, over)}`; columns are kinds of inputs, or numbers of threads.
        `series=[""]` takes all precisions together."""
        figure = self.measured.experiment.figure(id)
        found = self.survey.runs(run)
        if not found and not self.measured.partial:
            raise UserError(f'plot.across: no machine has a run "{run}"')
        names = variants if isinstance(variants, Mapping) else {v: (v, over) for v in variants}
        inputs = _inputs(found, x, where or {})
        if not inputs:
            return self._put(id, None)
        columns = tuple(Column(kind, _about(found, x, of)) for kind, of in inputs.items())
        blocks = tuple(
            Block(heading, tuple(tuple(_values(one, x, of, pair, where or {}, series)
                                       for of in inputs.values()) for one in found))
            for heading, pair in names.items())
        label = f"speed-up over {_over_words(names, found[0].measured)}"
        machines = tuple(one.machine for one in found)
        chart = Across(figure.caption, machines, columns, blocks, tuple(series), label)
        return self._put(id, rows.across(chart))


def _columns(survey: Survey, verdicts: Mapping[str, Verdict]) -> list[ClaimColumn]:
    """A column for a claim, or for each of its conditions that has a label of its own."""
    claim = next(iter(verdicts.values())).claim
    labelled = [i for i, c in enumerate(claim.conditions) if c.label]
    shown: list[tuple[str, int | None]] = [(claim.conditions[i].label, i) for i in labelled]
    return [column for title, index in shown or [(claim.short.replace("`", ""), None)]
            if (column := _column(survey, verdicts, title, index)) is not None]


def _column(survey: Survey, verdicts: Mapping[str, Verdict], title: str,
            index: int | None) -> ClaimColumn | None:
    chosen = {machine: _finding(verdicts[machine], index) for machine in survey.machines}
    example = next((f for f in chosen.values() if f is not None and f.estimate), None)
    if example is None:
        return None
    claim = next(iter(verdicts.values())).claim
    condition = claim.conditions[index or 0]
    cells = tuple(_cell(verdicts[machine], chosen[machine], index) for machine in survey.machines)
    unit = _unit(condition)
    low, high = (edge if edge is None or unit != "%" else 100 * edge for edge in example.holds)
    return ClaimColumn(title, cells, (low, high), "ratio" if example.comparison else "linear", unit)


def _finding(verdict: Verdict, index: int | None) -> Finding | None:
    if not verdict.is_asked:
        return None
    if index is None:
        return verdict.telling
    return verdict.findings[index] if index < len(verdict.findings) else None


def _cell(verdict: Verdict, finding: Finding | None, index: int | None) -> ClaimCell | None:
    if finding is None or not verdict.is_asked:
        return None
    words = claims.OWN if verdict.claim.is_own else {}
    word = (verdict.word if index is None or verdict.verdict == OUT_OF_DATE
            else words.get(finding.verdict, finding.verdict)).lower()
    if finding.estimate is None:
        few = finding.reason == Reason.TOO_FEW
        return ClaimCell(word, "too few" if few else finding.decided_by)
    is_open = finding.verdict == UNDECIDED and finding.interval
    number = "?" if is_open else finding.decided_by.removesuffix("x")
    e = finding.estimate.scaled(100 if finding.decided_by.endswith(" %") else 1)
    return ClaimCell(word, number, e.value, e.low, e.high)


def _unit(condition: Condition) -> str:
    if condition.value.startswith("of_"):
        return "%"
    return {"gflops": "GFLOP/s", "tflops": "TFLOP/s", "gbps": "GB/s"}.get(condition.value, "")


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
        values.append(Value(e.value, e.low, e.high) if e else None)
    return tuple(values)


def _over_words(names: Mapping[str, tuple[str, Over]], measured: Measurements) -> str:
    words = dict.fromkeys(Basis(measured, over).over_words for _, over in names.values())
    return next(iter(words)) if len(words) == 1 else "what each is compared with"

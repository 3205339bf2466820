"""`plot.claims` and `plot.across`: the figures that compare machines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weave import rows
from weave.claims import Verdict
from weave.definition import Condition
from weave.errors import WeaveError
from weave.expectations import TOO_FEW, Finding
from weave.measurements import Measurements
from weave.metrics import Basis, Over, measure
from weave.plots import Plot
from weave.region import Where
from weave.rows import Across, Block, ClaimCell, ClaimColumn, Claims, Column
from weave.survey import OnMachine, Survey, has, is_asked, kind_of, loosely

CLAIMS_FILE = "claims.svg"
PRECISIONS = ("fp32", "fp64")


@dataclass
class ChapterPlot(Plot):
    """The verbs `plot.*` of a page, with those that draw all machines."""

    survey: Survey = field(kw_only=True)

    def claims(self) -> str:
        """All measured claims on all machines: what decided each, and where it holds."""
        columns = [column for claim in self.survey.experiment.claims if not claim.is_arithmetic
                   for column in _columns(self.survey, self.survey.verdicts[claim.id])]
        if not columns:
            return ""
        title = f"Claims about {self.survey.experiment.name} on {self.survey.machine_count()}"
        self.drawn[CLAIMS_FILE] = rows.claims(
            Claims(title, tuple(self.survey.machines), tuple(columns)))
        return f"![{title}: what was measured, and where each claim holds]({self.prefix}/{CLAIMS_FILE})"

    def across(self, id: str, variants: Sequence[str] | Mapping[str, tuple[str, Over]],
               over: Over = None, x: str = "matrix", where: Where | None = None, run: str = "",
               series: Sequence[str] = PRECISIONS) -> str:
        """Speed-ups on every machine, input by input: a block for each variant, or for each name of
        a comparison `{name: (variant, over)}`; columns are kinds of inputs, or numbers of threads.
        `series=[""]` takes all precisions together."""
        figure = self.measured.experiment.figure(id)
        self._require_new(id, figure)
        found = self.survey.runs(run)
        if not found:
            raise WeaveError(f'plot.across: no machine has a run "{run}"')
        names = variants if isinstance(variants, Mapping) else {v: (v, over) for v in variants}
        inputs = _inputs(found, x, where or {})
        columns = tuple(Column(kind, _about(found, x, of)) for kind, of in inputs.items())
        blocks = tuple(
            Block(heading, tuple(tuple(_values(one, x, of, pair, where or {}, series)
                                       for of in inputs.values()) for one in found))
            for heading, pair in names.items())
        label = f"speed-up over {_over_words(names, found[0].measured)}"
        machines = tuple(one.machine for one in found)
        chart = Across(figure.caption, machines, columns, blocks, tuple(series), label)
        self.drawn[figure.file] = rows.across(chart)
        return f"![{figure.caption}]({self.prefix}/{figure.file})\n\n*{figure.caption}*"


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
    return ClaimColumn(title, cells, example.holds,
                       "ratio" if example.is_ratio else "linear", _unit(condition))



def _finding(verdict: Verdict, index: int | None) -> Finding | None:
    if not is_asked(verdict):
        return None
    if index is None:
        return verdict.telling
    return verdict.findings[index] if index < len(verdict.findings) else None


def _cell(verdict: Verdict, finding: Finding | None, index: int | None) -> ClaimCell | None:
    if finding is None or not is_asked(verdict):
        return None
    word = (verdict.word if index is None or verdict.verdict == "OUT OF DATE"
            else finding.verdict).lower()
    if finding.estimate is None:
        return ClaimCell(word, "too few" if finding.verdict == TOO_FEW else finding.decided_by)
    number = finding.decided_by.removesuffix("x")
    e = finding.estimate
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
    features = measured.result.raw["datasets"].get(name, {}).get("features", {})
    return features.get("mean_row", 0.0)


def _about(found: Sequence[OnMachine], x: str, names: Sequence[Any]) -> str:
    if not isinstance(names[0], str):
        return x
    means = [mean for one in found for name in names if (mean := _mean_row(one.measured, name))]
    return f"{means[0]:.0f} per row" if means else ""


def _values(one: OnMachine, x: str, names: Sequence[Any], pair: tuple[str, Over], where: Where,
            series: Sequence[str]) -> tuple[rows.Value | None, ...]:
    variant, over = pair
    measured = loosely(one.measured)
    values: list[rows.Value | None] = []
    for precision in series:
        of = {**where, **({"precision": precision} if precision else {})}
        here = [n for n in names if has(measured, {**of, x: n})]
        if not here:
            values.append(None)
            continue
        region = {**of, x: here[0]}
        cell = measure(Basis(measured, over), "speedup", variant, region)
        e = cell.estimate
        values.append(rows.Value(e.value, e.low, e.high) if e else None)
    return tuple(values)


def _over_words(names: Mapping[str, tuple[str, Over]], measured: Measurements) -> str:
    words = dict.fromkeys(Basis(measured, over).over_words for _, over in names.values())
    return next(iter(words)) if len(words) == 1 else "what each is compared with"

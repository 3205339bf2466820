"""The page of `just figures`: every figure of the articles in their order, the numbers that the
texts give beside what was measured, and the data of each figure as CSV."""

import csv
import io
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memwall.analysis import needs
from memwall.analysis.basis import Basis
from memwall.analysis.cells import measure
from memwall.analysis.metrics import metric_named
from memwall.figures.panels import NOISIEST
from memwall.pages import book, weaving
from memwall.pages.report import figures
from memwall.pages.report.claims import word
from memwall.pages.report.told import Place, Told
from memwall.pages.survey import NOBODY, OnMachine, Survey, has
from memwall.pages.tables import markdown
from memwall.record import escape, files, notation
from memwall.record.definition import Experiment, Figure
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.schemas import check_schema

LIST = "reports/articles.toml"
SCHEMA = Path(__file__).with_name("articles.schema.json")
DRAWN_ONLY = "The article gives no number for it: drawn in the article only."
#: What a label of an axis says beside what is measured.
SIDES = re.compile(r"^slower \u2190 | \u2192 faster$| \(log scale\)|, log scale(?=\))")
#: Columns of a CSV, of those that a figure has.
COLUMNS = ("panel", "name", "kind", "matrix", "x", "lane", "begin", "end", "value", "low", "high",
           "samples", "word", "measure")


@dataclass(frozen=True)
class Number:
    """What an article's text says in numbers, and what is measured here in its place."""

    what: str
    line: int
    value: str
    machine: str = ""
    experiment: str = ""  # empty: that of the figure
    run: str = ""
    claim: str = ""  # the number that decides it, or else:
    metric: str = ""
    variant: str = ""
    where: Where = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """A figure of an article, where it stands there, and what the text says of it in numbers."""

    id: str
    line: int
    numbers: tuple[Number, ...] = ()

    @property
    def article(self) -> str:
        return self.id.partition(".")[0]


def listed(root: Path) -> list[Shown]:
    """The figures of the articles, in their order."""
    raw = files.read_toml(root / LIST, LIST)
    check_schema(raw, files.read_json(SCHEMA), LIST)
    return [Shown(one["id"], one["line"], tuple(Number(**each) for each in one.get("number", [])))
            for one in raw["figure"]]


def weave(root: Path, machine: str, facts: needs.Machine | None = None) -> weaving.Texts:
    """The page, its figures and their data, by path below `build/figures/`; of `machine` what it
    has measured. `facts` say what it is, else its results do."""
    house = book.read(root, beside=[machine])
    here = _Here(machine, facts or house.facts.get(machine))
    known = {figure.id: (experiment, figure) for experiment in house.experiments
             for figure in experiment.figures}
    texts: weaving.Texts = {}
    sections = []
    for article, shown in itertools.groupby(listed(root), key=lambda one: one.article):
        sections.append(f"## [Article {article}](../../reports/articles.md#article-{article})")
        for one in shown:
            if one.id not in known:
                raise UserError(f'{LIST}: found the figure "{one.id}", expected one of an'
                                " experiment.toml")
            made = _Made(house, here, *known[one.id])
            sections.append(made.section(one))
            texts |= made.files
    mine = house.of_machine(machine)
    about = (f"`{machine}` is this machine." if mine else
             f"`{machine}`, this machine, has measured nothing yet: `just run-all`.")
    head = ["# Every figure of the five articles", about + " A chart shows what it measured; where"
            " it cannot or has not, that of another machine, mostly the lead machine of the"
            " experiment, and the chart says so. Beside each chart lie its numbers as CSV, and its"
            " specification (Vega-Lite)."]
    page = "\n\n".join([*head, *sections]) + "\n"
    return book.opened({"README.md": page}) | texts


@dataclass(frozen=True)
class _Here:
    """This machine: its name, and what it is, as far as that is known."""

    name: str
    facts: needs.Machine | None


@dataclass
class _Made:
    """One figure, drawn of this machine or of another."""

    house: book.House
    here: _Here
    experiment: Experiment
    figure: Figure
    files: dict[str, str] = field(default_factory=dict)

    def section(self, shown: Shown) -> str:
        """Its heading, picture, numbers and data."""
        parts = [f"### {shown.id}, L{shown.line}: {self.figure.question}"]
        if self.figure.draw["as"] == figures.DRAWING:
            lead = self.house.survey(self.experiment)
            parts += [self._draw(Told(lead, Place("", is_committed=True))),
                      "<sub>A drawing, which has no data.</sub>"]
        else:
            parts += self._chart()
        return "\n\n".join([*parts, self._numbers(shown.numbers) or DRAWN_ONLY])

    def _chart(self) -> list[str]:
        """This machine's, or the lead machine's and why."""
        for machine, told in self._candidates():
            text = self._draw(told)
            if text:
                said = f"Measured on `{machine}`, this machine."
                if machine != self.here.name:
                    said = f"Measured on `{machine}`, as {self._why_not_here()}."
                return [text, f"<sub>{said} Data: {self._data()}</sub>"]
        return [f"*{self.figure.caption}*", f"Not measured: {self._why_not_here()}."]

    def _candidates(self) -> Iterator[tuple[str, Told]]:
        title = self.figure.draw.get("run", "")
        one = _run(self.house, self.experiment, self.here.name, title)
        if one is not None:
            alone = Survey(self.experiment, self.here.name, (replace(one, title=""),), NOBODY)
            yield self.here.name, Told(alone, Place("", kept=title))
        lead = self.house.survey(self.experiment)
        machine = self.figure.draw.get("machine", lead.lead)
        if machine != self.here.name and lead.machines:
            yield machine, Told(lead, Place("", is_committed=True))

    def _draw(self, told: Told) -> str:
        text = figures.drawn(told, self.figure)
        self.files |= {f"figures/{name}": drawn for name, drawn in told.drawn.items()}
        is_drawn = self.figure.file in told.drawn  # else noise forbids it
        return text.partition("\n\n<sub>Measured on")[0] if is_drawn else ""

    def _data(self) -> str:
        """Links to the numbers of the chart, and to its specification."""
        stem = self.figure.file.removesuffix(".svg")
        spec = json.loads(self.files[f"figures/{stem}.vl.json"])
        self.files[f"{stem}.csv"] = table(spec, metric_of(self.figure))
        return f"[CSV]({stem}.csv), [specification](figures/{stem}.vl.json)."

    def _why_not_here(self) -> str:
        """Why this machine has no such chart."""
        asked = [*self.house.survey(self.experiment).asked_of_machines, *self._needs()]
        barred = needs.barring(self.here.facts, dict.fromkeys(asked)) if self.here.facts else []
        if barred:
            return f"this machine cannot measure it ({', '.join(barred)})"
        title = self.figure.draw.get("run", "")
        one = _run(self.house, self.experiment, self.here.name, title)
        if one is None:
            kept = f" in a run kept as {title}" if title else ""
            return f"this machine has not measured it{kept}"
        if (noise := one.measured.noise.factor) > NOISIEST:
            return f"this machine's noise floor, {notation.percent(noise - 1)}, is too high to draw"
        return "this machine's run has nothing of it"

    def _needs(self) -> list[str]:
        """What the chart needs beside its experiment: a GPU, where all of it was measured there."""
        runs = [_run(self.house, self.experiment, name, self.figure.draw.get("run", ""))
                for name in self._leads(self.experiment)]
        targets = {case.target for run in runs if run is not None
                   for case in run.measured.select(self.figure.draw.get("where", {}))}
        return ["cuda"] if targets == {"cuda"} else []

    def _numbers(self, numbers: Sequence[Number]) -> str:
        rows = []
        for one in numbers:
            experiment = next((e for e in self.house.experiments if e.name == one.experiment),
                              self.experiment)
            measured, machine = "in the article only", ""
            for name in (self.here.name, *self._leads(experiment)):
                run = _run(self.house, experiment, name, one.run)
                if run is not None and (found := value(run, one)):
                    measured, machine = found, f"`{name}`"
                    break
            told = one.value + (f" ({one.machine})" if one.machine else "")
            rows.append([one.what, f"{told}, L{one.line}", measured, machine])
        return markdown(["what", "the article", "measured", "on"], rows, 4) if rows else ""

    def _leads(self, experiment: Experiment) -> list[str]:
        """Whose numbers stand for a machine that has none: the figure's, then the experiment's."""
        return [*([self.figure.draw["machine"]] if "machine" in self.figure.draw else []),
                self.house.survey(experiment).lead]


def _run(house: book.House, experiment: Experiment, machine: str, title: str) -> OnMachine | None:
    """The complete run of a machine, or the one that is kept under a title."""
    return next((one for one in house.of_machine(machine)
                 if one.result.experiment == experiment.name and one.title == title), None)


def value(one: OnMachine, number: Number) -> str:
    """What a run measured in place of a number; empty where it has not."""
    if number.claim:
        verdict = one.judge(one.measured.experiment.claim(number.claim), is_told=False)
        numbers = ", ".join(verdict.numbers)
        return f"{numbers} ({word(verdict)})" if verdict.is_measured and numbers else ""
    if not number.metric or not has(one.measured, number.where):
        return ""
    metric = metric_named(number.metric)
    cell = measure(Basis(one.measured.loose), number.metric, number.variant, number.where)
    if cell.estimate is None:
        return ""
    found = cell.estimate.value
    return (notation.time(found) if metric.kind == "time"
            else f"{notation.significant(found)} {metric.unit}".strip())


# --- the data of a chart --------------------------------------------------------------------------


def metric_of(figure: Figure) -> str:
    """What a chart shows, in words, where its specification does not say."""
    metric = metric_named(figure.draw["y"]) if "y" in figure.draw else None
    return f"{metric.header} ({metric.unit})" if metric and metric.unit else (
        metric.header if metric else "")


def table(spec: Mapping[str, Any], measure_words: str) -> str:
    """The values of a chart's specification as CSV, each once; in `measure` what they are. A value
    for all inputs together is the geometric mean."""
    told = _measure(spec) or measure_words
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in _values(spec, ""):
        row = {**row, "measure": told}
        found[tuple(row.get(name) for name in COLUMNS)] = row
    columns = [name for name in COLUMNS if any(row.get(name, "") != "" for row in found.values())]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in found.values():
        writer.writerow([escape.csv_cell(row.get(name, "")) for name in columns])
    return text.getvalue()


def _values(view: Any, panel: str) -> Iterator[dict[str, Any]]:
    """The rows of data that a view and its parts draw, each with the title of its panel."""
    if isinstance(view, list):
        for part in view:
            yield from _values(part, panel)
        return
    title = view.get("title") if panel != "" or "concat" not in view else None
    named = title.get("text", "") if isinstance(title, dict) else ""
    panel = named if isinstance(named, str) and named else panel
    for row in view.get("data", {}).get("values", []):
        if "name" in row and {"value", "word", "begin"} & row.keys() and not (
                "colour" in row or ("label" in row and "value" in row)):
            yield {"panel": panel, **row}
    for parts in ("concat", "hconcat", "vconcat", "layer"):
        yield from _values(view.get(parts, []), panel)


def _measure(spec: Mapping[str, Any]) -> str:
    """What the note below a chart's question says of its values, or its axis of time."""
    notes = spec["title"].get("subtitle") or []
    first = " ".join([notes] if isinstance(notes, str) else notes).partition(". ")[0]
    kind, colon, words = first.partition(": ")
    if colon and kind in ("Across", "Upwards"):
        return SIDES.sub("", words.rstrip("."))
    for layer in spec.get("layer", []):
        x = layer.get("encoding", {}).get("x", {})
        if x.get("field") == "begin":
            return str(x["title"])
    return ""

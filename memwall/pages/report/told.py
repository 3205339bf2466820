"""What a report has told so far: its statements, of whose numbers each is, and its figures."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.analysis.statements import Statement
from memwall.pages.survey import ChapterPlot, OnMachine, Survey
from memwall.record import escape
from memwall.record.definition import Experiment

#: Of `report.json`: its version, and what is in it.
SCHEMA = 1
SCHEMA_FILE = Path(__file__).with_name("report.schema.json")
#: Columns of a table beside the one that names its rows.
MOST_COLUMNS = 8


@dataclass(frozen=True)
class Place:
    """Where a report stands, and what it sees from there."""

    reports: str  # the folder `reports/`
    figures: str = "figures"
    notes: Path | None = None  # the folder of the machine's notes, of a report of one machine
    is_committed: bool = False  # the report of all machines, beside its program
    kept: str = ""  # the title of the kept run that it is about


@dataclass
class Told:
    """A report that is being made. `survey.lead` is the machine that comes first."""

    survey: Survey
    place: Place
    records: list[dict[str, Any]] = field(default_factory=list)
    drawn: dict[str, str] = field(default_factory=dict)  # figures by file name

    @property
    def experiment(self) -> Experiment:
        return self.survey.experiment

    @property
    def runs(self) -> list[OnMachine]:
        """The runs that it is about, the lead machine's first."""
        return self.survey.runs()

    def on(self, machine: str) -> OnMachine:
        """The run of a machine."""
        return next(one for one in self.runs if one.machine == machine)

    def say(self, statement: Statement, *of: OnMachine) -> str:
        """The text of a statement about one run, or about those of a table, which is kept."""
        self.records.append({
            "machines": [one.machine for one in of],
            "runs": [one.result.run["id"] for one in of],
            "text": escape.markdown(statement.text),
            "predicate": statement.predicate,
            "operands": escape.unsealed(dict(statement.operands))})
        return statement.text

    @cached_property
    def plot(self) -> ChapterPlot:
        """What draws all machines."""
        return self.plot_of(self.runs[0].measured)

    def plot_of(self, measured: Measurements) -> ChapterPlot:
        """What draws one run."""
        told = measured if self.place.is_committed else measured.loose
        return ChapterPlot(told, self.place.figures, self.drawn, survey=self.survey)

    def as_json(self) -> str:
        """`report.json`: every statement."""
        lines = ",\n".join(json.dumps(record, ensure_ascii=False) for record in self.records)
        return (f'{{"schema": {SCHEMA}, "experiment": {json.dumps(self.experiment.name)},'
                f' "statements": [\n{lines}\n]}}\n')


def chunks(items: Sequence[Any], most: int = MOST_COLUMNS) -> Iterator[Sequence[Any]]:
    """Items in parts of about one length, none longer than a table is wide."""
    parts = -(-len(items) // most)
    for part in range(parts):
        yield items[part * len(items) // parts:(part + 1) * len(items) // parts]

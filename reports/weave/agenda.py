"""`just claims`: claim by claim the command, the minutes and the hardware that decide it."""

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weave import definition
from weave.claims import AT_LEAST, OF_RUNS
from weave.definition import Claim, Experiment
from weave.errors import WeaveError
from weave.tables import markdown

#: Minutes stand for two cores, as budgets do; of an experiment that says none, this many seconds.
UNKNOWN_BUDGET_S = 60
#: What a need of an experiment or a claim asks of a machine, in words.
HARDWARE = {"cuda": "a GPU", "nvcc": "nvcc", "mpi": "MPI", "openmp": "", "bare-metal": "bare metal"}
UNITS = {"threads": "hardware threads", "gpus": "GPUs", "numa_nodes": "NUMA nodes"}
HEAD = ("claim", "article", "says", "command", "minutes", "hardware")
ANY = "any machine"
ALL = "just run-all"


@dataclass(frozen=True)
class Item:
    """What decides one claim. The minutes are those of the quick profile, on two cores."""

    claim: str
    article: int  # 0: a target of our own
    says: str
    command: str
    minutes: int
    hardware: str

    def cells(self, claim: str = "") -> list[str]:
        """As a row of a table; `claim` in place of the name."""
        article = str(self.article) if self.article else "own"
        return [claim or self.claim, article, self.says, self.command, str(self.minutes),
                self.hardware]


def agenda(experiments: Sequence[Experiment]) -> list[Item]:
    """Every claim of the tree in the order of its chapters."""
    return [_item(experiment, claim) for experiment in experiments for claim in experiment.claims]


def _item(experiment: Experiment, claim: Claim) -> Item:
    seconds = experiment.budget.get("quick", UNKNOWN_BUDGET_S)
    needs = dict.fromkeys([*experiment.needs, *claim.needs])
    words = dict.fromkeys(word for need in needs if (word := hardware(need)))
    return Item(claim.id, claim.article, claim.short, f"just run {experiment.name}",
                max(1, math.ceil(seconds / 60)), ", ".join(words) or ANY)


def hardware(need: str) -> str:
    """What a need asks of a machine; empty if nothing that a longer run would not meet."""
    if OF_RUNS.fullmatch(need):
        return ""
    if counted := AT_LEAST.fullmatch(need):
        return f"{counted[2]} {UNITS.get(counted[1], counted[1])}"
    return HARDWARE.get(need, need)


def minutes_of_all(experiments: Sequence[Experiment]) -> int:
    """Minutes of `just run-all` where nothing is skipped."""
    return math.ceil(sum(experiment.budget.get("quick", UNKNOWN_BUDGET_S)
                         for experiment in experiments) / 60)


def as_text(items: Sequence[Item]) -> str:
    """A table for people, its columns aligned."""
    rows = [list(HEAD), *(item.cells() for item in items)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
             for row in rows]
    return "\n".join(lines)


def as_markdown(items: Sequence[Item]) -> str:
    """The same table for a page."""
    rows = [[cell if i not in (0, 3) else f"`{cell}`" for i, cell in enumerate(item.cells())]
            for item in items]
    return markdown(list(HEAD), rows, len(HEAD))


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `claims` to the command line."""
    parser = commands.add_parser("claims", help="list what decides each claim")
    parser.add_argument("experiment", nargs="?", help="only the claims of this one")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--markdown", action="store_true", help="as a table for a page")
    shape.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(command=_claims)


def _claims(given: argparse.Namespace) -> int:
    experiments = _chosen(given.root, given.experiment)
    items = agenda(experiments)
    if given.json:
        print(json.dumps([asdict(item) for item in items], indent=1, ensure_ascii=False))
    elif given.markdown:
        print(as_markdown(items))
    else:
        print(as_text(items))
        print(f"\n{len(items)} claims; `{ALL}` decides what this machine can,"
              f" in about {minutes_of_all(experiments)} minutes where nothing is skipped."
              " Minutes are those of the quick profile on two cores.")
    return 0


def _chosen(root: Path, name: str | None) -> list[Experiment]:
    experiments = definition.load_all(root)
    chosen = [each for each in experiments if name in (None, each.name)]
    if not chosen:
        known = ", ".join(each.name for each in experiments)
        raise WeaveError(f"claims: no experiment {name}; there are: {known}")
    return chosen

"""`just claims`: for each claim the command, the minutes and the hardware that decide it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from memwall.analysis.needs import AT_LEAST, OF_MACHINES
from memwall.pages.tables import aligned, markdown
from memwall.record.definition import Claim, Experiment

#: What a need of an experiment or a claim asks of a machine, in words.
HARDWARE = {"cuda": "a GPU", "nvcc": "nvcc", "mpi": "MPI", "openmp": "", "bare-metal": "bare metal",
            "energy": "an energy counter"}
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
    seconds = experiment.expected_seconds("quick")
    needs = dict.fromkeys([*experiment.needs, *claim.needs])
    words = dict.fromkeys(word for need in needs if (word := hardware(need)))
    return Item(claim.id, claim.article, claim.short, f"just run {experiment.name}",
                max(1, math.ceil(seconds / 60)), ", ".join(words) or ANY)


def hardware(need: str) -> str:
    """What a need asks of a machine; empty if nothing that a longer run would not meet."""
    if counted := AT_LEAST.fullmatch(need):
        unit = UNITS.get(counted[1], counted[1])
        return f"{counted[2]} {unit}" if counted[1] in OF_MACHINES else ""
    return HARDWARE.get(need, need)


def minutes_of_all(experiments: Sequence[Experiment]) -> int:
    """Minutes of `just run-all` where nothing is skipped."""
    return math.ceil(sum(each.expected_seconds("quick") for each in experiments) / 60)


def as_text(items: Sequence[Item]) -> str:
    """A table for people, its columns aligned."""
    return "\n".join(aligned([HEAD, *(item.cells() for item in items)]))


def as_markdown(items: Sequence[Item]) -> str:
    """The same table for a page."""
    rows = [[cell if i not in (0, 3) else f"`{cell}`" for i, cell in enumerate(item.cells())]
            for item in items]
    return markdown(list(HEAD), rows, len(HEAD))

"""How the processes of an experiment are started: the combinations of its launch axes, on what this
machine has; and what it lacks."""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from memwall.record import numbers, processors
from memwall.record.definition import Experiment
from memwall.record.errors import UserError

#: Each thread stays on a hardware thread of its own, as far from the others as there are cores:
#: where two meet on one, a call takes twice as long, and the system may put them so at any call.
BOUND = {"OMP_PROC_BIND": "spread", "OMP_PLACES": "threads"}
#: Where Linux shows counters of joules, of processors that have any.
POWERCAP = Path("/sys/class/powercap")
#: Whoever sets one of these has said where threads go.
PLACING = (*BOUND, "GOMP_CPU_AFFINITY", "KMP_AFFINITY")


@dataclass(frozen=True)
class Slots:
    """What a run may use at once: threads of this host, and ranks of all hosts."""

    threads: int
    ranks: int


@dataclass(frozen=True)
class Launch:
    """How a program is started: its ranks, the threads of each, and its environment axes."""

    threads: int
    environment: Mapping[str, str] = field(default_factory=dict)
    ranks: int = 0  # 0: no MPI

    def label(self) -> str:
        """For messages: `threads=2 OMP_PROC_BIND=close`."""
        pairs = [("threads", self.threads), *self.environment.items()]
        ranks = [("ranks", self.ranks)] if self.ranks else []
        return " ".join(f"{name}={value}" for name, value in [*ranks, *pairs])

    def variables(self, given: Mapping[str, str] = os.environ) -> dict[str, str]:
        """What is set in the environment of each process, beside what is `given`.

        Threads of several ranks would all be bound to the first processors of their host.
        """
        placed = self.ranks > 1 or any(name in PLACING for name in (*given, *self.environment))
        return {"OMP_NUM_THREADS": str(self.threads), **({} if placed else BOUND),
                **self.environment}

    def prefix(self) -> list[str]:
        """What stands before the program on its command line.

        A rank of one thread stays on one core, threads of several ranks find theirs by themselves.
        Hosts of a machine room get only the environment that is named here.
        """
        if not self.ranks:
            return []
        core = ["--use-hwthread-cpus", "--map-by", "core", "--bind-to", "core:overload-allowed"]
        exports = [word for name in self.variables() for word in ("-x", name)]
        binding = core if self.threads == 1 else ["--bind-to", "none"]
        return ["mpirun", "-n", str(self.ranks), *binding, *exports]


def thread_counts(values: Sequence[int | str], available: int) -> list[int]:
    """The distinct numbers of threads that `values` stand for on `available` hardware threads."""
    counts: list[int] = []
    for value in values:
        if value == "max":
            counts.append(available)
        elif value == "powers":
            powers = [1 << exponent for exponent in range(available.bit_length())]
            counts += [power for power in powers if power < available] + [available]
        elif isinstance(value, int) and value >= 1:
            counts.append(value)
        else:
            raise UserError(
                f'launch.threads: found {value!r}, expected a number, "max" or "powers"')
    return list(dict.fromkeys(count for count in counts if count <= available))


def combinations(axes: Mapping[str, Sequence[int | str]], slots: Slots) -> list[Launch]:
    """All launches of the axes in `[launch]` of an experiment.toml, the last varying fastest.

    Ranks and threads are combined as far as there is a slot for each thread of each rank.
    """
    ranks = thread_counts(axes["ranks"], slots.ranks) if "ranks" in axes else [0]
    threads = thread_counts(axes.get("threads", [1]), slots.threads)
    launches = [Launch(count, ranks=of) for of in ranks for count in threads
                if of <= 1 or of * count <= slots.ranks]
    for name, values in axes.items():
        if name not in ("threads", "ranks"):
            launches = [replace(launch, environment={**launch.environment, name: str(value)})
                        for launch in launches for value in values]
    return launches


def launches_of(experiment: Experiment) -> list[Launch]:
    """The processes that measure an experiment, on the processors that may be used here.

    Ranks go as far as a job of Slurm has tasks for them.
    """
    threads = processors.usable()
    given = os.environ.get("SLURM_NTASKS")
    ranks = numbers.whole("SLURM_NTASKS", given) if given else threads
    return combinations(experiment.launch, Slots(threads, ranks))


def missing_tools(experiment: Experiment) -> list[str]:
    """What the program of an experiment is built or started with and is not here, in words."""
    tools = {"nvcc": "nvcc", "mpi": "mpirun"}
    return [f"no {tools[need]} here" for need in experiment.needs
            if need in tools and not shutil.which(tools[need])]


def _counts_joules() -> bool:
    """Whether a counter of processors can be read; which of them are used, programs know."""
    return any(os.access(zone, os.R_OK) for zone in POWERCAP.glob("intel-rapl:*/energy_uj"))


def unmet_need(experiment: Experiment, machine: Mapping[str, Any]) -> str:
    """Why this machine cannot run an experiment at all; empty if it can."""
    unmet = missing_tools(experiment)
    if "cuda" in experiment.needs and not machine["gpus"]:
        unmet.append("no CUDA device here")
    if "energy" in experiment.needs and not (machine["gpus"] or _counts_joules()):
        unmet.append(f"no energy counter here, of a GPU or in {POWERCAP} for all to read")
    if not unmet and not launches_of(experiment):
        return "it needs more hardware threads"
    return ", ".join(unmet)

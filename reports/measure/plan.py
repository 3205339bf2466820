"""What a run of all experiments will do here: which run, which are skipped and why, how long."""

import os
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measure.console import duration
from measure.launch import Launch, Slots, combinations
from weave.definition import Experiment

#: From the least to the most that a result is worth.
PROFILES = ("tiny", "quick", "full")
#: Seconds expected of an experiment that says nothing.
UNKNOWN_BUDGET_S = 60


@dataclass(frozen=True)
class Step:
    """One line of a plan."""

    experiment: Experiment
    verb: str  # "run", "skip", "done"
    reason: str  # why it is skipped, or where the seconds come from
    seconds: float = 0  # expected


def launches_of(experiment: Experiment) -> list[Launch]:
    """The processes that measure an experiment, on the hardware threads this one may use.

    Ranks go as far as a job of Slurm has tasks for them.
    """
    threads = len(os.sched_getaffinity(0))
    ranks = int(os.environ.get("SLURM_NTASKS", threads))
    return combinations(experiment.launch, Slots(threads, ranks))


def expected_seconds(experiment: Experiment, profile: str) -> float:
    """What a profile is meant to take on two cores."""
    return experiment.budget.get(profile, UNKNOWN_BUDGET_S)


def unmet_need(experiment: Experiment, machine: Mapping[str, Any]) -> str:
    """Why this machine cannot run an experiment at all; empty if it can."""
    reasons = {
        "cuda": "" if machine["gpus"] else "no CUDA device here",
        "nvcc": "" if shutil.which("nvcc") else "no nvcc here",
        "mpi": "" if shutil.which("mpirun") else "no mpirun here",
        "openmp": "",  # nothing builds without it
    }
    unmet = [reasons[need] for need in experiment.needs if reasons[need]]
    if not unmet and not launches_of(experiment):
        return "it needs more hardware threads"
    return ", ".join(unmet)


def make_plan(
    experiments: Sequence[Experiment],
    machine: Mapping[str, Any],
    profile: str,
    durations: Mapping[str, float],
    done: Collection[str],
    stored: Mapping[str, str],
) -> list[Step]:
    """The steps of a run.

    `durations` are seconds of the last runs here, `done` the experiments already measured by the
    run that is continued, and `stored` the profiles of the results in the machine's book.
    """
    steps = []
    for experiment in experiments:
        name = experiment.name
        if reason := unmet_need(experiment, machine):
            steps.append(Step(experiment, "skip", reason))
        elif name in done:
            steps.append(Step(experiment, "done", "measured already by the run that is continued"))
        elif name in stored and worth(stored[name]) > worth(profile):
            reason = f"a {stored[name]} result stands in the book (--{stored[name]} replaces it)"
            steps.append(Step(experiment, "skip", reason))
        elif name in durations:
            steps.append(Step(experiment, "run", "as last time", durations[name]))
        else:
            seconds = expected_seconds(experiment, profile)
            steps.append(Step(experiment, "run", "by its budget", seconds))
    return steps


def worth(profile: str) -> int:
    """Rank of a profile: a result never replaces one of a higher rank."""
    return PROFILES.index(profile)


def plan_text(steps: Sequence[Step], profile: str, machine: str) -> str:
    """The plan as a table for people."""
    width = max((len(step.experiment.name) for step in steps), default=0)
    lines = [f"{profile} profile on {machine}:"]
    for step in steps:
        name = f"{step.experiment.name:<{width}}"
        lines.append(f"  {step.verb:<4}  {name}  {_details(step)}")
    return "\n".join([*lines, f"about {duration(sum(step.seconds for step in steps))} in all"])


def _details(step: Step) -> str:
    if step.verb != "run":
        return step.reason
    processes = len(launches_of(step.experiment))
    turns = f", {processes} processes in turns" if processes > 1 else ""
    return f"about {duration(step.seconds)}, {step.reason}{turns}"

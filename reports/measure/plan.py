"""What a run of all experiments will do here (which run, which are skipped and why, how long), and
how far it is: one updating line on a terminal, plain lines elsewhere."""

import os
import shutil
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

from measure.launch import Event, Launch, Program, Slots, combinations
from weave.definition import Experiment


class Console:
    """Writes lines, and below them one status line where the stream is a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._terminal = self._stream.isatty()
        self._shown = False
        self._last = 0.0

    def line(self, text: str) -> None:
        """Writes a line that stays."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def step(self, text: str) -> None:
        """Something began: the status on a terminal, a line elsewhere."""
        if self._terminal:
            self._show(text)
        else:
            self.line(text)

    def status(self, text: str) -> None:
        """Something moved on: the status on a terminal, at most a few times a second."""
        if self._terminal and time.monotonic() - self._last > 0.2:
            self._show(text)

    def _show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=self._stream, flush=True)
        self._shown = True
        self._last = time.monotonic()

    def _clear(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self._stream)
            self._shown = False


class Watch:
    """Follows the events of an experiment's processes and shows how far they are."""

    def __init__(self, console: Console, title: str, expected_s: float | None,
                 later_s: float = 0) -> None:
        """`expected_s` is None where only the run itself can tell; `later_s` is expected for what
        comes after this experiment."""
        self._console = console
        self._title = title
        self._expected_s = expected_s
        self._later_s = later_s
        self._started = time.monotonic()
        self._furthest = -1
        self._point = ""
        self._rounds: dict[Program, int] = {}  # done so far
        self._all_rounds: dict[Program, int] = {}

    def __call__(self, program: Program, event: Event) -> None:
        kind = event["event"]
        if kind == "plan":
            self._all_rounds[program] = max(1, event["points"] * event["rounds"])
        elif kind == "point":
            rounds = self._all_rounds[program] // event["points"]
            self._rounds[program] = event["point"] * rounds
            if event["point"] > self._furthest:  # the other processes come to it later
                self._furthest = event["point"]
                self._point = f"point {self._furthest + 1} of {event['points']}: {event['label']}"
                self._console.step(self._text())
        elif kind == "turn":
            self._rounds[program] = self._rounds.get(program, 0) + (event["phase"] == "round")
            self._console.status(self._text())

    def _text(self) -> str:
        left = self._left_s()
        parts = [self._title, self._point, "" if left is None else f"{duration(left)} left"]
        return "  ".join(part for part in parts if part)

    def _left_s(self) -> float | None:
        spent = time.monotonic() - self._started
        share = min(1, sum(self._rounds.values()) / max(1, sum(self._all_rounds.values())))
        if share > (0.2 if self._expected_s is not None else 0):
            return spent * (1 - share) / share + self._later_s
        if self._expected_s is None:
            return None
        return max(0, self._expected_s - spent) + self._later_s


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `3 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


# --- plans ----------------------------------------------------------------------------------------

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


def missing_tools(experiment: Experiment) -> list[str]:
    """What the program of an experiment is built or started with and is not here, in words."""
    tools = {"nvcc": "nvcc", "mpi": "mpirun"}
    return [f"no {tools[need]} here" for need in experiment.needs
            if need in tools and not shutil.which(tools[need])]


def unmet_need(experiment: Experiment, machine: Mapping[str, Any]) -> str:
    """Why this machine cannot run an experiment at all; empty if it can."""
    unmet = missing_tools(experiment)
    if "cuda" in experiment.needs and not machine["gpus"]:
        unmet.append("no CUDA device here")
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
    run that is continued, and `stored` the profiles of the results in the machine's folder.
    """
    steps = []
    for experiment in experiments:
        name = experiment.name
        if reason := unmet_need(experiment, machine):
            steps.append(Step(experiment, "skip", reason))
        elif name in done:
            steps.append(Step(experiment, "done", "measured already by the run that is continued"))
        elif name in stored and worth(stored[name]) > worth(profile):
            reason = f"a {stored[name]} result stands in the folder (--{stored[name]} replaces it)"
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

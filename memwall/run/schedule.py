"""What a run of all experiments will do here: which it measures, which it skips and why, how long
it takes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memwall.record.console import duration
from memwall.record.definition import Experiment
from memwall.run.launches import launches_of, unmet_need

#: From the least to the most that a result is worth.
PROFILES = ("tiny", "quick", "book", "full")


@dataclass(frozen=True)
class Step:
    """One line of a schedule."""

    experiment: Experiment
    verb: str  # "run", "skip", "done"
    reason: str  # why it is skipped, or where the seconds come from
    seconds: float = 0  # expected


def make_schedule(
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
            reason = (f"a {stored[name]} result stands in the folder, worth more than a {profile}"
                      " one")
            steps.append(Step(experiment, "skip", reason))
        elif name in durations:
            steps.append(Step(experiment, "run", "as last time", durations[name]))
        else:
            seconds = experiment.expected_seconds(profile)
            steps.append(Step(experiment, "run", "by its budget", seconds))
    return steps


def worth(profile: str) -> int:
    """Rank of a profile: a result never replaces one of a higher rank."""
    return PROFILES.index(profile)


def schedule_text(steps: Sequence[Step], profile: str, machine: str) -> str:
    """The schedule as a table for people."""
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

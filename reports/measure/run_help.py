"""`just run NAME --help`: the options of an experiment, also where nothing was built yet.

What a program takes beyond the options of all programs is written in its C++ alone: the program is
asked where it is built, and else the help says how to find out.
"""

import re
import subprocess
import textwrap
from collections.abc import Iterable
from pathlib import Path

from measure.measure import Workspace
from measure.plan import PROFILES, launches_of
from weave.definition import Experiment

#: Options of the programs that the runner sets itself.
OWNED = ("--output", "--events", "--lockstep", "--later", "--again")
#: Options of every program (`lib/bench`) beside those and the runner's.
EVERY = (
    ("--samples N", "rounds of samples (tiny 3, quick 7, full 21)"),
    ("--min-time SECONDS", "least length of a warm sample; a short call is repeated to fill it"),
    ("--seed N", "of values and of the order of variants"),
    ("--filter REGEX", "variants to measure"),
    ("--precision TYPE ...", "element types, of experiments that have several"),
    ("--list", "print axes and variants, measure nothing"),
)
COLUMNS = 90
OPTION = re.compile(r"--[a-z][\w-]*")


def text(workspace: Workspace, experiment: Experiment) -> str:
    """The help of one experiment."""
    name, launches = experiment.name, launches_of(experiment)
    processes = "; ".join(launch.label() for launch in launches) or "none, for want of threads"
    runner = [
        (f"--profile {'|'.join(PROFILES)}", "how large and how long; default: quick"),
        ("--threads N", "threads of each process, in place of those above"),
        ("--ranks N ...", "only processes of so many ranks, or others"),
        ("--resume FOLDER", "go on with an interrupted run, with the options it began with"),
    ]
    if "ranks" not in experiment.launch:
        del runner[2]
    parts = [f"{workspace.run} {name} [OPTION ...]", _wrapped(experiment.question),
             _wrapped(f"Processes that measure it here: {processes}."),
             _table("Options of the runner:", runner)]
    if own := _programs(workspace.program(name), [option for option, _ in runner]):
        return "\n\n".join([*parts, "\n".join(["Options of the program:", *own])])
    more = ("Every axis is an option too, such as --matrix. Axes and further options are known to"
            " the program alone, which was not built.")
    if workspace.run == Workspace.run:  # else there is nothing to build it with
        more += (f" `{workspace.run} {name} --list` builds it and prints axes and variants; then"
                 " --help prints all options.")
    return "\n\n".join([*parts, _table("Options of every program:", EVERY), _wrapped(more)])


def _wrapped(words: str) -> str:
    return textwrap.fill(words, COLUMNS)


def _table(title: str, options: Iterable[tuple[str, str]]) -> str:
    return "\n".join([title, *(f"  {option:<27} {what}" for option, what in options)])


def _programs(program: Path, others: list[str]) -> list[str]:
    """What a program says about its options, less those that the runner takes or sets; nothing
    where it cannot be asked."""
    try:
        said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True,
                              timeout=10).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    hidden = {"--help", *OWNED, *(option.split()[0] for option in others)}
    kept, is_shown = [], False
    for line in said.splitlines():
        if line.startswith("  -"):  # an option; what follows is its text
            names = OPTION.findall(line.strip().split("  ")[0])
            is_shown = not hidden & set(names)
        elif not line.startswith("   "):
            is_shown = False
        if is_shown:
            kept.append(line)
    return kept

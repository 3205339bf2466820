"""The commands that measure: `machine`, `run`, `run-all`, `profile`, `slurm`, and `folder`, which
names this machine's."""

import argparse
import sys
from pathlib import Path
from typing import Protocol

from memwall.record import machines
from memwall.record.console import Console
from memwall.record.results import Result
from memwall.run import profiler
from memwall.run.machine import measure_machine
from memwall.run.run_all import run_all
from memwall.run.run_one import run_one
from memwall.run.workspace import Workspace, describe_machine, slurm_job


class RunPages(Protocol):
    """Who makes pages of what was measured."""

    def of_run(self, root: Path, result: Result, folder: Path) -> Path:
        """Weaves the page of one run into a folder; returns the page."""

    def of_machine(self, root: Path, machine: str) -> object:
        """Weaves the pages of all that a machine measured."""

    def of_ceilings(self, root: Path, result: Result, folder: Path) -> str:
        """Writes the page of what this machine can do at best; what to say of it."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
                 pages: RunPages) -> None:
    """Adds what this room does to the command line; `pages` shows what was measured."""
    one = commands.add_parser("run", help="measure one experiment and weave its page",
                              usage="just run NAME [OPTION ...]",
                              epilog="just run NAME --help tells the options of an experiment")
    one.add_argument("name", metavar="NAME", help="an experiment: a folder of experiments/")
    one.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    one.set_defaults(command=lambda given: run_one(
        Workspace.of(given), given.name, given.arguments, Console(), pages.of_run))

    best = commands.add_parser("machine", help="measure what this machine can do at best",
                               usage="just machine")
    best.set_defaults(command=lambda given: _machine(Workspace.of(given), pages))

    job = commands.add_parser("slurm", help="write a job for Slurm", add_help=False)
    job.add_argument("nodes")
    job.add_argument("arguments", nargs=argparse.REMAINDER)
    job.set_defaults(command=_slurm)

    every = commands.add_parser("run-all", allow_abbrev=False,
                                help="measure all experiments into this machine's folder",
                                usage="just run-all [EXPERIMENT ...] [--book | --full]"
                                      " [--machine NAME]")
    every.add_argument("names", nargs="*", metavar="EXPERIMENT", help="default: all of them")
    profile = every.add_mutually_exclusive_group()
    profile.add_argument("--book", action="store_const", dest="profile", const="book",
                         help="as the machine is measured that lessons show (half an hour)")
    profile.add_argument("--full", action="store_const", dest="profile", const="full",
                         help="leave every cache behind (hours)")
    every.add_argument("--machine", metavar="NAME",
                       help="name of the folder; default: made from the hardware")
    every.set_defaults(command=lambda given: run_all(
        Workspace.of(given), given.profile or "quick", given.machine, Console(),
        pages.of_machine, given.names))

    called = commands.add_parser("folder", help="say which folder is this machine's")
    called.set_defaults(command=_folder)

    counts = commands.add_parser("profile", help="write a profiler's counters into a result")
    profiler.add_options(counts)
    counts.set_defaults(
        command=lambda given: profiler.profile_cases(Workspace.of(given), given, Console()))


def _machine(workspace: Workspace, pages: RunPages) -> int:
    folder = workspace.build / "machine"
    return measure_machine(workspace, Console(),
                           lambda result: pages.of_ceilings(workspace.root, result, folder))


def _folder(given: argparse.Namespace) -> int:
    workspace = Workspace.of(given)
    named = machines.name_of(workspace.root, describe_machine(workspace))
    if named.why:
        print(named.why, file=sys.stderr)
    print(workspace.root / "reports" / named.name)
    return 0


def _slurm(given: argparse.Namespace) -> int:
    workspace = Workspace.of(given)
    print(f"sbatch {workspace.shown(slurm_job(workspace, given.nodes, given.arguments))}")
    return 0

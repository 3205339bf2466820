"""`run-all`, `run` and `profile` of a bundle, where there is no toolchain and no page is made."""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memwall.record import errors, machines
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run import profiler
from memwall.run.run_all import run_all
from memwall.run.run_one import run_one
from memwall.run.schedule import PROFILES
from memwall.run.workspace import Workspace, describe_machine


def main(root: Path, arguments: list[str] | None = None) -> int:
    """`run-all` measures all experiments below `root`, or some, into `root/reports/`, `run` one of
    them into `root/build/runs/`; both say how results come home. `profile` adds to a result."""
    return errors.exit_code(lambda: _chosen(root, arguments))


def _chosen(root: Path, arguments: list[str] | None) -> int:
    workspace = Workspace(root, root / "build", _command(root / "run"))
    parser = argparse.ArgumentParser(description="Measure on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    every = commands.add_parser("run-all", prog=_command(root / "run-all"),
                                help="measure every experiment into this machine's folder")
    every.add_argument("names", nargs="*", metavar="EXPERIMENT", help="default: all of them")
    every.add_argument("--profile", choices=PROFILES, default="quick",
                       help="how large and how long; default: quick")
    every.add_argument("--machine", help="name of the folder; default: made from the hardware")
    every.set_defaults(command=_run_all)
    names = sorted(path.parent.name for path in root.glob("experiments/*/experiment.toml"))
    one = commands.add_parser("run", help="measure one experiment",
                              usage=f"{workspace.run} EXPERIMENT [OPTION ...]",
                              epilog=f"{workspace.run} EXPERIMENT --help tells its options")
    one.add_argument("name", metavar="EXPERIMENT", help=f"one of: {', '.join(names)}")
    one.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    one.set_defaults(command=_run)
    counts = commands.add_parser("profile", prog=_command(root / "profile"),
                                 help="write a profiler's counters into a result")
    profiler.add_options(counts)
    counts.set_defaults(command=lambda at, given: profiler.profile_cases(at, given, Console()))
    given = parser.parse_args(arguments)
    return given.command(workspace, given)


def _run_all(workspace: Workspace, given: argparse.Namespace) -> int:
    machine = describe_machine(workspace)
    _require_instructions(machine["cpu"])
    code = run_all(workspace, given.profile, given.machine, Console(), None, given.names)
    slug = machines.name_of(workspace.root, machine, given.machine).name
    print(f"copy reports/{slug} to reports/ of a checkout, then weave it there: just report {slug}")
    return code


def _run(workspace: Workspace, given: argparse.Namespace) -> int:
    if {"--help", "-h", "--list"} & set(given.arguments):
        return run_one(workspace, given.name, given.arguments, Console(), None)
    _require_instructions(describe_machine(workspace)["cpu"])
    code = run_one(workspace, given.name, given.arguments, Console(), None)
    print("copy that to a checkout, then keep it there under a title: just keep RESULT TITLE")
    return code


def _command(path: Path) -> str:
    """How people call a program from where they are."""
    shown = os.path.relpath(path)
    return shown if "/" in shown else f"./{shown}"


def _require_instructions(cpu: Mapping[str, Any]) -> None:
    """Bundles are built for x86-64-v3, or for any processor of another architecture."""
    lacking = {"avx2", "fma"} - set(cpu["instruction_sets"])
    if cpu["architecture"] == "x86_64" and lacking:
        raise UserError(f"this processor lacks {' and '.join(sorted(lacking))}, which the programs"
                         " were built for")


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

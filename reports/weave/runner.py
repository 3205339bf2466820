"""`just run` and `just run-all`: from programs to results, from results to pages."""

import argparse
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from weave import book, slurm
from weave.console import Console
from weave.launch import ProgramFailed
from weave.measure import Workspace
from weave.run_all import run_all
from weave.run_one import run_one

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the runner's commands to the command line."""
    one = commands.add_parser("run", help="measure one experiment and weave its page",
                              usage="just run NAME [OPTION ...]",
                              epilog="just run NAME --help tells the options of an experiment")
    one.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    one.add_argument("name", metavar="NAME", help="an experiment: a folder of experiments/")
    one.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    one.set_defaults(command=lambda given: _guarded(_run, given))

    job = commands.add_parser("slurm", help="write a job for Slurm", add_help=False)
    job.add_argument("nodes")
    job.add_argument("arguments", nargs=argparse.REMAINDER)
    job.set_defaults(command=_slurm, build=None)

    every = commands.add_parser("run-all", help="measure all experiments into this machine's book",
                                allow_abbrev=False)
    every.add_argument("--build", type=Path, help="where the programs are; default: build/")
    every.add_argument("--full", action="store_true", help="leave every cache behind (hours)")
    every.add_argument("--machine", help="name of the book; default: made from the hardware")
    every.set_defaults(command=lambda given: _guarded(_run_all, given))


def _guarded(command: Callable[[argparse.Namespace], int], given: argparse.Namespace) -> int:
    """Runs a command so that every way to stop it ends its programs first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return command(given)
    except ProgramFailed as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED


def _workspace(given: argparse.Namespace) -> Workspace:
    root = given.root.resolve()
    return Workspace(root, (given.build or root / "build").resolve())


def _run(given: argparse.Namespace) -> int:
    return run_one(_workspace(given), given.name, given.arguments, Console(), book.weave_page)


def _run_all(given: argparse.Namespace) -> int:
    profile = "full" if given.full else "quick"
    return run_all(_workspace(given), profile, given.machine, Console(), book.weave_book)


def _slurm(given: argparse.Namespace) -> int:
    workspace = _workspace(given)
    print(f"sbatch {workspace.shown(slurm.write(workspace, given.nodes, given.arguments))}")
    return 0

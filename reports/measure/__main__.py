"""`python -m measure COMMAND`: see `--help`. What is measured is woven when all of it is there."""

import argparse
import sys
from pathlib import Path

from measure import contribute, profiler
from measure.launch import guarded
from measure.plan import Console
from measure.run import run_one
from measure.run_all import run_all
from measure.workspace import Workspace, slurm_job
from weave import book
from weave.errors import WeaveError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="measure",
                                     description="Measure, and weave what was found.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    for module in (contribute, profiler):
        module.add_commands(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.command(chosen)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the runner's commands to the command line."""
    one = commands.add_parser("run", help="measure one experiment and weave its page",
                              usage="just run NAME [OPTION ...]",
                              epilog="just run NAME --help tells the options of an experiment")
    one.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    one.add_argument("name", metavar="NAME", help="an experiment: a folder of experiments/")
    one.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    one.set_defaults(command=lambda given: guarded(lambda: _run(given)))

    job = commands.add_parser("slurm", help="write a job for Slurm", add_help=False)
    job.add_argument("nodes")
    job.add_argument("arguments", nargs=argparse.REMAINDER)
    job.set_defaults(command=_slurm, build=None)

    every = commands.add_parser("run-all", allow_abbrev=False,
                                help="measure all experiments into this machine's folder",
                                usage="just run-all [--full] [--machine NAME]")
    every.add_argument("--build", type=Path, help=argparse.SUPPRESS)
    every.add_argument("--full", action="store_true", help="leave every cache behind (hours)")
    every.add_argument("--machine", metavar="NAME",
                       help="name of the folder; default: made from the hardware")
    every.set_defaults(command=lambda given: guarded(lambda: _run_all(given)))


def _workspace(given: argparse.Namespace) -> Workspace:
    root = given.root.resolve()
    return Workspace(root, (given.build or root / "build").resolve())


def _run(given: argparse.Namespace) -> int:
    return run_one(_workspace(given), given.name, given.arguments, Console(), book.weave_page)


def _run_all(given: argparse.Namespace) -> int:
    profile = "full" if given.full else "quick"
    return run_all(_workspace(given), profile, given.machine, Console(), book.weave_machine)


def _slurm(given: argparse.Namespace) -> int:
    workspace = _workspace(given)
    print(f"sbatch {workspace.shown(slurm_job(workspace, given.nodes, given.arguments))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

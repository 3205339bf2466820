"""`just run` and `just run-all`: from programs to results, from results to pages."""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from weave import book, definition, slurm
from weave.console import Console
from weave.errors import WeaveError
from weave.launch import Launch, ProgramFailed
from weave.measure import Watch, Workspace, measure
from weave.plan import PROFILES, expected_seconds, launches_of
from weave.run_all import run_all

#: Options of the programs that the runner sets itself.
OWNED = ("--output", "--events", "--lockstep", "--later")
#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the runner's commands to the command line."""
    one = commands.add_parser("run", help="measure one experiment and weave its page",
                              add_help=False)
    one.add_argument("--build", type=Path)
    one.add_argument("name")
    one.add_argument("arguments", nargs=argparse.REMAINDER)
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
    return run(_workspace(given), given.name, given.arguments, Console())


def _run_all(given: argparse.Namespace) -> int:
    profile = "full" if given.full else "quick"
    return run_all(_workspace(given), profile, given.machine, Console(), book.weave_book)


def _slurm(given: argparse.Namespace) -> int:
    workspace = _workspace(given)
    print(f"sbatch {workspace.shown(slurm.write(workspace, given.nodes, given.arguments))}")
    return 0


def run(workspace: Workspace, name: str, arguments: list[str], console: Console) -> int:
    """Measures one experiment into a folder of its own under build/runs/, and weaves its page."""
    experiment = definition.load(workspace.root, name)
    program = workspace.program(name)
    if {"--help", "-h", "--list"} & set(arguments):
        return subprocess.call([program, *arguments])
    for argument in arguments:
        if argument.split("=")[0] in OWNED:
            raise WeaveError(f"{argument} is the runner's own: results go to build/runs/")
    options, rest = _runner_options(arguments)
    launches = _launches(experiment, options)
    folder = _new_folder(workspace.build / "runs", name)
    watch = Watch(console, name, expected_seconds(experiment, options.profile))
    measured = measure(program, [*rest, "--profile", options.profile], launches, folder, watch)
    for failure in measured.failures:
        console.line(failure)
    console.line(workspace.shown(book.weave_page(workspace.root, measured.result, folder)))
    return 1 if measured.failures else 0


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that no other run has, named by the time."""
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-", dir=parent))


def _launches(experiment: definition.Experiment, asked: argparse.Namespace) -> list[Launch]:
    """The launches of an experiment, or those with threads and ranks as the user asked."""
    if asked.ranks is not None and "ranks" not in experiment.launch:
        raise WeaveError(f"--ranks: {experiment.name} is measured by one process")
    launches = launches_of(experiment)
    if asked.ranks is not None:
        known = {launch.ranks for launch in launches}
        more = [Launch(1, ranks=ranks) for ranks in asked.ranks if ranks not in known]
        launches = [launch for launch in launches if launch.ranks in asked.ranks] + more
    if asked.threads is not None:
        chosen = [replace(launch, threads=asked.threads) for launch in launches or [Launch(1)]]
        launches = [launch for i, launch in enumerate(chosen) if launch not in chosen[:i]]
    if not launches:
        raise WeaveError(f"{experiment.name}: its launch axes ask for more threads than are here")
    return launches


def _runner_options(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The program's options that the runner must know too, and the rest."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--ranks", type=int, nargs="+")
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise WeaveError(str(error)) from None

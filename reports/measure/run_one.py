"""`just run`: one experiment into a folder of its own."""

import argparse
import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from measure import run_help, unfinished
from measure.console import Console
from measure.launch import Launch, ProgramFailed
from measure.measure import Measurement, Watch, Workspace, measure
from measure.plan import PROFILES, expected_seconds, launches_of
from measure.run_help import OWNED
from measure.runner_state import exclusive, file_digest
from weave import claims, definition, results
from weave.definition import Experiment
from weave.errors import WeaveError
from weave.results import Result

#: Weaves the page of a result of a tree into a folder.
Weave = Callable[[Path, Result, Path], Path]


@dataclass(frozen=True)
class Run:
    """What is measured, by which processes, and into which folder."""

    program: Path
    given: list[str]  # arguments of the program
    launches: list[Launch]
    folder: Path
    expected_s: float | None


def run_one(workspace: Workspace, name: str, arguments: list[str], console: Console,
            weave: Weave | None) -> int:
    """Measures one experiment into a folder of its own under build/runs/, and weaves its page.

    Without `weave` the result waits for a machine that can weave it. The last line names the page,
    or else the result; of a run that was stopped, the command that goes on with it.
    """
    known = [path.parent.name for path in workspace.root.glob("experiments/*/experiment.toml")]
    if name not in known:
        raise WeaveError(f"no experiment {name}; there are: {', '.join(sorted(known))}")
    experiment = definition.load(workspace.root, name)
    program = workspace.program(name)
    if {"--help", "-h"} & set(arguments):
        console.line(run_help.text(workspace, experiment))
        return 0
    if not program.is_file():
        raise ProgramFailed(f"{name} was not built: no file {workspace.shown(program)}", 1)
    if "--list" in arguments:
        return subprocess.call([program, *arguments])
    run = _begin(workspace, experiment, arguments, console)
    go_on = f"to go on: {_resume(workspace, name, run.folder)}"
    try:
        with exclusive(run.folder) as lock:
            measured = _measure(workspace, run, console, lock)
            page = measured.result.path
            if weave:
                page = weave(workspace.root, measured.result, run.folder)
    except KeyboardInterrupt:
        console.line(f"interrupted; {go_on}")
        raise
    except ProgramFailed:
        if unfinished.has_journal(run.folder):
            console.line(f"what was measured is kept; {go_on}")
        raise
    console.line(workspace.shown(page))
    return 1 if measured.failures else 0


def _begin(workspace: Workspace, experiment: Experiment, arguments: list[str],
           console: Console) -> Run:
    """A new run, or one that was interrupted."""
    name, program = experiment.name, workspace.program(experiment.name)
    for argument in arguments:
        if argument.split("=")[0] in OWNED:
            raise WeaveError(f"{argument} is the runner's own: results go to build/runs/")
    options, rest = _runner_options(arguments)
    shown = options.resume
    before = None
    if shown is not None:
        if arguments not in (["--resume", shown], [f"--resume={shown}"]):
            raise WeaveError("--resume: a run goes on with the options that it began with,"
                             " expected no others")
        before = unfinished.read(Path(shown))
        arguments = before.arguments
        options, rest = _runner_options(arguments)
    launches = _launches(experiment, options)
    asked = unfinished.Asked(name, arguments, os.getcwd(), [each.label() for each in launches],
                             file_digest(program))
    if before:
        unfinished.require_same(shown, before, asked)
        folder = Path(shown)
    else:
        runs = workspace.build / "runs"
        if earlier := unfinished.latest(runs, asked):
            console.line(f"{name}: begins anew; to go on with the same run that was interrupted:"
                         f" {_resume(workspace, name, earlier)}")
        folder = _new_folder(runs, name)
        unfinished.write(folder, asked)
    is_whole = not rest and options.threads is None and options.ranks is None
    expected_s = expected_seconds(experiment, options.profile) if is_whole else None
    return Run(program, [*rest, "--profile", options.profile], launches, folder, expected_s)


def _resume(workspace: Workspace, name: str, folder: Path) -> str:
    """The command that goes on with a run."""
    return f"{workspace.run} {name} --resume {shlex.quote(workspace.shown(folder))}"


def _measure(workspace: Workspace, run: Run, console: Console, lock: int) -> Measurement:
    """Measures what the run's folder lacks.

    Where a cold case seems faster than memory, the machine may have been busy while the ceilings
    were measured: all of it is measured once more.
    """
    name = run.program.name
    watch = Watch(console, name, run.expected_s)
    measured = measure(run.program, run.given, run.launches, run.folder, watch, [lock], go_on=True)
    if not measured.failures and claims.is_beyond_ceiling(measured.result, workspace.root):
        console.line(f"{name}: as many rounds again to decide {claims.FASTER_THAN_MEMORY}")
        watch = Watch(console, name, run.expected_s)
        more = measure(run.program, [*run.given, "--again"], run.launches, run.folder / "more",
                       watch, [lock], go_on=True)
        measured = _prolonged(measured, more)
    for failure in measured.failures:
        console.line(failure)
    return measured


def _prolonged(first: Measurement, more: Measurement) -> Measurement:
    """The samples of both, in the place of the first."""
    path = first.result.path
    results.write(results.prolong(first.result.raw, more.result.raw), path)
    return Measurement(results.load(path), more.failures)


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that no other run has, named by the time."""
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-", dir=parent))


def _launches(experiment: Experiment, asked: argparse.Namespace) -> list[Launch]:
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
    parser.add_argument("--resume", metavar="FOLDER")
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise WeaveError(str(error)) from None

"""`just run`: one experiment into a folder of its own."""

import argparse
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from weave import claims, definition, results
from weave.console import Console
from weave.errors import WeaveError
from weave.launch import Launch
from weave.measure import Measurement, Watch, Workspace, measure
from weave.plan import PROFILES, expected_seconds, launches_of
from weave.results import Result

#: Options of the programs that the runner sets itself.
OWNED = ("--output", "--events", "--lockstep", "--later", "--again")

#: Weaves the page of a result of a tree into a folder.
Weave = Callable[[Path, Result, Path], Path]


def run_one(workspace: Workspace, name: str, arguments: list[str], console: Console,
            weave: Weave | None) -> int:
    """Measures one experiment into a folder of its own under build/runs/, and weaves its page.

    Where a cold case seems faster than memory, the machine may have been busy while the ceilings
    were measured: all of it is measured once more.
    Without `weave` the result waits for a machine that can weave it. The last line names the page,
    or else the result.
    """
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
    is_whole = not rest and options.threads is None and options.ranks is None
    expected_s = expected_seconds(experiment, options.profile) if is_whole else None
    given = [*rest, "--profile", options.profile]
    measured = measure(program, given, launches, folder, Watch(console, name, expected_s))
    if not measured.failures and claims.is_beyond_ceiling(measured.result, workspace.root):
        console.line(f"{name}: as many rounds again to decide {claims.FASTER_THAN_MEMORY}")
        watch = Watch(console, name, expected_s)
        more = measure(program, [*given, "--again"], launches, folder / "more", watch)
        measured = _prolonged(measured, more)
    for failure in measured.failures:
        console.line(failure)
    page = weave(workspace.root, measured.result, folder) if weave else measured.result.path
    console.line(workspace.shown(page))
    return 1 if measured.failures else 0


def _prolonged(first: Measurement, more: Measurement) -> Measurement:
    """The samples of both, in the place of the first."""
    path = first.result.path
    results.write(results.prolong(first.result.raw, more.result.raw), path)
    return Measurement(results.load(path), more.failures)


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

"""`just run`: one experiment into a folder of its own, how an interrupted run goes on, its help."""

import argparse
import os
import re
import shlex
import subprocess
import tempfile
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from memwall.analysis import claims
from memwall.record import definition, files, names, numbers, results
from memwall.record.console import Console
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.results import Result
from memwall.run import looks
from memwall.run.launches import Launch, launches_of, missing_tools
from memwall.run.programs import Measurement, ProgramFailed, measure
from memwall.run.schedule import PROFILES
from memwall.run.watch import Watch
from memwall.run.workspace import Workspace, file_digest

#: Options of the programs that the runner sets itself.
OWNED = ("--output", "--events", "--later", "--again", "--points")
#: Options of every program (`lib/bench`) beside those and the runner's.
OF_EVERY_PROGRAM = (
    ("--samples N", "rounds of samples (tiny 3, quick and book 7, full 21)"),
    ("--min-time SECONDS", "least length of a warm sample; a short call is repeated to fill it"),
    ("--seed N", "of values and of the order of variants"),
    ("--filter REGEX", "variants to measure"),
    ("--precision TYPE ...", "element types, of experiments that have several"),
    ("--list", "print axes and variants, measure nothing"),
)
HELP_COLUMNS = 90
OPTION = re.compile(r"--[a-z][\w-]*")
#: The file in the folder of a run that tells what it was asked for.
NOTE = "run.json"

#: Weaves the page of a result of a tree into a folder.
WeavePage = Callable[[Path, Result, Path], Path]


@dataclass(frozen=True)
class Run:
    """What is measured, by which processes, and into which folder."""

    program: Path
    given: list[str]  # arguments of the program
    launches: list[Launch]
    folder: Path
    expected_s: float | None


def run_one(workspace: Workspace, name: str, arguments: list[str], console: Console,
            weave: WeavePage | None) -> int:
    """Measures one experiment into a folder of its own under build/runs/, and weaves its page.

    Without `weave` the result waits for a machine that can weave it. The last line names the page,
    or else the result; of a run that was stopped, the command that goes on with it.
    """
    experiment = definition.load(workspace.root, names.require_experiment(workspace.root, name))
    program = workspace.program(name)
    if {"--help", "-h"} & set(arguments):
        console.line(help_text(workspace, experiment))
        return 0
    workspace.build_programs(f"experiment:{name}", "lib/bench/machine")
    if not program.is_file():
        why = ", ".join(missing_tools(experiment)) or f"no file {workspace.shown(program)}"
        raise ProgramFailed(f"{name} was not built: {why}", 1)
    if "--list" in arguments:
        return subprocess.call([program, *arguments])
    run = _begin(workspace, experiment, arguments, console)
    go_on = f"to go on: {_resume(workspace, name, run.folder)}"
    try:
        with files.exclusive(run.folder) as lock:
            measured = _measure(workspace, run, console, lock)
            page = measured.result.path
            if weave:
                page = weave(workspace.root, measured.result, run.folder)
    except KeyboardInterrupt:
        console.line(f"interrupted; {go_on}")
        raise
    except ProgramFailed:
        if _has_journal(run.folder):
            console.line(f"what was measured is kept; with the same build, {go_on}")
        raise
    if not measured.is_whole:
        console.line(f"what died is marked on the page; with the same build, {go_on}")
    console.line(workspace.shown(page))
    return 1 if measured.failures else 0


def _begin(workspace: Workspace, experiment: Experiment, arguments: list[str],
           console: Console) -> Run:
    """A new run, or one that was interrupted."""
    name, program = experiment.name, workspace.program(experiment.name)
    for argument in arguments:
        if argument.split("=")[0] in OWNED:
            raise UserError(f"{argument} is the runner's own: results go to build/runs/")
    options, rest = _runner_options(arguments)
    shown = options.resume
    before = None
    if shown is not None:
        if arguments not in (["--resume", shown], [f"--resume={shown}"]):
            raise UserError("--resume: a run goes on with the options that it began with,"
                             " expected no others")
        before = _noted(Path(shown))
        arguments = before.arguments
        options, rest = _runner_options(arguments)
    launches = _launches(experiment, options)
    asked = Asked(name, arguments, os.getcwd(), [each.label() for each in launches],
                  file_digest(program))
    if before:
        _require_same(shown, before, asked)
        folder = Path(shown)
    else:
        runs = workspace.build / "runs"
        if earlier := _latest_unfinished(runs, asked):
            console.line(f"{name}: begins anew; to go on with the same run that was interrupted:"
                         f" {_resume(workspace, name, earlier)}")
        folder = _new_folder(runs, name)
        _note(folder, asked)
    is_whole = not rest and options.threads is None and options.ranks is None
    expected_s = experiment.expected_seconds(options.profile) if is_whole else None
    return Run(program, [*rest, "--profile", options.profile], launches, folder, expected_s)


def _resume(workspace: Workspace, name: str, folder: Path) -> str:
    """The command that goes on with a run."""
    return f"{workspace.run} {name} --resume {shlex.quote(workspace.shown(folder))}"


def _measure(workspace: Workspace, run: Run, console: Console, lock: int) -> Measurement:
    """Measures what the run's folder lacks.

    Where a cold case seems faster than memory, the machine may have been busy while the ceilings
    were measured: they are measured once more, and such points.
    """
    name = run.program.name
    watch = Watch(console, name, run.expected_s)
    measured = measure(run.program, run.given, run.launches, run.folder, watch, [lock])
    opened = claims.open_of(measured.result, workspace.root, only_ceilings=True)
    if opened.questions and not measured.failures:
        console.line(f"{name}: more rounds to decide {claims.FASTER_THAN_MEMORY}")

        def again(more: list[str], folder: Path) -> Measurement:
            watch = Watch(console, f"{name}, more rounds", run.expected_s)
            return measure(run.program, [*run.given, *more], run.launches, folder, watch, [lock])

        measured = looks.further(measured, opened, 1, run.folder, again)
        results.write(measured.result.raw, measured.result.path)
    for failure in measured.failures:
        console.line(failure)
    return measured


def _new_folder(parent: Path, name: str) -> Path:
    """A folder that no other run has, named by the time."""
    parent.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-", dir=parent))


def _launches(experiment: Experiment, asked: argparse.Namespace) -> list[Launch]:
    """The launches of an experiment, or those with threads and ranks as the user asked."""
    if asked.ranks is not None and "ranks" not in experiment.launch:
        raise UserError(f"--ranks: {experiment.name} is measured by one process")
    launches = launches_of(experiment)
    if asked.ranks is not None:
        known = {launch.ranks for launch in launches}
        more = [Launch(1, ranks=ranks) for ranks in asked.ranks if ranks not in known]
        launches = [launch for launch in launches if launch.ranks in asked.ranks] + more
    if asked.threads is not None:
        chosen = [replace(launch, threads=asked.threads) for launch in launches or [Launch(1)]]
        launches = [launch for i, launch in enumerate(chosen) if launch not in chosen[:i]]
    if not launches:
        raise UserError(f"{experiment.name}: its launch axes ask for more threads than are here")
    return launches


def _runner_options(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The program's options that the runner must know too, and the rest."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--threads", type=numbers.option(numbers.whole, "--threads"))
    parser.add_argument("--ranks", type=numbers.option(numbers.whole, "--ranks"), nargs="+")
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument("--resume", metavar="FOLDER")
    for name in ("--threads", "--ranks", "--profile", "--resume"):
        if sum(word.partition("=")[0] == name for word in arguments) > 1:
            raise UserError(f"{name}: found it twice, expected it once")
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise UserError(str(error)) from None


@dataclass(frozen=True)
class Asked:
    """What a run was asked for, and of what: noted in its folder, so that it can go on.

    The programs keep journals beside their outputs and go on from them, but only if they are called
    as before.
    """

    experiment: str
    arguments: list[str]
    folder: str  # where the user was: paths among the arguments begin there
    launches: list[str]
    program: str  # sha256


def _note(folder: Path, asked: Asked) -> None:
    """Notes in the folder of a run what it was asked for."""
    files.write_json(folder / NOTE, asdict(asked))


def _noted(folder: Path) -> Asked:
    """What the run of a folder was asked for."""
    found = _read(folder)
    if found is None:
        raise UserError(f"--resume: found {folder}, expected the folder of a run that began")
    return found


def _require_same(shown: str, before: Asked, now: Asked) -> None:
    """Raises `UserError` if a run that goes on would not do what it began."""
    for name, what in (
        ("experiment", f"{shown} is a run of {before.experiment}, not of {now.experiment}"),
        ("folder", f"{shown} began in another folder: cd {before.folder}"),
        ("program", f"{shown} was measured by another build of the program: begin anew"),
        ("launches", f"{shown} has the processes {'; '.join(before.launches)}; now they would be"
                     f" {'; '.join(now.launches)}: begin anew"),
    ):
        if getattr(before, name) != getattr(now, name):
            raise UserError(f"--resume: {what}")


def _has_journal(folder: Path) -> bool:
    """Whether a program began to measure and did not come to its end, where it removes this."""
    return any(folder.rglob("*.journal"))


def _latest_unfinished(runs: Path, asked: Asked) -> Path | None:
    """The last run of the same that did not come to its end."""
    folders = sorted(runs.glob(f"{asked.experiment}-*/"), reverse=True)
    return next((each for each in folders if _read(each) == asked and _has_journal(each)), None)


def _read(folder: Path) -> Asked | None:
    try:
        return Asked(**files.read_json(folder / NOTE))
    except (UserError, TypeError):
        return None


def help_text(workspace: Workspace, experiment: Experiment) -> str:
    """The help of one experiment, also where nothing was built yet.

    What a program takes beyond the options of all programs is written in its C++ alone: the program
    is asked where it is built, and else the help says how to find out.
    """
    name, launches = experiment.name, launches_of(experiment)
    processes = "; ".join(launch.label() for launch in launches) or "none, for want of threads"
    runner = [
        ("--profile NAME", f"how large and how long: {', '.join(PROFILES)}; default: quick"),
        ("--threads N", "threads of each process, in place of those above"),
        ("--ranks N ...", "only processes of so many ranks, or others"),
        ("--resume FOLDER", "go on with an interrupted run, with the options it began with"),
    ]
    if "ranks" not in experiment.launch:
        del runner[2]
    parts = [f"{workspace.run} {name} [OPTION ...]", _wrapped(experiment.question),
             _wrapped(f"Processes that measure it here: {processes}."),
             _option_table("Options of the runner:", runner)]
    if own := _told_by(workspace.program(name), [option for option, _ in runner]):
        return "\n\n".join([*parts, "\n".join(["Options of the program:", *own])])
    more = ("Every axis is an option too, such as --matrix. Axes and further options are known to"
            " the program alone, which was not built.")
    if workspace.run == Workspace.run:  # else there is nothing to build it with
        more += (f" `{workspace.run} {name} --list` builds it and prints axes and variants; then"
                 " --help prints all options.")
    every = _option_table("Options of every program:", OF_EVERY_PROGRAM)
    return "\n\n".join([*parts, every, _wrapped(more)])


def _wrapped(words: str) -> str:
    return textwrap.fill(words, HELP_COLUMNS)


def _option_table(title: str, options: Iterable[tuple[str, str]]) -> str:
    return "\n".join([title, *(f"  {option:<27} {what}" for option, what in options)])


def _told_by(program: Path, others: list[str]) -> list[str]:
    """What a program says about its options, less those that the runner takes or sets; nothing
    where it cannot be asked."""
    try:
        said = subprocess.run([program, "--help"], capture_output=True, encoding="utf-8",
                              errors="replace", check=True, timeout=10).stdout
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

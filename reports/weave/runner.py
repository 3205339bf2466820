"""`just run` and `just run-all`: from programs to results, from results to pages."""

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from weave import definition, results
from weave.console import Console
from weave.errors import WeaveError
from weave.launch import Event, Launch, Program, ProgramFailed, take_turns
from weave.plan import PROFILES, duration, expected_seconds, launches_of

#: Options of the programs that the runner sets itself.
OWNED = ("--output", "--events", "--lockstep")
#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130


@dataclass(frozen=True)
class Workspace:
    """Where the sources and what was built from them lie."""

    root: Path
    build: Path

    def program(self, name: str) -> Path:
        """The program of an experiment."""
        return self.build / "experiments" / name / name

    def shown(self, path: Path) -> str:
        """A path as people would type it in the root."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)


@dataclass(frozen=True)
class Measurement:
    """What the processes of one experiment brought home."""

    result: results.Json
    failures: list[str]  # one line for each process in which a variant failed


class Watch:
    """Follows the events of an experiment's processes and shows how far they are."""

    def __init__(self, console: Console, title: str, expected_s: float, later_s: float = 0) -> None:
        """`later_s` is expected for what comes after this experiment."""
        self._console = console
        self._title = title
        self._expected_s = expected_s
        self._later_s = later_s
        self._started = time.monotonic()
        self._point = ""
        self._rounds: dict[Program, int] = {}  # done so far
        self._all_rounds: dict[Program, int] = {}

    def __call__(self, program: Program, event: Event) -> None:
        kind = event["event"]
        if kind == "plan":
            self._all_rounds[program] = max(1, event["points"] * event["rounds"])
        elif kind == "point":
            rounds = self._all_rounds[program] // event["points"]
            self._rounds[program] = event["point"] * rounds
            self._enter(f"point {event['point'] + 1} of {event['points']}: {event['label']}")
        elif kind == "turn":
            self._rounds[program] = self._rounds.get(program, 0) + (event["phase"] == "round")
            self._console.status(self._text())

    def _enter(self, point: str) -> None:
        if point != self._point:  # the other processes come to the same point later
            self._point = point
            self._console.step(self._text())

    def _text(self) -> str:
        parts = [self._title, self._point, f"{duration(self._left_s())} left"]
        return "  ".join(part for part in parts if part)

    def _left_s(self) -> float:
        spent = time.monotonic() - self._started
        share = sum(self._rounds.values()) / max(1, sum(self._all_rounds.values()))
        here = spent * (1 - share) / share if share > 0.2 else max(0, self._expected_s - spent)
        return here + self._later_s


def measure(program: Path, arguments: Sequence[str], launches: Sequence[Launch], folder: Path,
            watch: Watch, inherit: Sequence[int] = ()) -> Measurement:
    """Runs the processes of one experiment in turns and merges their results."""
    if not program.is_file():
        raise ProgramFailed(f"{program.name} was not built: no file {program}", 1)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                Program([program, *arguments], launch, folder / f"launch-{index}.json", inherit))
            for index, launch in enumerate(launches)
        ]
        take_turns(programs, watch)
    merged = results.merge([results.load(program.output).raw for program in programs])
    return Measurement(merged, [program.failure() for program in programs if program.code])


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
    launches = launches_of(experiment)
    if options.threads is not None:
        chosen = [replace(launch, threads=options.threads) for launch in launches]
        launches = [launch for i, launch in enumerate(chosen) if launch not in chosen[:i]]
    if not launches:
        raise WeaveError(f"{name}: its launch axes ask for more hardware threads than are here")

    folder = workspace.build / "runs" / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    watch = Watch(console, name, expected_seconds(experiment, options.profile))
    measured = measure(program, [*rest, "--profile", options.profile], launches, folder, watch)
    result = folder / "results" / f"{name}.json"
    results.write(measured.result, result)
    for failure in measured.failures:
        console.line(failure)
    console.line(workspace.shown(weave_page(workspace.root, result, folder)))
    return 1 if measured.failures else 0


def _runner_options(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The program's options that the runner must know too, and the rest."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    try:
        return parser.parse_known_args(arguments)
    except argparse.ArgumentError as error:
        raise WeaveError(str(error)) from None


def main(arguments: list[str], console: Console) -> int:
    """The command line of the runner; returns the exit code."""
    from weave.run_all import run_all

    parser = argparse.ArgumentParser(prog="just", allow_abbrev=False)
    parser.add_argument("--build", type=Path, default=results.REPOSITORY / "build",
                        help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("run", add_help=False)
    one.add_argument("name")
    one.add_argument("arguments", nargs=argparse.REMAINDER)
    every = commands.add_parser("run-all", allow_abbrev=False)
    every.add_argument("--full", action="store_true", help="leave every cache behind (hours)")
    every.add_argument("--machine", help="name of this machine's book in place of its own slug")
    chosen = parser.parse_args(arguments)
    workspace = Workspace(results.REPOSITORY, chosen.build.resolve())
    if chosen.command == "run":
        return run(workspace, chosen.name, chosen.arguments, console)
    return run_all(workspace, "full" if chosen.full else "quick", chosen.machine, console)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    console = Console()
    try:
        sys.exit(main(sys.argv[1:], console))
    except WeaveError as error:
        console.line(f"just: {error}")
        sys.exit(getattr(error, "code", 2))
    except KeyboardInterrupt:
        console.line("interrupted; `just run-all` goes on from here")
        sys.exit(INTERRUPTED)

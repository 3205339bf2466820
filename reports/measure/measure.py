"""Measures one experiment: its processes in turns, with progress, into one merged result."""

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from measure.console import Console
from measure.launch import Event, Launch, Program, ProgramFailed, take_turns
from measure.plan import duration
from weave import results


@dataclass(frozen=True)
class Workspace:
    """Where the sources and what was built from them lie."""

    root: Path
    build: Path
    run: str = "just run"  # how people start a run here

    def program(self, name: str) -> Path:
        """The program of an experiment."""
        return self.build / "experiments" / name / name

    def shown(self, path: Path) -> str:
        """A path as people would type it where they are."""
        return os.path.relpath(path)


@dataclass(frozen=True)
class Measurement:
    """What the processes of one experiment brought home."""

    result: results.Result
    failures: list[str]  # one line for each process in which a variant failed


class Watch:
    """Follows the events of an experiment's processes and shows how far they are."""

    def __init__(self, console: Console, title: str, expected_s: float | None,
                 later_s: float = 0) -> None:
        """`expected_s` is None where only the run itself can tell; `later_s` is expected for what
        comes after this experiment."""
        self._console = console
        self._title = title
        self._expected_s = expected_s
        self._later_s = later_s
        self._started = time.monotonic()
        self._furthest = -1
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
            if event["point"] > self._furthest:  # the other processes come to it later
                self._furthest = event["point"]
                self._point = f"point {self._furthest + 1} of {event['points']}: {event['label']}"
                self._console.step(self._text())
        elif kind == "turn":
            self._rounds[program] = self._rounds.get(program, 0) + (event["phase"] == "round")
            self._console.status(self._text())

    def _text(self) -> str:
        left = self._left_s()
        parts = [self._title, self._point, "" if left is None else f"{duration(left)} left"]
        return "  ".join(part for part in parts if part)

    def _left_s(self) -> float | None:
        spent = time.monotonic() - self._started
        share = min(1, sum(self._rounds.values()) / max(1, sum(self._all_rounds.values())))
        if share > (0.2 if self._expected_s is not None else 0):
            return spent * (1 - share) / share + self._later_s
        if self._expected_s is None:
            return None
        return max(0, self._expected_s - spent) + self._later_s


def measure(program: Path, arguments: Sequence[str], launches: Sequence[Launch], folder: Path,
            watch: Watch, inherit: Sequence[int] = (), go_on: bool = False) -> Measurement:
    """Runs the processes of one experiment in turns; `folder/result.json` is what they found.

    With `go_on` a process whose own result lies there already has finished.
    """
    if not program.is_file():
        raise ProgramFailed(f"{program.name} was not built: no file {program}", 1)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        programs = [
            stack.enter_context(
                Program([program, *arguments, *(["--later"] if index > 0 else [])], launch,
                        folder / f"launch-{index}.json", inherit))
            for index, launch in enumerate(launches)
        ]
        finished = [program for program in programs if go_on and program.output.exists()]
        take_turns([program for program in programs if program not in finished], watch)
    parts = [results.load(program.output) for program in programs]
    for program, part in zip(programs, parts, strict=True):
        if program in finished:
            program.code = 0 if all(case.passed for case in part.cases) else 1
    merged = folder / "result.json"
    results.write(results.merge([part.raw for part in parts]), merged)
    failures = [program.failure() for program in programs if program.code]
    return Measurement(results.load(merged), failures)

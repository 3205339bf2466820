"""Measures one experiment: a process for each combination of its launch axes, all in turns.

The processes speak events, one JSON object a line, and measure only when they are granted a turn.
Turns go round robin, so that one process works at a time and the rounds of all are interleaved.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from weave import results
from weave.errors import WeaveError

Event = dict[str, Any]

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130

#: What mpirun says of a rank that was killed; it names a host and breaks its lines anywhere.
RANK_DIED = re.compile(r"process rank\s+(\d+)\s.*?exited\s+on\s+signal\s+(\d+\s+\([^)]*\))",
                       re.DOTALL)


class ProgramFailed(WeaveError):
    """A process ended without a result; `code` is what the runner should exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def guarded(command: Callable[[], int]) -> int:
    """Runs a command so that every way to stop it ends its programs first."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return command()
    except ProgramFailed as error:
        print(error, file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        return INTERRUPTED


@dataclass(frozen=True)
class Slots:
    """What a run may use at once: threads of this host, and ranks of all hosts."""

    threads: int
    ranks: int


@dataclass(frozen=True)
class Launch:
    """How a program is started: its ranks, the threads of each, and its environment axes."""

    threads: int
    environment: Mapping[str, str] = field(default_factory=dict)
    ranks: int = 0  # 0: no MPI

    def label(self) -> str:
        """For messages: `threads=2 OMP_PROC_BIND=close`."""
        pairs = [("threads", self.threads), *self.environment.items()]
        ranks = [("ranks", self.ranks)] if self.ranks else []
        return " ".join(f"{name}={value}" for name, value in [*ranks, *pairs])

    def prefix(self) -> list[str]:
        """What stands before the program on its command line.

        A rank of one thread stays on one core, threads find theirs by themselves. Hosts of a
        machine room get only the environment that is named here.
        """
        if not self.ranks:
            return []
        core = ["--use-hwthread-cpus", "--map-by", "core", "--bind-to", "core:overload-allowed"]
        named = ["OMP_NUM_THREADS", *self.environment]
        exports = [word for name in named for word in ("-x", name)]
        binding = core if self.threads == 1 else ["--bind-to", "none"]
        return ["mpirun", "-n", str(self.ranks), *binding, *exports]


def thread_counts(values: Sequence[int | str], available: int) -> list[int]:
    """The distinct numbers of threads that `values` stand for on `available` hardware threads."""
    counts: list[int] = []
    for value in values:
        if value == "max":
            counts.append(available)
        elif value == "powers":
            powers = [1 << exponent for exponent in range(available.bit_length())]
            counts += [power for power in powers if power < available] + [available]
        elif isinstance(value, int) and value >= 1:
            counts.append(value)
        else:
            raise WeaveError(
                f'launch.threads: found {value!r}, expected a number, "max" or "powers"')
    return list(dict.fromkeys(count for count in counts if count <= available))


def combinations(axes: Mapping[str, Sequence[int | str]], slots: Slots) -> list[Launch]:
    """All launches of the axes in `[launch]` of an experiment.toml, the last varying fastest.

    Ranks and threads are combined as far as there is a slot for each thread of each rank.
    """
    ranks = thread_counts(axes["ranks"], slots.ranks) if "ranks" in axes else [0]
    threads = thread_counts(axes.get("threads", [1]), slots.threads)
    launches = [Launch(count, ranks=of) for of in ranks for count in threads
                if of <= 1 or of * count <= slots.ranks]
    for name, values in axes.items():
        if name not in ("threads", "ranks"):
            launches = [replace(launch, environment={**launch.environment, name: str(value)})
                        for launch in launches for value in values]
    return launches


class Program:
    """One process of an experiment. It works only inside `turn`, and ends when it is left."""

    def __init__(self, command: Sequence[str | Path], launch: Launch, output: Path,
                 inherit: Sequence[int] = ()) -> None:
        """`inherit` are open files that the process holds as long as it lives (a lock)."""
        self.launch = launch
        self.output = output
        self.name = Path(command[0]).name
        self._command = [*launch.prefix(), *command, "--threads", str(launch.threads),
                         "--output", output, "--events", "--lockstep"]
        self._inherit = inherit
        self._errors = output.with_suffix(".stderr")
        self._process: subprocess.Popen[str] | None = None
        self.code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError), self._process:
            pass  # closes the pipes and waits

    def turn(self) -> Iterator[Event]:
        """Lets the process work until it asks for its next turn (the last event) or ends."""
        process = self._grant()
        assert process.stdout is not None
        for line in process.stdout:
            event = self._event(line)
            yield event
            if event["event"] == "turn":
                return
        self._finish(process.wait())

    def failure(self) -> str:
        """What to say of a process that ended with a code other than 0."""
        assert self.code is not None
        ending = f"killed by {signal.Signals(-self.code).name}" if self.code < 0 else (
            f"exit code {self.code}")
        complaint = self._complaint()
        return f"{self._title()}: {ending}{f': {complaint}' if complaint else ''}"

    def _complaint(self) -> str:
        """The last line that the process wrote to stderr, or nothing.

        Of ranks it is the line of the one that failed, as mpirun adds a page of its own.
        """
        text = self._errors.read_text(errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if self.launch.ranks:
            died = RANK_DIED.search(text)
            if died:
                return f"rank {died[1]} of {self.launch.ranks} died of signal {died[2]}"
            lines = [line for line in lines if line.startswith(f"{self.name}: ")] or lines
        return lines[-1] if lines else ""

    def _grant(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = self._start()
        else:
            assert self._process.stdin is not None
            try:
                self._process.stdin.write("\n")
                self._process.stdin.flush()
            except BrokenPipeError:
                pass  # it died while waiting: the end of its output says so next
        return self._process

    def _start(self) -> subprocess.Popen[str]:
        environment = {**os.environ, **self.launch.environment,
                       "OMP_NUM_THREADS": str(self.launch.threads)}
        with self._errors.open("w") as errors:
            # A session of its own: Ctrl-C reaches the runner alone, which then ends the process.
            return subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=errors, env=environment, text=True,
                                    start_new_session=True, pass_fds=self._inherit)

    def _event(self, line: str) -> Event:
        try:
            event = json.loads(line)
            event["event"]
        except (ValueError, TypeError, KeyError):
            said = f"{self._title()}: wrote {line.strip()!r} where an event was expected"
            raise ProgramFailed(said, 1) from None
        return event

    def _finish(self, code: int) -> None:
        self.code = code
        if code not in (0, 1):
            raise ProgramFailed(self.failure(), 2 if code == 2 else 1)
        if not self.output.exists():
            raise ProgramFailed(f"{self.failure()} (and no result)", 1)

    def _title(self) -> str:
        return f"{self.name} ({self.launch.label()})"


#: Is told the events of programs.
Report = Callable[[Program, Event], None]


def take_turns(programs: Sequence[Program], report: Report) -> None:
    """Runs the programs to their ends, one at a time; each of their events goes to `report`."""
    waiting = deque(programs)
    while waiting:
        program = waiting.popleft()
        for event in program.turn():
            report(program, event)
        if program.code is None:
            waiting.append(program)


@dataclass(frozen=True)
class Measurement:
    """What the processes of one experiment brought home."""

    result: results.Result
    failures: list[str]  # one line for each process in which a variant failed


def measure(program: Path, arguments: Sequence[str], launches: Sequence[Launch], folder: Path,
            report: Report, inherit: Sequence[int] = (), go_on: bool = False) -> Measurement:
    """Runs the processes of one experiment in turns; `folder/result.json` is what they found.

    With `go_on` a process whose own result lies there already has finished.
    """
    if not program.is_file():
        raise ProgramFailed(f"{program.name} was not built: no file {program}", 1)
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        programs = [
            stack.enter_context(
                Program([program, *arguments, *(["--later"] if index > 0 else [])], launch,
                        folder / f"launch-{index}.json", inherit))
            for index, launch in enumerate(launches)
        ]
        finished = [program for program in programs if go_on and program.output.exists()]
        take_turns([program for program in programs if program not in finished], report)
    parts = [results.load(program.output) for program in programs]
    for program, part in zip(programs, parts, strict=True):
        if program in finished:
            program.code = 0 if all(case.passed for case in part.cases) else 1
    merged = folder / "result.json"
    results.write(results.merge([part.raw for part in parts]), merged)
    failures = [program.failure() for program in programs if program.code]
    return Measurement(results.load(merged), failures)

"""How experiments are measured: the processes of each, how far they are, and what a run of all will
do here.

An experiment is a process for each combination of its launch axes, all in turns.

The processes tell events, one JSON object a line, and measure only when they are granted a turn.
Turns go round robin, so that one process works at a time and the rounds of all are interleaved.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, TextIO

from measure.channel import Channel, Event, NotAnEvent
from measure.workspace import file_digest
from weave import joining, numbers, processors, results, terminal
from weave.definition import Experiment, WeaveError
from weave.errors import ending

#: What mpirun says of a rank that was killed; it names a host and breaks its lines anywhere.
RANK_DIED = re.compile(r"process rank\s+(\d+)\s.*?exited\s+on\s+signal\s+(\d+\s+\([^)]*\))",
                       re.DOTALL)


class ProgramFailed(WeaveError):
    """A process ended without a result; `code` is what the runner should exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


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
                         "--output", output]
        self._inherit = inherit
        self._printed = {name: output.with_suffix(f".{name}") for name in ("stdout", "stderr")}
        self._channel = Channel()
        self._process: subprocess.Popen[bytes] | None = None
        self._last: Event = {}
        self.code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._channel:
            if self._process is None:
                return
            self._process.terminate()
            try:
                self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def has_finished(self, digest: str) -> bool:
        """Whether its result is there, of the same program, which has this sha256, and launch."""
        if not self.output.exists():
            return False
        raw = results.load(self.output).raw
        known, launch = raw["launches"][0], self.launch
        return (raw["source"]["binary_sha256"] == digest and known["threads"] == launch.threads
                and known["ranks"] == max(1, launch.ranks)
                and launch.environment.items() <= known["environment"].items())

    def turn(self) -> Iterator[Event]:
        """Lets the process work until it asks for its next turn (the last event) or ends."""
        if self._process is None:
            self._process = self._start()
        else:
            self._channel.grant()
        try:
            for event in self._channel.events(self._process):
                self._last = event
                yield event
                if event["event"] == "turn":
                    return
        except NotAnEvent as said:
            raise ProgramFailed(f"{self._title()}: told {str(said)!r}, expected an event",
                                1) from None
        self._finish(self._ended(self._process))

    def failure(self) -> str:
        """What to say of a process that ended with a code other than 0, or too early."""
        assert self.code is not None
        complaint = self._complaint()
        return f"{self._title()}: {ending(self.code)}{f': {complaint}' if complaint else ''}"

    def _complaint(self) -> str:
        """The last line that the process wrote to stderr, or nothing.

        Of ranks it is the line of the one that failed, as mpirun adds a page of its own, or else
        the first sentence of that page, which stands between lines of dashes.
        """
        text = self._printed["stderr"].read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if self.launch.ranks:
            died = RANK_DIED.search(text)
            if died:
                return f"rank {died[1]} of {self.launch.ranks} died of signal {died[2]}"
            own = [line for line in lines if line.startswith(f"{self.name}: ")]
            paragraphs = (part for part in re.split(r"\n\s*\n|^-{10,}$", text, flags=re.MULTILINE))
            lines = own or [" ".join(part.split()) for part in paragraphs if part.strip()][:1]
        return lines[-1] if lines else ""

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **self.launch.environment,
                       "OMP_NUM_THREADS": str(self.launch.threads)}
        command = [*self._command, "--events", self._channel.path]
        with self._printed["stdout"].open("wb") as out, \
                self._printed["stderr"].open("wb") as errors:
            try:
                # A session of its own: Ctrl-C reaches the runner alone, which then ends the
                # process.
                return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                        stderr=errors, env=environment, start_new_session=True,
                                        pass_fds=self._inherit)
            except FileNotFoundError:
                missing = Path(command[0]).name
                raise ProgramFailed(f"{self._title()}: no {missing} here, which starts it",
                                    2) from None

    def _ended(self, process: subprocess.Popen[bytes]) -> int:
        """The exit code of a process that says nothing more; one that lives on is ended."""
        try:
            return process.wait(timeout=None if self._is_done() else 30)
        except subprocess.TimeoutExpired:
            raise ProgramFailed(f"{self._title()}: closed the channel of its events and did not"
                                " end", 1) from None

    def _finish(self, code: int) -> None:
        self.code = code
        if code not in (0, 1):
            raise ProgramFailed(self.failure(), 2 if code == 2 else 1)
        if not self._is_done() or not self.output.exists():
            raise ProgramFailed(f"{self.failure()} (and no result: it ended before it was done)", 1)

    def _is_done(self) -> bool:
        return self._last.get("event") == "done"

    def _title(self) -> str:
        return f"{self.name} ({self.launch.label()})"


#: Is told the events of programs.
Report = Callable[[Program, Event], None]


def take_turns(programs: Sequence[Program], report: Report,
               some_finished: bool = False) -> dict[Program, str]:
    """Runs the programs to their ends, one at a time; each of their events goes to `report`.

    Returns which died on the way, and how. Raises `ProgramFailed` where no other came to its end,
    here or before, and if one was asked for what it refuses.
    """
    failed: dict[Program, ProgramFailed] = {}
    waiting = deque(programs)
    while waiting:
        program = waiting.popleft()
        try:
            for event in program.turn():
                report(program, event)
        except ProgramFailed as error:
            if error.code == 2:
                raise
            failed[program] = error
            continue
        if program.code is None:
            waiting.append(program)
    if failed and len(failed) == len(programs) and not some_finished:
        raise next(iter(failed.values()))
    return {program: str(error) for program, error in failed.items()}


@dataclass(frozen=True)
class Measurement:
    """What the processes of one experiment brought home."""

    result: results.Result
    failures: list[str]  # one line for each process in which a variant failed, or that died
    is_whole: bool = True  # no process died


def measure(program: Path, arguments: Sequence[str], launches: Sequence[Launch], folder: Path,
            report: Report, inherit: Sequence[int] = ()) -> Measurement:
    """Runs the processes of one experiment in turns; `folder/result.json` is what they found.

    A process whose own result lies there already has finished, before an interruption. Of one that
    died all points are noted as skipped, with the reason: what the others found is worth having.
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
        finished = [each for each in programs if each.has_finished(file_digest(program))]
        died = take_turns([program for program in programs if program not in finished], report,
                          bool(finished))
    programs = [program for program in programs if program not in died]
    parts = [results.load(program.output) for program in programs]
    for program, part in zip(programs, parts, strict=True):
        if program in finished:
            program.code = 0 if all(case.passed for case in part.cases) else 1
    merged = folder / "result.json"
    whole = joining.merge([part.raw for part in parts])
    for program, why in died.items():
        joining.note_lost(whole, program.launch.threads, max(1, program.launch.ranks),
                          dict(program.launch.environment), why)
    if not whole["cases"]:
        raise ProgramFailed(f"{program.name}: measured nothing: {_why_nothing(whole)}", 1)
    results.write(whole, merged)
    failures = [*(program.failure() for program in programs if program.code), *died.values()]
    return Measurement(results.load(merged), failures, not died)


def _why_nothing(raw: results.Json) -> str:
    """Why a run has no case at all, in words."""
    reasons = list(dict.fromkeys(entry["reason"] for entry in raw["skipped"]))
    if not reasons:
        return "no variant has the name that was asked for"
    more = f" (and {len(reasons) - 1} more reasons)" if reasons[1:] else ""
    return f"all was skipped: {reasons[0]}{more}"


# --- how far it is: one updating line on a terminal, plain lines elsewhere ------------------------


#: How often the status is written anew, and how long nothing is said where there is no terminal.
STATUS_S = 0.2
SILENCE_S = 60


class Console:
    """Writes lines, and below them one status line where that can be written over."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._terminal = terminal.can_rewrite(self._stream)
        self._shown = False
        self._last = 0.0

    def line(self, text: str) -> None:
        """Writes a line that stays."""
        self._clear()
        print(terminal.harmless(text), file=self._stream, flush=True)
        self._last = time.monotonic()

    def step(self, text: str) -> None:
        """Something began: the status on a terminal, a line elsewhere."""
        if self._terminal:
            self._show(text)
        else:
            self.line(text)

    def status(self, text: str) -> None:
        """Something moved on: the status on a terminal, at most a few times a second; elsewhere a
        line where nothing was said for a while."""
        silent = time.monotonic() - self._last
        if self._terminal and silent > STATUS_S:
            self._show(text)
        elif not self._terminal and silent > SILENCE_S:
            self.line(text)

    def _show(self, text: str) -> None:
        shown = terminal.cut(terminal.one_line(text), shutil.get_terminal_size().columns - 1)
        print(f"\r\x1b[K{shown}", end="", file=self._stream, flush=True)
        self._shown = True
        self._last = time.monotonic()

    def _clear(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=self._stream)
            self._shown = False


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
                label = terminal.one_line(event["label"])
                self._point = f"point {self._furthest + 1} of {event['points']}: {label}"
                self._console.step(self._text())
        elif kind == "silent":
            self._console.line(f"{self._text()}: nothing heard for {duration(event['seconds'])};"
                               " Ctrl-C ends it")
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


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `3 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


# --- plans: which experiments run here, which are skipped and why, how long -----------------------

#: From the least to the most that a result is worth.
PROFILES = ("tiny", "quick", "full")


@dataclass(frozen=True)
class Step:
    """One line of a plan."""

    experiment: Experiment
    verb: str  # "run", "skip", "done"
    reason: str  # why it is skipped, or where the seconds come from
    seconds: float = 0  # expected


def launches_of(experiment: Experiment) -> list[Launch]:
    """The processes that measure an experiment, on the processors that may be used here.

    Ranks go as far as a job of Slurm has tasks for them.
    """
    threads = processors.usable()
    given = os.environ.get("SLURM_NTASKS")
    ranks = numbers.whole("SLURM_NTASKS", given) if given else threads
    return combinations(experiment.launch, Slots(threads, ranks))


def missing_tools(experiment: Experiment) -> list[str]:
    """What the program of an experiment is built or started with and is not here, in words."""
    tools = {"nvcc": "nvcc", "mpi": "mpirun"}
    return [f"no {tools[need]} here" for need in experiment.needs
            if need in tools and not shutil.which(tools[need])]


def unmet_need(experiment: Experiment, machine: Mapping[str, Any]) -> str:
    """Why this machine cannot run an experiment at all; empty if it can."""
    unmet = missing_tools(experiment)
    if "cuda" in experiment.needs and not machine["gpus"]:
        unmet.append("no CUDA device here")
    if not unmet and not launches_of(experiment):
        return "it needs more hardware threads"
    return ", ".join(unmet)


def make_plan(
    experiments: Sequence[Experiment],
    machine: Mapping[str, Any],
    profile: str,
    durations: Mapping[str, float],
    done: Collection[str],
    stored: Mapping[str, str],
) -> list[Step]:
    """The steps of a run.

    `durations` are seconds of the last runs here, `done` the experiments already measured by the
    run that is continued, and `stored` the profiles of the results in the machine's folder.
    """
    steps = []
    for experiment in experiments:
        name = experiment.name
        if reason := unmet_need(experiment, machine):
            steps.append(Step(experiment, "skip", reason))
        elif name in done:
            steps.append(Step(experiment, "done", "measured already by the run that is continued"))
        elif name in stored and worth(stored[name]) > worth(profile):
            reason = (f"a {stored[name]} result stands in the folder, worth more than a {profile}"
                      " one")
            steps.append(Step(experiment, "skip", reason))
        elif name in durations:
            steps.append(Step(experiment, "run", "as last time", durations[name]))
        else:
            seconds = experiment.expected_seconds(profile)
            steps.append(Step(experiment, "run", "by its budget", seconds))
    return steps


def worth(profile: str) -> int:
    """Rank of a profile: a result never replaces one of a higher rank."""
    return PROFILES.index(profile)


def plan_text(steps: Sequence[Step], profile: str, machine: str) -> str:
    """The plan as a table for people."""
    width = max((len(step.experiment.name) for step in steps), default=0)
    lines = [f"{profile} profile on {machine}:"]
    for step in steps:
        name = f"{step.experiment.name:<{width}}"
        lines.append(f"  {step.verb:<4}  {name}  {_details(step)}")
    return "\n".join([*lines, f"about {duration(sum(step.seconds for step in steps))} in all"])


def _details(step: Step) -> str:
    if step.verb != "run":
        return step.reason
    processes = len(launches_of(step.experiment))
    turns = f", {processes} processes in turns" if processes > 1 else ""
    return f"about {duration(step.seconds)}, {step.reason}{turns}"

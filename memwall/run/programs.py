"""The processes of an experiment, in turns; and what they bring home.

They tell events, one JSON object a line, and measure only when they are granted a turn. Turns go
round robin, so that one process works at a time and the rounds of all are interleaved.
"""

import contextlib
import os
import re
import subprocess
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from memwall.record import joining, results
from memwall.record.errors import UserError, ending
from memwall.run.channel import Channel, Event, NotAnEvent
from memwall.run.launches import Launch
from memwall.run.workspace import file_digest

#: What mpirun says of a rank that was killed; it names a host and breaks its lines anywhere.
RANK_DIED = re.compile(r"process rank\s+(\d+)\s.*?exited\s+on\s+signal\s+(\d+\s+\([^)]*\))",
                       re.DOTALL)


class ProgramFailed(UserError):
    """A process ended without a result; `code` is what the runner should exit with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class AllSkipped(ProgramFailed):
    """What could be measured does not apply to this machine."""


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
        """The last line that the process wrote to stderr, or else to stdout, as libraries do that
        end it, or nothing.

        Of ranks it is the line of the one that failed, as mpirun adds a page of its own, or else
        the first sentence of that page, which stands between lines of dashes.
        """
        texts = (self._printed[name].read_text(encoding="utf-8", errors="replace")
                 for name in ("stderr", "stdout"))
        text = next(filter(str.strip, texts), "")
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
        environment = {**os.environ, **self.launch.variables()}
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
OnEvent = Callable[[Program, Event], None]


def take_turns(programs: Sequence[Program], report: OnEvent,
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
            report: OnEvent, inherit: Sequence[int] = ()) -> Measurement:
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
        died = take_turns([each for each in programs if each not in finished], report,
                          bool(finished))
    programs = [each for each in programs if each not in died]
    parts = [results.load(each.output) for each in programs]
    for each, part in zip(programs, parts, strict=True):
        if each in finished:
            each.code = 0 if all(case.passed for case in part.cases) else 1
    merged = folder / "result.json"
    whole = joining.merge([part.raw for part in parts])
    for each, why in died.items():
        joining.note_lost(whole, each.launch.threads, max(1, each.launch.ranks),
                          dict(each.launch.environment), why)
    if not whole["cases"]:
        kind = AllSkipped if whole["skipped"] else ProgramFailed
        raise kind(f"{program.name}: measured nothing: {_why_nothing(whole)}", 1)
    results.write(whole, merged)
    failures = [*(each.failure() for each in programs if each.code), *died.values()]
    return Measurement(results.load(merged), failures, not died)


def _why_nothing(raw: results.Json) -> str:
    """Why a run has no case at all, in words."""
    reasons = list(dict.fromkeys(entry["reason"] for entry in raw["skipped"]))
    if not reasons:
        return "no variant has the name that was asked for"
    more = f" (and {len(reasons) - 1} more reasons)" if reasons[1:] else ""
    return f"all was skipped: {reasons[0]}{more}"

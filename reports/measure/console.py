"""Progress for people: one updating line on a terminal, plain lines elsewhere."""

import shutil
import sys
import time
from typing import TextIO

from measure.launch import Event, Program


class Console:
    """Writes lines, and below them one status line where the stream is a terminal."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._terminal = self._stream.isatty()
        self._shown = False
        self._last = 0.0

    def line(self, text: str) -> None:
        """Writes a line that stays."""
        self._clear()
        print(text, file=self._stream, flush=True)

    def step(self, text: str) -> None:
        """Something began: the status on a terminal, a line elsewhere."""
        if self._terminal:
            self._show(text)
        else:
            self.line(text)

    def status(self, text: str) -> None:
        """Something moved on: the status on a terminal, at most a few times a second."""
        if self._terminal and time.monotonic() - self._last > 0.2:
            self._show(text)

    def _show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        print(f"\r\x1b[K{text[:width]}", end="", file=self._stream, flush=True)
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


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `3 min`, `2 h 10 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"

"""What people see while something works: lines that stay, and one line that says how far it is.

By hand, as bundles carry neither rich nor tqdm.
"""

import shutil
import sys
import time
from typing import TextIO

from memwall.record import terminal

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


def duration(seconds: float) -> str:
    """Seconds for people: `45 s`, `3 min`, `2 h 10 min`; a `timedelta` says `2:10:00`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"

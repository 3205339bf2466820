"""Progress for people: one updating line on a terminal, plain lines elsewhere."""

import shutil
import sys
import time
from typing import TextIO


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

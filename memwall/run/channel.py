"""Where events of one process come in and turns go out: a socket of its own, so that whatever the
process prints, or what mpirun, a library or somebody's kernel prints in it, is no event."""

import contextlib
import json
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

Event = dict[str, Any]

#: The path of a socket has room for some 100 letters; a folder for temporary files may have more.
LONGEST_FOLDER = 60
#: How often a process that says nothing is asked whether it lives.
PATIENCE_S = 0.1
#: After so long it is told that nothing was heard, and again after twice as long.
SILENCE_S = 60


class NotAnEvent(Exception):
    """Something else than an event came in."""


class Channel:
    """Listens until a process comes, then speaks with it alone."""

    def __init__(self) -> None:
        short = len(tempfile.gettempdir()) <= LONGEST_FOLDER
        self._folder = tempfile.TemporaryDirectory(prefix="memwall-", dir=None if short else "/tmp")
        self.path = Path(self._folder.name) / "events"
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen(1)
        self._socket: socket.socket | None = None
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()
        if self._socket:
            self._socket.close()
        self._folder.cleanup()

    def grant(self) -> None:
        """Lets the process go on; one that is gone is noticed by `events`."""
        if self._socket:
            with contextlib.suppress(OSError):
                self._socket.sendall(b"\n")

    def events(self, process: subprocess.Popen[bytes]) -> Iterator[Event]:
        """What the process says, until it ends or closes the channel. While it says nothing, that
        is an event too, now and then."""
        heard, next_s = time.monotonic(), SILENCE_S
        while True:
            line, newline, rest = self._unread.partition(b"\n")
            if newline:
                self._unread = rest
                yield _event(line)
                heard, next_s = time.monotonic(), SILENCE_S
            elif _is_ready(self._socket or self._listener):
                if not self._hears():
                    return
            elif process.poll() is not None:  # whoever else may hold the other end
                return
            elif time.monotonic() - heard > next_s:
                yield {"event": "silent", "seconds": next_s}
                next_s *= 2

    def _hears(self) -> bool:
        """Takes in what came; false if nothing will come any more."""
        if self._socket is None:
            self._socket, _ = self._listener.accept()
            return True
        try:
            more = self._socket.recv(1 << 16)
        except ConnectionError:
            return False
        self._unread += more
        return bool(more)


def _is_ready(one: socket.socket) -> bool:
    """Waits a while for something to come. Asks by `poll`, as `select` knows the first 1,024 files
    alone."""
    waiting = select.poll()
    waiting.register(one, select.POLLIN)
    return bool(waiting.poll(1000 * PATIENCE_S))


def _event(line: bytes) -> Event:
    try:
        event = json.loads(line)
        event["event"]
    except (ValueError, TypeError, KeyError):
        raise NotAnEvent(line.decode(errors="replace").strip()) from None
    return event

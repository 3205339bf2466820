"""Commands in processes of their own, and a tree that is looked at before and after each."""

import contextlib
import errno
import gzip
import json
import os
import secrets
import signal
import sys
import tempfile
import traceback
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import HasFileno

#: What a process that raised ends with.
RAISED = 70

Command = Callable[[], int]


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, or less than 0 the signal that killed it."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Fault:
    """What goes wrong: at the `nth` write of a file, or with standard output."""

    kind: str
    nth: int = 0

    def begin(self) -> None:
        """Lets it go wrong in this process."""
        if self.kind == "nobody reads":
            reader, writer = os.pipe()
            os.close(reader)
            os.dup2(writer, 1)
        elif self.kind == "closed output":
            os.close(1)
        elif self.kind == "full output":
            os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
        else:
            self._at_a_write()

    def _at_a_write(self) -> None:
        if not hasattr(signal, self.kind):
            number = getattr(errno, self.kind)

            def go_wrong() -> None:
                raise OSError(number, os.strerror(number))
        else:
            def go_wrong() -> None:
                os.kill(os.getpid(), getattr(signal, self.kind))

        written, sync = 0, os.fsync

        def counting(fd: "int | HasFileno") -> None:
            nonlocal written
            written += 1
            if written == self.nth:
                go_wrong()
            sync(fd)

        os.fsync = counting


class Started:
    """A command at work in a fork of this process."""

    def __init__(self, room: Path, command: Command, fault: Fault | None = None) -> None:
        self._said = [room / f".said-{secrets.token_hex(6)}" for _ in range(2)]
        for path in self._said:
            path.touch()
        self._process = os.fork()
        if self._process == 0:
            code = RAISED
            try:
                code = self._work(room, command, fault)
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else RAISED
            except BaseException:
                traceback.print_exc()
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)

    def _work(self, room: Path, command: Command, fault: Fault | None) -> int:
        for number, path in enumerate(self._said, 1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND), number)
        if fault:
            fault.begin()
        is_closed = fault is not None and fault.kind == "closed output"
        sys.stdout = None if is_closed else open(1, "w", closefd=False)  # as Python has it
        sys.stderr = open(2, "w", closefd=False)
        os.chdir(room / "tree")
        tempfile.tempdir = str(room / "tmp")
        return command()

    def done(self) -> Done:
        """Waits for its end."""
        _, status = os.waitpid(self._process, 0)
        out, err = (path.read_text(encoding="utf-8", errors="surrogateescape")
                    for path in self._said)
        for path in self._said:
            path.unlink()
        return Done(os.waitstatus_to_exitcode(status), out, err)


# --- what lies in a tree --------------------------------------------------------------------------


def contents(room: Path) -> dict[str, bytes]:
    """Every file of a room: what is in it."""
    found = {}
    for folder, _, names in os.walk(room):
        for name in names:
            path = Path(folder, name)
            if not path.is_file():
                continue  # the socket of a command that was killed
            found[path.relative_to(room).as_posix()] = path.read_bytes()
    return found


def samples(found: Mapping[str, bytes]) -> dict[float, set[str]]:
    """Every sample of what was measured, and the files that hold it."""
    where: dict[float, set[str]] = {}
    for name, content in found.items():
        if name.endswith((".json", ".json.gz", ".journal")):
            for sample in _samples(content):
                where.setdefault(sample, set()).add(name)
    return where


@cache
def _samples(content: bytes) -> tuple[float, ...]:
    try:
        told: Any = json.loads(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content)
    except (ValueError, RecursionError, OSError, EOFError, zlib.error):
        return ()
    cases = told.get("cases", []) if isinstance(told, dict) else told
    if not isinstance(cases, list):
        return ()
    return tuple(sample for case in cases if isinstance(case, dict)
                 for sample in case.get("samples_s", []))

"""What `run-all` remembers between starts, in `build/run-all/`.

A run is unfinished for as long as something was interrupted or failed.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from weave.errors import WeaveError


def file_digest(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class RunState:
    """The experiments that an unfinished run has measured, and how long each took the last time.

    An experiment counts as measured for as long as its program stays the same. Journals and results
    of the programs lie in `folder(name)`.
    """

    def __init__(self, directory: Path, identity: Mapping[str, str]) -> None:
        """Continues the run in `directory` if it has the same identity, else begins anew."""
        self._directory = directory
        self._identity = dict(identity)
        directory.mkdir(parents=True, exist_ok=True)
        self._durations: dict[str, float] = _load(self._file("durations"))
        unfinished = _load(self._file("state"))
        self._done: dict[str, str] = unfinished.get("done", {})
        if unfinished.get("identity") != self._identity:
            self._begin()

    def done(self, name: str, program: Path) -> bool:
        """True if this run has measured the experiment with the program as it is now."""
        return name in self._done and program.is_file() and self._done[name] == file_digest(program)

    def finish(self, name: str, program: Path) -> None:
        """Marks an experiment as measured."""
        self._done[name] = file_digest(program)
        self._save_state()

    def complete(self) -> None:
        """Everything was measured: the next run begins anew."""
        self._file("state").unlink(missing_ok=True)

    def durations(self) -> dict[str, float]:
        """Seconds of the last uninterrupted runs with this identity, by experiment."""
        prefix = self._key("")
        return {key.removeprefix(prefix): seconds for key, seconds in self._durations.items()
                if key.startswith(prefix)}

    def took(self, name: str, seconds: float) -> None:
        """Remembers how long an experiment took."""
        self._durations[self._key(name)] = round(seconds, 1)
        _save(self._file("durations"), self._durations)

    def folder(self, name: str) -> Path:
        """Where the programs of an experiment keep their journals and results."""
        return self._directory / name

    def _begin(self) -> None:
        for entry in self._directory.iterdir():
            if entry.is_dir():
                shutil.rmtree(entry)
        self._done = {}
        self._save_state()

    def _save_state(self) -> None:
        _save(self._file("state"), {"identity": self._identity, "done": self._done})

    def _file(self, name: str) -> Path:
        return self._directory / f"{name}.json"

    def _key(self, name: str) -> str:
        return "/".join([*self._identity.values(), name])


@contextlib.contextmanager
def exclusive(directory: Path, patience_s: float = 10) -> Iterator[int]:
    """Holds the lock of `directory` and yields it as an open file, for programs to inherit.

    A killed run leaves programs that notice only at the end of their turn; they are waited for.
    """
    directory.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    where = os.path.relpath(directory)
                    raise WeaveError(f"another run is at work in {where}") from None
                time.sleep(0.1)
            except OSError:
                break  # a file system without locks, as some that hosts share
        yield lock
    finally:
        os.close(lock)


def _load(path: Path) -> dict[str, object]:
    """The JSON object in a file; empty if there is none or it was cut off."""
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


def _save(path: Path, value: object) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(value, indent=1))
    os.replace(unfinished, path)

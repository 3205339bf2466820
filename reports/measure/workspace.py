"""Where experiments are measured: a tree and what was built from it, this machine, and locks."""

import contextlib
import fcntl
import hashlib
import json
import os
import re
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weave.errors import WeaveError


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


def describe_machine(workspace: Workspace, slug: str | None) -> dict[str, Any]:
    """The `machine` object of results, under another name if one is given."""
    command = workspace.build / "lib/bench/machine"
    described = subprocess.run([command], capture_output=True, text=True, check=False)
    if described.returncode:
        raise WeaveError(f"{workspace.shown(command)}: {described.stderr.strip()}")
    machine = json.loads(described.stdout)
    if slug is not None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
            raise WeaveError(f"--machine: found {slug!r}, expected lower-case words and hyphens")
        machine["slug"] = slug
    return machine


def file_digest(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


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

"""What an interrupted `just run` leaves in its folder, and how it goes on.

The programs keep journals beside their outputs and go on from them, but only if they are called as
before. `run.json` holds what that takes.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from weave.errors import WeaveError

FILE = "run.json"


@dataclass(frozen=True)
class Asked:
    """What a run was asked for, and of what."""

    experiment: str
    arguments: list[str]
    folder: str  # where the user was: paths among the arguments begin there
    launches: list[str]
    program: str  # sha256


def write(folder: Path, asked: Asked) -> None:
    """Notes in the folder of a run what it was asked for."""
    (folder / FILE).write_text(json.dumps(asdict(asked), indent=1) + "\n", encoding="utf-8")


def read(folder: Path) -> Asked:
    """What the run of a folder was asked for."""
    found = _read(folder)
    if found is None:
        raise WeaveError(f"--resume: found {folder}, expected the folder of a run that began")
    return found


def require_same(shown: str, before: Asked, now: Asked) -> None:
    """Raises `WeaveError` if a run that goes on would not do what it began."""
    for name, what in (
        ("experiment", f"{shown} is a run of {before.experiment}, not of {now.experiment}"),
        ("folder", f"{shown} began in another folder: cd {before.folder}"),
        ("program", f"{shown} was measured by another build of the program: begin anew"),
        ("launches", f"{shown} has the processes {'; '.join(before.launches)}; now they would be"
                     f" {'; '.join(now.launches)}: begin anew"),
    ):
        if getattr(before, name) != getattr(now, name):
            raise WeaveError(f"--resume: {what}")


def has_journal(folder: Path) -> bool:
    """Whether a program began to measure and did not come to its end, where it removes this."""
    return any(folder.rglob("*.journal"))


def latest(runs: Path, asked: Asked) -> Path | None:
    """The last run of the same that did not come to its end."""
    folders = sorted(runs.glob(f"{asked.experiment}-*/"), reverse=True)
    return next((each for each in folders if _read(each) == asked and has_journal(each)), None)


def _read(folder: Path) -> Asked | None:
    try:
        return Asked(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None

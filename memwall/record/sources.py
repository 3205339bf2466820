"""The tree as it is now: marked source texts, and digests of data sets."""

import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType

from memwall.record import files
from memwall.record.errors import UserError

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "experiments")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Excerpt:
    """A marked text: file relative to the root, and the text between the markers."""

    file: str
    text: str


@cache
def code_of(text: str) -> str:
    """A text without comments and blanks: what a compiler sees, however it is laid out."""
    return "".join(re.sub(r"//.*", "", text).split())


@dataclass(frozen=True)
class Tree:
    """What results are compared with to tell whether they are stale."""

    root: Path
    excerpts: Mapping[str, Excerpt]
    datasets: Mapping[str, str]
    renames: Mapping[str, str]  # of files and folders, since results recorded them

    def where_now(self, file: str) -> str:
        """Where a file is that a result names."""
        moved = [old for old in self.renames if f"{file}/".startswith(f"{old}/")]
        old = max(moved, key=len, default="")
        return self.renames[old] + file[len(old):] if old else file


def read_tree(root: Path) -> Tree:
    """Scans the sources and the lock file of the data sets."""
    provenance = _provenance()
    folders = [root / folder for folder in FOLDERS]
    try:
        marked = provenance.excerpts(root, folders)
    except provenance.ProvenanceError as error:
        raise UserError(str(error).removeprefix(f"{root}/")) from error
    excerpts = {name: Excerpt(file, text) for name, file, text in marked}
    renames = _renames(root / "lib/renames.txt")
    return Tree(root, excerpts, _digests(root / "datasets/structures.lock"), renames)


def git(root: Path, *arguments: str) -> str | None:
    """What Git says of the tree `root`; None where that has no repository of its own."""
    said: str | None = _provenance().git(root, *arguments)
    return said


@cache
def _provenance() -> ModuleType:
    """The script that embeds the texts into the programs: both must read markers alike."""
    path = REPOSITORY / "lib/bench/provenance.py"
    spec = importlib.util.spec_from_file_location("bench_provenance", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _renames(listed: Path) -> dict[str, str]:
    if not listed.exists():
        return {}
    shown = f"{listed.parent.name}/{listed.name}"
    found: dict[str, str] = {}
    for number, line in enumerate(files.read(listed, shown).splitlines(), 1):
        match line.partition("#")[0].split():
            case [old, new]:
                found[old] = new
            case [_, *_]:
                raise UserError(f'{shown}:{number}: found "{line}", expected two paths: old new')
    return found


def _digests(lock: Path) -> dict[str, str]:
    if not lock.exists():
        return {}
    shown = f"{lock.parent.name}/{lock.name}"
    entries = files.read_toml(lock, shown)
    for name, digest in entries.items():
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise UserError(
                f"{shown}: {name}: found {digest!r}, expected the 64 digits of a sha256"
            )
    return entries

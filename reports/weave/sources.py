"""The tree as it is now: marked source texts and the digests of data sets."""

import importlib.util
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from weave.errors import WeaveError

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "experiments")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Excerpt:
    """A marked text: file relative to the root, and the text between the markers."""

    file: str
    text: str


@dataclass(frozen=True)
class Tree:
    """What results are compared with to tell whether they are stale."""

    root: Path
    excerpts: Mapping[str, Excerpt]
    datasets: Mapping[str, str]


def read(root: Path) -> Tree:
    """Scans the sources and the lock file of the data sets."""
    provenance = _provenance()
    folders = [root / folder for folder in FOLDERS]
    try:
        marked = provenance.excerpts(root, folders)
    except provenance.ProvenanceError as error:
        raise WeaveError(str(error).removeprefix(f"{root}/")) from error
    excerpts = {name: Excerpt(file, text) for name, file, text in marked}
    return Tree(root, excerpts, _digests(root / "datasets/structures.lock"))


@cache
def _provenance() -> ModuleType:
    """The script that embeds the texts into the programs: both must read markers alike."""
    path = REPOSITORY / "lib/bench/provenance.py"
    spec = importlib.util.spec_from_file_location("bench_provenance", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _digests(lock: Path) -> dict[str, str]:
    if not lock.exists():
        return {}
    shown = f"{lock.parent.name}/{lock.name}"
    try:
        entries: dict[str, Any] = tomllib.loads(lock.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WeaveError(f"{shown}: not TOML: {error}") from error
    for name, digest in entries.items():
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise WeaveError(
                f"{shown}: {name}: found {digest!r}, expected the 64 digits of a sha256"
            )
    return entries

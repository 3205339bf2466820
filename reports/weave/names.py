"""Names that become folders, files and targets of the build: asked here, before they are used.

A name is of lower-case words and hyphens. It is short enough for what is added to it: file systems
take 255 bytes for the name of a file.
"""

import re
from pathlib import Path

from weave.definition import WeaveError

WORDS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_LETTERS = 100
SHOWN_LETTERS = 60


def require(name: str, what: str) -> str:
    """The name; raises `WeaveError`, which begins with `what` was to be named, if it is none."""
    shown = repr(name if len(name) <= SHOWN_LETTERS else f"{name[:SHOWN_LETTERS]}...")
    if not WORDS.fullmatch(name):
        raise WeaveError(f"{what}: found {shown}, expected lower-case words and hyphens: my-idea")
    if len(name) > MOST_LETTERS:
        raise WeaveError(f"{what}: found {shown} of {len(name)} letters, expected at most"
                         f" {MOST_LETTERS}")
    return name


def fitting(text: str) -> str:
    """A name made of any text, such as a processor gives itself; empty if nothing of it fits."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words)[:MOST_LETTERS].rstrip("-")


def experiments(root: Path) -> list[str]:
    """The names of the experiments of a tree."""
    return sorted(path.parent.name for path in root.glob("experiments/*/experiment.toml"))

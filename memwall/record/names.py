"""Names that become folders, files and targets of the build: asked here, before they are used.

A name is of lower-case words and hyphens. It is short enough for what is added to it: file systems
take 255 bytes for the name of a file.
"""

import hashlib
import re
from pathlib import Path

from memwall.record.errors import UserError

WORDS = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
MOST_LETTERS = 100
SHOWN_LETTERS = 60
#: Of what others call as they like, with room for what is put behind it.
MOST_BYTES = 160
#: Of `-2` and the like, which tell machines of one kind apart.
MOST_DIGITS = 10

#: Targets that every build directory has, or may have.
MESONS_OWN = {"all", "benchmark", "clean", "coverage", "ctags", "cscope", "dist", "distcheck",
              "etags", "install", "phony", "reconfigure", "test", "uninstall", "clang-format",
              "clang-tidy", "clean-ctlist", "clean-gcda", "clean-gcno", "coverage-html",
              "coverage-sonarqube", "coverage-text", "coverage-xml", "scan-build"}


def shown(name: str) -> str:
    """A name that may be anything, for one line."""
    return repr(name if len(name) <= SHOWN_LETTERS else f"{name[:SHOWN_LETTERS]}...")


def require(name: str, what: str) -> str:
    """The name; raises `UserError`, which begins with `what` was to be named, if it is none."""
    if not WORDS.fullmatch(name):
        raise UserError(f"{what}: found {shown(name)}, expected lower-case words and hyphens:"
                         " my-idea")
    if len(name) > MOST_LETTERS:
        raise UserError(f"{what}: found {shown(name)} of {len(name)} letters, expected at most"
                         f" {MOST_LETTERS}")
    return name


def fitting(text: str) -> str:
    """A name made of any text, such as a processor gives itself, with room for a number behind it;
    empty if nothing of it fits."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words)[:MOST_LETTERS - MOST_DIGITS].rstrip("-")


def of_file(text: str) -> str:
    """The begin of a file's name made of any one line of text: if it is too long for file systems,
    what is left of it and a digest of all."""
    whole = text.encode()
    if len(whole) <= MOST_BYTES:
        return text
    return (whole[:MOST_BYTES].decode(errors="ignore")
            + f"-{hashlib.sha256(whole).hexdigest()[:12]}")


def require_experiment(root: Path, name: str) -> str:
    """The name of an experiment of the tree; else raises `UserError`, which names all of them."""
    known = sorted(path.parent.name for path in root.glob("experiments/*/experiment.toml"))
    if name not in known:
        raise UserError(f"no experiment {shown(name)}; there are: {', '.join(known)}")
    return name


def require_target(name: str) -> str:
    """A name for an experiment that is to be: its program is a target of the build of that name."""
    require(name, "new")
    if name in MESONS_OWN or name.startswith("meson-"):
        raise UserError(f"new: found {shown(name)}, which Meson keeps for itself, expected another"
                         " name")
    return name

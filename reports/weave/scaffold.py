"""`just new NAME`: a small experiment that already builds, runs, weaves and passes the checks."""

import argparse
import re
from pathlib import Path

from weave import book
from weave.errors import WeaveError

TEMPLATES = Path(__file__).with_name("new_experiment")
FILES = ("main.cpp", "kernels.hpp", "report.md.in", "experiment.toml", "meson.build")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def create(root: Path, name: str) -> list[Path]:
    """Writes the files of a new experiment and registers it; nothing that exists is changed."""
    if not NAME.fullmatch(name):
        raise WeaveError(f"found the name {name!r}, expected lower-case words and hyphens: my-idea")
    folder = root / "experiments" / name
    if folder.exists():
        raise WeaveError(f"experiments/{name} exists already")
    texts = {file: (TEMPLATES / file).read_text(encoding="utf-8") for file in FILES}
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text.replace("@NAME@", name).replace("@TITLE@", title(name)))
    _register(root / "experiments/meson.build", name)
    return [folder / file for file in FILES]


def title(name: str) -> str:
    """A name as the beginning of a sentence."""
    return name.replace("-", " ").capitalize()


def _register(path: Path, name: str) -> None:
    """Adds the folder behind the others."""
    text = path.read_text()
    separator = "" if not text or text.endswith("\n") else "\n"
    path.write_text(f"{text}{separator}subdir('{name}')\n")


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `new` to the command line."""
    new = commands.add_parser("new", help="start a new experiment")
    new.add_argument("name")
    new.set_defaults(command=_new)


def _new(given: argparse.Namespace) -> int:
    for path in create(given.root, given.name):
        print(path.relative_to(given.root))
    book.weave_all(given.root)
    print(f"now: just run {given.name}")
    return 0

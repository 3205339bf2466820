"""A small repository with built experiments, all of them copies of the fake program."""

import json
import sys
from pathlib import Path
from typing import Any

from memwall.record.results import Json

FAKE = Path(__file__).with_name("fake_program.py")
SLUG = "fake-cpu-2-cores"

DEFINITION = """
title = "Is fast fast?"
question = "Which of the two is faster?"
article = 0
lead = ""
needs = [{needs}]
[launch]
threads = {threads}
[budget]
tiny = 1
quick = 40
full = 400
[[claim]]
id = "{name}.fast"
article = 0
says = "Fast is clearly faster."
kind = "direction"
[[claim.condition]]
faster = "fast"
than = "slow"
expect = "clearly"
"""

SOURCE = """
int main(int argc, char** argv)
{{
    //! [{name}-slow]
    work();
    //! [{name}-slow]
    //! [{name}-fast]
    work();
    //! [{name}-fast]
}}
"""


def fake_program(path: Path, **behaviour: Any) -> Path:
    """A copy of the fake program that behaves so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{sys.executable} -IS\n" + FAKE.read_text())
    path.chmod(0o755)
    path.with_name("behaviour.json").write_text(json.dumps(behaviour))
    return path


def add_experiment(root: Path, name: str, *, needs: str = "", threads: str = "[1]",
                   **behaviour: Any) -> None:
    """An experiment with its program, which `behaviour` tells what to do."""
    folder = root / "experiments" / name
    folder.mkdir(parents=True)
    text = DEFINITION.format(name=name, needs=needs, threads=threads)
    (folder / "experiment.toml").write_text(text)
    (folder / "main.cpp").write_text(SOURCE.format(name=name))
    fake_program(root / "build/experiments" / name / name, **behaviour)


def make_tree(root: Path) -> Path:
    """A repository without experiments."""
    for folder in ("experiments", "reports", "lib"):
        (root / folder).mkdir(parents=True)
    fake_program(root / "build/lib/bench/machine")
    return root


def behave(root: Path, name: str, **behaviour: Any) -> None:
    """Changes what the program of an experiment does, but not the program."""
    path = root / "build/experiments" / name / "behaviour.json"
    path.write_text(json.dumps(behaviour))


def stored(root: Path, name: str) -> Json:
    """The result in the machine's folder."""
    return json.loads((root / "reports" / SLUG / "results" / f"{name}.json").read_text())

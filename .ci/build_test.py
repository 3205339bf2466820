"""The user's interface where builds talk: whose output goes where, and what is built when."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
JUST = shutil.which("just") or str(ROOT / ".venv/bin/just")

#: Builds its last target, and tells of it on standard output, as the real one does.
NINJA = """\
[ "$3" = build.ninja ] || echo "[1/1] linking $*"
[ "${!#}" != lib/sparse/describe ] || {
    mkdir -p build/lib/sparse
    printf '#!/bin/sh\\necho "{}"\\n' >build/lib/sparse/describe
    chmod +x build/lib/sparse/describe
}
"""


def script(path: Path, text: str) -> None:
    """An executable file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{text}\n")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout in which nothing was built, with a Ninja of our own and a Python that tells what
    it was called with."""
    tree = tmp_path / "tree"
    (tree / "experiments/alpha").mkdir(parents=True)
    shutil.copy(ROOT / "Justfile", tree)
    (tree / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/build", tree / ".ci")
    script(tree / ".ci/setup", "exit 0")
    script(tree / ".venv/bin/python", 'echo "python $*"')
    script(tmp_path / "bin/meson", 'touch "$2/build.ninja"; echo "The Meson build system"')
    script(tmp_path / "bin/ninja", NINJA)
    return tree


def just(tree: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    path = f"{tree.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([JUST, "--justfile", tree / "Justfile", *arguments], text=True, cwd=tree,
                          check=False, capture_output=True, env={**os.environ, "PATH": path})


def test_standard_output_is_the_programs(tree: Path) -> None:
    done = just(tree, "describe", "my.mtx", "--json")
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == "[1/1] linking -C build --quiet lib/sparse/describe\n"


def test_a_run_is_built_first(tree: Path) -> None:
    done = just(tree, "run", "alpha", "--profile", "tiny")
    assert done.stdout == "python -m measure run alpha --profile tiny\n"
    assert "experiments/alpha/alpha" in done.stderr


@pytest.mark.parametrize("arguments", [
    ("alpha", "--help"), ("alpha", "--profile", "tiny", "-h"), ("--help",), ("nothing",)])
def test_nothing_is_built_for_help_or_a_wrong_name(tree: Path, arguments: tuple[str, ...]) -> None:
    done = just(tree, "run", *arguments)
    assert done.stdout == f"python -m measure run {' '.join(arguments)}\n"
    assert done.stderr == ""
    assert not (tree / "build").exists()

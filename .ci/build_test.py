"""The user's interface where builds talk: whose output goes where, and what is built when."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
JUST = shutil.which("just") or str(ROOT / ".venv/bin/just")

#: Builds its last target, and tells of it on standard output, as the real one does. It knows the
#: experiment alpha, and has nothing to do for lib/done.
NINJA = """\
[ "$3" != -t ] || { printf '%s\\n' 'all: phony' 'experiments/alpha/alpha: cpp_LINKER'; exit 0; }
[ "$3" != -n ] || { [ "${!#}" != lib/done ] || echo "ninja: no work to do."; exit 0; }
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
    (tree / "experiments/alpha/experiment.toml").write_text("")
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
    assert done.stderr == ("build: build/ is new: compiling for the first time takes minutes\n"
                           "[1/1] linking -C build --quiet lib/sparse/describe\n")
    assert "is new" not in just(tree, "describe", "my.mtx").stderr


def test_nothing_is_said_where_nothing_is_to_do(tree: Path) -> None:
    just(tree, "describe", "my.mtx")
    assert just(tree, "build", "lib/done").stderr == ""


def test_a_run_is_built_first(tree: Path) -> None:
    done = just(tree, "run", "alpha", "--profile", "tiny")
    assert done.stdout == "python -m measure run alpha --profile tiny\n"
    assert "linking -C build --quiet experiments/alpha/alpha lib/bench/machine" in done.stderr


def test_what_this_machine_cannot_build_is_left_out(tree: Path) -> None:
    """Without nvcc there are no programs of GPU kernels: a study does without, a run says why."""
    (tree / "experiments/beta").mkdir()
    (tree / "experiments/beta/experiment.toml").write_text("")
    done = just(tree, "run", "beta")
    assert done.stdout == "python -m measure run beta\n"
    assert "linking -C build --quiet lib/bench/machine\n" in done.stderr
    done = just(tree, "study", "my.mtx")
    assert done.stdout == "python -m study study my.mtx\n"
    assert "gpu-variants" not in done.stderr


def test_what_must_be_there_is_asked_for(tree: Path) -> None:
    assert "--quiet experiments/beta/beta" in just(tree, "build", "experiments/beta/beta").stderr


@pytest.mark.parametrize(("recipe", "module", "arguments"), [
    ("run", "measure run", ("alpha", "--help")),
    ("run", "measure run", ("alpha", "--profile", "tiny", "-h")),
    ("run", "measure run", ("--help",)),
    ("run-all", "measure run-all", ("--help",)),
    ("study", "study study", ("--help",)),
    ("study", "study study", ()),
    ("try", "study try", ("-h",)),
    ("try", "study try", ()),
])
def test_nothing_is_built_for_help(
    tree: Path, recipe: str, module: str, arguments: tuple[str, ...]
) -> None:
    done = just(tree, recipe, *arguments)
    assert done.stdout == " ".join(["python -m", module, *arguments]) + "\n"
    assert done.stderr == ""
    assert not (tree / "build").exists()


@pytest.mark.parametrize("name", ["alpha/", "./alpha", "../lib", "..", "a b", "$(touch x)", "*",
                                  "x" * 250, "alpha\nbeta", "-h2", "alph"])
def test_what_is_no_experiment_is_no_target(tree: Path, name: str) -> None:
    """Nothing is configured or built for it, and one line says what there is."""
    for recipe in ("run", "profile", "bundle"):
        done = just(tree, recipe, name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("no experiment ") and done.stderr.count("\n") == 1
        assert done.stderr.endswith("; there are: alpha\n")
    assert not (tree / "build").exists() and not (tree / "x").exists()


def test_without_a_target_that_is_known_nothing_is_built(tree: Path) -> None:
    """Ninja without a target builds all."""
    (tree / "experiments/gpu-only").mkdir()
    (tree / "experiments/gpu-only/experiment.toml").write_text("")
    done = subprocess.run([tree / ".ci/build", "build", "experiment:gpu-only"], text=True,
                          check=False, capture_output=True,
                          env={**os.environ, "PATH": f"{tree.parent / 'bin'}:{os.environ['PATH']}"})
    assert done.returncode == 0 and "linking" not in done.stderr

"""The user's interface where builds talk: whose output goes where, and what is built when."""

import os
import shutil
import subprocess
import sys
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

#: Writes down where it was called and with which flags, as the real one does.
MESON = """\
mkdir -p "$2/meson-info" "$2/meson-private"
touch "$2/build.ninja"
python3 -c 'import json, os, sys; json.dump({"directories": {
    "source": os.getcwd(), "build": os.path.abspath(sys.argv[1])}}, sys.stdout)' "$2" \\
    >"$2/meson-info/meson-info.json"
echo "${CXXFLAGS-}${LDFLAGS-}" >"$2/flags"
echo "The Meson build system"
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
    script(tmp_path / "bin/meson", MESON)
    script(tmp_path / "bin/ninja", NINJA)
    return tree


def just(tree: Path, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return just_in(tree, tree, *arguments, **environment)


def just_in(folder: Path, tree: Path, *arguments: str,
            **environment: str) -> "subprocess.CompletedProcess[str]":
    path = f"{tree.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([JUST, "--justfile", tree / "Justfile", *arguments], text=True,
                          cwd=folder, check=False, capture_output=True,
                          env={**os.environ, "PATH": path, **environment})


def test_standard_output_is_the_programs(tree: Path) -> None:
    done = just(tree, "describe", "my.mtx", "--json")
    assert (done.returncode, done.stdout) == (0, "{}\n")
    assert done.stderr == ("build: build/ is new: compiling for the first time takes minutes\n"
                           "[1/1] linking -C build --quiet lib/sparse/describe\n")
    assert "is new" not in just(tree, "describe", "my.mtx").stderr


def test_nothing_is_said_where_nothing_is_to_do(tree: Path) -> None:
    just(tree, "describe", "my.mtx")
    assert just(tree, "build", "lib/done").stderr == ""


def test_files_and_variables_of_the_user_are_not_for_the_python_of_the_tree(tree: Path) -> None:
    """A folder with matrices may hold a random.py, and a cluster sets a Python's home."""
    script(tree / ".venv/bin/python", f'exec "{sys.executable}" "$@"')
    (tree / "memwall").mkdir()
    (tree / "memwall/__main__.py").write_text("import random, sys\nprint(sys.flags.optimize)\n")
    here = tree.parent / "matrices"
    here.mkdir()
    (here / "random.py").write_text("raise SystemExit('of the user')\n")
    variables: list[dict[str, str]] = [{}, {"PYTHONHOME": "/none"}, {"PYTHONOPTIMIZE": "2"},
                                       {"PYTHONINSPECT": "1"}]
    for variable in variables:
        for recipe in ("run", "study", "try", "keep", "compare", "grade"):
            done = just_in(here, tree, recipe, "a", "b", **variable)
            assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", ""), recipe


def build(tree: Path, *targets: str) -> "subprocess.CompletedProcess[str]":
    """Calls `.ci/build` as commands do that start programs."""
    path = f"{tree.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run([tree / ".ci/build", "build", *targets], text=True, check=False,
                          capture_output=True, env={**os.environ, "PATH": path})


def test_an_experiment_is_a_target(tree: Path) -> None:
    done = build(tree, "experiment:alpha", "lib/bench/machine")
    assert "linking -C build --quiet experiments/alpha/alpha lib/bench/machine" in done.stderr


def test_what_this_machine_cannot_build_is_left_out(tree: Path) -> None:
    """Without nvcc there are no programs of GPU kernels: a study does without, a run says why."""
    (tree / "experiments/beta").mkdir()
    (tree / "experiments/beta/experiment.toml").write_text("")
    done = build(tree, "experiment:beta", "lib/bench/machine")
    assert "linking -C build --quiet lib/bench/machine\n" in done.stderr


def test_what_must_be_there_is_asked_for(tree: Path) -> None:
    assert "--quiet experiments/beta/beta" in just(tree, "build", "experiments/beta/beta").stderr


@pytest.mark.parametrize("name", ["alpha/", "./alpha", "../lib", "..", "a b", "$(touch x)", "*",
                                  "x" * 250, "alpha\nbeta", "-h2", "alph"])
def test_what_is_no_experiment_is_no_target(tree: Path, name: str) -> None:
    """Nothing is configured or built for it, and one line says what there is."""
    for targets in ([f"experiment:{name}"], ["lib/bench/machine", f"experiment:{name}"]):
        done = build(tree, *targets)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("no experiment ") and done.stderr.count("\n") == 1
        assert done.stderr.endswith("; there are: alpha\n")
    assert not (tree / "build").exists() and not (tree / "x").exists()


def test_without_a_target_that_is_known_nothing_is_built(tree: Path) -> None:
    """Ninja without a target builds all."""
    (tree / "experiments/gpu-only").mkdir()
    (tree / "experiments/gpu-only/experiment.toml").write_text("")
    done = build(tree, "experiment:gpu-only")
    assert done.returncode == 0 and "linking" not in done.stderr


# --- what the environment may say ----------------------------------------------------------------


def test_flags_of_the_environment_are_left_out_and_named(tree: Path) -> None:
    flags = {"CXXFLAGS": "-O2 -std=c++17", "LDFLAGS": "-flto", "NVCC_APPEND_FLAGS": "-G"}
    line = "build: ignoring CXXFLAGS LDFLAGS NVCC_APPEND_FLAGS: flags come from meson.build and"
    said = just(tree, "build", "lib/x", **flags).stderr
    assert said.count(line) == 1
    assert (tree / "build/flags").read_text() == "\n"
    assert line in just(tree, "build", "lib/x", **flags).stderr  # though nothing is configured anew
    assert "ignoring" not in just(tree, "build", "lib/x", CXXFLAGS="", CPATH="/opt/include").stderr
    assert just(tree, "build", "lib/done", **flags).stderr == ""


@pytest.mark.parametrize(("variable", "value", "found"), [
    ("CXXFLAGS", "-isystem /opt/include -O2", "-O2"),
    ("CPPFLAGS", "-Wall -Wp,-D_GLIBCXX_ASSERTIONS", "-Wp,-D_GLIBCXX_ASSERTIONS"),
    ("LDFLAGS", "-L/opt/lib -Wl,-rpath,/opt/lib -flto", "-flto"),
    ("CXX", "c++ -ffast-math", "-ffast-math"),
    ("MESON_ARGS", "-Db_lto=true", "true"),
    ("MESON_ARGS", "-Dcpp_std=c++17", "c++17"),
])
def test_meson_refuses_flags_that_change_all_code(
    tmp_path: Path, variable: str, value: str, found: str
) -> None:
    """Also where somebody calls it without `.ci/build`."""
    usual = {name: value for name, value in os.environ.items()
             if name not in ("CXXFLAGS", "CPPFLAGS", "LDFLAGS", "CXX", "MESON_ARGS")}
    options = value.split() if variable == "MESON_ARGS" else []
    done = subprocess.run(
        ["meson", "setup", tmp_path / "build", ROOT, "-Dcuda=disabled", *options], text=True,
        check=False, capture_output=True, env={**usual, variable: value})
    complaint = next(line for line in done.stdout.splitlines() if "ERROR:" in line)
    assert done.returncode != 0
    assert found in complaint


# --- trees that move ------------------------------------------------------------------------------


def measured(tree: Path) -> Path:
    """Something in a build directory that is no part of the build."""
    result = tree / "build/runs/alpha/result.json"
    result.parent.mkdir(parents=True)
    result.write_text("{}")
    return result


@pytest.mark.parametrize("name", ["copy", 'a "copy" \\ é \U0001f422'])
def test_a_copy_builds_in_itself(tree: Path, name: str) -> None:
    just(tree, "build", "lib/x")
    measured(tree)
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*")}
    copy = tree.parent / name
    shutil.copytree(tree, copy, symlinks=True)
    said = just(copy, "build", "lib/x").stderr
    assert said == (f"build: build/ was made as {tree}/build: configuring it anew\n"
                    "[1/1] linking -C build --quiet lib/x\n")
    assert (copy / "build/runs/alpha/result.json").exists()
    assert "configuring" not in just(copy, "build", "lib/x").stderr
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*")} == before


def test_a_moved_tree_builds(tree: Path) -> None:
    just(tree, "build", "lib/x")
    result = measured(tree)
    moved = tree.rename(tree.parent / "moved")
    assert "configuring it anew" in just(moved, "build", "lib/x").stderr
    assert (moved / result.relative_to(tree)).exists()
    assert "configuring" not in just(moved, "build", "lib/x").stderr


def test_a_build_directory_may_be_copied_alone_or_in_part(tree: Path) -> None:
    just(tree, "build", "lib/x")
    shutil.copytree(tree / "build", tree / "build-two")
    build = [str(tree / ".ci/build"), "build-two", "lib/x"]
    path = f"{tree.parent / 'bin'}:{os.environ['PATH']}"
    for lost in ("nothing", "meson-info"):
        shutil.rmtree(tree / "build-two" / lost, ignore_errors=True)
        done = subprocess.run(build, text=True, check=True, capture_output=True,
                              env={**os.environ, "PATH": path})
        assert "build: build-two/ was made as" in done.stderr


def test_a_tree_seen_through_a_link_is_the_same_tree(tree: Path) -> None:
    just(tree, "build", "lib/x")
    link = tree.parent / "link"
    link.symlink_to(tree)
    assert "anew" not in just(link, "build", "lib/x").stderr

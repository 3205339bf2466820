"""What is built before a command starts programs, and when nothing is."""

from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.run.tests.fake_tree import add_experiment, make_tree
from memwall.run.workspace import Workspace, describe_machine

MATRIX = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"
#: Writes down what it was asked for, and whether that can be had.
BUILD = """\
#!/bin/sh
shift
echo "$*" >>{log}
[ ! -e {broken} ]
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose builds only write down what was asked for."""
    tree = make_tree(tmp_path / "tree")
    add_experiment(tree, "alpha")
    add_experiment(tree, "machine-ceilings", unique=True)
    add_experiment(tree, "spmv-mpi-partitioning")
    build = tree / ".ci/build"
    build.parent.mkdir()
    build.write_text(BUILD.format(log=tree / "asked", broken=tree / "broken"))
    build.chmod(0o755)
    (tree / "my.mtx").write_text(MATRIX)
    (tree / "my.cpp").write_text("")
    monkeypatch.chdir(tree)
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)
    return tree


def asked(root: Path) -> list[str]:
    """What builds were asked for."""
    log = root / "asked"
    return log.read_text().splitlines() if log.exists() else []


def call(root: Path, *words: str) -> int | str | None:
    """Calls a command; its exit code."""
    try:
        return main(["--root", str(root), *words])
    except SystemExit as ended:
        return ended.code


@pytest.mark.parametrize(("words", "targets"), [
    (["run", "alpha", "--profile", "tiny"], "experiment:alpha lib/bench/machine"),
    (["run", "alpha", "--list"], "experiment:alpha lib/bench/machine"),
    (["machine"], "experiment:machine-ceilings lib/bench/machine"),
    (["run-all"], "programs"),
    (["slurm", "2"], "experiment:spmv-mpi-partitioning lib/bench/machine"),
    (["folder"], "lib/bench/machine"),
    (["study", "my.mtx"], "lib/sparse/describe lib/distributed/anatomy lib/bench/machine"
     " experiment:spmv-plan experiment:spmv-serial-steps experiment:spmv-omp-schedules"
     " experiment:spmv-gpu-variants"),
    (["try", "my.cpp", "--as", "spmv"], "lib/bench/machine experiment:spmv-serial-steps"
     " experiment:spmv-omp-schedules"),
])
def test_a_command_builds_what_it_starts(root: Path, words: list[str], targets: str) -> None:
    (root / "broken").touch()
    assert call(root, *words) == 1
    assert asked(root) == [targets]


@pytest.mark.parametrize("words", [
    ["run", "alpha", "--help"], ["run", "alpha", "--profile", "tiny", "-h"], ["run", "--help"],
    ["run"], ["run", "alph"], ["run", "../lib"], ["run", "$(touch x)"], ["run", "alpha\nbeta"],
    ["profile", "alph", "--result", "x"], ["run-all", "--help"], ["run-all", "--ful"],
    ["machine", "--help"], ["study", "--help"], ["study"], ["study", "my.txt"], ["try", "-h"],
    ["try"], ["try", "none.cpp", "--as", "spmv"], ["slurm", "no-number"],
])
def test_nothing_is_built_for_help_or_for_what_is_not_there(root: Path, words: list[str]) -> None:
    call(root, *words)
    assert asked(root) == [] and not (root / "x").exists()


def test_programs_of_another_folder_are_there_already(root: Path) -> None:
    workspace = Workspace(root, root / "elsewhere")
    workspace.build_programs("programs")
    assert asked(root) == []


def test_an_archive_brings_its_programs(root: Path) -> None:
    (root / ".ci/build").unlink()
    assert describe_machine(Workspace(root, root / "build"))["slug"] == "fake-cpu-2-cores"

"""`run NAME --help`: where nothing was built, where it was, and in a bundle."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.record import definition
from memwall.run import bundle
from memwall.run import run_one as run
from memwall.run.programs import ProgramFailed
from memwall.run.tests.fake_tree import add_experiment, make_tree
from memwall.run.tests.run_test import run_one
from memwall.run.workspace import Workspace

LIB = Path(__file__).resolve().parents[3] / "lib"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = make_tree(tmp_path / "tree")
    add_experiment(tree, "alpha", threads="[1, 2]")
    monkeypatch.chdir(tree)
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)
    return tree


def test_help_needs_no_program(root: Path) -> None:
    (root / "build/experiments/alpha/alpha").unlink()
    code, said = run_one(root, "alpha", "--samples", "3", "--help")
    assert code == 0
    assert "\n".join(said) == """\
just run alpha [OPTION ...]

Which of the two is faster?

Processes that measure it here: threads=1; threads=2.

Options of the runner:
  --profile NAME              how large and how long: tiny, quick, book, full; default: quick
  --threads N                 threads of each process, in place of those above
  --resume FOLDER             go on with an interrupted run, with the options it began with

Options of every program:
  --samples N                 rounds of samples (tiny 3, quick and book 7, full 21)
  --min-time SECONDS          least length of a warm sample; a short call is repeated to fill it
  --seed N                    of values and of the order of variants
  --filter REGEX              variants to measure
  --precision TYPE ...        element types, of experiments that have several
  --list                      print axes and variants, measure nothing

Every axis is an option too, such as --matrix. Axes and further options are known to the
program alone, which was not built. `just run alpha --list` builds it and prints axes and
variants; then --help prints all options."""
    assert not (root / "build/runs").exists()


def test_ranks_are_offered_where_there_are_any(root: Path) -> None:
    alpha = definition.load(root, "alpha")
    workspace = Workspace(root, root / "build")
    assert "--ranks" not in run.help_text(workspace, alpha)
    assert "--ranks N ..." in run.help_text(workspace, replace(alpha, launch={"ranks": [1]}))


#: As CLI11 prints it.
PROGRAMS_HELP = """\
alpha
Usage: alpha [OPTIONS]

Options:
  -h,--help                   Print this help message and exit
  --profile TEXT:{tiny,quick,book,full}=quick
                              how large and how long
  --samples INT:POSITIVE      rounds of samples (tiny 3, quick and book 7, full 21)
  --output TEXT=alpha.json    result file
  --events TEXT               socket of a runner
  --matrix TEXT ...           values of this axis
  --precision TEXT:{fp32,fp64} ...
                              element types
"""


def test_a_program_that_was_built_tells_its_own_options(root: Path) -> None:
    program = root / "build/experiments/alpha/alpha"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{PROGRAMS_HELP}END\n")
    said = run_one(root, "alpha", "--help")[1]
    assert said[said.index("Options of the program:") + 1:] == [
        "  --samples INT:POSITIVE      rounds of samples (tiny 3, quick and book 7, full 21)",
        "  --matrix TEXT ...           values of this axis",
        "  --precision TEXT:{fp32,fp64} ...",
        "                              element types",
    ]
    assert "--profile NAME" in "\n".join(said)


def test_a_program_that_cannot_start_is_as_none(root: Path) -> None:
    (root / "build/experiments/alpha/alpha").write_text("#!/bin/sh\nexit 127\n")
    assert "Options of every program:" in run_one(root, "alpha", "--help")[1]


def test_every_program_has_the_options_that_are_told() -> None:
    harness = "".join(path.read_text() for path in LIB.glob("bench/*.cpp"))
    for option in (*run.OWNED, *(line.split()[0] for line, _ in run.OF_EVERY_PROGRAM)):
        assert f'"{option}"' in harness, option


def test_a_list_needs_a_program(root: Path) -> None:
    (root / "build/experiments/alpha/alpha").unlink()
    with pytest.raises(ProgramFailed, match="alpha was not built: no file build/experiments/"):
        run_one(root, "alpha", "--list")


def test_what_a_program_is_built_with_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    add_experiment(root, "beta", needs='"nvcc", "cuda"')
    (root / "build/experiments/beta/beta").unlink()
    with pytest.raises(ProgramFailed, match="^beta was not built: no nvcc here$"):
        run_one(root, "beta")


@pytest.mark.parametrize("arguments", [("run", "alpha", "--help"), ("run", "--help"),
                                       ("run-all", "--help")])
def test_a_bundle_offers_what_its_runner_takes(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    try:
        assert bundle.main(root, list(arguments)) == 0
    except SystemExit as end:
        assert end.code == 0
    said = capsys.readouterr().out
    assert f"./{arguments[0]} " in said
    for other in ("just ", "--full", "--build", "bundle", "--root", *run.OWNED):
        assert other not in said, other
    if arguments == ("run", "--help"):
        assert "one of: alpha" in said
    if arguments == ("run-all", "--help"):
        assert "--machine" in said


def test_the_command_line_helps_without_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["run", "--help"])
    said = capsys.readouterr().out
    assert said.startswith("usage: just run NAME [OPTION ...]\n")
    assert "just run NAME --help tells the options of an experiment" in said

"""`run NAME`: one experiment into a folder of its own."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.pages import book
from memwall.record import definition, results
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run.programs import ProgramFailed
from memwall.run.run_one import WeavePage, _launches, _runner_options
from memwall.run.run_one import run_one as measure_and_weave
from memwall.run.tests.fake_tree import add_experiment, make_tree
from memwall.run.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = make_tree(tmp_path / "tree")
    monkeypatch.chdir(tree)
    return tree


def run_one(
    root: Path, name: str, *arguments: str, weave: WeavePage | None = book.weave_page
) -> tuple[int, list[str]]:
    stream = io.StringIO()
    workspace = Workspace(root, root / "build")
    code = measure_and_weave(workspace, name, list(arguments), Console(stream), weave)
    return code, stream.getvalue().splitlines()


def test_the_page_is_the_last_line(root: Path) -> None:
    add_experiment(root, "alpha")
    code, said = run_one(root, "alpha", "--profile", "tiny")
    assert code == 0
    assert said[-1].startswith("build/runs/alpha-") and said[-1].endswith("/alpha.md")
    assert "tiny profile" in (root / said[-1]).read_text()


def test_without_a_weaver_the_result_is_the_last_line(root: Path) -> None:
    add_experiment(root, "alpha")
    code, said = run_one(root, "alpha", "--profile", "tiny", weave=None)
    assert code == 0
    assert said[-1].startswith("build/runs/alpha-") and said[-1].endswith("/result.json")
    assert (root / said[-1]).exists()


def test_no_folder_of_a_machine_is_touched(root: Path) -> None:
    add_experiment(root, "alpha")
    run_one(root, "alpha")
    assert list((root / "reports").iterdir()) == []


def test_time_left_is_the_budgets_only_of_a_whole_run(root: Path) -> None:
    """Some of an experiment, or more rounds: what that takes is known from its first point on."""
    add_experiment(root, "alpha", points=3)
    whole = run_one(root, "alpha", "--profile", "tiny")[1]
    assert ["left" in line for line in whole if "point" in line] == [True, True, True]
    for option, value in (("--samples", "4"), ("--threads", "1")):
        narrowed = run_one(root, "alpha", "--profile", "tiny", option, value)[1]
        assert ["left" in line for line in narrowed if "point" in line] == [False, True, True]


def test_runs_of_the_same_second_do_not_meet(root: Path) -> None:
    add_experiment(root, "alpha")
    pages = {run_one(root, "alpha", "--profile", "tiny")[1][-1] for _ in range(3)}
    assert len(pages) == 3


def test_threads_replace_the_launch_axis(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    add_experiment(root, "alpha", threads='[1, "max"]', log=str(log))
    run_one(root, "alpha", "--threads", "3")
    assert {turn.split()[0] for turn in log.read_text().splitlines()} == {"3"}


@pytest.mark.parametrize(("asked", "labels"), [
    ([], ["ranks=1 threads=1", "ranks=1 threads=4", "ranks=2 threads=1", "ranks=4 threads=1"]),
    (["--ranks", "1"], ["ranks=1 threads=1", "ranks=1 threads=4"]),
    (["--ranks", "4", "7"], ["ranks=4 threads=1", "ranks=7 threads=1"]),
    (["--ranks", "2", "--threads", "2"], ["ranks=2 threads=2"]),
])
def test_ranks_pick_launches_or_ask_for_others(
    root: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str], labels: list[str]
) -> None:
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 4)
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    add_experiment(root, "alpha", threads='[1, "max"]')
    alpha = definition.load(root, "alpha")
    ranked = replace(alpha, launch={**alpha.launch, "ranks": ["powers"]})
    options, _ = _runner_options(asked)
    assert [launch.label() for launch in _launches(ranked, options)] == labels
    if asked[:1] == ["--ranks"]:
        with pytest.raises(UserError, match="--ranks: alpha is measured by one process"):
            _launches(alpha, options)


def test_tasks_of_slurm_are_ranks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)
    monkeypatch.setenv("SLURM_NTASKS", "4")
    add_experiment(root, "alpha", threads='[1]')
    alpha = replace(definition.load(root, "alpha"), launch={"ranks": ["powers"]})
    labels = [launch.label() for launch in _launches(alpha, _runner_options([])[0])]
    assert labels == ["ranks=1 threads=1", "ranks=2 threads=1", "ranks=4 threads=1"]


def test_a_wrong_variant_is_told_and_woven(root: Path) -> None:
    add_experiment(root, "alpha", fail=True)
    code, said = run_one(root, "alpha")
    assert code == 1
    assert "alpha (threads=1): exit code 1: fast: the result is wrong" in said
    assert (root / said[-1]).exists()


def test_what_seems_faster_than_memory_is_measured_again(root: Path) -> None:
    """Its neighbours left the machine to it only after the ceilings."""
    add_experiment(root, "alpha", points=1, cold_beside=[1, 1e-4])
    code, said = run_one(root, "alpha", "--samples", "4")
    assert code == 0
    assert "alpha: more rounds to decide whether a cold case is faster than memory" in said
    result = results.load((root / said[-1]).with_name("result.json"))
    assert result.run["looks"] == [4, 8]
    assert {len(case.samples) for case in result.cases} == {12}
    assert "--again" not in result.run["arguments"]


def test_what_seems_faster_than_memory_is_measured_again_without_a_weaver(root: Path) -> None:
    add_experiment(root, "alpha", points=1, cold_beside=[1, 1])
    code, said = run_one(root, "alpha", weave=None)
    assert code == 0
    assert results.load(root / said[-1]).run["looks"] == [3, 6]


def test_what_is_faster_than_memory_twice_is_marked(root: Path) -> None:
    add_experiment(root, "alpha", points=1, cold_beside=[1, 1])
    code, said = run_one(root, "alpha")
    assert code == 0
    page = (root / said[-1]).read_text(encoding="utf-8")
    assert "Doubtful, and counted in no verdict: `fast`: 157 % of the fastest pass of" in page


def test_a_users_error_is_the_programs(root: Path) -> None:
    add_experiment(root, "alpha", refuse="a.mtx:7: found '?', expected a row index")
    with pytest.raises(ProgramFailed, match=r"a\.mtx:7: found") as caught:
        run_one(root, "alpha")
    assert caught.value.code == 2


@pytest.mark.parametrize(
    "option", ["--output=x.json", "--events", "--later", "--again", "--output"]
)
def test_options_of_the_protocol_are_refused(root: Path, option: str) -> None:
    add_experiment(root, "alpha")
    with pytest.raises(UserError, match="runner's own"):
        run_one(root, "alpha", option)


def test_an_unknown_experiment_is_named(root: Path) -> None:
    for name in ("beta", "alpha"):
        add_experiment(root, name)
    with pytest.raises(UserError, match="^no experiment 'nothing'; there are: alpha, beta$"):
        run_one(root, "nothing")

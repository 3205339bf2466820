"""`run NAME --resume FOLDER`: what an interruption leaves, and that the run goes on from there."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from memwall.record import files, results
from memwall.record.errors import UserError
from memwall.run import bundle
from memwall.run.programs import ProgramFailed
from memwall.run.tests.fake_tree import add_experiment, behave, make_tree
from memwall.run.tests.run_all_test import ROOT, wait_for
from memwall.run.tests.run_test import run_one


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = make_tree(tmp_path / "tree")
    monkeypatch.chdir(tree)
    return tree


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def start(root: Path, *arguments: str) -> "subprocess.Popen[str]":
    """The real command line, to be stopped."""
    return subprocess.Popen([sys.executable, "-m", "memwall", "--root", root, "run", *arguments],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=root,
                            env={**os.environ, "PYTHONPATH": str(ROOT)})


def stopped(root: Path, log: Path, stop: signal.Signals, *arguments: str) -> tuple[int, str]:
    """A run that is stopped in its second point of three; its exit code and what it said."""
    add_experiment(root, "alpha", points=3, pause_s=0.05, log=str(log))
    with start(root, "alpha", *arguments) as process:
        wait_for(log, 7)
        process.send_signal(stop)
        said = process.communicate()[0]
    log.unlink()
    return process.returncode, said


def runs(root: Path) -> list[Path]:
    return list((root / "build/runs").iterdir())


def rounds(log: Path) -> set[str]:
    """The points of which rounds were measured."""
    return {turn.split()[2] for turn in log.read_text().splitlines() if " round " in turn}


def command(said: str) -> list[str]:
    """What a message tells to call, less `just run`."""
    found = re.search(r"just run (.*)", said)
    assert found, said
    return shlex.split(found[1])


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_says_how_to_go_on(root: Path, log: Path, stop: signal.Signals) -> None:
    code, said = stopped(root, log, stop, "--samples", "4", "--profile=tiny")
    folder, = runs(root)
    assert code == 130
    last = f"interrupted; to go on: just run alpha --resume build/runs/{folder.name}"
    assert said.splitlines()[-1] == last

    code, lines = run_one(root, *command(said))
    assert code == 0
    assert lines[-1] == f"build/runs/{folder.name}/alpha.md"
    assert rounds(log) == {"1", "2"}
    result = results.load(folder / "result.json")
    assert (len(result.cases), result.run["rounds"], result.run["profile"]) == (6, 4, "tiny")
    assert runs(root) == [folder]


def test_after_kill_9_the_same_command_names_what_is_left(root: Path, log: Path) -> None:
    code, said = stopped(root, log, signal.SIGKILL)
    folder, = runs(root)
    assert code == -signal.SIGKILL and "--resume" not in said
    wait_for_programs(folder)
    log.unlink(missing_ok=True)  # the program still ended its turn

    code, lines = run_one(root, "alpha")  # which begins anew
    assert lines[0] == ("alpha: begins anew; to go on with the same run that was interrupted: just"
                        f" run alpha --resume build/runs/{folder.name}")
    assert rounds(log) == {"0", "1", "2"}
    assert "begins anew" not in run_one(root, "alpha", "--samples", "4")[1][0]

    log.unlink()
    assert run_one(root, *command(lines[0]))[0] == 0
    assert rounds(log) == {"1", "2"}
    assert "begins anew" not in run_one(root, "alpha")[1][0]  # nothing is unfinished now


def wait_for_programs(folder: Path) -> None:
    """A killed runner leaves programs that notice at the end of their turn."""
    with files.exclusive(folder):
        pass


def test_a_program_that_died_goes_on(root: Path, log: Path) -> None:
    add_experiment(root, "alpha", points=3, kill_at=1, log=str(log))
    with pytest.raises(ProgramFailed, match="killed by SIGKILL"):
        run_one(root, "alpha")
    folder, = runs(root)
    log.unlink()
    assert run_one(root, "alpha", "--resume", str(folder))[0] == 0
    assert rounds(log) == {"1", "2"}


def test_a_program_that_died_says_how_to_go_on(root: Path) -> None:
    """After a user's error nothing is left to go on with."""
    add_experiment(root, "alpha", kill_at=1)
    add_experiment(root, "beta", refuse="no such matrix")
    kept = ("what was measured is kept; with the same build, to go on: just run alpha --resume"
            " build/runs/alpha-")
    with start(root, "alpha") as process:
        assert kept in process.communicate()[0]
    with start(root, "beta") as process:
        assert process.communicate()[0] == "beta (threads=1): exit code 2: no such matrix\n"


def finished(root: Path, log: Path, **behaviour: Any) -> Path:
    """A run of two processes that came to its end; its folder."""
    add_experiment(root, "alpha", threads="[1, 2]", log=str(log), **behaviour)
    run_one(root, "alpha")
    log.unlink()
    folder, = runs(root)
    return folder


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("fails", [False, True])
def test_a_process_that_has_finished_is_not_started_again(
        root: Path, log: Path, fails: bool) -> None:
    folder = finished(root, log, fail=fails)
    for name in ("launch-1.json", "result.json"):
        (folder / name).unlink()
    code, lines = run_one(root, "alpha", "--resume", str(folder))
    assert {turn.split()[0] for turn in log.read_text().splitlines()} == {"2"}
    assert len(results.load(folder / "result.json").raw["launches"]) == 2
    assert code == fails
    failures = [f"alpha (threads={n}): exit code 1: fast: the result is wrong" for n in (1, 2)]
    assert [line for line in lines if "wrong" in line] == (failures if fails else [])


@pytest.mark.usefixtures("two_threads")
def test_a_finished_run_stays_what_it_is(root: Path, log: Path) -> None:
    folder = finished(root, log)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run_one(root, "alpha", "--resume", str(folder))[0] == 0
    assert not log.exists()
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("left", ["", "more/launch-0.json", "more/result.json"])
def test_a_further_look_is_taken_once(root: Path, log: Path, left: str) -> None:
    """Wherever the second half was interrupted, which measures what seemed faster than memory."""
    add_experiment(root, "alpha", points=1, cold_beside=[1, 1e-4], log=str(log))
    run_one(root, "alpha")
    folder, = runs(root)
    log.unlink()
    for path in (folder / "more").iterdir():
        if left != str(path.relative_to(folder)) and not (left and path.suffix == ".stderr"):
            path.unlink()
    if left.endswith("result.json"):
        shutil.copy(folder / left, folder / "more/launch-0.json")
    assert run_one(root, "alpha", "--resume", str(folder))[0] == 0
    assert results.load(folder / "result.json").run["looks"] == [3, 6]
    turns = log.read_text().splitlines() if log.exists() else []
    assert all(turn.endswith(" again") for turn in turns)
    assert bool(turns) == (not left)


def _other_program(root: Path) -> None:
    program = root / "build/experiments/alpha/alpha"
    program.write_text(program.read_text() + "# changed\n")


def _other_threads(root: Path) -> None:
    path = root / "experiments/alpha/experiment.toml"
    path.write_text(path.read_text().replace("threads = [1]", 'threads = [1]\nOMP_PLACES = ["x"]'))


def _elsewhere(root: Path) -> None:
    (root / "other").mkdir()
    os.chdir(root / "other")


REFUSED = {
    "another build": (_other_program, "was measured by another build of the program: begin anew"),
    "other processes": (_other_threads, "has the processes threads=1; now they would be threads=1"
                                        " OMP_PLACES=x: begin anew"),
    "another folder": (_elsewhere, "began in another folder: cd {root}"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_only_the_same_goes_on(root: Path, log: Path, name: str) -> None:
    stopped(root, log, signal.SIGINT)
    folder, = runs(root)
    journal = (folder / "launch-0.json.journal").read_bytes()
    change, said = REFUSED[name]
    change(root)
    with pytest.raises(UserError, match=re.escape(said.format(root=root))):
        run_one(root, "alpha", "--resume", str(folder))
    assert (folder / "launch-0.json.journal").read_bytes() == journal


def test_what_is_no_run_does_not_go_on(root: Path) -> None:
    for name in ("alpha", "beta"):
        add_experiment(root, name)
    run_one(root, "alpha")
    folder = str(runs(root)[0])
    (root / "broken").mkdir()
    (root / "broken/run.json").write_text(json.dumps({"experiment": "alpha"}))
    for arguments, said in (
        (("alpha", "--resume", "nothing"), "found nothing, expected the folder of a run"),
        (("alpha", "--resume", "broken"), "found broken, expected the folder of a run"),
        (("beta", "--resume", folder), "is a run of alpha, not of beta"),
        (("alpha", "--resume"), "expected one argument"),
        (("alpha", "--resume", folder, "--threads", "2"), "expected no others"),
        (("alpha", "--samples", "3", f"--resume={folder}"), "expected no others"),
    ):
        with pytest.raises(UserError, match=re.escape(said)):
            run_one(root, *arguments)
    assert len(runs(root)) == 1


def test_two_do_not_go_on_at_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_experiment(root, "alpha")
    run_one(root, "alpha")
    folder, = runs(root)
    clock = iter(range(0, 1000, 20))
    with files.exclusive(folder):
        monkeypatch.setattr("time.monotonic", lambda: next(clock))
        with pytest.raises(UserError, match=f"another run is at work in build/runs/{folder.name}"):
            run_one(root, "alpha", "--resume", str(folder))


def test_a_file_system_without_locks_will_do(
        root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    add_experiment(root, "alpha")
    assert run_one(root, "alpha")[0] == 0


def test_a_bundle_names_its_own_command(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add_experiment(root, "alpha", kill_at=1)
    assert bundle.main(root, ["run", "alpha"]) == 1
    folder, = runs(root)
    resume = f"./run alpha --resume build/runs/{folder.name}"
    assert capsys.readouterr().out.endswith(f"to go on: {resume}\n")
    behave(root, "alpha")
    assert bundle.main(root, ["run", *resume.split()[1:]]) == 0

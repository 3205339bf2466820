"""What is measured belongs to a machine and a profile, and is lost to no other and to no limit."""

import contextlib
import errno
import inspect
import io
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.pages import contribute
from memwall.record import files, results
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run import run_one as run
from memwall.run.programs import ProgramFailed
from memwall.run.run_all import run_all
from memwall.run.tests.fake_tree import SLUG, add_experiment, behave, make_tree
from memwall.run.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree")


def all_of(root: Path, machine: str, profile: str = "quick") -> int:
    workspace = Workspace(root, root / "build")
    return run_all(workspace, profile, machine, Console(io.StringIO()), None)


def one_of(root: Path, *arguments: str) -> int:
    workspace = Workspace(root, root / "build")
    return run.run_one(workspace, "alpha", list(arguments), Console(io.StringIO()), None)


def test_an_unfinished_run_is_kept_while_another_machine_is_measured(root: Path) -> None:
    log = root / "log"
    add_experiment(root, "alpha", log=str(log), points=1)
    add_experiment(root, "beta", fail=True, points=1)
    assert all_of(root, "one") == 1
    assert all_of(root, "two") == 1
    assert all_of(root, "one", "full") == 1
    measured = log.read_text()
    behave(root, "beta", points=1)
    assert all_of(root, "one", "full") == 0
    assert log.read_text() == measured  # alpha was not measured again
    assert (root / "build/run-all/two/quick/alpha/result.json").exists()


def test_a_damaged_state_deletes_nothing(root: Path) -> None:
    add_experiment(root, "alpha", fail=True, points=1)
    assert all_of(root, "one") == 1
    folder = root / "build/run-all/one/quick"
    before = sorted(path.name for path in (folder / "alpha").iterdir())
    files.write(folder / "state.json", '{"alpha"')
    with pytest.raises(UserError, match=r"state\.json: not JSON"):
        all_of(root, "one")
    assert sorted(path.name for path in (folder / "alpha").iterdir()) == before


def test_processes_that_finished_are_not_measured_again(root: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    log = root / "log"
    add_experiment(root, "alpha", log=str(log), points=1)
    write = files.write

    def full(path: Path, content: str | bytes) -> None:
        if path.name == "result.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, content)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", full)
        assert all_of(root, "one") == 1
    measured = log.read_text()
    assert all_of(root, "one") == 0
    assert log.read_text() == measured
    with (root / "build/experiments/alpha/alpha").open("a") as program:
        program.write("# built again\n")
    assert all_of(root, "one") == 0
    assert log.read_text() == 2 * measured


@pytest.mark.parametrize("said", ["[]", "", "{}", '{"slug": "x"}'])
def test_a_program_that_does_not_know_the_machine(root: Path, said: str,
                                                  capsys: pytest.CaptureFixture[str]) -> None:
    machine = root / "build/lib/bench/machine"
    machine.write_text(f"#!/bin/sh\necho '{said}'\n")
    assert main(["--root", str(root), "run-all"]) == 2
    machine.write_text("#!/no/such/interpreter\n")
    assert main(["--root", str(root), "run-all"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "bench/machine" in first and "bench/machine: No such file" in second


def test_many_open_files_hinder_no_run(root: Path) -> None:
    add_experiment(root, "alpha", points=1)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
    try:
        with contextlib.ExitStack() as stack:
            for _ in range(1100):
                stack.enter_context(open(os.devnull))
            assert one_of(root) == 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.mark.parametrize("text", ["[]", "7", "null", '{"one/quick/alpha": "long"}',
                                  '{"one/quick/alpha": NaN}', '{"one/quick/alpha": 1e999}'])
def test_damaged_notes_are_named(root: Path, text: str) -> None:
    add_experiment(root, "alpha", points=1)
    assert all_of(root, "one") == 0
    files.write(root / "build/run-all/durations.json", text)
    with pytest.raises(UserError, match=r"durations\.json: "):
        all_of(root, "one")


def test_what_a_killed_command_left_is_not_sent(root: Path) -> None:
    add_experiment(root, "alpha", points=1)
    assert all_of(root, SLUG) == 0
    folder = root / "reports" / SLUG
    (folder / "results/.0123456789ab.part").write_text("{")
    assert list(contribute.unreadable(folder, [])) == []
    assert contribute.pack(folder, root / "build/packed.tar.gz") == 1


def test_what_is_measured_has_no_limit_of_bytes(root: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    add_experiment(root, "alpha", points=1)
    monkeypatch.setattr(results, "LARGEST_BYTES", 100)
    assert one_of(root) == 0
    assert all_of(root, SLUG) == 0
    stored = root / "reports" / SLUG / "results/alpha.json"
    assert [line for line in contribute.unreadable(stored.parents[1], []) if "100 of" in line]


@pytest.mark.parametrize(("arguments", "said"), [
    (["--filter", "zzz"], "alpha: measured nothing: no variant has the name that was asked for"),
    (["--threads", "0"], "--threads: found '0', expected a whole number from 1 to"),
    (["--threads", "nan"], "--threads: found 'nan'"),
    (["--threads", "9" * 300], "--threads: found '9{40}...'"),
    (["--threads", "1", "--threads", "2"], "--threads: found it twice"),
    (["--profile=tiny", "--profile", "full"], "--profile: found it twice"),
])
def test_a_run_of_nothing_is_no_success(root: Path, arguments: list[str], said: str) -> None:
    add_experiment(root, "alpha", points=1)
    with pytest.raises(UserError, match=said):
        one_of(root, *arguments)


@pytest.mark.parametrize("ranks", ["0", "-1", "1.5", "x", ""])
def test_ranks_are_counted(root: Path, ranks: str) -> None:
    add_experiment(root, "alpha", points=1)
    path = root / "experiments/alpha/experiment.toml"
    files.write(path, files.read(path).replace("[launch]", "[launch]\nranks = [1]"))
    with pytest.raises(UserError, match=f"--ranks: found '{ranks}', expected a whole number"):
        one_of(root, "--ranks", ranks)


def test_what_was_skipped_is_told(root: Path) -> None:
    add_experiment(root, "alpha", points=1, skip="no such instructions here")
    with pytest.raises(ProgramFailed, match="nothing: all was skipped: no such instru") as error:
        one_of(root)
    assert error.value.code == 1


def test_who_writes_pages_is_alone(root: Path, monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    add_experiment(root, "alpha", points=1)
    assert all_of(root, SLUG) == 0
    result = str(root / "reports" / SLUG / "results/alpha.json")
    holder = subprocess.Popen(
        [sys.executable, "-c", "import sys; from pathlib import Path\n"
         "from memwall.pages import book\n"
         "with book.alone(Path(sys.argv[1])): print(flush=True); sys.stdin.read()", root],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)})
    with holder:
        assert holder.stdout and holder.stdout.readline()
        monkeypatch.setattr(inspect.unwrap(files.exclusive), "__defaults__", (0.1,))
        for command in (["keep", result, "mine"], ["report"], ["new", "other"]):
            assert main(["--root", str(root), *command]) == 2
            assert "another run is at work in" in capsys.readouterr().err
        assert not (root / "experiments/other").exists()
        holder.kill()

"""`run-all`: the plan, what is stored, failures, interruptions, and what people see of it."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from memwall.pages import book
from memwall.record import console, machines
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run import bundle
from memwall.run.run_all import WeaveMachine, run_all
from memwall.run.tests.fake_tree import SLUG, add_experiment, behave, make_tree, stored
from memwall.run.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(root: Path, profile: str = "quick", slug: str | None = None,
        stream: io.StringIO | None = None,
        weave: WeaveMachine | None = book.weave_machine, named: Sequence[str] = ()
        ) -> tuple[int, str]:
    stream = stream or io.StringIO()
    code = run_all(Workspace(root, root / "build"), profile, slug, Console(stream), weave, named)
    return code, stream.getvalue()


def start(root: Path, *arguments: str) -> "subprocess.Popen[str]":
    """The real command line, to be killed."""
    command = [sys.executable, "-m", "memwall", "--root", str(root), "run-all", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, "PYTHONPATH": str(ROOT)})


def wait_for(path: Path, lines: int) -> None:
    deadline = time.monotonic() + 30
    while not path.exists() or len(path.read_text().splitlines()) < lines:
        assert time.monotonic() < deadline, f"{path} has not come to {lines} lines"
        time.sleep(0.01)


def test_without_a_weaver_results_wait(root: Path) -> None:
    add_experiment(root, "alpha", threads="[1]")
    code, said = run(root, weave=None)
    assert code == 0
    assert "nothing failed" in said
    assert stored(root, "alpha")["run"]["profile"] == "quick"
    assert not (root / "reports/README.md").exists()
    assert not (root / "build/reports").exists()


def test_a_bundle_says_how_results_come_home(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_experiment(root, "alpha", threads="[1]")
    assert bundle.main(root, ["run-all", "--profile", "tiny", "--machine", "far-away"]) == 0
    assert "just report far-away" in capsys.readouterr().out
    assert (root / "reports/far-away/results/alpha.json").exists()
    assert bundle.main(root, ["run-all", "--machine", "Far Away"]) == 2


def test_in_a_bundle_one_experiment_can_be_measured(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    add_experiment(root, "alpha", threads="[1]")
    assert bundle.main(root, ["run", "alpha", "--profile", "tiny"]) == 0
    assert "just keep RESULT TITLE" in capsys.readouterr().out
    assert len(list(root.glob("build/runs/alpha-*/result.json"))) == 1
    assert list((root / "reports").iterdir()) == []


def test_in_a_bundle_a_users_error_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_experiment(root, "alpha", threads="[1]", refuse="--samples: found 'x', expected a number")
    assert bundle.main(root, ["run", "alpha"]) == 2
    assert "--samples: found 'x'" in capsys.readouterr().err


def test_in_a_bundle_a_processor_must_know_the_instructions(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    add_experiment(root, "alpha", threads="[1]")
    machine = root / "build/lib/bench/machine"
    machine.write_text(machine.read_text().replace('["avx2", "fma"]', '["avx2"]'))
    assert bundle.main(root, ["run-all"]) == 2
    assert "lacks fma" in capsys.readouterr().err
    assert bundle.main(root, ["run", "alpha"]) == 2
    assert "lacks fma" in capsys.readouterr().err


def test_named_experiments_are_measured_alone(root: Path) -> None:
    for name in ("alpha", "beta", "gamma"):
        add_experiment(root, name, threads="[1]", log=str(root / f"{name}.log"))
    code, said = run(root, weave=None, named=("beta",))
    assert (code, "alpha" in said) == (0, False)
    assert stored(root, "beta")["run"]["profile"] == "quick"
    assert not (root / "alpha.log").exists()
    with pytest.raises(UserError, match="delta"):
        run(root, weave=None, named=("beta", "delta"))


def test_naming_experiments_forgets_nothing_of_an_unfinished_run(root: Path) -> None:
    for name in ("alpha", "beta"):
        add_experiment(root, name, threads="[1]", log=str(root / f"{name}.log"))
    add_experiment(root, "gamma", threads="[1]", fail=True)
    assert run(root, weave=None)[0] == 1
    assert run(root, weave=None, named=("beta",))[0] == 0  # as it was measured: kept
    measured = (root / "alpha.log").read_text()
    behave(root, "gamma")
    assert run(root, weave=None)[0] == 0
    assert (root / "alpha.log").read_text() == measured  # not again


def test_results_become_pages(root: Path) -> None:
    add_experiment(root, "alpha", threads="[1]")
    code, said = run(root)
    assert code == 0
    assert stored(root, "alpha")["run"]["profile"] == "quick"
    assert f"build/reports/{SLUG}/README.md" in said
    page = (root / "build/reports" / SLUG / "alpha.md").read_text()
    chapter = (root / "experiments/alpha/README.md").read_text()
    assert f"This report is about `{SLUG}` alone" in page
    assert "No machine has measured it yet" in chapter  # as it is not listed
    assert (root / "reports/README.md").exists()
    assert not list((root / "reports" / SLUG).glob("*.svg"))
    assert said.rstrip().endswith("nothing failed")


def test_processes_are_merged_into_one_result(root: Path) -> None:
    add_experiment(root, "alpha", threads="[1, 1]")
    path = root / "experiments/alpha/experiment.toml"
    path.write_text(path.read_text().replace("[1, 1]", '[1]\nOMP_SCHEDULE = ["static", "dynamic"]'))
    code, _ = run(root)
    assert code == 0
    launches = stored(root, "alpha")["launches"]
    schedules = [launch["environment"]["OMP_SCHEDULE"] for launch in launches]
    assert schedules == ["static", "dynamic"]


def test_the_plan_says_what_runs_and_what_does_not(root: Path) -> None:
    add_experiment(root, "alpha")
    add_experiment(root, "gpu-only", needs='"cuda"')
    add_experiment(root, "many-threads", threads="[100000]")
    code, said = run(root)
    assert code == 0
    plan = said.splitlines()[:5]
    assert plan == [
        f"quick profile on {SLUG}:",
        "  run   alpha         about 40 s, by its budget",
        "  skip  gpu-only      no CUDA device here",
        "  skip  many-threads  it needs more hardware threads",
        "about 40 s in all",
    ]


def test_joules_need_a_counter_that_can_be_read(root: Path, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwall.run.launches.POWERCAP", tmp_path)
    add_experiment(root, "alpha", needs='"energy"')
    why = f"skip  alpha  no energy counter here, of a GPU or in {tmp_path} for all to read"
    assert why in run(root)[1]
    (tmp_path / "intel-rapl:0").mkdir()
    (tmp_path / "intel-rapl:0/energy_uj").write_text("1\n")
    assert "run   alpha" in run(root)[1]


def test_what_a_program_skips_as_a_whole_is_no_failure(root: Path) -> None:
    add_experiment(root, "alpha", points=1, skip="the counter gives no number")
    add_experiment(root, "beta")
    code, said = run(root)
    assert code == 0
    assert "  skipped   alpha" in said and "all was skipped: the counter gives no number" in said


def test_the_second_plan_knows_how_long_it_took(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    _, said = run(root)
    assert "as last time" in said


def test_a_failure_does_not_stop_the_others(root: Path) -> None:
    add_experiment(root, "alpha", refuse="no such matrix")
    add_experiment(root, "beta")
    code, said = run(root)
    assert code == 1
    assert "alpha (threads=1): exit code 2: no such matrix" in said
    assert "  FAILED    alpha" in said
    assert stored(root, "beta")
    assert said.rstrip().endswith("1 failed; the same command tries that again")


def test_a_failed_run_leaves_the_earlier_result(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    before = stored(root, "alpha")
    behave(root, "alpha", refuse="broken")
    assert run(root)[0] == 1
    assert stored(root, "alpha") == before


def test_a_wrong_variant_fails_the_run_but_is_reported(root: Path) -> None:
    add_experiment(root, "alpha", fail=True)
    code, said = run(root)
    assert code == 1
    assert "exit code 1: fast: the result is wrong" in said
    verdicts = {case["verdict"]["status"] for case in stored(root, "alpha")["cases"]}
    assert verdicts == {"passed", "failed"}


def test_a_program_that_was_not_built_is_a_failure(root: Path) -> None:
    add_experiment(root, "alpha")
    (root / "build/experiments/alpha/alpha").unlink()
    code, said = run(root)
    assert code == 1
    assert "was not built" in said


def test_a_quick_result_never_replaces_a_full_one(root: Path) -> None:
    add_experiment(root, "alpha")
    assert run(root, "full")[0] == 0
    code, said = run(root, "quick")
    assert code == 0
    assert "skip  alpha  a full result stands in the folder" in said
    assert stored(root, "alpha")["run"]["profile"] == "full"


def test_a_full_result_replaces_a_quick_one(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root, "quick")
    run(root, "full")
    assert stored(root, "alpha")["run"]["profile"] == "full"


def test_an_undecided_claim_gets_three_looks(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    # The samples of one round to the next differ by more than the threshold leaves room for.
    add_experiment(root, "alpha", points=1, ratios=[1.0, 1.1, 1.3, 1.5], log=str(log))
    code, said = run(root)
    assert code == 0
    after = said.partition("alpha: more rounds at 1 point to decide alpha.fast\n")[2]
    assert after.startswith("[1/1] alpha, more rounds  point 1 of 1: size=100")
    run_of = stored(root, "alpha")["run"]
    assert (run_of["rounds"], run_of["looks"], run_of["tripled"]) == (3, [3, 6, 12], False)
    rounds = [line for line in log.read_text().splitlines() if " round " in line]
    assert [line.endswith(" again") for line in rounds] == 3 * [False] + 18 * [True]
    cases = stored(root, "alpha")["cases"]
    assert {len(case["samples_s"]) for case in cases} == {21}


def test_further_looks_are_at_the_open_points_alone(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    add_experiment(root, "alpha", points=3, ratios=[1.0, 1.1, 1.3, 1.5], log=str(log))
    path = root / "experiments/alpha/experiment.toml"
    path.write_text(path.read_text() + "where = { size = 101 }\n")
    assert run(root)[0] == 0
    more = {line for line in log.read_text().splitlines() if line.endswith(" round 1 again")}
    assert {line.split()[2] for line in log.read_text().splitlines()
            if " round " in line and line.endswith("again")} == {"1"} and more
    found = stored(root, "alpha")["cases"]
    assert [len(case["samples_s"]) for case in found[::2]] == [3, 21, 3]


def test_a_process_may_have_nothing_to_do_at_the_open_points(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread alone may be too slow for the largest size."""
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)
    add_experiment(root, "alpha", threads='[1, "max"]', points=2, threads_at={"1": 2},
                   ratios=[1.0, 1.1, 1.3, 1.5])
    path = root / "experiments/alpha/experiment.toml"
    path.write_text(path.read_text() + "where = { size = 101 }\n")
    assert run(root)[0] == 0
    found = {(case["launch"], case["parameters"]["size"]): len(case["samples_s"])
             for case in stored(root, "alpha")["cases"]}
    assert found == {(0, 100): 3, (1, 100): 3, (1, 101): 21}


def test_nobody_waits_in_silence_without_a_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A point of many rounds, or other processes that come to it later, take minutes."""
    add_experiment(root, "alpha", points=1)
    quiet = run(root)[1].count("point 1 of 1")
    monkeypatch.setattr(console, "SILENCE_S", 0)
    assert quiet == 1 < run(root)[1].count("point 1 of 1")


def test_what_took_longer_than_promised_is_not_prolonged(root: Path) -> None:
    add_experiment(root, "alpha", points=1, ratios=[1.0, 1.1, 1.3, 1.5])
    path = root / "experiments/alpha/experiment.toml"
    path.write_text(path.read_text().replace("quick = 40", "quick = 0.001"))
    code, said = run(root)
    assert code == 0
    assert "alpha: took longer than 0 s, so these stay open: alpha.fast; 21 rounds may" in said
    assert said.count("run alpha --samples 21") == 1
    run_of = stored(root, "alpha")["run"]
    assert (run_of["rounds"], run_of["tripled"]) == (3, False)


def test_a_case_faster_than_memory_gets_more_looks(root: Path) -> None:
    add_experiment(root, "alpha", points=1, cold_beside=[1, 1e-4])
    code, said = run(root)
    assert code == 0
    assert "alpha: more rounds at 1 point to decide whether a cold case is faster" in said
    run_of = stored(root, "alpha")["run"]
    assert run_of["looks"] == [3, 6]


def test_the_samples_of_a_renamed_machine_are_tripled_too(root: Path) -> None:
    add_experiment(root, "alpha", points=1, ratios=[1.0, 1.1, 1.3, 1.5])
    code, _ = run(root, slug="my-laptop")
    assert code == 0
    result = json.loads((root / "reports/my-laptop/results/alpha.json").read_text())
    assert (result["run"]["looks"], result["machine"]["slug"]) == ([3, 6, 12], "my-laptop")


def test_a_failure_is_not_forgotten_where_a_claim_is_undecided(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    add_experiment(root, "alpha", points=1, fail=True, log=str(log))
    code, said = run(root)
    assert code == 1
    assert "FAILED" in said
    assert " again" not in log.read_text()


def test_a_failure_while_tripling_leaves_the_first_result(root: Path) -> None:
    add_experiment(root, "alpha", points=1, ratios=[1.0, 1.1, 1.3, 1.5], most_rounds=3)
    code, said = run(root)
    assert code == 1
    assert "exit code 2: more rounds than I can" in said
    run_of = stored(root, "alpha")["run"]
    assert (run_of["rounds"], run_of["tripled"]) == (3, False)


def test_a_decided_claim_is_measured_once(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    run_of = stored(root, "alpha")["run"]
    assert (run_of["rounds"], run_of["tripled"]) == (3, False)


def test_another_name_for_the_machine(root: Path) -> None:
    add_experiment(root, "alpha")
    assert run(root, slug="my-laptop")[0] == 0
    result = json.loads((root / "reports/my-laptop/results/alpha.json").read_text())
    assert result["machine"]["slug"] == "my-laptop"
    assert not (root / "reports" / SLUG).exists()


def move(root: Path, old: str, new: str) -> None:
    """Goes on on another machine, whose description has other words."""
    for path in (root / "build/lib/bench/machine", root / "build/experiments/alpha/alpha"):
        path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"family": 25', '"family": 26', "processor's family: 25, here 26"),
        ('"bytes": 32768', '"bytes": 49152',
         "level 1 data caches: 2 of 32.0 KiB, here 2 of 48.0 KiB"),
        ('"Fake GPU"', '"Other GPU"',
         "Fake GPU: 1, here none known; Other GPU: none known, here 1"),
    ],
)
def test_the_folder_of_another_machine_is_left_alone(
    root: Path, old: str, new: str, said: str
) -> None:
    """The machine gets a name of its own, is told why, and finds it again."""
    add_experiment(root, "alpha")
    move(root, '"gpus": []', '"gpus": [{"name": "Fake GPU"}]')
    run(root)
    before = stored(root, "alpha")
    move(root, old, new)
    for _ in range(2):
        code, told = run(root)
        assert code == 0
        assert told.splitlines()[0] == (f"reports/{SLUG} is another machine ({said}): this machine"
                                        f" is called {SLUG}-2")
        assert stored(root, "alpha") == before
        other = json.loads((root / f"reports/{SLUG}-2/results/alpha.json").read_text())
        assert other["machine"]["slug"] == f"{SLUG}-2"
    assert not (root / f"reports/{SLUG}-3").exists()
    assert run(root, slug="another")[0] == 0


def test_what_came_with_the_tree_is_replaced_only_when_asked(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    machines.enlist(root, SLUG)
    before = stored(root, "alpha")
    behave(root, "alpha", points=1)
    code, told = run(root)
    assert code == 0 and f"(--machine {SLUG} measures into it)" in told.splitlines()[0]
    assert stored(root, "alpha") == before
    assert run(root, slug=SLUG)[0] == 0
    assert stored(root, "alpha") != before


def test_a_kept_run_shows_whose_folder_it_is(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    results = root / "reports" / SLUG / "results"
    (results / "alpha.json").rename(results / "alpha@mine.json")
    move(root, '"family": 25', '"family": 26')
    assert f"this machine is called {SLUG}-2" in run(root)[1]


def test_the_name_of_another_machine_is_refused_in_a_line(root: Path) -> None:
    add_experiment(root, "alpha")
    run(root)
    move(root, '"family": 25', '"family": 26')
    with start(root, "--machine", SLUG) as program:
        said = program.communicate()[0]
    assert program.returncode == 2
    assert said == (f"--machine: reports/{SLUG} is another machine (processor's family: 25, here"
                    " 26), expected another name\n")


@pytest.mark.parametrize("slug", ["My Laptop", "../elsewhere", "", "-x"])
def test_a_machine_needs_a_plain_name(root: Path, slug: str) -> None:
    with pytest.raises(UserError, match="--machine"):
        run(root, slug=slug)


def test_plain_lines_hold_no_escape_codes(root: Path) -> None:
    add_experiment(root, "alpha")
    _, said = run(root)
    assert "\x1b" not in said and "\r" not in said
    assert "[1/1] alpha  point 2 of 2: size=101" in said


def test_a_terminal_shows_one_updating_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    add_experiment(root, "alpha")
    _, said = run(root, stream=Terminal())
    assert "\r\x1b[K[1/1] alpha  point 2 of 2: size=101" in said
    lasting = [line.rpartition("\x1b[K")[2] for line in said.split("\n")]
    assert not any("point" in line for line in lasting)


def test_after_a_failure_only_what_failed_is_tried_again(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    add_experiment(root, "alpha")
    add_experiment(root, "beta", points=3, kill_at=2, log=str(log))
    code, said = run(root)
    assert code == 1
    assert "beta (threads=1): killed by SIGKILL" in said

    log.write_text("")
    code, said = run(root)
    assert code == 0
    assert "done  alpha" in said
    assert {turn.split()[2] for turn in log.read_text().splitlines() if "round" in turn} == {"2"}

    _, said = run(root)
    assert "run   alpha" in said and "run   beta" in said


def slow_tree(root: Path, log: Path) -> None:
    """One experiment that is done at once and one that takes its time."""
    add_experiment(root, "alpha")
    add_experiment(root, "beta", points=3, pause_s=0.05, log=str(log))


def test_after_kill_9_the_run_goes_on_where_it_was(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow_tree(root, log)
    with start(root) as first:
        wait_for(log, 7)  # ceilings, all turns of the first point and two of the second
        first.send_signal(signal.SIGKILL)
    turns_before = log.read_text().splitlines()

    code, said = run(root)
    assert code == 0
    assert "done  alpha  measured already" in said
    turns_after = log.read_text().splitlines()[len(turns_before):]
    assert not any(turn.endswith(" 0") and "round" in turn for turn in turns_after)
    assert any(turn.endswith("round 2") for turn in turns_after)
    assert len(stored(root, "beta")["cases"]) == 6

    _, again = run(root)
    assert "run   alpha" in again and "run   beta" in again


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_after_an_interruption_the_run_goes_on_where_it_was(
        root: Path, tmp_path: Path, stop: signal.Signals) -> None:
    log = tmp_path / "log"
    slow_tree(root, log)
    with start(root) as first:
        wait_for(log, 3)
        first.send_signal(stop)
        said = first.communicate()[0]
    assert first.returncode == 130
    assert "interrupted: the same command goes on from here" in said
    assert "Traceback" not in said
    turns = len(log.read_text().splitlines())
    time.sleep(0.2)
    assert len(log.read_text().splitlines()) == turns, "a program outlived the runner"
    code, said = run(root)
    assert code == 0
    assert "done  alpha" in said


def test_a_program_built_anew_is_measured_again(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow_tree(root, log)
    with start(root) as first:
        wait_for(log, 1)
        first.send_signal(signal.SIGKILL)
    program = root / "build/experiments/alpha/alpha"
    program.write_text(program.read_text() + "# changed\n")
    assert "run   alpha" in run(root)[1]


def test_another_profile_begins_anew(root: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow_tree(root, log)
    with start(root) as first:
        wait_for(log, 1)
        first.send_signal(signal.SIGKILL)
    assert "run   alpha" in run(root, "full")[1]

"""The processes of one experiment: which ones, and whose turn it is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memwall.record import definition
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.run import channel
from memwall.run.launches import BOUND, Launch, Slots, combinations, launches_of, thread_counts
from memwall.run.programs import Program, ProgramFailed, measure, take_turns
from memwall.run.tests.fake_tree import add_experiment, fake_program, make_tree

Axes = Mapping[str, Sequence[int | str]]


def fake(folder: Path, **behaviour: Any) -> Path:
    return fake_program(folder / "fake", **behaviour)


def run_turns(programs: list[Program]) -> list[Json]:
    events: list[Json] = []
    for program in programs:
        program.__enter__()
    try:
        take_turns(programs, lambda program, event: events.append(event))
    finally:
        for program in programs:
            program.__exit__(None, None, None)
    return events


@pytest.mark.parametrize(("values", "available", "expected"), [
    ([1, 2, "max"], 2, [1, 2]),
    ([1, 2, "max"], 1, [1]),
    (["powers"], 6, [1, 2, 4, 6]),
    (["powers"], 8, [1, 2, 4, 8]),
    (["powers"], 1, [1]),
    (["max", 1], 4, [4, 1]),
    ([64], 2, []),
])
def test_thread_counts(values: list[int | str], available: int, expected: list[int]) -> None:
    assert thread_counts(values, available) == expected


@pytest.mark.parametrize("value", [0, -1, "most"])
def test_thread_counts_refuse_what_is_no_count(value: int | str) -> None:
    with pytest.raises(UserError, match="launch.threads"):
        thread_counts([value], 4)


def test_combinations_cross_all_axes() -> None:
    axes: Axes = {"threads": [1, 2], "OMP_PROC_BIND": ["close", "spread"]}
    labels = [launch.label() for launch in combinations(axes, Slots(2, 2))]
    assert labels == ["threads=1 OMP_PROC_BIND=close", "threads=1 OMP_PROC_BIND=spread",
                      "threads=2 OMP_PROC_BIND=close", "threads=2 OMP_PROC_BIND=spread"]


def test_ranks_and_threads_share_the_slots() -> None:
    axes: Axes = {"ranks": ["powers"], "threads": [1, "max"]}
    labels = [launch.label() for launch in combinations(axes, Slots(4, 4))]
    assert labels == ["ranks=1 threads=1", "ranks=1 threads=4", "ranks=2 threads=1",
                      "ranks=4 threads=1"]


def test_ranks_go_beyond_one_host() -> None:
    axes: Axes = {"ranks": ["max"], "threads": [1, "max"]}
    labels = [launch.label() for launch in combinations(axes, Slots(2, 6))]
    assert labels == ["ranks=6 threads=1"]


def test_ranks_are_started_by_mpirun() -> None:
    assert Launch(2).prefix() == []
    bound = Launch(1, {"OMP_PLACES": "cores"}, ranks=3).prefix()
    assert bound[:3] == ["mpirun", "-n", "3"]
    assert bound[-4:] == ["-x", "OMP_NUM_THREADS", "-x", "OMP_PLACES"]
    assert "core:overload-allowed" in bound
    assert "none" in Launch(2, ranks=1).prefix()


@pytest.mark.parametrize(("launch", "given", "bound"), [
    (Launch(2), {}, True),
    (Launch(1), {"OMP_SCHEDULE": "static"}, True),
    (Launch(2, ranks=1), {}, True),
    (Launch(2, ranks=2), {}, False),
    (Launch(2), {"OMP_PLACES": "sockets"}, False),
    (Launch(2), {"GOMP_CPU_AFFINITY": "1"}, False),
    (Launch(2, {"OMP_PROC_BIND": "close"}), {}, False)])
def test_threads_are_bound_unless_somebody_places_them(
        launch: Launch, given: dict[str, str], bound: bool) -> None:
    variables = launch.variables(given)
    assert (variables.items() >= BOUND.items()) == bound
    assert variables.items() >= {"OMP_NUM_THREADS": str(launch.threads),
                                 **launch.environment}.items()
    assert bound == ("OMP_PLACES" in variables)


@pytest.mark.parametrize(("said", "expected"), [
    ("fake: m.mtx:3: no number (rank 2 of 4)\n-----\nMPI_ABORT was invoked on rank 2 ...\n----\n",
     "fake: m.mtx:3: no number (rank 2 of 4)"),
    ("-----\nmpirun noticed that process rank 1 with PID 0 on node some-host exited\n"
     "on signal 9 (Killed).\n-----\n", "rank 1 of 4 died of signal 9 (Killed)"),
])
def test_of_ranks_the_one_that_failed_is_named(tmp_path: Path, said: str, expected: str) -> None:
    output = tmp_path / "out.json"
    program = Program([tmp_path / "fake"], Launch(1, ranks=4), output)
    output.with_suffix(".stderr").write_text(said)
    program.code = 137
    assert program.failure() == f"fake (ranks=4 threads=1): exit code 137: {expected}"


def test_what_a_library_says_on_its_way_out_is_passed_on(tmp_path: Path) -> None:
    """MKL tells stdout what it cannot load, and ends the process."""
    output = tmp_path / "out.json"
    program = Program([tmp_path / "fake"], Launch(1), output)
    output.with_suffix(".stderr").write_text("\n")
    output.with_suffix(".stdout").write_text("ERROR: no such file\nFATAL: Cannot load libx.so.\n")
    program.code = 2
    assert program.failure() == "fake (threads=1): exit code 2: FATAL: Cannot load libx.so."


def test_without_axes_there_is_one_thread() -> None:
    assert combinations({}, Slots(8, 8)) == [Launch(1)]


def test_turns_are_interleaved_round_by_round(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = fake(tmp_path, points=1, log=str(log))
    run_turns([Program([program], Launch(n), tmp_path / f"{n}.json") for n in (1, 2, 3)])
    turns = [line.split()[:2] for line in log.read_text().splitlines()]
    phases = ["ceilings", "prepare", "round", "round", "round"]
    assert turns == [[thread, phase] for phase in phases for thread in "123"]


def test_environment_axes_reach_the_process(tmp_path: Path) -> None:
    program = fake(tmp_path)
    output = tmp_path / "out.json"
    run_turns([Program([program], Launch(2, {"OMP_PROC_BIND": "spread"}), output)])
    launch = json.loads(output.read_text())["launches"][0]
    assert launch["threads"] == 2
    assert launch["environment"]["OMP_NUM_THREADS"] == "2"
    assert launch["environment"]["OMP_PROC_BIND"] == "spread"


def test_a_users_error_is_passed_on(tmp_path: Path) -> None:
    program = fake(tmp_path, refuse="m.mtx:3: found 'x', expected a number")
    with pytest.raises(ProgramFailed) as caught:
        run_turns([Program([program], Launch(1), tmp_path / "out.json")])
    assert caught.value.code == 2
    assert str(caught.value) == ("fake (threads=1): exit code 2: m.mtx:3: found 'x', "
                                 "expected a number")


def test_a_killed_process_is_named(tmp_path: Path) -> None:
    program = fake(tmp_path, kill_at=1)
    with pytest.raises(ProgramFailed, match=r"fake \(threads=1\): killed by SIGKILL") as caught:
        run_turns([Program([program], Launch(1), tmp_path / "out.json")])
    assert caught.value.code == 1


@pytest.mark.parametrize("oddly", ["prints", "closes", "forks"])
def test_what_a_kernel_prints_or_closes_is_no_event(tmp_path: Path, oddly: str) -> None:
    program = fake(tmp_path, points=1, oddly=oddly)
    events = run_turns([Program([program], Launch(1), tmp_path / "out.json")])
    assert [event["event"] for event in events] == [
        "turn", "plan", "point", *["turn"] * 4, "done"]
    if oddly == "prints":
        assert "hello" in (tmp_path / "out.stdout").read_text()


@pytest.mark.parametrize(("oddly", "said"), [
    ("exits", r"fake \(threads=1\): exit code 0 \(and no result: it ended before it was done\)"),
    ("aborts", r"fake \(threads=1\): killed by SIGABRT"),
])
def test_a_kernel_that_ends_its_process_is_said(tmp_path: Path, oddly: str, said: str) -> None:
    output = tmp_path / "out.json"
    output.write_text("{}")  # of an earlier run
    with pytest.raises(ProgramFailed, match=said):
        run_turns([Program([fake(tmp_path, oddly=oddly)], Launch(1), output)])


def test_what_mpirun_says_stands_between_dashes(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    program = Program([tmp_path / "fake"], Launch(1, ranks=4), output)
    dashes = "-" * 74
    output.with_suffix(".stderr").write_text(
        f"{dashes}\nThere are not enough slots available in the system to satisfy the 4\nslots that"
        f" were requested by the application:\n\n  fake\n\nEither request fewer.\n{dashes}\n")
    program.code = 1
    assert program.failure() == (
        "fake (ranks=4 threads=1): exit code 1: There are not enough slots available in the system"
        " to satisfy the 4 slots that were requested by the application:")


def test_without_mpirun_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProgramFailed, match=r"ranks=2 threads=1\): no mpirun here") as caught:
        run_turns([Program([fake(tmp_path)], Launch(1, ranks=2), tmp_path / "out.json")])
    assert caught.value.code == 2


def test_a_process_that_says_nothing_is_told_of(tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(channel, "SILENCE_S", 0.2)
    program = fake(tmp_path, points=1, pause_s=0.5)
    events = run_turns([Program([program], Launch(1), tmp_path / "out.json")])
    assert "silent" in [event["event"] for event in events]


@pytest.mark.parametrize("tasks", ["", "0", "-2", "two", "9" * 400])
def test_tasks_of_slurm_are_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                     tasks: str) -> None:
    monkeypatch.setenv("SLURM_NTASKS", tasks)
    root = make_tree(tmp_path)
    add_experiment(root, "alpha")
    experiment = replace(definition.load(root, "alpha"), launch={"ranks": ["max"]})
    if tasks == "":  # as where it is not set
        assert launches_of(experiment)
    else:
        with pytest.raises(UserError, match="^SLURM_NTASKS: found .{1,50}, expected a whole"):
            launches_of(experiment)


def test_a_launch_that_died_is_marked_and_the_others_count(tmp_path: Path) -> None:
    """The first of both dies, once: its points are skipped, and the same folder goes on."""
    program = fake(tmp_path, kill_at=1)
    folder, launches = tmp_path / "run", [Launch(1), Launch(2)]
    found = measure(program, [], launches, folder, lambda program, event: None)
    assert not found.is_whole
    assert found.failures == ["fake (threads=1): killed by SIGKILL"]
    raw = found.result.raw
    assert [launch["threads"] for launch in raw["launches"]] == [2, 1]
    assert {case.launch for case in found.result.cases} == {0}
    lost = [(entry["launch"], entry["parameters"]["size"]) for entry in raw["skipped"]]
    assert lost == [(1, 100), (1, 101)]
    assert raw["skipped"][0]["reason"] == "fake (threads=1): killed by SIGKILL"
    again = measure(program, [], launches, folder, lambda program, event: None)
    assert again.is_whole and again.failures == [] and again.result.raw["skipped"] == []


def test_a_program_without_a_result_failed(tmp_path: Path) -> None:
    program = tmp_path / "lazy"
    program.write_text("#!/bin/sh\nexit 0\n")
    program.chmod(0o755)
    with pytest.raises(ProgramFailed, match="no result"):
        run_turns([Program([program], Launch(1), tmp_path / "out.json")])


def test_processes_end_when_they_are_left(tmp_path: Path) -> None:
    program = fake(tmp_path)
    with Program([program], Launch(1), tmp_path / "out.json") as process:
        list(process.turn())
        running = process._process
        assert running is not None and running.poll() is None
    assert running.poll() is not None

"""What a workshop makes of judges that take too long, and of compilers that have no room."""

import dataclasses
import errno
import json
import os
import queue
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from memwall.grade import grading, sandbox, workshop
from memwall.grade.submissions import Submission
from memwall.grade.tests import calls
from memwall.grade.workshop import Binary, Workshop
from memwall.record import processors
from memwall.record.kits import GradeError

ADA = Submission("ada", "ada", b"int main() {}")


@pytest.fixture(name="shop")
def make_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """One whose programs do nothing, as no box is needed for that."""
    monkeypatch.setattr(sandbox, "end_all", lambda _: None)
    monkeypatch.setattr(workshop, "JUDGE_SECONDS", 1)
    shop = object.__new__(Workshop)
    shop._compilers = queue.SimpleQueue()
    shop.kit, shop.room, shop.home, shop.tier = calls.kit(), tmp_path, tmp_path / "home", "A"
    (shop.home / "build").mkdir(parents=True)
    for name in ("naive", "model", "floor"):
        (shop.home / "build" / name).touch()
    return shop


def with_judge(shop: Workshop, script: str) -> Path:
    """Makes a judge of a script; the program to judge."""
    judge = shop.home / "build/judge"
    judge.write_text(f"#!/bin/sh\n{script}\n")
    judge.chmod(0o700)
    program = shop.room / "program-0"
    for path in (program, shop.room / "program-0.races", shop.home / "build/model.races"):
        path.touch()
    return program


def endless_judge(shop: Workshop, *said: dict[str, object]) -> Path:
    """One that says something, begins a line and never ends."""
    lines = "".join(f"{json.dumps(one)}\n" for one in said)
    return with_judge(shop, f"cat <<'END'\n{lines}END\nprintf '{{'\nexec sleep 60")


def test_whose_calls_take_most_of_the_time_is_graded_and_not_the_grader_blamed(
        shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[object] = []
    monkeypatch.setattr(sandbox, "end_all", ended.append)
    program = endless_judge(shop, {"contender": "submission", "wall": 0.4},
                            {"contender": "model", "wall": 9.0},
                            {"contender": "submission", "wall": 0.2})
    record = grading.judged(shop, ADA, Binary(program))
    assert (record["points"], record["reason"]) == (
        0, "its calls took 1 of the 1 s that it and the solutions beside it may take")
    assert ended == [workshop.RUNNING]


def test_what_a_hand_in_printed_ends_no_line_of_the_judge() -> None:
    calls_of = [{"fault": "a\u2028b\x85c"}, {"fault": ""}]
    out = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in calls_of)
    assert workshop.said_of_calls(out) == calls_of
    assert workshop.said_of_calls(out + '{"fault": "cut') == calls_of


def test_a_judge_that_others_held_up_accuses_nobody(shop: Workshop) -> None:
    program = endless_judge(shop, {"contender": "submission", "wall": 0.4},
                            {"contender": "model", "wall": 9.0})
    with pytest.raises(GradeError, match="the judge took more than 1 s"):
        grading.judged(shop, ADA, Binary(program))


def test_races_that_are_not_found_in_time_are_none(shop: Workshop) -> None:
    shop.look_for_races = []
    found = {"contender": "submission", "case": "one", "fault": "a race", "race": True}
    program = endless_judge(shop, found, {**found, "case": "two", "race": False})
    assert [one["case"] for one in shop.races(program)] == ["one"]


def test_contenders_start_on_processors_of_their_own(
        shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """And their threads are as many as these."""
    monkeypatch.setattr(processors, "apart", lambda count: list(range(5, 5 + count)))
    shop.kit = dataclasses.replace(shop.kit, processors=2)
    (shop.room / "program").touch()
    line = shop._contender("submission", 64_001, shop.room / "program")
    assert "\ttaskset\t-c\t5,6\t" in line
    assert "\tOMP_NUM_THREADS\t2\t" in line


def test_compilers_at_work_at_once_are_of_two_users(
        shop: Workshop, monkeypatch: pytest.MonkeyPatch, student: None) -> None:
    """Whatever the numbers of what they compile."""
    for uid in workshop.COMPILING:
        shop._compilers.put(uid)
    both, users = threading.Barrier(2, timeout=10), []

    def command(_: str, box: sandbox.Box, words: object) -> list[str]:
        users.append(box.uid)
        both.wait()
        return ["false"]

    monkeypatch.setattr(sandbox, "command", command)
    with ThreadPoolExecutor(2) as pool:
        assert [one.path for one in pool.map(shop.compile, (ADA, ADA), (0, 2))] == [None, None]
    assert sorted(users) == list(workshop.COMPILING)


def test_of_what_a_judge_and_device_code_print_the_end_is_read(shop: Workshop) -> None:
    program = with_judge(shop, "yes flood | head -c 3000000 >&2; echo 'no GPU here' >&2; exit 2")
    with pytest.raises(GradeError, match="no GPU here$") as found:
        grading.judged(shop, ADA, Binary(program))
    assert len(str(found.value)) <= workshop.SAID_BYTES


@pytest.fixture(name="student")
def make_student(shop: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a compiler is given."""
    (tmp_path / "kit/student").mkdir(parents=True)
    shop.kit = dataclasses.replace(shop.kit, folder=tmp_path / "kit")
    for name in shop.kit.shared_objects:
        (shop.home / f"build/{name}.o").touch()
    monkeypatch.setattr(os, "chown", lambda *_, **__: None)


@pytest.mark.parametrize(("free", "blamed"), [(1 << 20, False), (1 << 40, True)])
def test_a_compiler_without_room_is_nobodys_fault(
        free: int, blamed: bool, shop: Workshop, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch, student: None) -> None:
    """There is none while what it wrote is there."""
    def disk_usage(_: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free if (tmp_path / "compile-0").exists() else 1 << 40)

    shop._compilers.put(0)
    monkeypatch.setattr(sandbox, "command", lambda *_: ["false"])
    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    if blamed:
        assert shop.compile(ADA, 0) == Binary(None, "the compiler ended with code 1")
    else:
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            shop.compile(ADA, 0)
    assert not (tmp_path / "compile-0").exists()


def test_what_was_judged_takes_no_room(tmp_path: Path) -> None:
    for name in ("program-0", "program-0.races", "program-1.races"):
        (tmp_path / name).touch()
    Binary(tmp_path / "program-0").remove()
    Binary(None).remove()
    assert [path.name for path in tmp_path.iterdir()] == ["program-1.races"]


def test_cores_and_memory_are_those_that_were_asked_for(shop: Workshop) -> None:
    shop.cores = (5, 3)
    shop.kit = dataclasses.replace(shop.kit, memory=512)
    words = shop._contender("naive", 64_001, shop.home / "build/naive").split("\t")
    assert words[words.index("taskset"):][:3] == ["taskset", "-c", "3"]
    assert f"--as={512 << 20}" in words


@pytest.mark.parametrize(("cores", "said"), [
    ((1 << 20,), "found the core 1048576, expected some of "),
    ((min(os.sched_getaffinity(0)),), "found 1 cores, expected 2, on which the kit measures")])
def test_cores_that_are_not_there_or_too_few_are_one_line(cores: tuple[int, ...], said: str
                                                          ) -> None:
    kit = dataclasses.replace(calls.kit(), processors=2)
    with pytest.raises(GradeError, match=said), workshop.opened(kit, cores=cores):
        pass

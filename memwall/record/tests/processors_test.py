"""How many processors may be used, asked of made-up /proc and /sys."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memwall.record import processors
from memwall.record.sources import REPOSITORY

CASES = json.loads((REPOSITORY / "lib/machine/limits_test.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_both_sides_read_control_groups_alike(case: dict[str, Any], tmp_path: Path,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in case["files"].items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: range(8))
    assert processors.usable(tmp_path) == case["processors"]
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {3})
    assert processors.usable(tmp_path) == 1


def test_this_machine_has_a_processor() -> None:
    assert 1 <= processors.usable() <= len(os.sched_getaffinity(0))


def test_threads_apart_are_those_of_different_cores_first(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for thread, siblings in enumerate(("0-1", "0-1", "2-3", "2-3")):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{thread}/topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0, 1, 2, 3, 7})
    assert [processors.apart(count, tmp_path) for count in (1, 2, 3, 4)] == [
        [0], [0, 2], [0, 2, 7], [0, 1, 2, 7]]

"""The table that ncu prints is read, and shown as a book keeps it; what is missing is said.

The sample was written by hand after the documentation of Nsight Compute's `--csv --page raw`, not
recorded: replace it by a recorded one.
"""

import json
from pathlib import Path

import pytest

from weave import profiler
from weave.errors import WeaveError

SAMPLE = (Path(__file__).parent / "data/ncu-raw-by-hand.csv").read_text(encoding="utf-8")


def test_kernels_and_counters_are_read() -> None:
    tiles, dynamic = profiler.parse(SAMPLE)
    assert (tiles.name, dynamic.name) == ("row_tiles_kernel", "dynamic_warp_kernel")
    assert tiles.counters["seconds"] == pytest.approx(212.48e-6)
    assert tiles.counters["dram_bytes"] == 1006632960
    assert tiles.stalls["long_scoreboard"] == 9.75
    assert "l1_hit_percent" not in dynamic.counters  # n/a
    assert dynamic.counters["l2_atomics"] == 4200000


def test_a_run_without_such_a_kernel_has_none() -> None:
    assert profiler.parse("==PROF== Connected\n==WARNING== No kernels were profiled.\n") == []


def test_a_table_without_kernels_is_an_error() -> None:
    with pytest.raises(WeaveError, match="no table"):
        profiler.parse('"ID","Nothing"\n')


def test_a_book_shows_what_it_keeps() -> None:
    kept = {
        "run": "0" * 16,
        "tool": "ncu 2025.3",
        "multiplies": [
            profiler.record("pois2d-gpu", "fp32", "row_tiles", profiler.parse(SAMPLE)[:1]),
            profiler.record("pois2d-gpu", "fp32", "table_light", profiler.parse(SAMPLE)[1:]),
        ],
    }
    assert "127.0.0.1" not in json.dumps(kept)
    *_, tiles, dynamic = profiler.table(json.loads(json.dumps(kept))).splitlines()
    assert tiles == (
        "| pois2d-gpu | `row_tiles` | `row_tiles_kernel` | 212.5 µs | 92 % | 31 % | 55 % | 8.5 |"
        " none | 72 % | long scoreboard 9.8, short scoreboard 1.5 |"
    )
    assert "| 1218.0 µs | 17 % | 62 % | - | 4.2 | 3.45 G | 98 % |" in dynamic


def fake_ncu(folder: Path, says: str, code: int) -> Path:
    program = folder / "ncu"
    (folder / "says").write_text(says, encoding="utf-8")
    program.write_text(f'#!/bin/sh\ncat "{folder}/says"\nexit {code}\n')
    program.chmod(0o755)
    return program


def test_the_driver_may_forbid_it(tmp_path: Path) -> None:
    ncu = fake_ncu(tmp_path, "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", 1)
    with pytest.raises(WeaveError, match="only administrators"):
        profiler.profile(ncu, Path("program"), "pois2d", "fp32", "row_tiles")


def test_a_program_that_fails_is_named_by_its_last_line(tmp_path: Path) -> None:
    ncu = fake_ncu(tmp_path, "first\nlast words", 3)
    with pytest.raises(WeaveError, match="code 3: last words"):
        profiler.profile(ncu, Path("program"), "pois2d", "fp32", "row_tiles")


def test_what_it_prints_is_read(tmp_path: Path) -> None:
    ncu = fake_ncu(tmp_path, SAMPLE, 0)
    assert len(profiler.profile(ncu, Path("program"), "pois2d", "fp32", "row_tiles")) == 2


def test_without_ncu_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler.shutil, "which", lambda *_, **__: None)
    with pytest.raises(WeaveError, match="Nsight Compute"):
        profiler.find_ncu()

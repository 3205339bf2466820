"""The table that ncu prints is read, and shown as a book keeps it; what is missing is said.

The sample was recorded on an H200, without the columns that describe the device.
"""

import json
from pathlib import Path

import pytest

from measure import profiler
from weave.errors import WeaveError

SAMPLE = (Path(__file__).parent / "data/ncu-raw.csv").read_text(encoding="utf-8")


    first, second = profiler.parse(SAMPLE.replace("62.27", "n/a", 1))
    assert (first.name, second.name) == ("row_tiles_kernel", "row_tiles_kernel")
    assert second.counters["seconds"] == pytest.approx(7.296e-6)
    assert second.counters["dram_bytes"] == 450560
    assert second.stalls["long_scoreboard"] == 6.11
    assert second.counters["l2_sectors"] == 34821
    assert "l1_hit_percent" not in first.counters


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("void unnamed>::row_tiles_kernel<unnamed>::TileShape<float, 256>, float>(int)",
         "row_tiles_kernel"),
        ("void spmv::gpu::(anonymous namespace)::sell_kernel<4, float>(A<T1>)", "sell_kernel"),
        ("void spmv::gpu::<unnamed>::dynamic_warp_kernel<(int)8, float>(B)", "dynamic_warp_kernel"),
        ("void cusparse::csrmv_v3_kernel<std::integral_constant<bool, 0>>(C)", "csrmv_v3_kernel"),
        ("add_open_sums(D)", "add_open_sums"),
    ],
)
    assert profiler.plain_name(said) == name


def test_a_run_without_such_a_kernel_has_none() -> None:


    with pytest.raises(WeaveError, match="no table"):
        profiler.parse('"ID","Nothing"\n')


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


def test_without_ncu_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler.shutil, "which", lambda *_, **__: None)
    with pytest.raises(WeaveError, match="Nsight Compute"):
        profiler.find_ncu()

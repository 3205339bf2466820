"""The script that makes results of two experiments out of one."""

import copy
from pathlib import Path

import pytest
import split_formats

from memwall.record import results
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

GROUPS = {"accumulator": "step", "csr": "format", "csrl": "format", "plan": "plan", "mkl": "peer"}
SWEPT, SHARED = "runs-25-small", "fem3-small"


def case(variant: str, threads: int, matrix: str, twin: bool = False) -> Json:
    """As such a program recorded it; no two have the same samples."""
    seconds = (10 * list(GROUPS).index(variant) + 2 * threads + twin + len(matrix)) * 1e-6
    return {"variant": variant, "group": GROUPS[variant], "excerpt": variant, "twin": twin,
            "launch": threads - 1, "study": "spmv", "target": "host",
            "parameters": {"matrix": matrix, "precision": "fp64"},
            "work": {"flops": 1.0, "bytes": 1.0},
            "verdict": {"status": "passed", "checks": ["exact"], "error": 0.5},
            "clock": "host", "cache": "cold", "setup": {"seconds": 0.5, "stored_bytes": 8.0},
            "iterations": 1, "samples_s": [seconds, 2 * seconds, 0.1 + 0.2]}


def skip(variant: str, threads: int, matrix: str) -> Json:
    return {"variant": variant, "group": GROUPS[variant], "launch": threads - 1, "study": "spmv",
            "parameters": {"matrix": matrix, "precision": "fp64"}, "reason": "nobody asks"}


@pytest.fixture
def raw() -> Json:
    """A run of one thread and of two: of the sweep on one, of a matrix of plans on both."""
    whole = synthetic.frame(3, (1, 2))
    whole["run"]["experiment"] = "spmv-formats"
    features = next(iter(whole["datasets"].values()))
    whole["datasets"] = {SWEPT: features, SHARED: features}
    whole["excerpts"] = {name: {"file": "lib/a.hpp", "text": f"{name}\n"} for name in GROUPS}
    whole["cases"] = [
        case("accumulator", 1, SWEPT), case("csr", 1, SWEPT), case("csr", 1, SWEPT, twin=True),
        case("csrl", 1, SWEPT),
        *(case(name, threads, SHARED) for threads in (1, 2) for name in GROUPS),
        case("mkl", 2, SHARED, twin=True),
    ]
    whole["skipped"] = [skip("plan", 1, SWEPT), skip("mkl", 1, SWEPT)]
    return whole


def places(part: Json) -> set[tuple[str, int, str, bool]]:
    return {(c["variant"], c["launch"] + 1, c["parameters"]["matrix"], c["twin"])
            for c in part["cases"]}


def convert(folder: Path, name: str, raw: Json) -> dict[str, str]:
    """The files that take the place of one."""
    path = folder / name
    path.write_text(results.encoded(raw), encoding="utf-8")
    split_formats.convert(path)
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()}


def test_each_experiment_gets_what_it_measures_and_every_pair(raw: Json) -> None:
    pairs = {("csr", 1, SWEPT, False), ("csr", 1, SWEPT, True),
             ("mkl", 2, SHARED, False), ("mkl", 2, SHARED, True)}
    parts = split_formats.split(raw)
    assert places(parts["spmv-formats"]) == pairs | {
        ("csrl", 1, SWEPT, False), ("accumulator", 1, SHARED, False), ("csr", 1, SHARED, False),
        ("csrl", 1, SHARED, False)}
    assert places(parts["spmv-plan"]) == pairs | {
        (name, threads, SHARED, False) for threads in (1, 2) for name in GROUPS
        if name != "accumulator"}
    assert "plan" not in parts["spmv-formats"]["excerpts"]
    assert split_formats.dropped(raw, parts.values()) == {
        "cases accumulator on 1": 1, "cases accumulator on 2": 1, "skipped plan on 1": 1,
        "skipped mkl on 1": 1}


def test_no_case_changes_and_what_is_left_out_is_said(
    raw: Json, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = copy.deepcopy(raw)
    written = convert(tmp_path, "spmv-formats.json", raw)
    assert set(written) == {"spmv-formats.json", "spmv-plan.json"}
    for name, text in written.items():
        part = results.parse(tmp_path / name, name).raw
        assert part["run"] == before["run"] | {"experiment": name.removesuffix(".json")}
        for entry in [*part["cases"], *part["skipped"]]:
            assert results.encoded(entry).rstrip() in text
            assert entry in before["cases"] + before["skipped"]
        for key in ("source", "build", "libraries", "machine", "launches", "ceilings"):
            assert part[key] == before[key]
    assert "1 cases accumulator on 2, 1 skipped plan on 1" in capsys.readouterr().out


def test_a_kept_run_is_renamed_and_else_the_same(raw: Json, tmp_path: Path) -> None:
    written = convert(tmp_path, "spmv-formats@mine.json", raw)
    raw["run"]["experiment"] = "spmv-plan"
    assert written == {"spmv-plan@mine.json": results.encoded(raw)}


def test_no_other_result_is_touched(raw: Json, tmp_path: Path) -> None:
    raw["run"]["experiment"] = "spmv-plan"
    with pytest.raises(UserError, match="found no result of spmv-formats"):
        convert(tmp_path, "spmv-formats.json", raw)
    assert [file.name for file in tmp_path.iterdir()] == ["spmv-formats.json"]

"""Results of version 1 read as if they had studies and targets, without a change to their files."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weave import results
from weave.definition import WeaveError
from weave.results import Json, upgrade

DATA = Path(__file__).parent / "data"
#: Parts of results that were measured before there were studies.
CEILINGS, PARTITIONING = "machine-ceilings-1.json", "spmv-mpi-partitioning-1.json"


def old(name: str) -> Json:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def places(raw: Json, of: str = "cases") -> list[tuple[Any, ...]]:
    """The study and parameters of all entries, each once."""
    return list(dict.fromkeys((e["study"], *e["parameters"].items()) for e in raw[of]))


def targets(raw: Json) -> dict[str, str]:
    return {case["study"]: case["target"] for case in raw["cases"]}


@pytest.mark.parametrize("name", [CEILINGS, PARTITIONING])
def test_files_of_both_versions_are_read(name: str, tmp_path: Path) -> None:
    before = (DATA / name).read_bytes()
    found = results.load(DATA / name)
    assert found.raw["schema"] == 2
    assert (DATA / name).read_bytes() == before
    results.write(found.raw, tmp_path / name)
    assert results.load(tmp_path / name) == results.Result(tmp_path / name, found.raw, found.cases)


def test_kernels_become_studies() -> None:
    raw = old(CEILINGS)
    found = upgrade(raw)
    assert raw == old(CEILINGS)
    both = [("read",), ("fma",), ("device_gather",), ("device_shared",), ("device_fma",)]
    once = ["copy", "triad", "latency", "fork_join", "hand_over", "device_read", "device_copy",
            "device_take", "launch_and_wait", "launch_between_events", "launch_in_queue",
            "launch_in_graph", "bus_to_device", "bus_to_host", "bus_both"]
    expected = [(*study, ("precision", p)) for study in both for p in ("fp32", "fp64")]
    expected += [(study,) for study in once]
    assert sorted(places(found)) == sorted(expected)
    assert len(found["cases"]) == len(raw["cases"])


def test_what_is_skipped_for_its_precision_is_not_told() -> None:
    found = upgrade(old(CEILINGS))
    told = [(e["study"], e["launch"], e["parameters"], e["reason"][:12]) for e in found["skipped"]]
    assert told == [
        ("fma", 0, {"precision": "fp32"}, "this CPU has"),
        ("fma", 0, {"precision": "fp64"}, "this CPU has"),
        ("hand_over", 0, {}, "two threads "),
        ("false_sharing", 0, {}, "two threads "),
        ("latency", 1, {}, "a chain of l"),
        ("device_gather", 1, {"precision": "fp32"}, "a GPU does n"),
        ("device_gather", 1, {"precision": "fp64"}, "a GPU does n"),
        ("launch_in_graph", 1, {}, "a GPU does n"),
    ]


def test_where_ceilings_and_cases_were_measured() -> None:
    found = upgrade(old(CEILINGS))
    for study, target in targets(found).items():
        on_device = study.startswith(("device_", "launch_", "bus_"))
        assert target == ("cuda" if on_device else "host")
    for probe in found["ceilings"]:
        on_device = probe["name"].startswith(("device_", "bus_"))
        assert probe["target"] == ("cuda" if on_device else "host")


def test_a_matrix_that_was_none_is_a_study() -> None:
    found = upgrade(old(PARTITIONING))
    precisions = [("precision", "fp32"), ("precision", "fp64")]
    assert places(found) == [
        *(("matrix", ("matrix", "pois2d-small"), one) for one in precisions),
        *(("weak_scaling", one) for one in precisions),
        *(("ring", ("bytes", size), one) for size in (8, 4096) for one in precisions),
    ]
    assert set(targets(found).values()) == {"ranks"}
    assert {probe["target"] for probe in found["ceilings"]} == {"ranks"}
    assert ("weak_scaling", ("precision", "fp32")) in places(found, "skipped")


@pytest.mark.parametrize(
    ("name", "clock", "study", "target"),
    [
        ("spmv-formats", "host", "spmv", "host"),
        ("spmv-omp-schedules", "host", "spmv", "host"),
        ("spmv-gpu-variants", "cuda-graph", "spmv", "cuda"),
        ("spmv-gpu-variants", "cuda-event", "spmv", "cuda"),
        ("add-arrays", "host", "all", "host"),
    ],
)
def test_other_experiments_have_one_study(name: str, clock: str, study: str, target: str) -> None:
    raw = old(PARTITIONING)
    raw["run"]["experiment"] = name
    for case in raw["cases"]:
        case["clock"] = clock
    found = upgrade(raw)
    assert targets(found) == {study: target}
    assert {entry["study"] for entry in found["skipped"]} == {study}
    kept = [entry["parameters"] for entry in raw["cases"]]
    assert [entry["parameters"] for entry in found["cases"]] == kept


def _kernel(raw: Json, value: Any) -> None:
    raw["cases"][0]["parameters"]["kernel"] = value


BROKEN: dict[str, tuple[Callable[[Json], Any], list[str]]] = {
    "no run": (lambda r: r.pop("run"), ['$: found no "run"']),
    "a run that is none": (lambda r: r.update(run=[]), ["$.run: found []", "object"]),
    "no experiment": (lambda r: r["run"].pop("experiment"), ['$.run: found no "experiment"']),
    "no cases": (lambda r: r.pop("cases"), ['$: found no "cases"']),
    "cases that are none": (lambda r: r.update(cases={}), ["$.cases: found {}", "array"]),
    "a case that is none": (lambda r: r["cases"].insert(1, 7), ["$.cases[1]: found 7", "object"]),
    "a skip that is none": (lambda r: r["skipped"].insert(0, []), ["$.skipped[0]: found []"]),
    "a probe that is none": (lambda r: r["ceilings"].insert(0, ""), ['$.ceilings[0]: found ""']),
    "a probe of no name": (
        lambda r: r["ceilings"][0].pop("name"), ['$.ceilings[0]: found no "name"']),
    "no parameters": (
        lambda r: r["cases"][0].pop("parameters"), ['$.cases[0]: found no "parameters"']),
    "parameters that are none": (
        lambda r: r["cases"][0].update(parameters=[1]), ["$.cases[0].parameters: found [1]"]),
    "no kernel": (
        lambda r: r["cases"][0]["parameters"].pop("kernel"), ["$.cases[0].study: found null"]),
    "a kernel that is no name": (lambda r: _kernel(r, ["read"]), ["$.cases[0].study: found ["]),
    "no clock": (lambda r: r["cases"][0].pop("clock"), ['$.cases[0]: found no "clock"']),
    "a clock that is none": (lambda r: r["cases"][0].update(clock=1), ["$.cases[0].clock"]),
    "no reason": (lambda r: r["skipped"][3].pop("reason"), ['found no "reason"']),
    "an extra key": (lambda r: r["cases"][0].update(host="x"), ['found the key "host"']),
    "a round too few": (
        lambda r: r["cases"][0]["samples_s"].pop(), ["found 2 samples, expected 3"]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_with_an_old_result_is_said(name: str, tmp_path: Path) -> None:
    spoil, said = BROKEN[name]
    raw = old(CEILINGS)
    spoil(raw)
    before = copy.deepcopy(raw)
    upgrade(raw)
    assert raw == before
    (tmp_path / "old.json").write_text(json.dumps(raw), encoding="utf-8")
    with pytest.raises(WeaveError) as caught:
        results.load(tmp_path / "old.json")
    message = str(caught.value)
    assert message.startswith("old.json: $") and "\n" not in message
    for part in said:
        assert part in message


@pytest.mark.parametrize("matrix", [None, 7, [], "ring-", "ring-" + "9" * 5000, "ring-1x"])
def test_a_matrix_that_is_no_ring(matrix: Any) -> None:
    raw = old(PARTITIONING)
    raw["cases"][0]["parameters"]["matrix"] = matrix
    assert upgrade(raw)["cases"][0]["study"] == "matrix"

"""The page of `just machine`, of made-up machines: with a GPU and without, with nominal peaks and
without, fast and slow."""

import copy
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from memwall.pages import machine
from memwall.pages.survey import OnMachine
from memwall.record import results, sources
from memwall.record.results import Json

ROOT = sources.REPOSITORY
KNOWN = "intel-xeon-16c-h200"


@cache
def known() -> Json:
    path = ROOT / f"reports/{KNOWN}/results/{machine.EXPERIMENT}.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Json], tuple[str, str]]:
    """What the terminal and the page tell of a result, beside one machine that came with us."""
    every = _committed()
    monkeypatch.setattr(machine, "committed", lambda _: every)

    def told(raw: Json) -> tuple[str, str]:
        said = machine.show(ROOT, results.of(raw, tmp_path / "result.json"), tmp_path)
        return said, (tmp_path / "README.md").read_text(encoding="utf-8")

    return told


@cache
def _committed() -> dict[str, OnMachine]:
    return {name: one for name, one in machine.committed(ROOT).items()
            if name in (KNOWN, "amd-epyc-2c", "intel-xeon-16c")}


def without_gpu() -> Json:
    raw = copy.deepcopy(known())
    raw["machine"]["gpus"] = []
    raw["ceilings"] = [one for one in raw["ceilings"] if one.get("target", "host") == "host"]
    raw["cases"] = [one for one in raw["cases"] if one["target"] == "host"]
    raw["skipped"] = [{"launch": 0, "study": "bus_both", "parameters": {}, "reason": "no driver"}]
    return raw


def row(said: str, what: str, where: str) -> list[str]:
    """The cells of a line in the terminal's table."""
    line = next(one for one in said.splitlines() if re.match(rf"{what} +{where} ", one))
    return re.split(r"  +", line)


def test_a_gpu_with_nominal_peaks(show: Callable[[Json], tuple[str, str]]) -> None:
    said, page = show(known())
    assert row(said, "read GPU memory", "GPU")[2:5] == ["4460 GB/s", "4810 GB/s", "93 %"]
    assert row(said, "bus both ways at once", "GPU")[3] == "126 GB/s"
    assert f"{KNOWN} is the nearest (the same GPUs, the same processor model and as many" in said
    assert "| the sum of both directions |" in page and "PCI Express 5.0 x16" in page
    assert "Less than half" not in said
    assert said.endswith("README.md")


def test_no_gpu(show: Callable[[Json], tuple[str, str]]) -> None:
    said, page = show(without_gpu())
    assert "GPU fp64 multiply-adds: no driver" in said and "- bus to the GPU, " in page
    assert not re.search(r"  GPU  ", said)
    assert row(said, "latency, 16 KiB", "one thread")[2] == "1.79 ns"


def test_a_program_without_gpu_code(show: Callable[[Json], tuple[str, str]]) -> None:
    raw = without_gpu() | {"skipped": []}
    raw["ceilings"] = [one for one in raw["ceilings"] if one["name"] != "copy"]
    said, page = show(raw)
    assert "GPU fp64 multiply-adds: the program was built without nvcc" in said
    assert "- copy memory: not in the result" in page


def test_one_thread_is_compared_with_one_core(show: Callable[[Json], tuple[str, str]]) -> None:
    raw = without_gpu()
    raw["machine"]["cpu"]["peaks"] = [
        {"name": "fma_fp32", "flops_per_s": 16 * 400e9, "source": "400 x 16"}]
    said, page = show(raw)
    assert row(said, "fp32 multiply-adds", "one thread")[2:5] == [
        "174 GFLOP/s", "400 GFLOP/s", "44 %"]
    assert row(said, "fp32 multiply-adds", "all threads")[4] == "21 %"
    assert "| one core of 16: 400 x 16 |" in page
    low = "fp32 multiply-adds (one thread) and fp32 multiply-adds (all threads). What to look at: "
    assert f"Less than half of its nominal peak: {low}the clock" in said


def test_slower_than_its_twin(show: Callable[[Json], tuple[str, str]]) -> None:
    raw = without_gpu()
    raw["machine"]["gpus"] = copy.deepcopy(known()["machine"]["gpus"])
    for one in raw["ceilings"]:
        if one["name"] == "read":
            one["samples_s"] = [3 * seconds for seconds in one["samples_s"]]
    said, _ = show(raw)
    low = "read memory (one thread) and read memory (all threads). What to look at: how many memory"
    assert f"Less than half of what {KNOWN} reached: {low}" in said
    for one in raw["ceilings"]:
        one["definition"] = 2  # of which the other machine knows nothing
    said, _ = show(raw)
    assert "Less than half of what" not in said and "\u2020 By an older definition" in said
    assert row(said, "read memory", "all threads")[-1] == "117 GB/s\u2020"


def test_of_another_kind_nothing_is_expected(show: Callable[[Json], tuple[str, str]]) -> None:
    raw = without_gpu()
    raw["machine"]["cpu"] |= {"model": "None such", "model_number": 1}
    for one in raw["ceilings"]:
        one["samples_s"] = [9 * seconds for seconds in one["samples_s"]]
    said, _ = show(raw)
    assert "intel-xeon-16c is the nearest (as many cores)." in said
    assert "Less than half" not in said


def test_names_of_strangers_stand_as_text(show: Callable[[Json], tuple[str, str]]) -> None:
    raw = without_gpu()
    raw["machine"]["cpu"]["model"] = "<b>|`\x1b[31m"
    _, page = show(raw)
    assert "<b>" not in page and "\x1b" not in page


def test_without_a_machine_to_compare_with(show: Callable[[Json], tuple[str, str]],
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "committed", lambda _: {})
    said, page = show(without_gpu())
    assert "nearest" not in said and "| source of the nominal peak |\n" in page


def test_what_a_byte_and_an_operation_cost_stands_where_it_was_measured(
        show: Callable[[Json], tuple[str, str]]) -> None:
    said, page = show(copy.deepcopy(known()))
    assert re.search(r"memory_read +byte +\d", said)
    assert re.search(r"\| *fp32 *\| *operation *\| *[\d.]+ *\|", page)
    assert "idle" not in re.findall(r"^(\w+) +(?:byte|operation) ", said, re.MULTILINE)
    costs = {one.variant: one.picojoules for one in machine.costs(ROOT, KNOWN)}
    assert costs["memory_read"] > costs["l2_read"] > costs["l1_read"] > 0
    elsewhere = without_gpu()
    elsewhere["machine"]["slug"] = "nowhere"
    said, page = show(elsewhere)
    assert "not known: joules of a byte and of an operation" in said
    assert "## Joules" not in page

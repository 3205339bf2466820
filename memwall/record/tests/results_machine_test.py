"""Machines in words."""

import pytest

from memwall.pages import blocks
from memwall.record import hardware
from memwall.record.results import Json
from memwall.tests import synthetic


@pytest.fixture
def machine() -> Json:
    raw = synthetic.result(rounds=3, threads=(1,))
    synthetic.add_gpus(raw, 2)
    raw["machine"]["cpu"] |= {"model": "AMD EPYC", "vendor": "amd", "family": 25,
                              "model_number": 17, "stepping": 1}
    return raw["machine"]


def test_a_machine_in_one_line(machine: Json) -> None:
    assert blocks.machine_summary(machine) == (
        "AMD EPYC (family 25, model 17), 2 cores, 2 threads, caches of 32 KiB and 1 MiB,"
        " 16.0 GiB of memory, 2 x Example GPU, virtual"
    )


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        ({"model": "AMD EPYC", "architecture": "x86_64"}, "x86_64"),
        ({"model": "Neoverse", "architecture": "aarch64", "vendor": "arm"}, "arm, aarch64"),
        ({"model": "unknown", "architecture": "x86_64", "vendor": "intel", "family": 6,
          "model_number": 0}, "intel, family 6, model 0"),
    ],
)
def test_what_kind_of_processor(cpu: Json, expected: str) -> None:
    assert hardware.processor_kind(cpu) == expected


def caches(*sizes: tuple[int, str, int]) -> Json:
    return {"caches": [{"level": level, "kind": kind, "bytes": size, "instances": 2}
                       for level, kind, size in sizes]}


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        (caches(), ""),
        (caches((1, "instruction", 32768)), ""),
        (caches((1, "data", 32768)), "32 KiB"),
        (caches((3, "unified", 37486592), (1, "data", 49152), (1, "instruction", 65536),
                (2, "unified", 1 << 20)), "48 KiB, 1 MiB and 35.8 MiB"),
        (caches((1, "data", 49152), (1, "data", 32768), (2, "unified", 1 << 21)),
         "32 KiB or 48 KiB and 2 MiB"),
    ],
)
def test_data_caches_by_level(cpu: Json, expected: str) -> None:
    assert hardware.data_caches(cpu) == expected

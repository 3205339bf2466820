"""Machines in words, and what shows that two of them are not one."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from weave import blocks, results
from weave.results import Json
from weave.tests import synthetic


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
    assert results.processor_kind(cpu) == expected


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
    assert results.data_caches(cpu) == expected


def _without_identity(machine: Json) -> None:
    for name in results.IDENTITY:
        del machine["cpu"][name]


DIFFERENCES: dict[str, tuple[Callable[[Json], Any], str]] = {
    "nothing": (lambda m: None, ""),
    "another processor": (
        lambda m: m["cpu"].update(family=26),
        "processor: vendor amd, family 25, model 17, here vendor amd, family 26, model 17",
    ),
    "another model": (
        lambda m: m["cpu"].update(model_number=1),
        "processor: vendor amd, family 25, model 17, here vendor amd, family 25, model 1",
    ),
    "another vendor, all that is known here": (
        lambda m: (_without_identity(m), m["cpu"].update(vendor="intel")),
        "processor: vendor amd, here vendor intel",
    ),
    "a processor that does not say what it is": (_without_identity, ""),
    "a stepping, a name": (lambda m: m["cpu"].update(stepping=2, model="Other"), ""),
    "other caches": (
        lambda m: m["cpu"]["caches"][0].update(bytes=49152),
        "caches: 32 KiB and 1 MiB, here 48 KiB and 1 MiB",
    ),
    "more of the same caches": (lambda m: m["cpu"]["caches"][0].update(instances=8), ""),
    "no caches to be seen": (lambda m: m["cpu"].update(caches=[]), ""),
    "another GPU": (
        lambda m: m.update(gpus=[{"name": "Other GPU"}]), "GPU: Example GPU, here Other GPU"),
    "fewer GPUs": (lambda m: m["gpus"].pop(), ""),
    "no GPU": (lambda m: m["gpus"].clear(), ""),
    "all of it": (
        lambda m: (m["cpu"].update(family=26), m.update(gpus=[{"name": "Other GPU"}])),
        "processor: vendor amd, family 25, model 17, here vendor amd, family 26, model 17;"
        " GPU: Example GPU, here Other GPU",
    ),
}


@pytest.mark.parametrize("name", DIFFERENCES)
def test_two_machines(name: str, machine: Json) -> None:
    change, said = DIFFERENCES[name]
    here = copy.deepcopy(machine)
    change(here)
    assert results.difference(machine, here) == said
    assert bool(results.difference(here, machine)) == bool(said)

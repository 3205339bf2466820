"""`where`: values, patterns, bounds, exclusions, and how they read."""

from collections.abc import Callable
from typing import Any

import pytest

from memwall.analysis.measurements import Measurements
from memwall.record import regions
from memwall.record.errors import UserError
from memwall.record.results import Json

MATRICES = ["pois2d", "fem3", "random", "rmat", "short"]


@pytest.mark.parametrize(
    ("wanted", "value", "matches"),
    [
        ("fem3", "fem3", True),
        ("fem3", "fem3s", False),
        ("fem*", "fem3s", True),
        ("!fem*", "fem3s", False),
        ("!fem*", "rmat", True),
        (["fem*", "rmat"], "rmat", True),
        (["!fem*", "!rmat"], "rmat", False),
        (["!fem*", "!rmat"], "short", True),
        (["fem*", "!fem3s"], "fem3", True),
        (["fem*", "!fem3s"], "fem3s", False),
        (["fem*", "!fem3s"], "rmat", False),
        ("<0.3", 0.29, True),
        ("<0.3", 0.3, False),
        ("<= 0.3", 0.3, True),
        (">0.3", 0.31, True),
        (">=2", 2, True),
        ("<0.3", None, False),
        ("<0.3", "0.1", False),
        ("max", 8, True),
        ("max", 4, False),
        (4, 4, True),
        ([1, "max"], 1, True),
        ("4", 4, False),
    ],
)
def test_what_matches(wanted: Any, value: Any, matches: bool) -> None:
    assert regions.test(wanted, lambda: 8)(value) == matches


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ({"precision": "fp64", "matrix": ["a", "b"]}, "precision = fp64, matrix = a or b"),
        ({"matrix": "runs-*"}, "matrix = `runs-*`"),
        ({"matrix": "!runs-*"}, "matrix not `runs-*`"),
        ({"nzseg_per_nnz": "<0.3"}, "nzseg_per_nnz < 0.3"),
        ({"threads": "max"}, "threads = max"),
    ],
)
def test_how_it_reads(where: dict[str, Any], said: str) -> None:
    assert regions.words(where) == said


def test_patterns_stand_for_what_was_measured(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    run = measured(raw)
    assert run.values("matrix", {"matrix": "r*"}) == ["random", "rmat"]
    assert run.values("matrix", {"matrix": ["rmat", "none"]}) == ["rmat", "none"]
    assert run.values("threads", {"threads": "max"}) == [2]
    assert run.values("variant", {"variant": ["!broken", "!avx512"], "group": "own"}) == [
        "textbook",
        "unroll4",
        "restrict",
    ]


def test_the_largest_is_that_of_the_study_asked_for(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    for case in raw["cases"]:
        case["parameters"]["size"] = 64 if case["parameters"]["matrix"] == "fem3" else 8
        if case["parameters"]["matrix"] == "rmat":
            case["study"] = "small"
    run = measured(raw)
    assert run.values("size", {"size": "max"}) == [64]
    assert {case.parameters["size"] for case in run.select({"size": "max"})} == {64}
    small = run.select({"size": "max", "study": "small"})
    assert {case.parameters["matrix"] for case in small} == {"rmat"}


def test_features_are_asked_like_coordinates(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    run = measured(raw)
    assert run.values("matrix", {"nonzeros": "<24000"}) == ["random", "short"]
    assert run.values("nonzeros", {"matrix": ["short", "random"]}) == [9000, 20000]
    assert len(run.skips({"nonzeros": 9000, "threads": "max"})) == 2
    with pytest.raises(UserError, match='no axis "nonzros" .*; features: rows, nonzeros'):
        run.select({"nonzros": "<3"})


def test_a_study_is_a_coordinate(measured: Callable[..., Measurements], raw: Json) -> None:
    run = measured(raw)
    assert run.axes == ("study", "matrix", "precision", "threads", "ranks")
    assert run.label(run.cases[0]) == "pois2d fp32 threads=1"
    for size in (8, 64):
        ring = {"study": "ring", "parameters": {"bytes": size}}
        raw["cases"].append(raw["cases"][0] | ring | {"target": "ranks"})
        raw["skipped"].append(ring | {"launch": 1, "reason": "one rank"})
    run = measured(raw)
    assert run.axes == ("study", "matrix", "precision", "bytes", "threads", "ranks")
    assert run.values("study", {}) == ["spmv", "ring"]
    assert run.values("matrix", {}) == MATRICES
    rings = run.select({"study": "ring"})
    assert run.label(rings[0]) == "ring bytes=8 threads=1"
    assert run.label(run.cases[0]) == "spmv pois2d fp32 threads=1"
    assert [run.place(entry) for entry in run.skips({"bytes": 8})] == ["ring bytes=8 threads=2"]
    assert run.values("target", {}) == ["host", "ranks"]
    assert run.select({"target": "ranks"}) == rings
    assert run.select({"bytes": "max"}) == rings[1:]


def test_a_matrix_may_be_called_like_a_study(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    raw["datasets"]["spmv"] = {"sha256": "a" * 64, "features": {"rows": 1, "nonzeros": 1}}
    run = measured(raw)
    assert run.fact(run.select({"matrix": "fem3"})[0], "nonzeros") == 81_000


FACTS = [
    {"variant": "csr", "size": 1},
    {"variant": "sell", "size": 2, "threads": 2},
    {"variant": regions.EVERY, "size": 2},
]


@pytest.mark.parametrize(
    ("where", "positions"),
    [
        ({}, [0, 1, 2]),
        ({"size": 2}, [1, 2]),
        ({"variant": "csr"}, [0, 2]),
        ({"variant": "!csr"}, [1, 2]),
        ({"variant": "sell", "size": 1}, []),
        ({"threads": 2}, [1]),
        ({"threads": "!2"}, [0, 1, 2]),  # of numbers, nothing is left out by a word
        ({"ranks": 1}, []),
        ({"ranks": "!x"}, [0, 1, 2]),
    ],
)
def test_an_index_finds_by_facts(where: regions.Where, positions: list[int]) -> None:
    index = regions.Index(FACTS)
    tests = {name: regions.test(wanted, lambda: None) for name, wanted in where.items()}
    assert index.positions(tests) == positions


def test_an_index_knows_the_values_of_a_fact() -> None:
    index = regions.Index(FACTS)
    assert set(index.values("size")) == {1, 2}
    assert list(index.values("ranks")) == []

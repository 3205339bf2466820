"""The report of `spmv-formats` weaves whatever was measured: every branch, every kind of run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from weave import definition, pages, results
from weave.results import Json
from weave.sources import Excerpt, Tree
from weave.tests import formats_result as made
from weave.tests import synthetic

REPOSITORY = Path(__file__).resolve().parents[3]


def weave(raw: Json, stale: str = "") -> pages.Page:
    """The page of a result, in a tree whose texts are those that were timed."""
    result = results.of(raw, Path("result.json"))
    present = {
        name: Excerpt(entry["file"], entry["text"] + ("new\n" if name == stale else ""))
        for name, entry in made.excerpts().items()
    }
    tree = Tree(REPOSITORY, present, {})
    experiment = definition.load(REPOSITORY, made.NAME)
    return pages.weave(result, experiment, tree)


def scaled(variant: str, factor: float, only: str | None = None) -> Callable[[Json], object]:
    """A change of one variant's times."""
    return lambda raw: synthetic.scale(raw, variant, factor, only)


@pytest.fixture(scope="module")
def fresh() -> Json:
    return made.result()


def test_the_result_is_one_that_a_program_could_write(fresh: Json) -> None:
    results.validate(fresh, "result.json")


CASES: dict[str, tuple[list[Callable[[Json], object]], list[str]]] = {
    "as the model has it": ([], ["CSRL's crossover lies where both sources", "One word for a run"]),
    "runs pay beyond": (
        [scaled("csrl", 0.5), scaled("packed_csrl", 0.8)],
        ["the threshold of 0.3 is\ntoo careful", "gains nothing over the sweep"],
    ),
    "runs never pay": (
        [scaled("csrl", 3)],
        ["The crossover is not where", "none: nowhere faster, from 0.020 to 1.00"],
    ),
    "a minority": (
        [*(scaled("csrl", 1.6, name) for name in made.CLASSES), scaled("blocked_coo16", 1.6)]
        + [scaled("csrl", 0.3, "band64")],
        ["CSRL is a format for a minority"],
    ),
    "order wins": (
        [scaled("blocked_coo16", 0.5, "random")],
        ["Blocked COO wins on some matrices"],
    ),
    "order wins nowhere": (
        [scaled("blocked_coo16", 2.0)],
        ["Blocked COO clearly wins nowhere"],
    ),
    "a peer is faster": ([scaled("mkl", 0.3, "rmat")], ["There are matrices on which a peer"]),
    "no peer is faster": ([], ["No peer was found to be faster"]),
    "no MKL": (
        [lambda raw: made.skip(raw, "mkl"), lambda raw: made.skip(raw, "mkl_bsr")],
        ["`mkl` was skipped: not installed", "REPRODUCED"],
    ),
    "no peer at all": (
        [lambda raw, name=name: made.skip(raw, name) for name in ("mkl", "mkl_bsr", "librsb")],
        ["`eigen`"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_branch_weaves(name: str, fresh: Json) -> None:
    changes, said = CASES[name]
    raw = {**fresh, "cases": [dict(entry) for entry in fresh["cases"]]}
    raw["skipped"], raw["excerpts"] = list(fresh["skipped"]), dict(fresh["excerpts"])
    for change in changes:
        change(raw)
    page = weave(raw)
    for text in said:
        assert text in page.text
    assert len(page.figures) == 8


def test_small_runs_weave() -> None:
    """The tiny profile: few matrices with other names, one thread, three rounds."""
    few = made.matrices("-tiny")
    kept = {name: few[name] for name in few if name[:5] != "runs-" or name[5:7] in ("02", "25")}
    kept["runs-100-tiny"] = (1.0, 48)
    assert "1.csrl-crossover" in weave(made.result(kept, (1,), 3)).text


@pytest.mark.parametrize("arguments", [["--matrix", "mine.mtx"], ["--filter", "csrl"]])
def test_narrowed_runs_weave(arguments: list[str]) -> None:
    raw = made.result({"mine": (0.3, 20)}, (1,), 5)
    raw["run"]["arguments"] = arguments
    if arguments[0] == "--filter":
        raw["cases"] = [entry for entry in raw["cases"] if entry["variant"] == "csrl"]
        raw["excerpts"] = {"csrl": raw["excerpts"]["csrl"]}
        raw["skipped"] = []
    assert "not measured in this run" in weave(raw).text.lower()


def test_a_stale_result_weaves() -> None:
    raw = made.result(rounds=5)
    made.skip(raw, "sell_unit")
    raw["skipped"] = [entry for entry in raw["skipped"] if entry.get("variant") != "sell_unit"]
    page = weave(raw, stale="csrl")
    assert "> **STALE**: `csrl` changed since this run" in page.text

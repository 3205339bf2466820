"""What a claim needs of a machine or of a run."""

from collections.abc import Callable

import pytest

from memwall.analysis import claims
from memwall.analysis.measurements import Measurements
from memwall.analysis.tests.claims_test import claim
from memwall.analysis.verdicts import NOT_ASKED, REPRODUCED, UNDECIDED
from memwall.record.definition import Claim
from memwall.record.errors import UserError
from memwall.record.results import Json

Measure = Callable[..., Measurements]


def asking(need: str) -> Claim:
    return claim("unroll4", "textbook", "faster", needs=(need,))


@pytest.mark.parametrize(
    ("need", "reason"),
    [
        ("avx2", None),
        ("avx512f", "this CPU has no avx512f"),
        ("x86_64", None),
        ("aarch64", "needs aarch64, this is x86_64"),
        ("cuda", "needs a GPU"),
        ("bare-metal", "virtual"),
        ("mkl", "needs MKL"),
        ("matrices>=5", None),
        ("matrices>=6", "needs at least 6 matrices, this run has 5"),
        ("threads>=2", None),
        ("numa_nodes>=2", "needs at least 2 numa_nodes"),
    ],
)
def test_needs(need: str, reason: str | None, measured: Measure, raw: Json) -> None:
    found = claims.judge(measured(raw), asking(need))
    unmet = UNDECIDED if need.startswith("matrices") or need == "mkl" else NOT_ASKED
    assert found.verdict == (unmet if reason else REPRODUCED)
    assert (reason or "") in found.note


def test_matrices_of_other_variants_do_not_count(measured: Measure, raw: Json) -> None:
    """A study of causes has its own, which say nothing about what an article compared."""
    for case in raw["cases"]:
        if case["variant"] == "textbook":
            for name in ("suspect", "removed"):
                other = {**case, "variant": name, "twin": False,
                         "parameters": {**case["parameters"], "matrix": "another"}}
                raw["cases"] = [*raw["cases"], other]
            break
    found = claims.judge(measured(raw), asking("matrices>=6"))
    assert "needs at least 6 matrices, this run has 5" in found.note


def test_mkl_is_asked_for_where_there_is_one(measured: Measure, raw: Json) -> None:
    raw["machine"]["cpu"]["architecture"] = "aarch64"
    assert claims.judge(measured(raw), asking("mkl")).verdict == REPRODUCED
    raw["machine"]["cpu"]["architecture"] = "x86_64"
    raw["libraries"]["mkl"] = "2026.0"
    assert claims.judge(measured(raw), asking("mkl")).verdict == REPRODUCED


def test_unknown_needs(measured: Measure, raw: Json) -> None:
    with pytest.raises(UserError, match='found the need "axv2", expected'):
        claims.judge(measured(raw), asking("axv2"))

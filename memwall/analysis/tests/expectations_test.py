"""Where each verdict turns: on the edge itself, on both sides of the noise floor."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memwall.analysis import expectations
from memwall.analysis.cells import Cell
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.expectations import Expectation
from memwall.analysis.measurements import Measurements
from memwall.analysis.numerics import Estimate
from memwall.analysis.tests.claims_test import comparison, placed
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    REPRODUCED,
    RESTLESS,
    UNDECIDED,
    Reason,
)
from memwall.record.results import Json

Measure = Callable[..., Measurements]


def between(low: float, high: float, noise: float = 1.0) -> Comparison:
    """A comparison whose interval is exactly that."""
    made = comparison([1.0], noise=noise)
    vars(made)["overall"] = Estimate((low + high) / 2, low, high, 0.95, 21)
    return made


@pytest.mark.parametrize(
    ("expect", "low", "high", "noise", "verdict"),
    [
        # Noise is what a difference has to exceed, in both directions.
        ("faster", 1.2, 1.3, 1.2, UNDECIDED),
        ("faster", 0.94, 0.99, 1.05, NOT_REPRODUCED),  # slower, or alike at most
        ("faster", 0.94, 1.0, 1.05, UNDECIDED),
        # What reaches an edge has reached it.
        ("clearly", 1.2, 1.3, 1.0, REPRODUCED),
        ("clearly", 1.0, 1.2, 1.0, UNDECIDED),
        # A gain that is there, but smaller or larger than was claimed.
        ("clearly", 1.1, 1.19, 1.05, DIRECTION_ONLY),
        ("clearly", 1.04, 1.19, 1.05, UNDECIDED),
        (1.5, 1.2, 1.4, 1.0, DIRECTION_ONLY),
        ((2.0, 3.0), 3.7, 3.9, 1.0, DIRECTION_ONLY),
        ((2.0, 3.0), 1.2, 1.9, 1.0, DIRECTION_ONLY),
        ((2.0, 3.0), 0.98, 1.02, 1.0, NOT_REPRODUCED),  # alike: there is no gain
        ((2.0, 3.0), 0.7, 0.8, 1.0, NOT_REPRODUCED),
        ((0.3, 0.5), 0.35, 0.4, 1.0, REPRODUCED),  # slower, as was claimed
        ((0.3, 0.5), 0.6, 0.7, 1.1, DIRECTION_ONLY),
        ((0.3, 0.5), 0.1, 0.2, 1.1, DIRECTION_ONLY),
        ((0.3, 0.5), 1.1, 1.2, 1.0, NOT_REPRODUCED),
        ((0.95, 1.1), 1.2, 1.3, 1.0, NOT_REPRODUCED),  # about equal has no direction
        ("clearly", 0.9, 1.1, 1.2, UNDECIDED),  # noise can have hidden so much
        ("clearly", 0.7, 0.8, 1.25, NOT_REPRODUCED),  # slower, or alike at most
        ("clearly", 0.7, 0.9, 1.25, UNDECIDED),
        ((2.0, 3.0), 2.0, 3.0, 1.0, REPRODUCED),
        ((2.0, 3.0), 1.5, 2.0, 1.0, UNDECIDED),
        ((2.0, 3.0), 3.0, 3.5, 1.0, UNDECIDED),
        # A little less may do, but on a restless machine nothing tells that.
        (1.0, 1.1, 1.15, 1.2, UNDECIDED),
        (0.9, 0.95, 1.0, 1.4, REPRODUCED),
        (0.9, 0.95, 1.0, RESTLESS, UNDECIDED),
        ("alike", 0.95, 1.05, 1.0, REPRODUCED),
        ("alike", 1.05, 1.2, 1.0, UNDECIDED),
        ("alike", 0.8, 0.95, 1.0, UNDECIDED),
        ("alike", 0.93, 0.97, 1.0, UNDECIDED),
        ("alike", 0.85, 0.9, 1.2, UNDECIDED),
        ("alike", 0.8, 0.82, 1.2, NOT_REPRODUCED),
        ("keeps-up", 0.9, 0.95, 1.0, UNDECIDED),
        ("keeps-up", 0.85, 0.9, 1.2, UNDECIDED),  # noise alone can have made it so slow
        ("keeps-up", 0.8, 0.82, 1.2, NOT_REPRODUCED),
    ],
)
def test_where_a_verdict_turns(
    expect: Expectation, low: float, high: float, noise: float, verdict: str
) -> None:
    assert expectations.examine(between(low, high, noise), expect).verdict == verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(2.0, 3.0, REPRODUCED), (1.0, 2.0, UNDECIDED), (3.0, 4.0, UNDECIDED),
     (1.0, 1.9, NOT_REPRODUCED), (3.1, 4.0, NOT_REPRODUCED)],
)
def test_where_the_verdict_on_a_value_turns(low: float, high: float, verdict: str) -> None:
    cell = Cell(Estimate((low + high) / 2, low, high, 0.95, 21))
    assert expectations.examine_value("it", "", cell, "gbps", (2.0, 3.0)).verdict == verdict


def test_why_a_direction_is_open() -> None:
    inside = expectations.examine(between(1.05, 1.15, noise=1.2), "faster")
    assert inside.sentence.endswith("faster: it is not decided, as the machine is too noisy.")
    assert inside.reason == Reason.NOISY
    wide = expectations.examine(between(0.9, 1.3), "faster")
    assert wide.sentence.endswith("it is not decided, as the interval crosses the threshold.")
    assert wide.reason == Reason.CROSSES


def test_never_below_rests_on_the_lowest_and_names_what_noise_does_not_explain() -> None:
    low = expectations.examine(comparison([0.97, 2.0], spread=0), "never-below")
    assert (low.verdict, low.decided_by) == (REPRODUCED, "0.97x")
    noisy = expectations.examine(comparison([0.94, 2.0, 0.85], noise=1.1), "never-below")
    assert (noisy.verdict, noisy.decided_by) == (NOT_REPRODUCED, "0.85x")
    assert "0.85 times as fast as b at the lowest of 3 points (m2; 0.84–0.86)" in noisy.sentence
    assert "; at 1 it is wholly below 0.97 times, beyond the noise floor of 10 %." in noisy.sentence


def test_where_each_holds_the_lowest_is_named() -> None:
    found = expectations.examine(comparison([1.7, 1.6]), 1.5, "every")
    assert "as claimed on 2 of 2 matrices" in found.sentence
    assert "What decides is m1 with 1.60 times" in found.sentence


def test_a_unit_of_counted_columns_is_a_point() -> None:
    one = replace(placed(comparison([1.5]), {"columns": 8}), per=("columns",))
    assert one.noun == "point"


def test_points_of_one_side_alone_are_unmeasured(measured: Measure, raw: Json) -> None:
    raw["cases"] = [case for case in raw["cases"] if case["variant"] != "textbook"
                    or case["parameters"]["precision"] == "fp32"]
    compared = compare(measured(raw), "csrl", "textbook", {})
    assert isinstance(compared, Comparison)
    assert compared.unmeasured == len(compared.points)


@pytest.mark.parametrize(("low", "high", "noise", "reason"), [
    (1.1, 1.3, 1.0, Reason.CROSSES),
    (0.9, 1.1, 1.0, Reason.SIDE),  # what is claimed is ruled out, the direction is not
    (1.25, 1.3, 1.27, Reason.NOISY),
    (1.01, 1.04, 1.1, Reason.ALIKE),
])
def test_the_reason_is_the_one_that_keeps_it_open(
    low: float, high: float, noise: float, reason: Reason
) -> None:
    found = expectations.examine(between(low, high, noise), "clearly")
    assert found.reason == reason
    assert found.sentence.endswith(f", as {reason.value}.")


def test_what_says_nothing_does_not_hold() -> None:
    """Else nobody loses less often than on the noisiest machine."""
    found = expectations.examine(comparison([1.1], spread=1.0), "never-below")
    assert (found.verdict, found.reason) == (UNDECIDED, Reason.WIDE)


def test_many_inputs_of_which_none_is_open_do_not_agree() -> None:
    found = expectations.examine(comparison([1.5] * 10 + [0.5] * 7), "most")
    assert (found.verdict, found.reason) == (UNDECIDED, Reason.SPLIT)


def test_a_mean_tells_what_is_the_other_way_round() -> None:
    found = expectations.examine(comparison([4.0, 4.0, 0.5]), "faster")
    assert "3 points; at 1 of them it is the other way round" in found.sentence

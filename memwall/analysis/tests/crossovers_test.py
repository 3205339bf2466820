"""Where a variant stops being faster: interpolation, intervals, and answers without a place."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from memwall.analysis import claims, crossovers
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.measurements import Measurements
from memwall.analysis.verdicts import DIRECTION_ONLY, NOT_REPRODUCED, REPRODUCED, UNDECIDED
from memwall.conftest import Say
from memwall.figures.plots import Plot
from memwall.record.definition import Claim, Condition
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

Measure = Callable[..., Measurements]
Sweep = Callable[[Mapping[float, float]], Json]
#: nzseg_per_nnz of the matrices of the synthetic result
FEATURE = {"pois2d": 0.6, "fem3": 0.1, "random": 0.8, "rmat": 0.4, "short": 0.2}
WHERE = {"precision": "fp32", "threads": 1}


@pytest.fixture
def sweep(raw: Json) -> Sweep:
    """A result in which `csrl` has the given speed-ups over `textbook` along the feature."""

    def make(speedups: Mapping[float, float]) -> Json:
        for matrix, value in FEATURE.items():
            raw["datasets"][matrix]["features"]["nzseg_per_nnz"] = value
            synthetic.scale(raw, "csrl", 1 / (0.45 * speedups[value]), matrix)
        return raw

    return make


FALLING = {0.1: 2.0, 0.2: 1.5, 0.4: 0.8, 0.6: 0.7, 0.8: 0.6}


def curve_of(run: Measurements) -> crossovers.Curve:
    compared = compare(run, "csrl", "textbook", WHERE)
    assert isinstance(compared, Comparison)
    return crossovers.curve(run, compared, "nzseg_per_nnz")


def test_the_place_is_interpolated_between_neighbours(measured: Measure, sweep: Sweep) -> None:
    found = curve_of(measured(sweep(FALLING)))
    assert found.xs == [0.1, 0.2, 0.4, 0.6, 0.8]
    assert found.place.value == pytest.approx(0.2 + 0.2 * 0.6451, abs=0.005)
    assert found.place.low < found.place.value < found.place.high
    assert found.place.high - found.place.low < 0.01
    assert found.words().startswith("0.33 (0.3")


def test_points_may_have_different_numbers_of_rounds(measured: Measure, sweep: Sweep) -> None:
    raw = sweep(FALLING)
    whole = curve_of(measured(raw)).place.value
    for case in raw["cases"]:  # the rounds of one point were not taken once more
        if case["parameters"]["matrix"] == "rmat":
            case["samples_s"] = case["samples_s"][:-2]
    assert curve_of(measured(raw)).place.value == pytest.approx(whole, abs=0.01)


def test_of_several_places_the_last_counts_and_it_is_said(
    measured: Measure, sweep: Sweep
) -> None:
    found = curve_of(measured(sweep({0.1: 1.3, 0.2: 0.8, 0.4: 1.2, 0.6: 1.2, 0.8: 0.6})))
    assert 0.6 < found.place.value < 0.8
    assert found.words().endswith("), the last of 2 such places")


@pytest.mark.parametrize(
    ("speedups", "said"),
    [
        ([2.0, 1.9, 1.8, 1.7, 1.6], "none: faster everywhere from 0.10 to 0.80"),
        ([0.9, 0.8, 0.7, 0.7, 0.6], "none: nowhere faster from 0.10 to 0.80"),
        ([0.9, 0.8, 0.9, 1.1, 1.2], "none that the rounds agree on from 0.10 to 0.80"),
    ],
)
def test_none_is_an_answer(
    speedups: list[float], said: str, measured: Measure, sweep: Sweep
) -> None:
    run = measured(sweep(dict(zip(FALLING, speedups, strict=True))))
    assert curve_of(run).words() == said


def test_an_interval_may_leave_the_range(measured: Measure, sweep: Sweep) -> None:
    raw = sweep({0.1: 2.0, 0.2: 1.8, 0.4: 1.5, 0.6: 1.2, 0.8: 1.0})
    for entry in raw["cases"]:
        if entry["variant"] == "csrl" and entry["parameters"]["matrix"] == "random":
            samples = enumerate(entry["samples_s"])
            entry["samples_s"] = [s * (1.05 if i % 2 == 0 else 0.97) for i, s in samples]
    found = curve_of(measured(raw))
    assert found.place.high == 0.8
    assert found.words() == "0.76 (0.76–0.80 or beyond)"


def judged(run: Measurements, between: tuple[float, float] = (0.3, 0.5)) -> claims.Verdict:
    condition = Condition(
        ("csrl",), ("textbook",), "faster", WHERE, along="nzseg_per_nnz", between=between
    )
    claim = Claim("1.x", 1, "Says.", "Says", "crossover", False, (), (condition,))
    return claims.judge(run, claim)


@pytest.mark.parametrize(
    ("speedups", "verdict"),
    [
        ([2.0, 1.5, 0.8, 0.7, 0.6], REPRODUCED),
        ([2.0, 1.5, 1.2, 0.7, 0.6], REPRODUCED),
        ([2.0, 1.5, 1.2, 1.15, 0.6], DIRECTION_ONLY),
        ([2.0, 0.9, 0.8, 0.7, 0.6], DIRECTION_ONLY),
        ([2.0, 1.0, 0.8, 0.7, 0.6], DIRECTION_ONLY),
        ([2.0, 1.5, 1.4, 1.3, 0.6], DIRECTION_ONLY),
        ([2.0, 1.9, 1.8, 1.7, 1.6], NOT_REPRODUCED),
    ],
)
def test_verdicts(
    speedups: list[float], verdict: str, measured: Measure, sweep: Sweep
) -> None:
    found = judged(measured(sweep(dict(zip(FALLING, speedups, strict=True)))))
    assert found.verdict == verdict


def test_the_sentence_tells_the_place_and_where_it_should_be(
    measured: Measure, sweep: Sweep
) -> None:
    found = judged(measured(sweep({0.1: 2.0, 0.2: 1.5, 0.4: 1.4, 0.6: 1.3, 0.8: 0.6})))
    sentence = found.findings[0].sentence
    said = "`csrl` stops being faster than `textbook` at 0.67 (0.67–0.67) runs per nonzero"
    assert sentence.startswith(said)
    assert "Claimed is between 0.3 and 0.5: the direction holds, the size does not." in sentence
    assert found.decided_by == ["at 0.67"]


def test_a_place_beyond_what_was_swept_decides(measured: Measure, sweep: Sweep) -> None:
    found = judged(measured(sweep({0.1: 2.0, 0.2: 1.9, 0.4: 1.8, 0.6: 1.7, 0.8: 1.6})))
    said = "nowhere stops being faster than `textbook`: faster everywhere from 0.10 to 0.80"
    assert said in found.findings[0].sentence
    assert found.verdict == NOT_REPRODUCED
    assert found.decided_by == ["beyond 0.80"]


def test_beyond_what_was_swept_but_not_beyond_what_is_asked(
    measured: Measure, sweep: Sweep
) -> None:
    run = measured(sweep({0.1: 0.9, 0.2: 0.8, 0.4: 0.7, 0.6: 0.7, 0.8: 0.6}))
    assert judged(run, between=(0.05, 0.5)).verdict == UNDECIDED
    assert judged(run, between=(0.2, 0.5)).verdict == NOT_REPRODUCED


def test_the_noise_floor_moves_the_place(measured: Measure, sweep: Sweep) -> None:
    run = measured(sweep({0.1: 2.0, 0.2: 1.1, 0.4: 1.0, 0.6: 0.95, 0.8: 0.6}))
    assert run.noise.factor > 1
    compared = compare(run, "csrl", "textbook", WHERE)
    assert isinstance(compared, Comparison)
    noisy = crossovers.curve(run, replace(compared, noise=1.2), "nzseg_per_nnz").reach(1.2)
    quiet = crossovers.curve(run, replace(compared, noise=1.0), "nzseg_per_nnz").reach(1.0)
    assert noisy[0] < quiet[0] < quiet[1] < noisy[1]


def test_a_range_may_end_where_the_interval_does(measured: Measure, sweep: Sweep) -> None:
    run = measured(sweep(FALLING))
    low, high = curve_of(run).reach(run.noise.factor)
    assert judged(run, between=(low, high)).verdict == REPRODUCED
    assert judged(run, between=(high, 0.8)).verdict == UNDECIDED
    assert judged(run, between=(0.1, low)).verdict == UNDECIDED


def test_two_points_are_a_sweep(measured: Measure, sweep: Sweep) -> None:
    raw = sweep(FALLING)
    raw["cases"] = [case for case in raw["cases"]
                    if FEATURE[case["parameters"]["matrix"]] in (0.2, 0.4)]
    assert judged(measured(raw)).verdict == REPRODUCED


def test_one_point_is_no_sweep(measured: Measure, sweep: Sweep) -> None:
    raw = sweep(FALLING)
    raw["cases"] = [case for case in raw["cases"] if case["parameters"]["matrix"] == "fem3"]
    assert judged(measured(raw)).verdict == UNDECIDED


def test_the_verb(say: Say, sweep: Sweep) -> None:
    raw = sweep(FALLING)
    verb = '{{ crossover("%s", over="textbook", x="%s", where={"precision": "fp32"}) | about }}'
    assert say(verb % ("csrl", "nzseg_per_nnz"), raw) == "0.33"
    for wrong, said in {
        ("avx512", "nzseg_per_nnz"): "`avx512` was skipped: this CPU has no AVX-512",
        ("csrl", "nzseg"): 'no axis and no feature "nzseg" in the result',
        ("csrl", "matrix"): '"matrix" has the value "pois2d", expected numbers',
    }.items():
        with pytest.raises(UserError, match=said):
            say(verb % wrong, raw)


def test_the_figure_has_marks_and_a_band(measured: Measure, sweep: Sweep) -> None:
    said = lines(measured(sweep(FALLING)), marks={"article": 0.3},
                 crossover=["csrl", "avx512", "unroll4"])
    assert "demo-threads.svg" in said


def test_a_line_ends_where_its_variant_was_not_measured(measured: Measure, sweep: Sweep) -> None:
    raw = sweep(FALLING)
    last = max(case["parameters"]["matrix"] for case in raw["cases"])
    raw["cases"] = [case for case in raw["cases"]
                    if (case["variant"], case["parameters"]["matrix"]) != ("unroll4", last)]
    assert "demo-threads.svg" in lines(measured(raw))


def lines(run: Measurements, **options: Any) -> str:
    where = {"precision": "fp32", "threads": 1, "variant": ["csrl", "unroll4"]}
    return Plot(run, "figures").lines("demo.threads", x="nzseg_per_nnz", y="speedup",
                                      over="textbook", where=where, **options)

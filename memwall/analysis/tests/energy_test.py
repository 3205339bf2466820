"""Joules above a baseline: what a byte and an operation cost, and by what they are told apart."""

from collections.abc import Callable
from statistics import median

import pytest

from memwall.analysis.basis import Basis, Pair
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.measurements import Measurements
from memwall.analysis.measures import Reached
from memwall.analysis.metrics import metric_named
from memwall.analysis.quantities import NoNumber, Unknown
from memwall.record.errors import UserError
from memwall.record.results import Json

Measure = Callable[..., Measurements]
IDLE = "textbook"  # stands for a device with nothing to do
WHERE = {"matrix": "fem3", "precision": "fp64", "threads": 1}


@pytest.fixture
def metered(raw: Json) -> Json:
    """As if an idle device took 100 W and one that works 300 W."""
    for case in raw["cases"]:
        power = 100 if case["variant"] == IDLE else 300
        case["rounds"] = {"joules": [power * seconds for seconds in case["samples_s"]]}
    return raw


def pair_of(run: Measurements, variant: str = "csrl") -> Pair:
    (pair,) = Basis(run).alone(run.find(variant, WHERE).cases)
    return pair


def test_a_baseline_takes_its_watts_for_as_long_as_the_other_one_runs(
        measured: Measure, metered: Json) -> None:
    pair = pair_of(measured(metered))
    seconds = median(pair.case.samples)
    assert median(metric_named("watts").of(pair)) == pytest.approx(300)
    above = metric_named(f"joules_above:{IDLE}").of(pair)
    assert median(above) == pytest.approx(200 * seconds)
    cost = metric_named(f"pj_per_byte:{IDLE}").of(pair)
    assert median(cost) == pytest.approx(1e12 * 200 * seconds / pair.case.bytes)
    yielded = metric_named(f"gb_per_joule:{IDLE}").of(pair)
    assert median(yielded) == pytest.approx(1e3 / median(cost))
    calls = metric_named("calls_per_joule").of(pair)
    assert median(calls) == pytest.approx(1 / (300 * seconds))


def test_what_has_no_joules_has_no_cost(measured: Measure, raw: Json) -> None:
    with pytest.raises(Unknown, match='recorded no "joules" for each round'):
        metric_named("watts").of(pair_of(measured(raw)))


def test_what_has_no_baseline_no_work_or_no_more_than_it_has_no_cost(
        measured: Measure, metered: Json) -> None:
    pair = pair_of(measured(metered))
    with pytest.raises(NoNumber, match="has no `nobody` beside it"):
        metric_named("pj_per_byte:nobody").of(pair)
    with pytest.raises(NoNumber, match="has no operations"):
        metric_named(f"pj_per_operation:{IDLE}").of(pair)
    with pytest.raises(NoNumber, match="takes no more than `csrl`"):
        metric_named("gb_per_joule:csrl").of(pair)
    with pytest.raises(UserError, match='no metric "pj_per_mile:idle"'):
        metric_named("pj_per_mile:idle")


def test_a_baseline_has_no_cost_itself(measured: Measure, metered: Json) -> None:
    for case in metered["cases"]:
        if case["variant"] == "csrl":
            case["group"] = "baseline"
    with pytest.raises(NoNumber, match="has no bytes"):
        metric_named(f"pj_per_byte:{IDLE}").of(pair_of(measured(metered)))


def test_joules_are_told_apart_by_the_noise_of_joules(measured: Measure, metered: Json) -> None:
    """Times may agree to a hundredth where joules do not."""
    for case in metered["cases"]:
        if case["twin"]:
            case["rounds"]["joules"] = [1.5 * joules for joules in case["rounds"]["joules"]]
    run = measured(metered)
    assert run.noise.factor < 1.1
    assert run.noise_of(run.cases, "joules").factor > 1.4
    found = compare(run, "csrl", IDLE, WHERE, Reached("calls_per_joule"))
    assert isinstance(found, Comparison)
    assert found.noise > 1.4
    timed = compare(run, "csrl", IDLE, WHERE)
    assert isinstance(timed, Comparison)
    assert timed.noise < 1.1

"""What a result says beyond its cases: how restless the machine was."""

from collections.abc import Callable

import pytest

from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.measurements import Measurements
from memwall.analysis.numerics import NoiseFloor
from memwall.record.results import Json


def test_the_noise_of_a_target_is_that_of_its_own_pairs(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    """A restless host leaves what GPUs do decided."""
    for case in raw["cases"]:
        if case["parameters"]["matrix"] != "rmat":
            case["target"] = "cuda"
        elif case["twin"]:
            case["samples_s"] = [seconds * 1.5 for seconds in case["samples_s"]]
    run = measured(raw)

    def noise_on(*targets: str) -> NoiseFloor:
        return run.noise_of(case for case in run.cases if case.target in targets)

    assert run.noise.factor > 1.4
    assert noise_on("host").factor > 1.4
    assert noise_on("cuda").factor < 1.1
    assert noise_on("host", "cuda") == noise_on() == run.noise
    for matrix, is_restless in {"fem3": False, "rmat": True}.items():
        compared = compare(run, "unroll4", "textbook", {"matrix": matrix})
        assert isinstance(compared, Comparison)
        assert (compared.noise > 1.4) == is_restless


@pytest.mark.parametrize(("pairs", "is_restless"), [(3, True), (4, False)])
def test_the_noise_of_a_study_or_launch_is_that_of_its_own_pairs_if_they_are_enough(
    measured: Callable[..., Measurements], raw: Json, pairs: int, is_restless: bool
) -> None:
    """Products of microseconds leave those of milliseconds decided."""
    twins = [case for case in raw["cases"] if case["twin"]]
    assert len(twins) > pairs
    for number, twin in enumerate(twins):
        here = twin["parameters"]
        if number < pairs:
            for case in raw["cases"]:
                if case["parameters"] == here and case["launch"] == twin["launch"]:
                    case["study"] = "long"
        else:
            twin["samples_s"] = [seconds * 1.5 for seconds in twin["samples_s"]]
    run = measured(raw)
    found = run.noise_of(case for case in run.cases if case.parameters["study"] == "long")
    assert (found.factor > 1.4) == is_restless


def test_the_noise_of_a_launch_is_that_of_its_own_pairs(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    """Sixteen threads that are restless leave one thread decided."""
    for twin in (case for case in raw["cases"] if case["twin"]):
        if twin["launch"] == 1:
            twin["samples_s"] = [seconds * 1.5 for seconds in twin["samples_s"]]
    run = measured(raw)
    for launch, is_restless in {0: False, 1: True}.items():
        found = run.noise_of(case for case in run.cases if case.launch == launch)
        assert (found.factor > 1.4) == is_restless

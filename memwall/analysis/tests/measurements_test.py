"""What a result says beyond its cases: how restless the machine was."""

from collections.abc import Callable

from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.measurements import Measurements
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
    assert run.noise.factor > 1.4
    assert run.noise_on({"host"}).factor > 1.4
    assert run.noise_on({"cuda"}).factor < 1.1
    assert run.noise_on({"host", "cuda"}) == run.noise_on({"ranks"}) == run.noise
    for matrix, is_restless in {"fem3": False, "rmat": True}.items():
        compared = compare(run, "unroll4", "textbook", {"matrix": matrix})
        assert isinstance(compared, Comparison)
        assert (compared.noise > 1.4) == is_restless

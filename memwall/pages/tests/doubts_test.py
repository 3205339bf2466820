"""What is doubtful about one case: it is marked, decides nothing, and everything else is woven."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memwall.analysis import claims
from memwall.analysis.measurements import Measurements
from memwall.conftest import Store
from memwall.pages.tests.book_test import CHAPTER, weave
from memwall.record.results import Json
from memwall.tests import synthetic


def test_cold_and_faster_than_memory_is_marked_and_decides_nothing(
    root: Path, store: Store, raw: Json
) -> None:
    """It is shown as it was measured; verdicts are those that there are without it."""
    synthetic.scale(raw, "restrict", 0.3, matrix="rmat")
    store(raw)
    page = weave(root)[f"{CHAPTER}/report.md"]
    doubts = re.findall(r"no verdict: `restrict` at rmat fp\d\d threads=\d: \d+ % of the", page)
    assert "is out of date or doubtful: [Runs](#runs) says" in page and len(doubts) == 4


def test_a_verdict_is_that_without_the_doubtful(
    measured: Callable[..., Measurements], raw: Json
) -> None:
    synthetic.scale(raw, "restrict", 0.3, matrix="rmat")
    doubtful = measured(raw)
    raw["cases"] = [entry for entry in raw["cases"] if entry["variant"] != "restrict"
                    or entry["parameters"]["matrix"] != "rmat"]
    without = measured(raw, partial=True)
    assert len(doubtful.doubts) == 4 and without.doubts == []
    for claim in without.experiment.claims:
        found, expected = claims.judge(doubtful, claim), claims.judge(without, claim)
        assert (found.verdict, found.numbers) == (expected.verdict, expected.numbers)


def test_the_probe_with_the_fastest_pass_counts(root: Path, store: Store, raw: Json) -> None:
    """Another may have the higher median rate."""
    synthetic.scale(raw, "unroll4", 0.4, matrix="rmat")
    for probe in [probe for probe in raw["ceilings"] if probe["bytes"] > 0]:
        slow = [seconds * 1.1 for seconds in probe["samples_s"]]
        raw["ceilings"].append(probe | {"name": "uneven", "samples_s": [*slow, slow[0] / 4]})
    store(raw)
    weave(root)


def test_memory_of_another_target_counts_for_nothing(root: Path, store: Store, raw: Json) -> None:
    """A GPU may be faster than the host's memory, which its probe tells of."""
    for case in raw["cases"]:
        if case["variant"] == "unroll4" and case["parameters"]["matrix"] == "rmat":
            case["target"] = "cuda"
            case["samples_s"] = [seconds * 0.4 for seconds in case["samples_s"]]
    for probe in [probe for probe in raw["ceilings"] if probe["bytes"] > 0]:
        fast = [seconds / 100 for seconds in probe["samples_s"]]
        raw["ceilings"].append(
            probe | {"name": "device_read", "target": "cuda", "samples_s": fast})
    store(raw)
    weave(root)


def test_a_smaller_format_may_be_faster_than_the_compulsory_bytes(
    root: Path, store: Store, raw: Json
) -> None:
    synthetic.scale(raw, "csrl", 0.5, matrix="rmat")
    store(raw)
    weave(root)


def test_few_restless_samples_raise_no_alarm(measured: Callable[..., Measurements]) -> None:
    """The median is above 105 %, its interval is not."""
    raw = synthetic.result(rounds=7)
    synthetic.scale(raw, "unroll4", 0.46, matrix="rmat")
    for entry in raw["cases"]:
        if entry["variant"] == "unroll4":
            entry["samples_s"][3] *= 2
    assert not measured(raw).doubtful
    synthetic.scale(raw, "unroll4", 0.4, matrix="rmat")
    assert measured(raw).doubtful


def test_what_the_ceiling_does_not_bound_may_be_faster(
    measured: Callable[..., Measurements]
) -> None:
    raw = synthetic.result(rounds=7)
    synthetic.scale(raw, "unroll4", 0.4, matrix="rmat")
    found = measured(raw)
    assert found.doubtful
    for region, alarms in (({"matrix": "rmat"}, False), ({"matrix": "fem3"}, True)):
        experiment = replace(found.experiment, unbounded=(region,))
        assert bool(replace(found, experiment=experiment).doubtful) == alarms


def test_warm_may_be_faster_than_memory(root: Path, store: Store, raw: Json) -> None:
    for entry in raw["cases"]:
        entry["cache"] = "warm"
    synthetic.scale(raw, "csrl", 0.5)
    store(raw)
    weave(root)

"""What was counted and not timed: stored bytes, counts of a variant, and what a profiler counted in
another call. Claims and values speak of all of them alike."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from memwall.analysis import claims
from memwall.analysis.measurements import Measurements
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
)
from memwall.conftest import Say
from memwall.record.definition import Claim, Condition
from memwall.record.errors import UserError
from memwall.record.results import Json

Measure = Callable[..., Measurements]
LESS = Condition(("csrl",), ("textbook",), "far", {"threads": 1}, of=("l2_sectors",) * 2)
FEM3 = {"matrix": "fem3", "precision": "fp64", "threads": 1}


def counted(raw: Json, variant: str, stored: float, **counts: float) -> None:
    """Gives a variant bytes and counts at every point."""
    for entry in raw["cases"]:
        if entry["variant"] == variant:
            entry["setup"] |= {"stored_bytes": stored, "counts": counts}


def less(first: str, than: str, expect: str = "less", than_of: str = "stored_bytes") -> Claim:
    of = ("stored_bytes", than_of)
    condition = Condition((first,), (than,), expect, {"threads": 1}, of=of)
    return Claim("1.x", 1, "Says.", "Says.", "magnitude", False, (), (condition,))


def test_stored_bytes_are_compared_without_rounds(measured: Measure, raw: Json) -> None:
    counted(raw, "csrl", 600)
    counted(raw, "textbook", 0)
    for entry in raw["cases"]:
        if entry["variant"] == "textbook":
            entry["setup"]["operand_bytes"] = 1000  # the caller's matrix, read as it is
    found = claims.judge(measured(raw), less("csrl", "textbook"))
    assert found.verdict == REPRODUCED
    assert found.findings[0].sentence == (
        "The stored bytes of `textbook` are 1.67 times those of `csrl` (10 points, 1 thread)."
        " Claimed is less for `csrl`: it holds."
    )
    assert found.decided_by == ["1.67x"]
    assert claims.judge(measured(raw), less("csrl", "textbook", "far")).verdict == DIRECTION_ONLY
    assert claims.judge(measured(raw), less("textbook", "csrl")).verdict == NOT_REPRODUCED


def test_noise_of_times_does_not_touch_bytes(measured: Measure, raw: Json) -> None:
    counted(raw, "csrl", 990)
    counted(raw, "textbook", 1000)
    for entry in raw["cases"]:
        if entry["twin"]:
            entry["samples_s"] = [s * 1.3 for s in entry["samples_s"]]
    assert claims.judge(measured(raw), less("csrl", "textbook")).verdict == REPRODUCED


def test_a_count_may_stand_for_the_other_side(measured: Measure, raw: Json) -> None:
    counted(raw, "csrl", 600, bytes_as_csr=900)
    found = claims.judge(measured(raw), less("csrl", "csrl", than_of="bytes_as_csr"))
    assert found.verdict == REPRODUCED
    said = "The bytes as csr of `csrl` are 1.50 times the stored bytes of `csrl` (10 points"
    assert found.findings[0].sentence.startswith(said)


def test_what_was_counted_can_be_asked_of_every_matrix(measured: Measure, raw: Json) -> None:
    counted(raw, "csrl", 600, bytes_as_csr=580)
    claim = less("csrl", "csrl", than_of="bytes_as_csr")
    every = replace(claim.conditions[0], on="every", expect=0.95)
    found = claims.judge(measured(raw), replace(claim, conditions=(every,)))
    assert found.verdict == REPRODUCED
    said = "The bytes as csr of `csrl` against the stored bytes of `csrl`, each matrix by itself"
    assert found.findings[0].sentence.startswith(said)
    assert "as claimed on 5 of 5 matrices" in found.findings[0].sentence
    every = replace(every, expect=0.97)
    found = claims.judge(measured(raw), replace(claim, conditions=(every,)))
    assert found.verdict == NOT_REPRODUCED


def test_a_count_that_no_case_has_stops_the_weave(measured: Measure, raw: Json) -> None:
    """A name that the result lacks may be mistyped; a count of 0 is what was found."""
    found = claims.judge(measured(raw), less("csrl", "textbook"))
    assert found.verdict == UNDECIDED
    assert found.findings[0].sentence == "textbook records no stored_bytes, nothing to compare."
    with pytest.raises(UserError, match='no quantity "tiles" of csrl, which has: stored_bytes'):
        claims.judge(measured(raw), less("csrl", "csrl", than_of="tiles"))


def test_a_count_newer_than_the_result_is_stale(measured: Measure, raw: Json) -> None:
    run = measured(raw)
    since = replace(run, experiment=replace(run.experiment, since={"tiles": "unroll4"}))
    found = claims.judge(since, less("csrl", "csrl", than_of="tiles"))
    assert found.verdict == OUT_OF_DATE
    assert found.note == "`tiles`: not counted in this run"


@pytest.fixture
def profiled(raw: Json) -> Json:
    """A result in which `textbook` reads twice the sectors of `csrl`."""
    for entry in raw["cases"]:
        if sectors := {"textbook": 300.0, "csrl": 150.0}.get(entry["variant"]):
            entry["counters"] = {"tool": "ncu 2025.3", "values": {"l2_sectors": sectors}}
    return raw


def asked(condition: Condition) -> Claim:
    return Claim("1.x", 1, "Says.", "Says.", "magnitude", False, (), (condition,))


def test_claims_compare_counters(measured: Measure, profiled: Json) -> None:
    found = claims.judge(measured(profiled), asked(LESS))
    assert (found.verdict, found.decided_by) == (REPRODUCED, ["2.00x"])
    assert found.findings[0].sentence.startswith(
        "The l2 sectors of `textbook` are 2.00 times those of `csrl`")
    turned = replace(LESS, faster=("textbook",), than=("csrl",), expect="less")
    assert claims.judge(measured(profiled), asked(turned)).verdict == NOT_REPRODUCED


def test_an_unknown_counter_is_an_error(
    measured: Measure, profiled: Json
) -> None:
    said = 'no quantity "l1_sectors" of csrl, which has: stored_bytes, operations, l2_sectors'
    with pytest.raises(UserError, match=said):
        claims.judge(measured(profiled), asked(replace(LESS, of=("l1_sectors",) * 2)))


def said_of(say: Say, metric: str, raw: Json) -> str:
    """A metric of `csrl` at one point, as a lesson says it."""
    return say(f'{{{{ number("{metric}", "csrl", where={FEM3}) | about }}}}', raw)


def test_counters_are_values_as_counts_are(
    say: Say, measured: Measure, profiled: Json
) -> None:
    assert said_of(say, "count:l2_sectors", profiled) == "150"
    value = Condition(("csrl",), (), "", FEM3, value="count:l2_sectors", at_most=150)
    assert claims.judge(measured(profiled), asked(value)).verdict == REPRODUCED
    more = replace(value, at_most=149)
    assert claims.judge(measured(profiled), asked(more)).verdict == NOT_REPRODUCED


def test_a_counter_has_a_name_of_its_own(say: Say, measured: Measure, profiled: Json) -> None:
    for entry in profiled["cases"]:
        entry["setup"]["counts"] = {"l2_sectors": 3}
    assert said_of(say, "counter:l2_sectors", profiled) == "150"
    value = Condition(("csrl",), (), "", FEM3, value="counter:l2_sectors", at_most=150)
    assert claims.judge(measured(profiled), asked(value)).verdict == REPRODUCED
    less = replace(LESS, of=("counter:l2_sectors",) * 2)
    found = claims.judge(measured(profiled), asked(less))
    assert (found.verdict, found.decided_by) == (REPRODUCED, ["2.00x"])
    assert found.findings[0].sentence.startswith(
        "The l2 sectors of `textbook` are 2.00 times those of `csrl`")
    more = replace(less, faster=("textbook",), than=("csrl",), expect=2, more=True)
    found = claims.judge(measured(profiled), asked(more))
    assert (found.verdict, found.decided_by) == (REPRODUCED, ["2.00x"])
    assert "The l2 sectors of `textbook` are 2.00 times those of" in found.findings[0].sentence


def test_none_of_something_is_a_value_and_no_ratio(measured: Measure, profiled: Json) -> None:
    for entry in profiled["cases"]:
        entry.get("counters", {"values": {}})["values"]["l2_sectors"] = 0
    value = Condition(("csrl",), (), "", FEM3, value="counter:l2_sectors", at_most=0)
    assert claims.judge(measured(profiled), asked(value)).verdict == REPRODUCED
    for more in (False, True):
        less = replace(LESS, of=("counter:l2_sectors",) * 2, more=more)
        found = claims.judge(measured(profiled), asked(less))
        assert found.verdict == UNDECIDED
        assert "nothing to compare" in found.findings[0].sentence


def test_what_reaches_nothing_in_a_round_has_no_ratio(measured: Measure, profiled: Json) -> None:
    for entry in profiled["cases"]:
        if entry["variant"] == "csrl":
            entry["counters"]["values"]["l2_sectors"] = 0
    more = replace(LESS, of=("counter:l2_sectors",) * 2, more=True)
    found = claims.judge(measured(profiled), asked(more))
    assert found.verdict == UNDECIDED
    assert "csrl has no counter:l2_sectors, nothing to compare" in found.findings[0].sentence


def test_only_points_that_were_profiled_count(measured: Measure, profiled: Json) -> None:
    for entry in profiled["cases"]:
        if entry["parameters"]["matrix"] != "fem3":
            entry.pop("counters", None)
    less = replace(LESS, of=("counter:l2_sectors",) * 2)
    found = claims.judge(measured(profiled), asked(less))
    assert found.verdict == REPRODUCED
    assert "(2 points, 1 thread; 8 more lack one of the two)" in found.findings[0].sentence


def test_where_nothing_was_profiled_a_claim_cannot_be_asked(
    say: Say, measured: Measure, raw: Json
) -> None:
    said = "no profiler has counted `counter:l2_sectors` here"
    value = Condition(("csrl",), (), "", FEM3, value="counter:l2_sectors", at_most=150)
    for condition in (value, replace(LESS, of=("counter:l2_sectors",) * 2),
                      replace(LESS, of=("stored_bytes", "counter:l2_sectors")),
                      replace(LESS, of=("counter:l2_sectors",) * 2, expect=2, more=True)):
        found = claims.judge(measured(raw), asked(condition))
        assert found.verdict == UNDECIDED
        assert said in found.findings[0].sentence
    with pytest.raises(UserError, match=said):
        said_of(say, "counter:l2_sectors", raw)


def test_what_a_variant_counts_itself_stands_before_it(say: Say, profiled: Json) -> None:
    for entry in profiled["cases"]:
        entry["setup"]["counts"] = {"l2_sectors": 3}
    assert said_of(say, "count:l2_sectors", profiled) == "3.0"


def test_a_quotient_of_counts_is_a_count(measured: Measure, profiled: Json) -> None:
    value = Condition(("csrl",), (), "", FEM3, value="counter:l2_sectors / l2_sectors", at_most=1)
    assert claims.judge(measured(profiled), asked(value)).verdict == REPRODUCED
    half = replace(value, value="counter:l2_sectors / l2_sectors", at_most=0.5)
    assert claims.judge(measured(profiled), asked(half)).verdict == NOT_REPRODUCED

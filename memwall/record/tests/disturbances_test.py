"""Rounds in which something was disturbed are left out, unless that would be a choice."""

from pathlib import Path

import pytest

from memwall.record import disturbances, joining, results
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

PLACE = Path("result.json")


def at_one_point(raw: Json) -> list[Json]:
    """The raw cases of the first point that passed."""
    first = raw["cases"][0]
    return [case for case in raw["cases"] if case["samples_s"]
            and (case["launch"], case["parameters"]) == (first["launch"], first["parameters"])]


def lengthen(raw: Json, *numbers: int) -> list[Json]:
    """One sample of the first case is disturbed in each of these rounds, and as many rounds were
    taken once more."""
    cases = at_one_point(raw)
    for case in cases:
        case["samples_s"] += case["samples_s"][:len(numbers)]
    cases[0]["disturbed"] = {"preempted": list(numbers)}
    return cases


def test_the_harness_names_what_python_knows() -> None:
    header = (Path(results.SCHEMA).parent / "disturbance.hpp").read_text(encoding="utf-8")
    assert all(f'"{kind}"' in header for kind in disturbances.KINDS)
    assert f"constexpr std::size_t share_of_spare_rounds = {results.SPARE_ROUNDS};" in (
        Path(results.SCHEMA).parent / "rounds.cpp").read_text(encoding="utf-8")


def test_a_disturbed_round_is_left_out_for_all_contenders() -> None:
    raw = synthetic.result()
    rounds = raw["run"]["rounds"]
    cases = lengthen(raw, 0, 3)
    results.validate(raw, "r")
    found = results.of(raw, PLACE).cases[:len(cases)]
    for case, one in zip(cases, found, strict=False):
        if one.passed:
            assert len(one.samples) == rounds
            assert one.samples == (*case["samples_s"][1:3], *case["samples_s"][4:])
            assert one.taken == tuple(case["samples_s"])


@pytest.mark.parametrize(("disturbed", "counted"), [(4, 17), (5, 21)])
def test_beyond_a_fifth_all_rounds_count(disturbed: int, counted: int) -> None:
    case = {"samples_s": [1.0] * 21, "disturbed": {"stolen": list(range(disturbed))}}
    assert len(disturbances.counted_rounds([case])) == counted


def test_one_that_is_disturbed_oftener_is_compared_by_all() -> None:
    raw = synthetic.result()
    cases = lengthen(raw, 0, 3)
    calm, other = results.of(raw, PLACE).cases[1], results.of(raw, PLACE).cases[0]
    assert calm.disturbed == 0 and other.disturbed == pytest.approx(2 / len(cases[0]["samples_s"]))
    assert len(results.samples_of_both(calm, other)[0]) == raw["run"]["rounds"]
    cases[0]["disturbed"] = {"preempted": [0, 3], "migrated": [5]}
    calm, other = results.of(raw, PLACE).cases[1], results.of(raw, PLACE).cases[0]
    assert [len(one) for one in results.samples_of_both(calm, other)] == [
        len(cases[0]["samples_s"])] * 2


def test_samples_that_were_not_taken_were_not_disturbed() -> None:
    raw = synthetic.result()
    lengthen(raw, 0, 99)
    with pytest.raises(UserError, match="found sample 99, expected less than 23"):
        results.validate(raw, "r")


def test_more_rounds_than_may_be_taken_again_are_refused() -> None:
    raw = synthetic.result()
    lengthen(raw, 0, 1, 2, 3, 4, 5)
    with pytest.raises(UserError, match="found 27 samples, expected 21, one for each round, and at"
                                        " most 5 for rounds that were disturbed"):
        results.validate(raw, "r")


def test_further_rounds_keep_their_disturbances() -> None:
    first, more = synthetic.result(), synthetic.result()
    at_one_point(more)[0]["disturbed"] = {"migrated": [2]}
    whole = joining.prolong(first, more)
    assert at_one_point(whole)[0]["disturbed"] == {"migrated": [21 + 2]}


def test_it_is_told_what_does_not_count() -> None:
    raw = synthetic.result()
    assert disturbances.told(raw) == ""
    lengthen(raw, 0, 3)
    assert "2 of " in disturbances.told(raw) and "more than a fifth" not in disturbances.told(raw)
    at_one_point(raw)[1]["disturbed"] = {"stolen": [4, 5, 6]}
    assert disturbances.told(raw) == (
        "5 of 422 rounds were disturbed; at 1 of 20 points more than a fifth were disturbed, and"
        " there all rounds count")

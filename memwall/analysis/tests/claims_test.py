"""Words mean numbers: each word on each side of its threshold, and what may stand in the way."""

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memwall.analysis import claims, expectations
from memwall.analysis.comparisons import Comparison, Point, compare
from memwall.analysis.measurements import Elsewhere, Measurements
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_ASKED,
    NOT_REPRODUCED,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
    Reason,
)
from memwall.record.definition import Claim, Condition
from memwall.record.errors import UserError
from memwall.record.results import Case, Json
from memwall.tests import synthetic

Measure = Callable[..., Measurements]
ROUNDS = 21


def _case(samples: list[float], matrix: str) -> Case:
    return Case(
        variant="v",
        group="own",
        excerpt="v",
        twin=False,
        launch=0,
        parameters={"matrix": matrix},
        flops=1,
        bytes=1,
        verdict={"status": "passed"},
        cache="cold",
        setup_seconds=0,
        stored_bytes=0,
        samples=tuple(samples),
    )


def comparison(speedups: list[float], spread: float = 0.004, noise: float = 1.01) -> Comparison:
    """One point for each speed-up, with a half-width of the interval of about `spread`."""
    steps = [spread * (k - ROUNDS // 2) / (ROUNDS // 5) for k in range(ROUNDS)]
    points = []
    for index, speedup in enumerate(speedups):
        than = [speedup * (1 + step) for step in steps]
        sides = _case([1.0] * ROUNDS, f"m{index}"), _case(than, f"m{index}")
        points.append(Point(*sides, f"m{index}", than))
    return Comparison("a", "b", tuple(points), noise)


def verdict_of(expect: str, speedups: list[float], **options: float) -> str:
    return expectations.examine(comparison(speedups, **options), expect).verdict


@pytest.mark.parametrize(
    ("expect", "speedup", "verdict"),
    [
        ("faster", 1.10, REPRODUCED),
        ("faster", 1.00, NOT_REPRODUCED),  # alike is not faster
        ("faster", 0.90, NOT_REPRODUCED),
        ("clearly", 1.25, REPRODUCED),
        ("clearly", 1.20, UNDECIDED),
        ("clearly", 1.15, DIRECTION_ONLY),
        ("clearly", 0.50, NOT_REPRODUCED),
        ("far", 2.10, REPRODUCED),
        ("far", 2.00, UNDECIDED),
        ("far", 1.90, DIRECTION_ONLY),
        ("several", 3.10, REPRODUCED),
        ("several", 3.00, UNDECIDED),
        ("several", 2.90, DIRECTION_ONLY),
        ("alike", 1.02, REPRODUCED),
        ("alike", 0.98, REPRODUCED),
        ("alike", 1.05, UNDECIDED),
        ("alike", 1.08, NOT_REPRODUCED),
        ("alike", 0.90, NOT_REPRODUCED),
        ("keeps-up", 1.50, REPRODUCED),
        ("keeps-up", 0.97, REPRODUCED),
        ("keeps-up", 0.95, UNDECIDED),
        ("keeps-up", 0.92, NOT_REPRODUCED),
        ("never-below", 1.00, REPRODUCED),
        ("never-below", 0.972, REPRODUCED),
        ("never-below", 0.94, NOT_REPRODUCED),
    ],
)
def test_words(expect: str, speedup: float, verdict: str) -> None:
    assert verdict_of(expect, [speedup]) == verdict


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [(1.55, REPRODUCED), (1.5, UNDECIDED), (1.4, DIRECTION_ONLY), (0.9, NOT_REPRODUCED)],
)
def test_a_number_stands_for_itself(speedup: float, verdict: str) -> None:
    assert expectations.examine(comparison([speedup]), 1.5).verdict == verdict


@pytest.mark.parametrize(
    ("speedup", "noise", "verdict"),
    [
        (0.92, 1.01, REPRODUCED),
        (0.92, 1.3, REPRODUCED),  # noise has not made up what is below one
        (0.90, 1.01, UNDECIDED),
        (0.88, 1.01, NOT_REPRODUCED),
        (0.88, 1.3, UNDECIDED),
    ],
)
def test_a_number_below_one_allows_so_much_less(
    speedup: float, noise: float, verdict: str
) -> None:
    assert expectations.examine(comparison([speedup], noise=noise), 0.9).verdict == verdict


@pytest.mark.parametrize(
    ("on", "expect", "speedups", "verdict"),
    [
        ("any", "far", [0.8, 0.9, 2.2], REPRODUCED),
        ("any", "far", [0.8, 0.9, 2.0], UNDECIDED),
        ("any", "far", [0.8, 0.9, 1.8], DIRECTION_ONLY),
        ("any", "far", [0.8, 0.9, 0.7], NOT_REPRODUCED),
        ("every", "keeps-up", [1.2, 1.0, 0.97], REPRODUCED),
        ("every", "keeps-up", [1.2, 1.0, 0.95], UNDECIDED),
        ("every", "keeps-up", [1.2, 0.95, 0.9], NOT_REPRODUCED),
        ("every", 1.5, [1.6, 1.7], REPRODUCED),
        ("every", 1.5, [1.6, 1.2], DIRECTION_ONLY),
        ("every", 1.5, [1.5, 1.2], UNDECIDED),
        ("every", 1.5, [1.2, 0.8], NOT_REPRODUCED),
    ],
)
def test_matrices_by_themselves(
    on: str, expect: str | float, speedups: list[float], verdict: str
) -> None:
    assert expectations.examine(comparison(speedups), expect, on).verdict == verdict


def test_any_names_those_that_meet_it_and_every_those_that_do_not() -> None:
    found = expectations.examine(comparison([0.8, 2.2, 2.5]), "far", "any")
    assert "as claimed on 2 of 3 matrices, not on 1." in found.sentence
    said = "far faster (at least 2 times) on at least one matrix: it holds."
    assert found.sentence.endswith(said)
    assert found.decided_by == "2.50x"
    found = expectations.examine(comparison([0.8, 2.2, 2.5]), "keeps-up", "every")
    assert "as claimed on 2 of 3 matrices, not on 1." in found.sentence
    assert "What decides is m0 with 0.80 times" in found.sentence
    found = expectations.examine(comparison([1.1, 1.2]), "far", "any")
    assert "What decides is m1 with 1.20 times" in found.sentence


@pytest.mark.parametrize("expect", ["faster", "clearly", "far", "several"])
def test_a_wide_interval_decides_nothing(expect: str) -> None:
    assert verdict_of(expect, [1.5], spread=2.0) == UNDECIDED


def test_a_difference_inside_the_noise_floor_is_no_direction() -> None:
    assert verdict_of("faster", [1.10], noise=1.2) == UNDECIDED
    assert verdict_of("faster", [0.90], noise=1.2) == UNDECIDED
    assert verdict_of("clearly", [1.25], noise=1.4) == UNDECIDED
    assert verdict_of("clearly", [1.10], noise=1.4) == UNDECIDED
    assert verdict_of("clearly", [0.50], noise=1.4) == NOT_REPRODUCED
    assert verdict_of("alike", [1.10], noise=1.2) == UNDECIDED
    assert verdict_of("never-below", [0.94], noise=1.2) == UNDECIDED
    assert verdict_of("most", [1.1] * 9, noise=1.2) == UNDECIDED
    assert verdict_of("faster", [0.952], noise=1.12) == UNDECIDED
    assert verdict_of("faster", [0.952], noise=1.06) == NOT_REPRODUCED  # nor alike


def test_never_below_looks_at_each_point() -> None:
    finding = expectations.examine(comparison([2.0, 2.0, 0.9]), "never-below")
    assert finding.verdict == NOT_REPRODUCED
    assert "0.90 times as fast as b at the lowest of 3 points (m2; 0.89–0.91)" in finding.sentence


@pytest.mark.parametrize(
    ("wins", "losses", "alike", "verdict"),
    [
        (6, 0, 0, REPRODUCED),  # p = 0.016
        (5, 0, 0, UNDECIDED),  # p could not be below 0.017
        (10, 1, 0, REPRODUCED),  # p = 0.006
        (8, 2, 0, UNDECIDED),  # p = 0.055
        (8, 0, 2, UNDECIDED),  # what is alike does not win
        (10, 7, 0, UNDECIDED),  # not significant is no refutation
        (0, 6, 0, NOT_REPRODUCED),
        (1, 5, 5, NOT_REPRODUCED),
    ],
)
def test_most(wins: int, losses: int, alike: int, verdict: str) -> None:
    speedups = [1.5] * wins + [0.7] * losses + [1.0] * alike
    assert verdict_of("most", speedups) == verdict


def test_most_is_open_while_undecided_matrices_could_turn_it() -> None:
    assert verdict_of("most", [1.06] * 9, spread=0.2) == UNDECIDED


def placed(one: Comparison, *parameters: Mapping[str, str | float]) -> Comparison:
    """A comparison whose points stand elsewhere."""
    points = [replace(point, case=replace(point.case, parameters=at))
              for point, at in zip(one.points, parameters, strict=True)]
    return replace(one, points=tuple(points))


def test_matrices_count_once_however_many_points_they_have() -> None:
    one = placed(comparison([1.5] * 4), *({"matrix": f"m{i // 2}"} for i in range(4)))
    assert len(one.units) == 2


def test_two_precisions_are_not_two_votes() -> None:
    places = [{"shape": shape, "precision": precision} for shape in ("s0", "s1")
              for precision in ("fp32", "fp64")]
    one = placed(comparison([1.5] * 4), *places)
    assert [part.name for part in one.units] == ["s0", "s1"]
    named = replace(one, per=("precision",))
    assert [part.name for part in named.units] == ["fp32", "fp64"]
    assert named.noun == "precision"


@pytest.mark.parametrize(
    ("speedup", "verdict"),
    [(0.9, NOT_REPRODUCED), (1.9, DIRECTION_ONLY), (2.0, UNDECIDED), (2.5, REPRODUCED),
     (3.1, DIRECTION_ONLY)],
)
def test_two_numbers_are_a_range(speedup: float, verdict: str) -> None:
    found = expectations.examine(comparison([speedup]), (2.0, 3.0))
    assert found.verdict == verdict
    assert found.holds == (2.0, 3.0)


# --- on whole results ----------------------------------------------------------------------------


def claim(faster: str | tuple[str, ...], than: Any, expect: str, **options: Any) -> Claim:
    names = (faster,) if isinstance(faster, str) else faster
    others = (than,) if isinstance(than, str) else than
    condition = Condition(names, others, expect, options.pop("where", {}))
    needs = options.pop("needs", ())
    more = options.pop("more", ())
    return Claim("1.x", 1, "Says.", "Says", "direction", False, needs, (condition, *more))


def test_the_golden_claims(measured: Measure, raw: Json) -> None:
    run = measured(raw)
    verdicts = {c.id: claims.judge(run, c).verdict for c in run.experiment.claims}
    assert verdicts == {
        "1.unroll": REPRODUCED,
        "1.restrict": REPRODUCED,
        "1.csrl": DIRECTION_ONLY,
        "1.gathers": NOT_ASKED,
    }


def value_claim(metric: str, variant: str, **options: Any) -> Claim:
    where = options.pop("where", {})
    condition = Condition((variant,), (), "", where, value=metric, **options)
    return Claim("1.v", 1, "Says.", "Says", "magnitude", False, (), (condition,))


@pytest.mark.parametrize(
    ("least", "most", "verdict"),
    [(None, 0.9, REPRODUCED), (1.1, None, NOT_REPRODUCED), (0.01, 0.9, REPRODUCED)],
)
def test_a_value_can_be_demanded(
    least: float | None, most: float | None, verdict: str, measured: Measure, raw: Json
) -> None:
    asked = value_claim("of_ceiling", "textbook", at_least=least, at_most=most)
    found = claims.judge(measured(raw), asked)
    assert found.verdict == verdict
    assert "`textbook` reaches 37 % of its ceiling. Claimed is " in found.findings[0].sentence


def test_a_time_can_be_demanded(measured: Measure, raw: Json) -> None:
    where = {"matrix": "fem3", "precision": "fp64", "threads": 1}
    asked = value_claim("median", "textbook", at_most=7.5e-6, where=where)
    found = claims.judge(measured(raw), asked).findings[0]
    assert found.sentence.startswith("`textbook` takes ")
    assert "median" not in found.sentence
    assert "Claimed is at most 7.5 µs: " in found.sentence


def test_a_value_can_be_demanded_of_every_unit(measured: Measure, raw: Json) -> None:
    asked = value_claim("gbps", "textbook", at_least=1e-6, on="every",
                        where={"precision": "fp64", "threads": 1})
    found = claims.judge(measured(raw), asked)
    assert found.verdict == REPRODUCED
    said = "Each matrix by itself, it holds at 5 of 5. Nearest to an edge: "
    assert found.findings[0].sentence.startswith(said)
    synthetic.scale(raw, "textbook", 1e12, "fem3")
    found = claims.judge(measured(raw), asked)
    assert found.verdict == NOT_REPRODUCED
    assert "it holds at 4 of 5" in found.findings[0].sentence


def test_a_number_of_each_round_can_be_demanded(measured: Measure, raw: Json) -> None:
    for entry in raw["cases"]:
        entry["rounds"] = {"cycles": [2.0] * len(entry["samples_s"])}
    asked = value_claim("round:cycles", "textbook", at_least=1.99, at_most=2.01)
    assert claims.judge(measured(raw), asked).verdict == REPRODUCED
    wrong = value_claim("round:conflicts", "textbook", at_least=1)
    with pytest.raises(UserError, match='recorded no "conflicts" for each round'):
        claims.judge(measured(raw), wrong)


def test_a_share_is_of_the_ceiling_that_allows_least(measured: Measure, raw: Json) -> None:
    run = measured(raw)
    both, one = ((value_claim("of_ceiling", "textbook", at_least=0.0, ceiling=names))
                 for names in (("read", "triad"), ("read",)))
    values = [claims.judge(run, asked).findings[0].estimate for asked in (both, one)]
    assert values[0] is not None and values[1] is not None
    assert values[0].value >= values[1].value


def test_a_share_of_a_nominal_peak(measured: Measure, raw: Json) -> None:
    raw["machine"]["peaks"] = [{"name": "read", "bytes_per_s": 1e30, "source": "a data sheet"}]
    asked = value_claim("of_ceiling", "textbook", at_most=1e-9, ceiling=("peak:read",))
    assert claims.judge(measured(raw), asked).verdict == REPRODUCED


def test_too_few_data_promise_nothing(measured: Measure, raw: Json) -> None:
    """A longer profile may have fewer matrices of a kind, and no profile brings a library."""
    found = claims.judge(measured(raw), claim("unroll4", "textbook", "faster",
                                              needs=("matrices>=50",)))
    assert found.verdict == UNDECIDED
    assert found.note == "needs at least 50 matrices, this run has 5."


def test_our_own_targets_hold_or_fail(measured: Measure, raw: Json) -> None:
    run = measured(raw)
    own = replace(claim("unroll4", "textbook", "faster"), article=0)
    assert claims.judge(run, own).word == "HOLDS"
    assert claims.judge(run, replace(own, article=3)).word == "REPRODUCED"


def test_a_target_of_our_own_that_misses_its_size_has_failed(measured: Measure, raw: Json) -> None:
    """Whatever else is open."""
    run = measured(raw)
    missed = claim("unroll4", "textbook", "several")
    still_open = replace(missed.conditions[0], expect=1.25)
    both = replace(missed, conditions=(*missed.conditions, still_open))
    assert claims.judge(run, both).verdict == UNDECIDED
    found = claims.judge(run, replace(both, article=0))
    assert (found.word, found.asks_for_samples) == ("FAILS", False)


def test_a_skip_of_a_study_is_none_of_variants_that_it_does_not_have(
    measured: Measure, raw: Json
) -> None:
    entry = {"study": "other", "launch": 0, "parameters": {"matrix": "fem3"}, "reason": "no"}
    raw["skipped"] += [entry, entry | {"launch": 1, "variant": "halves"}]
    assert measured(raw).find("csrl", {}).unmeasured == 0


def test_what_lacks_is_a_variant_or_a_region(measured: Measure, raw: Json) -> None:
    for name in ("cases", "skipped"):
        raw[name] = [one for one in raw[name] if one["parameters"]["matrix"] != "fem3"]
    narrowed = replace(measured(raw), partial=True)
    missing = [narrowed.find(name, {"matrix": "fem3"}).absence for name in ("csrl", "other")]
    assert [str(one) for one in missing] == ["not measured in this run with matrix fem3",
                                             "not measured in this run"]
    with pytest.raises(Elsewhere) as caught:
        measured(raw).find("csrl", {"matrix": "fem3"})
    assert caught.value.told == "`csrl`: not measured in this run with matrix fem3"


def test_the_best_of_a_region(measured: Measure, raw: Json) -> None:
    best = {"best_of": {"variant": ["text*", "restrict"]}}
    found = claims.judge(measured(raw), claim("csrl", best, "several"))
    assert "the best of `text*` and `restrict`" in found.findings[0].sentence


def test_the_ratio_is_paired_by_round_and_point(measured: Measure, raw: Json) -> None:
    """A drift of all variants together does not touch the ratio."""
    for entry in raw["cases"]:
        entry["samples_s"] = [s * (1 + k) for k, s in enumerate(entry["samples_s"])]
    found = compare(measured(raw), "unroll4", "textbook", {"threads": 1})
    assert isinstance(found, Comparison)
    assert found.overall.value == pytest.approx(1.25, abs=0.01)
    assert found.overall.high / found.overall.low < 1.01
    assert len(found.points) == 10


def test_all_conditions_must_hold(measured: Measure, raw: Json) -> None:
    second = Condition(("csrl",), ("textbook",), "several", {})
    both = claim("unroll4", "textbook", "faster", more=(second,))
    assert claims.judge(measured(raw), both).verdict == DIRECTION_ONLY


def test_what_was_skipped_is_undecided_with_the_reason(measured: Measure, raw: Json) -> None:
    found = claims.judge(measured(raw), claim("avx512", "textbook", "faster"))
    assert (found.verdict, found.findings[0].reason) == (UNDECIDED, Reason.MISSING)
    assert not found.asks_for_samples
    assert "this CPU has no AVX-512" in found.findings[0].sentence


def test_a_failed_variant_is_not_compared(measured: Measure, raw: Json) -> None:
    found = claims.judge(measured(raw), claim("broken", "textbook", "faster"))
    assert found.verdict == UNDECIDED
    assert "y[3] is 0, not 7" in found.findings[0].sentence


def test_the_first_measured_name_counts(measured: Measure, raw: Json) -> None:
    found = claims.judge(measured(raw), claim(("avx512", "csrl"), "textbook", "far"))
    assert found.verdict == REPRODUCED
    assert "`csrl`" in found.findings[0].sentence


BEST = {"best_of": ["avx512", "csrl", "unroll4"]}


def test_the_best_of_a_list_is_chosen_at_each_point(measured: Measure, raw: Json) -> None:
    synthetic.scale(raw, "csrl", 4.0, "fem3")
    found = claims.judge(measured(raw), claim("textbook", BEST, "faster"))
    assert found.verdict == NOT_REPRODUCED
    said = "the best of `avx512`, `csrl` and `unroll4` (here `csrl` and `unroll4`) ("
    assert said in found.findings[0].sentence
    compared = compare(measured(raw), "textbook", BEST, {"threads": 1, "precision": "fp64"})
    assert isinstance(compared, Comparison)
    assert [point.than.variant for point in compared.points] == [
        "unroll4" if point.label == "fem3 fp64 threads=1" else "csrl" for point in compared.points
    ]


def test_a_claim_may_compare_launches(measured: Measure, raw: Json) -> None:
    """Twice the threads are twice as fast here: what is 2.2x on equal threads is 1.1x so."""
    condition = Condition(("csrl",), {"variant": "textbook", "threads": "max"}, "several",
                          {"threads": 1})
    found = claims.judge(measured(raw), replace(claim("csrl", "textbook", "several"),
                                                conditions=(condition,)))
    assert found.verdict == DIRECTION_ONLY
    assert "`textbook` with the most threads" in found.findings[0].sentence


def test_the_best_of_a_group(measured: Measure, raw: Json) -> None:
    peers = {"best_of": "formats"}
    found = claims.judge(measured(raw), claim("textbook", peers, "keeps-up"))
    assert found.verdict == NOT_REPRODUCED
    assert found.findings[0].sentence.startswith(
        "`textbook` runs 0.45 times as fast as the best of the kind formats (")
    with pytest.raises(UserError, match='no group "peers" in the result, which has: own, formats'):
        claims.judge(measured(raw), claim("textbook", {"best_of": "peers"}, "keeps-up"))
    with pytest.raises(UserError, match='no variant "cslr" in the result'):
        claims.judge(measured(raw), claim("textbook", {"best_of": ["csrl", "cslr"]}, "keeps-up"))


def test_nothing_is_compared_or_judged_twice(measured: Measure, raw: Json) -> None:
    """What a text asks is what the claim found."""
    run, asked = measured(raw), claim("csrl", "textbook", "far")
    found = claims.judge(run, asked)
    assert claims.judge(run, asked) is found
    compared = found.findings[0].comparison
    assert compare(run, "csrl", "textbook", {}) is compared
    assert compare(run, "csrl", "textbook", {"precision": "fp32"}) is not compared


def test_a_best_that_changed_is_stale(measured: Measure, raw: Json) -> None:
    raw["excerpts"]["csrl"]["text"] = "an older text\n"
    assert claims.judge(measured(raw), claim("textbook", BEST, "keeps-up")).verdict == OUT_OF_DATE


def test_nothing_of_the_best_was_timed(measured: Measure, raw: Json) -> None:
    found = claims.judge(measured(raw), claim("textbook", {"best_of": ["avx512"]}, "keeps-up"))
    assert found.verdict == UNDECIDED
    assert "`avx512` was skipped: this CPU has no AVX-512" in found.findings[0].sentence


def more(of: str, expect: str | float = 0.9) -> Claim:
    """Of a variant on all threads against itself on one."""
    than = {"variant": "unroll4", "threads": 1}
    where = {"threads": "max"}
    condition = Condition(("unroll4",), than, expect, where, of=(of, of), more=True)
    return Claim("1.x", 1, "Says.", "Says.", "magnitude", False, (), (condition,))


def slower_ceiling(raw: Json, factor: float, when: tuple[str, ...] = ("before", "after")) -> None:
    """As if the machine could do less with two threads than twice what it can do with one."""
    for probe in raw["ceilings"]:
        if probe["launch"] == 1 and probe["when"] in when:
            probe["samples_s"] = [seconds * factor for seconds in probe["samples_s"]]


def test_more_of_a_metric_is_compared_by_rounds(measured: Measure, raw: Json) -> None:
    """Twice the threads are twice as fast here, and so is their ceiling."""
    found = claims.judge(measured(raw), more("of_ceiling"))
    assert found.verdict == REPRODUCED
    said = "The part of its ceiling of `unroll4` is 1.00 times that of `unroll4` with 1 thread ("
    assert found.findings[0].sentence.startswith(said)
    assert found.findings[0].sentence.endswith(
        "10 points, the most threads; noise floor 0.4 %). Claimed is at least 0.9 times: it holds.")
    assert claims.judge(measured(raw), more("of_ceiling", "clearly")).verdict == NOT_REPRODUCED
    assert claims.judge(measured(raw), more("gbps", 1.9)).verdict == REPRODUCED
    synthetic.scale(raw, "unroll4", 1.25)  # everywhere: the parts stay as they are
    assert claims.judge(measured(raw), more("of_ceiling")).verdict == REPRODUCED


def test_a_part_is_that_of_the_launch_s_own_ceiling(measured: Measure, raw: Json) -> None:
    for entry in raw["cases"]:
        if entry["launch"] == 1:
            entry["samples_s"] = [seconds * 1.5 for seconds in entry["samples_s"]]
    assert claims.judge(measured(raw), more("of_ceiling")).verdict == NOT_REPRODUCED
    slower_ceiling(raw, 1.5)
    assert claims.judge(measured(raw), more("of_ceiling")).verdict == REPRODUCED


def test_a_part_is_as_uncertain_as_its_ceiling(measured: Measure, raw: Json) -> None:
    """A machine that was slower after than before leaves open what it allows."""
    slower_ceiling(raw, 1.3, ("after",))
    found = claims.judge(measured(raw), more("of_ceiling", 1.05))
    assert found.verdict == UNDECIDED
    assert claims.judge(measured(raw), more("gbps", 1.9)).verdict == REPRODUCED


def test_more_of_what_has_no_direction_stops_the_weave(measured: Measure, raw: Json) -> None:
    for name in ("median", "speedup", "bound_gflops", "stored_bytes"):
        with pytest.raises(UserError, match=f'found more of "{name}", expected one of gbps, '):
            claims.judge(measured(raw), more(name))


def test_unknown_variants_stop_the_weave(measured: Measure, raw: Json) -> None:
    with pytest.raises(UserError, match='no variant "unrol4" in the result, which has: textbook'):
        claims.judge(measured(raw), claim("unrol4", "textbook", "faster"))


def test_unknown_axes_stop_the_weave(measured: Measure, raw: Json) -> None:
    with pytest.raises(UserError, match='no axis "matrx"'):
        claims.judge(measured(raw), claim("unroll4", "textbook", "faster", where={"matrx": "fem3"}))


def test_a_value_that_was_not_measured_stops_the_weave(measured: Measure, raw: Json) -> None:
    odd = claim("unroll4", "textbook", "faster", where={"precision": "fp16"})
    with pytest.raises(UserError, match='"unroll4" has no case where precision = fp16'):
        claims.judge(measured(raw), odd)


def test_stale_code_makes_the_verdict_stale(measured: Measure, raw: Json) -> None:
    raw["excerpts"]["unroll4"]["text"] = "y[i] = an_older_sum4(i);\n"
    run = measured(raw)
    found = claims.judge(run, claim("unroll4", "textbook", "faster"))
    assert found.verdict == OUT_OF_DATE
    assert "main.cpp" in found.note
    assert claims.judge(run, claim("csrl", "textbook", "faster")).verdict == REPRODUCED


def test_a_variant_newer_than_the_result_is_stale(measured: Measure, raw: Json) -> None:
    synthetic.drop(raw, "unroll4")
    found = claims.judge(measured(raw), claim("unroll4", "textbook", "faster"))
    assert found.verdict == OUT_OF_DATE
    assert "not measured in this run" in found.note


def test_a_variant_is_as_new_as_the_text_that_came_with_it(measured: Measure, raw: Json) -> None:
    synthetic.drop(raw, "unroll4")
    run = measured(raw)
    newer = claim("combined", "textbook", "faster")
    with pytest.raises(UserError, match='no variant "combined" in the result'):
        claims.judge(run, newer)
    since = replace(run, experiment=replace(run.experiment, since={"combined": "unroll4"}))
    assert claims.judge(since, newer).verdict == OUT_OF_DATE
    known = replace(run, experiment=replace(run.experiment, since={"combined": "csrl"}))
    with pytest.raises(UserError, match='no variant "combined" in the result'):
        claims.judge(known, newer)


def test_a_study_is_as_new_as_the_text_that_came_with_it(measured: Measure, raw: Json) -> None:
    synthetic.drop(raw, "unroll4")
    run = measured(raw)
    newer = claim("csrl", "textbook", "faster", where={"study": "later"})
    with pytest.raises(UserError, match='"csrl" has no case where study = later'):
        claims.judge(run, newer)
    since = replace(run, experiment=replace(run.experiment, since={"later": "unroll4"}))
    found = claims.judge(since, newer)
    assert found.verdict == OUT_OF_DATE
    assert found.note == "the study `later`: not measured in this run"
    known = replace(run, experiment=replace(run.experiment, since={"later": "csrl"}))
    with pytest.raises(UserError, match='"csrl" has no case where study = later'):
        claims.judge(known, newer)


def test_changed_data_makes_everything_measured_on_it_stale(measured: Measure, raw: Json) -> None:
    run = measured(raw)
    changed = replace(run.tree, datasets={"fem3": "0" * 64, "unrelated": "1" * 64})
    stale = replace(run, tree=changed)
    assert stale.stale_variants["textbook"] == "the data set `fem3` has changed"
    assert claims.judge(stale, claim("csrl", "textbook", "far")).verdict == OUT_OF_DATE


def test_inconclusive_claims_are_named_for_the_runner(
    measured: Measure, raw: Json, root: Path
) -> None:
    source = random.Random(2)
    unsteady = [source.uniform(0.8, 1.25) for _ in range(ROUNDS)]
    for entry in raw["cases"]:
        if entry["variant"] == "restrict":
            entry["samples_s"] = [s * u for s, u in zip(entry["samples_s"], unsteady, strict=True)]
    run = measured(raw)
    assert claims.open_of(run.result, root).questions == ("1.restrict",)
    assert len(claims.open_of(run.result, root).points) == 10
    found = claims.judge(run, run.experiment.claim("1.restrict"))
    assert found.note == "No further look was taken yet."
    for given in (["--samples", "99"], ["--samples=99"]):
        raw["run"]["arguments"] = given
        again = measured(raw)
        assert claims.judge(again, again.experiment.claim("1.restrict")).note == ""


def test_the_runner_is_not_asked_for_what_more_samples_cannot_decide(
    measured: Measure, raw: Json, root: Path
) -> None:
    assert claims.open_of(measured(raw).result, root) == claims.Open((), ())


def test_where_and_points_are_said(measured: Measure, raw: Json) -> None:
    odd = claim("unroll4", "textbook", "clearly", where={"precision": "fp32", "threads": 2})
    sentence = claims.judge(measured(raw), odd).findings[0].sentence
    assert sentence.startswith("`unroll4` runs 1.25 times as fast as `textbook` (")
    assert "5 points, fp32, 2 threads; noise floor 0.2 %). Claimed is clearly faster" in sentence


def test_few_rounds_say_their_coverage(measured: Measure) -> None:
    run = measured(synthetic.result(rounds=3))
    sentence = claims.judge(run, claim("unroll4", "textbook", "faster")).findings[0].sentence
    assert "in only 75.0 % of cases as 3 rounds allow no more" in sentence


def test_points_without_a_partner_are_left_out_and_said(measured: Measure, raw: Json) -> None:
    skipped = synthetic.case(raw, "unroll4")
    raw["cases"].remove(skipped)
    place = {key: skipped[key] for key in ("study", "variant", "launch", "parameters")}
    raw["skipped"].append(place | {"reason": "no"})
    sentence = (
        claims.judge(measured(raw), claim("unroll4", "textbook", "faster")).findings[0].sentence
    )
    assert "(19 points; 1 more lacks one of the two;" in sentence

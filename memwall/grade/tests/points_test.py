"""From times to points."""

import dataclasses
import math
import statistics
from random import Random

import pytest

from memwall.grade import points
from memwall.grade.tests.calls import calls, disturbed, kit


def speed(submission: float, **changes: float) -> float:
    return points.grade(kit(), calls(submission, "", **changes)).speed


def test_the_scale_leads_from_naive_to_the_model() -> None:
    assert speed(4.0) == 0
    assert speed(1.0) == kit().speed
    assert speed(2.0) == pytest.approx(kit().speed / 2, abs=0.5)  # half of the way in logarithms
    assert speed(0.9) == kit().speed
    assert speed(9.0) == 0


def test_the_scale_is_flat_within_the_noise_of_two_copies_of_the_model() -> None:
    assert speed(1.08) < kit().speed
    assert speed(1.08, model_again=1.1) == kit().speed
    assert speed(3.7, model_again=1.1) == 0


def test_some_noise_is_assumed() -> None:
    assert speed(1.015) == kit().speed
    assert speed(1.03) < kit().speed


def test_a_usual_call_is_neither_lucky_nor_disturbed() -> None:
    assert points.typical([9.0, 3.0, 1.0, 9.0, 2.0, 9.0, 9.0, 9.0]) == 3.0


def test_points_lie_as_far_apart_as_their_error_says() -> None:
    random = Random(1)
    grades = [points.grade(kit(), disturbed(2.0, random, 0.1, rounds=20)) for _ in range(60)]
    apart = statistics.stdev(grade.speed for grade in grades)
    assert statistics.fmean(grade.error for grade in grades) == pytest.approx(apart, rel=0.25)
    assert statistics.fmean(grade.speed for grade in grades) == pytest.approx(speed(2.0), abs=0.4)


def test_one_disturbed_call_costs_little() -> None:
    made = disturbed(2.0, Random(2), 0.01, rounds=12)
    before = points.grade(kit(), made).speed
    for case in kit().cases:
        next(call for call in made if call["case"] == case.name
             and call["contender"] == "submission")["seconds"] *= 20
    assert points.grade(kit(), made).speed == pytest.approx(before, abs=0.3)


def test_at_the_ends_of_the_scale_points_are_certain() -> None:
    for time in (0.8, 5.0):
        assert points.grade(kit(), disturbed(time, Random(3), 0.03)).error == 0


def test_of_one_round_the_error_is_not_known() -> None:
    assert points.center([0.5]) == (0.5, math.inf)
    assert points.with_error(lambda value: min(max(value, 0), 1), 0.5, math.inf) == (0.5, 0.25)


def test_noise_is_that_of_the_noisiest_case() -> None:
    made = [*calls(1.0)]
    for call in made:
        if call["case"] == kit().cases[1].name and call["contender"] == "model_again":
            call["seconds"] *= 1.1
    assert points.grade(kit(), made).noise == pytest.approx(math.log(1.1))


def test_what_is_told_of_a_case() -> None:
    """Times are those of the first call's input; a round without both sides tells no speed-up."""
    case = kit().cases[0]
    made = calls(2.0, case.name)
    del made[0]
    assert made[0]["contender"] == "model"
    one = points.outcome(case, made, kit())
    assert (one.gain, one.speedup, one.share) == pytest.approx((4.0, 2.0, 0.25), rel=0.01)
    assert one.milliseconds == pytest.approx(2.0, rel=0.01)
    assert one.by_round == pytest.approx([math.log(2.0)] * 2)


def test_the_interval_of_the_speed_up() -> None:
    def of(*by_round: float) -> points.Outcome:
        return points.Outcome("", "", "", 4.0, 0.0, 2.0, 0.5, 1.0, 1.0, by_round)

    middle, low, high = points.interval([of(5, 1, 2, 3, 4), of(5, 1, 2, 3, 4, 100)])
    notch = 1.57 * (4 - 2) / math.sqrt(5)
    assert (middle, low, high) == pytest.approx((3, 3 - notch, 3 + notch))
    assert points.interval([of(1.0)]) == (1, 1 - points.LEAST_NOISE, 1 + points.LEAST_NOISE)


def test_what_differs_from_session_to_session_is_no_smaller_for_many_rounds_of_each() -> None:
    """Rounds of one session have in common where its memory lies."""
    values = [(session, 0.1 * session + 0.001 * number)
              for session in range(4) for number in range(100)]
    middle, error = points.over_sessions(values)
    assert middle == pytest.approx(0.1995, abs=0.001)
    assert error == pytest.approx(statistics.stdev([0, 0.1, 0.2, 0.3]) / 2)
    assert points.center(value for _, value in values)[1] < 0.01
    alike = [(session, value) for session in range(4) for value in (0.0, 1.0)]
    assert points.over_sessions(alike) == points.center(value for _, value in alike)
    assert points.over_sessions(alike[:2]) == points.center([0.0, 1.0])


def test_noise_never_makes_the_scale_jump() -> None:
    steps = [points.scale(math.log(s / 130), math.log(1.3), 0.15) for s in range(100, 131)]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 1)


def test_the_scale_begins_at_its_span_where_naive_is_slower() -> None:
    """Gains that everybody has bring no points: what is left of the scale tells people apart."""
    short = dataclasses.replace(kit(), span=2.0)
    assert points.grade(short, calls(2.0)).speed == 0
    assert points.grade(short, calls(1.0)).speed == short.speed
    assert points.grade(short, calls(math.sqrt(2))).speed == pytest.approx(short.speed / 2)
    assert points.grade(short, calls(math.sqrt(2), naive=99.0)).speed == pytest.approx(
        short.speed / 2)
    assert points.grade(short, calls(1.2, naive=1.44)).speed == pytest.approx(short.speed / 2)


def test_where_the_model_gains_nothing_speed_is_not_asked() -> None:
    grade = points.grade(kit(), calls(1.0, naive=1.2))
    assert grade.points == kit().correctness
    assert "not asked" in grade.reason


def test_speed_counts_where_every_case_is_right() -> None:
    made = calls(1.0)
    made[4]["wrong"] = "y[0] is 1, expected 2"
    assert made[4]["contender"] == "submission"
    grade = points.grade(kit(), made)
    assert grade.speed == 0
    assert grade.points == pytest.approx(kit().correctness * (1 - 1 / len(kit().cases)))


def test_a_call_faster_than_its_input_can_be_read_is_against_the_rules() -> None:
    grade = points.grade(kit(), calls(0.3))
    assert grade.points == 0
    assert "a call took 0.60 of the time of the floor" in grade.reason


def test_on_a_noisy_machine_no_single_call_is_against_the_rules() -> None:
    """Where two copies of the model differ, the floor may have been disturbed as well."""
    grade = points.grade(kit(), calls(0.3, model_again=1.1))
    assert grade.points == 0
    assert grade.noise == pytest.approx(math.log(1.1))
    assert points.grade(kit(), calls(0.3, model_again=1.3)).points > 0


def test_who_reads_slowly_once_makes_nobody_foul() -> None:
    made = calls(1.0)
    next(call for call in made if call["contender"] == "floor")["seconds"] *= 100
    assert points.grade(kit(), made).speed == kit().speed


def test_one_call_below_the_floor_is_enough() -> None:
    made = calls(1.0)
    made[4]["seconds"] = 0.0001
    assert points.grade(kit(), made).points == 0


def test_a_race_takes_the_points_of_its_case_alone() -> None:
    case = kit().cases[0]
    race = {"case": case.name, "contender": "races", "round": 0, "work": 1.0, "seconds": 1.0,
            "fault": "", "foul": False, "wrong": "", "race": "a race in line 7"}
    grade = points.grade(kit(), [*calls(1.0), race, {**race, "case": kit().cases[1].name,
                                                     "race": ""}])
    left = 1 - 1 / len(kit().cases)
    assert grade.correctness == pytest.approx(left * kit().correctness)
    assert grade.speed == pytest.approx(left * kit().speed)
    assert grade.outcomes[0].wrong == "a race in line 7"
    assert [one.wrong for one in grade.outcomes[1:]] == [""] * (len(kit().cases) - 1)
    assert case.known_as in grade.reason


def test_a_foul_takes_all_points() -> None:
    made = calls(1.0)
    made[4] |= {"fault": "it left a process running", "foul": True}
    grade = points.grade(kit(), made)
    assert (grade.points, "left a process" in grade.reason) == (0, True)


def test_what_was_never_called_is_wrong() -> None:
    made = [call for call in calls(1.0) if call["contender"] != "submission"]
    assert points.grade(kit(), made).points == 0


def test_a_case_weighs_what_its_kit_says() -> None:
    first, *others = kit().cases
    heavy = dataclasses.replace(kit(), cases=(dataclasses.replace(first, weight=100), *others))
    made = [*calls(4.0)]  # as naive
    for call in made:
        if (call["case"], call["contender"]) == (first.name, "submission"):
            call["seconds"] /= 4  # as the model
    assert points.grade(kit(), made).speed == pytest.approx(kit().speed / len(kit().cases), rel=.01)
    assert points.grade(heavy, made).speed > 0.9 * kit().speed


def test_thresholds_stand_in_place_of_the_model() -> None:
    stepped = dataclasses.replace(kit(), thresholds=((1.5, 0.25), (3.0, 1.0)))
    for time, part in ((4.0, 0), (2.5, 0.25), (1.35, 0.25), (1.33, 1), (0.9, 1)):
        assert points.grade(stepped, calls(time)).speed == pytest.approx(part * kit().speed)
    assert points.grade(stepped, calls(1.4, model_again=1.1)).speed == kit().speed  # noise helps
    assert points.grade(stepped, calls(2.0, model=4.0, model_again=4.0)).speed == kit().speed / 4

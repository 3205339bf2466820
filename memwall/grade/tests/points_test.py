"""From times to points."""

import math

import pytest

from memwall.grade import points
from memwall.grade.tests.calls import calls, kit


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


def test_noise_never_makes_the_scale_jump() -> None:
    steps = [points.scale(math.log(s / 100), math.log(1.3), 0.15) for s in range(100, 131)]
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == (0, 1)


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
    assert "its input can be read" in grade.reason


def test_one_call_below_the_floor_is_enough() -> None:
    made = calls(1.0)
    made[4]["seconds"] = 0.0001
    assert points.grade(kit(), made).points == 0


def test_a_foul_takes_all_points() -> None:
    made = calls(1.0)
    made[4] |= {"fault": "it left a process running", "foul": True}
    grade = points.grade(kit(), made)
    assert (grade.points, "left a process" in grade.reason) == (0, True)


def test_what_was_never_called_is_wrong() -> None:
    made = [call for call in calls(1.0) if call["contender"] != "submission"]
    assert points.grade(kit(), made).points == 0

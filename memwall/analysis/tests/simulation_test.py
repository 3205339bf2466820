"""The protocol is wrong as seldom as it says, wherever the truth lies."""

import pytest

from memwall.analysis import simulation
from memwall.analysis.simulation import NEAR, NEW, OLD, Noise, Question
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Kind,
)


@pytest.mark.parametrize("noise", simulation.NOISES, ids=lambda noise: noise.name)
def test_at_most_five_in_a_hundred_verdicts_are_wrong(noise: Noise) -> None:
    found = simulation.rates(NEW, noise, runs=40)
    assert sum(one.wrong for one in found) / len(found) < 0.02
    assert max(one.wrong for one in found) <= 0.1  # of forty runs; the scorecard has many more


def test_what_is_far_from_every_edge_is_decided() -> None:
    far = [Question(Kind.FASTER, (1.2, None), truth) for truth in (0.8, 1.1, 1.4)]
    found = simulation.rates(NEW, simulation.NOISES[0], 20, far)
    assert all((one.wrong, one.undecided) == (0, 0) for one in found)


@pytest.mark.parametrize(
    ("kind", "band", "truth", "right"),
    [
        (Kind.FASTER, (1.2, None), 1.2, {REPRODUCED}),
        (Kind.FASTER, (1.2, None), 1.1, {DIRECTION_ONLY}),
        (Kind.FASTER, (1.2, None), 1.02, {DIRECTION_ONLY, NOT_REPRODUCED}),
        (Kind.FASTER, (1.2, None), 0.9, {NOT_REPRODUCED}),
        (Kind.WITHIN, (2.0, 3.0), 3.1, {DIRECTION_ONLY}),
        (Kind.ALIKE, (0.95, 1.05), 1.1, {NOT_REPRODUCED}),
        (Kind.ALIKE, (0.95, 1.05), 1.0, {REPRODUCED}),
    ],
)
def test_what_is_true(kind: Kind, band: tuple[float, float | None], truth: float,
                      right: set[str]) -> None:
    assert Question(kind, band, truth).right() == right | {UNDECIDED}


def test_every_edge_is_asked_from_both_sides() -> None:
    asked = simulation.questions()
    assert {1.2 * (1 - NEAR), 1.2, 1.2 * (1 + NEAR)} <= {one.truth for one in asked}
    assert len(asked) == len(set(asked)) > 20
    assert len(OLD.looks) < len(NEW.looks) and OLD.level < NEW.level

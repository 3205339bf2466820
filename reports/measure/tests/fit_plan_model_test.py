"""The fit of the plan's constants: what was put in has to come out."""

from collections.abc import Callable

import numpy as np
import pytest

from measure import fit_plan
from measure.fit_plan import Point, Way

TERMS = 6
TRUE = np.array([1.0, 0.2, 4.0, 0.05, 0.9, 7.0])  # the last is of a format that is never measured
NAMES = ("rows", "chunks", "never")


def points(noise: Callable[[], float] = lambda: 1.0, matrices: int = 300) -> list[Point]:
    """Matrices with random counts: `rows` counts terms 0 and 1, `chunks` 2 and 4; both wait for
    memory, term 3; `never` counts term 5 and has no times."""
    random = np.random.default_rng(7)
    some = []
    for k in range(matrices):
        ways = []
        for name, own in zip(NAMES, ((0, 1), (2, 4), (5,)), strict=True):
            core, memory = np.zeros(TERMS), np.zeros(TERMS)
            core[list(own)] = random.uniform(1e3, 1e5, len(own))
            memory[3] = random.uniform(0, 1e6)
            way = Way(name, core, memory, 2.0)
            time = None if name == "never" else way.nanoseconds(TRUE) * noise()
            ways.append(Way(name, core, memory, 2.0, time))
        times = [way.measured_ns for way in ways if way.measured_ns is not None]
        some.append(Point(f"m{k}", "fp64", tuple(ways), min(times)))
    return some


def test_constants_are_found_again() -> None:
    found = fit_plan.fit(points(), TRUE * [1.7, 0.5, 1.5, 0.6, 1.3, 1.0])
    assert found[:5] == pytest.approx(TRUE[:5], rel=0.05)


def test_noise_is_tolerated() -> None:
    random = np.random.default_rng(3)
    noisy = points(lambda: float(random.lognormal(0, 0.1)))
    found = fit_plan.fit(noisy, TRUE * [1.7, 0.5, 1.5, 0.6, 1.3, 1.0])
    assert found[:5] == pytest.approx(TRUE[:5], rel=0.2)


def test_a_few_wild_times_are_tolerated() -> None:
    random = np.random.default_rng(4)
    wild = points(lambda: 4.0 if random.uniform() < 0.05 else 1.0)
    found = fit_plan.fit(wild, TRUE * [1.7, 0.5, 1.5, 0.6, 1.3, 1.0])
    assert found[:5] == pytest.approx(TRUE[:5], rel=0.2)


def test_a_machine_may_change_its_pace_between_points() -> None:
    random = np.random.default_rng(5)
    uneven = []
    for point in points():
        pace = float(random.lognormal(0, 0.4))
        ways = tuple(Way(way.name, way.core, way.memory, way.overlap,
                         way.measured_ns and pace * way.measured_ns) for way in point.ways)
        uneven.append(Point(point.matrix, point.label, ways, pace * point.best_ns))
    found = fit_plan.fit(uneven, TRUE * [1.7, 0.5, 1.5, 0.6, 1.3, 1.0])
    scale = found[0] / TRUE[0]
    assert found[:5] / scale == pytest.approx(TRUE[:5], rel=0.1)


def test_one_point_and_points_of_one_way_can_be_fitted() -> None:
    for some in (points(matrices=1), [Point(p.matrix, p.label, p.ways[:1], p.best_ns)
                                      for p in points(matrices=5)]):
        assert np.isfinite(fit_plan.fit(some, TRUE)).all()
        assert np.isfinite(fit_plan.choose(some, TRUE)).all()
        assert len(fit_plan.left_out(some[:1], TRUE, fit_plan.choose)) == 1


def loss(some: list[Point], constants: np.ndarray) -> float:
    return fit_plan.choices([(point, constants) for point in some]).mean


def test_constants_are_moved_until_choices_are_good() -> None:
    some = points(matrices=60)
    start = TRUE * [2.5, 2.5, 1.0, 1.0, 0.4, 1.0]
    found = fit_plan.choose(some, start)
    assert loss(some, start) > 0.05
    assert loss(some, found) < 0.01
    assert found[5] == start[5]  # no choice depends on it
    assert (found == fit_plan.choose(some, start)).all()


def test_constants_with_which_choices_are_best_hardly_move() -> None:
    some = points(matrices=60)
    found = fit_plan.choose(some, TRUE)
    assert loss(some, found) == 0
    assert np.abs(np.log(found / TRUE)).max() < 0.5


def test_what_was_never_measured_keeps_its_proportion_to_the_others() -> None:
    twice = [Point(point.matrix, point.label,
                   tuple(Way(way.name, way.core, way.memory, way.overlap,
                             way.measured_ns and 2 * way.measured_ns) for way in point.ways),
                   2 * point.best_ns) for point in points()]
    assert fit_plan.fit(twice, TRUE)[5] == pytest.approx(2 * TRUE[5])


def test_a_constant_that_does_not_matter_becomes_none() -> None:
    others = TRUE * [0, 1, 1, 1, 1, 1]
    some = []
    for point in points():
        ways = [Way(way.name, way.core, way.memory, way.overlap,
                    way.measured_ns and way.nanoseconds(others)) for way in point.ways]
        best = min(way.measured_ns for way in ways if way.measured_ns is not None)
        some.append(Point(point.matrix, point.label, tuple(ways), best))
    found = fit_plan.fit(some, TRUE)
    assert found[:5] == pytest.approx(others[:5], abs=0.03)


def test_nothing_measured_changes_nothing() -> None:
    assert fit_plan.fit([], TRUE) is TRUE


def test_the_least_squares_are_those_of_all_signs() -> None:
    """Against every choice of constants that are zero."""
    random = np.random.default_rng(5)
    for _ in range(20):
        rows = random.normal(size=(12, 5))
        right = rows.T @ random.normal(size=12)
        gram = rows.T @ rows
        best = 0.0
        for free in range(1, 32):
            some = [k for k in range(5) if free >> k & 1]
            x = np.linalg.solve(gram[np.ix_(some, some)], right[some])
            if (x >= 0).all():
                best = min(best, x @ gram[np.ix_(some, some)] @ x / 2 - right[some] @ x)
        found = fit_plan.nonnegative(gram, right)
        assert (found >= 0).all()
        assert found @ gram @ found / 2 - right @ found == pytest.approx(best)


def test_choices_are_judged_by_what_they_cost() -> None:
    way = [Way(name, np.array([count]), np.zeros(1), 2.0, time)
           for name, count, time in (("a", 1.0, 120.0), ("b", 2.0, 100.0))]
    point = Point("m", "fp32", tuple(way), 100.0)
    judged = fit_plan.choices([(point, np.ones(1))])
    assert (judged.close, judged.mean, judged.worst) == (0, pytest.approx(0.2), pytest.approx(0.2))
    assert judged.where == "m fp32"


def test_a_matrix_is_judged_by_constants_that_never_saw_it() -> None:
    """One matrix on which `rows` takes ten times as long: without it the fit cannot know."""
    some = points(matrices=30)
    odd = some[3]
    slow = tuple(Way(way.name, way.core, way.memory, way.overlap,
                     way.measured_ns and (10 if way.name == "rows" else 1) * way.measured_ns)
                 for way in odd.ways)
    some[3] = Point(odd.matrix, odd.label, slow, odd.best_ns)
    for point, constants in fit_plan.left_out(some, TRUE, fit_plan.fit):
        if point is some[3]:
            assert constants[:5] == pytest.approx(TRUE[:5], rel=1e-3)

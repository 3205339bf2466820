"""Statistics against brute force, and how numbers are written."""

import itertools
import math
import random
import statistics

import pytest

from memwall.analysis import numerics
from memwall.analysis.numerics import Estimate
from memwall.record import notation


@pytest.mark.parametrize("count", range(1, 13))
def test_coverage_counts_the_sign_patterns(count: int) -> None:
    """The median lies between the r-th and the (n+1-r)-th if r samples are on each side of it."""
    patterns = list(itertools.product((0, 1), repeat=count))
    for rank in range(1, (count + 1) // 2 + 1):
        inside = sum(rank <= sum(pattern) <= count - rank for pattern in patterns)
        assert numerics.interval_coverage(rank, count) == pytest.approx(inside / len(patterns))


@pytest.mark.parametrize("count", [7, 11, 21, 22, 33, 63, 100])
def test_interval_is_the_narrowest_that_covers(count: int) -> None:
    rank = numerics.interval_rank(count)
    assert numerics.interval_coverage(rank, count) >= numerics.LEVEL
    assert 2 * (rank + 1) > count or numerics.interval_coverage(rank + 1, count) < numerics.LEVEL


@pytest.mark.parametrize("count", range(1, 7))
def test_few_samples_have_the_widest_interval_and_say_its_coverage(count: int) -> None:
    samples = [float(k) for k in range(count)]
    found = numerics.estimate(samples)
    assert (found.low, found.high) == (0, count - 1)
    assert found.coverage == pytest.approx(1 - 2 / 2**count)
    assert found.coverage < numerics.LEVEL


def test_interval_covers_the_median_as_often_as_it_says() -> None:
    source = random.Random(7)
    hits = 0
    for _ in range(2000):
        samples = [source.lognormvariate(0, 1) for _ in range(21)]
        found = numerics.estimate(samples)
        hits += found.low <= 1 <= found.high
    assert hits / 2000 == pytest.approx(found.coverage, abs=0.02)


def test_median_halves_the_samples() -> None:
    source = random.Random(3)
    for count in range(1, 40):
        samples = [source.choice([1.0, 2.0, 3.5, 7.0]) for _ in range(count)]
        middle = statistics.median(samples)
        assert sum(s < middle for s in samples) <= count / 2
        assert sum(s > middle for s in samples) <= count / 2
        assert min(samples) <= middle <= max(samples)


def test_estimate_does_not_depend_on_the_order() -> None:
    samples = [random.Random(5).random() for _ in range(21)]
    assert numerics.estimate(samples) == numerics.estimate(samples[::-1])


def test_common_drift_cancels_in_per_round_ratios() -> None:
    drift = [1 + 0.3 * random.Random(k).random() for k in range(21)]
    ratios = numerics.ratios([2 * d for d in drift], drift)
    assert numerics.estimate(ratios).low == pytest.approx(2)
    assert numerics.estimate(ratios).high == pytest.approx(2)


def test_geometric_mean_per_round_is_the_root_of_the_product() -> None:
    source = random.Random(11)
    points = [[source.uniform(0.1, 10) for _ in range(9)] for _ in range(4)]
    found = numerics.geometric_mean_per_round(points)
    for index, value in enumerate(found):
        assert value == pytest.approx(math.prod(point[index] for point in points) ** 0.25)


def test_one_point_is_its_own_mean() -> None:
    assert numerics.geometric_mean_per_round([[0.1, 0.7]]) == [0.1, 0.7]


def test_rounds_must_match() -> None:
    with pytest.raises(ValueError):
        numerics.ratios([1.0, 2.0], [1.0])


def test_points_count_as_many_rounds_as_all_of_them_have() -> None:
    assert numerics.geometric_mean_per_round([[4.0], [1.0, 2.0]]) == [2.0]


@pytest.mark.parametrize("trials", range(1, 11))
def test_sign_test_counts_coin_flips(trials: int) -> None:
    for wins in range(trials + 1):
        flips = itertools.product((0, 1), repeat=trials)
        expected = sum(sum(flip) >= wins for flip in flips) / 2**trials
        assert numerics.sign_test(wins, trials) == pytest.approx(expected)


def test_noise_floor_is_the_largest_difference_either_way() -> None:
    pairs = [([1.0, 1.0, 1.0], [1.0, 1.01, 0.99]), ([1.0] * 3, [1.25] * 3), ([1.1] * 3, [1.0] * 3)]
    floor = numerics.noise_floor(pairs)
    assert floor.factor == pytest.approx(1.25)
    assert floor.pairs == 3


def test_no_pairs_no_floor() -> None:
    assert numerics.noise_floor([]) == numerics.NoiseFloor(1.0, 0)


def test_ratio_of_medians_is_that_of_price_and_bonett() -> None:
    """Five samples: the ranks 1 and 5 lie 1.8627 standard deviations from the median each."""
    found = numerics.ratio_of_medians([1.5, 1.0, 1.2, 1.3, 1.1], [0.5, 0.7, 0.6, 0.55, 0.62])
    deviation = math.hypot(math.log(1.5), math.log(1.4)) / (2 * 1.862732)
    assert found.value == pytest.approx(2)
    assert found.low == pytest.approx(2 / math.exp(2.386708 * deviation), rel=1e-6)
    assert found.high == pytest.approx(2 * math.exp(2.386708 * deviation), rel=1e-6)
    assert (found.coverage, found.rounds) == (0.983, 5)


@pytest.mark.parametrize(("first", "second"), [(5, 5), (7, 7), (7, 21), (21, 21)])
def test_ratio_of_medians_covers_as_often_as_it_says(first: int, second: int) -> None:
    source = random.Random(9)
    hits = 0
    for _ in range(1000):
        a, b = ([source.lognormvariate(0, 0.1) for _ in range(n)] for n in (first, second))
        found = numerics.ratio_of_medians(a, b)
        hits += found.low <= 1 <= found.high
    assert 0.97 <= hits / 1000 <= 0.998


def test_the_ratio_of_one_sample_is_unknown() -> None:
    found = numerics.ratio_of_medians([2.0], [1.0, 1.0, 1.0])
    assert (found.value, found.low, found.high, found.rounds) == (2, 0, math.inf, 1)
    assert numerics.ratio_of_medians([1.0, 1.0, 1.0], [2.0]).rounds == 1


# --- how numbers are written ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1.2345, "1.23"),
        (12.345, "12.3"),
        (123.45, "123"),
        (1234.5, "1230"),
        (0.012345, "0.0123"),
        (9.996, "10.0"),
        (999.6, "1000"),
        (-2.5, "-2.50"),
    ],
)
def test_significant(value: float, text: str) -> None:
    assert notation.significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0123, "0.012x"),
        (0.00123, "0.0012x"),
        (0.5, "0.50x"),
        (1.234, "1.23x"),
        (12.34, "12.3x"),
        (9.996, "10.0x"),
        (123.4, "123x"),
    ],
)
def test_times(value: float, text: str) -> None:
    assert notation.times(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2e-9, "2.00 ns"),
        (1.5e-6, "1.50 µs"),
        (1e-3, "1.00 ms"),
        (0.5, "500 ms"),
        (90, "90.0 s"),
        (5e-10, "0.500 ns"),
        (0, "0 ns"),
    ],
)
def test_time(seconds: float, text: str) -> None:
    assert notation.time(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(12, "12.0 B"), (2048, "2.00 KiB"), (36 * 2**20, "36.0 MiB")]
)
def test_size(count: float, text: str) -> None:
    assert notation.size(count) == text


@pytest.mark.parametrize(("value", "text"), [(0.873, "87 %"), (0.042, "4.2 %"), (1.0, "100 %")])
def test_percent(value: float, text: str) -> None:
    assert notation.percent(value) == text


def test_an_interval_is_rounded_like_its_value() -> None:
    assert numerics.speedup(Estimate(1.234, 1.2, 1.2678, 0.95, 21)) == "1.23x (1.20–1.27)"
    assert numerics.speedup(Estimate(12.34, 12.0, 13.0, 0.95, 21)) == "12.3x (12.0–13.0)"


def test_plural() -> None:
    assert notation.plural(1, "matrix") == "1 matrix"
    assert notation.plural(2, "matrix") == "2 matrices"
    assert notation.plural(3, "round") == "3 rounds"


@pytest.mark.parametrize(
    ("ends", "edge", "text"),
    [
        ((1.0138, 1.0133, 1.015), 1.01, "1.014x (1.013–1.015)"),  # it is not 1.01
        ((1.25, 1.2, 1.3), 1.2, "1.25x (1.20–1.30)"),  # an end that is there may say so
        ((0.9532, 0.8, 1.1), 0.95, "0.953x (0.800–1.100)"),
        ((1.25, 1.21, 1.3), 2.0, "1.25x (1.21–1.30)"),
        ((1.20000001, 1.2, 1.3), 1.2, "1.2000x (1.2000–1.3000)"),  # so many and no more
    ],
)
def test_numbers_can_be_told_from_the_edge_that_decides(
    ends: tuple[float, float, float], edge: float, text: str
) -> None:
    value, low, high = ends
    assert numerics.speedup(Estimate(value, low, high, 0.95, 9), [edge]) == text

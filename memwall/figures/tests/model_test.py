"""The latency-bandwidth model."""

import pytest

from memwall.figures.models import Model, Network, fit, studied
from memwall.record.errors import UserError
from memwall.record.results import Case


def case(**counts: float) -> Case:
    return Case("halo", "halo", "halo", False, 0, {"precision": "fp64"}, 2e6, 1e7, {}, "cold",
                0.0, 0.0, (1.0,), counts=counts)


def test_a_line_is_found_again() -> None:
    found = fit([(size, 2e-6 + size / 4e9) for size in (8, 4096, 262144, 1 << 20)])
    assert found.latency_s == pytest.approx(2e-6)
    assert found.bytes_per_s == pytest.approx(4e9)


def test_errors_count_relatively() -> None:
    """A microsecond more on the longest message must not move the latency of the shortest."""
    points = [(8, 1e-6), (512, 1.1e-6), (1 << 20, 260e-6)]
    latency = fit(points).latency_s
    assert latency == pytest.approx(1e-6, rel=0.1)
    assert fit([*points[:2], (1 << 20, 261e-6)]).latency_s == pytest.approx(latency, rel=0.01)


@pytest.mark.parametrize("points", [[(8, 1e-6)], [(8, 1e-6), (8, 2e-6)], [(8, 2e-6), (16, 1e-6)]])
def test_no_line_is_an_error(points: list[tuple[float, float]]) -> None:
    with pytest.raises(UserError):
        fit(points)


def test_the_busiest_rank_computes_and_waits() -> None:
    model = Model(Network(1e-6, 1e9), {1: 1e10, 4: 2e10})
    alone = case(imbalance_4=1.5, most_messages_4=3, most_ghosts_4=1000)
    assert model.seconds(alone, 4) == pytest.approx(1e7 * 1.5 / 2e10 + 3e-6 + 8000 / 1e9)


@pytest.mark.parametrize(("ranks", "rate"), [(1, 1e10), (2, 1.4e10), (6, 3e10), (12, 6e10)])
def test_rates_between_and_beyond_what_was_measured(ranks: int, rate: float) -> None:
    model = Model(Network(0, 1), {1: 1e10, 6: 3e10})
    assert model.rate(ranks) == pytest.approx(rate)


def test_counts_that_end_in_numbers() -> None:
    counted = case(ghosts_2=7, ghosts_10000=9, most_ghosts_2=3, ghosts=1, ghosts_all=2)
    assert studied(counted, "ghosts") == {2: 7, 10000: 9}
    assert studied(counted, "most_ghosts") == {2: 3}
    assert studied(counted, "imbalance") == {}

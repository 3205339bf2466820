"""How numbers are written."""

import pytest

from weave import formats
from weave.statistics import Estimate


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
    assert formats.significant(value) == text


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
    assert formats.times(value) == text


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
    assert formats.time(seconds) == text


@pytest.mark.parametrize(
    ("count", "text"), [(12, "12.0 B"), (2048, "2.00 KiB"), (36 * 2**20, "36.0 MiB")]
)
def test_size(count: float, text: str) -> None:
    assert formats.size(count) == text


@pytest.mark.parametrize(("value", "text"), [(0.873, "87 %"), (0.042, "4.2 %"), (1.0, "100 %")])
def test_percent(value: float, text: str) -> None:
    assert formats.percent(value) == text


def test_an_interval_is_rounded_like_its_value() -> None:
    assert formats.speedup(Estimate(1.234, 1.2, 1.2678, 0.95, 21)) == "1.23x (1.20–1.27)"
    assert formats.speedup(Estimate(12.34, 12.0, 13.0, 0.95, 21)) == "12.3x (12.0–13.0)"


def test_plural() -> None:
    assert formats.plural(1, "matrix") == "1 matrix"
    assert formats.plural(2, "matrix") == "2 matrices"
    assert formats.plural(3, "round") == "3 rounds"


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
    assert formats.speedup(Estimate(value, low, high, 0.95, 9), [edge]) == text

"""Numbers as a reader wants them, one way for each kind."""

import math
from collections.abc import Iterable, Sequence
from statistics import median

TIME_UNITS = ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s"))
BYTE_UNITS = ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"))


def significant(value: float, digits: int = 3) -> str:
    """So many significant digits, without an exponent."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:.{decimals}f}"


def factor(value: float) -> str:
    """A ratio: 0.0012, 0.87, 1.23, 12.3, 123."""
    if 0 < value < 0.01:
        return significant(value, 2)
    decimals = 3 if value < 0.1 else 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{decimals}f}"


def times(value: float) -> str:
    """A speed-up: 1.23x."""
    return factor(value) + "x"


def percent(value: float) -> str:
    """A fraction: 87 %, 4.2 %."""
    number = 100 * value
    return f"{number:.0f} %" if number >= 9.95 else f"{number:.1f} %"


def time_unit(seconds: Iterable[float]) -> tuple[float, str]:
    """The unit in which the middle of some times is at least 1."""
    return _unit(TIME_UNITS, seconds)


def byte_unit(sizes: Iterable[float]) -> tuple[float, str]:
    """The unit in which the middle of some sizes is at least 1."""
    return _unit(BYTE_UNITS, sizes)


def time(seconds: float) -> str:
    """A time in the unit that fits it: 12.3 ms."""
    scale, unit = time_unit([seconds])
    return f"{significant(seconds / scale)} {unit}"


def size(count: float) -> str:
    """A size in the unit that fits it: 36 MiB."""
    scale, unit = byte_unit([count])
    return f"{significant(count / scale)} {unit}"


def count(value: float) -> str:
    """A whole number with groups of three: 1,234,567."""
    return f"{value:,.0f}"


def plural(number: int, noun: str) -> str:
    """1 point, 2 points, 2 matrices."""
    if number == 1:
        return f"1 {noun}"
    return f"{number} {'matrices' if noun == 'matrix' else noun + 's'}"


def listed(texts: Sequence[str]) -> str:
    """`a, b and c`."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else "".join(texts)


def _unit(units: tuple[tuple[float, str], ...], values: Iterable[float]) -> tuple[float, str]:
    positive = [value for value in values if value > 0]
    middle = median(positive) if positive else 0.0
    fitting = [unit for unit in units if middle >= unit[0] * (1 - 1e-9)]
    return fitting[-1] if fitting else units[0]

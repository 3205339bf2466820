"""Numbers as a lesson says them: rounded to what a reader can use, in words where people use words.

They are filters of lessons' templates. Intervals and further digits stand in the report.
"""

from collections.abc import Callable, Sequence

from memwall.record import notation
from memwall.record.errors import UserError

#: Parts that people have words for.
SHARES = (
    (1 / 10, "a tenth"), (1 / 8, "an eighth"), (1 / 6, "a sixth"), (1 / 5, "a fifth"),
    (1 / 4, "a quarter"), (3 / 10, "three tenths"), (1 / 3, "a third"), (2 / 5, "two fifths"),
    (1 / 2, "half"), (3 / 5, "three fifths"), (2 / 3, "two thirds"), (7 / 10, "seven tenths"),
    (3 / 4, "three quarters"), (4 / 5, "four fifths"), (9 / 10, "nine tenths"),
)
#: How far, as a part of it, a number may lie from the words that stand for it.
NEAR = 0.05
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
          "eleven", "twelve")


def about(value: float, unit: str = "") -> str:
    """Two digits: `1.4`, `46`, `130`."""
    rounded = float(f"{value:.1e}")
    number = notation.significant(rounded, 2) if abs(rounded) < 100 else f"{rounded:,.0f}"
    return f"{number} {unit}".strip()


def seconds(value: float) -> str:
    """A time in the unit that fits it: `1.4 ns`."""
    scale, unit = notation.time_unit([value])
    return about(value / scale, unit)


def rate(value: float, unit: str = "B/s") -> str:
    """Units a second: `12 GB/s`, `3.4 TFLOP/s`."""
    prefixes = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
    scale, prefix = next((each for each in prefixes if value >= 0.9995 * each[0]), prefixes[-1])
    return about(value / scale, prefix + unit)


def size(value: float) -> str:
    """Bytes in the binary unit that fits them: `2 MiB`."""
    scale, unit = notation.byte_unit([value])
    number = value / scale
    return f"{number:.0f} {unit}" if abs(number - round(number)) < 0.005 else about(number, unit)


def percent(value: float) -> str:
    """A part as whole per cent: `38 %`; below ten with the digit that tells it from nothing."""
    return f"{100 * value:.0f} %" if value >= 0.0095 else f"{about(100 * value)} %"


def times(value: float) -> str:
    """How many times as much, in words: `1.3 times`, `twice`, `two and a half times`."""
    if value < 1.05:
        raise UserError(f"times: found {notation.factor(value)}, expected at least 1.05: say it"
                        " as a share, or that there is no difference")
    halves = round(2 * value)
    if halves < 2 * len(COUNTS) and abs(halves / 2 - value) <= NEAR * value and value >= 1.4:
        words = COUNTS[halves // 2] + (" and a half" if halves % 2 else "")
        return "twice" if halves == 4 else f"{words} times"
    return f"{about(value)} times"


def share(value: float) -> str:
    """A part of a whole, in words where they are near: `a third`, `nine tenths`, `4 %`."""
    nearest, words = min(SHARES, key=lambda one: abs(one[0] - value) / one[0])
    return words if abs(nearest - value) <= NEAR * value else percent(value)


def counted(value: float) -> str:
    """A small whole number in words, a larger one in digits: `four`, `1,300`."""
    whole = round(value)
    return COUNTS[whole] if 0 <= whole < len(COUNTS) else f"{whole:,}"


FILTERS: Sequence[Callable[..., str]] = (about, seconds, rate, size, percent, times, share, counted)

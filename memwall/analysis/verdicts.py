"""Verdicts: one table, of the kind of a claim by where an interval lies.

`position_of_ratio` and `position_of_value` tell where it lies, `VERDICTS` what follows.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from math import inf

REPRODUCED = "REPRODUCED"
#: The direction holds, the size that was claimed does not: less was found, or more.
DIRECTION_ONLY = "DIRECTION ONLY"
NOT_REPRODUCED = "NOT REPRODUCED"
UNDECIDED = "UNDECIDED"
OUT_OF_DATE = "OUT OF DATE"
DECIDED = (REPRODUCED, DIRECTION_ONLY, NOT_REPRODUCED)
#: What a machine cannot be asked, by facts of the machine alone.
NOT_ASKED = "NOT ASKED"

ALIKE_LOW, ALIKE_HIGH = 0.95, 1.05
RESTLESS = 1.5  # where equal code differs by so much, small differences say nothing

#: Between which values something is expected; None: no bound.
Bounds = tuple[float | None, float | None]


class Kind(Enum):
    """What a claim says."""

    FASTER = "faster"  # or less, or more; by any factor or at least by one
    WITHIN = "within"  # between two factors, or a value between two others
    ALIKE = "alike"
    MOST = "most"  # of the inputs
    CROSSOVER = "crossover"  # there is a place where one stops being faster, between two others
    ARITHMETIC = "arithmetic"  # counted, without an interval


class Position(Enum):
    """Where an interval lies."""

    INSIDE = "inside"  # all of it within what was claimed, and beyond the noise
    SHORT = "short"  # beyond the noise on the side that was claimed, all of it less than claimed
    BEYOND = "beyond"  # all of it more than claimed
    ALIKE = "alike"  # all of it so near to equal that nobody would notice
    OPPOSITE = "opposite"  # all of it on the other side; of a claim without sides: outside
    OPEN = "open"  # an edge lies within it


_SIDED = {
    Position.INSIDE: REPRODUCED,
    Position.SHORT: DIRECTION_ONLY,
    Position.BEYOND: DIRECTION_ONLY,
    Position.ALIKE: NOT_REPRODUCED,
    Position.OPPOSITE: NOT_REPRODUCED,
    Position.OPEN: UNDECIDED,
}
_WITHOUT_SIDES = {
    Position.INSIDE: REPRODUCED,
    Position.OPPOSITE: NOT_REPRODUCED,
    Position.OPEN: UNDECIDED,
}
VERDICTS = {
    Kind.FASTER: _SIDED,
    Kind.WITHIN: _SIDED,
    Kind.ALIKE: _WITHOUT_SIDES,
    Kind.MOST: _WITHOUT_SIDES,
    Kind.CROSSOVER: _SIDED,
    Kind.ARITHMETIC: _SIDED,
}


#: Which of several verdicts tells, where all must hold, and where one is enough: the first of these
#: that is there.
OF_ALL = (NOT_REPRODUCED, UNDECIDED, DIRECTION_ONLY, REPRODUCED)
#: Of a target of our own what holds in direction alone has failed, whatever is still open.
OF_OWN = (NOT_REPRODUCED, DIRECTION_ONLY, UNDECIDED, REPRODUCED)
OF_ANY = (REPRODUCED, UNDECIDED, DIRECTION_ONLY, NOT_REPRODUCED)


def of_several(verdicts: Collection[str], order: Sequence[str] = OF_ALL) -> str:
    """One verdict of several, by an order in which the first that is there tells."""
    return next(verdict for verdict in order if verdict in verdicts)


class Reason(Enum):
    """Why something is not decided, or does not hold where a number seems to say that it does."""

    CROSSES = "the interval crosses the threshold"
    SIDE = "the size does not hold, and the interval crosses 1"
    WIDE = "an interval is too wide to tell"
    NOISY = "the machine is too noisy"
    MANY_OPEN = "too many of the inputs are undecided"
    SPLIT = "neither side has so many that chance would not do it"
    TOO_FEW = "there are too few inputs"
    MISSING = "what it is compared with was not measured"
    ALIKE = "the two are alike, within 5 % or the noise"


#: Of these more samples might decide.
OF_SAMPLES = (Reason.CROSSES, Reason.SIDE, Reason.WIDE, Reason.NOISY, Reason.MANY_OPEN)


@dataclass(frozen=True)
class Reach:
    """From where to where a number may lie, and by what factor equal code differs there."""

    low: float
    high: float
    noise: float = 1.0  # at least 1

    def inverted(self) -> "Reach":
        """Of the inverse number."""
        return Reach(1 / self.high if self.high else inf, 1 / self.low if self.low else inf,
                     self.noise)


def position_of_ratio(reach: Reach, band: Bounds) -> Position:
    """Where a ratio lies of which one side of 1 was claimed, or that it is about 1."""
    least, most = 0.0 if band[0] is None else band[0], inf if band[1] is None else band[1]
    if least > 1 or (least, most) == (1, inf):
        return _position_above(reach, least, most)
    if most < 1 or (least, most) == (0, 1):
        return _position_above(reach.inverted(), 1 / most, 1 / least if least else inf)
    return _position_about(reach, least, most)


def position_of_value(reach: Reach, band: Bounds) -> Position:
    """Where a number without sides lies, which noise cannot move."""
    least, most = band
    low, high = -inf if least is None else least, inf if most is None else most
    if low <= reach.low and reach.high <= high:
        return Position.INSIDE
    return Position.OPPOSITE if reach.high < low or reach.low > high else Position.OPEN


def _position_above(reach: Reach, least: float, most: float) -> Position:
    """Where a ratio lies that was claimed to be above 1: what is not beyond the noise is not."""
    is_more = reach.low > reach.noise
    if is_more and least <= reach.low and reach.high <= most:
        return Position.INSIDE
    if is_more and reach.high < least:
        return Position.SHORT
    if is_more and reach.low > most:
        return Position.BEYOND
    if reach.high < 1 / reach.noise:
        return Position.OPPOSITE
    if not is_more and ((reach.low >= ALIKE_LOW and reach.high <= ALIKE_HIGH)
                        or (reach.high < 1 and reach.high * reach.noise <= ALIKE_HIGH)):
        return Position.ALIKE
    return Position.OPEN


def _position_about(reach: Reach, least: float, most: float) -> Position:
    """Where a ratio lies that was claimed to be about 1, or not far below: noise cannot have made
    that up, unless the machine is restless, but it can have undone it."""
    is_steady = reach.noise < RESTLESS or reach.low > reach.noise
    if is_steady and least <= reach.low and reach.high <= most:
        return Position.INSIDE
    if (reach.high < min(least, 1 / reach.noise)) or (reach.low > max(most, reach.noise)):
        return Position.OPPOSITE
    return Position.OPEN

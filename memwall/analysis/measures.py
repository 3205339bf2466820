"""What two variants are compared in: the time of a call, what was counted, or what is reached.

Each tells how many times better a case is than another one, and how sentences call that.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass

from memwall.analysis import numerics
from memwall.analysis.basis import Pair
from memwall.analysis.metrics import METRICS, Samples, measure_of, plain
from memwall.analysis.quantities import COUNTER, NoNumber, quantity


class Measure(ABC):
    """What is compared. `better` and `worse` are what the first side is to be, or is."""

    better: str
    worse: str

    @property
    def quantities(self) -> tuple[str, ...]:
        """Metrics or counts, of the first side and of the other; none of time."""
        return ()

    @property
    def is_timed(self) -> bool:
        """Whether two runs of the same code differ in it, by the noise floor."""
        return True

    @property
    def noise(self) -> str:
        """What of the rounds A/A pairs tell its noise by; empty: their times."""
        return ""

    @abstractmethod
    def ratios(self, pair: Pair) -> Samples:
        """How many times better the first side is, in each round or once."""

    def claimed(self, faster: str) -> str:
        """What is claimed of the first side, whose sentence begins with it."""
        return self.better

    def doubt(self, pair: Pair) -> tuple[float, float]:
        """By how much these ratios may all be wrong together: the least and the largest factor."""
        return 1.0, 1.0

    @abstractmethod
    def sides(self, faster: str, than: str) -> str:
        """Both sides in words."""

    @abstractmethod
    def said(self, faster: str, than: str, times: str) -> str:
        """What was found, in words: `times` is how many times better the first side is."""


@dataclass(frozen=True)
class Time(Measure):
    """The time of a call: less is better."""

    better = "faster"
    worse = "slower"

    def ratios(self, pair: Pair) -> Samples:
        return METRICS["speedup"].of(pair)

    def sides(self, faster: str, than: str) -> str:
        return f"`{faster}` against {than}"

    def said(self, faster: str, than: str, times: str) -> str:
        """`csrl` runs 1.23 times as fast as `csr`."""
        return f"`{faster}` runs {times} times as fast as {than}"


@dataclass(frozen=True)
class Counted(Measure):
    """A quantity of each side that was counted, the same unless told: less is better."""

    less: str
    than: str
    better = "less"
    worse = "more"

    @property
    def is_timed(self) -> bool:
        return False

    @property
    def quantities(self) -> tuple[str, ...]:
        return self.less, self.than

    def ratios(self, pair: Pair) -> Samples:
        """How many times less the first needs."""
        needed, others = quantity(self.less, pair.case), quantity(self.than, pair.than)
        for case, name, number in ((pair.case, self.less, needed), (pair.than, self.than, others)):
            if not number:
                raise NoNumber(f"{case.variant} records no {name}, nothing to compare")
        return [others / needed]

    def claimed(self, faster: str) -> str:
        """As the sentence begins with the other side, whose number is the larger one."""
        return f"less for `{faster}`"

    def sides(self, faster: str, than: str) -> str:
        """The stored bytes of `csr` against those of `csrl`: as many times as much."""
        return f"The {plain(self.than)} of {than} against {self._less} of `{faster}`"

    def said(self, faster: str, than: str, times: str) -> str:
        """The stored bytes of `csr` are 1.67 times those of `csrl`."""
        verb = "are" if _is_plural(self.than) else "is"
        return f"The {plain(self.than)} of {than} {verb} {times} times {self._less} of `{faster}`"

    @property
    def _less(self) -> str:
        if self.less != self.than:
            return f"the {plain(self.less)}"
        return "those" if _is_plural(self.less) else "that"


def _is_plural(quantity: str) -> bool:
    """Whether its name begins with several: the bytes of tiles, not the share of rows."""
    return re.split(" of | as | in ", plain(quantity))[0].endswith("s")


@dataclass(frozen=True)
class Reached(Measure):
    """A metric of rounds, such as the part of its launch's ceiling: more is better."""

    name: str
    better = "more"
    worse = "less"

    @property
    def is_timed(self) -> bool:
        return not self.name.startswith(COUNTER)

    @property
    def quantities(self) -> tuple[str, ...]:
        return self.name, self.name

    @property
    def noise(self) -> str:
        return measure_of(self.name).noise

    def ratios(self, pair: Pair) -> Samples:
        """How many times more the first reaches."""
        first, others = (measure_of(self.name).of(alone) for alone in pair.split())
        if min(others) <= 0:
            raise NoNumber(f"{pair.than.variant} has no {self.name}, nothing to compare")
        rounds = min(len(first), len(others))  # elsewhere other rounds may have been disturbed
        return numerics.ratios(first[:rounds], others[:rounds])

    def doubt(self, pair: Pair) -> tuple[float, float]:
        """Parts of two ceilings are as uncertain as both ceilings are."""
        if not measure_of(self.name).of_ceiling or pair.case.launch == pair.than.launch:
            return 1.0, 1.0
        own, others = (alone.ceilings[0].rate for alone in pair.split())
        value = others.value / own.value
        return others.low / own.high / value, others.high / own.low / value

    def sides(self, faster: str, than: str) -> str:
        """The part of its ceiling of `halo` against that of `halo` on one rank."""
        return f"The {measure_of(self.name).noun} of `{faster}` against that of {than}"

    def said(self, faster: str, than: str, times: str) -> str:
        """The part of its ceiling of `halo` is 0.95 times that of `halo` with 1 rank."""
        verb, that = ("is", "that") if self.is_timed else ("are", "those")
        noun = measure_of(self.name).noun
        return f"The {noun} of `{faster}` {verb} {times} times {that} of {than}"


TIME = Time()

"""Medians, intervals and tests; and numbers as a reader wants them, one way for each kind.

Distribution-free: timings are skewed and have outliers. The standard library alone, on purpose:
vectorised logarithms differ in the last bit between processors, and a page must be the same bytes
wherever it is woven.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, median
from statistics import geometric_mean as _geometric_mean

from memwall.record import notation

#: Of all intervals: at three looks, each at this level, at most 5 % of what is true is refuted.
LEVEL = 0.983


@dataclass(frozen=True)
class Estimate:
    """A median and the interval between two of its order statistics."""

    value: float
    low: float
    high: float
    coverage: float  # probability that the interval covers the true median
    rounds: int

    def scaled(self, factor: float) -> "Estimate":
        """The estimate of `factor` (positive) times the quantity."""
        return Estimate(
            self.value * factor, self.low * factor, self.high * factor, self.coverage, self.rounds
        )

    def widened(self, low: float, high: float) -> "Estimate":
        """The estimate of something that may be off by a factor from `low` to `high`."""
        return Estimate(
            self.value, self.low * low, self.high * high, self.coverage, self.rounds
        )


def exact(value: float) -> Estimate:
    """A number that was counted or told, not sampled."""
    return Estimate(value, value, value, 1.0, 1)


@dataclass(frozen=True)
class NoiseFloor:
    """The largest ratio between two runs of the same code in the same rounds."""

    factor: float  # at least 1
    pairs: int


def upper_tail(successes: int, trials: int) -> float:
    """Probability of at least so many successes among fair coin flips: of whole numbers, as the
    standard library has no binomial distribution and bundles carry no scipy."""
    return sum(math.comb(trials, k) for k in range(max(successes, 0), trials + 1)) / 2**trials


@cache
def interval_coverage(rank: int, count: int) -> float:
    """Probability that the median lies between the rank-th smallest and the rank-th largest."""
    return 1 - 2 * upper_tail(count - rank + 1, count)


@cache
def interval_rank(count: int, level: float = LEVEL) -> int:
    """The largest rank whose interval has at least the level; 1, the widest, if none has."""
    rank = 1
    ways = below = 1  # to choose rank - 1 of all samples, and to choose so many or fewer
    while 2 * (rank + 1) <= count:
        ways = ways * (count - rank + 1) // rank
        if 1 - 2 * ((below + ways) / 2**count) < level:  # the coverage of rank + 1
            break
        below += ways
        rank += 1
    return rank


def estimate(samples: Sequence[float], level: float = LEVEL) -> Estimate:
    """The median with its order-statistic interval."""
    ordered = sorted(samples)
    count = len(ordered)
    rank = interval_rank(count, level)
    return Estimate(
        median(ordered),
        ordered[rank - 1],
        ordered[count - rank],
        max(0.0, interval_coverage(rank, count)),
        count,
    )


def ratios(numerators: Sequence[float], denominators: Sequence[float]) -> list[float]:
    """The ratio of each round; both were measured in the same rounds."""
    return [a / b for a, b in zip(numerators, denominators, strict=True)]


def ratio_of_medians(numerators: Sequence[float], denominators: Sequence[float]) -> Estimate:
    """The ratio of the medians of two runs that have no rounds in common, with its interval.

    Price and Bonett, Distribution-free confidence intervals for difference and ratio of medians,
    Journal of Statistical Computation and Simulation 72 (2002), 119-124: on the logarithms, of
    which each side's median has a variance of its own. The samples must be positive. A side of one
    sample has no known variance: the interval is then from 0 to infinity.
    """
    ratio = median(numerators) / median(denominators)
    variance = _variance_of_log_median(numerators) + _variance_of_log_median(denominators)
    factor = math.exp(NormalDist().inv_cdf((1 + LEVEL) / 2) * math.sqrt(variance))
    rounds = min(len(numerators), len(denominators))
    return Estimate(ratio, ratio / factor, ratio * factor, LEVEL, rounds)


def _variance_of_log_median(samples: Sequence[float]) -> float:
    """The variance of the logarithm of a median, from the distance of two order statistics."""
    ordered, count = sorted(samples), len(samples)
    if count == 1:
        return math.inf
    rank = max(1, round((count + 1) / 2 - math.sqrt(count)))
    deviations = NormalDist().inv_cdf(1 - upper_tail(count - rank + 1, count))
    return (math.log(ordered[count - rank] / ordered[rank - 1]) / (2 * deviations)) ** 2


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive values; a single value stays exactly what it is, which that of
    the standard library rounds."""
    return values[0] if len(values) == 1 else _geometric_mean(values)


def geometric_mean_per_round(points: Sequence[Sequence[float]]) -> list[float]:
    """For each round the geometric mean over the points, as far as all of them have rounds."""
    return [geometric_mean(values) for values in zip(*points, strict=False)]


def sign_test(wins: int, trials: int) -> float:
    """One-sided p of so many wins if wins and the rest were equally likely."""
    return upper_tail(wins, trials)


def noise_floor(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> NoiseFloor:
    """From A/A pairs: the largest |log| of the medians of their per-round ratios."""
    logs = [abs(math.log(median(ratios(twin, variant)))) for twin, variant in pairs]
    return NoiseFloor(math.exp(max(logs, default=0.0)), len(logs))


# --- as a reader wants them -----------------------------------------------------------------------

#: Beyond these a number is not told apart from an edge.
MOST_DECIMALS = 4


def interval(estimate: Estimate, written: str) -> str:
    """The ends of an interval, rounded like its value as it is `written`."""
    decimals = len(written.partition(".")[2])
    return f"{estimate.low:.{decimals}f}–{estimate.high:.{decimals}f}"


def beside(estimate: Estimate, written: str, edges: Sequence[float]) -> str:
    """A value as it is `written`, or with more decimals: so many that neither it nor an end of its
    interval seems to lie on an edge that decides a verdict and does not."""
    numbers = (estimate.value, estimate.low, estimate.high)
    decimals = len(written.partition(".")[2])
    while decimals < MOST_DECIMALS and any(round(number, decimals) == edge != number
                                           for number in numbers for edge in edges):
        decimals += 1
    return f"{estimate.value:.{decimals}f}"


def in_brackets(estimate: Estimate, written: str, unit: str = "") -> str:
    """` (1.20–1.26)`, or nothing where both ends round to the value itself."""
    text = interval(estimate, written)
    return "" if text == f"{written}–{written}" else f" ({text}{unit})"


def factor(estimate: Estimate, edges: Sequence[float] = ()) -> str:
    """A ratio as `1.23`, or with as many decimals as tell it from the edges."""
    return beside(estimate, notation.factor(estimate.value), edges)


def speedup(estimate: Estimate, edges: Sequence[float] = ()) -> str:
    """A speed-up with its interval: 1.23x (1.20–1.26)."""
    written = factor(estimate, edges)
    return f"{written}x{in_brackets(estimate, written)}"


def lack_of_coverage(estimate: Estimate) -> str:
    """What an interval lacks that so few rounds allow; empty of one that lacks nothing."""
    if estimate.coverage >= LEVEL:
        return ""
    rounds = notation.plural(estimate.rounds, "round")
    return f", in only {100 * estimate.coverage:.1f} % of cases as {rounds} allow no more"

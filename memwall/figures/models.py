"""Models that figures draw beside what was measured: the latency-bandwidth model, which tells what
a distributed product should take on any number of ranks, and what a bus can carry.

A message of b bytes takes a + b/c. Both are fitted to messages round a ring, measured in the same
run. The busiest rank computes as long as its part of all bytes takes at the measured ceiling, and
then waits for its messages. Beyond the ranks that were measured the model stands for several
machines like this one, joined by a network that is as good as its own memory.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memwall.analysis.measurements import Measurements
from memwall.analysis.quantities import NoNumber
from memwall.record.regions import Where
from memwall.record.results import Case

ELEMENT_BYTES = {"fp32": 4, "fp64": 8}


@dataclass(frozen=True)
class Network:
    """What a message costs."""

    latency_s: float
    bytes_per_s: float

    def seconds(self, messages: float, bytes_: float) -> float:
        return messages * self.latency_s + bytes_ / self.bytes_per_s


def fit(points: Sequence[tuple[float, float]]) -> Network:
    """Latency and bandwidth from bytes and seconds, by least squares of relative errors: weighted,
    which `statistics.linear_regression` is not."""
    if len({size for size, _ in points}) < 2:
        raise NoNumber("a latency and a bandwidth need messages of at least two sizes")
    weighted = [(1 / time**2, size, time) for size, time in points]
    total = sum(weight for weight, _, _ in weighted)
    mean_size = sum(weight * size for weight, size, _ in weighted) / total
    mean_time = sum(weight * time for weight, _, time in weighted) / total
    variance = sum(weight * (size - mean_size) ** 2 for weight, size, _ in weighted)
    covariance = sum(weight * (size - mean_size) * (time - mean_time)
                     for weight, size, time in weighted)
    slope = covariance / variance
    if slope <= 0:
        raise NoNumber("larger messages took less time: no bandwidth can be fitted")
    return Network(max(0.0, mean_time - slope * mean_size), 1 / slope)


def network(measured: Measurements, variant: str, where: Where) -> Network | None:
    """The fit to the messages of a region; None if there were none."""
    cases = measured.select({**where, "variant": variant})
    return fit([(case.bytes, statistics.median(case.samples)) for case in cases]) if cases else None


@dataclass(frozen=True)
class Model:
    """What predicts the time of a product on some number of ranks."""

    network: Network
    rates: Mapping[int, float]  # bytes per second of all ranks together, by measured ranks

    def seconds(self, alone: Case, ranks: int) -> float:
        """Time on so many ranks of a product whose partitions were studied in the case `alone`."""
        count = alone.counts
        element = ELEMENT_BYTES[str(alone.parameters["precision"])]
        computing = alone.bytes * count[f"imbalance_{ranks}"] / self.rate(ranks)
        return computing + self.network.seconds(count[f"most_messages_{ranks}"],
                                                count[f"most_ghosts_{ranks}"] * element)

    def rate(self, ranks: int) -> float:
        """Of the measured ranks that are not more the most; several machines add up."""
        most = max(self.rates)
        if ranks > most:
            return self.rates[most] * ranks / most
        below = max(known for known in self.rates if known <= ranks)
        above = min(known for known in self.rates if known >= ranks)
        share = 0 if above == below else (ranks - below) / (above - below)
        return self.rates[below] + share * (self.rates[above] - self.rates[below])


def studied(case: Case, name: str) -> dict[int, float]:
    """The counts `NAME_2`, `NAME_8`, ... of a case, by their numbers."""
    found = {}
    for key, value in case.counts.items():
        stem, _, number = key.rpartition("_")
        if stem == name and number.isdigit():
            found[int(number)] = value
    return dict(sorted(found.items()))


def rates(measured: Measurements) -> dict[int, float]:
    """The ceiling of all ranks together, by the number of ranks, each with one thread."""
    launches = measured.result.raw["launches"]
    return {
        launch["ranks"]: measured.ceilings.one(index).rate.value
        for index, launch in enumerate(launches)
        if launch["threads"] == 1 and measured.ceilings.are_known(index)
    }


#: Of each generation of PCI Express: bits that a lane carries in a second, and the part of them
#: that is data: the base specifications, since 6.0 with flits of 256 bytes.
LANE_RATES = {1: (2.5e9, 8 / 10), 2: (5e9, 8 / 10), 3: (8e9, 128 / 130), 4: (16e9, 128 / 130),
              5: (32e9, 128 / 130), 6: (64e9, 236 / 256)}
LANES = (1, 2, 4, 8, 16)


def bus_rate(generation: int, lanes: int) -> float:
    """What a link of PCI Express carries at most: bytes of data in one direction, per second."""
    bits, data = LANE_RATES[generation]
    return bits / 8 * data * lanes

"""How often a protocol gives a wrong verdict: simulated, with the truth near each edge.

A truth is a ratio; a round's ratio is the truth times noise. Noise is lognormal, with a tail: now
and then a round is far off. Equal code is timed in pairs beside it, as a run does, and the largest
difference of their medians is the noise floor. What a verdict says is wrong if the truth lies where
it says that it does not. Between 1 and 1.05 both "alike" and "faster" are true.
"""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.verdicts import (
    ALIKE_HIGH,
    ALIKE_LOW,
    DIRECTION_ONLY,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    VERDICTS,
    Bounds,
    Kind,
    Reach,
    position_of_ratio,
)

PAIRS = 20  # of equal code, in a run
SEED = 48
RUNS = 1000  # at each question, for the scorecard


@dataclass(frozen=True)
class Protocol:
    """When a result is looked at, and at which level."""

    name: str
    looks: tuple[int, ...]  # rounds taken before each
    level: float


@dataclass(frozen=True)
class Noise:
    """How a machine disturbs: the spread of a round's ratio, how often it is far off, and then by
    what factor the spread is larger."""

    name: str
    spread: float
    outliers: float = 0.05
    factor: float = 8.0

    def ratio(self, source: random.Random, truth: float) -> float:
        """What one round shows."""
        is_off = source.random() < self.outliers
        return truth * math.exp(source.gauss(0, self.spread * (self.factor if is_off else 1)))


@dataclass(frozen=True)
class Question:
    """What is claimed, and a truth near one of its edges."""

    kind: Kind
    band: Bounds
    truth: float

    def right(self) -> frozenset[str]:
        """Verdicts that are true."""
        least = -math.inf if self.band[0] is None else self.band[0]
        most = math.inf if self.band[1] is None else self.band[1]
        found = {UNDECIDED}
        if least <= self.truth <= most:
            found.add(REPRODUCED)
        elif self.kind != Kind.ALIKE and least >= 1 and self.truth > 1:
            found.add(DIRECTION_ONLY)
        else:
            found.add(NOT_REPRODUCED)
        if self.kind != Kind.ALIKE and ALIKE_LOW <= self.truth <= ALIKE_HIGH:
            found.add(NOT_REPRODUCED)
        return frozenset(found)


OLD = Protocol("two looks at 95 %", (7, 14), 0.95)
NEW = Protocol("three looks at 98.3 %", (7, 14, 28), 0.983)
NOISES = (Noise("quiet", 0.005), Noise("restless", 0.03))
NEAR = 0.01  # so near to an edge, on either side
BANDS: tuple[tuple[Kind, Bounds], ...] = (
    (Kind.FASTER, (1.0, None)), (Kind.FASTER, (1.2, None)), (Kind.FASTER, (2.0, None)),
    (Kind.WITHIN, (2.0, 3.0)), (Kind.ALIKE, (ALIKE_LOW, ALIKE_HIGH)))


def questions() -> list[Question]:
    """Every band with the truth on each of its edges and near it, and where both are alike."""
    found = []
    for kind, band in BANDS:
        for edge in (edge for edge in band if edge is not None):
            found += [Question(kind, band, edge * factor) for factor in (1 - NEAR, 1, 1 + NEAR)]
        found.append(Question(kind, band, 1.0))
    return list(dict.fromkeys(found))


def verdict(question: Question, protocol: Protocol, noise: Noise, source: random.Random) -> str:
    """What one run says in the end: it looks again only where it is undecided."""
    ratios: list[float] = []
    pairs: list[list[float]] = [[] for _ in range(PAIRS)]
    found = UNDECIDED
    for rounds in protocol.looks:
        ratios += [noise.ratio(source, question.truth) for _ in range(rounds)]
        for pair in pairs:
            pair += [noise.ratio(source, 1.0) for _ in range(rounds)]
        estimate = numerics.estimate(ratios, protocol.level)
        floor = numerics.noise_floor((pair, [1.0] * len(pair)) for pair in pairs)
        reach = Reach(estimate.low, estimate.high, floor.factor)
        found = VERDICTS[question.kind][position_of_ratio(reach, question.band)]
        if found != UNDECIDED:
            break
    return found


@dataclass(frozen=True)
class Rates:
    """What became of many runs at one question, as parts of them: wrong, undecided; and of runs
    two by two, of those pairs in which both were decided, how many agree."""

    question: Question
    wrong: float
    undecided: float
    agree: float


def rates(protocol: Protocol, noise: Noise, runs: int,
          asked: Sequence[Question] | None = None) -> list[Rates]:
    """What becomes of so many runs at each question."""
    found = []
    for question in asked or questions():
        source = random.Random(f"{SEED} {question}")
        said = [verdict(question, protocol, noise, source) for _ in range(runs)]
        right = question.right()
        both = [pair for pair in zip(said[::2], said[1::2], strict=True) if UNDECIDED not in pair]
        agree = sum(one == other for one, other in both) / len(both) if both else 1.0
        found.append(Rates(question, sum(one not in right for one in said) / runs,
                           said.count(UNDECIDED) / runs, agree))
    return found


def line(protocol: Protocol, noise: Noise, runs: int,
         asked: Sequence[Question] | None = None) -> dict[str, Any]:
    """A line of `reports/protocol.json`: the rates at each question, in their order."""
    found = rates(protocol, noise, runs, asked)
    return {"protocol": protocol.name, "noise": noise.name, "spread": noise.spread, "runs": runs,
            **{rate: [getattr(one, rate) for one in found]
               for rate in ("wrong", "undecided", "agree")}}


if __name__ == "__main__":
    print(json.dumps([line(protocol, noise, RUNS) for noise in NOISES
                      for protocol in (OLD, NEW)], indent=1))

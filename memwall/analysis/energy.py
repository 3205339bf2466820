"""Joules of a call, which a variant recorded for each sample, above what its device takes anyway: a
baseline is a variant of the same point, such as a board with nothing to do."""

from collections.abc import Sequence

from memwall.analysis.basis import Pair
from memwall.analysis.quantities import NoNumber, Unknown
from memwall.record.results import Case

#: What variants call it (`energy::meter` of lib/energy).
JOULES = "joules"
#: What is no contender but a baseline does no work, of which a byte or an operation could cost.
BASELINE = "baseline"


def joules(case: Case) -> Sequence[float]:
    """Of a call, in each round."""
    if JOULES not in case.rounds:
        raise Unknown(f'{case.variant} recorded no "{JOULES}" for each round')
    return case.rounds[JOULES]


def watts(case: Case) -> list[float]:
    """The mean power of a sample, in each round."""
    return [energy / seconds for energy, seconds in zip(joules(case), case.samples, strict=True)]


def above(pair: Pair, baseline: str) -> list[float]:
    """Joules of a call above those that the baseline takes in the same time, in each round."""
    base = pair.basis.measured.partner(pair.case, baseline)
    if base is None:
        raise NoNumber(f"{pair.case.variant} has no `{baseline}` beside it")
    return [energy - power * seconds for energy, seconds, power in
            zip(joules(pair.case), pair.case.samples, watts(base), strict=False)]


def cost(pair: Pair, baseline: str, work: float, what: str) -> list[float]:
    """Picojoules above a baseline for each unit of the work of a call."""
    if pair.case.group == BASELINE or not work:
        raise NoNumber(f"{pair.case.variant} has no {what}")
    return [1e12 * energy / work for energy in above(pair, baseline)]


def yielded(pair: Pair, baseline: str, work: float, what: str) -> list[float]:
    """Billions of units of work for each joule above a baseline."""
    costs = cost(pair, baseline, work, what)
    if min(costs) <= 0:
        raise NoNumber(f"{pair.case.variant} takes no more than `{baseline}`")
    return [1e3 / picojoules for picojoules in costs]

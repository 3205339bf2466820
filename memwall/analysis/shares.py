"""Why a share of a ceiling may be above all that the ceiling allows."""

from collections.abc import Iterable

from memwall.analysis.basis import Basis
from memwall.analysis.ceilings import Ceiling
from memwall.analysis.measurements import Measurements
from memwall.analysis.numerics import estimate
from memwall.analysis.quantities import Unknown
from memwall.record.results import Case

#: Above this share a page says why.
MOST = 1.05
FEWER_BYTES = "a format holds fewer bytes than are counted"
IN_A_CACHE = "data lie in a cache"
OTHER_UNITS = "other units compute than those of the ceiling"
BUSY_BEFORE = "the machine gave more than while its ceiling was measured"
UNKNOWN = "nothing here explains it"
REASONS = (FEWER_BYTES, IN_A_CACHE, OTHER_UNITS, BUSY_BEFORE, UNKNOWN)


def reasons(basis: Basis, cases: Iterable[Case]) -> list[str]:
    """Why those of some cases are above `MOST` that are, each reason once."""
    found = set()
    for pair in basis.alone(case for case in cases if case.passed):
        try:
            ceilings = pair.ceilings
        except Unknown:
            continue
        tightest = max(ceilings, key=lambda one: one.work_of(pair.case) / one.rate.value)
        if reached(pair.case, tightest.rate.value, tightest) > MOST:
            found.add(_reason(basis.measured, pair.case, tightest))
    return [reason for reason in REASONS if reason in found]


def reached(case: Case, rate: float, ceiling: Ceiling) -> float:
    """The share of a rate that a case reached, by its median."""
    return ceiling.work_of(case) / rate / estimate(case.samples).value


def own_share(case: Case, ceiling: Ceiling) -> float:
    """As `reached`, of no more than the bytes of the format that the case reads."""
    return reached(case, ceiling.rate.value, ceiling) * case.format_bytes / case.bytes


def _reason(measured: Measurements, case: Case, ceiling: Ceiling) -> str:
    if not ceiling.moves_bytes:
        return OTHER_UNITS if case.target != "host" else _sway(case, ceiling)
    if 0 < case.format_bytes < case.bytes and own_share(case, ceiling) <= MOST:
        return FEWER_BYTES
    if case.cache == "warm" and case.bytes < 2 * measured.cache_bytes(case.target):
        return IN_A_CACHE
    return _sway(case, ceiling)


def _sway(case: Case, ceiling: Ceiling) -> str:
    return UNKNOWN if reached(case, ceiling.fastest, ceiling) > MOST else BUSY_BEFORE

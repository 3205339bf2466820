"""What was counted at a point and not timed; and why a case may have no number of a kind."""

from dataclasses import dataclass

from memwall.record.errors import UserError
from memwall.record.results import Case

#: `counter:l2_sectors`: what a profiler counted, of the cases that it has seen (`just profile`).
COUNTER = "counter:"
#: What the features of `lib/sparse` are called, in the order in which they make sense.
FEATURES = {
    "rows": "rows",
    "columns": "columns",
    "nonzeros": "nonzeros",
    "mean_row": "mean row",
    "max_row": "longest row",
    "std_row": "std. dev. of rows",
    "empty_rows": "empty rows",
    "nzseg": "runs of columns",
    "nzseg_per_nnz": "runs per nonzero",
}
#: What counts are called whose names do not say what they are of.
COUNTED = {
    "imbalance_128": "load of the busiest of 128 ranks",
    "last_128": "load of the last of 128 ranks",
    "busy_128": "number of busy ranks of 128",
    "bytes_of_tiles_in_csr": "CSR bytes of the tiles",
}
#: Between quantities: the one before is divided by the one after.
QUOTIENT = " / "


class NoNumber(UserError):
    """Why a case has no number of a kind: nobody counted it, or it is 0 where it divides. The case
    says so in its place, and everything else is told."""


class Unknown(NoNumber):
    """As `NoNumber`, of a name that the result does not have: if no case at all has a number,
    whoever wrote the template may have mistyped it."""


@dataclass(frozen=True)
class Absence:
    """Why there is no number."""

    kind: str  # failed | skipped | missing
    reason: str

    def __str__(self) -> str:
        return self.reason if self.kind == "missing" else f"{self.kind}: {self.reason}"


def quantity(name: str, case: Case) -> float:
    """What was counted and not timed: `stored_bytes`, the `operations` of a call, a count of the
    variant's own, what a profiler counted, or a quotient: `counter:l2_sectors / operations`."""
    first, *divisors = (_counted(part, case) for part in name.split(QUOTIENT))
    for divisor in divisors:
        if divisor == 0:
            raise NoNumber(f'"{name}" of {case.variant} would be divided by 0')
        first /= divisor
    return first


def _counted(name: str, case: Case) -> float:
    if name == "stored_bytes":
        return case.format_bytes
    if name == "operations":
        return case.operations
    if not is_counted(name, case):
        raise NoNumber(f"{case.variant}: {unprofiled(name)}")
    if name.startswith(COUNTER):
        return case.counters[name.removeprefix(COUNTER)]
    known = {**case.counters, **case.counts}
    if name not in known:
        raise Unknown(f'no quantity "{name}" of {case.variant}, which has:'
                         f" {', '.join(['stored_bytes', 'operations', *known])}")
    return known[name]


def _counters(*names: str) -> list[str]:
    """The profiler's counters among quantities."""
    parts = (part for name in names for part in name.split(QUOTIENT))
    return list(dict.fromkeys(part for part in parts if part.startswith(COUNTER)))


def is_counted(name: str, case: Case) -> bool:
    """Whether a quantity can be told of a case: false of a counter that no profiler has read."""
    return all(part.removeprefix(COUNTER) in case.counters for part in _counters(name))


def unprofiled(*names: str) -> Absence:
    """Why there is no number of these, one or two of which no profiler has read."""
    return Absence("missing", f"no profiler has counted `{'`, `'.join(_counters(*names))}` here")

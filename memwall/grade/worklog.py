"""Work logs: what students predicted, what came, and why, as `make score` in a kit keeps it."""

from dataclasses import dataclass

from memwall.record.escape import visible

COLUMNS = ("when", "digest", "predicted", "because", "came", "why")
MOST_ENTRIES = 200
MOST_LETTERS = 500


@dataclass(frozen=True)
class Entry:
    """One try, as the student's machine saw it."""

    when: str
    digest: str  # of the file, its first digits
    predicted: str  # times as fast as naive
    because: str
    came: str
    why: str


def read(log: bytes) -> list[Entry]:
    """The entries of a log, in letters that can be seen; lines that are none are left out."""
    lines = log.decode(errors="replace").splitlines()[:MOST_ENTRIES + 1]
    rows = [[visible(field)[:MOST_LETTERS] for field in line.split("\t")] for line in lines]
    return [Entry(*row) for row in rows if len(row) == len(COLUMNS) and row != list(COLUMNS)]

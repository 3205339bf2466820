"""Rounds go where claims are still undecided: after the first look at a result, further ones at the
points alone that a question rests on.

Each look is judged at the level of all intervals (`numerics.LEVEL`), of which three together are
right as often as one at 95 %: looking again buys no verdict.
"""

from collections.abc import Callable
from pathlib import Path

from memwall.analysis import claims
from memwall.record import files, joining, results
from memwall.run.programs import Measurement

MOST_LOOKS = 3
#: How often the rounds of the first look are taken in the second, and in the third.
ROUNDS = (2, 4)
POINTS = "points.json"

#: Measures with further arguments into a folder.
MeasureInto = Callable[[list[str], Path], Measurement]


def further(first: Measurement, opened: claims.Open, look: int, folder: Path,
            measure: MeasureInto) -> Measurement:
    """One more look at what is open: the samples of it and of those before, in one result."""
    rounds = ROUNDS[look - 1] * first.result.raw["run"]["rounds"]
    room = folder / ("more" if look == 1 else f"more-{look}")
    room.mkdir(parents=True, exist_ok=True)
    listed = room / POINTS
    files.write_json(listed, list(opened.points))
    more = measure(["--samples", str(rounds), "--again", "--points", str(listed)], room)
    raw = joining.prolong(first.result.raw, more.result.raw)
    return Measurement(results.of(raw, first.result.path), more.failures, more.is_whole)

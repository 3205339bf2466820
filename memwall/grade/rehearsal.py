"""A made-up class, graded as a real one would be: whether a machine is good for grading, how long a
hand-in takes there, and what a lecturer and students will see."""

import statistics
from collections.abc import Sequence
from pathlib import Path

from memwall.grade.grading import Record
from memwall.record import files
from memwall.record.kits import GradeError, Kit

LAST_TERM = ("p < ", "p + 1 < ")  # of each sum is left out
SEMICOLON = ("sum = 0;", "sum = 0")  # is missing


def hand_in(kit: Kit, folder: Path) -> list[Path]:
    """Writes what the students of the class hand in: Ada a good solution, Ben one that is wrong and
    then a first good idea, Chen what came with the kit, and Dora what does not compile."""
    def text(name: str, old: str = "", new: str = "") -> str:
        found = files.read(kit.folder / f"{name}{kit.suffix}")
        if old not in found:
            raise GradeError(f"{kit.folder}/{name}{kit.suffix}: found no {old!r}, in whose place"
                             " the class needs a mistake")
        return found.replace(old, new, 1) if old else found

    written = []
    for student, handed_in in (("ada", text("ladder/good")),
                               ("ben@1", text("ladder/first", *LAST_TERM)),
                               ("ben@2", text("ladder/first")), ("chen", text("naive")),
                               ("dora", text("naive", *SEMICOLON))):
        written.append(folder / f"{student}{kit.suffix}")
        files.write(written[-1], handed_in)
    return written


def said(records: Sequence[Record]) -> str:
    """How long a real class will take, in a line."""
    each = statistics.median(one["seconds"] for one in records if one["seconds"])
    return (f"to time a hand-in takes {each:.0f} s here: 200 of them take"
            f" {200 * each / 60:.0f} minutes")

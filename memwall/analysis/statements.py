"""Statements: sentences that are computed, with what they say in a form that a program can check.

A statement has a text, which people read, a predicate, which is one of `PREDICATES` and says what
the text means, and operands, from which anyone can compute it anew. A page that is made of
statements cannot say of a machine what was measured on another one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

#: Every predicate, and when a statement that has it is true of a result.
PREDICATES: Mapping[str, str] = {
    # --- conditions of claims: operands name claim and condition, which the definition tells -----
    "ratio": "over all points of the condition together the first side is `value` times as good as"
             " the second, with the interval `low` to `high`, at `points` points, of which so many"
             " as are told are the other way round beyond the noise floor; `verdict` is what"
             " follows for the condition. In each round the ratio is the geometric mean over the"
             " points; value and interval are median and order statistics of the rounds",
    "lowest": "of `points` points by themselves the lowest ratio is `value` (`low` to `high`), and"
              " at `below` the whole interval is below the bound and beyond the noise floor; at"
              " `wide` it reaches from below the bound to half as much again",
    "most": "of all units `wins` are better beyond the noise floor, `losses` worse, `alike` alike"
            " within 5 %, and the others undecided; `p` is that of a one-sided sign test for the"
            " wins",
    "each": "of all units by themselves the expectation holds on `reproduced`, in direction only on"
            " `direction`, not on `refuted`, and is undecided on `undecided`; on the unit `unit`"
            " the ratio is `value` (`low` to `high`)",
    "value": "the metric of the condition is `value` (`low` to `high`) over all its points, or at"
             " `unit` alone if that is given; of the units by themselves it holds on `holding` of"
             " `units`",
    "crossover": "along a number the first side stops being faster than the second at `value`"
                 " (`low` to `high`), an end of what was measured standing for there or beyond",
    "missing": "nothing decides the condition, because something that it compares was not measured:"
               " nowhere in the run, or not in the region that is told",
    # --- claims -------------------------------------------------------------------------------
    "verdict": "the conditions of the claim together come to `verdict` on the machine",
    "tally": "of `decided` machines on which the claim was decided, it holds on `holding`, and in"
             " direction alone on as many as are told",
    "verdicts": "a table: each cell has the symbol of the verdict of a row's claim on a column's"
                " machine, and the numbers that decided it",
    # --- what was measured ---------------------------------------------------------------------
    "measurements": "a table: each cell has the median of `metric` of a row's variant at a column's"
                    " value of `across`, in the region `where`, and its share of the ceiling if"
                    " `shares` says so",
    "ratios": "a table: each cell has the ratio of a condition on a row's machine at a column's"
              " unit; a row tells if the claim is out of date there",
    "ceilings": "a table: each cell has what a column's probe reached on a row's machine, in the"
                " launch where it was most, and whether that is by an older definition",
    "chosen": "in the study the notes of the variant begin with each name of `times` at so many of"
              " its points: what ran there",
    "skipped": "each of these variants was skipped or failed in the study, at `points` of the `of`"
               " points where it was asked, for `reasons`, which differ in numbers at most",
    # --- runs -----------------------------------------------------------------------------------
    "runs": "a table: each row says of a machine's run its id, date, profile, rounds, noise floor,"
            " highest ceiling, variants that changed, rounds that were disturbed, and how many of"
            " them do not count",
    "facts": "a table of what a run says of itself, its noise floor, and what was disturbed; or of"
             " its data sets",
    "same data": "both runs have the same data sets",
    "stale": "the source text or the data of the variant have changed since the run",
    "doubtful": "the case was faster than its ceiling allows, and counts in no verdict",
}


@dataclass(frozen=True)
class Statement:
    """A sentence, what it means, and of whose numbers it tells."""

    text: str
    predicate: str
    operands: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert self.predicate in PREDICATES, self.predicate

    def about(self, **operands: Any) -> "Statement":
        """The same statement with more operands."""
        return replace(self, operands={**self.operands, **operands})

    def saying(self, text: str) -> "Statement":
        """The same statement in other words."""
        return replace(self, text=text)

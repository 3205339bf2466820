"""Verdicts of claims: needs, conditions, staleness.

What a condition compares is in `comparisons.py`, what its words mean in `expectations.py`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from memwall.analysis import crossovers, expectations, needs
from memwall.analysis.basis import Basis, Over
from memwall.analysis.cells import measure
from memwall.analysis.comparisons import compare
from memwall.analysis.expectations import Finding
from memwall.analysis.measurements import Measurements, once
from memwall.analysis.measures import TIME, Counted, Measure, Reached
from memwall.analysis.metrics import metric_named
from memwall.analysis.quantities import QUOTIENT, Absence
from memwall.analysis.statements import Statement
from memwall.analysis.verdicts import (
    DECIDED,
    DIRECTION_ONLY,
    NOT_ASKED,
    NOT_REPRODUCED,
    OF_ALL,
    OF_OWN,
    OF_SAMPLES,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
    Reason,
    of_several,
)
from memwall.record import definition, sources
from memwall.record.definition import Claim, Condition
from memwall.record.regions import Where, phrase
from memwall.record.results import STUDY, Case, Result, options

SYMBOLS = {REPRODUCED: "✓", DIRECTION_ONLY: "≈", NOT_REPRODUCED: "✗", UNDECIDED: "?",
           OUT_OF_DATE: "↻", NOT_ASKED: ""}
#: What the verdicts on this project's own targets are called: one that is missed is missed.
OWN = {REPRODUCED: "HOLDS", DIRECTION_ONLY: "FAILS", NOT_REPRODUCED: "FAILS"}


@dataclass(frozen=True)
class Verdict:
    """The verdict of a claim with what every condition found."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]
    note: str = ""

    @property
    def word(self) -> str:
        """What it is called: our own targets hold or fail."""
        return OWN.get(self.verdict, self.verdict) if self.claim.is_own else self.verdict

    @property
    def symbol(self) -> str:
        """One letter for tables; empty where the claim cannot be asked."""
        return SYMBOLS[self.decided or self.verdict]

    @property
    def is_asked(self) -> bool:
        """Whether the claim can be asked of this machine at all."""
        return self.verdict != NOT_ASKED

    @property
    def is_measured(self) -> bool:
        """Whether what it compares was measured at all."""
        return self.is_asked and any(finding.reason != Reason.MISSING for finding in self.findings)

    @property
    def decided(self) -> str:
        """What was decided, where anything was: a target that is missed in size is missed."""
        if self.verdict == DIRECTION_ONLY and self.claim.is_own:
            return NOT_REPRODUCED
        return self.verdict if self.verdict in DECIDED else ""

    @property
    def asks_for_samples(self) -> bool:
        """Whether more samples of the same might decide it."""
        return self.verdict == UNDECIDED and any(
            finding.reason in OF_SAMPLES for finding in self.findings)

    @property
    def telling(self) -> Finding | None:
        """Of what the conditions found the one that the verdict rests on: the first of its kind."""
        shown = [finding for finding in self.findings if finding.decided_by]
        alike = (each for each in shown if each.verdict == self.verdict)
        return next(alike, next(iter(shown), None))

    @property
    def decided_by(self) -> list[str]:
        """The numbers that it rests on, one for each condition that could be examined."""
        return [finding.decided_by for finding in self.findings if finding.decided_by]

    @property
    def numbers(self) -> list[str]:
        """What stands beside the symbol: the numbers that decided; of what failed the one that
        failed; of what is undecided the interval, as its middle says nothing; else nothing."""
        if self.verdict == REPRODUCED:
            return self.decided_by
        telling = self.telling
        if telling is None or telling.verdict != self.verdict:
            return []
        return [telling.interval if self.verdict == UNDECIDED and telling.interval
                else telling.decided_by]


@once
def judge(measured: Measurements, claim: Claim) -> Verdict:
    """The verdict of one claim on one result, whose doubtful cases do not count."""
    measured = measured.believed
    if barred := needs.barring(measured.result.raw["machine"], claim.needs):
        return Verdict(claim, NOT_ASKED, (), "; ".join(barred))
    asked = [_asked(measured, condition, claim.is_own) for condition in claim.conditions]
    findings = tuple(_examine(measured, one) for one in asked)
    stale = _stale(measured, asked)
    if stale:
        return Verdict(claim, OUT_OF_DATE, findings, stale)
    compared = {name for condition in claim.conditions for name in condition.faster}
    if lacks := needs.lacking(measured, claim.needs, compared):
        return Verdict(claim, UNDECIDED, findings, f"{'; '.join(lacks)}.")
    missing = [finding for finding in findings if finding.reason == Reason.MISSING]
    if missing and measured.partial:  # of a run of somebody's choice nobody expects it
        return Verdict(claim, NOT_ASKED, findings, missing[0].sentence)
    verdict = of_several({finding.verdict for finding in findings},
                         OF_OWN if claim.is_own else OF_ALL)
    found = Verdict(claim, verdict, findings)
    return replace(found, note=_remark(measured, found))


def _remark(measured: Measurements, found: Verdict) -> str:
    """What may still be done about what is undecided. That more samples or inputs decide it nobody
    can promise."""
    if found.verdict != UNDECIDED:
        return ""
    if any(finding.reason in (Reason.TOO_FEW, Reason.SPLIT) for finding in found.findings):
        return MORE_INPUTS
    return FIRST_LOOK if found.asks_for_samples and not _chose_samples(measured.result) else ""


MORE_INPUTS = "More inputs might decide."
FIRST_LOOK = "No further look was taken yet."
FASTER_THAN_MEMORY = "whether a cold case is faster than memory"


def _chose_samples(result: Result) -> bool:
    """Whether somebody said how many samples to take, or `run-all` took more of them."""
    given = options(result.run["arguments"])
    return result.run["tripled"] or "looks" in result.run or any(
        option[0].partition("=")[0] == "--samples" for option in given)


#: A point of a study, as a result has it, whatever launch measured it.
StudyPoint = Mapping[str, Any]


@dataclass(frozen=True)
class Open:
    """What of a fresh result more samples might decide, and at which points."""

    questions: tuple[str, ...]  # ids of claims, and whether a cold case is faster than memory
    points: tuple[StudyPoint, ...]


def open_of(result: Result, root: Path, only_ceilings: bool = False) -> Open:
    """What is open, of the claims and of what seems faster than memory, or of this alone."""
    measured = _of_fresh(result, root)
    asking = [] if only_ceilings else [
        claim for claim in measured.experiment.claims if judge(measured, claim).asks_for_samples]
    cases = [case for claim in asking for condition in claim.conditions
             for case in _compared(measured, _asked(measured, condition, claim.is_own))]
    cases += [case for case in measured.cases if id(case) in measured.doubtful]
    questions = [claim.id for claim in asking]
    questions += [FASTER_THAN_MEMORY] if measured.doubtful else []
    points = {json.dumps(point): point for case in cases if (point := _point(case))}
    return Open(tuple(questions), tuple(points.values()))


def _compared(measured: Measurements, sides: "_Sides") -> list[Case]:
    """The cases that a condition rests on."""
    basis, where = Basis(measured, sides.than), sides.condition.where
    found = list(measured.find(sides.faster, where).cases)
    for rival in basis.rivals if basis.names_rivals else (sides.faster,):
        found += measured.find(rival, {**where, **basis.moved}).cases if sides.than else ()
    return found


def _point(case: Case) -> StudyPoint:
    parameters = {name: value for name, value in case.parameters.items() if name != STUDY}
    return {"study": case.parameters[STUDY], "parameters": parameters}


def _of_fresh(result: Result, root: Path) -> Measurements:
    experiment = definition.load(root, result.experiment)
    return Measurements(result, experiment, sources.read_tree(root), partial=True)


# --- conditions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sides:
    """What a condition compares here: of several names the first that was measured."""

    condition: Condition
    faster: str
    than: Over
    late: Sequence[str]  # what it compares that this run does not count yet
    is_own: bool = False  # of a target of our own


def _asked(measured: Measurements, condition: Condition, is_own: bool) -> _Sides:
    faster = measured.first_measured(condition.faster, condition.where)
    than: Over = None
    if isinstance(condition.than, Mapping):
        than = condition.than
    elif condition.than:
        than = measured.first_measured(condition.than, condition.where)
    late = [name for name in condition.of or () if name in measured.experiment.since
            and all(name not in case.counts for case in measured.cases)]
    return _Sides(condition, faster, than, late, is_own)


def _examine(measured: Measurements, asked: _Sides) -> Finding:
    condition = asked.condition
    if condition.value:
        return _examine_value(measured, asked)
    if asked.late:
        return _missing(f"`{asked.late[0]}` was not counted in this run.")
    compared = compare(measured, asked.faster, asked.than, condition.where, _measure(condition),
                       condition.per)
    if isinstance(compared, Absence):
        return _missing(f"{compared.reason}.")
    if condition.along:
        return crossovers.examine(measured, compared, condition.along, condition.between)
    return expectations.examine(compared, condition.expect, condition.on, asked.is_own)


def _missing(sentence: str) -> Finding:
    return Finding(UNDECIDED, Statement(sentence, "missing"), reason=Reason.MISSING)


def _measure(condition: Condition) -> Measure:
    """What is compared."""
    if condition.of is None:
        return TIME
    return Reached(condition.of[0]) if condition.more else Counted(*condition.of)


def _examine_value(measured: Measurements, asked: _Sides) -> Finding:
    """Whether a metric of one variant lies where it is expected, in the mean or in every unit."""
    condition = asked.condition
    if condition.on == "all":
        return _examine_one_value(measured, asked, condition.where)
    named = [name for name in condition.per if name in measured.axes]
    units = list(product(*(measured.values(name, condition.where) for name in named)))
    found = [_examine_one_value(measured, asked,
                                {**condition.where, **dict(zip(named, unit, strict=True))})
             for unit in units]
    told = [finding for finding in found if finding.reason != Reason.MISSING]
    if not told:
        return _missing(found[0].sentence if found else "Nothing was measured.")
    worst = min(told, key=lambda finding: (OF_ALL.index(finding.verdict), finding.margin))
    holding = sum(finding.verdict == REPRODUCED for finding in told)
    text = (f"Each {' and '.join(named) or 'point'} by itself, it holds at {holding} of"
            f" {len(told)}. {EXAMPLES[worst.verdict]}: {worst.sentence}")
    statement = worst.statement.saying(text).about(
        holding=holding, units=len(told), unit=units[found.index(worst)], axes=named)
    return replace(worst, statement=statement)


#: What of several is shown: nothing decides alone that all hold.
EXAMPLES = {REPRODUCED: "Nearest to an edge", UNDECIDED: "One that is open",
            NOT_REPRODUCED: "One that decides"}


def _examine_one_value(measured: Measurements, asked: _Sides, where: Where) -> Finding:
    condition, variant = asked.condition, asked.faster
    ceiling = condition.ceiling or None
    found = measure(Basis(measured, None, ceiling), condition.value, variant, where)
    if found.estimate is None:
        assert found.absence is not None
        return _missing(f"`{variant}`: {found.absence}.")
    place = f" ({phrase(where)})" if where else ""
    return expectations.examine_value(f"`{variant}`", _of(condition) + place, found,
                                      condition.value, (condition.at_least, condition.at_most))


def _of(condition: Condition) -> str:
    """What a value is of, behind the number: ` of its ceiling`, ` cycles`."""
    metric = metric_named(condition.value)
    if metric.of_ceiling:
        named = " or ".join(f"`{name}`" for name in condition.ceiling)
        return f" of {named}" if named else " of its ceiling"
    is_told = metric.unit or condition.value == "median"
    return "" if is_told else f" {metric.header.replace(QUOTIENT, ' per ')}"


def _stale(measured: Measurements, asked: Sequence[_Sides]) -> str:
    """What changed since this run, or came after it."""
    names = [name for one in asked
             for name in (one.faster, *Basis(measured, one.than).rivals)]
    reasons = {name: measured.stale_variants[name] for name in names if measured.is_stale(name)}
    missing = [name for name in names if name not in measured.variants and not measured.partial]
    reasons |= dict.fromkeys(missing, "not measured in this run")
    late = [name for one in asked for name in one.late]
    reasons |= dict.fromkeys(late, "not counted in this run")
    told = [f"`{name}`: {reason}" for name, reason in reasons.items()]
    studies = [] if measured.partial else [
        name for one in asked for name in measured.later_studies(one.condition.where)]
    told += [f"the study `{name}`: not measured in this run" for name in dict.fromkeys(studies)]
    return "; ".join(told)

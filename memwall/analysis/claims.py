"""Verdicts of claims: needs, conditions, staleness.

What a condition compares is in `metrics.py`, what its words mean in `expectations.py`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from memwall.analysis import expectations
from memwall.analysis.comparisons import Counted, Measure, Reached, compare
from memwall.analysis.expectations import (
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    TOO_FEW,
    UNDECIDED,
    Finding,
)
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import Basis, Over, measure
from memwall.analysis.quantities import Absence
from memwall.analysis.units import with_unit
from memwall.record import definition, sources
from memwall.record.definition import Claim, Condition
from memwall.record.errors import UserError
from memwall.record.regions import Where, words
from memwall.record.results import Result, options

OUT_OF_DATE = "OUT OF DATE"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, UNDECIDED, TOO_FEW, OUT_OF_DATE, NOT_APPLICABLE)
#: What the verdicts on this project's own targets are called.
OWN = {REPRODUCED: "HOLDS", NOT_REPRODUCED: "FAILS"}
SYMBOLS = dict(zip(VERDICTS, ("✓", "✗", "?", "◇", "↻", ""), strict=True))

INSTRUCTION_SETS = {"avx", "avx2", "avx512f", "avx512", "fma", "f16c", "neon", "sve", "sve2", "amx"}
OTHER_NEEDS = {"cuda", "bare-metal", "mkl"}
ARCHITECTURES = {"x86_64", "aarch64", "riscv64", "ppc64le"}
AT_LEAST = re.compile(r"(matrices|threads|ranks|cores|numa_nodes|gpus|rounds)>=(\d+)")
#: Needs that a longer run meets; others are of the machine.
OF_RUNS = re.compile(r"(matrices|rounds)>=.*")


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
        return SYMBOLS[self.verdict]

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
        if telling is None or self.verdict not in (NOT_REPRODUCED, UNDECIDED):
            return []
        return [telling.interval if self.verdict == UNDECIDED and telling.interval
                else telling.decided_by]


def judge(measured: Measurements, claim: Claim) -> Verdict:
    """The verdict of one claim on one result, whose doubtful cases do not count."""
    measured = measured.believed
    unmet = [need for need in claim.needs if _unmet(measured, need)]
    if any(not OF_RUNS.fullmatch(need) for need in unmet):
        return Verdict(claim, NOT_APPLICABLE, (), "; ".join(unmet_needs(measured, unmet)))
    findings = tuple(_examine(measured, condition) for condition in claim.conditions)
    stale = _stale(measured, claim)
    if stale:
        return Verdict(claim, OUT_OF_DATE, findings, stale)
    found = {finding.verdict for finding in findings}
    if unmet and NOT_APPLICABLE not in found:
        reasons = unmet_needs(measured, unmet)
        return Verdict(claim, TOO_FEW, findings, f"{'; '.join(reasons)}. {more_data(measured)}")
    for verdict in (NOT_REPRODUCED, NOT_APPLICABLE, TOO_FEW, UNDECIDED):
        if verdict in found:
            return Verdict(claim, verdict, findings, _remark(measured, verdict))
    return Verdict(claim, REPRODUCED, findings)


def _remark(measured: Measurements, verdict: str) -> str:
    if verdict == TOO_FEW:
        return more_data(measured)
    if verdict == UNDECIDED and not _chose_samples(measured.result):
        return UNTRIPLED
    return ""


def more_data(measured: Measurements) -> str:
    """The command that would decide what a run has too few data for."""
    name = measured.experiment.name
    if measured.result.run["profile"] == "full":
        return f"More matrices would decide: `just run {name} --matrix FILE...`"
    return f"The full profile would decide: `just run {name} --profile full`"


UNTRIPLED = "The samples were not tripled yet."
FASTER_THAN_MEMORY = "whether a cold case is faster than memory"


def _chose_samples(result: Result) -> bool:
    """Whether somebody said how many samples to take, or `run-all` tripled them."""
    given = options(result.run["arguments"])
    return result.run["tripled"] or any(
        option[0].partition("=")[0] == "--samples" for option in given)


def open_questions(result: Result, root: Path) -> list[str]:
    """What of a fresh result more samples might decide: ids of claims, and whether a cold case is
    faster than memory."""
    measured = _of_fresh(result, root)
    undecided = [claim.id for claim in measured.experiment.claims
                 if judge(measured, claim).verdict == UNDECIDED]
    return undecided + ([FASTER_THAN_MEMORY] if measured.doubtful else [])


def is_beyond_ceiling(result: Result, root: Path) -> bool:
    """Whether a cold case of a fresh result is faster than memory, which more samples might
    mend."""
    return bool(_of_fresh(result, root).doubtful)


def _of_fresh(result: Result, root: Path) -> Measurements:
    experiment = definition.load(root, result.experiment)
    return Measurements(result, experiment, sources.read_tree(root), partial=True)


def is_need(need: str) -> bool:
    """Whether `_unmet` knows a need."""
    return need in ARCHITECTURES | INSTRUCTION_SETS | OTHER_NEEDS or bool(AT_LEAST.fullmatch(need))


def unmet_needs(measured: Measurements, needs: Sequence[str]) -> list[str]:
    """The needs this result does not meet, each as a reason."""
    reasons = (_unmet(measured, need) for need in needs)
    return [reason for reason in reasons if reason]


# --- what may stand in the way -------------------------------------------------------------------


def _examine(measured: Measurements, condition: Condition) -> Finding:
    if condition.value:
        return _examine_value(measured, condition)
    if late := _uncounted(measured, condition):
        return Finding(NOT_APPLICABLE, f"`{late[0]}` was not counted in this run.")
    faster, than = _sides(measured, condition)
    of = _measure(measured, condition)
    compared = compare(measured, faster, than, condition.where, of, condition.per)
    if isinstance(compared, Absence):
        return Finding(NOT_APPLICABLE, f"{compared.reason}.")
    if condition.along:
        return expectations.examine_crossover(measured, compared, condition.along,
                                              condition.between)
    return expectations.examine(compared, condition.expect, condition.on)


def _examine_value(measured: Measurements, condition: Condition) -> Finding:
    """Whether a metric of one variant lies where it is expected, in the mean or in every unit."""
    if condition.on == "all":
        return _examine_one_value(measured, condition, condition.where)
    named = [name for name in condition.per if name in measured.axes]
    units = product(*(measured.values(name, condition.where) for name in named))
    found = [_examine_one_value(measured, condition,
                                {**condition.where, **dict(zip(named, unit, strict=True))})
             for unit in units]
    asked = [finding for finding in found if finding.verdict != NOT_APPLICABLE]
    if not asked:
        return Finding(NOT_APPLICABLE, found[0].sentence if found else "Nothing was measured.")
    order = (NOT_REPRODUCED, UNDECIDED, REPRODUCED)
    worst = min(asked, key=lambda finding: order.index(finding.verdict))
    holding = sum(finding.verdict == REPRODUCED for finding in asked)
    return replace(worst, sentence=f"It holds at {holding} of {len(asked)}; {worst.sentence}")


def _examine_one_value(measured: Measurements, condition: Condition, where: Where) -> Finding:
    variant, _ = _sides(measured, condition)
    ceiling = condition.ceiling or None
    found = measure(Basis(measured, None, ceiling), condition.value, variant, where)
    if found.estimate is None:
        assert found.absence is not None
        return Finding(NOT_APPLICABLE, f"`{variant}`: {found.absence}.")
    what = f"`{condition.value}` of `{variant}`" + (f" where {words(where)}" if where else "")
    if ceiling:
        what += f", of {' or '.join(ceiling)}"
    edges = [edge for edge in (condition.at_least, condition.at_most) if edge is not None]
    text = with_unit(condition.value, found.estimate, edges)
    return expectations.examine_value(what, found, text, condition.at_least, condition.at_most)


def _measure(measured: Measurements, condition: Condition) -> Measure | None:
    """What is compared, if it is not time."""
    if condition.of is None:
        return None
    return Reached(measured, condition.of[0]) if condition.more else Counted(*condition.of)


def _uncounted(measured: Measurements, condition: Condition) -> list[str]:
    """What a condition compares and this run does not count yet: `[since]` says that it came
    later."""
    counted = {name for case in measured.cases for name in case.counts}
    return [name for name in condition.of or ()
            if name in measured.experiment.since and name not in counted]


def _sides(measured: Measurements, condition: Condition) -> tuple[str, Over]:
    """What is compared; of several names the first that was measured here."""
    faster = measured.first_measured(condition.faster, condition.where)
    if not condition.than:
        return faster, None
    if isinstance(condition.than, Mapping):
        return faster, condition.than
    return faster, measured.first_measured(condition.than, condition.where)


def _stale(measured: Measurements, claim: Claim) -> str:
    names: list[str] = []
    late: list[str] = []
    for condition in claim.conditions:
        faster, than = _sides(measured, condition)
        names += [faster, *Basis(measured, than).rivals]
        late += _uncounted(measured, condition)
    reasons = {name: measured.stale_variants[name] for name in names if measured.is_stale(name)}
    missing = [name for name in names if name not in measured.variants and not measured.partial]
    reasons |= dict.fromkeys(missing, "not measured in this run")
    reasons |= dict.fromkeys(late, "not counted in this run")
    return "; ".join(f"`{name}`: {reason}" for name, reason in reasons.items())


def _unmet(measured: Measurements, need: str) -> str | None:
    machine = measured.result.raw["machine"]
    cpu = machine["cpu"]
    counted = AT_LEAST.fullmatch(need)
    if counted:
        return _too_few(measured, counted[1], int(counted[2]))
    if need in ARCHITECTURES:
        return (
            None if cpu["architecture"] == need else f"needs {need}, this is {cpu['architecture']}"
        )
    if need in INSTRUCTION_SETS:
        return None if need in cpu["instruction_sets"] else f"this CPU has no {need}"
    if need == "cuda":
        return None if machine["gpus"] else "needs a GPU"
    if need == "bare-metal":
        return "needs bare metal, this is a virtual machine" if machine["virtual"] else None
    if need == "mkl":  # the rival that is hardest to beat; there is none for other architectures
        lacks = cpu["architecture"] == "x86_64" and need not in measured.result.raw["libraries"]
        return "needs MKL, which was not there" if lacks else None
    raise UserError(
        f'found the need "{need}", expected {", ".join(sorted(ARCHITECTURES | INSTRUCTION_SETS))},'
        " cuda, bare-metal, mkl or one of matrices, threads, ranks, cores, numa_nodes, gpus, rounds"
        " with >=N"
    )


def _too_few(measured: Measurements, what: str, least: int) -> str | None:
    raw = measured.result.raw
    launches = raw["launches"]
    found = {
        "matrices": len(
            {c.parameters["matrix"] for c in measured.cases if "matrix" in c.parameters}
        ),
        "threads": max(launch["threads"] for launch in launches),
        "ranks": max(launch["ranks"] for launch in launches),
        "cores": raw["machine"]["cpu"]["cores"],
        "numa_nodes": raw["machine"]["cpu"]["numa_nodes"],
        "gpus": len(raw["machine"]["gpus"]),
        "rounds": raw["run"]["rounds"],
    }[what]
    return None if found >= least else f"needs at least {least} {what}, this run has {found}"

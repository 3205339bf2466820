"""Verdicts of claims: needs, conditions, staleness.

What a condition compares is in `comparison.py`, what its words mean in `expectations.py`.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weave import crossover, definition, expectations, sources
from weave.comparison import Counted, Measure, Reached, compare
from weave.definition import Claim, Condition
from weave.errors import WeaveError
from weave.expectations import (
    INCONCLUSIVE,
    NOT_APPLICABLE,
    NOT_REPRODUCED,
    REPRODUCED,
    Finding,
)
from weave.measurements import Absence, Measurements
from weave.metrics import Basis, Over
from weave.results import Result, options

STALE = "STALE"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_APPLICABLE, STALE)

INSTRUCTION_SETS = {"avx", "avx2", "avx512f", "avx512", "fma", "f16c", "neon", "sve", "sve2", "amx"}
OTHER_NEEDS = {"cuda", "bare-metal"}
ARCHITECTURES = {"x86_64", "aarch64", "riscv64", "ppc64le"}
AT_LEAST = re.compile(r"(matrices|threads|ranks|cores|numa_nodes|gpus|rounds)>=(\d+)")


@dataclass(frozen=True)
class Verdict:
    """The verdict of a claim with what every condition found."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]
    note: str = ""

    @property
    def decided_by(self) -> list[str]:
        """The numbers that it rests on, one for each condition that could be examined."""
        return [finding.decided_by for finding in self.findings if finding.decided_by]


def judge(measured: Measurements, claim: Claim) -> Verdict:
    """The verdict of one claim on one result."""
    unmet = unmet_needs(measured, claim.needs)
    if unmet:
        return Verdict(claim, NOT_APPLICABLE, (), "; ".join(unmet))
    findings = tuple(_examine(measured, condition) for condition in claim.conditions)
    stale = _stale(measured, claim)
    if stale:
        return Verdict(claim, STALE, findings, stale)
    found = {finding.verdict for finding in findings}
    for verdict in (NOT_REPRODUCED, NOT_APPLICABLE, INCONCLUSIVE):
        if verdict in found:
            open_yet = verdict == INCONCLUSIVE and not _chose_samples(measured.result)
            return Verdict(claim, verdict, findings, UNTRIPLED if open_yet else "")
    return Verdict(claim, REPRODUCED, findings)


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
                 if judge(measured, claim).verdict == INCONCLUSIVE]
    return undecided + ([FASTER_THAN_MEMORY] if measured.beyond_ceiling() else [])


def is_beyond_ceiling(result: Result, root: Path) -> bool:
    """Whether a cold case of a fresh result is faster than memory, which more samples might
    mend."""
    return _of_fresh(result, root).beyond_ceiling() is not None


def _of_fresh(result: Result, root: Path) -> Measurements:
    experiment = definition.load(root, result.experiment)
    return Measurements(result, experiment, sources.read(root), partial=True)


def is_need(need: str) -> bool:
    """Whether `_unmet` knows a need."""
    return need in ARCHITECTURES | INSTRUCTION_SETS | OTHER_NEEDS or bool(AT_LEAST.fullmatch(need))


def unmet_needs(measured: Measurements, needs: Sequence[str]) -> list[str]:
    """The needs this result does not meet, each as a reason."""
    reasons = (_unmet(measured, need) for need in needs)
    return [reason for reason in reasons if reason]


# --- what may stand in the way -------------------------------------------------------------------


def _examine(measured: Measurements, condition: Condition) -> Finding:
    faster, than = _sides(measured, condition)
    compared = compare(measured, faster, than, condition.where, _measure(measured, condition))
    if isinstance(compared, Absence):
        return Finding(NOT_APPLICABLE, f"{compared.reason}.")
    if condition.along:
        return crossover.examine(measured, compared, condition.along, condition.between)
    return expectations.examine(compared, condition.expect, condition.on)


def _measure(measured: Measurements, condition: Condition) -> Measure | None:
    """What is compared, if it is not time."""
    if condition.of is None:
        return None
    return Reached(measured, condition.of[0]) if condition.more else Counted(*condition.of)


def _sides(measured: Measurements, condition: Condition) -> tuple[str, Over]:
    """What is compared; of several names the first that was measured here."""
    faster = measured.first_measured(condition.faster, condition.where)
    if isinstance(condition.than, Mapping):
        return faster, condition.than
    return faster, measured.first_measured(condition.than, condition.where)


def _stale(measured: Measurements, claim: Claim) -> str:
    names: list[str] = []
    for condition in claim.conditions:
        faster, than = _sides(measured, condition)
        names += [faster, *Basis(measured, than).rivals]
    reasons = {name: measured.stale_variants[name] for name in names if measured.is_stale(name)}
    missing = [name for name in names if name not in measured.variants and not measured.partial]
    reasons |= dict.fromkeys(missing, "not measured in this run")
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
    raise WeaveError(
        f'found the need "{need}", expected {", ".join(sorted(ARCHITECTURES | INSTRUCTION_SETS))},'
        " cuda, bare-metal or one of matrices, threads, ranks, cores, numa_nodes, gpus, rounds"
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

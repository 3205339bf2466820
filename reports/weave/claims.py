"""Verdicts of claims: words mean numbers.

A condition compares two variants over the points of a region. The ratio of each round is a
geometric mean over the points; its median and interval decide. A difference counts only if its
interval lies outside the noise floor, which is what two runs of the same code differ by.

A word that claims can use is one function from a comparison to a finding, listed in `EXPECTATIONS`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from weave import definition, formats, sources, statistics
from weave.definition import Claim, Condition
from weave.errors import WeaveError
from weave.measurements import Absence, Measurements, Where, region_words
from weave.results import Case, Result
from weave.statistics import Estimate

REPRODUCED = "REPRODUCED"
NOT_REPRODUCED = "NOT REPRODUCED"
INCONCLUSIVE = "INCONCLUSIVE"
NOT_APPLICABLE = "NOT APPLICABLE"
STALE = "STALE"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, INCONCLUSIVE, NOT_APPLICABLE, STALE)

CLEARLY, SEVERAL, FAR = 1.2, 3.0, 2.0
ALIKE_LOW, ALIKE_HIGH = 0.95, 1.05
NEVER_BELOW = 0.97
SIGNIFICANT = 0.05

INSTRUCTION_SETS = {"avx", "avx2", "avx512f", "avx512", "fma", "f16c", "neon", "sve", "sve2", "amx"}
OTHER_NEEDS = {"cuda", "bare-metal"}
ARCHITECTURES = {"x86_64", "aarch64", "riscv64", "ppc64le"}
AT_LEAST = re.compile(r"(matrices|threads|ranks|cores|numa_nodes|gpus|rounds)>=(\d+)")


@dataclass(frozen=True)
class Comparison:
    """How much faster one variant is than another, at each point and over all."""

    faster: str
    than: str
    points: tuple[tuple[Case, Case], ...]
    noise: float
    labels: tuple[str, ...]
    unmeasured: int  # points of the region where one of the two was skipped
    region: str = ""  # what `where` narrows to, in words

    @cached_property
    def overall(self) -> Estimate:
        """Geometric mean over the points."""
        return statistics.estimate(statistics.geometric_mean_per_round(self._ratios(self.points)))

    @cached_property
    def each(self) -> tuple[Estimate, ...]:
        return tuple(statistics.estimate(ratios) for ratios in self._ratios(self.points))

    @cached_property
    def each_matrix(self) -> tuple[Estimate, ...]:
        """One estimate for each matrix, or for each point where points have no matrix."""
        groups: dict[object, list[tuple[Case, Case]]] = {}
        for index, pair in enumerate(self.points):
            groups.setdefault(pair[0].parameters.get("matrix", index), []).append(pair)
        return tuple(
            statistics.estimate(statistics.geometric_mean_per_round(self._ratios(group)))
            for group in groups.values()
        )

    @property
    def noun(self) -> str:
        return "matrix" if all("matrix" in a.parameters for a, _ in self.points) else "point"

    @staticmethod
    def _ratios(pairs: Sequence[tuple[Case, Case]]) -> list[list[float]]:
        return [statistics.ratios(than.samples, faster.samples) for faster, than in pairs]


@dataclass(frozen=True)
class Finding:
    """What a comparison says about an expectation; `verdict` is one of the first four."""

    verdict: str
    sentence: str
    comparison: Comparison | None = None


@dataclass(frozen=True)
class Verdict:
    """The verdict of a claim with what every condition found."""

    claim: Claim
    verdict: str
    findings: tuple[Finding, ...]
    note: str = ""

    @property
    def comparisons(self) -> list[Comparison]:
        """What was measured, one for each condition that could be examined."""
        return [finding.comparison for finding in self.findings if finding.comparison]


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
            note = "" if verdict != INCONCLUSIVE or measured.result.run["tripled"] else UNTRIPLED
            return Verdict(claim, verdict, findings, note)
    return Verdict(claim, REPRODUCED, findings)


UNTRIPLED = "The samples were not tripled yet."


def inconclusive_claims(result: Result, root: Path) -> list[str]:
    """Ids of the claims of a fresh result that more samples might decide."""
    experiment = definition.load(root, result.experiment)
    measured = Measurements(result, experiment, sources.read(root), partial=True)
    return [
        claim.id for claim in experiment.claims if judge(measured, claim).verdict == INCONCLUSIVE
    ]


def compare(measured: Measurements, faster: str, than: str, where: Where) -> Comparison | Absence:
    """Two variants at the points where both were timed; why not, if there is none."""
    first, second = measured.find(faster, where), measured.find(than, where)
    for name, found in ((faster, first), (than, second)):
        if found.absence:
            return Absence(found.absence.kind, f"`{name}` {_was(found.absence)}")
    pairs = [(case, measured.partner(case, than)) for case in first.cases]
    points = tuple((case, partner) for case, partner in pairs if partner is not None)
    if not points:
        return Absence("missing", f"`{faster}` and `{than}` were timed at no common point")
    unmeasured = max(len(found.cases) + found.unmeasured for found in (first, second)) - len(points)
    labels = tuple(measured.label(case) for case, _ in points)
    noise = measured.noise.factor
    return Comparison(faster, than, points, noise, labels, unmeasured, region_words(where))


def describe(comparison: Comparison) -> str:
    """Two variants in the words that claims use, as far as the interval decides."""
    overall, noise = comparison.overall, comparison.noise
    if _is_alike(overall):
        return "alike"
    if overall.low > max(1.0, noise):
        return f"{_extent_word(overall.low)} faster"
    if overall.high < min(1.0, 1 / noise):
        return f"{_extent_word(1 / overall.high)} slower"
    return "not distinguishable from noise"


def _extent_word(least: float) -> str:
    words = ((SEVERAL, "several times"), (FAR, "far"), (CLEARLY, "clearly"))
    return next((word for bound, word in words if least >= bound), "a little")


def is_need(need: str) -> bool:
    """Whether `_unmet` knows a need."""
    return need in ARCHITECTURES | INSTRUCTION_SETS | OTHER_NEEDS or bool(AT_LEAST.fullmatch(need))


def unmet_needs(measured: Measurements, needs: Sequence[str]) -> list[str]:
    """The needs this result does not meet, each as a reason."""
    reasons = (_unmet(measured, need) for need in needs)
    return [reason for reason in reasons if reason]


# --- words ---------------------------------------------------------------------------------------


def expect_faster(comparison: Comparison) -> Finding:
    """The interval lies above 1. Alike is not faster; neither is a difference inside the noise."""
    overall, noise = comparison.overall, comparison.noise
    if overall.low > max(1.0, noise):
        return _finding(REPRODUCED, comparison, "which is faster")
    if overall.high < 1 / noise:
        return _finding(NOT_REPRODUCED, comparison, "which is slower")
    if _is_alike(overall):
        return _finding(NOT_REPRODUCED, comparison, "which is alike, within 5 %")
    why = "inside the noise floor" if overall.low > 1 else "not decided by this interval"
    return _finding(INCONCLUSIVE, comparison, f"a direction {why}")


def expect_clearly(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, CLEARLY, "clearly faster")


def expect_several(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, SEVERAL, "several times faster")


def expect_far(comparison: Comparison) -> Finding:
    return _expect_at_least(comparison, FAR, "far faster")


def expect_alike(comparison: Comparison) -> Finding:
    overall, noise = comparison.overall, comparison.noise
    if _is_alike(overall):
        return _finding(REPRODUCED, comparison, "which is alike, within 5 %")
    if overall.low > max(ALIKE_HIGH, noise) or overall.high < min(ALIKE_LOW, 1 / noise):
        return _finding(NOT_REPRODUCED, comparison, "which differs by more than 5 %")
    return _finding(INCONCLUSIVE, comparison, "alike within 5 % or not: not decided")


def expect_never_below(comparison: Comparison) -> Finding:
    """No point's interval lies wholly below 0.97."""
    low = [
        (label, estimate)
        for label, estimate in zip(comparison.labels, comparison.each, strict=True)
        if estimate.high < NEVER_BELOW
    ]
    beyond = [entry for entry in low if entry[1].high < 1 / comparison.noise]
    worst = min(comparison.each, key=lambda estimate: estimate.value)
    if not low:
        text = f"nowhere wholly below {NEVER_BELOW}x; the lowest is {formats.speedup(worst)}"
        return _finding(REPRODUCED, comparison, text)
    places = ", ".join(f"{label or 'there'} {formats.speedup(e)}" for label, e in (beyond or low))
    if beyond:
        return _finding(NOT_REPRODUCED, comparison, f"below {NEVER_BELOW}x: {places}")
    return _finding(INCONCLUSIVE, comparison, f"below only within the noise floor: {places}")


def expect_most(comparison: Comparison) -> Finding:
    """One-sided sign test over the matrices; what is alike or not beyond the noise does not win."""
    estimates, noise = comparison.each_matrix, comparison.noise
    count = len(estimates)
    if statistics.sign_test(count, count) >= SIGNIFICANT:
        reason = f"{formats.plural(count, comparison.noun)} are too few for a sign test"
        return Finding(NOT_APPLICABLE, reason + ", which needs at least 5", comparison)
    wins = sum(estimate.low > max(1.0, noise) for estimate in estimates)
    losses = sum(estimate.high < min(1.0, 1 / noise) for estimate in estimates)
    alike = sum(
        _is_alike(e) and not e.low > max(1.0, noise) and not e.high < min(1.0, 1 / noise)
        for e in estimates
    )
    open_ = count - wins - losses - alike
    p = statistics.sign_test(wins, count)
    text = (
        f"faster on {wins} of {formats.plural(count, comparison.noun)}, alike on {alike}, slower"
        f" on {losses}, undecided on {open_}; sign test p = {formats.significant(p, 2)}"
    )
    if p < SIGNIFICANT:
        return _finding(REPRODUCED, comparison, f"{text}: most")
    if statistics.sign_test(wins + open_, count) >= SIGNIFICANT:
        return _finding(NOT_REPRODUCED, comparison, f"{text}: not most")
    return _finding(INCONCLUSIVE, comparison, f"{text}: not decided")


EXPECTATIONS: dict[str, Callable[[Comparison], Finding]] = {
    "faster": expect_faster,
    "clearly": expect_clearly,
    "several": expect_several,
    "far": expect_far,
    "most": expect_most,
    "alike": expect_alike,
    "never-below": expect_never_below,
}


def _expect_at_least(comparison: Comparison, threshold: float, word: str) -> Finding:
    overall, noise = comparison.overall, comparison.noise
    bound = f"{threshold:g}x"
    if _at_least(comparison, threshold):
        return _finding(REPRODUCED, comparison, f"{word} (at least {bound})")
    if overall.high < threshold and (threshold > noise or overall.high < 1 / noise):
        return _finding(NOT_REPRODUCED, comparison, f"not {word} (at least {bound})")
    if overall.low > noise:
        return _finding(INCONCLUSIVE, comparison, f"faster, but {bound} lies in the interval")
    return _finding(INCONCLUSIVE, comparison, f"{bound} is not decided")


def _at_least(comparison: Comparison, threshold: float) -> bool:
    return comparison.overall.low >= threshold and comparison.overall.low > comparison.noise


def _is_alike(estimate: Estimate) -> bool:
    return estimate.low >= ALIKE_LOW and estimate.high <= ALIKE_HIGH


def _finding(verdict: str, comparison: Comparison, meaning: str) -> Finding:
    overall = comparison.overall
    sentence = (
        f"`{comparison.faster}` runs at {formats.times(overall.value)} the speed of"
        f" `{comparison.than}` ({formats.coverage(overall)}"
        f" {formats.interval(overall, formats.factor(overall.value))}; {_extent(comparison)}):"
        f" {meaning}."
    )
    return Finding(verdict, sentence, comparison)


def _extent(comparison: Comparison) -> str:
    count = len(comparison.points)
    extent = "1 point" if count == 1 else f"geometric mean over {formats.plural(count, 'point')}"
    if comparison.region:
        extent += f", {comparison.region}"
    if comparison.unmeasured:
        extent += f", {comparison.unmeasured} more without one of the two"
    return extent


# --- what may stand in the way -------------------------------------------------------------------


def _examine(measured: Measurements, condition: Condition) -> Finding:
    faster = measured.first_measured(condition.faster, condition.where)
    than = measured.first_measured(condition.than, condition.where)
    compared = compare(measured, faster, than, condition.where)
    if isinstance(compared, Absence):
        return Finding(NOT_APPLICABLE, f"{compared.reason}.")
    return EXPECTATIONS[condition.expect](compared)


def _stale(measured: Measurements, claim: Claim) -> str:
    names = [
        measured.first_measured(side, condition.where)
        for condition in claim.conditions
        for side in (condition.faster, condition.than)
    ]
    reasons = {name: measured.stale_variants[name] for name in names if measured.is_stale(name)}
    missing = [name for name in names if name not in measured.variants and not measured.partial]
    reasons |= dict.fromkeys(missing, "not measured in this run")
    return "; ".join(f"`{name}`: {reason}" for name, reason in reasons.items())


def _was(absence: Absence) -> str:
    if absence.kind == "missing":
        return f"was {absence.reason}"
    return (
        f"was skipped: {absence.reason}"
        if absence.kind == "skipped"
        else f"failed: {absence.reason}"
    )


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

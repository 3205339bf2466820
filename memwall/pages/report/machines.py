"""The section Machines: side by side, machines downwards and inputs across."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.comparisons import Comparison
from memwall.analysis.statements import Statement
from memwall.pages.blocks import folded
from memwall.pages.report.told import Told, chunks
from memwall.pages.survey import OLDER, OLDER_MEANS, OnMachine, best_ceilings, kind_of
from memwall.pages.tables import markdown
from memwall.record import notation

CEILINGS = ("What each machine does at best, as probes of this experiment's runs found: GB/s of"
            " bytes, GFLOP/s of arithmetic.")
RATIOS = ("Machines are compared by ratios within each of them, input by input: how many times as"
          " good the first side of a claim is as the second. Sizes of one kind of matrix stand in"
          " one column. A cell is empty where a machine did not measure both.")


def section(told: Told) -> str:
    """Ceilings, then every comparison that a claim makes over several inputs."""
    parts = list(_ceilings(told))
    tables = list(_ratios(told))
    if tables:
        parts += [RATIOS, *tables]
    return "\n\n".join(parts) or "There is nothing to set side by side."


def _ceilings(told: Told) -> Iterator[str]:
    best = {one.machine: best_ceilings(one.measured) for one in told.runs}
    known = {name: found for of in best.values() for name, found in of.items()}
    names = sorted(known, key=lambda name: (not known[name].moves_bytes, name))
    if not names:
        return
    newest = max(found.definition for of in best.values() for found in of.values())
    yield CEILINGS
    is_mixed = False
    for part in chunks(names):
        rows = []
        for one in told.runs:
            found = [best[one.machine].get(name) for name in part]
            is_mixed |= any(each.definition < newest for each in found if each)
            rows.append([f"`{one.machine}`",
                         *(f"{notation.significant(each.rate.value / 1e9)}"
                           f"{OLDER if each.definition < newest else ''}" if each else ""
                           for each in found)])
        text = markdown(["machine", *(f"`{name}` [{known[name].unit}]" for name in part)], rows, 1)
        yield told.say(Statement(text, "ceilings", {"probes": list(part)}), *told.runs)
    if is_mixed:
        yield f"<sub>{OLDER_MEANS}</sub>"


def _ratios(told: Told) -> Iterator[str]:
    for claim in told.experiment.claims:
        if claim.is_arithmetic:  # is the same on every machine
            continue
        for number, condition in enumerate(claim.conditions):
            found = {one.machine: comparison for one in told.runs
                     if (comparison := _comparison(told, claim.id, number, one)) is not None}
            axes = _axes(list(found.values()))
            parts = {machine: _kinds(comparison, axes) for machine, comparison in found.items()}
            kinds = list(dict.fromkeys(kind for each in parts.values() for kind in each))
            if len(kinds) < 2:
                continue
            runs = [one for one in told.runs if one.machine in found]
            example = next(iter(found.values()))
            tables = [_table(told, {"claim": claim.id, "condition": number, "axes": axes}, runs,
                             parts, part) for part in chunks(kinds)]
            title = condition.label or claim.short
            sides = example.of.sides(example.faster, example.than)
            about = f"{title[0].upper()}{title[1:]}: {sides}{example.in_region}"
            yield folded(about.replace("`", ""), "\n\n".join(tables))


def _comparison(told: Told, claim: str, number: int, one: OnMachine) -> Comparison | None:
    findings = told.survey.verdicts[claim][one.machine].findings
    return findings[number].comparison if number < len(findings) else None


def _axes(comparisons: Sequence[Comparison]) -> list[str]:
    """The coordinates in which units differ, of any of some comparisons."""
    values: dict[str, set[str]] = {}
    for comparison in comparisons:
        for point in comparison.points:
            for name in comparison.unit_axes(point.case):
                values.setdefault(name, set()).add(kind_of(str(point.case.parameters[name])))
    return [name for name, found in values.items() if len(found) > 1]


def _kinds(comparison: Comparison, axes: Sequence[str]) -> dict[str, Comparison]:
    """A comparison split by kinds of inputs."""
    kinds = [" ".join(kind_of(str(point.case.parameters[name])) for name in axes
                      if name in point.case.parameters) for point in comparison.points]
    return dict(zip(dict.fromkeys(kinds), comparison.split(kinds), strict=True))


def _table(told: Told, operands: Mapping[str, Any], runs: Sequence[OnMachine],
           found: Mapping[str, Mapping[str, Comparison]], kinds: Sequence[str]) -> str:
    rows = [[f"`{one.machine}`", *(numerics.factor(found[one.machine][kind].overall)
                                   if kind in found[one.machine] else "" for kind in kinds)]
            for one in runs]
    text = markdown([f"machine \\ {', '.join(operands['axes'])}", *kinds], rows, 1)
    return told.say(Statement(text, "ratios", {**operands, "kinds": list(kinds)}), *runs)

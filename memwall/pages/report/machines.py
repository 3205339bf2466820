"""The section Machines: side by side, machines downwards and inputs across."""

from collections.abc import Iterator, Mapping
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
        for number, condition in enumerate(claim.conditions):
            found = {one.machine: parts for one in told.runs
                     if (parts := _kinds(told, claim.id, number, one))}
            kinds = list(dict.fromkeys(kind for parts in found.values() for kind in parts))
            if len(kinds) < 2:
                continue
            runs = [one for one in told.runs if one.machine in found]
            example = next(iter(next(iter(found.values())).values()))
            tables = [_table(told, claim.id, number, runs, found, part) for part in chunks(kinds)]
            title = condition.label or claim.short
            sides = example.of.sides(example.faster, example.than)
            yield folded(f"{title.replace('`', '')}: {sides.replace('`', '')}"
                         f"{example.in_region.replace('`', '')}", "\n\n".join(tables))


def _kinds(told: Told, claim: str, number: int, one: OnMachine) -> dict[str, Comparison]:
    """The comparison of a condition, split by kinds of inputs."""
    findings = told.survey.verdicts[claim][one.machine].findings
    comparison = findings[number].comparison if number < len(findings) else None
    if comparison is None:
        return {}
    names = {id(point): unit.name for unit in comparison.units for point in unit.points}
    kinds = [kind_of(names[id(point)]) for point in comparison.points]
    return dict(zip(dict.fromkeys(kinds), comparison.split(kinds), strict=True))


def _table(told: Told, claim: str, number: int, runs: list[OnMachine],
           found: Mapping[str, Mapping[str, Comparison]], kinds: Any) -> str:
    rows = [[f"`{one.machine}`", *(numerics.factor(found[one.machine][kind].overall)
                                   if kind in found[one.machine] else "" for kind in kinds)]
            for one in runs]
    text = markdown(["machine", *kinds], rows, 1)
    operands = {"claim": claim, "condition": number, "kinds": list(kinds)}
    return told.say(Statement(text, "ratios", operands), *runs)

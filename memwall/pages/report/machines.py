"""The section Machines: side by side, machines downwards and inputs across."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.comparisons import Comparison
from memwall.analysis.statements import Statement
from memwall.analysis.verdicts import OUT_OF_DATE
from memwall.pages.blocks import folded
from memwall.pages.report.told import Told, chunks
from memwall.pages.survey import OLDER, OLDER_MEANS, OnMachine, best_ceilings, kind_of
from memwall.pages.tables import markdown
from memwall.record import notation

CEILINGS = ("What probes of this experiment's runs reached{on_each}, in the launch where it was"
            " most: the median pass of the fastest look.")
#: A ratio of a table, of one machine or of several.
RATIO = ("how many times as good the first side of a claim is as the second. Inputs that differ in"
         " size alone stand in one column, as does all else that varies, such as the precision: a"
         " cell is then the median of the rounds' geometric means, which need not lie between the"
         " medians of its parts.")
RATIOS_OF_ONE = f"Input by input, {RATIO}"
RATIOS = (f"Machines are compared by ratios within each of them, input by input: {RATIO} A cell is"
          " empty where a machine did not measure both; ↻ marks one for which the claim is out of"
          " date.")


NOTHING = "No probe ran with this experiment, and no claim compares two sides at several inputs."


def section(told: Told) -> str:
    """Ceilings, then every comparison that a claim makes over several inputs."""
    parts = list(_ceilings(told))
    tables = list(_ratios(told))
    if tables:
        parts += [RATIOS if len(told.runs) > 1 else RATIOS_OF_ONE, *tables]
    return "\n\n".join(parts) or NOTHING


def _ceilings(told: Told) -> Iterator[str]:
    best = {one.machine: best_ceilings(one.measured) for one in told.runs}
    known = {name: found for of in best.values() for name, found in of.items()}
    names = sorted(known, key=lambda name: (not known[name].moves_bytes, name))
    if not names:
        return
    yield CEILINGS.format(on_each=" on each machine" if len(told.runs) > 1 else "")
    is_older = False
    for part in chunks(names):
        rows = []
        for one in told.runs:
            found = [best[one.machine].get(name) for name in part]
            is_older |= any(each.is_older for each in found if each)
            rows.append([f"`{one.machine}`{_with_few(one.result.raw)}",
                         *(f"{notation.significant(each.rate.value / 1e9)}"
                           f"{OLDER if each.is_older else ''}" if each else ""
                           for each in found)])
        text = markdown(["machine", *(f"`{name}` [{known[name].unit}]" for name in part)], rows, 1)
        yield told.say(Statement(text, "ceilings", {"probes": list(part)}), *told.runs)
    if is_older:
        yield f"<sub>{OLDER_MEANS}</sub>"


def _with_few(raw: Mapping[str, Any]) -> str:
    """`, 1 thread`: how many workers probed a host, where these are fewer than its cores."""
    most = max(launch["threads"] * launch["ranks"] for launch in raw["launches"])
    is_of_host = any(probe.get("target", "host") == "host" for probe in raw["ceilings"])
    is_few = is_of_host and most < raw["machine"]["cpu"]["cores"]
    return f", {notation.plural(most, 'thread')}" if is_few else ""


def _ratios(told: Told) -> Iterator[str]:
    seen: set[str] = set()
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
            sides = {machine: each.of.sides(each.faster, each.than) + each.in_region
                     for machine, each in found.items()}
            of_most = sides[runs[0].machine]
            names = {one.machine: _row(told, claim.id, one, sides[one.machine], of_most)
                     for one in runs}
            tables = [_table({"claim": claim.id, "condition": number, "axes": axes}, names,
                             parts, part) for part in chunks(kinds)]
            title = condition.label or claim.short
            about = f"{title[0].upper()}{title[1:]}: {of_most}"
            if (whole := "".join([about, *(table.text for table in tables)])) in seen:
                continue  # conditions may differ in what they expect alone
            seen.add(whole)
            said = [told.say(table, *runs) for table in tables]
            yield folded(about.replace("`", ""), "\n\n".join(said))


def _row(told: Told, claim: str, one: OnMachine, sides: str, of_most: str) -> str:
    """What a row is called: its machine, what it compares if that is something else than above the
    table, and whether the claim is out of date there."""
    is_stale = told.survey.verdicts[claim][one.machine].verdict == OUT_OF_DATE
    return (f"`{one.machine}`{' ↻' if is_stale else ''}"
            f"{f': {sides[0].lower()}{sides[1:]}' if sides != of_most else ''}")


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


def _table(operands: Mapping[str, Any], names: Mapping[str, str],
           found: Mapping[str, Mapping[str, Comparison]], kinds: Sequence[str]) -> Statement:
    """Machines, as they are named, downwards, and kinds of inputs across."""
    rows = [[name, *(numerics.factor(found[machine][kind].overall)
                     if kind in found[machine] else "" for kind in kinds)]
            for machine, name in names.items()]
    text = markdown([f"machine \\ {', '.join(operands['axes'])}", *kinds], rows, 1)
    return Statement(text, "ratios", {**operands, "kinds": list(kinds)})

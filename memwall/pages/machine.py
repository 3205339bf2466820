"""The page of `just machine`: what this machine reaches at best, beside its nominal peaks and the
nearest machine that came with the tree."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from memwall.analysis.basis import Basis
from memwall.analysis.ceilings import Ceiling
from memwall.analysis.energy import BASELINE
from memwall.analysis.measurements import Measurements
from memwall.analysis.metrics import metric_named
from memwall.pages import book, machine_page
from memwall.pages.probes import GPU_PROBES, HOST_PROBES, PROBES, words
from memwall.pages.survey import OLDER, OLDER_MEANS, OnMachine
from memwall.pages.tables import aligned, markdown
from memwall.record import definition, escape, files, machines, notation, sources
from memwall.record.results import STUDY, Json, Result

EXPERIMENT = "machine-ceilings"
JOULES = "joules-of-a-byte"
#: A share below is told apart, with what to look at.
LOW = 0.5
ONE, ALL, GPU = "one thread", "all threads", "GPU"
#: The peak of a probe that has none of its own: all bytes cross the same wires.
PEAKS = {"device_copy": "device_read"}
CHASE = re.compile(r"chase_(\d+)_(\w+)")


@dataclass(frozen=True)
class Probed:
    """What one probe reached, of what its maker promises."""

    probe: str
    where: str  # ONE, ALL or GPU
    value: float  # per second; of a latency seconds
    unit: str  # "GB/s", "GFLOP/s", or "s" of a latency
    nominal: float = 0  # 0: not known
    source: str = ""
    definition: int = 0  # of a ceiling: of two nothing is compared

    @property
    def words(self) -> str:
        return words(self.probe) or self.probe

    @property
    def share(self) -> float:
        return self.value / self.nominal if self.nominal else 0

    def told(self, value: float) -> str:
        if self.unit == "s":
            return notation.time(value)
        return f"{notation.significant(value / 1e9)} {self.unit}"


@dataclass(frozen=True)
class Beside:
    """A machine that came with the tree, and what it has in common with this one."""

    machine: str
    rows: Mapping[tuple[str, str], Probed]
    alike: Sequence[str]

    @property
    def is_twin(self) -> bool:
        """Whether its processor is of the same model and has as many cores."""
        return {PROCESSOR, AS_MANY} <= {*self.alike}


@dataclass(frozen=True)
class Cost:
    """What a byte or an operation takes of a device above one that is idle."""

    of: str  # "byte" or "operation"
    variant: str
    picojoules: float


#: Of the studies of JOULES the variants with nothing to do, and the metrics above these.
COSTS = {
    "levels": ("idle", "byte", "pj_per_byte"),
    "operations": ("idle", "operation", "pj_per_operation"),
    "host_levels": ("host_idle", "byte", "pj_per_byte"),
    "host_operations": ("host_idle", "operation", "pj_per_operation"),
}
SAME_GPU, PROCESSOR, AS_MANY = "the same GPUs", "the same processor model", "as many cores"


def show(root: Path, result: Result, folder: Path) -> str:
    """Writes the page into a folder; returns its table for a terminal, and where it stands."""
    experiment = next(one for one in definition.load_all(root) if one.name == result.experiment)
    one = book.on_machine(result.raw["machine"]["slug"], result, experiment,
                          sources.read_tree(root), "", partial=True)
    found = list(rows(one.measured))
    beside = nearest(result.raw["machine"], committed(root))
    energy = list(costs(root, one.machine))
    page = folder / "README.md"
    files.write(page, escape.markdown(text(one, found, beside, energy)))
    lines = [*aligned(_table(found, beside, is_short=True), "<<>>>>"[:5 + bool(beside)]), "",
             *([*aligned(_table_of_costs(energy), "<<>"), ""] if energy else []),
             *_sentences(one.measured, found, beside),
             *(f"not known: {line}" for line in [*_lacking(one.measured, found),
                                                 *_without_costs(energy)])]
    return escape.opened("\n".join([*lines, files.shown(page)]))


def committed(root: Path) -> dict[str, OnMachine]:
    """The complete runs of ceilings that came with the tree."""
    house = book.read(root, EXPERIMENT)
    return {one.machine: one for one in house.found if not one.title}


# --- what was measured ----------------------------------------------------------------------------


def rows(measured: Measurements) -> Iterator[Probed]:
    """The ceilings of one thread and of all, of the GPU and its bus, then latencies."""
    launches = measured.result.raw["launches"]
    most = max(launch["threads"] for launch in launches)
    cores = measured.result.raw["machine"]["cpu"]["cores"]
    for threads, where in {1: ONE, most: ALL}.items() if most > 1 else [(1, ONE)]:
        index = next((i for i, one in enumerate(launches) if one["threads"] == threads), None)
        for name, probe in {} if index is None else measured.ceilings.probes(index).items():
            if name in HOST_PROBES:
                yield _row(measured, name, where, probe, cores if where == ONE else 1)
    for name in GPU_PROBES:
        found = [probes[name] for i in range(len(launches))
                 if name in (probes := measured.ceilings.probes(i))]
        if found:
            yield _row(measured, name, GPU, max(found, key=lambda one: one.rate.value))
        elif name == "bus_both":
            yield from _both_ways(measured)
    yield from _latencies(measured)


def _row(measured: Measurements, name: str, where: str, probe: Ceiling, parts: int = 1) -> Probed:
    """A probe, and its nominal peak: of one core where one thread ran."""
    peak = measured.ceilings.peaks.get(f"peak:{PEAKS.get(name, name)}")
    if peak is None or (parts > 1 and peak.moves_bytes):
        return Probed(name, where, probe.rate.value, probe.unit, definition=probe.definition)
    of_one = f"one core of {parts}: " if parts > 1 else ""
    return Probed(name, where, probe.rate.value, probe.unit, peak.rate.value / parts,
               of_one + peak.source, probe.definition)


def _both_ways(measured: Measurements) -> Iterator[Probed]:
    peaks = measured.ceilings.peaks
    there, back = (peaks.get(f"peak:bus_to_{end}") for end in ("device", "host"))
    for case in measured.cases:
        if case.variant == "bus_both" and case.passed and not case.twin:
            rate = case.bytes / median(case.samples)
            nominal, source = ((there.rate.value + back.rate.value, "the sum of both directions")
                               if there and back else (0, ""))
            yield Probed("bus_both", GPU, rate, "GB/s", nominal, source)
            return


def _latencies(measured: Measurements) -> Iterator[Probed]:
    """One load that waits for the one before, by the size of what it goes through."""
    for case in measured.cases:
        size = CHASE.fullmatch(case.variant)
        if size and case.passed and not case.twin:
            yield Probed(f"latency, {size[1]} {size[2]}", ONE,
                      median(case.samples) / case.operations, "s")


def costs(root: Path, machine: str) -> Iterator[Cost]:
    """What a byte and an operation take on a machine, if its folder has a result that says so."""
    house = book.read(root, JOULES, [machine])
    for one in house.found:
        if one.machine == machine and not one.title:
            for case in one.measured.cases:
                baseline, of, metric = COSTS.get(str(case.parameters[STUDY]), ("", "", ""))
                if case.passed and baseline and case.group != BASELINE:
                    (pair,) = Basis(one.measured).alone([case])
                    yield Cost(of, case.variant,
                               median(metric_named(f"{metric}:{baseline}").of(pair)))


def nearest(here: Json, known: Mapping[str, OnMachine]) -> Beside | None:
    """The machine that has most in common with this one: its GPUs, then its processor, then the
    number of cores."""
    def alike(of: Json) -> dict[str, bool]:
        names = [[gpu["name"] for gpu in machine["gpus"]] for machine in (here, of)]
        models = [[machine["cpu"].get(name) for name in machines.SIGNATURE[:3]] + [
            machine["cpu"]["model"]] for machine in (here, of)]
        return {SAME_GPU: bool(names[0]) and names[0] == names[1],
                PROCESSOR: models[0] == models[1],
                AS_MANY: here["cpu"]["cores"] == of["cpu"]["cores"]}

    def rank(one: OnMachine) -> tuple[Any, ...]:
        of = one.result.raw["machine"]
        same = alike(of)
        return (same[SAME_GPU], bool(here["gpus"]) == bool(of["gpus"]), same[PROCESSOR],
                -abs(math.log(here["cpu"]["cores"] / of["cpu"]["cores"])))

    if not known:
        return None
    found = max(known.values(), key=rank)  # of those alike the first
    same = alike(found.result.raw["machine"])
    return Beside(found.machine, {(row.probe, row.where): row for row in rows(found.measured)},
                  [words for words, holds in same.items() if holds])


# --- what is told ---------------------------------------------------------------------------------


def text(one: OnMachine, found: Sequence[Probed], beside: Beside | None,
         energy: Sequence[Cost] = ()) -> str:
    """The page."""
    raw = one.result.raw
    head, *body = _table(found, beside)
    parts = [
        f"# What this machine can do at best: {raw['machine']['cpu']['model']}",
        markdown(["what", "value"],
                 machine_page.facts(raw["machine"], [raw["build"]["compiler"]]), 2),
        "## Ceilings",
        "\n\n".join(_sentences(one.measured, found, beside)),
        markdown(head, body, 2, prose=[5]),
        *_section_of_costs(energy),
        "## What is not known",
        "\n".join(f"- {line}" for line in [*_lacking(one.measured, found),
                                           *_without_costs(energy)]) or "All was measured.",
        f"Measured {raw['run']['utc'][:10]}, {raw['run']['rounds']} rounds; every sample is in"
        " [result.json](result.json). `just run machine-ceilings` measures more: every number of"
        " threads, and what threads and GPUs cost. `just run-all` measures every experiment.",
    ]
    return "\n\n".join(parts) + "\n"


def _table(found: Sequence[Probed], beside: Beside | None,
           is_short: bool = False) -> list[list[str]]:
    """The rows below their head; for a terminal without sources."""
    there = beside.rows if beside else {}
    name = [f"`{beside.machine}`" if not is_short else beside.machine] if beside else []
    table = [["what", "where", "measured", "nominal", "share",
              *([] if is_short else ["source of the nominal peak"]), *name]]
    for row in found:
        other = there.get((row.probe, row.where))
        table.append([
            row.words, row.where, row.told(row.value),
            row.told(row.nominal) if row.nominal else "",
            notation.percent(row.share) if row.nominal else "",
            *([] if is_short else [row.source]),
            *([_told_beside(row, other) if other else ""] if beside else []),
        ])
    return table


def _section_of_costs(energy: Sequence[Cost]) -> list[str]:
    if not energy:
        return []
    head, *body = _table_of_costs(energy)
    return ["## Joules", "Picojoules above a device that is idle at the same clock, as this machine"
            f" measured them (`just run {JOULES}`).", markdown(head, body, 2)]


def _table_of_costs(energy: Sequence[Cost]) -> list[list[str]]:
    return [["joules", "of a", "pJ"],
            *([cost.variant, cost.of, notation.significant(cost.picojoules)] for cost in energy)]


def _without_costs(energy: Sequence[Cost]) -> list[str]:
    """That nobody has measured joules here, and what does."""
    return [] if energy else ["joules of a byte and of an operation: `just run-all` measures them"
                              " into this machine's folder, where it has a counter"]


def _told_beside(row: Probed, other: Probed) -> str:
    return row.told(other.value) + (OLDER if other.definition < row.definition else "")


def _sentences(measured: Measurements, found: Sequence[Probed],
               beside: Beside | None) -> list[str]:
    """What the numbers mean; where one is far below what it is compared with, what to look at."""
    floor = measured.noise
    told = [f"The noise floor is {notation.percent(floor.factor - 1)}: two copies of the same code"
            f" differed by so much ({notation.plural(floor.pairs, 'A/A pair')})." if floor.pairs
            else "The noise floor is unknown: no two copies of the same code were timed."]
    told += _far_below("its nominal peak", [row for row in found if 0 < row.share < LOW])
    if beside is not None:
        common = notation.listed(list(beside.alike)) or "no processor or GPU in common"
        told.append(f"Of the machines that came with memwall, {beside.machine} is the nearest"
                    f" ({common}).")
        others = [(row, beside.rows[key]) for row in found
                  if (key := (row.probe, row.where)) in beside.rows]
        if any(other.definition < row.definition for row, other in others):
            told.append(OLDER_MEANS)
        if beside.is_twin:
            told += _far_below(f"what {beside.machine} reached", [
                row for row, other in others if row.probe in HOST_PROBES
                and row.definition == other.definition and row.value < LOW * other.value])
    return told


def _far_below(bound: str, low: Sequence[Probed]) -> list[str]:
    """What does not reach half of a bound, and what to look at: a sentence for each advice."""
    return [f"Less than half of {bound}: {notation.listed(names)}. What to look at: {advice}."
            for advice in dict.fromkeys(PROBES[row.probe][1] for row in low)
            if (names := [_named(row) for row in low if PROBES[row.probe][1] == advice])]


def _named(row: Probed) -> str:
    return row.words + ("" if row.where == GPU else f" ({row.where})")


def _lacking(measured: Measurements, found: Sequence[Probed]) -> list[str]:
    """What could not be measured, or has no nominal peak, and why."""
    raw = measured.result.raw
    have = {row.probe for row in found}
    lines = [f"{PROBES[name][0]}: not in the result" for name in HOST_PROBES
             if name not in have]
    missing = [PROBES[name][0] for name in GPU_PROBES if name not in have]
    if missing:
        reasons = [entry["reason"] for entry in raw["skipped"] if entry["study"] == "bus_both"]
        why = reasons[0] if reasons else "the program was built without nvcc"
        lines.append(f"{', '.join(missing)}: {why}")
    if not any(row.unit == "s" for row in found):
        reasons = [entry["reason"] for entry in raw["skipped"] if entry["study"] == "latency"]
        lines.append(f"latencies: {reasons[0] if reasons else 'not measured'}")
    if any(row.probe == "read" and not row.nominal for row in found):
        lines.append("nominal peak of memory: memwall has no source for it; the data sheets of"
                     " processor and modules have it (channels x transfers each second x 8 bytes)")
    if any(row.probe.startswith("fma") and not row.nominal for row in found):
        lines.append("nominal peak of multiply-adds: the highest clock, or how many a core of this"
                     " processor begins each clock, is not known here")
    bare = [row.words for row in found if row.probe in GPU_PROBES and not row.nominal]
    if bare:
        lines.append(f"nominal peak of {', '.join(bare)}: no source for it here")
    return lines


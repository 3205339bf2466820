"""What a page shows of results, as objects of `record/studies.py`."""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.basis import Basis
from memwall.analysis.cells import measure
from memwall.analysis.measurements import Measurements
from memwall.record import notation
from memwall.record.results import Case
from memwall.record.studies import (
    Conversion,
    PlanChoice,
    ProductCase,
    SkippedVariant,
    StudyCeiling,
    StudyMachine,
    StudyRun,
)

#: What conversions are compared with: the plan's kernel for CSR as it is.
BASELINE = "csr"
FORMAT = "format"
#: Kernels of GPUs that read CSR as it is.
KERNELS = "single"
#: Kernels that only read: no product is faster.
ROOF = "roof"
PLANS = ("plan", "plan_untimed", "auto")


def cases(found: Measurements) -> tuple[ProductCase, ...]:
    """Every product at every point, without A/A pairs and kernels that only read a matrix."""
    return tuple(_case(found, case) for case in found.cases
                 if not case.twin and case.group != ROOF)


def _case(found: Measurements, case: Case) -> ProductCase:
    point = found.coordinates(case)
    share = _share(found, case) if case.passed else None
    return ProductCase(
        experiment=found.experiment.name,
        variant=case.variant,
        group=case.group,
        target=case.target,
        threads=found.workers(case),
        precision=str(point.get("precision", "")),
        matrix=str(point.get("matrix", "")),
        cache=case.cache,
        verdict=case.verdict["status"],
        reason=case.verdict.get("reason", ""),
        seconds=statistics.median(case.samples) if case.passed else None,
        of_bound=share.value if share else None,
        of_bound_interval=(share.low, share.high) if share else None,
        setup_seconds=case.setup_seconds,
        stored_bytes=case.format_bytes,
        notes=case.notes,
    )


def _share(found: Measurements, case: Case) -> numerics.Estimate | None:
    """The part of the memory bound that a case reaches; None where no ceiling was measured."""
    where = {name: value for name, value in found.coordinates(case).items()
             if name in found.axes}
    return measure(Basis(found), "of_ceiling", case.variant, where).estimate


def skipped(found: Measurements) -> tuple[SkippedVariant, ...]:
    """What was skipped, once each, with the reason."""
    seen: dict[tuple[str, str], SkippedVariant] = {}
    for entry in found.result.raw["skipped"]:
        group, reason = entry.get("group", ""), entry["reason"]
        name = entry.get("variant", group)
        seen[name, reason] = SkippedVariant(found.experiment.name, name, group, reason)
    return tuple(seen.values())


def conversions(every: Sequence[ProductCase], nonzeros: int) -> tuple[Conversion, ...]:
    """Each format at each point: its bytes, its conversion, the products until that has paid."""
    rows = []
    for case in every:
        if case.group not in (FORMAT, "plan") or case.seconds is None:
            continue
        csr = _csr(every, case)
        rows.append(Conversion(
            experiment=case.experiment,
            variant=case.variant,
            target=case.target,
            threads=case.threads,
            precision=case.precision,
            stored_bytes=case.stored_bytes,
            setup_seconds=case.setup_seconds,
            bytes_per_nonzero=case.stored_bytes / nonzeros if nonzeros else None,
            speed_over_csr=csr.time / case.time if csr else None,
            products_until_paid=_products(case, csr) if csr else None,
        ))
    return tuple(rows)


def _csr(every: Iterable[ProductCase], case: ProductCase) -> ProductCase | None:
    """CSR at the same point; on a GPU the fastest of the kernels for it."""
    alike = [other for other in every if other.seconds is not None and _at(other) == _at(case)]
    csr = [other for other in alike if other.variant == BASELINE]
    csr = csr or [other for other in alike if other.group == KERNELS]
    return min(csr, key=lambda other: other.time, default=None)


def _products(case: ProductCase, csr: ProductCase) -> int | None:
    """Products after which the conversion has paid, as medians have it; None: never."""
    gain = csr.time - case.time
    cost = max(0.0, case.setup_seconds - csr.setup_seconds)
    if case is csr or case.variant == BASELINE:
        return 0
    return math.ceil(cost / gain) if gain > 0 else None


def plans(every: Sequence[ProductCase]) -> tuple[PlanChoice, ...]:
    """What the plans chose, why, and how far they are from the best of all formats there."""
    rows = []
    for case in every:
        if case.variant not in PLANS or case.seconds is None or not case.notes:
            continue
        alike = [other for other in every if other.seconds is not None
                 and other.group == FORMAT and _at(other) == _at(case)]
        best = min(alike, key=lambda other: other.time, default=None)
        rows.append(PlanChoice(
            experiment=case.experiment,
            variant=case.variant,
            target=case.target,
            threads=case.threads,
            precision=case.precision,
            seconds=case.seconds,
            explain=case.notes[0],
            best_format=best.variant if best else None,
            speed_over_best_format=best.time / case.time if best else None,
        ))
    return tuple(rows)


def _at(case: ProductCase) -> tuple[Any, ...]:
    return case.experiment, *case.point


def run(found: Measurements) -> StudyRun:
    """What tells one run from another."""
    raw = found.result.raw
    floor = found.noise
    return StudyRun(
        experiment=found.experiment.name,
        utc=raw["run"]["utc"],
        rounds=raw["run"]["rounds"],
        noise_floor=floor.factor - 1 if floor.pairs else None,
        ceilings=tuple(_ceiling(found, index, launch["threads"])
                       for index, launch in enumerate(raw["launches"])
                       if found.ceilings.are_known(index)),
    )


def _ceiling(found: Measurements, launch: int, threads: int) -> StudyCeiling:
    ceiling = found.ceilings.one(launch)
    return StudyCeiling(threads, ceiling.name, ceiling.rate.value, ceiling.unit)


def machine(found: Measurements) -> StudyMachine:
    """The machine in the words of its page."""
    known = found.result.raw["machine"]
    cpu = known["cpu"]
    return StudyMachine(
        slug=known["slug"],
        processor=cpu["model"],
        cores=cpu["cores"],
        hardware_threads=cpu["hardware_threads"],
        memory=notation.size(known["memory_bytes"]),
        gpus=tuple(gpu["name"] for gpu in known["gpus"]),
        compiler=found.result.raw["build"]["compiler"],
    )

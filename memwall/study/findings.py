"""What a page shows, as one JSON object: it is written beside the page."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from memwall.analysis import numerics
from memwall.analysis.basis import Basis
from memwall.analysis.cells import measure
from memwall.analysis.measurements import Measurements
from memwall.record import notation
from memwall.record.results import Case

Json = dict[str, Any]

#: What conversions are compared with: the plan's kernel for CSR as it is.
BASELINE = "csr"
FORMAT = "format"
#: Kernels of GPUs that read CSR as it is.
KERNELS = "single"
#: Kernels that only read: no product is faster.
ROOF = "roof"
PLANS = ("plan", "plan_untimed", "auto")


def cases(found: Measurements) -> list[Json]:
    """Every product at every point, without A/A pairs and kernels that only read a matrix."""
    return [_case(found, case) for case in found.cases if not case.twin and case.group != ROOF]


def _case(found: Measurements, case: Case) -> Json:
    point = found.coordinates(case)
    share = _share(found, case) if case.passed else None
    return {
        "experiment": found.experiment.name,
        "variant": case.variant,
        "group": case.group,
        "target": case.target,
        "threads": found.workers(case),
        "precision": point.get("precision", ""),
        "matrix": point.get("matrix", ""),
        "cache": case.cache,
        "verdict": case.verdict["status"],
        "reason": case.verdict.get("reason", ""),
        "seconds": numerics.median(case.samples) if case.passed else None,
        "of_bound": share.value if share else None,
        "of_bound_interval": [share.low, share.high] if share else None,
        "setup_seconds": case.setup_seconds,
        "stored_bytes": case.format_bytes,
        "notes": list(case.notes),
    }


def _share(found: Measurements, case: Case) -> numerics.Estimate | None:
    """The part of the memory bound that a case reaches; None where no ceiling was measured."""
    where = {name: value for name, value in found.coordinates(case).items()
             if name in found.axes}
    return measure(Basis(found), "of_ceiling", case.variant, where).estimate


def skipped(found: Measurements) -> list[Json]:
    """What was skipped, once each, with the reason."""
    seen: dict[tuple[str, str], Json] = {}
    for entry in found.result.raw["skipped"]:
        name = entry.get("variant", entry.get("group", ""))
        seen[name, entry["reason"]] = {"experiment": found.experiment.name, "variant": name,
                                       "group": entry.get("group", ""), "reason": entry["reason"]}
    return list(seen.values())


def conversions(every: Sequence[Json], nonzeros: int) -> list[Json]:
    """Each format at each point: its bytes, its conversion, the products until that has paid."""
    rows = []
    for case in every:
        if case["group"] not in (FORMAT, "plan") or case["seconds"] is None:
            continue
        csr = _csr(every, case)
        rows.append({
            **{name: case[name] for name in ("experiment", "variant", "target", "threads",
                                             "precision", "stored_bytes", "setup_seconds")},
            "bytes_per_nonzero": case["stored_bytes"] / nonzeros if nonzeros else None,
            "speed_over_csr": csr["seconds"] / case["seconds"] if csr else None,
            "products_until_paid": _products(case, csr) if csr else None,
        })
    return rows


def _csr(every: Iterable[Json], case: Json) -> Json | None:
    """CSR at the same point; on a GPU the fastest of the kernels for it."""
    alike = [other for other in every if other["seconds"] is not None and _at(other) == _at(case)]
    csr = [other for other in alike if other["variant"] == BASELINE]
    csr = csr or [other for other in alike if other["group"] == KERNELS]
    return min(csr, key=lambda other: other["seconds"], default=None)


def _products(case: Json, csr: Json) -> int | None:
    """Products after which the conversion has paid, as medians have it; None: never."""
    gain = csr["seconds"] - case["seconds"]
    cost = max(0.0, case["setup_seconds"] - csr["setup_seconds"])
    if case is csr or case["variant"] == BASELINE:
        return 0
    return math.ceil(cost / gain) if gain > 0 else None


def plans(every: Sequence[Json]) -> list[Json]:
    """What the plans chose, why, and how far they are from the best of all formats there."""
    rows = []
    for case in every:
        if case["variant"] not in PLANS or case["seconds"] is None or not case["notes"]:
            continue
        alike = [other for other in every if other["seconds"] is not None
                 and other["group"] == FORMAT and _at(other) == _at(case)]
        best = min(alike, key=lambda other: other["seconds"], default=None)
        rows.append({
            **{name: case[name] for name in ("experiment", "variant", "target", "threads",
                                             "precision", "seconds")},
            "explain": case["notes"][0],
            "best_format": best["variant"] if best else None,
            "speed_over_best_format": best["seconds"] / case["seconds"] if best else None,
        })
    return rows


def _at(case: Json) -> tuple[Any, ...]:
    return case["experiment"], case["target"], case["threads"], case["precision"]


def run(found: Measurements) -> Json:
    """What tells one run from another."""
    raw = found.result.raw
    floor = found.noise
    return {
        "experiment": found.experiment.name,
        "utc": raw["run"]["utc"],
        "rounds": raw["run"]["rounds"],
        "noise_floor": floor.factor - 1 if floor.pairs else None,
        "ceilings": [{"threads": launch["threads"], **_ceiling(found, index)}
                     for index, launch in enumerate(raw["launches"])
                     if found.ceilings.are_known(index)],
    }


def _ceiling(found: Measurements, launch: int) -> Json:
    ceiling = found.ceilings.one(launch)
    return {"name": ceiling.name, "rate": ceiling.rate.value, "unit": ceiling.unit}


def machine(found: Measurements) -> Json:
    """The machine in the words of its page."""
    known = found.result.raw["machine"]
    cpu = known["cpu"]
    return {"slug": known["slug"], "processor": cpu["model"], "cores": cpu["cores"],
            "hardware_threads": cpu["hardware_threads"],
            "memory": notation.size(known["memory_bytes"]),
            "gpus": [gpu["name"] for gpu in known["gpus"]],
            "compiler": found.result.raw["build"]["compiler"]}

"""Results of version 1 of the format as results of version 2, in memory: files stay as they are.

Version 1 had no studies and no targets. Experiments with several studies told them apart by values
of a parameter, and gave what has no element types a `precision` all the same.
"""

import re
from typing import Any

Json = dict[str, Any]

CEILINGS, PARTITIONING = "machine-ceilings", "spmv-mpi-partitioning"
#: Studies of `machine-ceilings` with element types; all others were measured as fp64 alone.
TYPED = ("read", "fma", "device_gather", "device_shared", "device_fma")
UNTYPED = "the element type makes no difference: measured as fp64"
RING = re.compile(r"ring-([0-9]{1,12})")
ON_DEVICE = ("device_", "launch_", "bus_")


def upgrade(raw: Json) -> Json:
    """A result of version 1 as one of version 2; `raw` is left alone.

    What is missing or of a wrong type stays so, for the validator to name it.
    """
    run = raw.get("run")
    experiment = str(run.get("experiment")) if isinstance(run, dict) else ""
    upgraded = raw | {"schema": 2}
    for name, change in (("ceilings", _ceiling), ("cases", _case), ("skipped", _placed)):
        if isinstance(raw.get(name), list):
            upgraded[name] = [
                change(entry, experiment) if isinstance(entry, dict) else entry
                for entry in raw[name]
            ]
    if experiment == CEILINGS and isinstance(raw.get("skipped"), list):
        upgraded["skipped"] = _without_precisions(upgraded["skipped"])
    return upgraded


def _without_precisions(skipped: list[Any]) -> list[Any]:
    """What was skipped less what only says that there is one precision; what was skipped in both
    is one entry now."""
    told = [entry for entry in skipped if not isinstance(entry, dict)
            or entry.get("reason") != UNTYPED]
    return [entry for at, entry in enumerate(told) if entry not in told[:at]]


def _ceiling(entry: Json, experiment: str) -> Json:
    name = str(entry.get("name"))
    if name.startswith(("device_", "bus_")):
        target = "cuda"
    else:
        target = "ranks" if experiment == PARTITIONING else "host"
    return entry | {"target": target}


def _case(entry: Json, experiment: str) -> Json:
    placed = _placed(entry, experiment)
    clock = str(entry.get("clock"))
    if clock.startswith("max-over-ranks"):
        target = "ranks"
    elif clock.startswith("cuda") or str(placed["study"]).startswith(ON_DEVICE):
        target = "cuda"
    else:
        target = "host"
    return placed | {"target": target}


def _placed(entry: Json, experiment: str) -> Json:
    """An entry with its study, which the parameters told."""
    parameters = entry.get("parameters")
    if not isinstance(parameters, dict):
        return entry | {"study": "all"}
    study, rest = _study(experiment, parameters)
    return entry | {"study": study, "parameters": rest}


def _study(experiment: str, parameters: Json) -> tuple[Any, Json]:
    """The study of a point, and the parameters that it has in there."""
    if experiment == CEILINGS:
        study = parameters.get("kernel")
        gone = ("kernel",) if study in TYPED else ("kernel", "precision")
        return study, _without(parameters, *gone)
    if experiment == PARTITIONING:
        matrix = str(parameters.get("matrix"))
        if ring := RING.fullmatch(matrix):
            return "ring", {"bytes": int(ring[1]), **_without(parameters, "matrix")}
        if matrix == "weak27":
            return "weak_scaling", _without(parameters, "matrix")
        return "matrix", parameters
    return "spmv" if experiment.startswith("spmv") else "all", parameters


def _without(parameters: Json, *names: str) -> Json:
    return {name: value for name, value in parameters.items() if name not in names}

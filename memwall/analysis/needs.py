"""What a claim needs of a machine or of a run before it can be asked."""

import re
from collections.abc import Iterable

from memwall.analysis.measurements import Measurements
from memwall.record.errors import UserError

INSTRUCTION_SETS = {"avx", "avx2", "avx512f", "avx512", "fma", "f16c", "neon", "sve", "sve2", "amx"}
OTHERS = {"cuda", "bare-metal", "mkl"}
ARCHITECTURES = {"x86_64", "aarch64", "riscv64", "ppc64le"}
AT_LEAST = re.compile(r"(matrices|threads|ranks|cores|numa_nodes|gpus|rounds)>=(\d+)")
#: Needs that a longer run meets; others are of the machine.
OF_RUNS = re.compile(r"(matrices|rounds)>=.*")


def is_known(need: str) -> bool:
    """Whether `unmet` can tell a need."""
    return need in ARCHITECTURES | INSTRUCTION_SETS | OTHERS or bool(AT_LEAST.fullmatch(need))


def unmet(measured: Measurements, needs: Iterable[str]) -> dict[str, str]:
    """The needs that this result does not meet, each with the reason."""
    found = {need: _unmet(measured, need) for need in needs}
    return {need: reason for need, reason in found.items() if reason}


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

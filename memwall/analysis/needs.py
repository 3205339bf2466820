"""What a claim needs: of a machine, or it is not asked there at all; of a run, or it is not decided
yet."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.record.errors import UserError

Machine = Mapping[str, Any]

INSTRUCTION_SETS = {"avx", "avx2", "avx512f", "avx512", "fma", "f16c", "neon", "sve", "sve2", "amx"}
ARCHITECTURES = {"x86_64", "aarch64", "riscv64", "ppc64le"}
OTHERS = {"cuda", "bare-metal", "mkl"}
AT_LEAST = re.compile(r"(matrices|threads|ranks|cores|numa_nodes|gpus|rounds)>=(\d+)")
#: What of a machine limits a number: so many threads or ranks that none waits for a processor.
OF_MACHINES: Mapping[str, Callable[[Machine], int]] = {
    "threads": lambda machine: machine["cpu"]["hardware_threads"],
    "ranks": lambda machine: machine["cpu"]["hardware_threads"],
    "cores": lambda machine: machine["cpu"]["cores"],
    "numa_nodes": lambda machine: machine["cpu"]["numa_nodes"],
    "gpus": lambda machine: len(machine["gpus"]),
}
OF_RUNS: Mapping[str, Callable[[Measurements], int]] = {
    "rounds": lambda run: run.result.raw["run"]["rounds"],
    "threads": lambda run: max(launch["threads"] for launch in run.result.raw["launches"]),
    "ranks": lambda run: max(launch["ranks"] for launch in run.result.raw["launches"]),
}


def is_known(need: str) -> bool:
    """Whether this module can tell a need."""
    return need in ARCHITECTURES | INSTRUCTION_SETS | OTHERS or bool(AT_LEAST.fullmatch(need))


def barring(machine: Machine, needs: Iterable[str]) -> list[str]:
    """Why a machine cannot be asked, by facts of the machine alone: a reason for each need that it
    does not meet."""
    return [reason for need in needs if (reason := _barring(machine, need))]


def lacking(measured: Measurements, needs: Iterable[str],
            variants: Collection[str] = ()) -> list[str]:
    """What a run lacks that another one on the same machine may have; matrices count that some of
    these variants multiplied, or any at all where none is named."""
    return [reason for need in needs if (reason := _lacking(measured, need, variants))]


def _barring(machine: Machine, need: str) -> str:
    if not is_known(need):
        known = ", ".join(sorted(ARCHITECTURES | INSTRUCTION_SETS))
        raise UserError(f'found the need "{need}", expected {known}, cuda, bare-metal, mkl or one'
                        " of matrices, threads, ranks, cores, numa_nodes, gpus, rounds with >=N")
    cpu = machine["cpu"]
    counted = AT_LEAST.fullmatch(need)
    if counted and counted[1] in OF_MACHINES:
        found = OF_MACHINES[counted[1]](machine)
        return _too_few(counted, found, "this machine")
    if need in ARCHITECTURES and cpu["architecture"] != need:
        return f"needs {need}, this is {cpu['architecture']}"
    if need in INSTRUCTION_SETS and need not in cpu["instruction_sets"]:
        return f"this CPU has no {need}"
    if need == "cuda" and not machine["gpus"]:
        return "needs a GPU"
    if need == "bare-metal" and machine["virtual"]:
        return "needs bare metal, this is a virtual machine"
    return ""


def _lacking(measured: Measurements, need: str, variants: Collection[str]) -> str:
    raw = measured.result.raw
    counted = AT_LEAST.fullmatch(need)
    if counted and counted[1] == "matrices":
        return _too_few(counted, _matrices(measured, variants), "this run")
    if counted and counted[1] in OF_RUNS:
        return _too_few(counted, OF_RUNS[counted[1]](measured), "this run")
    # The rival that is hardest to beat; there is none for other architectures.
    if need == "mkl" and raw["machine"]["cpu"]["architecture"] == "x86_64":
        return "" if need in raw["libraries"] else "needs MKL, which was not there"
    return ""


def _matrices(measured: Measurements, variants: Collection[str]) -> int:
    return len({case.parameters["matrix"] for case in measured.cases
                if "matrix" in case.parameters and (not variants or case.variant in variants)})


def _too_few(counted: re.Match[str], found: int, where: str) -> str:
    what, least = counted[1], int(counted[2])
    return "" if found >= least else f"needs at least {least} {what}, {where} has {found}"

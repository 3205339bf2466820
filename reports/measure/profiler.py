"""What NVIDIA's profiler counts in single multiplies: `just profile-gpu`.

Nsight Compute (`ncu`) runs an experiment's program once for each matrix and variant, looks at the
kernels of one multiply, and prints a table of comma-separated values: names, units, then a row for
each kernel. What is kept of it stands in `notes/EXPERIMENT.counters.json` of a machine's folder.
"""

import argparse
import csv
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weave.errors import WeaveError

EXPERIMENT = "spmv-gpu-variants"

#: Counters by the names that they have in a result, with the factor of their unit.
COUNTERS: dict[str, tuple[str, float]] = {
    "seconds": ("gpu__time_duration.sum", 1e-9),
    "dram_bytes": ("dram__bytes.sum", 1),
    "dram_percent": ("dram__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "l2_percent": ("lts__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "l1_percent": ("l1tex__throughput.avg.pct_of_peak_sustained_elapsed", 1),
    "l2_hit_percent": ("lts__t_sector_hit_rate.pct", 1),
    "l2_sectors": ("lts__t_sectors_op_read.sum", 1),
    "l2_atomics": ("lts__t_requests_op_atom.sum", 1),
    "l1_hit_percent": ("l1tex__t_sector_hit_rate.pct", 1),
    "sectors_per_request":
        ("l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", 1),
    "occupancy_percent": ("sm__warps_active.avg.pct_of_peak_sustained_active", 1),
}

#: Why warps wait: cycles for each instruction that is issued.
STALLS = ("long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "barrier", "wait",
          "membar", "branch_resolving", "no_instruction", "not_selected")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"

#: Kernels of a multiply by each variant, as regular expressions of their demangled names.
KERNELS = {
    "thread_per_row": "thread_per_row_kernel",
    "table_light": "dynamic_warp_kernel",
    "dynamic_chunked": "dynamic_chunked_kernel",
    "table_nearest": "vector_shuffle_kernel",
    "merge_path": "merge_path_kernel|add_open_sums",
    "row_tiles": "row_tiles_kernel",
    "large_tiles": "row_tiles_kernel",
    "small_tiles": "row_tiles_kernel",
    "sell32": "sell_kernel",
    "sell16": "sell_kernel",
    "diagonals": "diagonals_kernel",
    "block_sell": "block_sell_kernel",
    "blocked_coo": "blocked_coo_kernel",
    "two_phase": "multiply_strips|add_products",
    "csr_roof": "csr_roof_kernel",
    "cusparse_csr1_preprocessed": "cusparse::csrmv",  # not what it prepares
    "cusparse_sell": "cusparse::sellmv",
}

#: What is looked at where nothing else is asked for: where each kernel loses, beside one that does
#: not.
QUESTIONS = {
    "pois2d-gpu": ("table_light", "dynamic_chunked", "row_tiles"),
    "fem3-gpu": ("row_tiles", "csr_roof", "cusparse_csr1_preprocessed"),
    "sten27-gpu": ("row_tiles", "csr_roof"),
    "band64-gpu": ("row_tiles", "csr_roof"),
    "short-gpu": ("row_tiles", "csr_roof"),
    "random-gpu": ("row_tiles", "csr_roof", "blocked_coo", "two_phase", "cusparse_sell"),
    "rmat-gpu": ("table_nearest", "row_tiles", "large_tiles", "blocked_coo",
                 "cusparse_csr1_preprocessed"),
    "dnrow-gpu": ("table_light", "row_tiles", "csr_roof", "cusparse_csr1_preprocessed"),
}

NO_PERMISSION = "ERR_NVGPUCTRPERM"


@dataclass(frozen=True)
class Kernel:
    """What was counted in one launch: name without arguments, counters as a result has them."""

    name: str
    counters: dict[str, float]
    stalls: dict[str, float]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `profile-gpu` to the command line."""
    profile = commands.add_parser("profile-gpu", help="count what limits kernels, with ncu")
    add_options(profile)
    profile.set_defaults(command=_profile)


def add_options(profile: argparse.ArgumentParser) -> None:
    """What `profile-gpu` is told."""
    profile.add_argument("--build", type=Path, help="build directory; default: build/")
    profile.add_argument("--matrix", nargs="+", default=tuple(QUESTIONS), help="of the catalogue")
    profile.add_argument("--variant", nargs="+", choices=sorted(KERNELS),
                         help="default: those that lose on the matrix, and one that does not")
    profile.add_argument("--precision", nargs="+", default=("fp32",), choices=("fp32", "fp64"))
    profile.add_argument("--run", required=True, help="ID of the run that the counters explain")
    profile.add_argument("--output", type=Path, default=Path(f"{EXPERIMENT}.counters.json"))


def main(root: Path) -> int:
    """`profile-gpu` of a bundle, which has nothing that weaves."""
    parser = argparse.ArgumentParser(prog="profile-gpu")
    add_options(parser)
    given = parser.parse_args()
    given.root = root
    try:
        return _profile(given)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


def _profile(given: argparse.Namespace) -> int:
    ncu = find_ncu()
    program = (given.build or given.root / "build") / "experiments" / EXPERIMENT / EXPERIMENT
    if not program.exists():
        raise WeaveError(f"profile-gpu: {program} is not there: build it first")
    kept: dict[str, Any] = {"run": given.run, "tool": version(ncu), "multiplies": []}
    for matrix in given.matrix:
        for precision in given.precision:
            for variant in given.variant or QUESTIONS.get(matrix, ("row_tiles", "csr_roof")):
                kernels = profile(ncu, program, matrix, precision, variant)
                print(f"{matrix} {precision} {variant}: {len(kernels)} kernels")
                kept["multiplies"].append(record(matrix, precision, variant, kernels))
                given.output.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {given.output}: copy it to notes/ of this machine's folder")
    return 0


def find_ncu() -> Path:
    """Nsight Compute, or one line that says it is not there."""
    found = shutil.which("ncu") or shutil.which("ncu", path="/usr/local/cuda/bin")
    if found is None:
        raise WeaveError("profile-gpu: ncu (Nsight Compute) is not on this machine")
    return Path(found)


def version(ncu: Path) -> str:
    """`ncu 2025.3.1.0`."""
    said = subprocess.run([ncu, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"Version (\S+)", said)
    return f"ncu {number[1]}" if number else "ncu"


def profile(ncu: Path, program: Path, matrix: str, precision: str, variant: str) -> list[Kernel]:
    """The kernels of a multiply by a variant, counted with empty caches."""
    metrics = [metric for metric, _ in COUNTERS.values()] + [STALL.format(s) for s in STALLS]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(word) for word in (
                ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics",
                ",".join(metrics), "--kernel-name-base", "demangled", "--kernel-name",
                f"regex:{KERNELS[variant]}", "--launch-count", launches(variant),
                "--clock-control", "none", program, "--profile", "full", "--matrix", matrix,
                "--precision", precision, "--filter", f"^{variant}$", "--samples", 1,
                "--output", Path(folder) / "result.json")],
            capture_output=True, text=True, check=False)
    text = done.stdout + done.stderr
    if NO_PERMISSION in text:
        raise WeaveError("profile-gpu: the driver lets only administrators read counters here"
                         f" ({NO_PERMISSION})")
    if done.returncode != 0:
        last = text.strip().splitlines()[-1:] or ["no output"]
        raise WeaveError(f"profile-gpu: ncu ended with code {done.returncode}: {last[0]}")
    return list({kernel.name: kernel for kernel in parse(done.stdout)}.values())


def launches(variant: str) -> int:
    """Kernels of one multiply at most; a library may prepare its first one with a kernel more."""
    return 3 if variant.startswith("cusparse") else KERNELS[variant].count("|") + 1


def parse(text: str) -> list[Kernel]:
    """The kernels of a table as `ncu --csv --page raw` prints it, behind what the program said."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if start is None:
        return []  # no kernel of that name was launched
    names, *rows = csv.reader(io.StringIO("\n".join(lines[start:])))
    if len(rows) < 2 or "Kernel Name" not in names:
        raise WeaveError("profile-gpu: ncu printed no table of kernels")
    return [_kernel(dict(zip(names, row, strict=False))) for row in rows[1:] if row and row[0]]


def plain_name(said: str) -> str:
    """The name of a kernel without its namespaces and arguments. Of two `<` ncu prints one."""
    scopes = r"(?:(?:\w+|\(anonymous namespace\)|<?unnamed>)::)*"
    found = re.match(rf"(?:void )?{scopes}(\w+)", said)
    return found[1] if found else said


def _kernel(row: dict[str, str]) -> Kernel:
    counters = {short: value * factor for short, (metric, factor) in COUNTERS.items()
                if (value := _number(row.get(metric, ""))) is not None}
    stalls = {stall: value for stall in STALLS
              if (value := _number(row.get(STALL.format(stall), ""))) is not None}
    return Kernel(plain_name(row["Kernel Name"]), counters, stalls)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None  # "n/a": this GPU does not count it


def record(matrix: str, precision: str, variant: str, kernels: Iterable[Kernel]) -> dict[str, Any]:
    """What is kept of one multiply."""
    return {"matrix": matrix, "precision": precision, "variant": variant,
            "kernels": [{"name": kernel.name, **{name: _rounded(value) for name, value
                                                 in kernel.counters.items()},
                         "stalls": {name: _rounded(value) for name, value
                                    in kernel.stalls.items()}}
                        for kernel in kernels]}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

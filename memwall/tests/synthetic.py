"""A small repository with one experiment and synthetic results, made from a seed."""

import random
from pathlib import Path
from typing import Any

from memwall.record import machines
from memwall.record.results import Json

NAME = "spmv-demo"
MACHINE = "example-2c"
STUDY = "spmv"
MATRICES = {"pois2d": 50_000, "fem3": 81_000, "random": 20_000, "rmat": 24_000, "short": 9_000}
# seconds per nonzero relative to textbook, by variant
PACES = {"textbook": 1.0, "unroll4": 0.8, "restrict": 1.0, "csrl": 0.45, "broken": 0.1}
GROUPS = {"csrl": "formats", "eigen": "peer"}
BASE = 2.1e-9
DATA = Path(__file__).parent / "data"

MAIN = """/// What does each step gain?
int main(int argc, char** argv)
{
    //! [textbook]
    for (int i = 0; i < rows; ++i) {
        y[i] = sum(i);
    }
    //! [textbook]
    //! [unroll4]
    for (int i = 0; i < rows; ++i) {
        y[i] = sum4(i);
    }
    //! [unroll4]
    //! [restrict]
    for (int i = 0; i < rows; ++i) {
        *restricted++ = sum(i);
    }
    //! [restrict]
    //! [csrl]
    csrl(a, x, y);
    //! [csrl]
    //! [broken]
    y[0] = 0;
    //! [broken]
    //! [avx512]
    gather(a, x, y);
    //! [avx512]
}
"""


def repository(root: Path) -> Path:
    """The tree that results are woven in: an experiment and its marked texts."""
    folder = root / "experiments" / NAME
    folder.mkdir(parents=True)
    (root / "lib").mkdir()
    front_page = root / "memwall/pages/front_page.md.in"
    front_page.parent.mkdir(parents=True)
    front_page.write_text((DATA / front_page.name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "main.cpp").write_text(MAIN)
    for name, there in (("experiment.toml", folder), ("book.toml", folder.parent)):
        (there / name).write_text((DATA / name).read_text(encoding="utf-8"), encoding="utf-8")
    (folder.parent / "glossary.md").write_text("# Glossary\n", encoding="utf-8")
    machines.enlist(root, MACHINE)
    return root


def excerpts() -> dict[str, dict[str, str]]:
    """The marked texts of `MAIN` as a program would record them."""
    found = {}
    for name in PACES:
        text = MAIN.split(f"    //! [{name}]\n")[1]
        lines = [line[4:] for line in text.splitlines()]
        found[name] = {"file": f"experiments/{NAME}/main.cpp", "text": "\n".join(lines) + "\n"}
    return found


def result(seed: int = 1, rounds: int = 21, threads: tuple[int, ...] = (1, 2)) -> Json:
    """What the experiment measured: one launch per thread count, two precisions."""
    source = random.Random(seed)
    raw = frame(rounds, threads)
    for launch, count in enumerate(threads):
        add_ceilings(raw, source, launch, count)
        for matrix, nonzeros in MATRICES.items():
            for precision in ("fp32", "fp64"):
                _add_point(raw, source, launch, count, matrix, nonzeros, precision)
    return raw


def case(raw: Json, variant: str, index: int = 0) -> Json:
    """One of the cases of a variant."""
    return [c for c in raw["cases"] if c["variant"] == variant and not c["twin"]][index]


def scale(raw: Json, variant: str, factor: float, matrix: str | None = None) -> None:
    """Makes a variant slower (factor above 1) or faster, everywhere or on one matrix."""
    for entry in raw["cases"]:
        if entry["variant"] == variant and matrix in (None, entry["parameters"]["matrix"]):
            entry["samples_s"] = [seconds * factor for seconds in entry["samples_s"]]


def narrow(raw: Json, file: str = "mine.mtx") -> None:
    """As if the user had measured one matrix of their own: fem3 under another name."""
    raw["run"]["arguments"] = ["--matrix", file]
    raw["cases"] = [e for e in raw["cases"] if e["parameters"]["matrix"] == "fem3"]
    raw["skipped"] = []
    for entry in raw["cases"]:
        entry["parameters"]["matrix"] = "mine"
    raw["datasets"] = {"mine": raw["datasets"]["fem3"]}


def drop(raw: Json, variant: str) -> None:
    """As if the program had never known a variant."""
    raw["cases"] = [entry for entry in raw["cases"] if entry["variant"] != variant]
    raw["skipped"] = [entry for entry in raw["skipped"] if entry.get("variant") != variant]
    raw["excerpts"].pop(variant, None)


def frame(rounds: int, threads: tuple[int, ...]) -> Json:
    """A result without cases: run, build, machine and launches."""
    return {
        "schema": 2,
        "run": {
            "id": "0123456789abcdef",
            "experiment": NAME,
            "utc": "2024-05-06T07:08:09Z",
            "arguments": ["--profile", "full"],
            "profile": "full",
            "seed": 1,
            "rounds": rounds,
            "tripled": False,
        },
        "source": {"commit": "ab" * 20, "dirty": False, "binary_sha256": "c" * 64},
        "build": {
            "compiler": "gcc 12.2.0",
            "type": "release",
            "objects": [
                {
                    "object": f"experiments/{NAME}/main.cpp.o",
                    "source": f"experiments/{NAME}/main.cpp",
                    "flags": "-O3 -std=c++20",
                }
            ],
        },
        "libraries": {"hwloc": "2.9.0", "eigen": "3.4.0"},
        "machine": _machine(),
        "launches": [
            {
                "threads": count,
                "ranks": 1,
                "affinity": list(range(count)),
                "oversubscribed": False,
                "environment": {"OMP_NUM_THREADS": str(count)},
            }
            for count in threads
        ],
        "datasets": {
            name: {
                "sha256": f"{index:x}" * 64,
                "features": {"rows": nonzeros // 5, "nonzeros": nonzeros, "mean_row": 5.03},
            }
            for index, (name, nonzeros) in enumerate(MATRICES.items())
        },
        "excerpts": excerpts(),
        "ceilings": [],
        "cases": [],
        "skipped": [],
    }


def _machine() -> Json:
    return {
        "slug": MACHINE,
        "cpu": {
            "model": "Example CPU @ 2.00GHz",
            "architecture": "x86_64",
            "sockets": 1,
            "numa_nodes": 1,
            "cores": 2,
            "hardware_threads": 2,
            "caches": [
                {"level": 1, "kind": "data", "bytes": 32768, "instances": 2},
                {"level": 2, "kind": "unified", "bytes": 1048576, "instances": 2},
            ],
            "last_level_cache_bytes": 67108864,
            "last_level_cache_known": False,
            "governor": "unknown",
            "instruction_sets": ["avx", "avx2", "fma"],
        },
        "memory_bytes": 16 * 2**30,
        "virtual": True,
        "os": "Linux 6.1.0",
        "gpus": [],
    }


def add_gpus(raw: Json, count: int) -> None:
    """Gives the machine `count` GPUs, whose states every launch has noted."""
    cool = {"clock_hz": 345e6, "memory_clock_hz": 3.2e9, "power_w": 75.5, "temperature_c": 30,
            "throttle_reasons": ["idle"]}
    warm = {"clock_hz": 1980e6, "power_w": 512, "throttle_reasons": ["power cap", "sync"]}
    gpu = {"name": "Example GPU", "compute_capability": "9.0", "multiprocessors": 132,
           "memory_bytes": 140 * 2**30, "l2_bytes": 60 * 2**20, "ecc": True, "power_limit_w": 700.0}
    raw["machine"]["gpus"] = [gpu] * count
    for launch in raw["launches"]:
        launch["gpus"] = {"before": [cool] * count, "after": [warm] * count}


def add_ceilings(raw: Json, source: random.Random, launch: int, threads: int) -> None:
    """What the probes of one launch measured."""
    for when in ("before", "after"):
        for name, rate in (("read", 18e9), ("triad", 14e9)):
            samples = [3e8 / (rate * threads) * noise(source) for _ in range(9)]
            raw["ceilings"].append(
                {
                    "name": name,
                    "launch": launch,
                    "target": "host",
                    "when": when,
                    "bytes": 3e8,
                    "flops": 0,
                    "samples_s": samples,
                }
            )


def _add_point(
    raw: Json,
    source: random.Random,
    launch: int,
    threads: int,
    matrix: str,
    nonzeros: int,
    precision: str,
) -> None:
    parameters = {"matrix": matrix, "precision": precision}
    size = 4 if precision == "fp32" else 8
    rows = nonzeros // 5
    work = {
        "flops": 2 * nonzeros,
        "bytes": nonzeros * (size + 4) + 4 * (rows + 1) + 2 * rows * size,
    }
    drift = [1 + 0.05 * source.random() for _ in range(raw["run"]["rounds"])]
    base = BASE * (0.8 if precision == "fp32" else 1.0) * nonzeros / threads
    for variant, pace in PACES.items():
        for twin in (False, True) if variant == "textbook" else (False,):
            raw["cases"].append(
                _case(variant, twin, launch, parameters, work, source, drift, base * pace)
            )
    raw["skipped"].append(
        {
            "variant": "avx512",
            "group": "own",
            "study": STUDY,
            "launch": launch,
            "parameters": parameters,
            "reason": "this CPU has no AVX-512",
        }
    )


def _case(
    variant: str,
    twin: bool,
    launch: int,
    parameters: Json,
    work: Json,
    source: random.Random,
    drift: list[float],
    seconds: float,
) -> Json:
    failed = variant == "broken"
    samples = [seconds * common * noise(source) for common in drift]
    verdict: dict[str, Any] = {"status": "passed", "checks": ["exact", "bounded"], "error": 0.125}
    if failed:
        verdict = {"status": "failed", "reason": "exact check: y[3] is 0, not 7", "error": 12.5}
    return {
        "study": STUDY,
        "variant": variant,
        "target": "host",
        "group": GROUPS.get(variant, "own"),
        "excerpt": variant,
        "twin": twin,
        "launch": launch,
        "parameters": parameters,
        "work": work,
        "verdict": verdict,
        "clock": "steady_clock",
        "cache": "cold",
        "setup": {
            "seconds": 40 * seconds if variant == "csrl" else 0,
            "stored_bytes": 0.8 * work["bytes"] if variant == "csrl" else 0,
        },
        "iterations": 0 if failed else 12,
        "samples_s": [] if failed else samples,
    }


def noise(source: random.Random) -> float:
    """What one sample differs by."""
    return 1 + 0.01 * source.random()

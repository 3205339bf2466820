"""Results of `spmv-formats` that were never measured: every variant of its report, on a model."""

import random
from collections.abc import Mapping

from weave.results import Json
from weave.tests import synthetic

NAME = "spmv-formats"
#: runs per nonzero and mean row of each class, and of the sweep
CLASSES = {
    "pois2d": (0.6, 5),
    "sten27": (0.34, 26),
    "fem3": (0.12, 79),
    "fem3s": (0.33, 79),
    "band64": (0.016, 64),
    "random": (1.0, 10),
    "rmat": (0.95, 15),
    "dnrow": (0.93, 8),
    "short": (0.97, 2),
}
SWEEP = (0.02, 0.04, 0.08, 0.13, 0.17, 0.25, 0.29, 0.33, 0.42, 0.5, 0.67, 0.83, 1.0)
NONZEROS = 1_000_000
#: bytes of indices per nonzero as (fixed, for each run), and time over that of CSR
FORMATS = {
    "csr": (4, 0, 1.0),
    "csrl": (0, 8, 1.05),
    "packed_csrl": (0, 4, 1.0),
    "masked_blocks": (1, 1, 0.9),
    "bcsr": (2, 2, 0.95),
    "delta_csr": (2, 0, 0.95),
    "blocked_coo32": (8, 0, 1.1),
    "blocked_coo16": (4, 0, 0.9),
    "blocked_coo8": (3.5, 0, 1.2),
    "sell32": (4, 0, 0.9),
    "sell16": (2, 0, 0.85),
    "sell_unit": (1, 0, 0.8),
}
OTHERS = {"accumulator": 1.4, "plan": 0.6, "plan_timed": 0.6,
          "eigen": 1.3, "librsb": 1.2, "mkl": 1.0, "mkl_bsr": 1.1}
GROUPS = ({"accumulator": "step", "plan": "plan", "plan_timed": "plan"}
          | dict.fromkeys(FORMATS, "format"))
EXCERPTS = {
    **{name: "blocked_coo" for name in ("blocked_coo32", "blocked_coo16", "blocked_coo8")},
    **{name: "sell" for name in ("sell32", "sell16", "sell_unit")},
    "plan_timed": "trial",
}
REFUSES = {"delta_csr": ("random", "rmat"), "bcsr": ("short",), "mkl_bsr": ("pois2d", "short")}


def excerpts() -> Json:
    """A text for each kernel, as sources would have it."""
    names = dict.fromkeys(EXCERPTS.get(name, name) for name in (*FORMATS, *OTHERS))
    return {n: {"file": f"lib/spmv/{n}.hpp", "text": f"void {n}();\n"} for n in names}


def matrices(suffix: str = "") -> dict[str, tuple[float, float]]:
    """Runs per nonzero and mean row by name; a suffix as other profiles have it."""
    found = {name + suffix: shape for name, shape in CLASSES.items()}
    return found | {f"runs-{100 * runs:02.0f}{suffix}": (runs, 48) for runs in SWEEP}


def result(
    shapes: Mapping[str, tuple[float, float]] | None = None,
    threads: tuple[int, ...] = (1, 2),
    rounds: int = 9,
) -> Json:
    """Every variant at every point, as fast as its bytes, times a factor of its own."""
    shapes = matrices() if shapes is None else shapes
    raw = synthetic.frame(rounds, threads)
    raw["run"]["experiment"] = NAME
    raw["excerpts"] = excerpts()
    raw["datasets"] = {
        name: {
            "sha256": f"{index % 16:x}" * 64,
            "features": {
                "rows": NONZEROS / row,
                "nonzeros": NONZEROS,
                "mean_row": row,
                "nzseg_per_nnz": runs,
            },
        }
        for index, (name, (runs, row)) in enumerate(shapes.items())
    }
    source = random.Random(3)
    for launch, count in enumerate(threads):
        synthetic.add_ceilings(raw, source, launch, count)
        for name, (runs, row) in shapes.items():
            for precision in ("fp32", "fp64"):
                _add_point(raw, source, (launch, count, name, precision), runs, NONZEROS / row)
    return raw


def skip(raw: Json, variant: str, reason: str = "not installed") -> None:
    """As if a variant could run nowhere."""
    for entry in [entry for entry in raw["cases"] if entry["variant"] == variant]:
        raw["cases"].remove(entry)
        if not entry["twin"]:
            raw["skipped"].append(_skipped(entry, reason))
    if variant not in EXCERPTS:
        raw["excerpts"].pop(variant)


def _skipped(entry: Json, reason: str) -> Json:
    kept = {key: entry[key] for key in ("study", "variant", "group", "launch", "parameters")}
    return {**kept, "reason": reason}


def _add_point(
    raw: Json, source: random.Random, at: tuple[int, int, str, str], runs: float, rows: float
) -> None:
    launch, threads, matrix, precision = at
    value = 4 if precision == "fp32" else 8
    vectors = 2 * rows * value
    csr = NONZEROS * (value + 4) + 4 * rows
    for variant in (*FORMATS, *OTHERS):
        fixed, for_run, factor = FORMATS.get(variant, (4, 0, OTHERS.get(variant, 1)))
        stored = NONZEROS * (value + fixed + for_run * runs) + 4 * rows
        seconds = (stored + vectors) / (15e9 * threads) * factor
        entry = {
            "study": synthetic.STUDY,
            "variant": variant,
            "target": "host",
            "group": GROUPS.get(variant, "peer"),
            "excerpt": EXCERPTS.get(variant, variant),
            "twin": False,
            "launch": launch,
            "parameters": {"matrix": matrix, "precision": precision},
            "work": {"flops": 2 * NONZEROS, "bytes": csr + vectors},
            "verdict": {"status": "passed", "checks": ["exact", "bounded"], "error": 0.1},
            "clock": "host",
            "cache": "cold",
            "setup": _setup(variant, seconds, stored),
            "iterations": 1,
            "samples_s": [
                seconds * synthetic.noise(source) for _ in range(raw["run"]["rounds"])
            ],
        }
        if matrix.split("-")[0] in REFUSES.get(variant, ()):
            raw["skipped"].append(_skipped(entry, "does not fit"))
            continue
        raw["cases"].append(entry)
        if variant == "csr":
            again = [s * synthetic.noise(source) for s in entry["samples_s"]]
            raw["cases"].append(entry | {"twin": True, "samples_s": again})


def _setup(variant: str, seconds: float, stored: float) -> Json:
    if variant == "csr":
        return {"seconds": 0, "stored_bytes": 0, "operand_bytes": stored}
    if variant == "accumulator":
        return {"seconds": 0, "stored_bytes": 0}
    setup: Json = {"seconds": 30 * seconds, "stored_bytes": stored}
    if variant.startswith("blocked_coo"):
        setup["counts"] = {"bytes_of_tiles_in_csr": 1.4 * stored}
    if GROUPS.get(variant) == "plan":
        setup["notes"] = ["sell_unit: two diagonals of three serve all lanes"]
    return setup

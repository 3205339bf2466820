"""A matrix that was never measured: what programs would have said of it."""

from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.record import definition, results, sources
from memwall.record.studies import Features, ProductCase, Study
from memwall.study import matrix
from memwall.tests import synthetic

Json = dict[str, Any]
CELLS = 12


def features() -> Features:
    return Features("coordinate real general", entries=1000, rows=300, cols=300, nnz=1000,
                    mean_row=3.3333, max_row=9, std_row=1.5, empty_rows=2, nzseg=400,
                    nzseg_per_nnz=0.4)


def product(matrix: str, **facts: Any) -> ProductCase:
    """A product on one thread, which takes a second unless told."""
    usual: Json = {
        "experiment": "e", "variant": "v", "group": "format", "target": "host", "threads": 1,
        "precision": "fp64", "cache": "cold", "verdict": "passed", "reason": "", "seconds": 1.0,
        "of_bound": 0.5, "of_bound_interval": (0.4, 0.6), "setup_seconds": 0.0,
        "stored_bytes": 8.0, "notes": (),
    }
    return ProductCase(**{**usual, "matrix": matrix, **facts})


def anatomy() -> Json:
    """A band, rows of every length up to nine, and partitions for 2 to 256 ranks."""
    spy = [40 if abs(i - j) < 2 else 0 for i in range(CELLS) for j in range(CELLS)]
    ways = [(way, 1 << k) for k in range(1, 9) for way in ("equal_rows", "least_bottleneck")]
    ways += [("graph", 8), ("graph", 128)]
    return {
        "spy_rows": CELLS, "spy_columns": CELLS, "spy": spy, "row_lengths": [2, 50, 100, 100, 48],
        "run_lengths": [0, 100, 200, 100], "distances": [300, 300, 300, 100],
        "lower_bandwidth": 7, "upper_bandwidth": 7,
        "partitions": [_dealt(way, ranks) for way, ranks in ways], "graph_partitioner": "METIS 5",
    }


def _dealt(way: str, ranks: int) -> Json:
    return {"way": way, "ranks": ranks, "imbalance": 1 + ranks / 500, "ghosts": 10 * ranks,
            "most_ghosts": 12, "messages": 2 * ranks, "most_messages": 2, "idle_ranks": 0}


def measured(root: Path) -> Measurements:
    """A made-up result, as of one matrix."""
    raw = synthetic.result()
    synthetic.narrow(raw)
    for case in raw["cases"]:
        if case["variant"] == "csrl":
            case["group"] = "format"
        if case["variant"] == "unroll4":
            case |= {"variant": "plan", "group": "plan", "excerpt": "unroll4"}
            case["setup"]["notes"] = ["csrl: few runs, ready after 3 ms"]
        if case["variant"] == "restrict":
            case |= {"variant": "csr", "group": "format", "excerpt": "restrict"}
        case["setup"]["stored_bytes"] = 4e6
    folder = synthetic.repository(root)
    result = results.of(raw, folder / "result.json")
    experiment = definition.load(folder, synthetic.NAME)
    return Measurements(result, experiment, sources.read_tree(folder), partial=True)


def study(root: Path) -> Study:
    """All findings of the made-up matrix."""
    found = measured(root)
    return matrix.together(Path("mine.mtx"), features(), anatomy(), [("Formats", found)])

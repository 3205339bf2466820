"""Fits the costs that plans rank formats by to the committed results.

    python3 lib/spmv/formats/fit_costs.py

A multiply in some format takes costs[0] * nonzeros + costs[1] * rows + costs[2] * stored bytes +
costs[3] * runs of consecutive columns, in nanoseconds of one thread; on a GPU costs[3] is a
constant, and costs[4] is of the longest row. Costs are the nonnegative least squares of relative
errors over all machines. Only matrices marked `look` in matrices.txt are read. `margin` is how far
a format's time over that of CSR was underestimated, at the ninth decile; `conversion` are
nanoseconds a nonzero until it stands, on one thread: the median of a result, and the least of all
results, as a conversion that was made quicker since says nothing of the older ones.
"""

import argparse
import gzip
import json
import statistics
from collections import defaultdict
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE.parents[2] / "reports"
HOST = ("costs.inc", ("spmv-formats*.json*", "spmv-plan*.json*"), "csr")
GPU = ("gpu_costs.inc", ("spmv-gpu-variants*.json*",), "row_tiles")
VALUE_BYTES = {"fp32": 4, "fp64": 8}


def looked_at():
    """Names of the matrices that costs may be fitted to."""
    lines = (line.split() for line in (HERE / "matrices.txt").read_text().splitlines())
    return {line[1] for line in lines if line[0] == "look"}


def points(patterns, names):
    """(matrix, precision, run) -> format -> (features, nanoseconds, those of the conversion).

    Two results of one run may hold the same case: it counts once.
    """
    found = defaultdict(dict)
    for file in sorted(file for each in patterns for file in RESULTS.glob(f"*/results/{each}")):
        content = file.read_bytes()
        result = json.loads(gzip.decompress(content) if file.suffix == ".gz" else content)
        for case in result["cases"]:
            matrix, precision = case["parameters"]["matrix"], case["parameters"]["precision"]
            is_ours = case["group"] in ("format", "csr", "early") and not case["twin"]
            if matrix not in names or not is_ours or case["verdict"]["status"] != "passed":
                continue
            is_gpu, setup = case["clock"] != "host", case["setup"]
            threads = 1 if is_gpu else result["launches"][case["launch"]]["threads"]
            stored = setup["stored_bytes"] + setup.get("operand_bytes", 0)
            a = result["datasets"][matrix]["features"]
            last = [1, a["max_row"]] if is_gpu else [a["nzseg_per_nnz"] * a["nonzeros"]]
            features = [a["nonzeros"], a["rows"], stored, *last]
            time = statistics.median(case["samples_s"]) * 1e9 * threads
            key = (matrix, precision, result["run"]["id"], threads)
            found[key][case["variant"]] = (features, time, setup["seconds"] * 1e9)
    for formats in found.values():  # blocks of 1 x 1, which no plan builds any more
        if {"csr", "bcsr"} <= formats.keys() and formats["bcsr"][0][2] >= formats["csr"][0][2]:
            del formats["bcsr"]
    return found


def solved(matrix, right):
    """The solution of a small system of equations, or None if there is not one."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if abs(rows[k][k]) < 1e-12:
            return None
        rows[k] = [value / rows[k][k] for value in rows[k]]
        for r in range(len(rows)):
            if r != k:
                rows[r] = [a - rows[r][k] * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [row[-1] for row in rows]


def fitted(samples):
    """Nonnegative costs with the least squares of relative errors: the best of all subsets.

    By hand: where stored bytes follow from nonzeros and rows many costs fit equally well, of which
    scipy's nnls takes others, in 6 of 60 cases; plain Python takes the same wherever it runs."""
    every = range(len(samples[0][0]))
    scale = [max(f[j] / t for f, t in samples) or 1 for j in every]
    relative = [[v / t / s for v, s in zip(f, scale, strict=True)] for f, t in samples]
    gram = [[sum(r[i] * r[j] for r in relative) for j in every] for i in every]
    right = [sum(r[i] for r in relative) for i in every]
    best, least = [0.0] * len(scale), 0.0
    for size in range(1, len(scale) + 1):
        for kept in combinations(every, size):
            part = solved([[gram[i][j] for j in kept] for i in kept], [right[i] for i in kept])
            if part is None or min(part) < 0:
                continue
            # Less what is the same for all.
            error = -sum(x * right[i] for x, i in zip(part, kept, strict=True))
            if error < least:
                least, best = error, [0.0] * len(scale)
                for x, i in zip(part, kept, strict=True):
                    best[i] = x / scale[i]
    return best


def predicted(costs, features):
    """Nanoseconds of one thread."""
    return sum(c * f for c, f in zip(costs, features, strict=True))


def table(found, base):
    """(format, precision) -> costs, margin and conversion."""
    samples = defaultdict(list)
    for (_, precision, *_), formats in found.items():
        for name, (features, time, _) in formats.items():
            samples[name, precision].append((features, time))
    costs = {key: fitted(of) for key, of in samples.items()}
    misses, conversions = defaultdict(list), defaultdict(lambda: defaultdict(list))
    for (_, precision, run, threads), formats in found.items():
        if base not in formats:
            continue
        plain, plain_time, _ = formats[base]
        for name, (features, time, setup) in formats.items():
            foreseen = predicted(costs[name, precision], features)
            foreseen /= predicted(costs[base, precision], plain)
            misses[name, precision].append(time / plain_time / foreseen)
            if threads == 1 and name != base:
                conversions[name, precision][run].append(setup / max(1, features[0]))
    return {
        key: (
            costs[key],
            max(1, statistics.quantiles([*of, *of], n=10)[-1]),
            min(map(statistics.median, conversions[key].values()), default=0),
        )
        for key, of in misses.items()
    }


def write(file, patterns, base):
    """Writes the table of one kind of processor."""
    rows = table(points(patterns, looked_at()), base)
    lines = ["// Written by fit_costs.py: format, bytes of a value, costs, margin, conversion."]
    for (name, precision), (costs, margin, convert) in sorted(rows.items()):
        numbers = ", ".join(f"{cost:.4g}" for cost in costs)
        rest = f"{{{numbers}}}, {margin:.3g}, {convert:.3g}"
        lines.append(f'{{"{name}", {VALUE_BYTES[precision]}, {rest}}},')
    (HERE / file).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__,
                            formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    write(*HOST)
    write(*GPU)

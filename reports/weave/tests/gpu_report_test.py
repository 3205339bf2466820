"""The report of `spmv-gpu-variants` weaves whatever was measured."""

import random
from pathlib import Path

import pytest

from weave import definition, pages, results
from weave.results import Json
from weave.sources import Excerpt, Tree
from weave.tests import synthetic

REPOSITORY = Path(__file__).resolve().parents[3]
NAME = "spmv-gpu-variants"
LANES = (2, 4, 8, 16, 32)
#: mean row of each class; the last two stay in the cache
CLASSES = {
    "pois2d": 5.0,
    "sten27": 27.0,
    "fem3": 80.0,
    "band64": 64.0,
    "short": 2.0,
    "dnrow": 9.0,
    "random": 16.0,
    "rmat": 15.0,
    "mid": 66.0,
    "shyy41-like": 4.2,
}
NONZEROS = 30e6
BANDWIDTH = 4.2e12
#: time over that of bandwidth, group and text of each variant
VARIANTS = {
    "thread_per_row": (2.0, "single", "thread_per_row"),
    **{f"vector_shuffle{n}": (1.5, "vector", "vector_shuffle") for n in LANES},
    **{f"vector_early{n}": (1.4, "early", "vector_early") for n in LANES},
    **{f"vector_shared{n}": (1.6, "shared", "vector_shared") for n in LANES},
    **{f"dynamic_warp{n}": (4.0, "single", "dynamic_warp") for n in LANES},
    "table_light": (4.0, "table", "table_light"),
    "table_mixed": (2.1, "table", "table_mixed"),
    "table_nearest": (1.5, "table", "table_nearest"),
    "dynamic_vector": (4.1, "dynamic", "dynamic_vector"),
    "dynamic_chunked": (1.9, "dynamic", "dynamic_chunked"),
    "merge_path": (2.2, "csr", "gpu_merge_path"),
    "row_tiles": (1.1, "csr", "row_tiles"),
    "large_tiles": (1.2, "csr", "row_tiles"),
    "small_tiles": (1.3, "csr", "row_tiles"),
    "padded_rows": (2.0, "format", "padded_rows"),
    "sell32": (1.05, "format", "gpu_sell"),
    "sell16": (0.9, "format", "gpu_sell"),
    "diagonals": (0.7, "format", "gpu_diagonals"),
    "diagonal_dictionary": (0.8, "format", "diagonal_dictionary"),
    "block_sell": (0.8, "format", "block_sell"),
    "blocked_coo": (1.2, "format", "gpu_blocked_coo"),
    "two_phase": (1.9, "format", "gpu_two_phase"),
    "csr_roof": (1.0, "roof", "csr_roof"),
    "auto": (0.7, "plan", "gpu_plan"),
    "cusparse_csr1": (1.6, "peer", "cusparse_csr"),
    "cusparse_csr1_preprocessed": (1.5, "peer", "cusparse_csr"),
    "cusparse_csr2": (1.9, "peer", "cusparse_csr"),
    "cusparse_sell": (1.1, "peer", "cusparse_sell"),
    "cusparse_bsr": (1.0, "peer", "cusparse_bsr"),
}
REFUSES = {
    "sell16": ("short", "random", "rmat", "dnrow"),
    "diagonals": ("short", "random", "rmat", "dnrow", "mid", "shyy41-like"),
    "diagonal_dictionary": ("short", "random", "rmat", "dnrow", "mid"),
    "block_sell": ("pois2d", "sten27", "short", "random", "rmat", "dnrow", "mid", "shyy41-like"),
    "cusparse_bsr": ("pois2d", "sten27", "short", "random", "rmat", "dnrow", "mid", "shyy41-like"),
    "cusparse_sell": ("dnrow",),
}


def excerpts() -> Json:
    """A text for each kernel, as sources would have it."""
    names = {text for _, _, text in VARIANTS.values()}
    return {n: {"file": f"lib/spmv/cuda/{n}.cu", "text": f"void {n}();\n"} for n in sorted(names)}


def result(suffix: str = "", rounds: int = 9) -> Json:
    """Every variant at every point, at its pace."""
    raw = synthetic.frame(rounds, (1,))
    synthetic.add_gpus(raw, 1)
    raw["run"]["experiment"] = NAME
    raw["excerpts"] = excerpts()
    source = random.Random(5)
    for when in ("before", "after"):
        samples = [synthetic.noise(source) * 1e9 / BANDWIDTH for _ in range(9)]
        probe = {"name": "device_read", "target": "cuda", "launch": 0, "when": when}
        raw["ceilings"].append({**probe, "bytes": 1e9, "flops": 0, "samples_s": samples})
    raw["datasets"] = {}
    for index, (stem, mean) in enumerate(CLASSES.items()):
        name = stem if stem == "shyy41-like" else stem + suffix
        features = {"rows": NONZEROS / mean, "nonzeros": NONZEROS, "mean_row": mean}
        raw["datasets"][name] = {"sha256": f"{index:x}" * 64, "features": features}
        for precision, value in (("fp32", 4), ("fp64", 8)):
            bytes_moved = NONZEROS * (4 + value) + NONZEROS / mean * (4 + 2 * value)
            for variant in VARIANTS:
                _add(raw, source, variant, stem, name, precision, bytes_moved)
    return raw


def _add(
    raw: Json,
    source: random.Random,
    variant: str,
    stem: str,
    name: str,
    precision: str,
    moved: float,
) -> None:
    pace, group, text = VARIANTS[variant]
    place = {
        "study": synthetic.STUDY,
        "variant": variant,
        "group": group,
        "launch": 0,
        "parameters": {"matrix": name, "precision": precision},
    }
    if stem in REFUSES.get(variant, ()):
        raw["skipped"].append({**place, "reason": "does not fit"})
        return
    seconds = moved / BANDWIDTH * pace
    setup: Json = {"seconds": 30 * seconds, "stored_bytes": moved * pace}
    if variant == "auto":
        setup["notes"] = ["diagonals: 1.02 values for each nonzero"]
    entry = {
        **place,
        "target": "cuda",
        "excerpt": text,
        "twin": False,
        "work": {"flops": 2 * NONZEROS, "bytes": moved},
        "verdict": {"status": "passed", "checks": ["exact", "bounded"], "error": 0.1},
        "clock": "cuda-event",
        "cache": "cold" if pace >= 1 else "warm",
        "setup": setup,
        "iterations": 1,
        "samples_s": [seconds * synthetic.noise(source) for _ in range(raw["run"]["rounds"])],
    }
    raw["cases"].append(entry)
    if variant == "row_tiles":
        again = [s * synthetic.noise(source) for s in entry["samples_s"]]
        raw["cases"].append(entry | {"twin": True, "samples_s": again})


def weave(raw: Json) -> pages.Page:
    """The page of a result, in a tree whose texts are those that were timed."""
    present = {name: Excerpt(e["file"], e["text"]) for name, e in excerpts().items()}
    experiment = definition.load(REPOSITORY, NAME)
    made = results.of(raw, Path("result.json"))
    return pages.weave(made, experiment, Tree(REPOSITORY, present, {}))


@pytest.mark.parametrize("suffix", ["-gpu", "", "-tiny"])
def test_every_profile_weaves(suffix: str) -> None:
    page = weave(result(suffix))
    assert len(page.figures) == 6
    assert "4093 ns (the article" in page.text


def test_a_counter_that_costs_nothing() -> None:
    raw = result()
    synthetic.scale(raw, "table_light", 0.4)
    assert "gains little here" in weave(raw).text


def test_what_is_skipped_everywhere_is_said() -> None:
    raw = result()
    for name in [name for name in VARIANTS if name.startswith("cusparse_bsr")]:
        raw["cases"] = [entry for entry in raw["cases"] if entry["variant"] != name]
    assert "does not fit" in weave(raw).text

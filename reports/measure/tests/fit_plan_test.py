"""`just fit-plan`: from a run and what the model counts to a table of constants."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from measure import fit_plan
from measure.__main__ import main
from weave import results
from weave.results import Json
from weave.tests import synthetic

NOTES = {
    "unroll4": "csr; 8.1 bytes per nonzero where CSR has 8.1, 1 thread, ready after 1 ms",
    "csrl": "bcsr: blocks of 3 x 3 are 90 % full, 2 rows in pieces; 5.0 bytes per nonzero, ready",
}
AVX512 = ["fma", "avx2", "avx512f", "avx512bw", "avx512vl"]

#: Terms of the fake model with the nanoseconds that the times are made of, and where fits begin.
TRUE = {"csr.row": 3.0, "bcsr_3x3.block": 2.0}
START = {"csr.row": 2.4, "bcsr_3x3.block": 2.4, "sell.chunk": 5.0}
ROWS = 1000.0


def counted(raw: Json) -> Json:
    """What plan-terms would print: rows and blocks in numbers that differ between matrices."""
    points = []
    for k, known in enumerate(raw["datasets"].values()):
        rows = ROWS * (k + 1)
        ways = [("csr", "csr", "", {"csr.row": rows}),
                ("bcsr", "bcsr_3x3", "blocks of 3 x 3 are 90 % full", {"bcsr_3x3.block": rows}),
                ("sell_unit", "sell_unit_plain", "never measured", {"sell.chunk": rows})]
        estimates = [{"format": format_, "name": name, "detail": detail, "nanoseconds": 1.0,
                      "overlap": 2.0, "core": core, "memory": {}}
                     for format_, name, detail, core in ways]
        points += [{"matrix": f"m{k}", "sha256": known["sha256"], "precision": precision,
                    "threads": threads, "cache": "cold", "estimates": estimates}
                   for precision in ("fp32", "fp64") for threads in (1, 2)]
    times = {name: {"fp32": time, "fp64": time} for name, time in START.items()}
    return {"kind": "avx2", "times": times, "points": points}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return synthetic.repository(tmp_path)


@pytest.fixture
def raw() -> Json:
    return synthetic.result()


@pytest.fixture
def run(raw: Json, tmp_path: Path) -> Path:
    """A run in which both formats take exactly what their terms say."""
    for k, name in enumerate(raw["datasets"]):
        raw["datasets"][name]["sha256"] = f"{k:064x}"
    places = {name: k for k, name in enumerate(raw["datasets"])}
    for case in raw["cases"]:
        note = NOTES.get(case["variant"])
        if note is not None:
            rows = ROWS * (places[case["parameters"]["matrix"]] + 1)
            time = TRUE["csr.row" if note.startswith("csr") else "bcsr_3x3.block"]
            case["group"] = "format"
            case["setup"]["notes"] = [note]
            case["samples_s"] = [1e-9 * rows * time] * len(case["samples_s"])
    path = tmp_path / "result.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


@pytest.fixture
def fit(root: Path, raw: Json, run: Path) -> Callable[..., int]:
    """Calls the command with a plan-terms that writes down how it was called."""
    folder = root / "build/lib/spmv"
    folder.mkdir(parents=True)
    (folder / "counted.json").write_text(json.dumps(counted(raw)), encoding="utf-8")
    program = folder / "plan-terms"
    program.write_text(f'#!/bin/sh\necho "$@" >{folder}/called\ncat {folder}/counted.json\n')
    program.chmod(0o755)
    (root / "lib/spmv/plan_times").mkdir(parents=True)
    return lambda *words: main(["--root", str(root), "fit-plan", str(run), *words])


def constants(table: str) -> dict[str, tuple[float, float]]:
    rows = [line.strip("{},").split(", ") for line in table.splitlines() if line.startswith("{")]
    return {name.strip('"'): (float(single), float(double)) for name, single, double in rows}


def test_constants_are_written_and_judged(fit: Callable[..., int], root: Path,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    assert fit("--write") == 0
    found = constants((root / "lib/spmv/plan_times/avx2.inc").read_text())
    assert found["csr.row"] == pytest.approx((3.0, 3.0), rel=0.05)
    assert found["bcsr_3x3.block"] == pytest.approx((2.0, 2.0), rel=0.05)
    said = capsys.readouterr().out
    assert "never measured, scaled like all others: sell.chunk" in said
    assert "choices within 5 % of the best" in said
    assert "5 matrices" in said


def test_one_precision_leaves_the_other_alone(fit: Callable[..., int], root: Path) -> None:
    assert fit("--write", "--precision", "fp64", "--spread", "0.5") == 0
    found = constants((root / "lib/spmv/plan_times/avx2.inc").read_text())
    assert {name: single for name, (single, _) in found.items()} == START
    assert found["csr.row"][1] == pytest.approx(3.0, rel=0.03)


def test_without_write_nothing_is_touched(fit: Callable[..., int], root: Path,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    assert fit() == 0
    assert not (root / "lib/spmv/plan_times/avx2.inc").exists()
    assert set(constants(capsys.readouterr().out)) == set(START)


def test_the_model_is_asked_about_the_machine_that_measured(
        fit: Callable[..., int], root: Path) -> None:
    assert fit("--matrices", "elsewhere/fem3.mtx.gz") == 0
    called = (root / "build/lib/spmv/called").read_text()
    assert "elsewhere/fem3.mtx.gz pois2d" in called
    assert "--vendor other --kernels avx2 --threads 1 2 --caches 32768 1048576 1048576" in called


def test_a_run_without_formats_is_refused(fit: Callable[..., int], run: Path,
                                          capsys: pytest.CaptureFixture[str]) -> None:
    raw = json.loads(run.read_text())
    for case in raw["cases"]:
        case["group"] = "own"
    run.write_text(json.dumps(raw))
    assert fit() == 2
    assert capsys.readouterr().err == (
        "fit-plan: nothing was measured in fp32 that the model knows\n")


def test_runs_of_different_machines_are_refused(fit: Callable[..., int], run: Path, tmp_path: Path,
                                                capsys: pytest.CaptureFixture[str]) -> None:
    raw = json.loads(run.read_text())
    raw["machine"]["cpu"]["model"] = "AMD Example"
    other = tmp_path / "other.json"
    other.write_text(json.dumps(raw))
    assert fit(str(other)) == 2
    assert "several machines" in capsys.readouterr().err


def test_a_program_that_was_not_built_is_named(fit: Callable[..., int], root: Path,
                                               capsys: pytest.CaptureFixture[str]) -> None:
    (root / "build/lib/spmv/plan-terms").unlink()
    assert fit() == 2
    assert "plan-terms cannot be run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "sets", "asked", "kernels"),
    [
        ("Intel(R) Xeon(R) Processor", ["avx2", "fma"], [], "avx2"),
        ("Intel(R) Xeon(R) Processor", AVX512, [], "avx512"),
        ("Intel(R) Xeon(R) Processor", [*AVX512, "avx512_fp16"], [], "avx512_gather"),
        ("Intel(R) Xeon(R) Processor", [*AVX512, "avx512_fp16"], ["--kernels", "avx512"], "avx512"),
        ("AMD EPYC", [*AVX512, "avx512_fp16"], [], "avx512"),
        ("of no known maker", [], [], "baseline"),
    ],
)
def test_kernels_are_those_that_the_processor_ran(
    raw: Json, model: str, sets: list[str], asked: list[str], kernels: str
) -> None:
    raw["machine"]["cpu"].update(model=model, instruction_sets=sets)
    raw["run"]["arguments"] = asked
    assert fit_plan.machine_of(results.of(raw, Path("result.json"))).kernels == kernels

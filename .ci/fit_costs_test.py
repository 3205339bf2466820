"""The script that fits the costs of plans."""

import hashlib
import importlib.util
import random
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SPEC = importlib.util.spec_from_file_location("fit_costs", ROOT / "lib/spmv/formats/fit_costs.py")
assert SPEC is not None and SPEC.loader is not None
fit_costs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fit_costs)


def test_matrices_are_halved_by_the_digest_of_their_names() -> None:
    text = (ROOT / "lib/spmv/formats/matrices.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert len(lines) > 90
    for half, name in lines:
        is_odd = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2
        assert half == ("judge" if is_odd else "look"), name
    assert fit_costs.looked_at() == {name for half, name in lines if half == "look"}


def test_costs_are_found_again() -> None:
    rng = random.Random(1)
    true = [0.5, 2.0, 0.0, 1.5]
    samples = []
    for _ in range(50):
        features = [rng.uniform(1e3, 1e6) for _ in true]
        samples.append((features, fit_costs.predicted(true, features)))
    assert fit_costs.fitted(samples) == pytest.approx(true, abs=1e-6)


def test_costs_are_never_negative() -> None:
    samples = [([1.0, 10.0], 1.0), ([2.0, 1.0], 4.0), ([3.0, 1.0], 6.0)]
    costs = fit_costs.fitted(samples)
    assert min(costs) == 0 and costs[0] > 0

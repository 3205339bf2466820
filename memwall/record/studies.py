"""What `study.json` and `try.json` tell, in words: a console and a page say the same."""

from collections.abc import Mapping, Sequence
from typing import Any

from memwall.record import notation

#: A noise floor that makes most comparisons worthless.
BUSY = 0.25


def share(case: Mapping[str, Any]) -> str:
    """`87 %`, of the memory bound."""
    return "unknown" if case["of_bound"] is None else notation.percent(case["of_bound"])


def speed(case: Mapping[str, Any]) -> str:
    """`12 µs a product, 87 % of the memory bound`."""
    return f"{notation.time(case['seconds'])} a product, {share(case)} of the memory bound"


def busy(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """A warning where a run was so noisy that most comparisons are worthless."""
    noise = max((run["noise_floor"] for run in runs if run["noise_floor"]), default=0.0)
    if noise <= BUSY:
        return []
    return ["The machine was busy: two timings of the same code differed by a factor of up to"
            f" {notation.factor(1 + noise)}. Measure again when it is quiet; small differences mean"
            " nothing."]


def panel_title(target: str, threads: int) -> str:
    """`1 thread`, `2 threads`, `GPU`."""
    if target != "host":
        return "GPU"
    return f"{threads} thread{'s' * (threads > 1)}"

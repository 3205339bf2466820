"""Values of metrics as a sentence tells them: with unit and interval."""

from collections.abc import Sequence

from memwall.analysis import numerics
from memwall.analysis.metrics import metric_named
from memwall.record import notation


def count_words(value: float) -> str:
    """A number of calls; infinitely many are never."""
    return "never" if value == float("inf") else notation.count(value)


def plain_unit(metric: str, value: float) -> str:
    """A value of a metric with its unit."""
    kind, unit = metric_named(metric).kind, metric_named(metric).unit
    if kind == "time":
        return notation.time(value)
    if kind == "bytes":
        return notation.size(value)
    if kind == "count":
        return count_words(value)
    return notation.significant(value) + (f" {unit}" if unit else "")


def plain_edge(metric: str, edge: float) -> str:
    """A bound that a claim names: as it stands there, a part of a ceiling in per cent, and seconds
    in the unit that suits them."""
    if metric_named(metric).kind == "percent":
        return f"{100 * edge:g} %"
    if metric_named(metric).kind == "time":
        scale, unit = notation.time_unit([edge])
        return f"{edge / scale:g} {unit}"
    unit = metric_named(metric).unit
    return f"{edge:g}" + (f" {unit}" if unit else "")


def with_unit(metric: str, estimate: numerics.Estimate, edges: Sequence[float] = ()) -> str:
    """A value of a metric with its unit and, where it was sampled, its interval; with so many
    digits that it can be told from the `edges`."""
    kind = metric_named(metric).kind
    if kind == "factor":
        return numerics.speedup(estimate, edges)
    if kind == "percent":
        scaled = estimate.scaled(100)
        written = numerics.beside(scaled, f"{scaled.value:.0f}", [100 * edge for edge in edges])
        return f"{written} %{numerics.in_brackets(scaled, written, ' %')}"
    if estimate.rounds == 1 or kind == "count":
        return plain_unit(metric, estimate.value)
    if kind == "time":
        scale, unit = notation.time_unit([estimate.value])
        scaled = estimate.scaled(1 / scale)
    else:
        scale, scaled, unit = 1.0, estimate, metric_named(metric).unit
    written = numerics.beside(scaled, notation.significant(scaled.value),
                             [edge / scale for edge in edges])
    return f"{written} {unit}".strip() + numerics.in_brackets(scaled, written)

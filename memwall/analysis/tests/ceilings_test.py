"""What a machine reached at best, by either definition."""

import statistics
from collections.abc import Callable

import pytest

from memwall.analysis.ceilings import Ceilings
from memwall.analysis.measurements import Measurements
from memwall.analysis.quantities import Unknown
from memwall.record.results import Json

Measure = Callable[..., Measurements]


def look(rates: list[float], when: str = "before", **more: object) -> Json:
    """Passes over 64 MB of one look, at so many GB/s."""
    return {"name": "read", "launch": 0, "target": "host", "when": when, "bytes": 64e6, "flops": 0,
            "samples_s": [64e6 / (rate * 1e9) for rate in rates], **more}


def ceilings(*looks: Json, named: tuple[str, ...] = ()) -> Ceilings:
    return Ceilings({"ceilings": list(looks), "machine": {"cpu": {}, "gpus": []}}, named)


QUIET, BUSY = [60.0, 62, 61, 60, 61], [30.0, 31, 32, 31, 70]


@pytest.mark.parametrize(("definition", "rate"), [({}, 60.0), ({"definition": 2}, 61.0)])
def test_what_a_neighbour_took_lowers_a_ceiling_of_the_first_definition_alone(
        definition: dict[str, int], rate: float) -> None:
    looks = [look(BUSY, "before", **definition), look(QUIET, "between", **definition),
             look(BUSY[:2], "after", **definition)]
    found = ceilings(*looks).one(0)
    assert found.rate.value / 1e9 == pytest.approx(
        rate if definition else statistics.median([*BUSY, *QUIET, *BUSY[:2]]))
    assert found.fastest / 1e9 == pytest.approx(70)
    assert (found.definition, found.working_set) == (definition.get("definition", 1), 64e6)


def test_a_ceiling_bounds_what_runs_where_it_was_measured() -> None:
    device = look([3000.0] * 5, name="device_read", target="cuda")
    for named in ((), ("read",)):
        both = ceilings(look(QUIET), device, named=named)
        assert [one.name for one in both.of(0, target="host")] == ["read"]
    assert [one.name for one in both.of(0, "device_read", "host")] == ["device_read"]
    with pytest.raises(Unknown, match="no ceiling of cuda that moves bytes in the result"):
        both.of(0, target="cuda")

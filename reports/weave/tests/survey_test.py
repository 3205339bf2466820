"""Verbs over machines: tables of ceilings, and columns that are numbers."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from weave import definition
from weave.across import _inputs
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Json
from weave.survey import OnMachine, Survey
from weave.tests import synthetic
from weave.tests.conftest import Say


@pytest.fixture
def survey(root: Path, measured: Callable[..., Measurements], raw: Json) -> Survey:
    """Two machines, of which the second one knows the nominal peak of its memory."""
    other = copy.deepcopy(raw)
    peak = {"name": "read", "bytes_per_s": 40e9, "source": "a data sheet"}
    other["machine"]["cpu"]["peaks"] = [peak]
    found = (OnMachine("lead-2c", measured(raw)), OnMachine("another-2c", measured(other)))
    return Survey(definition.load(root, synthetic.NAME), "lead-2c", found)


def test_ceilings_stand_beside_nominal_peaks_where_these_are_known(survey: Survey) -> None:
    head, _, line = survey.ceilings_table(["read"]).splitlines()
    assert head == "| ceiling | unit | **lead-2c** | another-2c |"
    best = max(survey.found[0].measured.ceiling(launch, "read").rate.value for launch in (0, 1))
    number = f"{best / 1e9:.1f}"
    assert line == f"| `read` | GB/s | {number} | {number} ({100 * best / 40e9:.0f} %) |"


def test_every_ceiling_has_a_row_and_unknown_ones_are_refused(survey: Survey) -> None:
    known = survey.found[0].measured.every_ceiling(0)
    assert len(survey.ceilings_table().splitlines()) == 2 + len(known)
    with pytest.raises(WeaveError, match='no machine has measured "flux", only'):
        survey.ceilings_table(["flux"])


def test_columns_that_are_numbers_come_in_their_order(survey: Survey) -> None:
    assert list(_inputs(survey.runs(), "threads", {})) == ["1", "2"]
    assert _inputs(survey.runs(), "threads", {})["2"] == [2]


def test_a_ceiling_of_bytes_is_no_limit_of_what_moves_none(raw: Json, say: Say) -> None:
    for entry in raw["cases"]:
        entry["work"]["bytes"] = 0
    drawn = say('{{ plot.dots("1.serial", x="threads", rows="variant", y="gflops",'
                ' where={"matrix": "fem3", "variant": ["textbook", "unroll4"]}) }}', raw)
    assert drawn.startswith("![")

"""Pages of runs that know less than the chapter speaks of."""

from collections.abc import Callable
from pathlib import Path

import pytest

from weave import book
from weave.definition import WeaveError
from weave.measurements import Measurements
from weave.results import Json
from weave.survey import OnMachine, Survey
from weave.tests import synthetic
from weave.tests.conftest import MACHINE


def page(measured: Measurements, is_chapter: bool) -> str:
    survey = Survey(measured.experiment, MACHINE, (OnMachine(MACHINE, measured),))
    place = book.Place("../../reports", is_chapter=is_chapter)
    return book.weave(measured, MACHINE, survey, place).text


def test_a_page_says_that_an_input_was_not_measured_where_a_chapter_stops(
    root: Path, measured: Callable[..., Measurements], raw: Json
) -> None:
    template = root / "experiments" / synthetic.NAME / "report.md.in"
    said = '{{ speedup("unroll4", over="textbook", where={"matrix": "absent-*"}) }}'
    template.write_text(f"# T\n\n{said}\n", encoding="utf-8")
    assert "not measured in this run" in page(measured(raw), is_chapter=False)
    with pytest.raises(WeaveError, match="has no case"):
        page(measured(raw), is_chapter=True)

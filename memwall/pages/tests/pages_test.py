"""Pages of runs that know less than the chapter speaks of."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.analysis.measurements import Measurements
from memwall.conftest import MACHINE
from memwall.pages import book
from memwall.pages.survey import OnMachine, Survey
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic


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
    with pytest.raises(UserError, match="has no case"):
        page(measured(raw), is_chapter=True)

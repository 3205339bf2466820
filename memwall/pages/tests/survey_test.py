"""Verbs over machines: ranges, counts and verdicts on all of them; figures of machines."""

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.analysis.measurements import Measurements
from memwall.pages.lesson import Lesson
from memwall.pages.survey import ChapterPlot, OnMachine, Survey, _columns, _inputs, _unit
from memwall.record import definition
from memwall.record.definition import Condition
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic


@pytest.fixture
def survey(root: Path, measured: Callable[..., Measurements], raw: Json) -> Survey:
    """Two machines, of which the second one knows the nominal peak of its memory."""
    other = copy.deepcopy(raw)
    peak = {"name": "read", "bytes_per_s": 40e9, "source": "a data sheet"}
    other["machine"]["cpu"]["peaks"] = [peak]
    found = (OnMachine("lead-2c", measured(raw)), OnMachine("another-2c", measured(other)))
    return Survey(definition.load(root, synthetic.NAME), "lead-2c", found)


def test_columns_that_are_numbers_come_in_their_order(survey: Survey) -> None:
    assert list(_inputs(survey.runs(), "threads", {})) == ["1", "2"]
    assert _inputs(survey.runs(), "threads", {})["2"] == [2]


@pytest.mark.parametrize(("value", "values", "expected"), [
    ("median", [6.5e-6, 7.1e-6], (1e6, "µs")), ("median", [0.002], (1e3, "ms")),
    ("of_ceiling", [0.5], (100, "%")), ("gflops", [3.0], (1, "GFLOP/s"))])
def test_a_panel_counts_in_a_unit_that_fits(value: str, values: list[float],
                                            expected: tuple[float, str]) -> None:
    condition = Condition(("unroll4",), (), "", {}, value=value)
    of_one, unit = _unit(condition, values)
    assert of_one == pytest.approx(expected[0]) and unit == expected[1]


# --- three machines -------------------------------------------------------------------------------

LEAD, SLOW, SMALL = "example-2c", "slow-2c", "small-1c"


def pace(raw: Json, variant: str, speedup: float) -> None:
    """Gives a variant exactly so many times the speed of `textbook` in each round."""
    places = {(c["launch"], *c["parameters"].values()): c["samples_s"] for c in raw["cases"]
              if c["variant"] == "textbook" and not c["twin"]}
    for entry in raw["cases"]:
        if entry["variant"] == variant:
            samples = places[entry["launch"], *entry["parameters"].values()]
            entry["samples_s"] = [seconds / speedup for seconds in samples]


@pytest.fixture
def three(measured: Callable[..., Measurements], raw: Json) -> Survey:
    """The lead machine with a kept run; one where unrolling costs; one of one thread without CSRL
    and without two of the matrices."""
    slow, small, mine = copy.deepcopy(raw), synthetic.result(threads=(1,)), copy.deepcopy(raw)
    for result, speedup in ((raw, 1.25), (slow, 0.8), (small, 1.1), (mine, 3.0)):
        pace(result, "unroll4", speedup)
    synthetic.drop(small, "csrl")
    lacks = ("rmat", "fem3")
    small["cases"] = [c for c in small["cases"] if c["parameters"]["matrix"] not in lacks]
    small["run"]["rounds"] = 21
    for probe in slow["ceilings"]:
        probe["samples_s"] = [2 * seconds for seconds in probe["samples_s"]]
    synthetic.narrow(mine)
    found = [(SMALL, small, ""), (LEAD, mine, "mine"), (SLOW, slow, ""), (LEAD, raw, "")]
    return Survey(measured(raw).experiment, LEAD, tuple(
        OnMachine(machine, measured(result, partial=bool(title)), title)
        for machine, result, title in found))


def verbs(survey: Survey, machine: str = LEAD) -> Lesson:
    found = next(one for one in survey.runs() if one.machine == machine)
    return Lesson(found.measured, survey, machine)


def plot(survey: Survey) -> ChapterPlot:
    return ChapterPlot(survey.runs()[0].measured, "figures", survey=survey)


def test_the_lead_machine_comes_first_then_names_by_letters(three: Survey) -> None:
    assert three.machines == [LEAD, SLOW, SMALL]
    assert [one.title for one in three.runs("mine")] == ["mine"]
    assert three.machine_count() == "three machines"
    assert replace(three, found=three.found[-1:]).machine_count() == "one machine"


def test_what_no_machine_has_is_an_error(three: Survey) -> None:
    for call, said in (
        (lambda: verbs(three).tally("1.unrol"), 'no claim "1.unrol"'),
        (lambda: verbs(three).run("other"), 'run: example-2c has kept no run "other"'),
        (lambda: verbs(three, SLOW).run("mine"), 'run: slow-2c has kept no run "mine"'),
    ):
        with pytest.raises(UserError, match=said):
            call()


def test_tally_counts_machines_that_could_tell(three: Survey) -> None:
    """On the small one three matrices are too few."""
    assert three.verdicts["1.unroll"][SMALL].verdict == "UNDECIDED"
    assert verbs(three).tally("1.unroll") == "on 1 of the 2 machines that could tell"
    assert verbs(three).tally("1.restrict") == "on every machine that could tell (3)"
    assert verbs(three).tally("1.csrl") == "on none of the 2 machines that could tell"
    assert verbs(three).tally("1.gathers") == "on none, as no machine could tell"


def test_a_kept_run_can_be_spoken_of(three: Survey) -> None:
    kept = verbs(three).run("mine")
    assert kept.number("speedup", "unroll4", over="textbook") == pytest.approx(3, rel=0.01)


def test_a_picture_has_all_claims_on_all_machines(three: Survey) -> None:
    drawn = plot(three)
    assert drawn.claims().startswith("![Which claims hold on which of three machines?]")
    assert set(drawn.drawn) == {"claims.svg", "claims.vl.json"}
    arithmetic = tuple(replace(claim, kind="arithmetic") for claim in three.experiment.claims)
    none = replace(three, experiment=replace(three.experiment, claims=arithmetic))
    assert plot(none).claims() == ""


def test_machines_are_drawn_input_by_input(three: Survey) -> None:
    drawn = plot(three)
    said = drawn.across("1.serial", ["unroll4"], over="textbook")
    assert "figures/demo-serial.svg" in said and "demo-serial.vl.json" in drawn.drawn
    with pytest.raises(UserError, match='the figure "demo.threads" would be empty'):
        drawn.across("demo.threads", ["unroll4"], over="textbook", where={"matrix": "other"})
    with pytest.raises(UserError, match='no machine has a run "other"'):
        drawn.across("demo.threads", ["unroll4"], over="textbook", run="other")


def test_conditions_with_labels_have_columns_of_their_own(three: Survey) -> None:
    """In the picture; one without a value has none."""
    first, restrict, _, gathers = three.experiment.claims
    any_faster = replace(first.conditions[0], expect="faster")
    of_two = tuple(replace(any_faster, label=f"On {name}", where={"matrix": name})
                   for name in ("pois2d", "short"))
    asked = (replace(first, conditions=of_two, needs=()),
             replace(restrict, short="`restrict` alike"), gathers)
    survey = replace(three, experiment=replace(three.experiment, claims=asked))
    columns = [column for claim in asked for column in _columns(survey, survey.verdicts[claim.id])]
    assert [column.title for column in columns] == ["On pois2d", "On short", "restrict alike"]
    assert [cell.verdict for cell in columns[0].cells if cell] == [
        "reproduced", "not reproduced", "reproduced"]
    assert (columns[0].holds, columns[2].holds) == ((1.0, None), (0.95, 1.05))
    assert columns[0].cells[0] and columns[0].cells[0].value == pytest.approx(1.25)

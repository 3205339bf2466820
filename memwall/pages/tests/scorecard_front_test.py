"""The front page: its numbers come from results; errors name the line."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.analysis.measurements import Measurements
from memwall.pages import front
from memwall.pages.survey import OnMachine, Survey
from memwall.pages.tests.scorecard_test import scored_page
from memwall.record import definition
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

MACHINE = "example-2c"


@pytest.fixture
def survey(measured: Callable[..., Measurements], raw: Json) -> Survey:
    kept = OnMachine("other-2c", measured(raw, partial=True), "mine")
    found = (OnMachine(MACHINE, measured(raw)), kept)
    return Survey(found[0].measured.experiment, MACHINE, found)


def page(root: Path, survey: Survey, template: str) -> str:
    (root / front.TEMPLATE).write_text(template, encoding="utf-8")
    return front.front_page(root, [survey])["README.md"]


def test_summary_experiments_and_machines(root: Path, survey: Survey) -> None:
    text = page(root, survey, "# T\n\n{{ summary() }}\n\n{{ experiments() }}\n\n{{ machines() }}\n")
    assert text.startswith("<!-- Woven from memwall/pages/front_page.md.in.")
    assert "Of 4 claims, 2 hold" in text and "1 holds in direction" in text
    assert "and 1 is not measured yet." in text
    assert text.endswith("\n\none\n\n2\n")  # also one that only kept a run


def test_numbers_of_a_chapter_are_those_of_its_lead_machine(root: Path, survey: Survey) -> None:
    asked = 'of("spmv-demo").{}'
    template = " ".join("{{ " + asked.format(verb) + " }}" for verb in (
        "survey.lead", 'tally("1.unroll")',
        'number("speedup", "csrl", over="textbook", where={"threads": 1}) | about'))
    assert page(root, survey, template).splitlines()[1] == (
        "example-2c on every machine that could tell (1) 2.2")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('# T\n\n{{ of("other").machine() }}', '3: of: no experiment "other"'),
        ('{{ of("spmv-demo").number("speedup", "unrol4", over="textbook") }}',
         '1: no variant "unrol4"'),
        ("{{ sumary() }}", "1: 'sumary' is undefined"),
        ("\n{{ summary( }}", "2: "),
    ],
)
def test_errors_name_the_line(root: Path, survey: Survey, template: str, said: str) -> None:
    with pytest.raises(UserError, match=f"^{front.TEMPLATE}:{said}"):
        page(root, survey, template)


def test_what_its_lead_machine_has_not_measured_is_an_error(root: Path, survey: Survey) -> None:
    elsewhere = Survey(survey.experiment, "nowhere", survey.found)
    with pytest.raises(UserError, match='of: nowhere has no result of "spmv-demo"'):
        page(root, elsewhere, '{{ of("spmv-demo").machines() }}')


def test_a_tree_without_a_template_has_no_front_page(root: Path, survey: Survey) -> None:
    (root / front.TEMPLATE).unlink()
    assert front.front_page(root, [survey]) == {}


def test_own_targets_are_not_counted_among_claims(root: Path, survey: Survey) -> None:
    toml = survey.experiment.folder / "experiment.toml"
    text = toml.read_text(encoding="utf-8").replace('id = "1.unroll"\narticle = 1',
                                                    'id = "1.unroll"\narticle = 0')
    toml.write_text(text, encoding="utf-8")
    own = Survey(definition.load(root, synthetic.NAME), MACHINE, survey.found)
    assert "Of 3 claims, 1 holds" in page(root, own, "{{ summary() }}")


def test_the_front_page_counts_as_the_scorecard_does(root: Path, survey: Survey) -> None:
    """What is arithmetic is told apart on both."""
    first, *others = survey.experiment.claims
    claims = (replace(first, kind="arithmetic"), *others)
    mixed = replace(survey, experiment=replace(survey.experiment, claims=claims))
    scored = scored_page([mixed], [MACHINE])
    for text in (page(root, mixed, "{{ summary() }}"), scored):
        assert "Of 3 claims, 1 holds on every machine" in text


def test_the_page_on_the_library_names_headers_and_options_that_exist() -> None:
    root = Path(__file__).parents[3]
    text = (root / "memwall/pages/site/library.md").read_text(encoding="utf-8")
    headers = re.findall(r"<([a-z_/]+\.hpp)>", text)
    assert headers
    assert [name for name in headers if not (root / "lib" / name).is_file()] == []
    declared = "".join((root / "lib" / name).read_text(encoding="utf-8")
                       for name in (*headers, "dense/matrix.hpp", "dense/gpu/gemm.hpp"))
    options = re.findall(r"[{ ]\.(\w+) = ", text)
    assert options
    assert [name for name in options if f" {name} = " not in declared] == []

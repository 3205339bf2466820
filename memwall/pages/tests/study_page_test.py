"""The page of a study: nothing blank, nothing cut off, and a browser that has nothing to complain
of."""

import importlib.util
import json
import re
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType

import pytest

from memwall.figures import study as figures
from memwall.pages import study as page
from memwall.record import studies
from memwall.record.errors import UserError
from memwall.record.studies import Anatomy, Study, StudyRun, TriedKernel
from memwall.study import findings
from memwall.tests import made_up

BROWSER = Path(__file__).resolve().parents[3] / ".ci/browser.py"
WIDTH = 1040


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return made_up.study(tmp_path)


def browser() -> ModuleType:
    spec = importlib.util.spec_from_file_location("browser", BROWSER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_section_says_something(study: Study) -> None:
    text = page.study_page(study)
    for title in ("In short", "Structure", "What each format stores", "How fast, against the bound",
                  "What the plan chose", "Ranks: what partitions cost", "Runs"):
        assert f"<h2>{title}</h2>" in text
    assert text.count("<img ") == 4  # structure, one ranking, imbalance, what travels
    shown = re.sub(r'src="[^"]*"', "", text)
    assert not re.search(r"\b(None|nan|inf)\b", shown)
    assert "csrl: few runs, ready after 3 ms" in text


def test_what_failed_is_named(study: Study) -> None:
    text = page.study_page(study)
    assert "<code>broken</code> on 1 thread <strong>failed</strong>" in text


def test_a_matrix_without_rows_has_a_page(study: Study) -> None:
    empty = Anatomy(spy_rows=0, spy_columns=0, spy=(), row_lengths=(), run_lengths=(),
                    distances=(), lower_bandwidth=0, upper_bandwidth=0)
    text = page.study_page(replace(study, anatomy=empty, partitions=()))
    assert "One row cannot be shared" in text


def test_products_until_a_conversion_pays() -> None:
    times = {"csr": (2.0, 1.0), "fast": (1.5, 3.1), "slow": (2.5, 3.1)}
    cases = [made_up.product("m", variant=name, seconds=seconds, setup_seconds=setup)
             for name, (seconds, setup) in times.items()]
    found = {each.variant: each.products_until_paid for each in findings.conversions(cases, 2)}
    assert found == {"csr": 0, "fast": 5, "slow": None}


@pytest.mark.parametrize(("power", "label"), [(0, "0"), (1, "1"), (4, "8"), (11, "1k"),
                                              (21, "1M")])
def test_labels_of_sizes(power: int, label: str) -> None:
    assert figures.size_label(power) == label


def test_chromium_shows_a_study(study: Study, tmp_path: Path) -> None:
    driver = browser()
    if driver.missing():
        pytest.skip(driver.missing())
    file = tmp_path / "index.html"
    file.write_text(page.study_page(study), encoding="utf-8")
    with driver.chromium(WIDTH, 800) as tab:
        for scheme in ("light", "dark"):
            driver.prefer(tab, scheme)
            assert driver.visit(tab, file.as_uri()) == []
            assert tab.execute_script("return document.documentElement.scrollWidth") <= WIDTH
            widths = tab.execute_script("return [...document.images].map(i => i.naturalWidth)")
            assert widths and all(width > 500 for width in widths)


def test_a_busy_machine_is_told_before_the_page_is_read() -> None:
    quiet, unknown, busy = (StudyRun("e", "2026-01-01", 21, noise, ())
                            for noise in (0.01, None, 2.0))
    assert studies.busy([quiet, unknown]) == []
    (said,) = studies.busy([quiet, busy])
    assert said.startswith("The machine was busy: two timings")


def test_a_page_is_drawn_of_what_another_machine_wrote(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    studies.write(study, file)
    assert studies.read(file) == study
    assert page.draw(file).read_text(encoding="utf-8") == page.study_page(study)
    tried = TriedKernel("mine", "mine.cu", "spmv-gpu-variants", study.machine, (), study.runs,
                        "__global__ void <mine>")
    studies.write(tried, file)
    assert studies.read(file) == tried
    assert "void &lt;mine&gt;" in page.draw(file).read_text(encoding="utf-8")


NO_SCHEMA = 'found no "schema", expected study.json or try.json'
OTHERS = {
    "{": "not JSON",
    "{}": NO_SCHEMA,
    "[1]": NO_SCHEMA,
    "5": NO_SCHEMA,
    '{"source": ""}': NO_SCHEMA,
    '{"schema": 99}': "found 99, expected 1: another version of memwall wrote it",
    '{"schema": "\\u001b[31m"}': "another version",
    '{"schema": 1, "source": {}, "rankings": 3}': 'found no "name", expected one',
    '{"schema": 1, "rows": NaN}': "found NaN, expected a finite number",
    '{"schema": 1, "rows": 1e999}': "found inf, expected a finite number",
    '{"schema": 1, "rows": 1e-300}': "found 1e-300, expected 0 or a number of magnitude",
    '{"schema": 1, "rows": 1e300}': "found 1e.300, expected 0 or a number of magnitude",
    "9" * 5000: "not JSON",
    "[" * 50_000: "not JSON",
}


@pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
def test_another_file_is_one_line(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=rf"other\.json.*{OTHERS[text]}") as caught:
        page.draw(file)
    assert str(caught.value).isprintable()


#: One value of a study by its place, something else, and what is said of that.
SPOILT = {
    ("machine", "cores"): ("two", '$.machine.cores: found "two", expected a whole number'),
    ("machine", "gpus"): ({}, "$.machine.gpus: found {}, expected a list"),
    ("features", "mean_row"): (True, "$.features.mean_row: found true, expected a number"),
    ("partitions", 0, "way"): ("dealt", '$.partitions[0].way: found "dealt", expected one of'),
    ("rankings", 0, "cases", 1, "seconds"): ("1", 'cases[1].seconds: found "1", expected a number'),
    ("rankings", 0, "cases", 1, "of_bound_interval"): ([1.0], "found [1.0], expected a list of 2"),
    ("anatomy", "depth"): (1, '$.anatomy: found the key "depth", expected only spy_rows, '),
    ("graph",): (None, "$.graph: found null, expected an object"),
}


@pytest.mark.parametrize("place", SPOILT, ids=str)
def test_what_is_no_study_is_told_by_its_place(place: tuple[str | int, ...], study: Study,
                                               tmp_path: Path) -> None:
    value, said = SPOILT[place]
    file = tmp_path / "study.json"
    studies.write(study, file)
    told = at = json.loads(file.read_text(encoding="utf-8"))
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    file.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(UserError, match=rf"study\.json: .*{re.escape(said)}"):
        page.draw(file)


def test_what_strangers_wrote_is_text(study: Study, tmp_path: Path) -> None:
    """Every text of a study is hostile at once; a page that needs a word it lacks says so."""
    hostile = "<script>alert(1)</script>\x1b[31m\u202e&lt;\"'>"
    words = {"experiment", "file", "name", "processor", "compiler", "explain", "reason", "utc",
             "precision", "kind", "partitioner", "best_format", "unit", "group", "missing"}

    def spoiled(node: object, key: str = "") -> object:
        if isinstance(node, dict):
            return {name: spoiled(value, name) for name, value in node.items()}
        if isinstance(node, tuple):
            return [spoiled(value, key) for value in node]
        return hostile if key in words and isinstance(node, str) else node

    study = replace(study, machine=replace(study.machine, gpus=(hostile,)))
    file = tmp_path / "study.json"
    file.write_text(json.dumps(spoiled({"schema": 1, **asdict(study)})), encoding="utf-8")
    text = page.draw(file).read_text(encoding="utf-8")
    assert "<script" not in text and "\x1b" not in text and "\u202e" not in text
    assert text.count("&lt;script&gt;") > 10


def test_a_case_without_a_bound_has_no_share(study: Study) -> None:
    """As where no ceiling was measured."""
    (ranking,) = study.rankings
    cases = tuple(replace(case, of_bound=None, of_bound_interval=None) for case in ranking.cases)
    formats = tuple(replace(each, stored_bytes=0) for each in study.formats)
    text = page.study_page(replace(study, rankings=(replace(ranking, cases=cases),),
                                   formats=formats))
    assert "unknown of the memory bound" in text

"""The page of a study: nothing blank, nothing cut off, and a browser that has nothing to complain
of."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from study import figures, findings, page
from study.tests import made_up
from weave.definition import WeaveError

BROWSER = Path(__file__).resolve().parents[3] / ".ci/browser.py"
WIDTH = 1040


@pytest.fixture
def study(tmp_path: Path) -> made_up.Json:
    return made_up.study(tmp_path)


def browser() -> ModuleType:
    spec = importlib.util.spec_from_file_location("browser", BROWSER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_section_says_something(study: made_up.Json) -> None:
    text = page.study_page(study)
    for title in ("In short", "Structure", "What each format stores", "How fast, against the bound",
                  "What the plan chose", "Ranks: what partitions cost", "Runs"):
        assert f"<h2>{title}</h2>" in text
    assert text.count("<img ") == 4  # structure, one ranking, imbalance, what travels
    shown = re.sub(r'src="[^"]*"', "", text)
    assert not re.search(r"\b(None|nan|inf)\b", shown)
    assert "csrl: few runs, ready after 3 ms" in text


def test_what_failed_is_named(study: made_up.Json) -> None:
    text = page.study_page(study)
    assert "<code>broken</code> on 1 thread <strong>failed</strong>" in text


def test_is_json(study: made_up.Json) -> None:
    assert json.loads(json.dumps(study, allow_nan=False))["name"] == "mine"


def test_a_matrix_without_rows_has_a_page(study: made_up.Json) -> None:
    empty = {"spy_rows": 0, "spy_columns": 0, "spy": [], "row_lengths": [], "run_lengths": [],
             "distances": []}
    study["anatomy"] |= empty
    study["partitions"] = []
    assert "One row cannot be shared" in page.study_page(study)


def test_products_until_a_conversion_pays() -> None:
    point = {"experiment": "e", "target": "host", "threads": 1, "precision": "fp64",
             "stored_bytes": 8.0, "group": "format"}
    csr = {**point, "variant": "csr", "seconds": 2.0, "setup_seconds": 1.0}
    fast = {**point, "variant": "fast", "seconds": 1.5, "setup_seconds": 3.1}
    slow = {**point, "variant": "slow", "seconds": 2.5, "setup_seconds": 3.1}
    found = {each["variant"]: each["products_until_paid"]
             for each in findings.conversions([csr, fast, slow], 2)}
    assert found == {"csr": 0, "fast": 5, "slow": None}


@pytest.mark.parametrize(("power", "label"), [(0, "0"), (1, "1"), (4, "8"), (11, "1k"),
                                              (21, "1M")])
def test_labels_of_sizes(power: int, label: str) -> None:
    assert figures.size_label(power) == label


def test_chromium_shows_a_study(study: made_up.Json, tmp_path: Path) -> None:
    driver = browser()
    if driver.program() is None:
        pytest.skip(f"no {driver.NAME} here: {driver.INSTALL}")
    file = tmp_path / "index.html"
    file.write_text(page.study_page(study), encoding="utf-8")
    with driver.Browser(WIDTH, 800) as tab:
        for scheme in ("light", "dark"):
            tab.prefer(scheme)
            assert tab.open(file.as_uri()) == []
            assert tab.evaluate("document.documentElement.scrollWidth") <= WIDTH
            widths = tab.evaluate("[...document.images].map(image => image.naturalWidth)")
            assert widths and all(width > 500 for width in widths)


def test_a_busy_machine_is_told_before_the_page_is_read() -> None:
    quiet, busy = {"noise_floor": 0.01}, {"noise_floor": 2.0}
    assert findings.busy([quiet, {"noise_floor": None}]) == []
    (said,) = findings.busy([quiet, busy])
    assert said.startswith("The machine was busy: two timings")


def test_a_page_is_drawn_of_what_another_machine_wrote(study: made_up.Json, tmp_path: Path) -> None:
    file = tmp_path / "study.json"
    file.write_text(json.dumps(study), encoding="utf-8")
    assert page.draw(file).read_text(encoding="utf-8") == page.study_page(study)
    tried = {"name": "mine", "file": "mine.cu", "experiment": "spmv-gpu-variants",
             "machine": study["machine"], "rankings": [], "runs": study["runs"],
             "source": "__global__ void <mine>"}
    file.write_text(json.dumps(tried), encoding="utf-8")
    assert "void &lt;mine&gt;" in page.draw(file).read_text(encoding="utf-8")


@pytest.mark.parametrize("text", ["{}", "[1]", '{"source": ""}'])
def test_another_file_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(WeaveError, match=r"other\.json: found \w+: .*, expected study\.json"):
        page.draw(file)

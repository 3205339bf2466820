"""The page of `just figures`: each figure of the articles once, of whose numbers it is made, and
CSV that holds what its charts show."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from memwall.conftest import Store
from memwall.pages import articles, book
from memwall.pages.survey import OnMachine
from memwall.pages.tests.articles_test import ARTICLES
from memwall.pages.tests.book_test import run, second_machine
from memwall.record import definition, results, sources
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

ROOT = sources.REPOSITORY
LISTED = """
[[figure]]
id = "1.serial"
line = 74
[[figure.number]]
what = "Unrolled"
line = 75
value = "1.5 GFLOP/s"
machine = "A1"
metric = "gflops"
variant = "unroll4"
where = { matrix = "fem3", precision = "fp64", threads = 1 }
[[figure.number]]
what = "How often unrolling helps"
line = 76
value = "mostly"
claim = "1.unroll"
[[figure.number]]
what = "A wish"
line = 77
value = "42"
[[figure]]
id = "demo.threads"
line = 80
"""
HERE = "other-2c"


@pytest.fixture
def house(root: Path, raw: Json, store: Store) -> Path:
    """A tree whose lead machine has measured."""
    (root / articles.LIST).write_text(LISTED)
    store(raw)
    return root


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def shown(spec: Any) -> list[dict[str, Any]]:
    """All values that a specification draws as dots, bars or points of lines."""
    if isinstance(spec, list):
        return [row for part in spec for row in shown(part)]
    if not isinstance(spec, dict):
        return []
    mine = [row for row in spec.get("data", {}).get("values", []) if "samples" in row]
    return mine + [row for part in spec.values() for row in shown(part)]


def test_the_list_has_every_figure_in_the_order_of_the_articles() -> None:
    listed = articles.listed(ROOT)
    told = re.findall(r"`(\d\.[a-z-]+)`", ARTICLES)
    assert sorted(one.id for one in listed) == sorted(told)
    places = [(one.article, one.line) for one in listed if one.article != "2"]
    assert places == sorted(places)


def test_what_stands_beside_a_number_was_measured_on_a_lead_machine() -> None:
    experiments = {one.name: one for one in definition.load_all(ROOT)}
    owner = {figure.id: one for one in experiments.values() for figure in one.figures}
    tree = sources.read_tree(ROOT)
    runs: dict[str, OnMachine] = {}
    for one in articles.listed(ROOT):
        for number in one.numbers:
            experiment = experiments.get(number.experiment, owner[one.id])
            lead = owner[one.id].figure(one.id).draw.get("machine", experiment.lead) or "*"
            path = min(ROOT.glob(f"reports/{lead}/results/{experiment.name}.json"))
            if experiment.name not in runs:
                runs[experiment.name] = book.on_machine(
                    lead, results.load(path), experiment, tree, "", partial=False)
            assert articles.value(runs[experiment.name], number), (one.id, number.what)


def test_a_machine_that_measured_shows_its_own(house: Path, store: Store) -> None:
    store(second_machine(), HERE)
    texts = articles.weave(house, HERE)
    page = texts["README.md"]
    assert f"Measured on `{HERE}`, this machine." in page and "as this machine" not in page
    assert re.search(rf"\| Unrolled \| 1.5 GFLOP/s \(A1\), L75 \| [\d.]+ GFLOP/s \| `{HERE}` \|",
                     page)
    assert re.search(r"\| How often unrolling helps \| mostly, L76 \| .+ \(\w.*\) \|", page)
    assert "| A wish | 42, L77 | in the article only |  |" in page
    assert page.count(articles.DRAWN_ONLY) == 1
    assert page.index("1.serial, L74") < page.index("demo.threads, L80")


def test_csv_has_what_the_figure_shows(house: Path) -> None:
    texts = articles.weave(house, synthetic.MACHINE)
    for stem in ("demo-serial", "demo-threads"):
        spec = json.loads(texts[f"figures/{stem}.vl.json"])
        drawn = {(row["name"], row["value"], row["low"], row["high"]) for row in shown(spec)}
        table = rows(texts[f"{stem}.csv"])
        told = {(row["name"], float(row["value"]), float(row["low"]), float(row["high"]))
                for row in table if row["value"]}
        assert told == drawn and len(drawn) > 5
        assert len(table) == len({tuple(row.values()) for row in table})
    assert rows(texts["demo-threads.csv"])[0]["measure"] == "rate (GFLOP/s)"
    assert {row["panel"] for row in rows(texts["demo-serial.csv"])} == {*synthetic.MATRICES}
    assert "](demo-serial.csv)" in texts["README.md"]


def test_what_has_not_been_measured_is_the_lead_machines(house: Path) -> None:
    page = articles.weave(house, HERE)["README.md"]
    assert f"`{HERE}`, this machine, has measured nothing yet" in page
    said = f"Measured on `{synthetic.MACHINE}`, as this machine has not measured it."
    assert page.count(said) == 2


def test_what_cannot_be_measured_says_why(house: Path) -> None:
    path = house / f"experiments/{synthetic.NAME}/experiment.toml"
    path.write_text(path.read_text().replace("needs = []", 'needs = ["cuda"]', 1))
    facts = synthetic.result()["machine"]
    page = articles.weave(house, HERE, facts)["README.md"]
    assert "as this machine cannot measure it (needs a GPU)." in page


def test_a_noisy_machine_is_in_no_figure(house: Path, store: Store) -> None:
    noisy = second_machine()
    for twin in (case for case in noisy["cases"] if case["twin"]):
        twin["samples_s"] = [3 * seconds for seconds in twin["samples_s"]]
    store(noisy, HERE)
    page = articles.weave(house, HERE)["README.md"]
    assert re.search(rf"`{synthetic.MACHINE}`, as this machine's noise floor, \d+ %, is too high",
                     page)


def test_a_figure_that_no_experiment_draws_is_named(house: Path) -> None:
    (house / articles.LIST).write_text('[[figure]]\nid = "9.none"\nline = 1\n')
    with pytest.raises(UserError, match='found the figure "9.none", expected one of'):
        articles.weave(house, HERE)


def test_the_command_writes_below_build(house: Path) -> None:
    before = {path for path in house.rglob("*") if path.is_file()}
    done = run(house, "figures", synthetic.MACHINE)
    assert done.returncode == 0 and done.stdout.endswith("build/figures/README.md\n")
    made = {path for path in house.rglob("*") if path.is_file()} - before
    assert {path.relative_to(house).parts[:2] for path in made} == {("build", "figures")}
    assert {"README.md", "demo-serial.csv"} <= {path.name for path in made}
    for name, why in (("nosuch", "found nosuch, expected a machine's folder"),
                      ("../x", "expected lower-case words")):
        refused = run(house, "figures", name)
        assert refused.returncode == 2 and why in refused.stderr

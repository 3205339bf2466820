"""Every committed machine's own pages are woven, and those of a machine that is made up of doubts:
what is wrong about one of its cases stops no page."""

import copy
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from memwall.figures import drawings, sheet
from memwall.pages import book
from memwall.pages.book import House
from memwall.pages.survey import OnMachine
from memwall.pages.tests.book_test import run
from memwall.record import machines, results
from memwall.record.results import Json
from memwall.record.sources import REPOSITORY
from memwall.tests import synthetic

pytestmark = pytest.mark.xdist_group("committed")
Page = Callable[[str], str]


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is drawn is laid out, not written; what explains says nothing of a machine."""
    monkeypatch.setattr(sheet, "saved", lambda spec, title, about: "<svg/>")
    for name in drawings.DRAWINGS:
        monkeypatch.setitem(drawings.DRAWINGS, name, lambda question, about: "<svg/>")


def chosen(committed: House, machine: str) -> list[OnMachine]:
    """Runs of a machine: its first one, those about which anything is doubtful, and those of an
    experiment that no later machine has."""
    last = {one.result.experiment: one for each in committed.machines
            for one in committed.of_machine(each)}
    found = committed.of_machine(machine)
    return [one for one in found
            if one is found[0] or one.measured.doubts or one is last[one.result.experiment]]


@pytest.fixture(scope="module")
def page(committed: House) -> Page:
    """The page of a committed run, of the name of its file; each is woven once."""

    @cache
    def woven(shown: str) -> str:
        (one,) = (each for each in committed.found if each.shown == shown)
        (text,) = (text for name, text in book.machine_report(committed, one).items()
                   if name.endswith(".md"))
        return text

    return woven


@pytest.mark.parametrize("machine", machines.listed(REPOSITORY))
def test_a_committed_machine_is_reported(machine: str, committed: House, page: Page) -> None:
    for one in chosen(committed, machine):
        assert page(one.shown)


@pytest.mark.large
@pytest.mark.parametrize("machine", machines.listed(REPOSITORY))
def test_every_run_of_a_committed_machine_is_reported(machine: str, committed: House, page: Page
                                                      ) -> None:
    for one in committed.of_machine(machine):
        assert page(one.shown)


def test_each_experiment_is_reported_somewhere(committed: House) -> None:
    found = {one.result.experiment for machine in committed.machines
             for one in chosen(committed, machine)}
    assert found == {experiment.name for experiment in committed.experiments}


def test_what_is_doubtful_is_marked_on_its_page(page: Page) -> None:
    """The machine whose report ended without a page, because of one case at 112 % of a ceiling."""
    text = page("reports/amd-epyc-2c/results/spmv-plan@nine-classes.json.gz")
    assert ("Doubtful, and counted in no verdict: `eigen` at sten27 fp64 threads=2: 112 % of the"
            " fastest pass of read") in text


def test_ceilings_are_told_as_rates_of_which_there_is_no_share(page: Page) -> None:
    text = page("reports/amd-epyc-zen4-2c/results/machine-ceilings.json")
    assert "| GB/s: variant \\ threads |" in text
    assert "| time of a call, divided by its operations [ns]: variant | value |" in text
    assert not re.search(r"^\| `\w+` \|.*%\)", text, re.MULTILINE)


# --- a machine that is made up --------------------------------------------------------------------


def _no_ceilings(raw: Json) -> None:
    raw["ceilings"] = []


def _no_ceiling_of_one_launch(raw: Json) -> None:
    raw["ceilings"] = [probe for probe in raw["ceilings"] if probe["launch"] == 0]


def _a_probe_of_nothing(raw: Json) -> None:
    for probe in raw["ceilings"]:
        probe |= {"bytes": 0, "flops": 0}


def _no_work(raw: Json) -> None:
    for case in raw["cases"]:
        case["work"] = {"flops": 0, "bytes": 0}


def _no_work_at_one_point(raw: Json) -> None:
    for case in raw["cases"]:
        if case["parameters"]["matrix"] == "fem3":
            case["work"] = {"flops": 0, "bytes": 0}


def _an_empty_matrix(raw: Json) -> None:
    raw["datasets"]["fem3"]["features"] = {"rows": 0, "nonzeros": 0, "mean_row": 0}


def _no_features(raw: Json) -> None:
    for dataset in raw["datasets"].values():
        dataset["features"] = {}


def _no_data(raw: Json) -> None:
    raw["datasets"] = {}


def _all_failed(raw: Json) -> None:
    for case in raw["cases"]:
        case |= {"verdict": {"status": "failed", "reason": "y[0] is 1"}, "samples_s": [],
                 "iterations": 0}


def _one_launch_failed(raw: Json) -> None:
    for case in raw["cases"]:
        if case["launch"] == 1:
            case |= {"verdict": {"status": "failed", "reason": "y[0] is 1"}, "samples_s": [],
                     "iterations": 0}


def _a_launch_died(raw: Json) -> None:
    raw["cases"] = [case for case in raw["cases"] if case["launch"] == 0]
    raw["skipped"] = [{"study": case["study"], "launch": 1, "parameters": case["parameters"],
                       "reason": "killed by SIGSEGV"} for case in raw["cases"][:1]]
    raw["ceilings"] = [probe for probe in raw["ceilings"] if probe["launch"] == 0]


def _two_launches_alike(raw: Json) -> None:
    raw["launches"][1] = copy.deepcopy(raw["launches"][0])


def _too_fast(raw: Json) -> None:
    synthetic.scale(raw, "textbook", 0.1)


def _a_variant_is_missing(raw: Json) -> None:
    synthetic.drop(raw, "csrl")


def _one_matrix(raw: Json) -> None:
    for name in ("cases", "skipped"):
        raw[name] = [one for one in raw[name] if one["parameters"]["matrix"] == "random"]


def _nothing(raw: Json) -> None:
    raw |= {"cases": [], "skipped": [], "excerpts": {}, "ceilings": []}


def _counts_of_zero(raw: Json) -> None:
    for case in raw["cases"]:
        case["setup"] |= {"stored_bytes": 0, "counts": {"moved_bytes": 0}}


DOUBTS: tuple[Callable[[Json], None], ...] = (
    _no_ceilings, _no_ceiling_of_one_launch, _a_probe_of_nothing, _no_work, _no_work_at_one_point,
    _an_empty_matrix, _no_features, _no_data, _all_failed, _one_launch_failed, _a_launch_died,
    _two_launches_alike, _too_fast, _a_variant_is_missing, _one_matrix, _nothing, _counts_of_zero)
#: Claims that ask for what such a machine may lack.
ASKING = """
[[claim]]
id = "1.counted"
article = 1
line = 1
sentence = "…"
says = "It moves fewer bytes."
kind = "direction"
[[claim.condition]]
less = "csrl"
than = "textbook"
of = "moved_bytes"
[[claim]]
id = "1.stored"
article = 1
line = 1
sentence = "…"
says = "It stores less."
kind = "direction"
[[claim.condition]]
less = "csrl"
than = "unroll4"
of = "stored_bytes"
[[claim]]
id = "1.share"
article = 1
line = 1
sentence = "…"
says = "It reaches much."
kind = "magnitude"
[[claim.condition]]
value = "of_ceiling"
of = "csrl"
ceiling = ["read", "triad"]
at_least = 0.1
[[claim.condition]]
more = "csrl"
than = { variant = "csrl", threads = 1 }
of = "of_ceiling"
where = { threads = "max" }
"""
#: The chapter's machine is named, or the first one that measured.
BESIDE = [*((doubt, True) for doubt in DOUBTS),
          *((doubt, False) for doubt in (_a_variant_is_missing, _no_ceilings, _nothing))]


@pytest.mark.parametrize(("doubt", "has_lead"), BESIDE,
                         ids=[f"{doubt.__name__}-{named}" for doubt, named in BESIDE])
def test_a_made_up_machine_is_reported(tmp_path: Path, doubt: Callable[[Json], None],
                                       has_lead: bool) -> None:
    """`report` weaves it, beside a machine that lacks nothing, and so does `check`."""
    root = synthetic.repository(tmp_path)
    chapter = root / f"experiments/{synthetic.NAME}"
    definition = (chapter / "experiment.toml").read_text(encoding="utf-8") + ASKING
    if not has_lead:
        definition = definition.replace('lead = "example-2c"', 'lead = ""')
    (chapter / "experiment.toml").write_text(definition)
    lead = synthetic.result(rounds=9)
    for case in lead["cases"]:
        case["work"]["operations"] = 5
        case["setup"] |= {"counts": {"moved_bytes": 7}, "operand_bytes": 9}
    raw = copy.deepcopy(lead)
    raw["machine"]["slug"] = "made-up"
    doubt(raw)
    for machine, one in (("example-2c", lead), ("made-up", raw)):
        results.write(one, root / f"reports/{machine}/results/{synthetic.NAME}.json")
    (root / machines.LIST).write_text("example-2c\nmade-up\n")
    done = run(root, "report", "made-up")
    assert (done.returncode, done.stderr) == (0, "")
    assert (root / f"build/reports/made-up/{synthetic.NAME}.md").stat().st_size > 3000
    if doubt is _nothing:  # the same pages again
        done = run(root, "check")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout

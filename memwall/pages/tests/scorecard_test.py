"""The scorecard's blocks and numbers, and the short page of a machine, against counts by hand."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.analysis import simulation
from memwall.analysis.basis import Basis
from memwall.analysis.cells import measure
from memwall.analysis.measurements import Measurements
from memwall.analysis.numerics import Estimate
from memwall.pages import machine_page, scorecard
from memwall.pages.survey import OnMachine, Survey
from memwall.record import files, results
from memwall.record.definition import Claim, Condition
from memwall.record.results import Json
from memwall.tests import synthetic

LEAD, SLOW = "example-2c", "slow-2c"
DASH = f"{scorecard.NO_BREAK}–{scorecard.NO_BREAK}"  # where no line ends
Measure = Callable[..., Measurements]


def claim(id: str, expect: float, article: int = 0, kind: str = "magnitude") -> Claim:
    """`csrl` is so many times as fast as `textbook`; of arithmetic: needs so many times less."""
    of = ("stored_bytes", "bytes_as_csr") if kind == "arithmetic" else None
    than = ("csrl",) if of else ("textbook",)
    condition = Condition(("csrl",), than, expect, {}, of=of)
    return Claim(id, article, f"Says {id}.", f"Short {id}", kind, False, (), (condition,))


@pytest.fixture
def survey(measured: Measure, raw: Json) -> Survey:
    """Two machines: `csrl` is 2.22 times as fast, on the second one between 1.9 and 2.3 times."""
    for entry in raw["cases"]:
        if entry["variant"] == "csrl":
            entry["setup"] |= {"stored_bytes": 600, "counts": {"bytes_as_csr": 900}}
    slow = copy.deepcopy(raw)
    slow["machine"]["slug"] = SLOW
    for entry in slow["cases"]:
        if entry["variant"] == "csrl":
            entry["samples_s"] = [s * (0.97 if k % 2 else 1.17)
                                  for k, s in enumerate(entry["samples_s"])]
    found = (OnMachine(LEAD, measured(raw)), OnMachine(SLOW, measured(slow)))
    return Survey(found[0].measured.experiment, LEAD, found)


def scored_page(surveys: Sequence[Survey], machines: Sequence[str],
                lines: Sequence[Json] = ()) -> str:
    """The scorecard of experiments that are chapters in the order given."""
    numbers = {survey.experiment.name: at for at, survey in enumerate(surveys, 1)}
    return scorecard.page(surveys, machines, lines, numbers)


def with_claims(survey: Survey, *claims: Claim) -> Survey:
    return replace(survey, experiment=replace(survey.experiment, claims=claims))


def block(page: str, title: str) -> str:
    """A section of the page."""
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0]


def lead(symbol: str) -> str:
    return f"<ins>{symbol}</ins>"


def row(text: str, words: str) -> list[str]:
    """The cells behind the first one of the line that has some words."""
    line = next(line for line in text.splitlines() if words in line)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    return cells[next(k for k, cell in enumerate(cells) if words in f"| {cell} |") + 1:]


def test_articles_targets_and_arithmetic_have_a_block_each(survey: Survey) -> None:
    mixed = with_claims(survey, claim("1.two", 1.5, article=1), claim("demo.two", 1.5),
                        claim("1.bytes", 1.4, article=1, kind="arithmetic"))
    page = scored_page([mixed], [LEAD, SLOW])
    articles, own = block(page, "Claims of the articles"), block(page, "Our own targets")
    assert "Of 1 claim, 1 holds on every machine" in articles
    assert "Of 1 target, 1 holds on every machine" in own
    arithmetic = block(page, "Arithmetic")
    for text, id in ((articles, "1.two"), (own, "demo.two"), (arithmetic, "1.bytes")):
        anchor = f"#claim-{id.replace('.', '-')}"
        assert f"[Short {id}](../experiments/spmv-demo/report.md{anchor})" in text
        assert page.count(f"[Short {id}]") == 1
    assert "✓ [Short 1.bytes]" in arithmetic and ") 1.50x" in arithmetic


def test_a_block_without_claims_is_left_out(survey: Survey) -> None:
    page = scored_page([with_claims(survey, claim("1.two", 1.5, article=1))], [LEAD, SLOW])
    assert "Our own targets" not in page and "## Arithmetic" not in page


def measured_on(survey: Survey, machine: str) -> Estimate:
    """How many times as fast `csrl` is there as the textbook's loop."""
    one = next(one for one in survey.runs() if one.machine == machine)
    found = measure(Basis(one.measured, "textbook"), "speedup", "csrl", {}).estimate
    assert found
    return found


def test_symbols_the_leads_number_and_the_range(survey: Survey) -> None:
    page = scored_page(
        [with_claims(survey, claim("1.holds", 1.5, article=1), claim("1.fails", 3, article=1),
                     claim("1.differs", 2.2, article=1))], [LEAD, SLOW])
    assert row(page, "| claim |") == ["A", "B", "lead, range"]
    low, high = (measured_on(survey, name) for name in (SLOW, LEAD))
    told = f"2.22, {low.value:.2f}{DASH}{high.value:.2f}"
    assert row(page, "Short 1.holds") == [lead("✓"), "✓", told]
    assert row(page, "Short 1.fails") == [lead("≈"), "≈", told]
    assert row(page, "Short 1.differs") == [lead("✓"), "?", "2.22"]  # one alone is no range


def test_what_is_undecided_shows_its_interval(survey: Survey) -> None:
    """The middle of an interval across the threshold says nothing."""
    there = replace(with_claims(survey, claim("1.two", 2.1, article=1)), lead=SLOW)
    page = scored_page([there], [LEAD, SLOW])
    found = measured_on(survey, SLOW)
    assert found.low < 2.1 < found.high
    told = f"{found.low:.2f}{DASH}{found.high:.2f}"
    assert row(page, "Short 1.two")[:3] == ["✓", lead("?"), told]


def test_what_is_not_measured_is_named_and_has_no_row(survey: Survey) -> None:
    far = replace(claim("1.far", 1, article=1),
                  conditions=(Condition(("avx512",), ("textbook",), "faster", {}),))
    page = scored_page([with_claims(survey, claim("1.two", 1.5, article=1), far)], [LEAD, SLOW])
    assert "Of 2 claims, 1 holds on every machine that decided them and 1 is not measured" in page
    chapter = "[Serial SpMV](../experiments/spmv-demo/README.md)"
    assert f"Not measured on any machine yet: {chapter} (1)." in page
    assert "Short 1.far" not in page and "Short 1.two" in page


def test_a_count_has_no_range(survey: Survey) -> None:
    """How many matrices gain is no ratio, though the ratio over all is known."""
    most = replace(claim("1.most", 1, article=1),
                   conditions=(Condition(("csrl",), ("textbook",), "most", {},
                                         per=("matrix", "precision")),))
    page = scored_page([with_claims(survey, most)], [LEAD, SLOW])
    assert row(page, "Short 1.most") == [lead("✓"), "✓", "10 of 10"]


def test_a_disturbed_run_does_not_widen_the_range(survey: Survey) -> None:
    asked = with_claims(survey, claim("1.holds", 1.5, article=1))
    apart(asked.found[1].measured.result.raw, [1.6])
    loud = replace(asked, found=(asked.found[0],
                                 OnMachine(SLOW, _again(asked.found[1].measured,
                                                        asked.found[1].measured.result.raw))))
    page = scored_page([loud], [LEAD, SLOW])
    assert row(page, "Short 1.holds") == [lead("✓"), "✓", "2.22"]


def test_claims_are_counted_by_what_became_of_them(survey: Survey) -> None:
    """Holds on both, holds on one and is open on the other, fails on both, asked on none."""
    far = Condition(("avx512",), ("textbook",), "faster", {})
    asked = [claim("a", 1.5), claim("b", 2.2), claim("c", 3.0),
             replace(claim("d", 1), conditions=(far,))]
    found = scorecard.counts([with_claims(survey, *asked)], lambda c: c.id != "c")
    assert found == {"hold": 2, "direction": 0, "fail": 0, "differ": 0, "undecided": 0,
                     "unmeasured": 1}
    found = scorecard.counts([with_claims(survey, *asked)] * 2, lambda c: True)
    assert found == {"hold": 4, "direction": 0, "fail": 2, "differ": 0, "undecided": 0,
                     "unmeasured": 2}


def test_one_machine_may_refute_what_another_shows(survey: Survey) -> None:
    slow = survey.found[1].measured.result.raw
    synthetic.scale(slow, "csrl", 3)
    asked = [claim("a", 1.5)]
    again = replace(with_claims(survey, *asked), found=(
        survey.found[0], OnMachine(SLOW, _again(survey.found[1].measured, slow))))
    assert scorecard.counts([again], lambda _: True)["differ"] == 1


def _again(measured: Measurements, raw: Json) -> Measurements:
    return replace(measured, result=results.of(raw, Path("result.json")))


# --- how far the method can be trusted ------------------------------------------------------------


def apart(raw: Json, factors: list[float]) -> None:
    """Makes both sides of the first A/A pairs differ by such factors, all others by none."""
    firsts = {(c["launch"], *c["parameters"].values()): c for c in raw["cases"]
              if c["variant"] == "textbook" and not c["twin"]}
    twins = [c for c in raw["cases"] if c["twin"]]
    for index, twin in enumerate(twins):
        samples = firsts[twin["launch"], *twin["parameters"].values()]["samples_s"]
        factor = factors[index] if index < len(factors) else 1.0
        twin["samples_s"] = [seconds * factor for seconds in samples]


def test_trust_counts_pairs_of_equal_code(measured: Measure, raw: Json) -> None:
    """40 pairs of two machines: two beyond 5 %, one of them below 1; then 4 beyond 3 %, 6 beyond
    1 %."""
    other = copy.deepcopy(raw)
    apart(raw, [1.06, 1.04, 1.02, 1.005])
    apart(other, [1 / 1.06, 1 / 1.04, 1 / 1.02])
    experiment = measured(raw).experiment
    found = tuple(OnMachine(name, measured(one)) for name, one in ((LEAD, raw), (SLOW, other)))
    text = scorecard.trust([Survey(experiment, LEAD, found)])
    assert "All results hold 40 such pairs." in text
    assert ("by more than 1 % in 15 %, by more than 3 % in 10 % and by more than 5 % in 5.0 % of"
            " them." in text)
    assert scorecard.trust([]) == "No result has an A/A pair yet."


def test_the_committed_simulation_is_what_the_code_says_and_its_table(survey: Survey) -> None:
    lines = files.read_json(Path(__file__).parents[3] / "reports/protocol.json")
    protocols, noises = (simulation.OLD, simulation.NEW), simulation.NOISES
    assert [(one["protocol"], one["noise"]) for one in lines] == [
        (protocol.name, noise.name) for noise in noises for protocol in protocols]
    assert max(lines[1]["wrong"] + lines[3]["wrong"]) <= 0.05
    asked = simulation.questions()
    assert len(asked) == len(lines[1]["wrong"])
    at = len(asked) // 2
    again = simulation.line(simulation.NEW, noises[0], simulation.RUNS, asked[at:at + 1])
    assert {rate: again[rate] for rate in ("wrong", "undecided", "agree")} == {
        rate: lines[1][rate][at:at + 1] for rate in ("wrong", "undecided", "agree")}
    text = scored_page([survey], [LEAD, SLOW], lines)
    assert row(text, "three looks at 98.3 %")[1:3] == [
        "0.3 %", f"{100 * max(lines[1]['wrong']):.1f} %"]


def test_trust_counts_a_pair_once_that_two_results_of_a_run_have(
    measured: Measure, raw: Json
) -> None:
    of = OnMachine(LEAD, measured(raw))
    survey = Survey(of.measured.experiment, LEAD, (of,))
    assert "All results hold 20 such pairs." in scorecard.trust([survey, survey])


def test_a_pair_whose_interval_holds_one_does_not_differ(measured: Measure, raw: Json) -> None:
    apart(raw, [])
    for entry in raw["cases"]:
        if entry["twin"]:
            entry["samples_s"] = [s * (1.2 if k % 2 else 0.9) for k, s
                                  in enumerate(entry["samples_s"])]
    of = OnMachine(LEAD, measured(raw))
    text = scorecard.trust([Survey(of.measured.experiment, LEAD, (of,))])
    assert "by more than 1 % in 0.0 %, by more than 3 % in 0.0 %" in text


def test_failed_cases_are_no_pairs(measured: Measure, raw: Json) -> None:
    entry = next(entry for entry in raw["cases"] if entry["twin"])
    entry |= {"verdict": {"status": "failed", "reason": "wrong"}, "samples_s": [], "iterations": 0}
    of = OnMachine(LEAD, measured(raw))
    assert "hold 19 such pairs" in scorecard.trust([Survey(of.measured.experiment, LEAD, (of,))])


# --- the page of a machine ------------------------------------------------------------------------


def test_ceilings_stand_beside_nominal_peaks(measured: Measure, raw: Json) -> None:
    """The best launch of any run counts; a peak without a probe says nothing."""
    raw["machine"]["peaks"] = [
        {"name": "read", "bytes_per_s": 40e9, "source": "2 channels of DDR5"},
        {"name": "write", "bytes_per_s": 20e9, "source": "the same"},
    ]
    faster = synthetic.result(threads=(1,))
    for probe in faster["ceilings"]:
        if probe["name"] == "triad":
            probe |= {"samples_s": [3e8 / 32e9] * 9}
    flops = {"name": "fma", "launch": 0, "target": "host", "when": "before", "bytes": 0,
             "flops": 2e9, "samples_s": [0.1] * 9}
    faster["ceilings"].append(flops)
    found = [OnMachine(LEAD, measured(raw)), OnMachine(LEAD, measured(faster, True), "mine")]
    table = machine_page.ceilings(found)
    rate = found[0].measured.ceilings.one(1, "read").rate.value
    gap = scorecard.JOINED
    assert row(table, "`read`") == [f"{rate / 1e9:.1f}{gap}GB/s", "`01234567`", "40.0",
                                    f"{100 * rate / 40e9:.0f}{gap}%", "2 channels of DDR5"]
    assert row(table, "`triad`") == [f"32.0{gap}GB/s", "`01234567`", "", "", ""]
    assert row(table, "`fma`") == [f"20.0{gap}GFLOP/s", "`01234567`", "", "", ""]
    assert table.index("`read`") < table.index("`triad`") < table.index("`fma`")
    assert "write" not in table


def test_a_machine_without_probes_says_how_to_get_them(measured: Measure, raw: Json) -> None:
    raw["ceilings"] = []
    assert "just run machine-ceilings" in machine_page.ceilings([OnMachine(LEAD, measured(raw))])


def test_the_page_of_a_machine(survey: Survey, tmp_path: Path) -> None:
    mixed = with_claims(survey, claim("1.two", 1.5, article=1), claim("demo.two", 1.5),
                        claim("1.far", 3, article=1))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/spmv-demo.md").write_text("text")
    (tmp_path / "harness.json").write_text(json.dumps(
        {"dot": {"memwall_s": 1.01, "google_benchmark_s": 1.0},
         "sum": {"memwall_s": 0.5, "google_benchmark_s": 0.5}}))
    page = machine_page.page(SLOW, [survey.found[1]], [mixed], tmp_path)
    assert "# slow-2c: Example CPU @ 2.00GHz\n" in page
    assert row(page, "[spmv-demo](../../experiments") == [
        "1 DIRECTION ONLY, 1 HOLDS, 1 REPRODUCED"]
    assert row(block(page, "Runs"), "spmv-demo") == [
        "`01234567`", "2024-05-06", "full", "21", "0.4 %", "–"]
    assert "[spmv-demo](notes/spmv-demo.md)" in page
    assert "ratio of the medians for `dot` and `sum`: 1.01 and 1.00." in page
    bare = machine_page.page(SLOW, [survey.found[1]], [mixed], tmp_path / "nowhere")
    assert "Google Benchmark" not in bare and "Notes of" not in bare

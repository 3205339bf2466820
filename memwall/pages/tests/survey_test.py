"""Verbs over machines: ranges, counts and verdicts on all of them, tables of ceilings, columns that
are numbers."""

import copy
import statistics
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memwall.analysis.measurements import Measurements
from memwall.conftest import Say
from memwall.pages.survey import OnMachine, Survey, _columns, _inputs
from memwall.pages.verbs import Verbs
from memwall.record import definition
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


def test_ceilings_stand_beside_nominal_peaks_where_these_are_known(survey: Survey) -> None:
    head, _, line = survey.ceilings_table(["read"]).splitlines()
    assert head == "| ceiling | unit | **lead-2c** | another-2c |"
    ceilings = survey.found[0].measured.ceilings
    best = max(ceilings.one(launch, "read").rate.value for launch in (0, 1))
    number = f"{best / 1e9:.1f}"
    assert line == f"| `read` | GB/s | {number} | {number} ({100 * best / 40e9:.0f} %) |"


def test_every_ceiling_has_a_row_and_unknown_ones_are_refused(survey: Survey) -> None:
    known = survey.found[0].measured.ceilings.probes(0)
    assert len(survey.ceilings_table().splitlines()) == 2 + len(known)
    with pytest.raises(UserError, match='no machine has measured "flux", only'):
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


def verbs(survey: Survey, machine: str = LEAD) -> Verbs:
    found = next(one for one in survey.runs() if one.machine == machine)
    return Verbs(found.measured, survey, machine, "figures", "reports")


def test_the_lead_machine_comes_first_then_names_by_letters(three: Survey) -> None:
    assert three.machines == [LEAD, SLOW, SMALL]
    assert [one.title for one in three.runs("mine")] == ["mine"]
    assert verbs(three).machines() == "three machines"
    assert "`example-2c`; three machines have run" in verbs(three).numbers_from()
    alone = replace(three, found=three.found[-1:])
    assert verbs(alone).machines() == "one machine"
    assert "one machine has run" in verbs(alone).numbers_from()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "0.80x to 1.25x on three machines"),
        ({"where": {"threads": 2}}, "0.80x to 1.25x on two machines"),
        ({"where": {"threads": "max"}}, "0.80x to 1.25x on three machines"),
        ({"where": {"matrix": "fem3"}}, "0.80x to 1.25x on two machines"),
        ({"run": "mine"}, "3.00x on one machine"),
        ({"variant": "csrl"}, "2.22x on two machines"),
        ({"over": {"threads": 1}, "where": {"threads": 2}}, "2.00x on two machines"),
        ({"variant": "csrl", "over": None, "metric": "of_ceiling",
          "where": {"threads": 1, "precision": "fp64"}}, "92 % to 183 % on two machines"),
    ],
)
def test_across_tells_the_lowest_and_the_highest(
    three: Survey, arguments: dict[str, object], said: str
) -> None:
    """A machine that lacks a variant or an input is left out, kept runs are apart."""
    given = {"variant": "unroll4", "over": "textbook", **arguments}
    assert verbs(three).across(**given) == said  # type: ignore[arg-type]


def test_what_no_machine_has_is_an_error(three: Survey) -> None:
    for call, said in (
        (lambda: verbs(three).across("unrol4", "textbook"), 'no machine has measured "unrol4"'),
        (lambda: verbs(three).across("unroll4", "textbook", {"matrx": "fem3"}), "no machine has"),
        (lambda: verbs(three).across("unroll4", "textbook", run="other"), "no machine has"),
        (lambda: verbs(three).spread("copy"), 'no machine has measured the ceiling "copy"'),
        (lambda: verbs(three).tally("1.unrol"), 'no claim "1.unrol"'),
        (lambda: verbs(three).on("nowhere"), 'on: found "nowhere", expected one of example-2c'),
        (lambda: verbs(three).run("other"), 'run: example-2c has kept no run "other"'),
        (lambda: verbs(three, SLOW).run("mine"), 'run: slow-2c has kept no run "mine"'),
    ):
        with pytest.raises(UserError, match=said):
            call()


def test_spread_tells_the_best_launch_of_each_machine(three: Survey) -> None:
    told = []
    for one in three.runs():
        launches: dict[int, list[float]] = {}
        for probe in one.result.raw["ceilings"]:
            if probe["name"] == "triad":
                rates = [probe["bytes"] / seconds for seconds in probe["samples_s"]]
                launches.setdefault(probe["launch"], []).extend(rates)
        told.append(f"{max(map(statistics.median, launches.values())) / 1e9:.1f}")
    assert verbs(three).spread("triad") == f"{told[0]}, {told[1]} and {told[2]} GB/s"
    assert float(told[0]) == pytest.approx(2 * float(told[1]), rel=0.01)


def test_tally_counts_machines_that_could_tell(three: Survey) -> None:
    """On the small one three matrices are too few."""
    assert three.verdicts["1.unroll"][SMALL].verdict == "UNDECIDED"
    assert verbs(three).tally("1.unroll") == "on 1 of the 2 machines that could tell"
    assert verbs(three).tally("1.restrict") == "on every machine that could tell (3)"
    assert verbs(three).tally("1.csrl") == "on none of the 2 machines that could tell"
    assert verbs(three).tally("1.gathers") == "on none, as no machine could tell"


def test_another_machine_can_be_spoken_of_by_name(three: Survey) -> None:
    there = verbs(three).on(SLOW)
    assert there.speedup("unroll4", over="textbook").startswith("0.80x")
    assert there.verdict("1.unroll") == "NOT REPRODUCED"
    assert verbs(three).verdict("1.unroll") == "REPRODUCED"
    assert "`slow-2c`" in there.numbers_from()


def test_a_kept_run_can_be_spoken_of(three: Survey) -> None:
    assert verbs(three).has_run("mine") and not verbs(three, SLOW).has_run("mine")
    assert not verbs(three).has_run("other")
    assert verbs(three).run("mine").speedup("unroll4", over="textbook").startswith("3.00x")
    assert verbs(three).run("mine").count("matrix") == "1"


def cells_of(table: str, word: str) -> list[str]:
    """The cells of the line that has a word."""
    line = next(line for line in table.splitlines() if word in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_claims_stand_in_a_table_with_what_decided_them(three: Survey) -> None:
    table = three.claims_table()
    assert cells_of(table, "claim of article 1")[1:] == [f"**{LEAD}**", SLOW, SMALL]
    assert cells_of(table, "claim-1-unroll")[1:] == ["✓ 10 of 10", "✗ 0 of 10", "?"]
    assert cells_of(table, "claim-1-restrict")[1:] == ["✓ 1.00", "✓ 1.00", "✓ 1.00"]
    assert cells_of(table, "claim-1-csrl")[0].endswith("CSRL is several times faster (inferred)")
    assert cells_of(table, "claim-1-gathers")[1:] == ["", "", ""]
    assert "our own target" not in table and "hold (✓)" not in table


def test_a_claim_that_fails_shows_what_failed(three: Survey) -> None:
    _, _, csrl, _ = three.experiment.claims
    faster, several = (replace(csrl.conditions[0], expect=word) for word in ("faster", "several"))
    unrolled = replace(faster, faster=("unroll4",))
    asked = tuple(replace(csrl, id=id, conditions=conditions) for id, conditions in
                  (("both", (faster, unrolled)), ("second", (unrolled, several))))
    table = replace(three, experiment=replace(three.experiment, claims=asked)).claims_table()
    assert cells_of(table, "claim-both")[1:3] == ["✓ 2.22, 1.25", "✗ 0.80"]
    assert cells_of(table, "claim-second")[1:3] == ["≈ 2.22", "✗ 0.80"]


def test_the_legend_explains_the_symbols_of_the_table_alone(three: Survey) -> None:
    legend = next(line for line in three.claims_table().splitlines() if line.startswith("<sub>"))
    for symbol, shown in {"✓": True, "✗": True, "≈": True, "?": True, "blank": True,
                          "↻": False}.items():
        assert (symbol in legend) == shown, symbol
    assert "Medians of 21, 21 and 21 rounds." in legend


def test_what_decided_a_claim_on_the_lead_machine_is_folded(three: Survey) -> None:
    folded = three.claims_table().partition("<details>")[2]
    assert "what decided them on example-2c" in folded
    assert "- `1.unroll` **REPRODUCED**: Unrolling four times helps on most matrices." in folded
    assert "faster on 10 of 10 matrices" in folded and "on 0 of 10" not in folded


def test_our_own_targets_have_a_table_of_their_own(three: Survey) -> None:
    first, *others = three.experiment.claims
    own = replace(first, id="demo.unroll", article=0, short="Unrolling pays")
    mixed = replace(three, experiment=replace(three.experiment, claims=(own, *others)))
    table = mixed.claims_table()
    articles, _, targets = table.partition("| our own target |")
    assert "Unrolling pays" in targets and "claim-demo-unroll" in targets
    assert "claim-1-csrl" in articles and "claim-1-csrl" not in targets.partition("<details>")[0]
    assert "✓ reproduced" in articles and "✓ reproduced" not in targets
    assert "✓ holds · ✗ fails" in targets
    assert "- `demo.unroll` **HOLDS**: " in targets
    assert mixed.verdicts["demo.unroll"][SLOW].word == "FAILS"


def test_arithmetic_is_told_once_not_once_a_machine(three: Survey) -> None:
    first, *others = three.experiment.claims
    mixed = replace(three, experiment=replace(
        three.experiment, claims=(replace(first, kind="arithmetic"), *others)))
    table = mixed.claims_table()
    assert cells_of(table, "claim-1-unroll")[1:] == ["✓ 10 of 10"]
    assert f"here the matrices of `{LEAD}`." in table


def test_every_run_has_a_row_the_complete_ones_first(three: Survey) -> None:
    three.found[0].result.raw["run"]["utc"] = "2025-01-02T03:04:05Z"
    table, _, note = three.runs_table("../../reports").partition("\n\n")
    assert "noise floor is the largest difference" in note and "measures its ceiling anew" in note
    head, _, *rows = table.splitlines()
    assert head.startswith("| machine | run | date | profile | rounds | noise floor | ceiling |")
    assert rows[0].startswith(f"| **[{LEAD}](../../reports/{LEAD}/README.md)** | `01234567` |")
    assert rows[1].startswith(f"| [{SLOW}]") and "read 17.9 GB/s" in rows[1]
    assert rows[2].startswith(f"| [{SMALL}]") and "| 2025-01-02 | full | 21 |" in rows[2]
    assert rows[3].startswith(f"| [{LEAD}]") and "`01234567` (mine)" in rows[3]
    assert len(rows) == 4


def test_a_picture_has_all_claims_on_all_machines(three: Survey) -> None:
    plot = verbs(three).plot
    assert plot.claims().startswith("![Claims about spmv-demo on three machines:")
    assert set(plot.drawn) == {"claims.svg"}
    arithmetic = tuple(replace(claim, kind="arithmetic") for claim in three.experiment.claims)
    none = replace(three, experiment=replace(three.experiment, claims=arithmetic))
    assert verbs(none).plot.claims() == ""


def test_machines_are_drawn_input_by_input(three: Survey) -> None:
    plot = verbs(three).plot
    said = plot.across("1.serial", ["unroll4"], over="textbook")
    assert "figures/demo-serial.svg" in said and set(plot.drawn) == {"demo-serial.svg"}
    with pytest.raises(UserError, match='the figure "demo.threads" would be empty'):
        plot.across("demo.threads", ["unroll4"], over="textbook", where={"matrix": "other"})
    with pytest.raises(UserError, match='no machine has a run "other"'):
        plot.across("demo.threads", ["unroll4"], over="textbook", run="other")


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

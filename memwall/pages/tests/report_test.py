"""Reports say nothing that is false: an evaluator of their own (`oracle.py`) reads them."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from memwall.pages import book
from memwall.pages.report import figures, told
from memwall.pages.survey import ChapterPlot
from memwall.pages.tests import oracle, random_house
from memwall.record import definition, files, machines

pytestmark = pytest.mark.xdist_group("committed")
REPOSITORY = Path(__file__).resolve().parents[3]
#: `just test --all` asks for more.
REPORTS = int(os.environ.get("MEMWALL_RANDOM_REPORTS", "12"))
LIES = 73
EXPERIMENTS = [experiment.name for experiment in definition.load_all(REPOSITORY)]
#: Whose committed reports are read in the short form: of a host and of a GPU.
SHORT = ("spmv-serial-steps", "transfer-modes")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_house.repository(tmp_path_factory.mktemp("random"))


@pytest.fixture
def without_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ChapterPlot, "claims", lambda _: "")
    monkeypatch.setattr(figures, "of_kind", lambda *_: [])


@pytest.mark.usefixtures("without_figures")
def test_random_numbers_weave_to_no_false_sentence(house: Path, tmp_path: Path) -> None:
    for seed in range(REPORTS):
        page, evaluator = random_house.woven(house, seed, tmp_path)
        assert oracle.lies(page, evaluator) == [], f"seed {seed}"


@pytest.mark.parametrize("name", [
    name if name in SHORT else pytest.param(name, marks=pytest.mark.large)
    for name in EXPERIMENTS])
def test_no_committed_report_says_what_is_false(name: str) -> None:
    page = REPOSITORY / f"experiments/{name}/report.md"
    assert oracle.lies(page, oracle.of_committed(REPOSITORY, name)) == []


ONE_OF_A_KIND = ("amd-epyc-2c", "intel-xeon-16c-h100-80gb-hbm3")  # without a GPU, and with one
#: Runs that somebody narrowed, of which little can be told.
KEPT = ("intel-xeon-16c-h100-80gb-hbm3/transfer-modes@beyond-the-device",
        "intel-xeon-64c/spmv-plan@beyond-the-cache")


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("kept", KEPT)
def test_no_report_of_a_narrowed_run_says_what_is_false(
    kept: str, committed: book.House, tmp_path: Path
) -> None:
    machine, _, name = kept.partition("/")
    one = next(each for each in committed.of_machine(machine)
               if each.shown.endswith(f"{name}.json.gz"))
    for file, text in book.opened(book.machine_report(committed, one)).items():
        files.write(tmp_path / file, text)
    (page,) = (tmp_path / machine).glob("*.md")
    assert oracle.lies(page, oracle.of_committed(REPOSITORY, one.result.experiment)) == []


# --- lies that are planted ------------------------------------------------------------------------

Report = dict[str, Any]
Honest = tuple[Path, oracle.Evaluator]
#: Of these seeds one report or another has statements of each kind.
HONEST = (1, 34)


def other_number(text: str) -> str:
    """Another number of as many digits."""
    return "".join(str((int(digit) + 3) % 9 + 1) if digit.isdigit() else digit for digit in text)


def changed(pattern: str, by: str | Callable[[re.Match[str]], str]) -> Callable[[str], str]:
    """What a pattern finds first gives way to something else."""
    return lambda text: re.sub(pattern, by, text, count=1)


def number(pattern: str) -> Callable[[str], str]:
    """The number in a group of a pattern gives way to another one."""
    def by(match: re.Match[str]) -> str:
        begin, end = match.start(1) - match.start(), match.end(1) - match.start()
        return match[0][:begin] + other_number(match[1]) + match[0][end:]
    return changed(pattern, by)


#: Lies in the words of statements, by predicate: the page and its JSON tell the same lie.
IN_WORDS: list[tuple[str, str, Callable[[str], str]]] = [
    ("ratio", "a wrong number", number(r" ([\d.]+) times")),
    ("ratio", "a wrong low end", number(r"\(([\d.]+)–")),
    ("ratio", "a wrong high end", number(r"–([\d.]+)")),
    ("ratio", "a wrong count of points", number(r"(\d+) points?\b")),
    ("ratio", "a turned comparison", changed(r"`(\w+)`(.*?)`(\w+)`", r"`\3`\2`\1`")),
    ("ratio", "another variant", changed(r"`\w+`", "`broken`")),
    ("ratio", "it holds", changed(r"it (does not hold|is not decided.*)\.$", "it holds.")),
    ("ratio", "it does not hold", changed(r": it holds\.$", ": it does not hold.")),
    ("ratio", "another claim", number(r"at least ([\d.]+) times\)?:")),
    ("ratio", "another precision", changed("fp64", "fp32")),
    ("ratio", "another noise floor", number(r"noise floor ([\d.]+)")),
    ("ratio", "another reason", changed("as the (?:interval crosses.*|machine is too noisy)",
                                        "as an interval is too wide to tell.")),
    ("ratio", "alike, which is not why", changed(r"it does not hold\.$", "it does not hold, as the"
                                                 " two are alike, within 5 % or the noise.")),
    ("ratio", "points that another study lacks", changed(r"(\d points?\b[^;)]*)",
                                                         r"\1; 3 more lack one of the two")),
    ("ratio", "all the same way round", changed(r"; at \d+ of them it is the other[^;)]*", "")),
    ("ratio", "less for the other one", changed(r"less for `csrl`", "less for `textbook`")),
    ("ratio", "as if all had been there", changed(r" \(here [^)]*\)", "")),
    ("most", "a wrong count of wins", number(r" on (\d+) of")),
    ("most", "a wrong count of losses", number(r"slower on (\d+)")),
    ("most", "slower for faster", changed("faster than", "slower than")),
    ("most", "a wrong p", number(r"p = ([\d.]+)")),
    ("each", "a wrong count", number(r"as claimed on (\d+)")),
    ("each", "a wrong number", number(r"with ([\d.]+) times")),
    ("lowest", "a wrong number", number(r" ([\d.]+) times")),
    ("lowest", "a wrong count", changed(r"; at (?:none|\d+) it", "; at 7 it")),
    ("lowest", "nothing is too wide", changed(r", at \d+ the interval is too wide to tell", "")),
    ("lowest", "it holds the noisier it is", changed(r"it is not decided, as an.*", "it holds.")),
    ("each", "on every one for at least one", changed("at least one", "every")),
    ("each", "decided for open", changed("Open is", "What decides is")),
    ("value", "a wrong share", number(r"reaches ([\d.]+)")),
    ("value", "a wrong bound", number(r"at (?:least|most) ([\d.]+)")),
    ("value", "a wrong verdict", changed(r"it does not hold\.$", "it holds.")),
    ("crossover", "a wrong place", number(r" at ([\d.]+) \(")),
    ("crossover", "other edges", number(r"between ([\d.]+) and")),
    ("missing", "as if it had been measured nowhere", changed(r" with [^.]*\.", ".")),
    ("missing", "as if it had been measured elsewhere",
     changed(r"not measured in this run\.", "not measured in this run with matrix fem3.")),
    ("missing", "as if it had been measured", changed(r".*", "`csrl` runs 1.25 times as fast.")),
    ("verdict", "the other machine", changed("example-2c", "other-2c")),
    ("verdict", "reproduced", changed("is (?:not reproduced|undecided|out of date)[^.]*",
                                      "is reproduced")),
    ("verdict", "not reproduced", changed("is reproduced", "is not reproduced")),
    ("verdict", "it fails", changed("it holds", "it fails")),
    ("tally", "on every machine", changed(r"on .*", "on every machine that could tell (2).")),
    ("tally", "on none", changed(r"on every.*", "on none, as no machine could tell.")),
    ("verdicts", "a wrong symbol", changed("✓", "✗")),
    ("verdicts", "another symbol", changed("✗", "≈")),
    ("verdicts", "a wrong number", number(r"[✓✗≈] ([\d.]+)")),
    ("verdicts", "machines exchanged", changed(r"example-2c \| other-2c",
                                               "other-2c | example-2c")),
    ("measurements", "a wrong time", number(r"\| ([\d.]+) \(")),
    ("measurements", "a wrong share", number(r"\(([\d.]+) %\)")),
    ("measurements", "another unit", changed(r"\[µs\]", "[ms]")),
    ("measurements", "another variant", changed("`textbook`", "`restrict`")),
    ("ratios", "a wrong ratio", number(r"\| ([\d.]+) \|")),
    ("ratios", "another machine", changed("`example-2c`", "`other-2c`")),
    ("ceilings", "a wrong rate", number(r"\| ([\d.]+)†? \|")),
    ("ceilings", "as if by the newer definition", changed("†", "")),
    ("chosen", "a wrong count", number(r"` at (\d+)")),
    ("chosen", "wrong points", number(r"Of (\d+) point")),
    ("chosen", "another choice", changed("chose `\\w+`", "chose `textbook`")),
    ("skipped", "another reason", changed("skipped: .*", "skipped: it was too slow.")),
    ("skipped", "a wrong count", changed(" (was|were) skipped:", r" \1 skipped at 3 of 9 points:")),
    ("skipped", "another variant", changed("`avx512`", "`csrl`")),
    ("runs", "a wrong noise floor", number(r"([\d.]+) %")),
    ("runs", "what counts told as what was disturbed",
     changed(r"\d+ of (\d+ rounds), (\d+) left", r"\2 of \1, \2 left")),
    ("runs", "a wrong count of what is left out", number(r"rounds, (\d+) left")),
    ("runs", "a wrong day", number(r"\d{4}-\d\d-(\d\d)")),
    ("same data", "another machine", changed("example-2c", "other-2c")),
    ("facts", "undisturbed", number(r"(\d+) of \d+ rounds were disturbed")),
    ("facts", "a wrong noise floor", number(r"noise floor \| ([\d.]+) %")),
]


def in_operands(name: str, value: Any) -> Callable[[Report], None]:
    """A number of the first statement that has it is another one; the page is right."""
    def spoil(report: Report) -> None:
        of = next(each["operands"] for each in report["statements"]
                  if each["operands"].get(name, value) != value)
        of[name] = value
    return spoil


def on_another_machine(report: Report) -> None:
    """What one machine found is said of the other."""
    statements = [each for each in report["statements"] if each["predicate"] == "ratio"]
    first = statements[0]
    other = next(each for each in statements if each["runs"] != first["runs"])
    first["machines"], first["runs"] = other["machines"], other["runs"]


IN_JSON: dict[str, Callable[[Report], None]] = {
    "a wrong value": in_operands("value", 1.5),
    "a wrong verdict": in_operands("verdict", "OUT OF DATE"),
    "another machine": on_another_machine,
}


@pytest.fixture(scope="module")
def honest(house: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Honest]:
    """Reports in which there is something of every kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChapterPlot, "claims", lambda _: "")
        return [random_house.woven(house, seed, tmp_path_factory.mktemp("honest"))
                for seed in HONEST]


def found_in(folder: Path, text: str, report: Report, evaluator: oracle.Evaluator) -> list[str]:
    """The lies of a page and its JSON."""
    files.write(folder / "report.md", text)
    files.write(folder / "report.json", json.dumps(report))
    return oracle.lies(folder / "report.md", evaluator)


@pytest.mark.parametrize(("predicate", "what", "lie"), IN_WORDS,
                         ids=[f"{predicate}: {what}" for predicate, what, _ in IN_WORDS])
def test_a_lie_in_words_is_found(
    predicate: str, what: str, lie: Callable[[str], str], tmp_path: Path, honest: list[Honest]
) -> None:
    for page, evaluator in honest:
        text, report = page.read_text(encoding="utf-8"), files.read_json(page.with_suffix(".json"))
        place = 0
        for statement in report["statements"]:
            said = statement["text"]
            place = text.index(said, place)
            if statement["predicate"] == predicate and lie(said) != said:
                statement["text"] = lie(said)
                text = text[:place] + statement["text"] + text[place + len(said):]
                assert len(found_in(tmp_path, text, report, evaluator)) == 1
                return
    pytest.fail(f"nothing to tell this lie of: {what}")


@pytest.mark.parametrize("what", IN_JSON)
def test_a_lie_in_json_is_found(what: str, tmp_path: Path, honest: list[Honest]) -> None:
    page, evaluator = honest[0]
    report = files.read_json(page.with_suffix(".json"))
    IN_JSON[what](report)
    assert found_in(tmp_path, page.read_text(encoding="utf-8"), report, evaluator)


@pytest.mark.parametrize("spoil", [
    changed(r"runs [\d.]+ times", "runs 9.99 times"),
    lambda text: text + "\nIt is 1.5 times as fast.\n",
], ids=["a number changed by hand", "a sentence by hand"])
def test_a_lie_in_the_page_alone_is_found(
    spoil: Callable[[str], str], tmp_path: Path, honest: list[Honest]
) -> None:
    page, evaluator = honest[0]
    report = files.read_json(page.with_suffix(".json"))
    assert found_in(tmp_path, spoil(page.read_text(encoding="utf-8")), report, evaluator)


def test_all_lies_are_planted() -> None:
    assert len(IN_WORDS) + len(IN_JSON) + 2 == LIES


def test_every_statement_has_the_shape_that_the_schema_says() -> None:
    is_right = fastjsonschema.compile(files.read_json(told.SCHEMA_FILE))
    for name in EXPERIMENTS:
        is_right(files.read_json(REPOSITORY / f"experiments/{name}/report.json"))


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("machine", [
    machine if machine in ONE_OF_A_KIND else pytest.param(machine, marks=pytest.mark.large)
    for machine in machines.listed(REPOSITORY)])
def test_the_report_of_every_machine_weaves(machine: str, committed: book.House) -> None:
    texts = book.machine_pages(committed, machine)
    pages = [text for name, text in texts.items() if name.endswith(".md")]
    assert len(pages) == 1 + len(committed.of_machine(machine))
    widest = max(line.count("|") - 1 for text in pages for line in text.splitlines()
                 if line.startswith("| ---"))
    assert widest <= 9

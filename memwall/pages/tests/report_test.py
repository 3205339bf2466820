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
from memwall.record import definition, files
from memwall.record import machines as machine_list

REPOSITORY = Path(__file__).resolve().parents[3]
#: `just test --all` asks for more.
REPORTS = int(os.environ.get("MEMWALL_RANDOM_REPORTS", "30"))
LIES = 50
EXPERIMENTS = [experiment.name for experiment in definition.load_all(REPOSITORY)]


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


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_committed_report_says_what_is_false(name: str) -> None:
    page = REPOSITORY / f"experiments/{name}/report.md"
    assert oracle.lies(page, oracle.of_committed(REPOSITORY, name)) == []


# --- lies that are planted ------------------------------------------------------------------------

Report = dict[str, Any]
Honest = tuple[Path, oracle.Evaluator]
#: Of this seed the report has statements of all kinds.
HONEST = 1


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
    ("most", "a wrong count of wins", number(r" on (\d+) of")),
    ("most", "a wrong count of losses", number(r"slower on (\d+)")),
    ("most", "slower for faster", changed("faster than", "slower than")),
    ("most", "a wrong p", number(r"p = ([\d.]+)")),
    ("each", "a wrong count", number(r"as claimed on (\d+)")),
    ("each", "a wrong number", number(r"with ([\d.]+) times")),
    ("lowest", "a wrong number", number(r" ([\d.]+) times")),
    ("lowest", "a wrong count", number(r"; at (\d+)")),
    ("value", "a wrong share", number(r"reaches ([\d.]+)")),
    ("value", "a wrong bound", number(r"at (?:least|most) ([\d.]+)")),
    ("value", "a wrong verdict", changed(r"it does not hold\.$", "it holds.")),
    ("crossover", "a wrong place", number(r" at ([\d.]+) \(")),
    ("crossover", "other edges", number(r"between ([\d.]+) and")),
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
    ("ceilings", "a wrong rate", number(r"\| ([\d.]+) \|")),
    ("skipped", "another variant", changed("`avx512`", "`csrl`")),
    ("runs", "a wrong noise floor", number(r"([\d.]+) %")),
    ("runs", "a wrong day", number(r"\d{4}-\d\d-(\d\d)")),
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
def honest(house: Path, tmp_path_factory: pytest.TempPathFactory) -> Honest:
    """A report in which there is something of every kind."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChapterPlot, "claims", lambda _: "")
        return random_house.woven(house, HONEST, tmp_path_factory.mktemp("honest"))


def found_in(folder: Path, text: str, report: Report, evaluator: oracle.Evaluator) -> list[str]:
    """The lies of a page and its JSON."""
    files.write(folder / "report.md", text)
    files.write(folder / "report.json", json.dumps(report))
    return oracle.lies(folder / "report.md", evaluator)


@pytest.mark.parametrize(("predicate", "what", "lie"), IN_WORDS,
                         ids=[f"{predicate}: {what}" for predicate, what, _ in IN_WORDS])
def test_a_lie_in_words_is_found(
    predicate: str, what: str, lie: Callable[[str], str], tmp_path: Path, honest: Honest
) -> None:
    page, evaluator = honest
    text, report = page.read_text(encoding="utf-8"), files.read_json(page.with_suffix(".json"))
    place = 0
    for statement in report["statements"]:
        said = statement["text"]
        place = text.index(said, place)
        if statement["predicate"] == predicate and lie(said) != said:
            statement["text"] = lie(said)
            text = text[:place] + statement["text"] + text[place + len(said):]
            break
    else:
        pytest.fail(f"nothing to tell this lie of: {what}")
    assert len(found_in(tmp_path, text, report, evaluator)) == 1


@pytest.mark.parametrize("what", IN_JSON)
def test_a_lie_in_json_is_found(what: str, tmp_path: Path, honest: Honest) -> None:
    page, evaluator = honest
    report = files.read_json(page.with_suffix(".json"))
    IN_JSON[what](report)
    assert found_in(tmp_path, page.read_text(encoding="utf-8"), report, evaluator)


@pytest.mark.parametrize("spoil", [
    changed(r"runs [\d.]+ times", "runs 9.99 times"),
    lambda text: text + "\nIt is 1.5 times as fast.\n",
], ids=["a number changed by hand", "a sentence by hand"])
def test_a_lie_in_the_page_alone_is_found(
    spoil: Callable[[str], str], tmp_path: Path, honest: Honest
) -> None:
    page, evaluator = honest
    report = files.read_json(page.with_suffix(".json"))
    assert found_in(tmp_path, spoil(page.read_text(encoding="utf-8")), report, evaluator)


def test_fifty_lies_are_planted() -> None:
    assert len(IN_WORDS) + len(IN_JSON) + 2 == LIES


def test_every_statement_has_the_shape_that_the_schema_says() -> None:
    is_right = fastjsonschema.compile(files.read_json(told.SCHEMA_FILE))
    for name in EXPERIMENTS:
        is_right(files.read_json(REPOSITORY / f"experiments/{name}/report.json"))


@pytest.mark.usefixtures("without_figures")
@pytest.mark.parametrize("machine", machine_list.listed(REPOSITORY))
def test_the_report_of_every_machine_weaves(machine: str, machines: book.House) -> None:
    texts = book.machine_pages(machines, machine)
    pages = [text for name, text in texts.items() if name.endswith(".md")]
    assert len(pages) == 1 + len(machines.of_machine(machine))
    widest = max(line.count("|") - 1 for text in pages for line in text.splitlines()
                 if line.startswith("| ---"))
    assert widest <= 9


@pytest.fixture(scope="module")
def machines() -> book.House:
    return book.read(REPOSITORY)

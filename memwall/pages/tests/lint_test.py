"""Each style rule, broken by hand."""

from pathlib import Path

import pytest

from memwall.pages import lint
from memwall.record import definition
from memwall.tests import synthetic


def problems(root: Path) -> list[str]:
    return lint.lint(definition.load(root, synthetic.NAME))


def edit(root: Path, name: str, old: str, new: str) -> None:
    path = root / "experiments" / synthetic.NAME / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_golden_experiment_breaks_no_rule(root: Path) -> None:
    assert problems(root) == []


@pytest.mark.parametrize(
    "number",
    [
        "1.3x",
        "2×",
        "15 %",
        "15%",
        "3 ms",
        "3ms",
        "12.5 GB/s",
        "64 KiB",
        "2 GHz",
        "1,200 GFLOP/s",
        "4 µs",
        "3 times faster",
        "30 seconds",
        "100 cycles",
        "2 GFLOPS",
        "5 s",
        "10 percent",
        "128 kB",
        "3-fold",
    ],
)
def test_numbers_with_units_come_through_verbs(number: str, root: Path) -> None:
    edit(root, "report.md.in", "Run it with", f"It gains {number}. Run it with")
    found = problems(root)
    assert len(found) == 1
    assert found[0].startswith("experiments/spmv-demo/report.md.in:")
    assert "found the number" in found[0]
    line = int(found[0].split(":")[1])
    text = (root / "experiments/spmv-demo/report.md.in").read_text().splitlines()
    assert number in text[line - 1]


@pytest.mark.parametrize(
    "innocent",
    [
        "4-way unrolling",
        "a 3x3 block",
        "16-bit indices",
        "step 3 is",
        "`2x`",
        "-O3",
        "AVX-512",
        "two times",
        "x[4] is",
        "fp64",
        "12 rows",
        "8 bytes of value",
        "```\n3 ms\n```",
        "2024",
    ],
)
def test_numbers_without_units_are_free(innocent: str, root: Path) -> None:
    edit(root, "report.md.in", "Run it with", f"{innocent} Run it with")
    assert problems(root) == []


def test_a_unit_after_a_verb_is_no_number(root: Path) -> None:
    edit(root, "report.md.in", "Run it with", "{{ count('matrix') }} s and {# 3 ms #} Run it with")
    assert problems(root) == []


def test_the_question_may_have_numbers(root: Path) -> None:
    edit(root, "report.md.in", "{{ question }}", "{{ question }} It is 2x and 3 ms.")
    assert problems(root) == []


@pytest.mark.parametrize("section", lint.SECTIONS)
def test_sections_are_required(section: str, root: Path) -> None:
    edit(root, "report.md.in", f"## {section}", "## Something else")
    assert any(f'found no section "## {section}"' in problem for problem in problems(root))


def test_without_claims_no_section_is_about_them(root: Path) -> None:
    path = root / "experiments" / synthetic.NAME / "experiment.toml"
    path.write_text(path.read_text(encoding="utf-8").partition("[[claim]]")[0], encoding="utf-8")
    edit(root, "report.md.in", "## Claims\n\n{{ claims() }}\n", "")
    assert problems(root) == []


@pytest.mark.parametrize(("limit", "most"), [("", 1600), ("words = 300\n", 300)])
def test_a_chapter_has_a_length(root: Path, limit: str, most: int) -> None:
    """Of what its author wrote: a table of any number of machines counts as one word."""
    edit(root, "experiment.toml", "needs = []\n", f"needs = []\n{limit}")
    path = root / f"experiments/{synthetic.NAME}/report.md.in"
    source = path.read_text(encoding="utf-8")
    words = most - lint.visible_words(lint.JINJA.sub("verb", source))
    path.write_text(source.replace("## Why", "## Why\n\n" + "word " * words), encoding="utf-8")
    assert problems(root) == []
    path.write_text(path.read_text(encoding="utf-8").replace("word word", "word word word", 1))
    assert problems(root) == [
        f"experiments/{synthetic.NAME}/report.md.in: found {most + 1} words outside what is folded,"
        f" expected at most {most}"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Two words.", 2),
        ("at 2.22x (2.20–2.30), `unroll4` isn't first-rate", 7),
        ("one\n\n```cpp\nint two, three;\n```\n\ntwo", 2),
        ("one\n\n| a | b |\n| --- | --- |\n| c | d |\n\ntwo", 2),
        ("![many words about it](figures/a.svg) one", 1),
        ("<!-- Woven from here -->\none", 1),
        ("[a link](https://example.org/to/somewhere.md)", 2),
        ("<sub>below</sub> and <a id=\"claim-1\"></a>above", 3),
    ],
)
def test_words_that_a_reader_sees_are_counted(text: str, words: int) -> None:
    assert lint.visible_words(text) == words


def test_sections_have_an_order(root: Path) -> None:
    edit(root, "report.md.in", "## Steps", "## Why")
    assert any('"## Steps"' in problem for problem in problems(root))


def test_a_section_may_say_more(root: Path) -> None:
    edit(root, "report.md.in", "## Model", "## Model: what memory allows")
    assert problems(root) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "said"),
    [
        ("report.md.in", "# {{ title }}\n", "", "found no title"),
        (
            "report.md.in",
            "{{ claims() }}",
            "",
            "the claims of experiment.toml are not shown",
        ),
        ("report.md.in", 'plot.bars("1.serial"', 'plot.bars("1.seril"', 'the figure "1.serial"'),
        ("report.md.in", "{{ runs() }}", "", "found no runs() at the end"),
        ("report.md.in", "{{ claims() }}", "{{ claims() }} `lib/no.hpp`", 'found "lib/no.hpp"'),
        ("experiment.toml", "matrices>=5", "matrixes>=5", 'found the unknown need "matrixes>=5"'),
        ("main.cpp", "csrl(a, x, y);", 'printf("%d", 1);', "main.cpp:20: prints"),
        ("main.cpp", "csrl(a, x, y);", "std::cout << 1;", "prints"),
        ("main.cpp", "csrl(a, x, y);", "auto t = std::chrono::now();", "reads a clock"),
        ("main.cpp", "csrl(a, x, y);", "auto n = argv[1];", "reads the command line"),
        ("main.cpp", "    csrl(a, x, y);", "#ifdef FAST", "compiles conditionally"),
        ("main.cpp", "    csrl(a, x, y);\n", "    csrl(a, x, y);\n" * 60, "expected at most 60"),
        ("main.cpp", "int main(int argc", "int start(int argc", "found no function main"),
    ],
)
def test_rules(name: str, old: str, new: str, said: str, root: Path) -> None:
    edit(root, name, old, new)
    assert any(said in problem for problem in problems(root)), problems(root)


def test_a_comment_may_mention_anything(root: Path) -> None:
    edit(root, "main.cpp", "    csrl(a, x, y);", "    csrl(a, x, y); // no printf, no argv[1]")
    assert problems(root) == []


def test_a_missing_report(root: Path) -> None:
    (root / "experiments" / synthetic.NAME / "report.md.in").unlink()
    assert any("report.md.in: missing" in problem for problem in problems(root))


def test_folded_text_counts_no_words_even_where_it_folds_more() -> None:
    inner = "<details><summary>flags</summary>\n\nmany words\n\n</details>"
    outer = f"<details><summary>provenance</summary>\n\n{inner}\n\nskipped here\n\n</details>"
    assert lint.visible_words(f"two words\n\n{outer}\n\nand three more\n") == 5

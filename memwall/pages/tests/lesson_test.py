"""Lessons: what their verbs say, what stops them, and where they stand in the book."""

from pathlib import Path

import pytest

from memwall.conftest import Store
from memwall.pages import book
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

W = '{"matrix": "fem3", "precision": "fp64", "threads": 1}'
FOLDER = f"experiments/{synthetic.NAME}"


@pytest.fixture
def lesson(root: Path, store: Store, raw: Json) -> "Weave":
    return Weave(root, store, raw)


class Weave:
    """Writes a template, weaves everything, and returns the lesson."""

    def __init__(self, root: Path, store: Store, raw: Json) -> None:
        self.root, self.store, self.raw = root, store, raw

    def __call__(self, template: str, answers: str = "1. Yes.\n") -> str:
        (self.root / FOLDER / "lesson.md.in").write_text(template, encoding="utf-8")
        (self.root / FOLDER / "answers.md.in").write_text(answers, encoding="utf-8")
        self.store(self.raw)
        house = book.read(self.root)
        house.judge()
        self.texts = book.chapter(house, house.experiments[0])
        return self.texts[f"{FOLDER}/README.md"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('number("median", "textbook", W) | seconds', "180 µs"),
        ('number("speedup", "csrl", W, over="textbook") | times', "2.2 times"),
        ('number("of_ceiling", "textbook", W) | share', "two fifths"),
        ('number("bytes", where=W) | size', "1.2 MiB"),
        ('probe("read", W) | rate', "18 GB/s"),
        ('(number("bytes", where=W) / probe("read", W)) | seconds', "72 µs"),
        ('shown("1.unroll", "four sums")', "[four sums](report.md#claim-1-unroll)"),
        ('feature("fem3", "nonzeros") | counted', "81,000"),
        ('(number("median", "textbook", W) / number("per_nonzero", "textbook", W)) | counted',
         "81,000"),
        ('noise() | percent', "1 %"),
        ('of("spmv-demo").number("median", "textbook", W) | seconds', "180 µs"),
        ('part("csrl", "csrl")', "csrl(a, x, y);"),
    ],
)
def test_verbs(template: str, said: str, lesson: Weave) -> None:
    assert said in lesson("# T\n\n{{ " + template.replace("W", W) + " }}")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('number("median", "avx512", W)', "number: median of avx512: skipped"),
        ('number("speedup", "csrl", W)', "found no over="),
        ('probe("copy")', 'no ceiling "copy"'),
        ('shown("1.csrl", "x")', 'shown: found "1.csrl" DIRECTION ONLY on the lead machine'),
        ('feature("fem3", "colour")', 'feature: found no "colour" of "fem3"'),
        ('feature("fem4", "rows")', 'feature: found no "rows" of "fem4", which has: none'),
        ('of("softmax")', 'of: example-2c has no result of "softmax"'),
        ('part("csrl", "no such line")', 'part: found no line of csrl with "no such line"'),
        ('figure("9.nothing")', 'no figure "9.nothing"'),
        ('1.01 | times', "expected at least 1.05"),
        ('"a" | nothing', "No filter named 'nothing'"),
    ],
)
def test_what_cannot_be_said_stops_with_its_line(template: str, said: str, lesson: Weave) -> None:
    with pytest.raises(UserError) as caught:
        lesson("# T\n\n{{ " + template.replace("W", W) + " }}")
    assert str(caught.value).startswith(f"{FOLDER}/lesson.md.in:3: ")
    assert said in str(caught.value)


def test_a_lesson_has_answers_and_links(lesson: Weave) -> None:
    text = lesson("# T\n\nText.", "1. {{ 0.5 | share }}")
    assert "Beside this chapter: [answers](answers.md), [report](report.md)" in text
    assert "1. half" in lesson.texts[f"{FOLDER}/answers.md"]


def test_numbers_older_than_the_code_are_told(lesson: Weave) -> None:
    template = '{{ number("median", "unroll4", ' + W + ") | seconds }}"
    assert "Some code has changed" not in lesson(template)
    lesson.raw["excerpts"]["unroll4"]["text"] = "older\n"
    assert "Some code has changed since these numbers were measured" in lesson(template)


BOOK = """
[[chapter]]
name = "spmv-demo"
idea = "One loop"
know = "C++"
minutes = 10
"""


def test_the_book_lists_its_chapters(lesson: Weave, root: Path) -> None:
    (root / "experiments/book.toml").write_text(BOOK, encoding="utf-8")
    text = lesson("# T\n\n*Time:* {{ minutes }} minutes.")
    assert "[Chapter 1](../README.md)" in text and "*Time:* 10 minutes." in text
    page = book.everything(book.read(root))["experiments/README.md"]
    assert "| 1 | [Serial SpMV](spmv-demo/README.md) | One loop | C++ | 10 |" in page


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (BOOK.replace("spmv-demo", "spmv-dem"), 'found the chapter "spmv-dem"'),
        (BOOK + BOOK, 'found the chapter "spmv-demo", expected an experiment, once'),
        (BOOK.replace("10", '"ten"'), "$.chapter[0].minutes"),
        (BOOK.replace("minutes = 10\n", ""), 'found no "minutes"'),
    ],
)
def test_a_broken_list_is_told(broken: str, said: str, lesson: Weave, root: Path) -> None:
    (root / "experiments/book.toml").write_text(broken, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        lesson("# T\n\nText.")
    assert said in str(caught.value)

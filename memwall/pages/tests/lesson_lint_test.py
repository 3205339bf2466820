"""The rules of lessons: a lesson that readers praised breaks none, and each fault is found."""

from pathlib import Path

import pytest

from memwall.pages import lesson_lint

MODEL = (Path(__file__).parent / "data/model_lesson.md.in").read_text(encoding="utf-8")
HIDDEN = "so we predict: the chain is hidden."  # the end of a paragraph of prose
FIRST_CODE = "```cpp\nvoid textbook"


def said(template: str) -> str:
    """What is found in a template, which stands for its page as well."""
    found = [*lesson_lint.problems(template), *lesson_lint.problems_of_page(template)]
    return "\n".join(what for _, what in found)


def test_the_model_lesson_breaks_no_rule() -> None:
    assert said(MODEL) == ""


FAULTS = {
    "a number by hand": (HIDDEN, HIDDEN + " It took 3.4 ms.", 'found "3.4 ms"'),
    "a rate by hand": (HIDDEN, HIDDEN + " It read 12 GB/s.", 'found "12 GB/s"'),
    "a percentage": (HIDDEN, HIDDEN + " It fell by 30 %.", 'found "30 %"'),
    "times in words": (HIDDEN, HIDDEN + " It ran three times as fast.", 'found "three times"'),
    "times in digits": (HIDDEN, HIDDEN + " It ran 3.5 times as fast.", 'found "3.5 times"'),
    "twice": (HIDDEN, HIDDEN + " It ran twice as fast.", 'found "twice"'),
    "a share in words": (HIDDEN, HIDDEN + " A third is left.", 'found "A third"'),
    "half": (HIDDEN, HIDDEN + " It ran half as fast.", 'found "half as"'),
    "three in a sentence": (HIDDEN, HIDDEN + " Then {{ a | seconds }}, {{ b | seconds }} and"
                            " {{ c | times }}.", "found 3 measured numbers in"),
    "five in a paragraph": (HIDDEN, HIDDEN + " One {{ a | about }}. Two {{ b | about }}. Three"
                            " {{ c | about }}. Four {{ d | about }}.",
                            "found 5 measured numbers in a paragraph"),
    "digits chosen by hand": (HIDDEN, HIDDEN + ' Then {{ "%.2f" | format(a) }}, {{ b | round }} and'
                              " {{ c | times }}.", "found 3 measured numbers in"),
    "names for what is rounded": (HIDDEN, HIDDEN + "\n\n{% set A = a | about %}\n"
                                  "{% macro ms(t) %}{{ t | about }} ms{% endmacro %}\n"
                                  "Then {{ A }}, {{ ms(b) }} and {{ ms(c) }}.",
                                  "found 3 measured numbers in"),
    "a number in an exercise": ("\n5. *Hard", "\n5. It took 3.4 ms. *Hard", 'found "3.4 ms"'),
    "a number in indented lines of a tag": (HIDDEN, HIDDEN + " {% given a >\n    b %}And."
                                            "{% endgiven %} Then 3.4 ms.", 'found "3.4 ms"'),
    "an interval": (HIDDEN, HIDDEN + " It is {{ a | about }} (1.2 to 1.4).", "found the interval"),
    "an interval of verbs": (HIDDEN, HIDDEN + " Say ({{ a | about }}-{{ b | about }}).",
                             "found the interval"),
    "a cause without a study": ("With both gone, `short` runs at", "Because both are gone, it is"
                                " {{ a | times }} as fast. `short` runs at", 'found "Because"'),
    "a heading": ("## How fast could it be?", "## The bound", 'no heading with "how fast could'),
    "the line of needs": ("*You need:*", "You need", 'found no "*You need:*"'),
    "an exercise": ("\n5. *Hard", "\n- *Hard", "found 4 exercises, expected 5"),
    "long code": (FIRST_CODE, "```cpp\n" + "int i;\n" * 8 + "void textbook", "lines of code"),
    "too long": (HIDDEN, HIDDEN + " And so it went on." * 200, "words in the page"),
    "too short": (MODEL[MODEL.index("## Three suspects"):MODEL.index("## What a programmer")], "",
                  "words in the page"),
    "private words": (HIDDEN, HIDDEN + " It asks for `x` early.", "prefetches"),
    "a telegram": (HIDDEN, HIDDEN + " It gained 1.3x.", "how many times"),
    "a cost that acts": (HIDDEN, HIDDEN + " Such a cost pays.", "expected plainer words"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(name: str) -> None:
    old, new, expected = FAULTS[name]
    assert MODEL.count(old) == 1, name
    assert expected in said(MODEL.replace(old, new))


def test_a_fault_is_told_with_its_line() -> None:
    lines = MODEL.replace(HIDDEN, HIDDEN + " It took 3.4 ms.").splitlines()
    number, _ = next(iter(lesson_lint.problems("\n".join(lines))))
    assert any("so we predict" in line for line in lines[number - 1:number + 4])


def test_a_given_number_may_be_written() -> None:
    given = HIDDEN + " {% given number('speedup') > 1.9 %}It ran twice as fast.{% endgiven %}"
    assert said(MODEL.replace(HIDDEN, given)) == ""


def test_answers_calculate_but_name_no_measured_number_by_hand() -> None:
    right = "1. {{ a | about }} / {{ b | about }} = {{ c | about }}, {{ d | times }} as much."
    assert list(lesson_lint.problems_of_answers(right)) == []
    (_, what), = lesson_lint.problems_of_answers(right + " It took 3.4 ms.")
    assert 'found "3.4 ms"' in what


def test_each_exercise_is_a_paragraph_of_its_own() -> None:
    three = "{{ a | about }} here. {{ b | about }} there, {{ c | about }} elsewhere."
    items = [paragraph.text for paragraph in lesson_lint.paragraphs(f"1. {three}\n2. {three}\n")]
    assert len(items) == 2 and items[0].startswith("1. ") and items[1].startswith("2. ")
    end = "\n5. *Hard"
    assert said(MODEL.replace(end, f" {three}\n5. {three} *Hard")) == ""


def test_code_inside_an_item_is_no_prose() -> None:
    code = "\n\n   ```cpp\n   wait(3.4 ms);\n   ```\n"
    assert said(MODEL.replace("\n5. *Hard", code + "5. *Hard")) == ""


def test_code_that_a_verb_brings_counts_too() -> None:
    page = MODEL + "\n```cpp\n" + "int i;\n" * 16 + "```\n"
    assert "found 16 lines of code" in "".join(what for _, what in
                                               lesson_lint.problems_of_page(page))

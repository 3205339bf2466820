"""`given`: a passage that is true of the lead machine, or stops the weave; elsewhere it may be left
out."""

import pytest

from memwall.conftest import Say
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

HOLDS = '{% given "1.unroll" is "REPRODUCED" %}Four sums hide the latency.{% endgiven %}'
OTHERWISE = '\n\n{% given "1.unroll" is "NOT REPRODUCED" %}They hide nothing.{% endgiven %}'
BOTH = ('{{% given "1.unroll" is "REPRODUCED" and "1.csrl" is "{}" %}}Both{{% endgiven %}}')


def test_a_passage_that_holds_is_told_everywhere(say: Say) -> None:
    for is_chapter in (True, False):
        assert say(HOLDS, is_chapter=is_chapter) == "Four sums hide the latency."


def test_in_a_chapter_a_passage_that_does_not_hold_stops_with_its_line(say: Say) -> None:
    said = ('report.md.in:3: given: found "1.unroll" REPRODUCED on the lead machine example-2c,'
            " expected NOT REPRODUCED")
    with pytest.raises(UserError) as caught:
        say(OTHERWISE, is_chapter=True)
    assert str(caught.value) == said


def test_elsewhere_a_sentence_stands_in_its_place(say: Say) -> None:
    assert say(f"Before.{OTHERWISE}\n\nAfter.") == (
        "Before.\n\n*(On this machine `1.unroll` is REPRODUCED: what the chapter says of its lead"
        " machine here does not apply.)*\n\nAfter.")


def test_two_verdicts_must_both_be_found(say: Say) -> None:
    assert say(BOTH.format("DIRECTION ONLY"), is_chapter=True) == "Both"
    assert "On this machine `1.csrl` is DIRECTION ONLY" in say(BOTH.format("REPRODUCED"))
    with pytest.raises(UserError, match='found "1.csrl" DIRECTION ONLY .* expected REPRODUCED'):
        say(BOTH.format("REPRODUCED"), is_chapter=True)


def test_any_expression_may_be_given(say: Say) -> None:
    template = "{{% given {} %}}Told.{{% endgiven %}}"
    holds = template.format('measured("csrl") and has("avx2")')
    fails = template.format('measured("csrl") and has("avx512f")')
    assert say(holds, is_chapter=True) == say(holds) == "Told."
    assert say(fails) == ""
    with pytest.raises(UserError, match="report.md.in:1: given: found that this does not hold on"
                                         " the lead machine example-2c"):
        say(fails, is_chapter=True)


def test_what_is_left_out_asks_for_nothing(say: Say) -> None:
    """It may speak of variants that the machine lacks."""
    asked = '{% given has("avx512f") %}{{ speedup("unknown", over="textbook") }}{% endgiven %}'
    assert say(asked) == ""


def test_an_old_verdict_stands_in_the_chapter_and_nowhere_else(say: Say, raw: Json) -> None:
    raw["excerpts"]["unroll4"]["text"] = "older\n"
    assert "`1.unroll` is OUT OF DATE" in say(HOLDS, raw)
    assert "Four sums hide the latency." in say(HOLDS, raw, is_chapter=True)


def test_passages_stand_within_each_other(say: Say, raw: Json) -> None:
    nested = f'{{% given measured("csrl") %}}Outer. {HOLDS}{{% endgiven %}}'
    assert say(nested) == "Outer. Four sums hide the latency."
    synthetic.scale(raw, "unroll4", 2)
    assert say(nested, raw).startswith("Outer. *(On this machine `1.unroll` is NOT REPRODUCED")


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('\n{% given "1.unrol" is "REPRODUCED" %}{% endgiven %}', '2: no claim "1.unrol"'),
        ('{% given "1.unroll" is REPRODUCED %}{% endgiven %}', "1: expected token 'string'"),
        ('{% given "1.unroll" is "REPRODUCED" %}text', "1: "),
        ('{% given "1.unroll" is "REPRODUCED" and has("avx2") %}{% endgiven %}', "1: expected"),
        ('{% given measurd("csrl") %}{% endgiven %}', "1: 'measurd' is undefined"),
        ("text\n\n{% given true %}\n{{ unknown }}\n{% endgiven %}", "4: 'unknown' is undefined"),
    ],
)
def test_errors_name_the_line(template: str, said: str, say: Say) -> None:
    with pytest.raises(UserError, match=f"^report.md.in:{said}"):
        say(template)

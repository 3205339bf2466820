"""`given`: a passage that is true of the lead machine, or stops the weave."""

import pytest

from memwall.conftest import Say
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

HOLDS = '{% given "1.unroll" is "REPRODUCED" %}Four sums hide the latency.{% endgiven %}'
OTHERWISE = '\n\n{% given "1.unroll" is "NOT REPRODUCED" %}They hide nothing.{% endgiven %}'
BOTH = ('{{% given "1.unroll" is "REPRODUCED" and "1.csrl" is "{}" %}}Both{{% endgiven %}}')


def test_a_passage_that_holds_is_told(say: Say) -> None:
    assert say(HOLDS) == "Four sums hide the latency."


def test_a_passage_that_does_not_hold_stops_with_its_line(say: Say) -> None:
    said = ('lesson.md.in:3: given: found "1.unroll" REPRODUCED on the lead machine example-2c,'
            " expected NOT REPRODUCED")
    with pytest.raises(UserError) as caught:
        say(OTHERWISE)
    assert str(caught.value) == said


def test_two_verdicts_must_both_be_found(say: Say) -> None:
    assert say(BOTH.format("DIRECTION ONLY")) == "Both"
    with pytest.raises(UserError, match='found "1.csrl" DIRECTION ONLY .* expected REPRODUCED'):
        say(BOTH.format("REPRODUCED"))


def test_any_expression_may_be_given(say: Say) -> None:
    template = "{{% given holds('csrl', '{}') %}}Told.{{% endgiven %}}"
    assert say(template.format("textbook")) == "Told."
    with pytest.raises(UserError, match="lesson.md.in:1: given: found that this does not hold on"
                                        " the lead machine example-2c"):
        say(template.format("csrl"))


def test_an_old_verdict_stands_as_it_was(say: Say, raw: Json) -> None:
    raw["excerpts"]["unroll4"]["text"] = "older\n"
    assert "Four sums hide the latency." in say(HOLDS, raw)


def test_passages_stand_within_each_other(say: Say, raw: Json) -> None:
    nested = f"{{% given holds('csrl', 'textbook') %}}Outer. {HOLDS}{{% endgiven %}}"
    assert say(nested) == "Outer. Four sums hide the latency."
    synthetic.scale(raw, "unroll4", 2)
    with pytest.raises(UserError, match='found "1.unroll" NOT REPRODUCED'):
        say(nested, raw)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ('\n{% given "1.unrol" is "REPRODUCED" %}{% endgiven %}', '2: no claim "1.unrol"'),
        ('{% given "1.unroll" is REPRODUCED %}{% endgiven %}', "1: expected token 'string'"),
        ('{% given "1.unroll" is "REPRODUCED" %}text', "1: "),
        ('{% given "1.unroll" is "REPRODUCED" and holds("avx2") %}{% endgiven %}', "1: expected"),
        ('{% given holts("csrl") %}{% endgiven %}', "1: 'holts' is undefined"),
        ("text\n\n{% given true %}\n{{ unknown }}\n{% endgiven %}", "4: 'unknown' is undefined"),
    ],
)
def test_errors_name_the_line(template: str, said: str, say: Say) -> None:
    with pytest.raises(UserError, match=f"^lesson.md.in:{said}"):
        say(template)

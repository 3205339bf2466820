"""`experiment.toml`: what is wrong in it is said in one line."""

from pathlib import Path

import pytest

from memwall.record import definition
from memwall.record.errors import UserError
from memwall.tests import synthetic


def _toml(root: Path) -> Path:
    return root / "experiments" / synthetic.NAME / "experiment.toml"


def test_a_definition_is_read(root: Path) -> None:
    found = definition.load(root, synthetic.NAME)
    assert found.article == 1
    assert found.launch == {"threads": [1, "max"]}
    assert [figure.file for figure in found.figures] == ["demo-serial.svg", "demo-threads.svg"]
    assert found.claim("1.csrl").conditions[0].faster == ("avx512", "csrl")
    assert found.claim("1.csrl").inferred
    unroll = found.claim("1.unroll")
    assert (unroll.anchor, unroll.line) == ("claim-1-unroll", 71)
    assert unroll.sentence == "但在这里大部分算例效果有提升"
    assert [e.name for e in definition.load_all(root)] == [synthetic.NAME]


def test_conditions_of_every_kind_are_read(root: Path) -> None:
    path = _toml(root)
    path.write_text(
        path.read_text()
        + """
[[claim]]
id = "kinds"
article = 0
says = "Every kind."
kind = "crossover"
[[claim.condition]]
faster = "csrl"
than = { best_of = "own" }
expect = 1.5
on = "every"
[[claim.condition]]
less = "csrl"
than = ["unroll4", "textbook"]
of = "stored_bytes"
[[claim.condition]]
more = "csrl"
than = { variant = "csrl", threads = 1 }
of = "of_ceiling"
expect = 0.9
[[claim.condition]]
faster = "csrl"
than = "textbook"
along = "mean_row"
between = [0.3, 0.5]
""",
        encoding="utf-8",
    )
    rival, less, more, crossing = definition.load(root, synthetic.NAME).claim("kinds").conditions
    assert (rival.than, rival.expect, rival.on) == ({"best_of": "own"}, 1.5, "every")
    assert (less.faster, less.expect) == (("csrl",), "less")
    assert less.of == ("stored_bytes", "stored_bytes")
    assert (more.faster, more.of, more.expect) == (("csrl",), ("of_ceiling",) * 2, 0.9)
    assert more.more and not less.more
    own = definition.load(root, synthetic.NAME).claim("kinds")
    assert (own.line, own.sentence) == (0, "")
    assert (crossing.along, crossing.between) == ("mean_row", (0.3, 0.5))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Serial', 'titel = "Serial', 'found the key "titel"'),
        (
            "article = 1\nlead",
            'article = "one"\nlead',
            '$.article: found "one", expected integer',
        ),
        ('expect = "several"', 'expect = "much"', '$.claim[2].condition[0].expect: found "much"'),
        ('kind = "magnitude"', 'kind = "size"', "$.claim[2].kind"),
        ("needs = []", 'needs = ["gpu"]', "$.needs[0]"),
        ('file = "demo-serial.svg"', 'file = "a/b.svg"', "$.figure[0].file"),
        ('id = "1.restrict"', 'id = "1.unroll"', 'found the claim "1.unroll" twice'),
        ("line = 71\n", "", 'found the claim "1.unroll" of article 1 without line= or sentence='),
        ("sentence = ", "# ", 'found the claim "1.unroll" of article 1 without line= or sentence='),
        ("line = 71", "line = 0", "$.claim[0].line: found 0"),
        ('file = "demo-serial.svg"', 'file = "demo-threads.svg"', "found the figure file"),
        (
            'expect = "several"',
            'expect = "several"\nof = "stored_bytes"',
            "expected faster= with expect=, less= or more= with of=, faster= with along=",
        ),
        ('expect = "several"', "", "expected faster= with expect=, less="),
        (
            'faster = ["avx512", "csrl"]\nthan = "textbook"\nexpect = "several"',
            'value = "gbps"\nof = "csrl"',
            "or value= with of= and at_least= or at_most=",
        ),
        ("lead = ", "led = ", 'found the key "led"'),
        ('lead = "example-2c"', "", 'found no "lead"'),
        ('expect = "several"', "expect = 0", "expected more than 0"),
        ('expect = "several"', 'expect = "several"\non = "each"', 'expected one of ["any", "ev'),
        ('expect = "several"', 'along = "x"\nbetween = [0.3]', "expected at least 2 entries"),
        ('than = "textbook"', 'than = { best = "own" }', "expected variant = a name or best_of"),
        ("[budget]", "[budgets]", 'found the key "budgets"'),
        ("[budget]", "[budget", "not TOML"),
    ],
)
def test_what_is_wrong(root: Path, old: str, new: str, said: str) -> None:
    path = _toml(root)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match="^experiments/spmv-demo/experiment.toml") as caught:
        definition.load(root, synthetic.NAME)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_claims_and_conditions_have_short_names(root: Path) -> None:
    path = _toml(root)
    text = path.read_text().replace('says = "Restrict', 'short = "Restrict"\nsays = "Restrict')
    text = text.replace('expect = "several"', 'expect = "several"\nlabel = "CSRL"')
    path.write_text(text)
    unroll, restrict, csrl, _ = definition.load(root, synthetic.NAME).claims
    assert unroll.short == "Unrolling four times helps on most matrices"  # what it says, no period
    assert (restrict.short, restrict.says) == ("Restrict", "Restrict changes nothing noticeable.")
    assert csrl.conditions[0].label == "CSRL" and not unroll.conditions[0].label
    assert csrl.anchor == "claim-1-csrl"


def test_an_experiment_that_is_not_there(root: Path) -> None:
    with pytest.raises(UserError, match="experiments/none/experiment.toml: cannot be read"):
        definition.load(root, "none")


@pytest.mark.parametrize(("part", "said"), [("figure", "figure file"), ("claim", "claim")])
def test_experiments_share_names(root: Path, part: str, said: str) -> None:
    other = root / "experiments/spmv-other/experiment.toml"
    other.parent.mkdir()
    head, *rest = _toml(root).read_text().split("\n[[")
    parts = [text for text in rest if text.startswith(part)]
    other.write_text("\n[[".join([head, *parts]))
    with pytest.raises(UserError, match=f"spmv-other.*found the {said} .* of spmv-demo, expected"):
        definition.load_all(root)

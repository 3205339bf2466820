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
    ("name", "old", "new", "said"),
    [
        ("experiment.toml", "Rate of each step", "On example-2c", "found the machine example-2c"),
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

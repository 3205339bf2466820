"""`new NAME`: what is written, and what is refused. That it builds and runs is a stage of CI."""

from pathlib import Path

import pytest

from weave import __main__ as lint, definition
from weave.__main__ import create, main
from weave.definition import WeaveError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "experiments").mkdir()
    (tmp_path / "experiments/meson.build").write_text("subdir('first')")
    return tmp_path


def test_it_is_registered_and_its_definition_is_valid(root: Path) -> None:
    create(root, "my-idea")
    assert (root / "experiments/meson.build").read_text() == "subdir('first')\nsubdir('my-idea')\n"
    experiment = definition.load(root, "my-idea")
    assert experiment.title.startswith("My idea")
    assert lint.lint(experiment) == []


def test_the_command_weaves_what_follows_from_it(root: Path) -> None:
    for folder in ("lib", "reports"):
        (root / folder).mkdir()
    assert main(["--root", str(root), "new", "my-idea"]) == 0
    assert "`just run my-idea`" in (root / "experiments/my-idea/README.md").read_text()
    assert (root / "reports/README.md").exists()
    assert main(["--root", str(root), "check"]) == 0


def test_two_new_experiments_share_no_marker(root: Path) -> None:
    texts = [path.read_text() for name in ("one", "two") for path in create(root, name)
             if path.name == "kernels.hpp"]
    markers = [line for text in texts for line in text.splitlines() if line.startswith("//! [")]
    assert len(set(markers)) == len(markers) / 2 == 4


@pytest.mark.parametrize("name", ["My-Idea", "my_idea", "my idea", "-x", "x-", "a--b", "../x", "",
                                  "ä"])
def test_names_are_kebab_case(root: Path, name: str) -> None:
    with pytest.raises(WeaveError, match="expected lower-case words"):
        create(root, name)


def test_nothing_is_overwritten(root: Path) -> None:
    (root / "experiments/taken").mkdir()
    (root / "experiments/taken/main.cpp").write_text("mine")
    with pytest.raises(WeaveError, match="exists already"):
        create(root, "taken")
    assert (root / "experiments/taken/main.cpp").read_text() == "mine"
    assert (root / "experiments/meson.build").read_text() == "subdir('first')"

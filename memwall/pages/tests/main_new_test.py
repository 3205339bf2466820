"""`new NAME`: what is written, and what is refused. That it builds and runs is a stage of CI."""

import re
import shutil
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.pages import lint, new
from memwall.pages.new import create
from memwall.record import definition, machines, results
from memwall.record.errors import UserError
from memwall.tests import synthetic


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


def test_nothing_but_its_folder_and_the_list_changes(tmp_path: Path) -> None:
    """Also where others have measured; the check finds nothing to say before anyone runs it."""
    root = synthetic.repository(tmp_path)
    (root / "experiments/meson.build").write_text("")
    results.write(synthetic.result(), root / f"reports/example-2c/results/{synthetic.NAME}.json")
    (root / machines.LIST).write_text("example-2c\n")
    assert main(["--root", str(root), "report"]) == 0
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert main(["--root", str(root), "new", "my-idea"]) == 0
    changed = {path.relative_to(root).as_posix() for path in root.rglob("*")
               if path.is_file() and before.get(path) != path.read_bytes()}
    files = {f"experiments/my-idea/{file}" for file in (*new.FILES, "README.md")}
    assert changed == files | {"experiments/meson.build"}
    assert "`just run-all my-idea`" in (root / "experiments/my-idea/README.md").read_text()
    assert main(["--root", str(root), "check"]) == 0


@pytest.mark.parametrize(("name", "place"), [("alone", 0), ("second", 4), ("mpi-idea", 4),
                                             ("zeta", 5)])
def test_the_list_stays_sorted(root: Path, name: str, place: int) -> None:
    """Those that need something stand under their condition, and what else is there as it was."""
    listed = ["subdir('first')", "if have_cuda", "  subdir('gamma')", "endif", "subdir('third')",
              "", "test('programs', python)"]
    (root / "experiments/meson.build").write_text("\n".join(listed) + "\n")
    create(root, name)
    lines = (root / "experiments/meson.build").read_text().splitlines()
    listed.insert(place, f"subdir('{name}')")
    assert lines == listed


def test_names_are_those_of_the_house(root: Path) -> None:
    """Variants and marks are words with underscores, the folder and the program with hyphens."""
    create(root, "my-idea")
    text = "".join((root / "experiments/my-idea" / file).read_text() for file in new.FILES)
    assert "//! [my_idea_one_pass]" in text and 'trial.add("one_pass"' in text
    assert not re.search(r"@[A-Z]+@", text)


def test_two_new_experiments_share_no_marker(root: Path) -> None:
    texts = [path.read_text() for name in ("one", "two") for path in create(root, name)
             if path.name == "kernels.hpp"]
    markers = [line for text in texts for line in text.splitlines() if line.startswith("//! [")]
    assert len(set(markers)) == len(markers) / 2 == 4


@pytest.mark.parametrize("name", ["My-Idea", "my_idea", "my idea", "-x", "x-", "a--b", "../x", "",
                                  "ä"])
def test_names_are_kebab_case(root: Path, name: str) -> None:
    with pytest.raises(UserError, match="expected lower-case words"):
        create(root, name)


def test_it_goes_on_where_it_was_ended(root: Path) -> None:
    text = (root / "experiments/meson.build").read_text()
    (root / "experiments/meson.build").unlink()
    assert main(["--root", str(root), "new", "my-idea"]) == 2
    (root / "experiments/meson.build").write_text(text)
    assert main(["--root", str(root), "new", "my-idea"]) == 0
    assert (root / "experiments/meson.build").read_text().count("my-idea") == 1
    (root / "experiments/my-idea/main.cpp").write_text("mine")
    assert main(["--root", str(root), "new", "my-idea"]) == 2


def test_a_half_folder_stands_where_nothing_looks(root: Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as if it was killed
    monkeypatch.setattr(Path, "rename", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        create(root, "my-idea")
    assert [path.name for path in (root / "experiments").iterdir()] == ["meson.build"]


def test_nothing_is_overwritten(root: Path) -> None:
    (root / "experiments/taken").mkdir()
    (root / "experiments/taken/main.cpp").write_text("mine")
    with pytest.raises(UserError, match="exists already"):
        create(root, "taken")
    assert (root / "experiments/taken/main.cpp").read_text() == "mine"
    assert (root / "experiments/meson.build").read_text() == "subdir('first')"

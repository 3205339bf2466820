"""`machine`: what is measured, where it goes, and how it ends."""

import io
from pathlib import Path

import pytest

from memwall.record import processors, results
from memwall.record.console import Console
from memwall.run import machine
from memwall.run.programs import ProgramFailed
from memwall.run.tests import fake_tree
from memwall.run.workspace import Workspace


def measure(root: Path) -> tuple[int, list[str]]:
    stream = io.StringIO()
    code = machine.measure_machine(Workspace(root, root / "build"), Console(stream),
                                   lambda result: f"a table\n{len(result.cases)} cases")
    return code, stream.getvalue().splitlines()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    tree = fake_tree.make_tree(tmp_path / "tree")
    fake_tree.add_experiment(tree, machine.EXPERIMENT, unique=True)
    return tree


def files_of(root: Path) -> set[Path]:
    return {path for path in root.rglob("*") if path.is_file()}


def test_one_thread_and_all_are_measured_anew_each_time(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processors, "usable", lambda: 5)
    before = files_of(root)
    assert measure(root)[0] == 0
    first = results.load(root / "build/machine/result.json")
    assert [launch["threads"] for launch in first.raw["launches"]] == [1, 5]
    code, said = measure(root)
    assert (code, said[-2]) == (0, "a table")
    second = results.load(root / "build/machine/result.json")
    assert {case.samples for case in first.cases}.isdisjoint(c.samples for c in second.cases)
    assert all(path.parent == root / "build/machine" for path in files_of(root) - before)


def test_what_fails_is_told_and_shown(root: Path) -> None:
    fake_tree.behave(root, machine.EXPERIMENT, unique=True, fail=True)
    code, said = measure(root)
    assert code == 1 and said[-2] == "a table"
    assert any(line.startswith("machine-ceilings (threads=1): ") for line in said)


@pytest.mark.parametrize(("behaviour", "code"), [({"refuse": "no"}, 2), ({"oddly": "aborts"}, 1)])
def test_without_a_result_there_is_no_page(
    root: Path, behaviour: dict[str, str], code: int
) -> None:
    fake_tree.behave(root, machine.EXPERIMENT, **behaviour)
    with pytest.raises(ProgramFailed) as error:
        measure(root)
    assert error.value.code == code


def test_what_was_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailed, match="machine-ceilings was not built: no file") as error:
        measure(fake_tree.make_tree(tmp_path / "tree"))
    assert error.value.code == 1

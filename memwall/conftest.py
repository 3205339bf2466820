"""Fixtures: a small repository, and results measured in it that never were."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.analysis.measurements import Measurements
from memwall.pages import book
from memwall.pages.book import House
from memwall.pages.lesson import Lesson
from memwall.pages.survey import OnMachine, Survey
from memwall.pages.verbs import render
from memwall.record import definition, machines, results, sources
from memwall.record.results import Json
from memwall.tests import synthetic

MACHINE = "example-2c"
Store = Callable[..., Path]
Say = Callable[..., str]


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what their module makes once go to one process, which makes it once; groups
    of several modules are marked there. What is marked `first` comes before all others."""
    for item in items:
        if isinstance(item, pytest.Function) and not item.get_closest_marker("xdist_group") and any(
                made[-1].scope == "module"
                for made in item._fixtureinfo.name2fixturedefs.values()):
            item.add_marker(pytest.mark.xdist_group(item.module.__name__))
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


@pytest.fixture(scope="session")
def committed() -> House:
    """All that came with the tree. Who asks for it is of the group of that name."""
    return book.read(sources.REPOSITORY)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return synthetic.repository(tmp_path)


@pytest.fixture
def raw() -> Json:
    return synthetic.result()


@pytest.fixture
def store(root: Path) -> Store:
    """Puts a result into a machine's folder, which is listed."""

    def put(raw: Json, machine: str = "example-2c") -> Path:
        path = root / "reports" / machine / "results" / f"{synthetic.NAME}.json"
        results.write(raw, path)
        machines.enlist(root, machine)
        return path

    return put


@pytest.fixture
def measured(root: Path, tmp_path: Path) -> Callable[..., Measurements]:
    """A result with its experiment and the tree."""

    def make(raw: Json, partial: bool = False) -> Measurements:
        result = results.of(copy.deepcopy(raw), tmp_path / "result.json")
        experiment = definition.load(root, synthetic.NAME)
        return Measurements(result, experiment, sources.read_tree(root), partial)

    return make


@pytest.fixture
def say(measured: Callable[..., Measurements], raw: Json, tmp_path: Path) -> Say:
    """Renders one template against one result."""

    def said(template: str, result: Json | None = None, partial: bool = False) -> str:
        path = tmp_path / "template.md.in"
        path.write_text(template, encoding="utf-8")
        run = measured(result or raw, partial)
        survey = Survey(run.experiment, MACHINE, (OnMachine(MACHINE, run),))
        verbs = Lesson(run, survey, MACHINE)
        return render(path, "lesson.md.in", verbs).strip()

    return said

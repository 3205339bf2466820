"""The maps that a newcomer reads name what there is: all of it, and nothing that is gone."""

import re
from pathlib import Path

import pytest

from memwall.tests.imports_test import INCLUDES

ROOT = Path(__file__).resolve().parents[2]


def rooms(of: str) -> list[list[str]]:
    """Rooms of `lib` or `memwall` as the map in CONTRIBUTING.md has them, a list a line."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.search(rf"^{of}/ .*\n((?:  \S.*\n)+)", text, re.MULTILINE)
    assert found is not None
    columns = [re.split(" {2,}", line.strip())[0] for line in found[1].splitlines()]
    return [[name.rstrip("/") for name in column.split()] for column in columns]


def folders(path: Path) -> set[str]:
    """Those with sources, but for what tests alone use."""
    return {each.name for each in path.iterdir()
            if each.is_dir() and not each.name.startswith(("test", "_", "."))}


@pytest.mark.parametrize("of", ["lib", "memwall"])
def test_every_room_is_on_the_map(of: str) -> None:
    """And all within a room of which the map names some."""
    named = [name for line in rooms(of) for name in line if not name.endswith(".py")]
    assert {name.partition("/")[0] for name in named} == folders(ROOT / of)
    for room, inner in re.findall(r"(\w+)/\{(.*?)\}", " ".join(named)):
        assert set(inner.split(",")) == folders(ROOT / of / room), room


def test_libraries_stand_above_those_that_they_use() -> None:
    height = {name.partition("/")[0]: -number for number, line in enumerate(rooms("lib"))
              for name in line}
    assert [(one, other) for one, others in INCLUDES.items() for other in others
            if height[one] <= height[other]] == []


def modules(room: str) -> set[str]:
    """Of a room, and the packages within it, but for tests."""
    path = ROOT / "memwall" / room
    return ({each.stem for each in path.glob("*.py")}
            | {each.parent.name for each in path.glob("*/__init__.py")}) - {"__init__", "tests"}


def test_every_module_of_the_weaver_is_in_its_table() -> None:
    """In the rows between the one of its room and that of the next."""
    text = (ROOT / "memwall/pages/README.md").read_text(encoding="utf-8")
    _, _, table = text.partition("| room, module | is about |\n| --- | --- |\n")
    named: dict[str, set[str]] = {}
    for row in table.partition("\n\n")[0].splitlines():
        names = re.findall(r"`([\w/]+)`", row.split("|")[1])
        if (ROOT / "memwall" / names[0] / "__init__.py").is_file():
            inside = named[names[0]] = set()
        else:
            inside |= {name.rstrip("/") for name in names}
    assert named == {room: modules(room) for room in ("record", "analysis", "figures", "pages")}

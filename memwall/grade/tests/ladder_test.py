"""Points tell people apart: each kit with four submissions, from naive to the model.

`-s` shows the points: python -m pytest -s memwall/grade/tests/ladder_test.py
"""

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest

from memwall.grade import assignment, grading, submissions, workshop
from memwall.grade.tests.cheats_test import needs_sandbox
from memwall.record import kits

ROOT = Path(__file__).resolve().parents[3]
HOST_KITS = [name for name, folder in kits.all_folders(ROOT).items()
             if not kits.load(folder).on_gpu]
STEP = 15  # points that at least two of three steps bring


def ladder(shop: workshop.Workshop) -> list[float]:
    """The points of naive, a first good idea, a good student's solution and the model."""
    folder, suffix = shop.kit.folder, shop.kit.suffix
    points = []
    for number, name in enumerate(("naive", "ladder/first", "ladder/good", "model")):
        one = submissions.read(shop.kit, folder / f"{name}{suffix}")
        record = grading.judged(shop, one, shop.compile(one, number))
        assert record["correctness"] == shop.kit.correctness, record
        points.append(record["points"])
        print(shop.kit.name, name, f"{record['points']:.1f}",
              [f"{one['name']} {one['points']:.2f}" for one in record["outcomes"]
               if one["points"] is not None])
    return points


def separates(points: Sequence[float]) -> bool:
    """Whether two of three steps bring enough, and none takes."""
    steps = [after - before for before, after in itertools.pairwise(points)]
    return sum(step >= STEP for step in steps) >= 2 and min(steps) > -3


@needs_sandbox
@pytest.mark.large
@pytest.mark.alone
@pytest.mark.parametrize("name", HOST_KITS)
def test_each_step_brings_points(name: str, tmp_path: Path) -> None:
    _, instructor = assignment.make(ROOT, name, tmp_path / "kit")
    with workshop.opened(kits.load(instructor), patience_s=900) as shop:
        points = ladder(shop)
    assert separates(points), points


def test_what_separates() -> None:
    assert separates([40, 62, 80, 100])
    assert separates([40, 55, 55, 100])
    assert not separates([40, 90, 99, 100])
    assert not separates([40, 80, 60, 100])

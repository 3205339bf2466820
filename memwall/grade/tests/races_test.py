"""Races are looked for in all that GCC compiles, and none is made up: honest code of many kinds."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from memwall.grade import submissions, workshop
from memwall.grade.tests import small_kit
from memwall.grade.tests.cheats_test import CASES, needs_sandbox

NAME = "spmv-omp-schedules"
RACES = small_kit.ROOT / "memwall/grade/cheats/openmp"


@needs_sandbox
@pytest.mark.xdist_group("workshop")
@pytest.mark.parametrize(("races", "honest"), [
    (("race_by_copies",), "views"),
    pytest.param(("race_*",), "*", marks=pytest.mark.large)])
def test_races_are_found_and_none_is_made_up(races: Sequence[str], honest: str,
                                             tmp_path: Path) -> None:
    kit = small_kit.small(tmp_path, NAME, CASES[NAME])
    with workshop.opened(kit, patience_s=600) as shop:
        problems = small_kit.unpunished(shop, RACES, races)
        solutions = small_kit.honest_solutions("openmp", tmp_path)
        for number, path in enumerate(path for path in solutions if path.match(f"{honest}.cpp")):
            compiled = shop.compile(submissions.read(kit, path), number)
            found = shop.races(compiled.path) if compiled.path else compiled.said
            problems += [f"{path.name}: {found}"] if found != [] else []
    assert not problems, "\n".join(problems)

"""What `just test` says of its stages."""

from collections.abc import Iterator

import pytest
import stages
from checks import Check, unless_passed
from stages import STAGES, Stage

CHECKS = [Check("a", "passed"), Check("b", "failed"), Check("c", "skipped"), Check("d", "passed")]


def quick(whole: bool) -> Iterator[Check]:
    """Never takes long."""
    yield from CHECKS


@pytest.mark.parametrize(("seconds", "whole", "end"), [
    (59.4, False, "59 s of  60"),
    (61, False, "61 s of  60, too long"),
    (7200, True, "7200 s"),
])
def test_a_stage_tells_its_time_beside_its_budget(seconds: float, whole: bool, end: str) -> None:
    stage = Stage(quick, 60)
    row = stages.row(stage, CHECKS, seconds, whole)
    assert " ".join(row.split()) == " ".join(f"quick 2 passed, 1 failed, 1 skipped {end}".split())


def test_all_budgets_together_are_18_minutes() -> None:
    assert sum(stage.budget for stage in STAGES.values()) <= 18 * 60


def test_every_stage_says_what_it_does() -> None:
    assert all(stage.summary.endswith(".") for stage in STAGES.values())


def test_an_unknown_stage_is_one_line(monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["stages.py", "unti"])
    with pytest.raises(SystemExit, match="2"):
        stages.main()
    assert "no stage 'unti'; there are: build, unit" in capsys.readouterr().err


def test_a_stage_that_breaks_is_a_failure() -> None:
    def broken(whole: bool) -> Iterator[Check]:
        """Breaks."""
        yield from ()
        raise OSError("no such device")

    (check,) = stages.run_stage(Stage(broken, 1), False)
    assert (check.outcome, check.details) == ("failed", "OSError: no such device")


def test_a_build_counts_only_if_it_fails() -> None:
    assert [check.name for one in CHECKS for check in unless_passed(one)] == ["b", "c"]

"""What `just test` says of its stages."""

import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import checks
import pytest
import stages
from checks import ROOT, Check, command, unless_passed
from stages import STAGES, Done, Lane, Stage

CHECKS = [Check("a", "passed"), Check("b", "failed"), Check("c", "skipped"), Check("d", "passed")]


def quick(whole: bool) -> Iterator[Check]:
    """Never takes long."""
    yield from CHECKS


@pytest.mark.parametrize(("seconds", "whole", "end"), [
    (59.4, False, "59 of processors, budget 60"),
    (61, False, "61 of processors, budget 60, too long"),
    (7200, True, "7200 of processors"),
])
def test_a_stage_tells_its_time_beside_its_budget(seconds: float, whole: bool, end: str) -> None:
    row = Done(Stage(quick, 60), CHECKS, 40, seconds).row(whole)
    assert " ".join(row.split()) == f"quick 2 passed, 1 failed, 1 skipped 40 s, {end}"


def test_all_budgets_together_are_18_minutes_of_two_processors() -> None:
    assert sum(stage.budget for stage in STAGES.values()) <= 2 * 18 * 60


def test_a_stage_of_one_processor_runs_beside_the_others_and_after_the_build() -> None:
    begun, beside_began = [], threading.Event()

    def build(whole: bool) -> Iterator[Check]:
        """Ends where the one beside it has begun."""
        yield Check("build", "passed" if beside_began.wait(10) else "failed")
        begun.append("built")

    def check(whole: bool) -> Iterator[Check]:
        """Needs no build."""
        beside_began.set()
        yield Check("check", "passed")

    def install(whole: bool) -> Iterator[Check]:
        """Needs the build."""
        begun.append("install")
        yield Check("install", "passed")

    given = [Stage(build, 1), Stage(check, 1, Lane.ONE), Stage(install, 1, Lane.ONE, built=True)]
    done = stages.run_stages(given, False)
    assert [one.stage for one in done] == given
    assert all(check.outcome == "passed" for one in done for check in one.checks)
    assert begun == ["built", "install"]


def test_what_times_runs_when_all_others_have_ended() -> None:
    events = []

    def other(whole: bool) -> Iterator[Check]:
        """Takes a while."""
        time.sleep(0.2)
        events.append("the other ends")
        yield Check("other", "passed")

    def timed(whole: bool) -> Iterator[Check]:
        """Wants nothing beside it."""
        events.append("what times begins")
        yield Check("timed", "passed")

    given = [Stage(timed, 1, Lane.ALONE), Stage(other, 1, Lane.ONE)]
    assert [one.stage for one in stages.run_stages(given, False)] == given
    assert events == ["the other ends", "what times begins"]


def test_what_takes_what_others_leave_gives_way_to_them_alone() -> None:
    def polite(whole: bool) -> Iterator[Check]:
        """Gives way."""
        yield command("polite", "sh", "-c", "exit $(nice)")

    def urgent(whole: bool) -> Iterator[Check]:
        """Does not."""
        yield command("urgent", "sh", "-c", "exit $(nice)")

    here = os.nice(0)
    one, other = stages.run_stages([Stage(polite, 1, Lane.LEFT), Stage(urgent, 1)], False)
    assert f"exit code {stages.LEAST_URGENT}\n" in one.checks[0].details
    assert other.checks[0].outcome == ("failed" if here else "passed")
    assert os.nice(0) == here


def test_a_stage_counts_the_processor_time_of_what_its_commands_start() -> None:
    def busy(whole: bool) -> Iterator[Check]:
        """Runs a shell that runs Python."""
        code = "import time\nwhile time.process_time() < 0.3: pass"
        yield command("busy", "sh", "-c", f"{sys.executable} -c '{code}'; true")

    assert stages.run_stage(Stage(busy, 1), False).processor >= 0.3


def test_what_can_be_sent_is_asked_without_nvcc_and_without_a_build(
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no repository here")
    monkeypatch.setattr(stages, "kernels", lambda whole: iter(()))
    monkeypatch.setattr(stages, "RELEASE", tmp_path)
    (check,) = stages.cuda(False)
    assert (check.outcome, check.name) == ("passed", "tracked files and a program can be sent")
    sizes = re.match(r"found (\S+) MiB, of which the tracked files have (\S+) and the program 0.0,",
                     check.details)
    assert sizes and sizes[1] == sizes[2] != "0.0"


def test_a_tree_that_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no repository here")
    program = tmp_path / "experiments/twice/twice"
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    monkeypatch.setattr(stages, "SENDABLE_MIB", 1)
    check = stages.sendable(tmp_path)
    assert (check.outcome, "the program 0.0" in check.details) == ("failed", False)


def test_every_stage_says_what_it_does() -> None:
    assert all(stage.summary.endswith(".") for stage in STAGES.values())


def test_an_unknown_stage_is_one_line(monkeypatch: pytest.MonkeyPatch,
                                      capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["stages.py", "unti"])
    with pytest.raises(SystemExit, match="2"):
        stages.main()
    assert "no stage 'unti'; there are: build, " in capsys.readouterr().err


def test_a_stage_without_a_short_form_is_asked_for_with_all(
        monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["stages.py", "points"])
    with pytest.raises(SystemExit, match="2"):
        stages.main()
    assert "has no short form: just test --all points" in capsys.readouterr().err


def test_a_stage_that_breaks_is_a_failure() -> None:
    def broken(whole: bool) -> Iterator[Check]:
        """Breaks."""
        yield from ()
        raise OSError("no such device")

    (check,) = stages.run_stage(Stage(broken, 1), False).checks
    assert (check.outcome, check.details) == ("failed", "OSError: no such device")


def test_a_build_counts_only_if_it_fails() -> None:
    assert [check.name for one in CHECKS for check in unless_passed(one)] == ["b", "c"]


def test_a_build_directory_of_other_options_begins_anew(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(checks, "command", lambda *_, MESON_ARGS, **__: asked.append(MESON_ARGS))
    place = tmp_path / "release"
    made = place / "build.ninja"

    def configure(options: str) -> bool:
        """Whether what was made before is still there."""
        checks.configured("build", place, options)
        kept = made.exists()
        made.touch()
        return kept

    assert not configure("-Dcuda=disabled")
    assert configure("-Dcuda=disabled")
    assert not configure("")
    assert configure("")
    (place / checks.OPTIONS).unlink()  # made by somebody else
    assert not configure("")
    assert asked[-1] == "-Dwerror=true "

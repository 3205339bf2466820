"""What a grader that was killed leaves is ended by the next."""

import os
import queue
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from memwall.grade import sandbox, workshop
from memwall.grade.tests.cheats_test import needs_sandbox

pytestmark = [needs_sandbox, pytest.mark.xdist_group("workshop")]

UID = sandbox.FIRST_UID + 91  # of no grader that may be at work
GROUPS = Path("/sys/fs/cgroup/freezer")


def test_what_a_judge_had_frozen_is_ended() -> None:
    group = GROUPS / f"memwall-{os.getpid()}-0"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no freezer of cgroups of version 1 here")
    hidden = ["setpriv", "--reuid", str(UID), "--clear-groups", "sleep", "60"]
    with subprocess.Popen(hidden) as left:
        while sandbox._user(Path(f"/proc/{left.pid}")) != UID:
            time.sleep(0.01)
        (group / "cgroup.procs").write_text(str(left.pid))
        (group / "freezer.state").write_text("FROZEN")
        sandbox.end_all([UID])
        code = left.wait(timeout=10)
    group.rmdir()
    assert code == -signal.SIGKILL


@pytest.mark.parametrize("tier", ["A", "B"])
def test_a_compiler_whose_time_is_up_does_not_run_on(
        tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as room:
        Path(room).chmod(0o711)
        if not sandbox.works(tier, Path(room)):
            pytest.skip(f"no sandbox of tier {tier} here")
        (Path(room) / "Makefile").write_text("endless:\n\tsleep 60\n")
        shop = object.__new__(workshop.Workshop)
        shop.tier, shop._compilers = tier, queue.SimpleQueue()
        shop._compilers.put(UID)
        monkeypatch.setattr(workshop, "COMPILE_SECONDS", 1)
        with (tmp_path / "said").open("w+b") as said:
            assert shop._make_in_box(Path(room), ["endless"], said) is None
    assert not [path for path in Path("/proc").glob("[0-9]*") if sandbox._user(path) == UID]

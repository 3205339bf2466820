"""What a grader that was killed leaves is ended by the next."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from memwall.grade import sandbox
from memwall.grade.tests.cheats_test import needs_sandbox

UID = sandbox.FIRST_UID + 91  # of no grader that may be at work
GROUPS = Path("/sys/fs/cgroup/freezer")


@needs_sandbox
def test_what_a_judge_had_frozen_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    group = GROUPS / f"memwall-{os.getpid()}-0"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no freezer of cgroups of version 1 here")
    monkeypatch.setattr(sandbox, "FIRST_UID", UID)
    hidden = ["setpriv", "--reuid", str(UID), "--clear-groups", "sleep", "60"]
    with subprocess.Popen(hidden) as left:
        (group / "cgroup.procs").write_text(str(left.pid))
        (group / "freezer.state").write_text("FROZEN")
        sandbox.end_all(UID)
        code = left.wait(timeout=10)
    group.rmdir()
    assert code == -signal.SIGKILL

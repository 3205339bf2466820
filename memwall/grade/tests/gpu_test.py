"""The kit for GPUs on a GPU: `just test-gpu` runs this, nothing else can."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memwall.grade import assignment, grading, sandbox, submissions, workshop
from memwall.grade.tests import ladder_test, small_kit
from memwall.record import kits

KIT = small_kit.ROOT / "experiments/spmv-gpu-variants/kit"
CASES = ("public stencil27 n=40..41", "secret ragged rows=40000..50000 columns=60000..70000"
         " longest=20")


def gpu() -> bool:
    """Is there one?"""
    if shutil.which("nvcc") is None or shutil.which("nvidia-smi") is None:
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True, check=False).stdout != b""


pytestmark = pytest.mark.skipif(not gpu(), reason="no GPU here")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine without a sandbox compilers run without one: these submissions are ours."""
    monkeypatch.setattr(workshop, "PLACE", tmp_path / "place")
    if os.geteuid() != 0 or any(shutil.which(tool) is None for tool in sandbox.TOOLS):
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(sandbox, "probe", lambda _: "none")
        monkeypatch.setattr(sandbox, "command", lambda _, box, words: ["env", "-C",
                                                                      str(box.folder), *words])
        monkeypatch.setattr(os, "chown", lambda *_, **__: None)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[workshop.Workshop]:
    """A workshop with a small kit."""
    with workshop.opened(small_kit.small(tmp_path, "spmv-gpu-variants", CASES),
                         patience_s=600) as opened:
        yield opened


def test_each_step_brings_points(tmp_path: Path) -> None:
    _, instructor = assignment.make(small_kit.ROOT, "spmv-gpu-variants", tmp_path / "whole")
    with workshop.opened(kits.load(instructor), patience_s=600) as whole:
        points = ladder_test.ladder(whole)
    assert ladder_test.separates(points), points


def test_the_model_is_right(shop: workshop.Workshop) -> None:
    submission = submissions.read(shop.kit, KIT / "spmv.cu")
    record = grading.judged(shop, submission, shop.compile(submission, 0), attempts=1)
    assert record["correctness"] == shop.kit.correctness, record


def test_no_cheat_pays(shop: workshop.Workshop) -> None:
    cheats = small_kit.ROOT / "memwall/grade/cheats/gpu"
    problems = small_kit.unpunished(shop, cheats, whole=True)
    assert not problems, "\n".join(problems)


def test_students_test_their_kernel(tmp_path: Path) -> None:
    kit = small_kit.small(tmp_path, "spmv-gpu-variants", CASES)
    folder = kit.folder.parent / "student"
    shutil.copy(KIT / "spmv.cu", folder)
    done = subprocess.run(["make", "-C", folder, "test", "score"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of the bound" in done.stdout

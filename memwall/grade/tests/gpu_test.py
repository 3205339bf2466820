"""The kits for GPUs on a GPU: `just test-gpu` runs this, nothing else can."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from memwall.grade import assignment, grading, sandbox, submissions, workshop
from memwall.grade.tests import ladder_test, small_kit
from memwall.record import kits

CHEATS = small_kit.ROOT / "memwall/grade/cheats"
SPARSE = "spmv-gpu-variants"
#: Small cases of each kit, and the folder of the cheats of its problem.
KITS = {
    SPARSE: (("public stencil27 n=40..41",
              "secret ragged rows=40000..50000 columns=60000..70000 longest=20"), "gpu"),
    "gemm-cpu-to-gpu-gpu": (("public product m=1000..1021 n=2000..2039 k=1500..1531",
                             "secret product m=1021..1040 n=2000..2039 k=1500..1531"), "dense_gpu"),
    "softmax-block": (("public softmax rows=3000..3100 columns=500..600 offset=0",
                       "secret softmax rows=2000..2100 columns=700..800 offset=200"),
                      "softmax_gpu")}


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


@pytest.fixture(params=KITS)
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[workshop.Workshop]:
    """A workshop with a small kit of each."""
    cases, _ = KITS[request.param]
    with workshop.opened(small_kit.small(tmp_path, request.param, cases),
                         patience_s=600) as opened:
        yield opened


@pytest.mark.parametrize("name", KITS)
def test_each_step_brings_points(name: str, tmp_path: Path) -> None:
    _, instructor = assignment.make(small_kit.ROOT, name, tmp_path / "whole")
    with workshop.opened(kits.load(instructor), patience_s=600) as whole:
        points = ladder_test.ladder(whole)
    assert ladder_test.separates(points), points


def test_the_model_is_right(shop: workshop.Workshop) -> None:
    submission = submissions.read(shop.kit, shop.kit.folder / f"model{shop.kit.suffix}")
    record = grading.judged(shop, submission, shop.compile(submission, 0), attempts=1)
    assert record["correctness"] == shop.kit.correctness, record


def test_no_cheat_pays(shop: workshop.Workshop, tmp_path: Path) -> None:
    _, folder = KITS[shop.kit.name]
    cheats = CHEATS / folder
    if shop.kit.name != SPARSE:
        cheats = small_kit.adapted_for_gpu(cheats, CHEATS / "gpu", tmp_path / "cheats")
    problems = small_kit.unpunished(shop, cheats, whole=True)
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", KITS)
def test_students_test_their_kernel(name: str, tmp_path: Path) -> None:
    kit = small_kit.small(tmp_path, name, KITS[name][0])
    folder = kit.folder.parent / "student"
    shutil.copy(kit.folder / "model.cu", folder / kit.file)
    answers = {"PREDICT": "9", "BECAUSE": "it is the model", "WHY": "it is"}
    done = subprocess.run(["make", "-C", folder, "test", "score"], capture_output=True, text=True,
                          check=False, env={**os.environ, **answers})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "of the bound" in done.stdout

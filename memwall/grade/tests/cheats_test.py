"""Every cheat on record, handed in: it gets nothing and is told why, or no more than without it.

One test for all: boxes have uids of their own, so that only one workshop can be at work.
"""

import dataclasses
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from memwall.grade import assignment, sandbox, submissions, workshop
from memwall.grade.tests import small_kit
from memwall.record import kits

CHEATS = small_kit.ROOT / "memwall/grade/cheats"
NAME = "spmv-serial-steps"
FOLDERS = {NAME: "core", "spmv-omp-schedules": "openmp", "spmv-mpi-partitioning": "mpi"}
DENSE = "gemm-cpu-to-gpu-one-core"
DENSE_OPENMP = "gemm-cpu-to-gpu-all-cores"
CASES = {
    NAME: ("public stencil27 n=14..15",
           "secret ragged rows=4000..5000 columns=6000..7000 longest=20"),
    "spmv-omp-schedules": ("public poisson2d n=200..210",
                           "secret ragged rows=20000..21000 columns=16000..17000 longest=6"),
    "spmv-mpi-partitioning": ("public poisson2d n=100..110",
                              "secret local_rows rows=30000..31000 nonzeros=90000..95000"
                              " window=500"),
    DENSE: ("public product m=1001 n=1001 k=18..22",
            "secret product m=1010..1020 n=50..60 k=120..130"),
    DENSE_OPENMP: ("public product m=130..140 n=150..160 k=150..160",
                   "secret product m=130..140 n=130..140 k=200..210")}


def no_boxes() -> str:
    """Why no box can be made here, however well the grader makes them; empty where one can."""
    if os.geteuid() != 0 or any(shutil.which(tool) is None for tool in (*sandbox.TOOLS, "make")):
        return "boxes need root, bubblewrap and make"
    bare = ["bwrap", "--unshare-pid", "--ro-bind", "/", "/", "--proc", "/proc", "true"]
    if subprocess.run(bare, capture_output=True, check=False).returncode != 0:
        return "bubblewrap can do nothing here, as in a chroot or a container without its rights"
    return ""


needs_sandbox = pytest.mark.skipif(bool(NO_BOXES := no_boxes()), reason=NO_BOXES)


#: One of each kind.
SHORT = ("filled_link", "inputs_zeroed", "leftover_thread", "replay_by_address", "told_secrets",
         "woken_by_timer")
#: Those that another kind of sandbox might let pass.
ON_SANDBOX = ("fork_bomb", "inherited_descriptors", "leftover_*", "more_threads", "patched_judge",
              "scanned_secrets", "widened_limits", "work_of_children", "woken_*")
ALONE = (pytest.mark.large, pytest.mark.alone)  # points are compared
#: All of a kit's folder; what wakes by a timer is the same file for OpenMP.
ALL = {"core": ("*",), "openmp": ("*", "../core/woken_by_timer"), "mpi": ("*",)}


@needs_sandbox
@pytest.mark.xdist_group("workshop")
@pytest.mark.parametrize(("name", "tier", "cheats", "whole"), [
    (NAME, "A", SHORT, False),
    *(pytest.param(name, "A", ALL[folder], True, marks=ALONE)
      for name, folder in FOLDERS.items()),
    pytest.param(NAME, "B", ON_SANDBOX, False, marks=ALONE)])
def test_no_cheat_pays(name: str, tier: str, cheats: Sequence[str], whole: bool, tmp_path: Path,
                       monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(folder: Path) -> str:
        if not sandbox.works(tier, folder):
            pytest.skip(f"no sandbox of tier {tier} here")
        return tier

    monkeypatch.setattr(sandbox, "probe", probe)
    monkeypatch.setattr(workshop, "COMPILE", dataclasses.replace(workshop.COMPILE, seconds=8))
    kit = small_kit.small(tmp_path / "kit", name, CASES[name], rounds=15 if whole else 5)
    with workshop.opened(kit, patience_s=600) as shop:
        problems = small_kit.unpunished(shop, CHEATS / FOLDERS[name], cheats, whole)
    assert not problems, "\n".join(problems)


#: The same, and what only the check of a dense product has to find.
SHORT_DENSE = ("leftover_thread", "replay_by_address", "woken_by_timer", "row_sums", "whole_once",
               "single_precision")


@needs_sandbox
@pytest.mark.xdist_group("workshop")
@pytest.mark.parametrize(("name", "others", "cheats", "whole"), [
    (DENSE, "core", SHORT_DENSE, False),
    pytest.param(DENSE, "core", ("*",), True, marks=ALONE),
    pytest.param(DENSE_OPENMP, "openmp", ("*", "../../race_by_luck"), True, marks=ALONE)])
def test_no_cheat_of_another_problem_pays(name: str, others: str, cheats: Sequence[str],
                                          whole: bool, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workshop, "COMPILE", dataclasses.replace(workshop.COMPILE, seconds=8))
    shutil.copy(CHEATS / "dense_openmp/race_by_luck.cpp", tmp_path)
    folder = small_kit.adapted(CHEATS / "dense", CHEATS / others, tmp_path / "cheats" / others)
    kit = small_kit.small(tmp_path / "kit", name, CASES[name], rounds=15 if whole else 5)
    with workshop.opened(kit, patience_s=600) as shop:
        problems = small_kit.unpunished(shop, folder, cheats, whole)
    assert not problems, "\n".join(problems)


def test_most_cheats_can_be_those_of_another_problem(tmp_path: Path) -> None:
    folder = small_kit.adapted(CHEATS / "dense", CHEATS / "core", tmp_path / "core")
    names = {path.stem for path in folder.iterdir()}
    assert len(names) > 45
    assert {"told_secrets", "fork_bomb", "row_sums", "woken_by_timer"} <= names


@needs_sandbox
@pytest.mark.large
@pytest.mark.alone
@pytest.mark.parametrize(("hidden", "left"), [
    ("/sys/fs/cgroup/unified", ("cgroup 1", "signals")), ("/sys/fs/cgroup", ("signals",))])
def test_nobody_works_while_stopped_where_there_is_no_such_cgroup(
        hidden: str, left: Sequence[str], tmp_path: Path) -> None:
    if not Path(hidden).exists():
        pytest.skip(f"no {hidden} here")
    kit = small_kit.small(tmp_path / "kit", NAME, CASES[NAME])
    with workshop.opened(kit, patience_s=600) as shop:
        judge = shop.home / "build/judge"
        judge.rename(shop.home / "build/itself")
        judge.write_text(f"#!/bin/sh\nexec unshare --mount sh -c 'umount -R {hidden}; exec"
                         f" {shop.home}/build/itself'\n")
        judge.chmod(0o700)
        problems = small_kit.unpunished(shop, CHEATS / "core", ("woken_*", "told_secrets"))
        naive = submissions.read(kit, kit.folder / "naive.cpp")
        record = small_kit.quiet_record(shop, naive, shop.compile(naive, 0))
        assert record["freezer"] in left
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("member", ["../spmv.cpp", "/etc/spmv.cpp"])
def test_an_archive_reaches_nowhere_else(member: str, tmp_path: Path) -> None:
    kit = kits.load(small_kit.ROOT / "experiments" / NAME / "kit")
    path = tmp_path / "eve.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "")
    assert "outside" in submissions.read(kit, path).refused


def test_an_archive_holds_no_link(tmp_path: Path) -> None:
    kit = kits.load(small_kit.ROOT / "experiments" / NAME / "kit")
    path = tmp_path / "eve.tar.gz"
    link = tarfile.TarInfo("spmv.cpp")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/shadow"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(link)
    assert "link" in submissions.read(kit, path).refused


@pytest.mark.parametrize("name", [
    name if name == NAME else pytest.param(name, marks=pytest.mark.large) for name in FOLDERS])
def test_what_is_honest_compiles(name: str, tmp_path: Path) -> None:
    """Whether it is accused, only the whole form asks."""
    student, instructor = assignment.make(small_kit.ROOT, name, tmp_path)
    compiler = kits.load(instructor).compiler
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    for path in small_kit.honest_solutions(FOLDERS[name], tmp_path):
        subprocess.run([compiler, "-std=c++20", "-fopenmp", "-fsyntax-only", "-I", student, path],
                       check=True)

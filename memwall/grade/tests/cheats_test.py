"""Every cheat on record, handed in: it gets nothing and is told why, or no more than without it.

One test for all: boxes have uids of their own, so that only one workshop can be at work.
"""

import dataclasses
import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from memwall.grade import sandbox, submissions, workshop
from memwall.grade.tests import small_kit
from memwall.record import kits

CHEATS = small_kit.ROOT / "memwall/grade/cheats"
NAME = "spmv-serial-steps"
CASES = ("public stencil27 n=14..15", "secret ragged rows=4000..5000 columns=6000..7000 longest=20")

needs_sandbox = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in (*sandbox.TOOLS, "make")),
    reason="boxes need root, bubblewrap and make")


#: Those that another kind of sandbox might let pass.
ON_SANDBOX = ("fork_bomb", "inherited_descriptors", "leftover_*", "more_threads", "patched_judge",
              "scanned_secrets", "widened_limits", "work_of_children")


@needs_sandbox
@pytest.mark.parametrize(("tier", "names"), [
    ("A", ["*"]), pytest.param("B", ON_SANDBOX, marks=pytest.mark.large)])
def test_no_cheat_pays(tier: str, names: list[str], tmp_path: Path,
                       monkeypatch: pytest.MonkeyPatch) -> None:
    def probe(folder: Path) -> str:
        if not sandbox.works(tier, folder):
            pytest.skip(f"no sandbox of tier {tier} here")
        return tier

    monkeypatch.setattr(sandbox, "probe", probe)
    monkeypatch.setattr(workshop, "COMPILE", dataclasses.replace(workshop.COMPILE, seconds=8))
    kit = small_kit.small(tmp_path / "kit", NAME, CASES)
    with workshop.opened(kit, patience_s=600) as shop:
        problems = small_kit.unpunished(shop, CHEATS / "core", names)
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

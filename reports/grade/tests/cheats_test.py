"""Every cheat on record, handed in: it gets nothing and is told why, or no more than without it.

One test for all: boxes have uids of their own, so that only one workshop can be at work.
"""

import dataclasses
import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grade import assignment, definition, grading, sandbox, submissions, workshop

ROOT = Path(__file__).resolve().parents[3]
CHEATS = ROOT / "reports/grade/cheats"
NAME = "spmv-serial-steps"
SMALL = ('case = "public stencil27 n=14..15"', 'case = "secret ragged rows=4000..5000 columns=6000..7000'
         ' longest=20"')
SCORES = re.compile(r"^// Scores: (zero|fewer|as without)(?:: (.*))?$", re.M)

needs_sandbox = pytest.mark.skipif(
    os.geteuid() != 0 or any(shutil.which(tool) is None for tool in (*sandbox.TOOLS, "make")),
    reason="boxes need root, bubblewrap and make")


def small_kit(folder: Path, name: str = NAME) -> definition.Kit:
    """An instructor kit with two small cases, called a few times."""
    _, instructor = assignment.make(ROOT, name, folder)
    path = instructor / "kit.toml"
    head = path.read_text().partition("[[case]]")[0]
    cases = "".join(f'[[case]]\n{line}\nabout = ""\nnext = ""\n' for line in SMALL)
    path.write_text(re.sub(r"^rounds = .*$", "rounds = 5", head, flags=re.M) + cases)
    return definition.load(instructor)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[workshop.Workshop]:
    monkeypatch.setattr(workshop, "COMPILE", dataclasses.replace(workshop.COMPILE, seconds=8))
    with workshop.opened(small_kit(tmp_path), patience_s=600) as opened:
        yield opened


@needs_sandbox
def test_no_cheat_pays(shop: workshop.Workshop) -> None:
    files = sorted(CHEATS.glob("*.cpp"))
    assert files
    handed_in = [submissions.read(shop.kit, path) for path in files]
    with ThreadPoolExecutor(2) as pool:
        programs = list(pool.map(shop.compile, handed_in, range(len(handed_in))))
    problems = []
    for path, submission, program in zip(files, handed_in, programs, strict=True):
        record = grading.judged(shop, submission, program)
        problem = complaint(shop.kit, path.read_text(), record)
        if problem:
            problems.append(f"{path.name}: {problem}: {record}")
    assert not problems, "\n".join(problems)


def complaint(kit: definition.Kit, text: str, record: grading.Record) -> str:
    """What is wrong with the grade of a cheat."""
    scores = SCORES.search(text)
    assert scores, "a cheat says what it scores"
    kind, reason = scores.groups()
    said = " ".join([record["reason"], *(one["wrong"] for one in record["outcomes"])])
    if kind == "as without":
        # The same code without the cheat is naive's, which gets nothing for speed; noise may.
        least_of_speed = kit.speed / 4
        return "" if record["speed"] <= least_of_speed else "it is paid for speed"
    if not re.search(reason, said):
        return f"it is not told {reason!r}"
    most = 0 if kind == "zero" else kit.correctness / 2
    return "" if record["points"] <= most else "it gets points"


@pytest.mark.parametrize("member", ["../spmv.cpp", "/etc/spmv.cpp"])
def test_an_archive_reaches_nowhere_else(member: str, tmp_path: Path) -> None:
    kit = definition.load(ROOT / "experiments" / NAME / "kit")
    path = tmp_path / "eve.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "")
    assert "outside" in submissions.read(kit, path).refused


def test_an_archive_holds_no_link(tmp_path: Path) -> None:
    import tarfile
    kit = definition.load(ROOT / "experiments" / NAME / "kit")
    path = tmp_path / "eve.tar.gz"
    link = tarfile.TarInfo("spmv.cpp")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/shadow"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(link)
    assert "link" in submissions.read(kit, path).refused

"""A whole run of `just grade`: what hand-ins, kills, full disks and a second grader do to it.

No sandbox and no clock is needed for that: the judge of these tests takes no time.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memwall.grade.tests.calls import ROOT

#: The command line, with a workshop that compiles nothing and judges in a hundredth of a second.
COMMAND = """
import contextlib, sys, time
from pathlib import Path
from memwall.grade import grading
from memwall.grade.tests import calls
from memwall.grade.workshop import Binary
from memwall.__main__ import main

class Shop:
    tier = "A"
    def __init__(self, kit):
        self.kit = kit
    def compile(self, submission, number):
        program = Path(sys.argv[1]) / f"program-{number}"
        program.touch()
        return Binary(program)
    def judge(self, program):
        time.sleep(float(sys.argv[2]))
        with open(Path(sys.argv[1]) / "judged", "a") as file:
            file.write("x")
        return calls.calls(2.0)

grading.opened = contextlib.contextmanager(lambda kit, cores=(): (yield Shop(kit)))
sys.exit(main(["grade", *sys.argv[3:]]))
"""
KIT = ROOT / "experiments/spmv-serial-steps/kit"


def start(place: Path, out: Path, files: list[Path], seconds: float = 0.0
          ) -> "subprocess.Popen[str]":
    """A grader at work."""
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, place, str(seconds), KIT, *files, "--out", out],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, errors="surrogateescape")


def texts(place: Path, count: int) -> list[Path]:
    """Submissions."""
    files = [place / f"student{number:02}.cpp" for number in range(count)]
    for number, file in enumerate(files):
        file.write_text(f"// {number}")
    return files


def test_forty_hand_ins_of_which_ten_are_broken(tmp_path: Path) -> None:
    """Whole ones get their grade and broken ones their reason, in one run."""
    files = texts(tmp_path, 30)
    broken = [tmp_path / name for name in (
        "pipe.cpp", "dangling.cpp", "garbage.zip", "sparse.tar", "empty.cpp", "notes.pdf",
        "folder", os.fsdecode(b"Andr\xe9.tar.gz"), "=cmd|' -C calc'!A0.zip", "n" * 240 + ".zip")]
    os.mkfifo(broken[0])
    broken[1].symlink_to("nowhere")
    broken[3].touch()
    os.truncate(broken[3], 1 << 40)
    broken[6].mkdir()
    for path in broken:
        if not os.path.lexists(path):
            path.write_bytes(b" ")
    litter = tmp_path / ".DS_Store"
    litter.write_bytes(b"\0")
    for _ in range(2):  # started again it has nothing left to do
        grader = start(tmp_path, tmp_path / "out", [*broken, *files, litter])
        said, complaints = grader.communicate(timeout=60)
        assert grader.returncode == 0, complaints
        assert f"{litter}: no submission" in said
    assert (tmp_path / "judged").read_text() == "x" * 30
    rows = (tmp_path / "out/grades.csv").read_text().splitlines()
    assert len(rows) == 41
    assert sum("refused: " in row for row in rows) == 10
    assert len(list((tmp_path / "out/students").glob("*.html"))) == 40
    for page in (tmp_path / "out/gradescope").glob("*.json"):
        assert "score" in json.loads(page.read_text())


@pytest.mark.parametrize("given", ["-- *", "./*"])
def test_files_that_look_like_options_are_handed_in(given: str, tmp_path: Path) -> None:
    """And what the lecturer gives as an option is one, although there is a file of that name."""
    names = ("--", "--out", "--out=x.cpp", "-h.cpp", "--help", "ada.cpp")
    (tmp_path / "files").mkdir()
    for name in names:
        (tmp_path / "files" / name).write_text(f"// {name}")
    shell = f'exec "$@" --out ../out {given}'
    done = subprocess.run(
        ["sh", "-c", shell, "sh", sys.executable, "-c", COMMAND, tmp_path, "0", KIT],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path / "files",
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = (tmp_path / "out/grades.csv").read_text().splitlines()
    assert len(rows) == 1 + len(names)
    assert sum("refused: " in row for row in rows) == 3  # of these names no .cpp


def test_a_killed_grader_goes_on_where_it_was(tmp_path: Path) -> None:
    files = texts(tmp_path, 20)
    out = tmp_path / "out"
    judged = tmp_path / "judged"
    for kills in range(1, 11):
        grader = start(tmp_path, out, files, seconds=0.01)
        until = time.monotonic() + 30
        while time.monotonic() < until and grader.poll() is None and (
                not judged.exists() or len(judged.read_text()) < 2 * kills - 1):
            time.sleep(0.002)
        grader.send_signal(signal.SIGKILL)
        grader.communicate()
    grader = start(tmp_path, out, files)
    _, complaints = grader.communicate(timeout=60)
    assert grader.returncode == 0, complaints
    assert len((out / "grades.csv").read_text().splitlines()) == 21
    assert 20 <= len(judged.read_text()) <= 30  # at most one of each kill is judged again


def test_two_graders_take_turns(tmp_path: Path) -> None:
    files = texts(tmp_path, 10)
    graders = [start(tmp_path, tmp_path / "out", files, seconds=0.02) for _ in range(2)]
    said = [grader.communicate(timeout=60) for grader in graders]
    assert [grader.returncode for grader in graders] == [0, 0], said
    assert (tmp_path / "judged").read_text() == "x" * 10
    assert sorted("10 submissions, 10 graded before" in out for out, _ in said) == [False, True]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a small disk")
@pytest.mark.parametrize("kilobytes", [64, 200])
def test_a_full_disk_loses_nothing(kilobytes: int, tmp_path: Path) -> None:
    """A disk on which some grades have room, and one on which the pages have none."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "none", disk],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        pytest.skip("no right to mount a small disk")
    try:
        files = texts(tmp_path, 20)
        for _ in range(2):
            grader = start(tmp_path, disk / "out", files)
            _, complaints = grader.communicate(timeout=60)
            assert grader.returncode == 2
            assert complaints.endswith("No space left on device: each grade so far is kept; make"
                                       " room, then start the same command again\n")
        kept = list((disk / "out/grades").glob("*.json"))
        assert kept
        assert all(json.loads(path.read_text())["student"] for path in kept)
        subprocess.run(["mount", "-o", "remount,size=9m", disk], check=True)
        grader = start(tmp_path, disk / "out", files)
        _, complaints = grader.communicate(timeout=60)
        assert grader.returncode == 0, complaints
        judged = len((tmp_path / "judged").read_text())
        assert len((disk / "out/grades.csv").read_text().splitlines()) == 21
        assert judged <= 22  # that which found no room is judged again
    finally:
        subprocess.run(["umount", disk], check=True)

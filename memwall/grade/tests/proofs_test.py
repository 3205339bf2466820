"""What a grader must hold over many hand-ins: nobody honest is accused, nothing is lost, and equals
are equal. `MEMWALL_PROOF=10` gives the whole numbers in place of a short form: 200 gradings of 20
honest solutions, ten kills, ten names.

`-s` shows what was counted: MEMWALL_PROOF=10 python -m pytest -s memwall/grade/tests/proofs_test.py
"""

import csv
import itertools
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from memwall.grade import assignment, grading, submissions, workshop
from memwall.grade.tests import small_kit
from memwall.grade.tests.cheats_test import CASES, CHEATS, FOLDERS, NAME, needs_sandbox
from memwall.record import kits

TIMES = int(os.environ.get("MEMWALL_PROOF", "1"))
ALIKE = 3  # points between equals
#: They get nothing.
HOSTILE = ("endless_loop", "filled_link", "forged_end", "leaves", "more_threads", "template_bomb")

pytestmark = [needs_sandbox, pytest.mark.large, pytest.mark.alone]


def accusation(kit: kits.Kit, record: grading.Record) -> str:
    """What is held against code that is right."""
    if record["correctness"] == kit.correctness and not record["reason"].startswith("nothing"):
        return ""
    return f"{record['label']}: {record['reason']}: {record['outcomes']} {record['compiler']}"


@pytest.mark.parametrize("name", FOLDERS)
def test_nobody_honest_is_accused(name: str, tmp_path: Path) -> None:
    kit = small_kit.small(tmp_path, name, CASES[name])
    accused, gradings, noisy = [], 0, 0
    with workshop.opened(kit, patience_s=900) as shop:
        solutions = small_kit.honest_solutions(FOLDERS[name], tmp_path)
        for number, path in enumerate(solutions):
            one = submissions.read(kit, path)
            compiled = shop.compile(one, number)
            for _ in range(TIMES):
                try:
                    accused.append(accusation(kit, grading.judged(shop, one, compiled)))
                    gradings += 1
                except grading.NoiseError:
                    noisy += 1
            print(f"{name}: {gradings} gradings, {noisy} without a grade for noise", flush=True)
    assert gradings > noisy
    assert not any(accused), "\n".join(filter(None, accused))


def hand_ins(folder: Path, texts: Sequence[str]) -> list[Path]:
    """Thirty that are honest, and ten that are hostile or broken."""
    for number, text in zip(range(30), itertools.cycle(texts), strict=False):
        (folder / f"honest{number:02}.cpp").write_text(f"// {number}\n{text}")
    for name in HOSTILE:
        shutil.copy(CHEATS / f"core/{name}.cpp", folder / f"hostile-{name}.cpp")
    os.mkfifo(folder / "broken-pipe.cpp")
    (folder / "broken-link.cpp").symlink_to("nowhere")
    (folder / "broken.zip").write_bytes(b"PK")
    (folder / "--help").mkdir()
    return sorted(folder.iterdir())


def test_forty_hand_ins_and_kills_while_they_are_graded(tmp_path: Path) -> None:
    kit = small_kit.small(tmp_path / "kit", NAME, CASES[NAME], rounds=3)
    files, out = tmp_path / "files", tmp_path / "out"
    files.mkdir()
    solutions = small_kit.honest_solutions(FOLDERS[NAME], tmp_path)
    paths = hand_ins(files, [path.read_text() for path in solutions])
    command = [sys.executable, "-m", "memwall", "grade", str(kit.folder),
               "--out", str(out), "--", *[path.name for path in paths]]

    def start() -> "subprocess.Popen[str]":
        return subprocess.Popen(command, cwd=files, stdout=subprocess.PIPE, text=True,
                                stderr=subprocess.STDOUT,
                                env=os.environ | {"PYTHONPATH": str(small_kit.ROOT)})

    def graded() -> int:
        return len(list((out / "grades").glob("*.json")))

    for kill in range(TIMES):
        grader, before = start(), graded()
        until = time.monotonic() + 300
        while grader.poll() is None and time.monotonic() < until and (
                graded() < before + 2 if kill else graded() < 6):
            time.sleep(0.01)
        grader.send_signal(signal.SIGKILL)
        grader.communicate()
        assert graded() >= before
    graders = [start() for _ in range(2)]  # the second waits, or says so
    said = [grader.communicate()[0] for grader in graders]
    assert 0 in [grader.returncode for grader in graders], said
    rows = list(csv.DictReader((out / "grades.csv").read_text().splitlines()))
    assert len(rows) == 40
    for row in rows:
        honest = row["student"].startswith("honest")
        assert (float(row["points"]) >= kit.correctness) == honest, row


@pytest.mark.parametrize("name", FOLDERS)
def test_equals_get_equal_points(name: str, tmp_path: Path) -> None:
    _, instructor = assignment.make(small_kit.ROOT, name, tmp_path / "kit")
    kit = kits.load(instructor)
    points = []
    with workshop.opened(kit, patience_s=900) as shop:
        for number in range(max(TIMES, 2)):
            path = tmp_path / f"student{number}.cpp"
            shutil.copy(kit.folder / "ladder/good.cpp", path)
            one = submissions.read(kit, path)
            points.append(grading.judged(shop, one, shop.compile(one, number))["points"])
            print(f"{name}: {points[-1]:.1f} points", flush=True)
    assert max(points) - min(points) <= ALIKE

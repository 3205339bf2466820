"""The work log: what `make score` asks and keeps, what of it is read, and where it is shown."""

import dataclasses
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from memwall.grade import assignment, grading, submissions, worklog
from memwall.grade.tests import calls
from memwall.pages import grades as pages
from memwall.record import files, kits

SCRIPT = calls.ROOT / "memwall/grade/templates/log.sh"
SAID = """a  right  1.0 ms,  2.00 times as fast as naive,  20 % of the bound
b  right  1.0 ms,  8.00 times as fast as naive,  80 % of the bound
"""
ANSWERS = {"PREDICT": "3.5", "BECAUSE": "two\tloads", "WHY": "caches"}
HEAD = "\t".join(worklog.COLUMNS) + "\n"


def kit() -> kits.Kit:
    return dataclasses.replace(calls.kit(), log=10)


def score(folder: Path, answers: Mapping[str, str], said: str = SAID, code: int = 0
          ) -> "subprocess.CompletedProcess[str]":
    """What `make score` does, with a judge that says something."""
    (folder / "build").mkdir(exist_ok=True)
    (folder / "spmv.cpp").write_text("// mine\n")
    return subprocess.run(
        ["sh", SCRIPT, "spmv.cpp", "sh", "-c", f'printf %s "$SAID"; exit {code}'], cwd=folder,
        env={"PATH": "/usr/bin:/bin", "SAID": said, **answers}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False)


def test_a_prediction_is_kept_beside_what_came(tmp_path: Path) -> None:
    for _ in range(2):
        done = score(tmp_path, ANSWERS)
        assert done.returncode == 0, done.stderr
    assert "you predicted 3.5 times as fast as naive; it is 4.00 times" in done.stdout
    one, other = worklog.read((tmp_path / "worklog.tsv").read_bytes())
    assert (one.predicted, one.because, one.came, one.why) == ("3.5", "two loads", "4.00", "caches")
    digest = submissions.Submission("ada", "ada", b"// mine\n").digest()
    assert one.digest == other.digest == digest[:12]


@pytest.mark.parametrize(("answers", "said"), [
    ({}, "found '', expected a number"), ({"PREDICT": "much"}, "found 'much', expected a number"),
    ({"PREDICT": "3"}, "expected a reason")])
def test_no_time_is_shown_before_a_prediction(answers: dict[str, str], said: str, tmp_path: Path
                                              ) -> None:
    done = score(tmp_path, answers)
    assert done.returncode == 2 and said in done.stderr
    assert "right" not in done.stdout and not (tmp_path / "worklog.tsv").exists()


def test_what_failed_came_to_nothing_and_a_fault_of_the_kit_is_not_kept(tmp_path: Path) -> None:
    assert score(tmp_path, ANSWERS, "a: FAILED", 1).returncode == 1
    (entry,) = worklog.read((tmp_path / "worklog.tsv").read_bytes())
    assert entry.came == "no result"
    assert score(tmp_path, ANSWERS, "", 2).returncode == 2
    assert len(worklog.read((tmp_path / "worklog.tsv").read_bytes())) == 1


def test_a_log_that_is_none_says_nothing() -> None:
    assert worklog.read(b"") == []
    assert worklog.read(b"\xff\t\n" + HEAD.encode() + b"a\tb\n") == []
    (entry,) = worklog.read(HEAD.encode() + b"now\tab\t2\t\x1b[31m\tx\t" + b"y" * 9999)
    assert "\x1b" not in entry.because and len(entry.why) == worklog.MOST_LETTERS


def test_a_log_comes_in_a_folder_in_an_archive_or_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    for folder in (tmp_path / "ada",):
        (folder / "spmv.cpp").write_text("// x")
        (folder / "worklog.tsv").write_text(HEAD)
    with zipfile.ZipFile(tmp_path / "ben.zip", "w") as archive:
        archive.writestr("spmv.cpp", "// x")
        archive.writestr("worklog.tsv", HEAD)
    (tmp_path / "chen.cpp").write_text("// x")
    (tmp_path / "chen.tsv").write_text(HEAD)
    (tmp_path / "dora.cpp").write_text("// x")
    for name, log in (("ada", HEAD), ("ben.zip", HEAD), ("chen.cpp", HEAD), ("dora.cpp", "")):
        one = submissions.read(kit(), tmp_path / name)
        assert (one.refused, one.log.decode()) == ("", log), name
    assert submissions.read(calls.kit(), tmp_path / "ada").log == b""  # a kit that asks for none
    assert submissions.is_log(tmp_path / "chen.tsv")


def test_the_log_of_an_export_of_canvas_has_another_number(tmp_path: Path) -> None:
    for name in ("lovelaceada_7_101_spmv.cpp", "lovelaceadam_7_103_spmv.cpp"):
        (tmp_path / name).write_text("// x")
    log = tmp_path / "lovelaceada_7_102_worklog.tsv"
    log.write_text(HEAD)
    assert submissions.read(kit(), tmp_path / "lovelaceada_7_101_spmv.cpp").log.decode() == HEAD
    assert submissions.read(kit(), tmp_path / "lovelaceadam_7_103_spmv.cpp").log == b""
    assert submissions.is_log(log)


def test_a_log_alone_is_refused_and_not_passed_over(tmp_path: Path) -> None:
    alone = tmp_path / "dora.tsv"
    alone.write_text(HEAD)
    (tmp_path / "dorabella.cpp").write_text("// x")
    assert not submissions.is_log(alone)
    assert "expected a file .cpp" in submissions.read(kit(), alone).refused


def test_the_page_shows_it_beside_what_the_judge_saw(tmp_path: Path) -> None:
    record = calls.record("ada", 2.0) | {"digest": "0123456789abcdef"}
    entries = [worklog.Entry("now", "0123456789ab", "3", "<b>hope</b>", "2.2", "it waits"),
               worklog.Entry("then", "ffffffffffff", "9", "luck", "1.0", "none")]
    files.write_json(grading.log_of(tmp_path, "ada"), [dataclasses.asdict(one) for one in entries])
    pages.write(kit(), [record], tmp_path)
    page = (tmp_path / "students/ada.html").read_text()
    assert "&lt;b&gt;hope" in page and "it waits" in page and "luck" in page
    assert '<td class="number">2.00<td>it waits' in page  # naive takes 4 ms, this 2 ms
    assert '<td class="number">–<td>none' in page


def test_students_of_such_a_kit_are_asked(tmp_path: Path) -> None:
    for name, asks in (("gemm-cpu-to-gpu-one-core", True), ("spmv-serial-steps", False)):
        student, _ = assignment.make(calls.ROOT, name, tmp_path / name)
        assert (student / "harness/log.sh").exists() == asks
        assert ("log.sh" in (student / "Makefile").read_text()) == asks
        text = (student / "README.md").read_text()
        assert ("By itself a log proves nothing" in text) == asks

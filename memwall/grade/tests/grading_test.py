"""What is graded, what is kept, and what is not graded again."""

import contextlib
import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memwall.grade import archive, assignment, grading, submissions
from memwall.grade.submissions import Submission
from memwall.grade.tests import calls
from memwall.grade.workshop import Compiled
from memwall.pages import grades as pages
from memwall.record import kits
from memwall.record.kits import GradeError, Kit

SUBMISSIONS = [Submission(name, name, name.encode()) for name in ("ada", "bob", "eve")]


class Shop:
    """Compiles nothing and times nothing; counts what it is asked."""

    tier = "A"

    def __init__(self, kit: Kit, fails: str = "") -> None:
        self.kit, self.fails = kit, fails
        self.judged: list[str] = []

    def compile(self, submission: Submission, _: int) -> Compiled:
        return Compiled(None, "no") if submission.student == "eve" else Compiled(
            Path(submission.student))

    def judge(self, program: Path) -> list[dict[str, object]]:
        self.judged.append(program.name)
        if program.name == self.fails:
            raise GradeError("the judge ended")
        return calls.calls(2.0)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(calls.kit())

    @contextlib.contextmanager
    def opened(_: Kit) -> Iterator[Shop]:
        yield made

    monkeypatch.setattr(grading, "opened", opened)
    monkeypatch.setattr(Path, "unlink", lambda *_, **__: None)
    return made


def run(shop: Shop, out: Path) -> list[grading.Record]:
    return grading.grade_all(shop.kit, SUBMISSIONS, out, lambda _: None)


def test_all_are_graded_once(shop: Shop, tmp_path: Path) -> None:
    first = run(shop, tmp_path)
    assert shop.judged == ["ada", "bob"]
    assert [one["student"] for one in first] == ["ada", "bob", "eve"]
    assert first[2]["reason"] == "it does not compile"
    assert run(shop, tmp_path) == first
    assert shop.judged == ["ada", "bob"]


def test_what_was_not_kept_is_graded_again(shop: Shop, tmp_path: Path) -> None:
    run(shop, tmp_path)
    lost = grading.path_of(tmp_path, shop.kit, SUBMISSIONS[1])
    lost.rename(lost.with_suffix(".new"))  # as a kill between writing and renaming leaves it
    run(shop, tmp_path)
    assert shop.judged == ["ada", "bob", "bob"]


def test_a_fault_of_the_grader_gives_no_grade(shop: Shop, tmp_path: Path) -> None:
    shop.fails = "ada"
    assert [one["student"] for one in run(shop, tmp_path)] == ["bob", "eve"]
    shop.fails = ""
    assert [one["student"] for one in run(shop, tmp_path)] == ["ada", "bob", "eve"]


def test_a_noisy_machine_gives_no_grade(shop: Shop, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop, "judge", lambda _: calls.calls(2.0, model_again=1.3))
    assert [one["student"] for one in run(shop, tmp_path)] == ["eve"]  # it does not compile


def test_the_best_counts_and_not_the_latest() -> None:
    tries = [calls.record("ada", 3.0, "ada@1"), calls.record("ada", 1.0, "ada@2"),
             calls.record("ada", 2.0, "ada@3")]
    assert [one["label"] for one in pages.best(tries)] == ["ada@2"]


def test_who_cannot_be_told_apart_shares_a_rank() -> None:
    standing = pages.ranked([calls.record(name, time) for name, time in
                             (("slow", 3.0), ("first", 1.0), ("alike", 1.01), ("next", 2.0))])
    assert [(one["student"], one["rank"]) for one in standing] == [
        ("first", 1), ("alike", 1), ("next", 3), ("slow", 4)]


def test_gradescope_gets_the_points_that_the_page_says(tmp_path: Path) -> None:
    kit = calls.kit()
    records = [calls.record("ada", 1.5), calls.record("bob", 2.0, failures={"long": "y[0] is 1"})]
    pages.write(kit, records, tmp_path)
    for record in records:
        result = json.loads((tmp_path / f"gradescope/{record['student']}.json").read_text())
        assert result["score"] == pytest.approx(record["points"])
        assert sum(test["score"] for test in result["tests"]) == pytest.approx(record["points"])
        hidden = [test for test in result["tests"] if test["visibility"] != "visible"]
        assert len(hidden) == sum(case.hidden for case in kit.cases)
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert lines[1].startswith("ada,ada,")
    assert len(lines) == 3
    page = (tmp_path / "students/bob.html").read_text()
    assert "the fault is yours" in page
    assert "y[0] is 1" in page


def test_no_cell_of_grades_is_a_formula() -> None:
    """A label is what a student calls a try, a reason what a program wrote."""
    records = [calls.record("ada", 1.5) | {"label": '=HYPERLINK("http://evil")', "reason": "@x\ny"},
               calls.record("bob", 2.0) | {"label": "-1+1", "reason": "a,b"}]
    rows = list(csv.DictReader(io.StringIO(pages.table(pages.ranked(records)))))
    assert {row["label"] for row in rows} == {'\'=HYPERLINK("http://evil")', "'-1+1"}
    assert {row["reason"] for row in rows} == {"'@x y", "a,b"}


def test_gradescope_gets_what_the_compiler_said() -> None:
    refused = grading.refusal(SUBMISSIONS[2], "it does not compile", "spmv.cpp:3: expected ';'")
    assert pages.gradescope(calls.kit(), refused)["output"] == (
        "it does not compile\nspmv.cpp:3: expected ';'")


def test_a_file_of_another_kind_is_refused_and_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("int main() {}")
    (tmp_path / "ada.cpp").write_text("int main() {}")
    notes, ada = submissions.read_all(calls.kit(), sorted(tmp_path.iterdir(), reverse=True))
    assert notes.refused.startswith("expected a file .cpp, a folder or an archive")
    assert (ada.refused, ada.text) == ("", b"int main() {}")


def test_two_submissions_of_one_name_are_nobodys(tmp_path: Path) -> None:
    for name in ("ada", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "spmv.cpp").write_text(name)
    folders = sorted(tmp_path.iterdir())
    assert [one.student for one in submissions.read_all(calls.kit(), folders)] == ["ada", "bob"]
    with pytest.raises(GradeError, match="bob/spmv.cpp: found a second submission spmv, after"):
        submissions.read_all(calls.kit(), [folder / "spmv.cpp" for folder in folders])


def test_the_autograder_installs_what_it_imports(tmp_path: Path) -> None:
    _, instructor = assignment.make(calls.ROOT, "spmv-serial-steps", tmp_path / "course")
    archive.write(kits.load(instructor), tmp_path / "autograder.zip")
    known = {*sys.stdlib_module_names, "memwall"}
    with zipfile.ZipFile(tmp_path / "autograder.zip") as packed:
        setup = packed.read("setup.sh").decode()
        texts = [packed.read(name).decode() for name in packed.namelist()
                 if name.startswith("memwall/") and name.endswith(".py")]
    imported = {match[1] for text in texts
                for match in re.finditer(r"^(?:import|from) (\w+)", text, re.MULTILINE)}
    assert "jinja2" in imported
    for module in imported - known:
        assert f"python3-{module}" in setup.split()


def test_the_autograder_needs_nothing_else_of_this_tree(tmp_path: Path) -> None:
    _, instructor = assignment.make(calls.ROOT, "spmv-serial-steps", tmp_path / "course")
    archive.write(kits.load(instructor), tmp_path / "autograder.zip")
    with zipfile.ZipFile(tmp_path / "autograder.zip") as packed:
        assert {"setup.sh", "run_autograder"} <= set(packed.namelist())
        packed.extractall(tmp_path / "source")
    results = tmp_path / "results.json"
    submission = tmp_path / "submission"
    submission.mkdir()  # nothing in it: refused before anything is compiled
    command = [sys.executable, "-m", "memwall", "gradescope", "kit", str(submission),
               str(results)]
    done = subprocess.run(command, cwd=tmp_path / "source", env={}, check=False,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(results.read_text())["output"].startswith("refused: expected one file")

"""What is graded, what is kept, and what is not graded again."""

import contextlib
import csv
import dataclasses
import io
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from memwall.grade import grading, points, submissions
from memwall.grade.submissions import Submission
from memwall.grade.tests import calls
from memwall.grade.workshop import Binary, Exhausted
from memwall.pages import grades as pages
from memwall.record.kits import GradeError, InputFamily, Kit

SUBMISSIONS = [Submission(name, name, name.encode()) for name in ("ada", "bob", "eve")]


class Shop:
    """Compiles nothing and times nothing; counts what it is asked."""

    tier = "A"

    def __init__(self, kit: Kit, room: Path) -> None:
        self.kit = kit
        self.room = room
        self.fails: dict[str, Exception] = {}
        self.judged: list[str] = []

    def compile(self, submission: Submission, _: int) -> Binary:
        if submission.student == "eve":
            return Binary(None, "no")
        program = self.room / submission.student[:100]
        program.touch()
        return Binary(program)

    def judge(self, program: Path) -> list[dict[str, object]]:
        self.judged.append(program.name)
        if program.name in self.fails:
            raise self.fails[program.name]
        return calls.calls(2.0)


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    made = Shop(calls.kit(), tmp_path_factory.mktemp("room"))

    @contextlib.contextmanager
    def opened(_: Kit, cores: Sequence[int] = ()) -> Iterator[Shop]:
        yield made

    monkeypatch.setattr(grading, "opened", opened)
    return made


def run(shop: Shop, out: Path) -> list[grading.Record]:
    return grading.grade_all(shop.kit, SUBMISSIONS, out, lambda _: None)


def test_all_are_graded_once(shop: Shop, tmp_path: Path) -> None:
    first = run(shop, tmp_path)
    assert shop.judged == ["ada", "bob"]
    assert [one["student"] for one in first] == ["ada", "bob", "eve"]
    assert first[2]["reason"] == "it does not compile"
    assert [(one["tier"], one["freezer"]) for one in first] == [
        ("A", "signals"), ("A", "signals"), ("", "")]
    assert list(shop.room.iterdir()) == []
    assert run(shop, tmp_path) == first
    assert shop.judged == ["ada", "bob"]


def test_a_class_hears_how_much_is_compiled_and_timed(shop: Shop, tmp_path: Path,
                                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "SILENT_S", -1)
    said: list[str] = []
    grading.grade_all(shop.kit, SUBMISSIONS, tmp_path, said.append)
    told = [re.sub(r"\d+ s left", "s left", line) for line in said if "wait;" in line]
    assert told == ["1 of 3 are compiled, 2 wait; s left", "2 of 3 are compiled, 1 wait; s left",
                    "3 of 3 are compiled, 0 wait; s left", "1 of 3 are timed, 2 wait; s left",
                    "2 of 3 are timed, 1 wait; s left"]


def test_what_is_left_takes_as_long_as_its_text_did_and_else_as_the_latest_ones() -> None:
    pace = grading.Pace()
    assert not pace.is_known_for(1)
    for text, seconds in ((b"fast", 2), (b"slow", 50), (b"slow", 70)):
        pace.took(text, seconds)
    assert [pace.of(text) for text in (b"fast", b"slow", b"new")] == [2, 60, 31]
    assert pace.is_known_for(60) and not pace.is_known_for(61)
    for k in range(grading.RECENT):
        pace.took(str(k).encode(), 4)
    assert [pace.of(text) for text in (b"slow", b"new")] == [60, 4]


def test_what_was_not_kept_is_graded_again(shop: Shop, tmp_path: Path) -> None:
    run(shop, tmp_path)
    lost = grading.path_of(tmp_path, shop.kit, SUBMISSIONS[1])
    lost.rename(lost.with_suffix(".new"))  # as a kill between writing and renaming leaves it
    run(shop, tmp_path)
    assert shop.judged == ["ada", "bob", "bob"]


@pytest.mark.parametrize("error", [GradeError("the judge ended"), KeyError("case"),
                                   OSError(24, "Too many open files"), ValueError("no JSON")])
def test_a_fault_of_the_grader_gives_no_grade(error: Exception, shop: Shop, tmp_path: Path) -> None:
    shop.fails = {"ada": error}
    assert [one["student"] for one in run(shop, tmp_path)] == ["bob", "eve"]
    shop.fails = {}
    assert [one["student"] for one in run(shop, tmp_path)] == ["ada", "bob", "eve"]


def test_who_takes_too_long_has_a_grade_and_holds_up_nobody(shop: Shop, tmp_path: Path) -> None:
    shop.fails = {"ada": Exhausted("its calls took 800 of the 900 s")}
    for _ in range(2):  # a new start does not wait again
        ada, bob, _ = run(shop, tmp_path)
        assert (ada["points"], bob["reason"]) == (0, "")
        assert ada["reason"] == "its calls took 800 of the 900 s"
    assert shop.judged == ["ada", "bob"]


def test_what_no_compiler_could_be_started_for_is_the_graders(
        shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compile_(submission: Submission, _: int) -> Binary:
        if submission.student == "ada":
            raise OSError(11, "Resource temporarily unavailable")
        return Binary(shop.room / submission.student)

    monkeypatch.setattr(shop, "compile", compile_)
    assert [one["student"] for one in run(shop, tmp_path)] == ["bob", "eve"]


def test_a_full_disk_stops_all_and_loses_nothing(shop: Shop, tmp_path: Path) -> None:
    shop.fails = {"bob": OSError(28, "No space left on device", "room")}
    with pytest.raises(OSError, match="No space"):
        run(shop, tmp_path)
    shop.fails = {}
    run(shop, tmp_path)
    assert shop.judged == ["ada", "bob", "bob"]


def test_a_noisy_machine_gives_no_grade(shop: Shop, tmp_path: Path,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shop, "judge", lambda _: calls.calls(2.0, model_again=1.3))
    assert [one["student"] for one in run(shop, tmp_path)] == ["eve"]  # it does not compile


def test_who_is_faster_than_the_floor_is_so_each_time_or_not_accused(
        shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(program: Path) -> list[dict[str, object]]:
        shop.judged.append(program.name)
        disturbed = program.name == "ada" and shop.judged.count("ada") < 3
        return calls.calls(0.3 if disturbed or program.name == "bob" else 2.0)

    monkeypatch.setattr(shop, "judge", judge)
    ada, bob, _ = run(shop, tmp_path)
    assert (ada["reason"], shop.judged) == ("", ["ada"] * 3 + ["bob"] * 3)
    assert (bob["points"], "of the floor" in bob["reason"]) == (0, True)


def test_what_noise_prevented_is_tried_again_at_the_end(shop: Shop, tmp_path: Path,
                                                        monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(program: Path) -> list[dict[str, object]]:
        shop.judged.append(program.name)
        noisy = program.name == "ada" and "bob" not in shop.judged
        return calls.calls(2.0, model_again=1.3 if noisy else 1.0)

    monkeypatch.setattr(shop, "judge", judge)
    assert [one["student"] for one in run(shop, tmp_path)] == ["ada", "bob", "eve"]
    assert shop.judged == ["ada", "ada", "ada", "bob", "ada"]


def noisy_judge(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose calls err by a tenth, but in the first case, where they are faster than the model."""
    random = Random(5)

    def judge(program: Path) -> list[dict[str, object]]:
        shop.judged.append(program.name)
        return calls.disturbed(2.0, random, 0.1, certain=shop.kit.cases[0].name)

    def judge_again(_: Path, cases: Sequence[InputFamily]) -> list[dict[str, object]]:
        shop.judged.append("again")
        assert cases == list(shop.kit.cases[1:])
        return [one for one in calls.disturbed(2.0, random, 0.1)
                if one["case"] != shop.kit.cases[0].name]

    monkeypatch.setattr(shop, "judge", judge)
    monkeypatch.setattr(shop, "judge_again", judge_again, raising=False)


def test_calls_are_added_until_equals_get_alike(shop: Shop, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Races, which `judge` looks for, are looked for once."""
    noisy_judge(shop, monkeypatch)
    ada, bob, _ = run(shop, tmp_path)
    assert max(ada["error"], bob["error"]) <= shop.kit.error
    assert abs(ada["points"] - bob["points"]) <= 3
    assert 4 <= len(shop.judged) < 2 * grading.SESSIONS
    assert (shop.judged[:2], shop.judged.count("bob")) == (["ada", "again"], 1)
    assert len(ada["outcomes"][0]["by_round"]) == 6
    assert len(ada["outcomes"][1]["by_round"]) == 6 * shop.judged.index("bob")


def test_calls_are_added_a_few_times_only(shop: Shop, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    noisy_judge(shop, monkeypatch)
    shop.kit = dataclasses.replace(shop.kit, error=1e-9)
    assert len(run(shop, tmp_path)) == 3
    assert len(shop.judged) == 2 * grading.SESSIONS


def test_nobody_is_called_again_after_a_quarter_of_an_hour(
        shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noisy_judge(shop, monkeypatch)
    monkeypatch.setattr(grading, "JUDGE_SECONDS", 0)
    shop.kit = dataclasses.replace(shop.kit, error=1e-9)
    assert len(run(shop, tmp_path)) == 3
    assert shop.judged == ["ada", "bob"]


def test_the_same_bytes_of_one_student_are_graded_once(shop: Shop, tmp_path: Path) -> None:
    tries = [Submission("ada", f"ada@{number}", b"the same") for number in range(3)]
    tries.append(Submission("bob", "bob", b"the same"))
    said: list[str] = []
    records = grading.grade_all(shop.kit, tries, tmp_path, said.append)
    assert [one["label"] for one in records] == ["ada@0", "ada@0", "ada@0", "bob"]
    assert "ada@1: the same as ada@0, and graded with it" in said
    late = Submission("ada", "ada@9", b"the same")
    assert grading.grade_all(shop.kit, [late], tmp_path, said.append) == records[:1]
    assert shop.judged == ["ada", "bob"]


def test_forty_of_which_ten_are_broken_are_graded_in_one_run(shop: Shop, tmp_path: Path) -> None:
    names = [f"{number:02}" + "n" * 230 for number in range(29)] + ["=1+1"]
    broken = [Submission(f"x{number}", f"x{number}", b"", f"cannot be read: {number}")
              for number in range(10)]
    whole = [Submission(name, name, name.encode()) for name in names]
    records = grading.grade_all(shop.kit, [*broken, *whole], tmp_path, lambda _: None)
    assert [one["student"] for one in records] == [one.student for one in [*broken, *whole]]
    pages.write(shop.kit, grading.all_records(tmp_path, shop.kit), tmp_path)
    assert len(list((tmp_path / "students").iterdir())) == 40
    assert len((tmp_path / "grades.csv").read_text().splitlines()) == 41


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


def test_nothing_hidden_is_told(tmp_path: Path) -> None:
    """Neither in pages, nor to those who read a record, nor beyond this machine."""
    kit = calls.kit()
    hidden = [case for case in kit.cases if case.hidden]
    foul = calls.calls(2.0)
    next(call for call in foul if (call["case"], call["contender"]) == (
        hidden[0].name, "submission")).update(fault="it left a process", foul=True)
    records = [calls.record("ada", 3.0), calls.record("bob", failures={
        case.name: "it gives no result as expected" for case in hidden}),
        {**calls.record("eve"), **dataclasses.asdict(points.grade(kit, foul))}]
    assert records[2]["reason"] == "hidden 1: it left a process"
    pages.write(kit, records, tmp_path)
    seen = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert any("hidden 2" in text for text in seen)
    for text in seen:
        for case in hidden:
            assert not re.search(rf"\b{case.name}\b", text)
            assert case.about not in text
            assert case.next not in text


def test_what_people_see_adds_up(tmp_path: Path) -> None:
    kit = calls.kit()
    records = [calls.record("ada", 1.5), calls.record("bob", 2.0, failures={"long": "y[0] is 1"})]
    pages.write(kit, records, tmp_path)
    lines = (tmp_path / "grades.csv").read_text().splitlines()
    assert lines[1].startswith("ada,ada,")
    assert len(lines) == 3
    page = (tmp_path / "students/bob.html").read_text()
    assert "the fault is yours" in page
    assert "y[0] is 1" in page


def test_no_cell_of_grades_is_a_formula() -> None:
    """A label is what a student calls a try, a reason what a program wrote."""
    records = [calls.record("ada", 1.5) | {"label": '=HYPERLINK("http://evil")', "reason": "@x\ny"},
               calls.record("bob", 2.0) | {"label": "-1+1", "reason": "a,b"},
               calls.record("eve", 3.0) | {"label": "x;=cmd|'-C calc'!A0;y", "reason": "a; b"}]
    rows = list(csv.DictReader(io.StringIO(pages.table(pages.ranked(records)))))
    assert {row["label"] for row in rows} == {
        '\'=HYPERLINK("http://evil")', "'-1+1", "x;'=cmd|'-C calc'!A0;y"}
    assert {row["reason"] for row in rows} == {"'@x y", "a,b", "a; b"}


def test_students_read_what_a_compiler_said_first() -> None:
    said = ["a.cpp:1: error: no ';'", "  1 | for", "a.cpp:2: error: no 'p'", "  2 | p", "make: ***"]
    assert pages.first_error("\n".join(said)) == "\n".join(said[:2])
    assert pages.first_error("\n".join(said[:2]) + "\n") == "\n".join(said[:2])
    assert pages.first_error("") == ""


def test_gradescope_gets_what_the_compiler_said() -> None:
    refused = grading.refusal(SUBMISSIONS[2], "it does not compile", "spmv.cpp:3: expected ';'")
    assert pages.gradescope(calls.kit(), refused)["output"] == (
        "it does not compile\nspmv.cpp:3: expected ';'")


def test_a_file_of_another_kind_is_refused_and_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("int main() {}")
    (tmp_path / "ada.cpp").write_text("int main() {}")
    (notes, ada), nobodys = submissions.read_all(calls.kit(),
                                                 sorted(tmp_path.iterdir(), reverse=True))
    assert nobodys == []
    assert notes.refused.startswith("expected a file .cpp, a folder or an archive")
    assert (ada.refused, ada.text) == ("", b"int main() {}")

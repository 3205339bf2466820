"""A class: whose a hand-in is, what counts, what was decided, and what everybody may see."""

import csv
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.grade import alike, exports, grading, sheet, submissions
from memwall.grade.tests import calls
from memwall.record import course as courses
from memwall.record import files, kits
from memwall.record.course import AlikePair, Person
from memwall.record.errors import UserError

CLASS = """title = "Fast code"
late_days = 2
late_cost = 10

[[assignment]]
name = "one"

[[assignment]]
name = "two"
weight = 3
"""
ROSTER = """key,name,number,group,canvas
ada,Ada Lovelace,101,,
ben,Ben Ali Okri,102,pair,77
chen,Chen Wei,103,pair,
dora,Dora Müller,104,,
"""
MARKS = "assignment,student,what,value,reason\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A class of four, of whom two are a group, and two assignments."""
    place = tmp_path / "class"
    for name in ("one", "two"):
        shutil.copytree(calls.KIT, place / name / "instructor")
        (place / name / "handed-in").mkdir()
    files.write(place / "class.toml", CLASS)
    files.write(place / "roster.csv", ROSTER)
    return place


def hand_in(folder: Path, name: str, assignment: str = "one", time: float = 2.0, late: int = 0,
            student: str = "", again: int = 0) -> None:
    """Puts a file there, and its grade."""
    place = folder / assignment / f"handed-in{f'+{late}' * (late > 0)}" / f"{name}.cpp"
    files.write(place, f"// {name} {time}\n")
    kit = kits.load(folder / assignment / "instructor")
    one = submissions.read(kit, place)
    one = submissions.Submission(student or name, one.label, one.text, regrades=again)
    record = {**calls.record(one.student, time), **grading.about(one)}
    grading.keep(folder / assignment / "grades", kit, one, record)


def sheet_of(folder: Path) -> dict[str, dict[str, str]]:
    assert main(["class", str(folder), "--no-grading"]) == 0
    return read_sheet(folder)


def read_sheet(folder: Path) -> dict[str, dict[str, str]]:
    with (folder / "sheet/for-lecturers/sheet.csv").open(encoding="utf-8") as file:
        return {row["key"]: row for row in csv.DictReader(file)}


def decide(folder: Path, *lines: str) -> None:
    files.write(folder / "marks.csv", MARKS + "".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(("label", "key"), [
    ("ada", "ada"), ("ada@2", "ada"), ("101", "ada"), ("pair@1", "ben"),
    ("Ada Lovelace_657737_assignsubmission_file_", "ada"),
    ("Ada Lovelace_657737_assignsubmission_file", "ada"),
    ("Dora Mu\u0308ller_65_assignsubmission_file_spmv", "dora"),
    ("pair_65_assignsubmission_file_", "ben"),
    ("lovelaceada_12345_678901_spmv", "ada"), ("lovelaceada_LATE_12345_678901_spmv-1", "ada"),
    ("strange_77_678901_spmv", "ben"), ("weichen_1_2_spmv", "chen"),
    ("mullerdora_1_2_spmv", "dora")])
def test_a_hand_in_is_somebodys(label: str, key: str, folder: Path) -> None:
    assert exports.whose(label, courses.load(folder).people).key == key


@pytest.mark.parametrize(("label", "said"), [
    ("eve", "eve: nobody of the roster, expected a key"),
    ("okriben_1_2_spmv", "nobody of the roster"),  # Canvas says another number
    ("!!!_1_assignsubmission_file_", "nobody of the roster"),
    ("Jo Li_1_assignsubmission_file_", "found jo1, jo2 in the roster: name the file by a key")])
def test_what_is_nobodys_is_told(label: str, said: str, folder: Path) -> None:
    people = (*courses.load(folder).people, Person("jo1", "Jo Li"), Person("jo2", "Jo Li"))
    with pytest.raises(UserError, match=said):
        exports.whose(label, people)


def test_a_sheet_has_a_line_for_everybody(folder: Path) -> None:
    hand_in(folder, "ada", time=1.0)
    hand_in(folder, "Chen Wei_5_assignsubmission_file_spmv", "two", student="pair")
    rows = sheet_of(folder)
    assert list(rows) == ["ada", "ben", "chen", "dora"]
    assert (rows["ada"]["one"], rows["ada"]["two"], rows["ada"]["per cent"]) == (
        "100.0", "0.0", "25.0")
    assert rows["ben"]["two"] == rows["chen"]["two"] != "0.0"
    assert rows["dora"]["one: try"] == ""


def test_late_days_are_free_until_they_are_used(folder: Path) -> None:
    hand_in(folder, "ada", time=1.0, late=1)
    hand_in(folder, "ada", "two", time=1.0, late=3)
    row = sheet_of(folder)["ada"]
    assert (row["one"], row["one: late"]) == ("100.0", "1")
    assert row["two"] == "80.0"  # one day was left, two cost ten per cent each
    assert "two: 3 days late, 1 of them free: 20.0 points less" in row["remarks"]


def test_of_a_better_late_try_and_one_in_time_counts_what_brings_more(folder: Path) -> None:
    hand_in(folder, "ada@1", time=1.05, student="ada")
    hand_in(folder, "ada@2", time=1.0, late=5, student="ada")
    assert sheet_of(folder)["ada"]["one: try"] == "ada@1"


def test_what_was_handed_in_again_late_came_in_time(folder: Path) -> None:
    for late in (0, 4):
        hand_in(folder, "ada", time=1.0, late=late)
    assert (sheet_of(folder)["ada"]["one: late"], read_sheet(folder)["ada"]["one"]) == (
        "0", "100.0")


def test_what_was_decided_is_in_the_sheet_and_on_the_page(folder: Path) -> None:
    hand_in(folder, "ada@1", time=1.0, student="ada")
    hand_in(folder, "ada@2", time=2.0, student="ada")
    decide(folder, "one,ada,retract,ada@1,it was a friend's", "one,ada,points,-2.5,no name in it",
           'one,ada,comment,,"look at your loop, again"')
    row = sheet_of(folder)["ada"]
    assert row["one: try"] == "ada@2"
    assert "ada@1 does not count: it was a friend's" in row["remarks"]
    assert float(row["one"]) == pytest.approx(
        calls.record("ada", 2.0)["points"] - 2.5, abs=0.05)
    page = "".join(path.read_text() for path in (folder / "sheet/for-students").rglob("*.html"))
    assert "look at your loop, again" in page


def test_what_is_graded_again_waits_for_its_new_grade(folder: Path) -> None:
    hand_in(folder, "ada", time=2.0)
    decide(folder, "one,ada,regrade,,the machine was loud")
    assert main(["class", str(folder), "--no-grading"]) == 1  # it has no grade now
    assert read_sheet(folder)["ada"]["one"] == "0.0"
    hand_in(folder, "ada", time=2.0, again=1)
    assert "graded again: the machine was loud" in sheet_of(folder)["ada"]["remarks"]


def test_nobody_is_named_where_all_may_look(folder: Path) -> None:
    for name, student in (("ada", "ada"), ("ben", "pair"), ("dora", "dora")):
        hand_in(folder, name, student=student)
    sheet_of(folder)
    public = folder / "sheet/for-students"
    board = (public / "leaderboard-one.html").read_text()
    with (folder / "sheet/for-lecturers/links.csv").open() as file:
        links = {row["key"]: row["page"] for row in csv.DictReader(file)}
    assert not any(word in board for word in ("ada", "Ada", "ben", "dora", "pair"))
    for key, page in links.items():
        alias = page.split("/")[1]
        assert page not in board and alias not in board
        assert (f'id="{alias[:6]}"' in board)
        text = (public / page).read_text()
        assert f"leaderboard-one.html#{alias[:6]}" in text
        others = {person.name for person in courses.load(folder).people if person.key != key}
        assert not any(other in text for other in others)
    again = dict(links)
    sheet_of(folder)
    with (folder / "sheet/for-lecturers/links.csv").open() as file:
        assert {row["key"]: row["page"] for row in csv.DictReader(file)} == again


def test_who_is_nobody_is_told_and_the_others_have_their_points(
        folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hand_in(folder, "ada", time=1.0)
    files.write(folder / "one/handed-in/eve.cpp", "// eve\n")
    assert main(["class", str(folder), "--no-grading"]) == 1
    assert "one: eve: nobody of the roster" in capsys.readouterr().out
    assert read_sheet(folder)["ada"]["one"] == "100.0"


@pytest.mark.parametrize(("file", "text", "said"), [
    ("class.toml", 'title = "x"\n', 'class.toml: $: found no "assignment"'),
    ("class.toml", CLASS.replace("two", "one"), "class.toml: found two assignments one"),
    ("class.toml", CLASS.replace("= 2", "= -2"), "$.late_days: found -2, expected at least 0"),
    ("roster.csv", "name\nAda\n", "roster.csv:1: found the columns name, expected key, name"),
    ("roster.csv", "key,name,age\n", "roster.csv:1: found the columns key, name, age"),
    ("roster.csv", "key,name\nada\n", "roster.csv:2: found 1 fields, expected 2"),
    ("roster.csv", "key,name\n,Ada\n", "roster.csv:2: found no key"),
    ("roster.csv", "key,name\na,A\na,B\n", "roster.csv:3: found the key a again"),
    ("roster.csv", "key,name\na@2,A\n", "roster.csv:2: found the key a@2, expected one without"),
    ("marks.csv", MARKS + "one,ada,retract,,late\n", "marks.csv:2: retract: found the value ''"),
    ("marks.csv", MARKS + "one,ada,praise,,good\n", "marks.csv:2: found the what 'praise'"),
    ("marks.csv", MARKS + "one,eve,comment,,good\n", "marks.csv:2: found the student 'eve'"),
    ("marks.csv", MARKS + "six,ada,comment,,good\n", "marks.csv:2: found the assignment 'six'"),
    ("marks.csv", MARKS + "one,ada,points,many,good\n", "found the value 'many', expected a numb"),
    ("marks.csv", MARKS + "one,ada,regrade,,\n", "marks.csv:2: regrade: found no reason"),
    ("marks.csv", "a,b\n", "marks.csv:1: found the columns a, b, expected assignment, student"),
])
def test_bad_input_is_one_line(file: str, text: str, said: str, folder: Path,
                               capsys: pytest.CaptureFixture[str]) -> None:
    files.write(folder / file, text)
    assert main(["class", str(folder), "--no-grading"]) == 2
    complaint = capsys.readouterr().err
    assert said in complaint and complaint.count("\n") == 1


def test_a_folder_of_another_name_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "one/handed-in-late").mkdir()
    assert main(["class", str(folder), "--no-grading"]) == 2
    assert "expected handed-in, or handed-in+N for N days late" in capsys.readouterr().err


@pytest.mark.skipif(not alike.is_here(), reason=alike.MISSING)
def test_copied_code_is_told_whatever_its_names_are(folder: Path) -> None:
    model = (calls.KIT / "spmv.cpp").read_text()
    for name, text in (("ada", model), ("dora", model.replace("sums", "total")
                                        .replace("// processors", "/* mine */ // "))):
        files.write(folder / f"one/handed-in/{name}.cpp", text)
    main(["class", str(folder), "--no-grading"])
    with (folder / "sheet/for-lecturers/alike.csv").open() as file:
        found = {(row["one"], row["other"]): int(row["per cent"]) for row in csv.DictReader(file)}
    assert found["ada", "dora"] > 90
    assert ("ada", "ada") not in found


def test_a_class_has_its_sheet_where_hand_ins_cannot_be_compared(
        folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(_: Mapping[str, bytes]) -> list[AlikePair]:
        raise UserError("sim_c++: -9")

    monkeypatch.setattr(alike, "is_here", lambda: True)
    monkeypatch.setattr(alike, "pairs", fail)
    files.write(folder / "one/handed-in/ada.cpp", "a;a;a;")
    main(["class", str(folder), "--no-grading"])
    assert "hand-ins are not compared: sim_c++: -9" in capsys.readouterr().out
    assert (folder / "sheet/for-lecturers/sheet.csv").exists()


def test_free_days_go_to_assignments_in_their_order() -> None:
    """Whatever a later one would have gained by them."""
    people = (Person("ada", "Ada"),)
    names = ("a", "b")
    course = courses.Course(
        Path(), "", 1, 50, (), tuple(courses.Assignment(name, Path(name), 1) for name in names),
        people, ())
    tries: Mapping[str, Mapping[str, Sequence[courses.GradedTry]]] = {
        name: {"ada": [courses.GradedTry({"points": 60.0, "speedup": 2.0, "label": "ada"}, 1)]}
        for name in names}
    (row,) = sheet.rows(course, dict.fromkeys(names, calls.kit()), tries)
    assert [row.cells[name].points for name in names] == [60, 10]

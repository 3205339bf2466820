"""The made-up class: each kit has what its students hand in."""

from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.grade import assignment, exports, rehearsal, submissions
from memwall.grade.tests.calls import ROOT
from memwall.record import course as courses
from memwall.record import files, kits
from memwall.record.errors import UserError

KITS = sorted(kits.all_folders(ROOT))


@pytest.mark.parametrize("name", KITS)
def test_five_are_handed_in_of_which_one_is_wrong_and_one_does_not_compile(name: str, tmp_path: Path
                                                                           ) -> None:
    _, instructor = assignment.make(ROOT, name, tmp_path)
    kit = kits.load(instructor)
    handed_in, nobodys = submissions.read_all(kit, rehearsal.hand_in(kit, tmp_path / "handed-in"))
    texts = {one.label: one.text.decode() for one in handed_in}
    assert sorted(texts) == ["ada", "ben@1", "ben@2", "chen", "dora"] and not nobodys
    assert {one.student for one in handed_in} == {"ada", "ben", "chen", "dora"}
    assert len(set(texts.values())) == 5
    for mistaken, right in (("ben@1", "ben@2"), ("dora", "chen")):
        lines = zip(texts[mistaken].splitlines(), texts[right].splitlines(), strict=True)
        assert sum(one != other for one, other in lines) == 1


def test_a_kit_without_a_place_for_a_mistake_is_told_of(tmp_path: Path) -> None:
    _, instructor = assignment.make(ROOT, KITS[0], tmp_path)
    kit = kits.load(instructor)
    files.write(instructor / f"naive{kit.suffix}", "// other code\n")
    with pytest.raises(UserError, match="found no 'sum = 0;', in whose place"):
        rehearsal.hand_in(kit, tmp_path / "handed-in")


def test_minutes_of_a_class_are_those_of_what_was_timed() -> None:
    records = [{"seconds": seconds} for seconds in (0, 20, 30, 40)]
    assert rehearsal.said(records) == (
        "to time a hand-in takes 30 s here: 200 of them take 100 minutes")


@pytest.mark.parametrize("name", KITS)
def test_everybody_of_a_class_of_twenty_has_handed_in(name: str, tmp_path: Path) -> None:
    assert main(["rehearse", name, "--out", str(tmp_path), "--class"]) == 0
    course = courses.load(tmp_path)
    (assignment_,) = course.assignments
    kit = kits.load(assignment_.kit)
    found = [one for _, folder in assignment_.handed_in()
             for one in submissions.read_all(kit, sorted(
                 path for path in folder.iterdir() if not submissions.is_log(path)))[0]]
    teams = {exports.whose(one.label, course.people).team for one in found}
    assert teams == set(course.teams) and len(course.people) == 20
    assert len({one.digest() for one in found}) == len(found) == 20
    assert [one.refused for one in found if one.refused] == ["the file is empty"]

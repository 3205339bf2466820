"""A class: `class.toml`, the people of `roster.csv`, and what was decided, `marks.csv`.

All three are plain files that a lecturer writes. Each assignment is a folder beside them: its kit
in NAME/instructor, what came in time in NAME/handed-in, what came N days late in NAME/handed-in+N.
"""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from memwall.record import files
from memwall.record.errors import UserError
from memwall.record.escape import visible
from memwall.record.schemas import check_schema

SCHEMA = Path(__file__).with_name("course.schema.json")
ROSTER, MARKS = "roster.csv", "marks.csv"
REQUIRED, OPTIONAL = ("key", "name"), ("number", "group", "canvas")
MARK = ("assignment", "student", "what", "value", "reason")
#: What may be decided, and the value that it needs.
DECISIONS = {"retract": "the label of a try", "regrade": "", "points": "a number",
             "log": "a number", "comment": ""}


@dataclass(frozen=True)
class Person:
    """A line of the roster."""

    key: str  # what files of this person are called
    name: str
    number: str = ""  # of matriculation
    group: str = ""
    canvas: str = ""  # number of the user in Canvas

    @property
    def team(self) -> str:
        """Under which name hand-ins are graded: those of a group are those of each in it."""
        return self.group or self.key


@dataclass(frozen=True)
class Mark:
    """What a lecturer has decided, and why."""

    assignment: str
    student: str  # a key or a group
    what: str
    value: str
    reason: str


@dataclass(frozen=True)
class Assignment:
    """One of the class."""

    name: str
    folder: Path
    weight: float

    @property
    def kit(self) -> Path:
        """The folder for instructors."""
        return self.folder / "instructor"

    @property
    def grades(self) -> Path:
        """Where its grades are kept."""
        return self.folder / "grades"

    def handed_in(self) -> list[tuple[int, Path]]:
        """The folders of what was handed in, each with the days that it is late."""
        found = []
        for path in sorted(self.folder.glob("handed-in*")):
            late = re.fullmatch(r"handed-in(?:\+([0-9]{1,2}))?", path.name)
            if not late:
                raise UserError(f"{path}: expected handed-in, or handed-in+N for N days late")
            found.append((int(late[1] or 0), path))
        return found


@dataclass(frozen=True)
class Course:
    """A class."""

    folder: Path
    title: str
    late_days: int  # that each may use in all
    late_cost: float  # per cent of the points of an assignment, for each further day
    cores: tuple[int, ...]  # hardware threads on which is timed; none: any
    assignments: tuple[Assignment, ...]
    people: tuple[Person, ...]
    marks: tuple[Mark, ...]

    @cached_property
    def teams(self) -> dict[str, list[Person]]:
        """Who is graded together."""
        found: dict[str, list[Person]] = {}
        for person in self.people:
            found.setdefault(person.team, []).append(person)
        return found

    def decided(self, assignment: str, person: Person, what: str) -> list[Mark]:
        """What was decided of one person, or of the group."""
        return [mark for mark in self.marks if mark.assignment == assignment and mark.what == what
                and mark.student in (person.key, person.team)]


@dataclass(frozen=True)
class GradedTry:
    """One hand-in with its grade."""

    record: dict[str, Any]
    late: int  # days


@dataclass(frozen=True)
class Earned:
    """What a person has for one assignment."""

    chosen: GradedTry | None  # the try that counts
    points: float  # with all that was decided
    used: int  # of the free late days
    remarks: tuple[str, ...]  # in the order in which they were decided


@dataclass(frozen=True)
class SheetRow:
    """What a person has in all."""

    person: Person
    cells: Mapping[str, Earned] = field(default_factory=dict)
    total: float = 0  # per cent


@dataclass(frozen=True)
class AlikePair:
    """Two hand-ins, and how much of each stands in the other, at least."""

    one: str
    other: str
    per_cent: int


def load(folder: Path) -> Course:
    """Reads all three files; raises `UserError` with file, line, value and what was expected."""
    path = folder / "class.toml"
    if not path.is_file():
        raise UserError(f"{folder}: no class.toml here, expected the folder of a class")
    raw = files.read_toml(path)
    check_schema(raw, files.read_json(SCHEMA), str(path))
    assignments = tuple(Assignment(one["name"], folder / one["name"], one.get("weight", 1))
                        for one in raw["assignment"])
    names = [one.name for one in assignments]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise UserError(f"{path}: found two assignments {twice}")
    people = _people(folder / ROSTER)
    return Course(folder, raw["title"], raw.get("late_days", 0), raw.get("late_cost", 100),
                  tuple(raw.get("cores", ())), assignments, people,
                  _marks(folder / MARKS, names, people))


def _people(path: Path) -> tuple[Person, ...]:
    people: list[Person] = []
    for place, row in _rows(path, REQUIRED, OPTIONAL):
        person = Person(**row)
        for name in REQUIRED:
            if not row[name]:
                raise UserError(f"{place}: found no {name}")
        if re.search(r"[@/]", person.key):
            raise UserError(f"{place}: found the key {person.key}, expected one without @ and /")
        if any(person.key == other.key for other in people):
            raise UserError(f"{place}: found the key {person.key} again, expected another for each")
        people.append(person)
    keys = {person.key: person for person in people}
    for person in people:
        other = keys.get(person.group)
        if other and other.group != person.group:
            raise UserError(f"{path}: found the group {person.group}, which is the key of"
                            f" {other.name}")
    return tuple(people)


def _marks(path: Path, assignments: Sequence[str], people: Sequence[Person]) -> tuple[Mark, ...]:
    if not path.exists():
        return ()
    marks = []
    known = {person.key for person in people} | {person.team for person in people}
    for place, row in _rows(path, MARK, ()):
        mark = Mark(**row)
        for name, found, expected in (("assignment", mark.assignment, assignments),
                                      ("student", mark.student, known),
                                      ("what", mark.what, DECISIONS)):
            if found not in expected:
                raise UserError(f"{place}: found the {name} {found!r}, expected one of "
                                + ", ".join(sorted(expected)[:20]))
        needed = DECISIONS[mark.what]
        if needed == "a number" and not re.fullmatch(r"[+-]?[0-9]+([.][0-9]+)?", mark.value):
            raise UserError(f"{place}: found the value {mark.value!r}, expected a number of points")
        if bool(needed) != bool(mark.value):
            raise UserError(f"{place}: {mark.what}: found the value {mark.value!r}, expected "
                            + (needed or "none"))
        if not mark.reason:
            raise UserError(f"{place}: {mark.what}: found no reason, which the student reads")
        marks.append(mark)
    return tuple(marks)


def _rows(path: Path, required: Sequence[str], optional: Sequence[str]
          ) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of a CSV file by its columns, each with its place."""
    text = files.read(path)
    reader = csv.DictReader(text.removeprefix("\ufeff").splitlines(), strict=True)
    try:
        columns = [name.strip() for name in reader.fieldnames or ()]
        wrong = ([name for name in required if name not in columns]
                 or [name for name in columns if name not in (*required, *optional)])
        if wrong:
            raise UserError(f"{path}:1: found the columns {', '.join(columns) or 'none'}, expected"
                            f" {', '.join(required)}"
                            + (f", and any of {', '.join(optional)}" if optional else ""))
        reader.fieldnames = columns
        for row in reader:
            place = f"{path}:{reader.line_num}"
            if None in row or None in row.values():
                raise UserError(f"{place}: found {len([*filter(None, row.values())])} fields,"
                                f" expected {len(columns)}")
            yield place, {name: visible(value.strip()) for name, value in row.items()}
    except csv.Error as error:
        raise UserError(f"{path}:{reader.line_num}: not CSV: {error}") from error

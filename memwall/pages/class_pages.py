"""The sheet of a class: CSV for lecturers; for students a page each, and boards without names.

What students are shown can be put on a web server as it is: the page of each has a name that nobody
can guess, and no page names another student.
"""

import csv
import hashlib
import hmac
import io
import secrets
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memwall.pages import grades
from memwall.pages.html import HTML
from memwall.record import files
from memwall.record.course import AlikePair, Course, GradedTry, Person, SheetRow
from memwall.record.escape import csv_cell
from memwall.record.kits import Kit

SHOWN_DIGITS, PATH_DIGITS = 6, 24


def write(course: Course, kits: Mapping[str, Kit], rows: Sequence[SheetRow],
          tries: Mapping[str, Mapping[str, Sequence[GradedTry]]],
          pairs: Mapping[str, Sequence[AlikePair]], out: Path) -> None:
    """Writes all of it."""
    secret = _secret(out / "for-lecturers/secret")
    names = {row.person.key: alias(secret, row.person) for row in rows}
    shutil.rmtree(out / "for-students", ignore_errors=True)
    with files.whole_folder(out / "for-students") as public:
        for row in rows:
            place = public / "students" / names[row.person.key]
            files.write(place / "index.html", _page(
                "class_student.html", course=course, kits=kits, row=row,
                alias=names[row.person.key][:SHOWN_DIGITS]))
            for name, cell in row.cells.items():
                if cell.chosen:
                    of_team = [one.record for one in tries[name][row.person.team]]
                    log = (grades.logged(course.folder / name / "grades", row.person.team, of_team)
                           if kits[name].log else [])
                    record = {**cell.chosen.record, "student": row.person.name}
                    files.write(place / f"{name}.html", grades.student_page(
                        kits[name], record, of_team, log, cell.remarks))
        for name, kit in kits.items():
            files.write(public / f"leaderboard-{name}.html",
                        _leaderboard(course, kits, name, kit, rows, names))
    private = out / "for-lecturers"
    files.write(private / "sheet.csv", table(course, rows))
    files.write(private / "links.csv", _csv([("key", "name", "page"), *(
        (row.person.key, row.person.name, f"students/{names[row.person.key]}/index.html")
        for row in rows)]))
    files.write(private / "alike.csv", _csv([("assignment", "one", "other", "per cent"), *(
        (name, pair.one, pair.other, pair.per_cent) for name, found in pairs.items()
        for pair in found)]))


def alias(secret: bytes, person: Person) -> str:
    """What stands in place of a name: nobody without the secret can tell whose it is."""
    return hmac.new(secret, person.key.encode(), hashlib.sha256).hexdigest()[:PATH_DIGITS]


def _secret(path: Path) -> bytes:
    """That of this class, drawn when it was first asked for: links stay."""
    if not path.exists():
        files.write(path, secrets.token_hex(32))
        path.chmod(0o600)
    return path.read_bytes()


def table(course: Course, rows: Iterable[SheetRow]) -> str:
    """The sheet: a line for each person, three columns for each assignment."""
    names = [one.name for one in course.assignments]
    lines: list[Sequence[Any]] = [(
        "key", "name", "number", "group",
        *(column for name in names for column in (name, f"{name}: late", f"{name}: try")),
        "per cent", "remarks")]
    for row in rows:
        person = row.person
        cells: list[Any] = [person.key, person.name, person.number, person.group]
        for name in names:
            cell = row.cells[name]
            chosen = cell.chosen
            cells += [f"{cell.points:.1f}", chosen.late if chosen else "",
                      chosen.record["label"] if chosen else ""]
        remarks = "; ".join(f"{name}: {remark}" for name in names
                            for remark in row.cells[name].remarks)
        lines.append([*cells, f"{row.total:.1f}", remarks])
    return _csv(lines)


def _leaderboard(course: Course, kits: Mapping[str, Kit], name: str, kit: Kit,
                 rows: Iterable[SheetRow], names: Mapping[str, str]) -> str:
    """Of teams, each under the alias of the first of its people."""
    seen: dict[str, grades.Record] = {}
    shown: dict[str, list[str]] = {}
    for row in rows:
        chosen = row.cells[name].chosen
        if chosen:
            called = names[row.person.key][:SHOWN_DIGITS]
            shown.setdefault(row.person.team, []).append(called)
            seen.setdefault(row.person.team, dict(chosen.record))
    records = [{**record, "student": " ".join(shown[team])} for team, record in seen.items()]
    return HTML.get_template("leaderboard.html").render(
        kit=kit, standing=grades.ranked(records), bar=grades.bar, span=grades.span,
        others=[(f"leaderboard-{other}.html", kits[other].title) for other in kits
                if other != name], course=course)


def _page(template: str, **values: Any) -> str:
    return HTML.get_template(template).render(**values)


def _csv(rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text)
    for row in rows:
        writer.writerow([csv_cell(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()

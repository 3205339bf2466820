"""From the grades of all assignments to the sheet of a class: late days, weights, decisions."""

from collections.abc import Mapping, Sequence

from memwall.record.course import Course, Earned, GradedTry, Person, SheetRow
from memwall.record.kits import Kit


def rows(course: Course, kits: Mapping[str, Kit],
         tries: Mapping[str, Mapping[str, Sequence[GradedTry]]]) -> list[SheetRow]:
    """The sheet. `tries` are those of each assignment, by team. Free late days are used in the
    order of the assignments, each for the try that brings the most."""
    made = []
    for person in course.people:
        free = course.late_days
        cells = {}
        for assignment in course.assignments:
            of_team = tries.get(assignment.name, {}).get(person.team, ())
            cells[assignment.name] = cell(course, kits[assignment.name], assignment.name, person,
                                          of_team, free)
            free -= cells[assignment.name].used
        weights = sum(one.weight for one in course.assignments)
        total = sum(one.weight * cells[one.name].points / most(kits[one.name])
                    for one in course.assignments) / weights
        made.append(SheetRow(person, cells, 100 * total))
    return made


def most(kit: Kit) -> float:
    """The points of an assignment, without those on top."""
    return kit.correctness + kit.speed


def cell(course: Course, kit: Kit, assignment: str, person: Person, tries: Sequence[GradedTry],
         free: int) -> Earned:
    """What one assignment brings."""
    remarks = []
    retracted = set()
    for mark in course.decided(assignment, person, "retract"):
        retracted.add(mark.value)
        remarks.append(f"{mark.value} does not count: {mark.reason}")
    remarks += [f"graded again: {mark.reason}"
                for mark in course.decided(assignment, person, "regrade")]

    def worth(one: GradedTry) -> tuple[float, float, int]:
        cost = course.late_cost / 100 * most(kit) * max(one.late - free, 0)
        return max(one.record["points"] - cost, 0), one.record["speedup"] or 0, -one.late

    chosen = max((one for one in tries if one.record["label"] not in retracted), key=worth,
                 default=None)
    points, used = 0.0, 0
    if chosen:
        points, used = worth(chosen)[0], min(chosen.late, free)
        if chosen.late:
            lost = chosen.record["points"] - points
            remarks.append(f"{chosen.late} days late, {used} of them free"
                           + (f": {lost:.1f} points less" if lost else ""))
    for mark in course.decided(assignment, person, "points"):
        points += float(mark.value)
        remarks.append(f"{float(mark.value):+g} points: {mark.reason}")
    for mark in course.decided(assignment, person, "log"):
        given = min(max(float(mark.value), 0), kit.log)
        points += given
        remarks.append(f"{given:g} of {kit.log:g} points for the work log: {mark.reason}")
    remarks += [mark.reason for mark in course.decided(assignment, person, "comment")]
    return Earned(chosen, max(points, 0), used, tuple(remarks))

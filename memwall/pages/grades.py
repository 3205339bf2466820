"""What lecturers and students look at: a page for each student, a leaderboard, CSV, Gradescope."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memwall.pages.html import HTML
from memwall.record import files, names
from memwall.record.escape import csv_cell
from memwall.record.kits import InputFamily, Kit

Record = dict[str, Any]


def write(kit: Kit, records: Sequence[Record], out: Path) -> None:
    """Writes everything that follows from all grades there are."""
    standing = ranked(best(records))
    for record in standing:
        tries = [one for one in records if one["student"] == record["student"]]
        name = names.of_file(record["student"])
        log = logged(out, record["student"], tries) if kit.log else []
        files.write(out / "students" / f"{name}.html", student_page(kit, record, tries, log))
        files.write_json(out / "gradescope" / f"{name}.json", gradescope(kit, record))
    page = HTML.get_template("leaderboard.html").render(kit=kit, standing=standing, bar=bar,
                                                          span=span, others=(), course=None)
    files.write(out / "leaderboard.html", page)
    files.write(out / "grades.csv", table(standing))


def best(records: Iterable[Record]) -> list[Record]:
    """Of each student the best try, whenever it was made."""
    chosen: dict[str, Record] = {}
    for record in records:
        other = chosen.get(record["student"])
        if other is None or _value(record) > _value(other):
            chosen[record["student"]] = record
    return list(chosen.values())


def _value(record: Record) -> tuple[float, float]:
    return record["points"], record["speedup"] or 0


def ranked(records: Sequence[Record]) -> list[Record]:
    """Fastest first, with ranks: who overlaps with the first of a rank shares it."""
    timed = sorted((one for one in records if one["speedup"]), key=lambda one: -one["speedup"])
    untimed = sorted((one for one in records if not one["speedup"]),
                     key=lambda one: (-one["points"], one["student"]))
    standing: list[Record] = []
    first: Record | None = None
    for place, record in enumerate(timed, 1):
        if first is None or record["high"] < first["low"]:
            first = {**record, "rank": place}
        standing.append({**record, "rank": first["rank"]})
    return standing + [{**record, "rank": None} for record in untimed]


def bar(record: Record, standing: Sequence[Record]) -> dict[str, float]:
    """Where an interval lies, in per cent of the width, on a logarithmic axis for all."""
    ends = [math.log(one[key]) for one in standing if one["speedup"] for key in ("low", "high")]
    least, most = min(ends), max(ends)
    width = max(most - least, 0.1)

    def place(value: float) -> float:
        return 2 + 96 * (math.log(value) - least) / width

    return {"left": place(record["low"]), "right": place(record["high"]),
            "dot": place(record["speedup"])}


def span(standing: Sequence[Record]) -> str:
    """The ends of that axis."""
    timed = [one for one in standing if one["speedup"]]
    return f"{min(one['low'] for one in timed):.2f} to {max(one['high'] for one in timed):.2f}"


def logged(out: Path, student: str, tries: Sequence[Record]) -> list[Record]:
    """The work log of a student, each entry with what the judge saw of the same bytes, if any."""
    path = out / "logs" / f"{names.of_file(student)}.json"
    entries: list[Record] = files.read_json(path) if path.exists() else []
    seen = {one["digest"][:12]: one["speedup"] for one in tries}
    return [{**entry, "judged": seen.get(entry["digest"])} for entry in entries]


def student_page(kit: Kit, record: Record, tries: Sequence[Record], log: Sequence[Record] = (),
                 remarks: Sequence[str] = ()) -> str:
    """The page of one student."""
    cases = [{"case": case, "outcome": outcome, "advice": advice(case, outcome)}
             for case, outcome in zip(kit.cases, record["outcomes"], strict=False)]
    return HTML.get_template("student.html").render(kit=kit, record=record, tries=tries,
                                                    cases=cases, first_error=first_error,
                                                    log=log, remarks=remarks,
                                                    expm1=math.expm1)


def first_error(said: str) -> str:
    """What a compiler said until its second error: the others often follow from the first."""
    lines = said.strip().splitlines()
    errors = [number for number, line in enumerate(lines) if ": error: " in line]
    return "\n".join(lines[:errors[1]] if len(errors) > 1 else lines)


def advice(case: InputFamily, outcome: Record) -> str:
    """What to try next in a case, if anything is left to gain. Of a hidden one it would tell what
    is hidden."""
    if outcome["wrong"]:
        return "First make it right: make test, in your kit, shows a small case that fails."
    if case.hidden or outcome["points"] is None or outcome["points"] > 0.95:
        return ""
    return case.next


def table(standing: Sequence[Record]) -> str:
    """Grades as CSV."""
    text = io.StringIO()
    columns = ("student", "label", "points", "correctness", "speed", "speedup", "low", "high",
               "rank", "reason", "digest")
    writer = csv.writer(text)
    writer.writerow(columns)
    for record in standing:
        writer.writerow([f"{value:.4g}" if isinstance(value, float) else csv_cell(value)
                         for value in (record[name] for name in columns)])
    return text.getvalue()


def gradescope(kit: Kit, record: Record) -> Record:
    """The results.json of Gradescope."""
    tests: list[Record] = []
    each = kit.correctness / len(kit.cases)
    right = bool(record["correctness"])
    for number, (case, one) in enumerate(zip(kit.cases, record["outcomes"], strict=False), 1):
        passed = not one["wrong"]
        timing = "" if one["speedup"] is None else (
            f"{one['speedup']:.2f} times as fast as naive,"
            f" {100 * one['share']:.0f} % of the bound. ")
        tests.append({
            "name": f"right: {'a hidden case' if case.hidden else case.about}",
            "number": str(number),
            "score": each * (passed and right), "max_score": each,
            "status": "passed" if passed else "failed",
            "output": (f"yours: {one['wrong']}. " if one["wrong"] else timing)
            + advice(case, one), "output_format": "text",
            "visibility": "after_published" if case.hidden else "visible"})
    tests.append({"name": "speed", "score": record["speed"], "max_score": kit.speed,
                  "output": record["reason"], "output_format": "text", "visibility": "visible"})
    said = "\n".join(filter(None, (record["reason"], record["compiler"])))
    result: Record = {"score": record["points"], "output": said,
                      "output_format": "text", "visibility": "visible",
                      "stdout_visibility": "hidden", "tests": tests}
    if record["speedup"]:
        result["leaderboard"] = [{"name": "times as fast as naive",
                                  "value": round(record["speedup"], 2)}]
    return result

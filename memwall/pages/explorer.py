"""The explorer: one page over all results, in which a reader chooses what is compared with what.

Beside the page stand its data, a script for each experiment: a page that was opened from a folder
may fetch nothing. A script hands over JSON that was deflated and written in base64. It holds every
sample with the six digits that a result file has, so the page computes medians and intervals of the
rounds themselves, as `analysis/numerics.py` does; nothing derived is stored but what needs the tree
(what is out of date or doubtful, noise floors, rates of ceilings).
"""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.analysis.quantities import Unknown
from memwall.pages import blocks
from memwall.pages.book import House
from memwall.pages.survey import OnMachine
from memwall.record import disturbances, escape, files, machines, regions
from memwall.record.definition import Claim, Condition, Experiment
from memwall.record.results import STUDY, Case, Json

PAGE = Path(__file__).with_suffix("")
#: Of a sample: as many digits as a result file has of it.
DIGITS = 6
#: Samples of a case that are further apart, which no machine measures, lose digits.
WIDEST = 10**9
#: Coordinates that claims narrow by name or by pattern.
PRECISION, MATRIX = "precision", "matrix"
#: What a claim may narrow that the page can narrow, too.
NARROWED = (STUDY, PRECISION, "threads", "ranks", MATRIX)


def write(house: House, folder: Path) -> None:
    """Writes the page and its data into a folder of a site, above which the site's first page lies:
    of every machine in the house, those that did not come with the tree marked."""
    for part in sorted(PAGE.iterdir()):
        files.write(folder / part.name, part.read_bytes())
    surveys = [survey for survey in house.surveys if survey.found]
    for survey in surveys:
        told = _experiment(survey.experiment, survey.found)
        files.write(folder / f"data-{survey.experiment.name}.js",
                    _script("receive", survey.experiment.name, packed(told)))
    listed = machines.listed(house.root)
    index = {
        "experiments": [{
            "name": survey.experiment.name, "title": survey.experiment.title,
            "question": survey.experiment.question,
            "runs": len(survey.found),
        } for survey in surveys],
        "machines": [{
            "name": name, "committed": name in listed,
            "is": escape.opened(blocks.machine_summary(house.facts[name], short=True)),
        } for name in house.machines],
    }
    files.write(folder / "data-index.js", _script("open", index))


def packed(value: Any) -> str:
    """A JSON value as text of few letters."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def _script(name: str, *values: Any) -> str:
    """Calls a function of the page; of ASCII alone, so that no server can read it otherwise."""
    return f"explorer.{name}({', '.join(json.dumps(value) for value in values)});\n"


# --- an experiment --------------------------------------------------------------------------------


def _experiment(experiment: Experiment, found: Iterable[OnMachine]) -> Json:
    """What all machines found, and what its claims compare."""
    runs = list(found)
    known = {case.parameters[MATRIX] for one in runs for case in one.measured.cases
             if MATRIX in case.parameters}
    inputs = sorted(known, key=str)
    claims = [view for claim in experiment.claims for view in _views(claim, inputs)]
    return {"claims": claims, "runs": [_run(one) for one in runs]}


def _views(claim: Claim, inputs: Sequence[Any]) -> list[Json]:
    """What of a claim can be looked at as it is: two variants, or one and the best of a group."""
    shown = [condition for condition in claim.conditions if _is_plain(condition)]
    if not shown or claim.is_arithmetic:
        return []
    first = shown[0]
    alike = [one for one in shown if (one.faster, one.than) == (first.faster, first.than)]
    where = {name: _union(_listed(name, one, inputs) for one in alike) for name in NARROWED}
    return [{"says": claim.says, "short": claim.short.replace("`", ""), "faster": first.faster,
             "than": _named(first), "where": where}]


def _union(lists: Iterable[list[Any] | None]) -> list[Any] | None:
    """What is in any of several lists; None if one of them is None, which leaves all in."""
    found: dict[Any, None] = {}
    for values in lists:
        if values is None:
            return None
        found |= dict.fromkeys(values)
    return list(found)


def _is_plain(condition: Condition) -> bool:
    is_named = isinstance(condition.than, tuple) or (
        set(condition.than) == {"best_of"} and isinstance(condition.than["best_of"], str))
    return (is_named and condition.of is None and not condition.value and not condition.along
            and set(condition.where) <= set(NARROWED)
            and all(name == MATRIX or wanted == regions.LARGEST or regions.names_values(wanted)
                    for name, wanted in condition.where.items()))


def _listed(name: str, condition: Condition, inputs: Sequence[Any]) -> list[Any] | None:
    """The values of a coordinate that a condition is narrowed to, which may be none; None if it is
    not narrowed."""
    if name not in condition.where:
        return None
    wanted = condition.where[name]
    if name != MATRIX:
        return regions.listed(wanted)
    is_wanted = regions.test(wanted, lambda: None)
    return [each for each in inputs if is_wanted(each)]


def _named(condition: Condition) -> Sequence[str]:
    than = condition.than
    return than if isinstance(than, tuple) else [f"best of {than['best_of']}"]


# --- a run ----------------------------------------------------------------------------------------


def _run(one: OnMachine) -> Json:
    """A run, in columns: alike things beside each other take few bytes."""
    measured, raw = one.measured, one.result.raw
    table = _Table(measured)
    for case in measured.cases:
        table.add(case)
    told = {
        "machine": one.machine, "title": one.title, "utc": raw["run"]["utc"],
        "profile": raw["run"]["profile"], "compiler": raw["build"]["compiler"],
        "points": table.points, "kinds": table.kinds.values, "works": table.works.values,
        "ceilings": table.ceilings, "noise": table.noise, "excerpts": _abouts(measured),
        "stale": dict(measured.stale_variants),
        "doubtful": {str(at): measured.doubtful[id(case)] for at, case in enumerate(measured.cases)
                     if id(case) in measured.doubtful},
        "skipped": _skipped(raw["skipped"]),
    }
    return {**escape.unsealed(told), "cases": table.columns}


class _Distinct:
    """Values by the number under which each is kept once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[str, int] = {}

    def number(self, value: Any) -> int:
        """That of a value, also of one that is new."""
        key = json.dumps(value)
        if key not in self._numbers:
            self._numbers[key] = len(self.values)
            self.values.append(value)
        return self._numbers[key]


class _Table:
    """The cases of a run in columns, and what many of them have in common."""

    def __init__(self, measured: Measurements) -> None:
        self.measured = measured
        self.points: list[Json] = []
        self.kinds, self.works = _Distinct(), _Distinct()
        self.ceilings: dict[str, list[list[Any]]] = {}
        self.noise: dict[str, float] = {}
        self.columns: dict[str, list[int]] = {
            name: [] for name in ("kind", "point", "work", "bounded", "disturbed", "count",
                                  "exponent", "samples")}
        self._point_numbers: dict[Any, int] = {}
        self._left_out = _left_out(measured.result.raw["cases"])

    def add(self, case: Case) -> None:
        """A further case; one that failed has no samples."""
        exponent, samples = coded(case.taken)
        self._note_launch(case)
        for name, value in {
            "kind": self.kinds.number([case.variant, case.group, case.target, case.cache]),
            "point": self._point(case),
            "work": self.works.number([case.flops, case.bytes, case.operations]),
            "bounded": int(self.measured.is_bounded(case)),
            "disturbed": round(case.disturbed * len(case.taken)),
            "count": len(case.taken), "exponent": exponent,
        }.items():
            self.columns[name].append(value)
        self.columns["samples"] += samples

    def _point(self, case: Case) -> int:
        place = disturbances.place({"launch": case.launch, "study": case.parameters[STUDY],
                                    "parameters": case.parameters})
        if place not in self._point_numbers:
            self._point_numbers[place] = len(self.points)
            data = self.measured.result.datasets_of(case.parameters)
            digests = [self.measured.result.raw["datasets"][name]["sha256"][:8] for name in data]
            at = dict(self.measured.coordinates(case))
            on = {axis: at.pop(axis) for axis in self.measured.axes_of_launches}
            self.points.append({"launch": case.launch, "at": at, "on": on,
                                "data": "".join(digests), "out": self._left_out.get(place, [])})
        return self._point_numbers[place]

    def _note_launch(self, case: Case) -> None:
        """What launch and target, with the study, say of the cases there."""
        key = f"{case.launch} {case.target}"
        if key not in self.ceilings:
            self.ceilings[key] = _ceilings(self.measured, case)
        key += f" {case.parameters[STUDY]}"
        if key not in self.noise and case.passed:
            self.noise[key] = round(self.measured.noise_of([case]).factor, 4)


def coded(samples: Sequence[float]) -> tuple[int, list[int]]:
    """The samples of a case as whole numbers of a power of ten: the first, then by how much each
    other one is more. The smallest has all digits of a result file, so all have."""
    if not samples:
        return 0, []
    least = max(min(samples), max(samples) / WIDEST)
    exponent = int(f"{least:.{DIGITS - 1}e}".partition("e")[2]) - DIGITS + 1
    first, *others = (max(1, round(sample * 10.0**-exponent)) for sample in samples)
    return exponent, [first, *(other - first for other in others)]


def _left_out(cases: Sequence[Json]) -> dict[Any, list[int]]:
    """At each point the rounds that do not count."""
    found = {}
    for place, alike in disturbances.of_points(cases).items():
        taken = max((len(case["samples_s"]) for case in alike), default=0)
        found[place] = sorted({*range(taken)} - {*disturbances.counted_rounds(alike)})
    return found


def _ceilings(measured: Measurements, case: Case) -> list[list[Any]]:
    """What bounds the cases of a launch and a target: of several that which takes longest."""
    try:
        bounds = measured.ceilings.of(case.launch, None, case.target)
    except Unknown:
        return []
    return [[one.name, one.moves_bytes, one.rate.value, one.definition] for one in bounds]


def _abouts(measured: Measurements) -> dict[str, str]:
    """Of variants the sentence that their source text begins with, if it does."""
    excerpts = measured.result.raw["excerpts"]
    found = {}
    for variant, excerpt in {case.variant: case.excerpt for case in measured.cases}.items():
        lines = excerpts[excerpt]["text"].strip().splitlines()
        words = []
        for line in lines:
            if not line.strip().startswith("///"):
                break
            words.append(line.strip().removeprefix("///").strip())
        if words:
            found[variant] = " ".join(words)
    return found


def _skipped(entries: Sequence[Json]) -> list[list[Any]]:
    """What was skipped and why, each reason once with the number of points."""
    counted = Counter((entry["study"], entry.get("variant", ""), entry["reason"])
                      for entry in entries)
    return [[*key, count] for key, count in counted.items()]

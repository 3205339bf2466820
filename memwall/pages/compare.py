"""`just compare A B`: two results, runs or machines, case by case.

A case is a variant at a point: parameters, threads, ranks, hosts and launch environment. Both sides
are other runs, so their rounds do not belong together: medians are compared, not rounds. Times are
compared only of what is alike (`joining.unlike`): of other work, of another text or in another
profile there are rates, set apart; of other data or in other caches there is nothing.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memwall.analysis import numerics
from memwall.analysis.numerics import Estimate, NoiseFloor
from memwall.analysis.verdicts import ALIKE_HIGH, ALIKE_LOW
from memwall.pages.tables import aligned, markdown
from memwall.record import escape, joining, notation, results, stored
from memwall.record.errors import UserError
from memwall.record.results import Case, Coordinates, Result, samples_of_both

#: Without --all so many of the slower and of the faster cases of an experiment are shown.
EACH_WORD = 10
#: Without --all so many of the names of what one side lacks are shown.
NAMED = 6
COLUMNS = ("variant", "point", "A", "B", "speed", "interval", "B is")
RATE_COLUMNS = ("variant", "point", "A", "B", "rate", "interval", "not alike")
RATES = "not alike, so their rates are compared, and in nothing above"

Coordinate = str | float
Key = tuple[str, frozenset[tuple[str, Coordinate]]]


@dataclass(frozen=True)
class Side:
    """What the user named as A or B: results by the names that they have in a folder."""

    name: str  # "A" or "B"
    shown: str
    found: Mapping[str, Result]

    @property
    def machine(self) -> str:
        return next(iter(self.found.values())).raw["machine"]["slug"]


@dataclass(frozen=True)
class Line:
    """One case of both sides; `speed` is that of B over that of A."""

    variant: str
    point: str
    seconds: tuple[float, float]
    speed: Estimate
    word: str


@dataclass(frozen=True)
class Rate:
    """One case of both sides that is not alike; `speed` is the rate of B over that of A."""

    variant: str
    point: str
    unit: str
    rates: tuple[float, float]  # in a second, not in the unit
    speed: Estimate
    why: str


@dataclass(frozen=True)
class Group:
    """One experiment of both sides."""

    name: str
    rows: tuple[Line, ...]
    rates: tuple[Rate, ...]
    mean: Estimate | None  # None: no case in common
    noise: tuple[NoiseFloor, NoiseFloor]
    apart: Mapping[str, Mapping[str, int]]  # "only in A": what is only there, and how many cases


class Points:
    """The cases of a result by where they stand."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.again: list[Key] = []  # of a launch that differs from an earlier one in nothing
        self.points: dict[Key, Coordinates] = {}
        self.cases: dict[Key, Case] = {}
        self._twins: list[tuple[Key, Case]] = []
        for case in result.cases:
            point = _point(case, result)
            key = case.variant, frozenset(point.items())
            if case.twin:
                self._twins.append((key, case))
                continue
            if key in self.cases:
                self.again.append(key)
                continue
            self.points[key], self.cases[key] = point, case

    def timed(self, key: Key) -> Case | None:
        """The case, if it is here and passed."""
        case = self.cases.get(key)
        return case if case and case.passed else None

    @cached_property
    def noise(self) -> NoiseFloor:
        pairs = [(twin, self.timed(key)) for key, twin in self._twins if twin.passed]
        return numerics.noise_floor(samples_of_both(twin, first) for twin, first in pairs if first)

    @cached_property
    def values(self) -> frozenset[tuple[str, Coordinate]]:
        """Every variant and every value of a coordinate."""
        variants = {("variant", variant) for variant, _ in self.cases}
        return frozenset(variants.union(*(point.items() for point in self.points.values())))


def read(root: Path, given: str, name: str) -> Side:
    """The results of a file, of a run's folder or of a machine's."""
    path = Path(given) if Path(given).exists() else root / "reports" / given
    files = {f"{given}/results/{file.name}": file
             for file in stored.results_of(path)}
    for shown, single in ((given, path), (f"{given}/result.json", path / "result.json")):
        if single.is_file():
            files = {shown: single}
    if not files:
        raise UserError(f"compare: {given} is no result, no folder of a finished run and no"
                         " machine below reports/")
    found = [(file, shown, results.parse(file, shown)) for shown, file in files.items()]
    counted = {_name(file, result): results.sealed(result) for file, shown, result in found
               if not joining.uncounted(result)}
    if not counted:
        _, shown, result = found[0]
        raise UserError(f"compare: {shown}: {joining.uncounted(result)}")
    return Side(name, escape.sealed_text(given), counted)


def _name(file: Path, result: Result) -> str:
    """What a machine's folder calls a result: EXPERIMENT, or EXPERIMENT@TITLE of a kept run."""
    _, title = stored.names_of(file)
    return f"{result.experiment}@{title}" if title else result.experiment


def compare(a: Side, b: Side) -> list[Group]:
    """The experiments that both sides have."""
    pairs = [(name, a.found[name], b.found[name]) for name in a.found if name in b.found]
    if len(a.found) == len(b.found) == 1:  # under whatever titles
        (first,), (second,) = a.found.values(), b.found.values()
        same = first.experiment == second.experiment
        pairs = [(first.experiment, first, second)] if same else []
    if not pairs:
        raise UserError("compare: no experiment in common: "
                         + ", ".join(f"{side.name} has {', '.join(side.found)}" for side in (a, b)))
    groups = [_group(name, Points(first), Points(second)) for name, first, second in pairs]
    if not any(group.rows or group.rates for group in groups):
        why = [f"{said} {_listed(names, False)}" for group in groups
               for said, names in group.apart.items()]
        raise UserError(f"compare: no case in common: {'; '.join(why) or 'neither has any'}")
    return groups


def _point(case: Case, result: Result) -> Coordinates:
    launch = result.raw["launches"][case.launch]
    environment = {name: value for name, value in launch["environment"].items()
                   if name != "OMP_NUM_THREADS"}  # which is `threads`
    return {**case.parameters, "threads": launch["threads"], "ranks": launch["ranks"],
            "hosts": launch.get("hosts", 1), **environment}


def _group(name: str, a: Points, b: Points) -> Group:
    values: dict[str, set[Coordinate]] = {}
    for coordinate, value in a.values | b.values:
        values.setdefault(coordinate, set()).add(value)
    varying = {coordinate for coordinate, found in values.items() if len(found) > 1}
    noise = max(a.noise.factor, b.noise.factor)
    rows, rates, timed = [], [], []
    apart: dict[str, Mapping[str, int]] = {}
    incomparable: Counter[str] = Counter()
    for key, point in a.points.items():
        first, second = a.timed(key), b.timed(key)
        if not first or not second:
            continue
        label = _label(point, varying)
        speed = numerics.ratio_of_medians(first.samples, second.samples)
        seconds = statistics.median(first.samples), statistics.median(second.samples)
        difference = joining.unlike(first, a.result, second, b.result)
        amounts = joining.amounts([first, second])
        if difference is None:
            timed.append((first.samples, second.samples))
            rows.append(Line(key[0], label, seconds, speed, word(speed, noise)))
        elif difference.leaves_rates and amounts:
            unit, (of_a, of_b) = amounts
            rates.append(Rate(key[0], label, unit, (of_a / seconds[0], of_b / seconds[1]),
                              speed.scaled(of_b / of_a), difference.words))
        else:
            incomparable[difference.words] += 1
    if incomparable:
        apart["not compared"] = incomparable
    for side, mine, others in (("A", a, b), ("B", b, a)):
        only = [key for key in mine.points if key not in others.points]
        failed = [key for key in mine.points if key in others.points and not mine.timed(key)]
        for said, keys in ((f"only in {side}", only), (f"failed in {side}", failed),
                           (f"measured again in {side}, in a launch like another", mine.again)):
            if keys:
                apart[said] = Counter(_lacked(key, mine, others, varying) for key in keys)
    return Group(name, tuple(rows), tuple(rates), _mean(timed), (a.noise, b.noise), apart)


def _mean(timed: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Estimate | None:
    """The speed of all cases together: of each side the geometric mean of each of its rounds."""
    if not timed:
        return None
    a, b = (numerics.geometric_mean_per_round(side) for side in zip(*timed, strict=True))
    return numerics.ratio_of_medians(a, b)


def word(speed: Estimate, noise: float) -> str:
    """What an interval says; a difference counts only beyond the noise floor."""
    if speed.low >= ALIKE_LOW and speed.high <= ALIKE_HIGH:
        return "alike"
    if speed.low > max(1, noise):
        return "faster"
    if speed.high < min(1, 1 / noise):
        return "slower"
    return "undecided"


def _lacked(key: Key, mine: Points, others: Points, varying: Iterable[str]) -> str:
    """Why the other side lacks a case: its variant or a coordinate is not there at all, or else
    the case by name."""
    variant, point = key[0], mine.points[key]
    if ("variant", variant) not in others.values:
        return variant
    for coordinate, value in point.items():
        if (coordinate, value) not in others.values:
            return f"{coordinate}={value}"
    return f"{variant} {_label(point, varying)}".strip()


def _label(point: Coordinates, varying: Iterable[str]) -> str:
    """A point in words, less what is the same at all points."""
    return " ".join(value if isinstance(value, str) else f"{name}={value}"
                    for name, value in point.items() if name in varying)


# --- text ----------------------------------------------------------------------------------------


def text(a: Side, b: Side, groups: Sequence[Group], everything: bool,
         for_a_page: bool) -> list[str]:
    """The comparison as lines."""
    said = [f"A is {a.shown}, B is {b.shown}."]
    if a.machine != b.machine:
        said.append(f"The machines differ: A ran on {a.machine}, B on {b.machine}.")
    if differing := _other_data(a, b):
        said.append(f"Other data under the same name: {', '.join(differing)}.")
    if len(a.found) > 1 and len(b.found) > 1:
        for side, other in ((a, b), (b, a)):
            if missing := [name for name in side.found if name not in other.found]:
                said.append(f"Only in {side.name}: {', '.join(missing)}.")
    said += ["Speed is that of B over that of A, the median time of A by that of B: above 1, B is"
             " faster.",
             f"Intervals are for {100 * numerics.LEVEL:g} %, from what varied within each run; what"
             " differs from one run to the next is not in them.",
             "Alike is an interval within 5 %; faster or slower, one beyond 1 and beyond both noise"
             " floors."]
    lines = [("- " if for_a_page else "") + line for line in said]
    for group in groups:
        lines += ["", *_group_text(group, everything, for_a_page)]
    return lines


def _group_text(group: Group, everything: bool, for_a_page: bool) -> list[str]:
    floors = ", ".join(f"{_floor(noise)} in {side}"
                       for side, noise in zip("AB", group.noise, strict=True))
    counts = Counter(row.word for row in group.rows)
    words = ", ".join(f"{counts[each]} {each}" for each in ("faster", "slower", "alike",
                                                           "undecided") if counts[each])
    cases = notation.plural(len(group.rows), "case")
    overall = "no case that is alike"
    if group.mean:
        overall = f"geometric mean {' ('.join(_speed(group.mean))}) of {cases}: {words}"
    shown = group.rows if everything else _interesting(group.rows)
    after = [f"{said}: {_count(names)}: {_listed(names, everything)}"
             for said, names in group.apart.items()]
    if left := Counter(row.word for row in group.rows) - Counter(row.word for row in shown):
        kinds = ", ".join(f"{number} {each}" for each, number in left.items())
        after.insert(0, f"left out: {_count(left)}: {kinds} (--all shows them)")
    table = [_cells(row) for row in shown]
    apart = group.rates if everything else _furthest(group.rates)
    rates = [_rate_cells(rate) for rate in apart]
    title = f"{notation.plural(len(group.rates), 'case')} {RATES}"
    if len(apart) < len(group.rates):
        title += f" (the {len(apart)} that differ most; --all shows all)"
    if for_a_page:
        head = [f"## {group.name}", "", f"{overall}; noise floor {floors}."]
        named = [[f"`{variant}`", *others] for variant, *others in table]
        body = ["", markdown(COLUMNS, named, 2, prose=[6])] if table else []
        if rates:
            named = [[f"`{variant}`", *others] for variant, *others in rates]
            body += ["", f"{title}:", "", markdown(RATE_COLUMNS, named, 2, prose=[6])]
        return [*head, *body, *([""] if after else []), *(f"- {line}" for line in after)]
    lines = aligned([COLUMNS, *table], "<<>>>><") if table else []
    if rates:
        lines += [f"{title}:", *(f"  {line}" for line in
                                 aligned([RATE_COLUMNS, *rates], "<<>>>><"))]
    body = [f"  {line}" for line in (*lines, *after)]
    return [f"{group.name}: {overall}", f"  noise floor: {floors}", *body]


def _interesting(rows: Sequence[Line]) -> Sequence[Line]:
    """What is slower or faster, the slowest first; of many those that differ most."""
    ordered = sorted(rows, key=lambda row: row.speed.value)
    slower, faster = ([row for row in ordered if row.word == each] for each in ("slower", "faster"))
    return [*slower[:EACH_WORD], *faster[-EACH_WORD:]]


def _furthest(rates: Sequence[Rate]) -> Sequence[Rate]:
    """Of many rates those that differ most, in their order."""
    ordered = sorted(rates, key=lambda rate: -abs(math.log(rate.speed.value)))
    chosen = {id(rate) for rate in ordered[:EACH_WORD]}
    return [rate for rate in rates if id(rate) in chosen]


def _rate_cells(rate: Rate) -> list[str]:
    return [rate.variant, rate.point,
            *(f"{notation.significant(each / 1e9)} {rate.unit}" for each in rate.rates),
            *_speed(rate.speed), rate.why]


def _cells(row: Line) -> list[str]:
    return [row.variant, row.point, *(notation.time(seconds) for seconds in row.seconds),
            *_speed(row.speed), row.word]


def _speed(speed: Estimate) -> tuple[str, str]:
    """A ratio and its interval, in words where a single round leaves it unknown."""
    written = notation.factor(speed.value)
    known = speed.rounds > 1
    return f"{written}x", numerics.interval(speed, written) if known else "one round"


def _other_data(a: Side, b: Side) -> list[str]:
    """Data sets that both sides call the same and that are not."""
    digests: list[dict[str, str]] = [{}, {}]
    for side, known in zip((a, b), digests, strict=True):
        for result in side.found.values():
            known |= {name: data["sha256"] for name, data in result.raw["datasets"].items()}
    return sorted(name for name, digest in digests[0].items()
                  if digests[1].get(name, digest) != digest)


def _floor(noise: NoiseFloor) -> str:
    return notation.times(noise.factor) if noise.pairs else "unknown"


def _count(names: Mapping[str, int]) -> str:
    return notation.plural(sum(names.values()), "case")


def _listed(names: Mapping[str, int], everything: bool) -> str:
    """`csr (12), threads=16 (4)`; of many the first."""
    listed = [f"{name} ({number})" if number > 1 else name for name, number in names.items()]
    if everything or len(listed) <= NAMED + 1:
        return ", ".join(listed)
    return ", ".join([*listed[:NAMED], f"and {len(listed) - NAMED} more"])

"""One result as a table that can be asked: which cases, at which points, fresh or stale.

A point is where variants can be compared: parameters, threads, ranks and launch axes. A coordinate
is one of these by name. A feature is a number that the data set of a point is described by. `where`
filters by coordinates, features, `variant`, `group`, `cache` and `target`.
"""

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, update_wrapper
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from memwall.analysis import numerics
from memwall.analysis.ceilings import Ceilings
from memwall.analysis.freshness import Freshness
from memwall.analysis.quantities import Absence, NoNumber, Unknown
from memwall.record import notation, regions
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.regions import EVERY, Index, Test, Where
from memwall.record.results import (
    STUDY,
    Case,
    Coordinates,
    Result,
    parameters,
    samples_of_both,
)
from memwall.record.sources import Tree

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
NOT_MEASURED = "not measured in this run"


class Elsewhere(UserError):
    """A complete, fresh result has a variant, but none of its cases in a region."""

    def __init__(self, variant: str, where: Where) -> None:
        super().__init__(f'the variant "{variant}" has no case where {regions.words(where)}')
        self.told = f"`{variant}`: {NOT_MEASURED} with {regions.phrase(where)}"


#: Facts of every case that are no coordinates: variants that differ in them are compared.
OF_VARIANTS = ("variant", "group", "cache", "target")
#: A fact of every case: so many threads work together, in however many processes.
WORKERS = "workers"
TOO_GOOD = 1.05
#: So many A/A pairs tell how restless a study is, or a launch of it.
LEAST_PAIRS = 4


@dataclass(frozen=True)
class Found:
    """The timed cases of a variant in some region, or why there are none."""

    cases: tuple[Case, ...] = ()
    absence: Absence | None = None
    unmeasured: int = 0  # points of the region where the variant was skipped


@dataclass(frozen=True)
class Measurements:
    """A result with what its experiment and the present tree say about it.

    `partial` is a run of the user's own choice (a filter, another matrix): what it lacks reads "not
    measured in this run" where a complete, fresh result stops the weave.
    """

    result: Result
    experiment: Experiment
    tree: Tree
    partial: bool = False

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """All cases but twins, and but those that stand where another one does."""
        return tuple(case for case in self.result.cases
                     if not case.twin and id(case) not in self._repeated)

    @cached_property
    def _repeated(self) -> frozenset[int]:
        """Cases of a launch that differs from an earlier one in no launch axis."""
        firsts: dict[Any, Case] = {}
        return frozenset(id(case) for case in self.result.cases
                         if not case.twin and firsts.setdefault(self._key(case), case) is not case)

    @cached_property
    def variants(self) -> tuple[str, ...]:
        """Every variant of the result, in the order in which the experiment adds them."""
        skipped = [entry["variant"] for entry in self.result.raw["skipped"] if "variant" in entry]
        return _unique([*(case.variant for case in self.cases), *skipped])

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """Names of the coordinates: the study and its parameters, then what launches differ in."""
        names = [name for case in self.cases for name in case.parameters]
        names += [name for entry in self.result.raw["skipped"] for name in parameters(entry)]
        return _unique([*names, *self.axes_of_launches])

    @cached_property
    def axes_of_launches(self) -> tuple[str, ...]:
        """Names of the coordinates that launches differ in."""
        return _unique(["threads", "ranks", *self.experiment.launch])

    @cached_property
    def noise(self) -> numerics.NoiseFloor:
        return numerics.noise_floor(self.equal_pairs)

    def noise_of(self, cases: Iterable[Case], sampled: str = "") -> numerics.NoiseFloor:
        """That of the pairs that are most like some cases, if they are enough: of their launches
        and studies, else of their studies, else on their targets, else of all. Two threads are not
        as restless as sixteen, nor products of milliseconds as those of microseconds, nor a GPU as
        its host. Of times, or of what was `sampled` beside them."""
        of = list(cases)
        every = self._pairs_of(sampled) if sampled else self._pairs
        there = [(twin, samples) for twin, samples in every
                 if twin.target in {one.target for one in of}]
        studies = {one.parameters[STUDY] for one in of}
        study = [pair for pair in there if pair[0].parameters[STUDY] in studies]
        launch = [pair for pair in study if pair[0].launch in {one.launch for one in of}]
        alike = next((pairs for pairs in (launch, study) if len(pairs) >= LEAST_PAIRS), there)
        return numerics.noise_floor([samples for _, samples in alike or every])

    @property
    def equal_pairs(self) -> list[tuple[Sequence[float], Sequence[float]]]:
        """The samples of the A/A pairs: the same code twice, in the same rounds."""
        return [samples for _, samples in self._pairs]

    @cached_property
    def _pairs(self) -> list[tuple[Case, tuple[Sequence[float], Sequence[float]]]]:
        """As `equal_pairs`, each with the second case."""
        return [(twin, samples_of_both(twin, first)) for twin, first in self._twins]

    def _pairs_of(self, sampled: str) -> list[tuple[Case, tuple[Sequence[float], Sequence[float]]]]:
        """The same of what was sampled beside times, of those that did so."""
        found: list[tuple[Case, tuple[Sequence[float], Sequence[float]]]] = []
        for twin, first in self._twins:
            if sampled in twin.rounds:
                second, one = twin.rounds[sampled], first.rounds[sampled]
                rounds = min(len(one), len(second))
                found.append((twin, (second[:rounds], one[:rounds])))
        return found

    @cached_property
    def _twins(self) -> list[tuple[Case, Case]]:
        """Second runs, each with the first."""
        firsts = {self._key(case): case for case in self.cases if case.passed}
        twins = [case for case in self.result.cases if case.twin and case.passed]
        return [(twin, firsts[self._key(twin)]) for twin in twins if self._key(twin) in firsts]

    def coordinates(self, case: Case) -> Coordinates:
        """Where a case stands."""
        return self._places[id(case)]

    def workers(self, case: Case) -> int:
        """Threads of all ranks together."""
        launch = self.result.raw["launches"][case.launch]
        return launch["threads"] * launch["ranks"]

    def fact(self, case: Case, name: str) -> str | float | None:
        """A coordinate or a feature of a case."""
        return self._facts[id(case)].get(name)

    @cached_property
    def _places(self) -> Mapping[int, Coordinates]:
        return {id(c): self._coordinates(c.launch, c.parameters) for c in self.result.cases}

    def _coordinates(self, launch: int, point: Coordinates) -> Coordinates:
        description = self.result.raw["launches"][launch]
        of_launch = {"threads": description["threads"], "ranks": description["ranks"]}
        for axis in self.experiment.launch:
            if axis not in of_launch:
                of_launch[axis] = description["environment"].get(axis, "unset")
        return {**point, **of_launch}

    def values(self, axis: str, where: Where) -> list[Any]:
        """The values of `variant`, `group`, a coordinate or a feature in a region, in their order.

        What `where` lists by name comes as it is listed, measured or not.
        """
        if axis in where and regions.names_values(where[axis]):
            return regions.listed(where[axis])
        if axis == "variant":
            skipped = [entry["variant"] for entry in self.skips(where) if "variant" in entry]
            return list(_unique([*(c.variant for c in self.select(where, timed=False)), *skipped]))
        if axis == "group":
            return list(_unique(case.group for case in self.select(where, timed=False)))
        self._require_axis(axis)
        facts = [self._facts[id(case)] for case in self.select(where, timed=False)]
        found = _unique(known[axis] for known in facts if axis in known)
        return sorted(found) if all(not isinstance(value, str) for value in found) else list(found)

    def select(self, where: Where, timed: bool = True) -> list[Case]:
        """Cases of a region; with `timed` only those that passed."""
        cases = [self.cases[at] for at in self._index.positions(self._tests(where))]
        return [case for case in cases if case.passed or not timed]

    def skips(self, where: Where) -> list[Mapping[str, Any]]:
        """What was skipped in a region; an entry without a variant stands for all of them."""
        skipped = self.result.raw["skipped"]
        return [skipped[at] for at in self._skip_index.positions(self._tests(where))]

    @cached_property
    def kept(self) -> dict[tuple[str, ...], Any]:
        """What was compared and judged: each once, however many pages ask."""
        return {}

    def find(self, variant: str, where: Where) -> Found:
        """The timed cases of one variant in a region. What failed anywhere in it failed."""
        tests = self._tests(where)
        if "variant" in tests and not tests["variant"](variant):
            return Found()
        others = {name: value for name, value in where.items() if name != "variant"}
        cases = self.select({**others, "variant": variant}, timed=False)
        failed = [case for case in cases if not case.passed]
        if failed:
            return Found(absence=Absence("failed", self._failure(failed)))
        skips = [entry for entry in self.skips(others) if self._lacks(entry, variant)]
        if cases:
            return Found(tuple(cases), unmeasured=len(skips))
        if skips:
            reasons = "; ".join(_unique(entry["reason"] for entry in skips))
            return Found(absence=Absence("skipped", reasons))
        return Found(absence=self._missing(variant, others))

    def _lacks(self, skip: Mapping[str, Any], variant: str) -> bool:
        """Whether a variant lacks a point that was skipped: one that was skipped for all is a point
        of those alone that its study has."""
        known = self._variants_of.get(skip["study"])
        return variant == skip["variant"] if "variant" in skip else not known or variant in known

    @cached_property
    def _variants_of(self) -> Mapping[str, set[str]]:
        """Of each study the variants that it names."""
        found: dict[str, set[str]] = {}
        named = [(str(case.parameters[STUDY]), case.variant) for case in self.cases]
        named += [(entry["study"], entry["variant"]) for entry in self.result.raw["skipped"]
                  if "variant" in entry]
        for study, variant in named:
            found.setdefault(study, set()).add(variant)
        return found

    def first_measured(self, variants: Iterable[str], where: Where) -> str:
        """The first of several names that was timed; the first name if none was."""
        names = list(variants)
        names = [name for name in names if name in self.variants] or names
        return next((name for name in names if self.find(name, where).cases), names[0])

    def members(self, group: str) -> tuple[str, ...]:
        """The variants of a group, timed or skipped, in their order."""
        skipped = [e for e in self.result.raw["skipped"] if "variant" in e]
        grouped = [(case.variant, case.group) for case in self.cases]
        grouped += [(entry["variant"], entry.get("group", "own")) for entry in skipped]
        found = _unique(name for name, of in grouped if of == group)
        if not found and not self.may_lack:
            known = ", ".join(_unique(of for _, of in grouped))
            raise UserError(f'no group "{group}" in the result, which has: {known}')
        return found

    def partner(self, case: Case, variant: str, overrides: Where | None = None) -> Case | None:
        """The timed case of another variant at the same point, or at one that differs as told."""
        moved = {
            name: self._largest(name) if value == regions.LARGEST else value
            for name, value in (overrides or {}).items()
        }
        return self._timed.get(self._key(case, variant, moved))

    @cached_property
    def ceilings(self) -> Ceilings:
        return Ceilings(self.result.raw, self.experiment.ceilings)

    def is_bounded(self, case: Case) -> bool:
        """Whether what a case moves passes where a ceiling of its launch was measured."""
        return self.ceilings.are_known(case.launch) and id(case) not in self._elsewhere

    @cached_property
    def _elsewhere(self) -> frozenset[int]:
        regions = self.experiment.unbounded
        return frozenset(id(case) for where in regions for case in self.select(where))

    @cached_property
    def doubtful(self) -> Mapping[int, str]:
        """By the ids of cases why their numbers are shown and not believed: a cold case that is
        faster than memory: its bytes, the flush, the probe or the machine may have misled.

        Only what works on the operands as they are is held against it: a format of its own may be
        smaller than the compulsory bytes, and a library need not read all that it stores. The
        case's interval counts, and the fastest pass of any probe that may be the ceiling, so that a
        machine which is busy meanwhile does not raise the alarm.
        """
        found: dict[int, str] = {}
        for case in self.cases:
            if not case.passed or case.cache != "cold" or case.stored_bytes > 0:
                continue
            if not self.is_bounded(case):
                continue
            ceiling = self.ceilings.fastest(case.launch, case.target)
            if not ceiling.moves_bytes:
                continue
            slowest = case.bytes / numerics.estimate(case.samples).high
            if slowest > TOO_GOOD * ceiling.fastest:
                fraction = case.bytes / statistics.median(case.samples) / ceiling.fastest
                found[id(case)] = (
                    f"{notation.percent(fraction)} of the fastest pass of {ceiling.name}, more than"
                    f" the {100 * TOO_GOOD:.0f} % that a cold case should reach"
                )
        return found

    @cached_property
    def doubts(self) -> list[str]:
        """What is marked about this result, a line for each case: what claims do not count."""
        faster = [f"`{case.variant}`{self._at(case)}: {self.doubtful[id(case)]}"
                  for case in self.cases if id(case) in self.doubtful]
        again = [f"`{case.variant}`{self._at(case)}: measured in two launches that differ in no"
                 " launch axis of experiment.toml, only the first counts"
                 for case in self.result.cases if id(case) in self._repeated]
        return [*faster, *again]

    def _at(self, case: Case) -> str:
        label = self.label(case)
        return f" at {label}" if label else ""

    @cached_property
    def loose(self) -> "Measurements":
        """This result as one that may lack what another machine has."""
        return self if self.partial else replace(self, partial=True)

    @cached_property
    def believed(self) -> "Measurements":
        """What claims are judged by: this result without the cases that are doubtful."""
        if not self.doubtful:
            return self
        left = tuple(case for case in self.result.cases if id(case) not in self.doubtful)
        return replace(self, result=replace(self.result, cases=left), partial=True)

    def label(self, case: Case) -> str:
        """A point in words; coordinates that never vary are left out."""
        return self._words(self.coordinates(case))

    def place(self, skip: Mapping[str, Any]) -> str:
        """As `label`, of an entry of what was skipped."""
        return self._words(self._coordinates(skip["launch"], parameters(skip)))

    def _words(self, coordinates: Coordinates) -> str:
        return " ".join(
            str(value) if isinstance(value, str) else f"{name}={value}"
            for name, value in coordinates.items()
            if name in self.varying
        )

    @cached_property
    def varying(self) -> frozenset[str]:
        """Coordinates with more than one value in this result."""
        seen: dict[str, set[Any]] = {}
        for case in self.cases:
            for name, value in self.coordinates(case).items():
                seen.setdefault(name, set()).add(value)
        return frozenset(name for name, values in seen.items() if len(values) > 1)

    # --- freshness -------------------------------------------------------------------------------

    @cached_property
    def freshness(self) -> Freshness:
        return Freshness(self.result, self.tree, self.experiment.since)

    @property
    def stale_variants(self) -> Mapping[str, str]:
        """Variants that changed since they were timed, with the reason."""
        return self.freshness.stale

    @property
    def may_lack(self) -> bool:
        """Whether this result may know less than its report speaks of: it is old, or narrowed."""
        return self.partial or bool(self.stale_variants)

    def told(self, of: Callable[[T], R], items: Iterable[T]) -> tuple[list[R], str]:
        """What can be told of some things, and why the first cannot of which nothing can.

        Raises `Unknown` where nothing can be told of any, and this result must have such a name.
        """
        made: list[R] = []
        lacking: list[NoNumber] = []
        for item in items:
            try:
                made.append(of(item))
            except NoNumber as error:
                lacking.append(error)
        unknown = next((error for error in lacking if isinstance(error, Unknown)), None)
        if unknown and not made and not self.may_lack:
            raise unknown
        return made, str(lacking[0]) if lacking else ""

    def is_stale(self, *variants: str) -> bool:
        """Whether any of the variants changed since they were timed."""
        return any(variant in self.stale_variants for variant in variants)

    def later_studies(self, where: Where) -> list[str]:
        """Of the studies that a region names those that came after this run."""
        asked = where.get(STUDY, [])
        names = asked if isinstance(asked, list) else [asked]
        return [str(name) for name in names if self.freshness.predates(str(name))]

    def _missing(self, variant: str, where: Where) -> Absence:
        """An error, unless the result may lack the variant, or may have it elsewhere alone."""
        is_known = variant in self.variants
        if self.may_lack or self.freshness.predates(variant) or self.later_studies(where):
            place = f" with {regions.phrase(where)}" if is_known and where else ""
            return Absence("missing", NOT_MEASURED + place)
        if is_known:
            raise Elsewhere(variant, where)
        known = ", ".join(self.variants)
        raise UserError(f'no variant "{variant}" in the result, which has: {known}')

    # --- lookup ----------------------------------------------------------------------------------

    @cached_property
    def _timed(self) -> Mapping[Any, Case]:
        timed: dict[Any, Case] = {}
        for case in self.cases:
            if case.passed:
                timed[self._key(case)] = case
        return timed

    def _key(self, case: Case, variant: str | None = None, overrides: Where | None = None) -> Any:
        coordinates = {**self.coordinates(case), **(overrides or {})}
        return variant or case.variant, frozenset(coordinates.items())

    @cached_property
    def _facts(self) -> Mapping[int, Coordinates]:
        """What `where` can ask of each case."""
        return {
            id(case): {
                **self._features(case.parameters),
                **self.coordinates(case),
                "variant": case.variant,
                "group": case.group,
                "cache": case.cache,
                "target": case.target,
                WORKERS: self.workers(case),
            }
            for case in self.cases
        }

    @cached_property
    def _index(self) -> Index:
        return Index([self._facts[id(case)] for case in self.cases])

    @cached_property
    def _skip_index(self) -> Index:
        """As `_index`, of what was skipped."""
        found = []
        for entry in self.result.raw["skipped"]:
            point = parameters(entry)
            coordinates = self._coordinates(entry["launch"], point)
            launch = self.result.raw["launches"][entry["launch"]]
            named = {name: entry.get(name, EVERY) for name in OF_VARIANTS}
            found.append({**self._features(point), **coordinates, **named,
                          WORKERS: launch["threads"] * launch["ranks"]})
        return Index(found)

    def features(self, name: object) -> Mapping[str, float]:
        """The features of a data set; none of anything else."""
        found: Mapping[str, float] = self.result.raw["datasets"].get(name, {}).get("features", {})
        return found

    def _features(self, point: Coordinates) -> Mapping[str, float]:
        """The features of the data set that a point's parameters name."""
        named = self.result.datasets_of(point)
        return self.result.raw["datasets"][named[0]]["features"] if named else {}

    def is_feature(self, name: str) -> bool:
        """Whether a name is that of a feature of the data sets."""
        return name in self._feature_names

    @cached_property
    def _feature_names(self) -> tuple[str, ...]:
        datasets = self.result.raw["datasets"].values()
        return _unique(name for dataset in datasets for name in dataset["features"])

    def _tests(self, where: Where) -> Mapping[str, Test]:
        """What `where` asks of each name."""
        for name in where:
            self._require_axis(name)
        return {name: regions.test(wanted, partial(self._largest, name, where.get("study")))
                for name, wanted in where.items()}

    def _largest(self, name: str, study: Any = None) -> float | None:
        """The largest value of an axis of numbers, in one study if that is named."""
        tests = {"study": regions.test(study, lambda: None)} if study else {}
        values = self._index.values(name, self._index.positions(tests))
        return max((value for value in values if isinstance(value, (int, float))), default=None)

    def _require_axis(self, name: str) -> None:
        """A narrowed run may have no point of a study, and so lack its axes."""
        if self.partial or name in (*OF_VARIANTS, WORKERS, *self.axes) or self.is_feature(name):
            return
        features = f"; features: {', '.join(self._feature_names)}" if self._feature_names else ""
        known = f"{', '.join(self.axes)}{features}"
        raise UserError(f'no axis "{name}" in the result, which has: {known}')

    def _failure(self, failed: Sequence[Case]) -> str:
        verdict = failed[0].verdict
        error = verdict.get("error")
        text = verdict["reason"] + (f", error {error:.3g} times the bound" if error else "")
        places = _unique(self.label(case) for case in failed)
        if places == ("",):
            return text
        shown = ", ".join(places[:3]) + (", ..." if len(places) > 3 else "")
        return f"{text} (at {shown})"


def _unique(values: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def once(
    work: Callable[Concatenate[Measurements, P], R],
) -> Callable[Concatenate[Measurements, P], R]:
    """What is found in a result is found once, and kept with it."""
    parameters = signature(work)

    def kept(measured: Measurements, /, *asked: P.args, **named: P.kwargs) -> R:
        given = parameters.bind(measured, *asked, **named)
        given.apply_defaults()
        key = (work.__name__, *map(repr, list(given.arguments.values())[1:]))
        if key not in measured.kept:
            measured.kept[key] = work(measured, *asked, **named)
        made: R = measured.kept[key]
        return made

    update_wrapper(kept, work)
    return kept

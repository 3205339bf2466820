"""What a run measured, computed anew from its raw samples: the half of an independent evaluator of
reports that knows numbers (`oracle.py` reads sentences).

It uses nothing of `memwall.analysis` and `memwall.pages`: what it says was written from their
docstrings, so that a mistake would have to be made twice.
"""

import math
import operator
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any, NamedTuple

LEVEL = 0.983
Case = Mapping[str, Any]
Where = Mapping[str, Any]
Test = Callable[[Any], bool]
COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
BOUND = re.compile(r"(<=|>=|<|>) *(-?\d+(?:\.\d+)?)")
MARKER = re.compile(r"^\s*//! \[([^\]]+)\]\s*$")


class Absent(Exception):
    """There is no such number."""


class Number(NamedTuple):
    """A median and the ends of its interval."""

    value: float
    low: float
    high: float


def interval(samples: Sequence[float]) -> Number:
    """Median, and the narrowest pair of order statistics that covers it at the level."""
    ordered, rank = sorted(samples), rank_of(len(samples))
    return Number(median(ordered), ordered[rank - 1], ordered[len(ordered) - rank])


@cache
def rank_of(count: int) -> int:
    """The largest rank whose pair of order statistics covers the median at the level: by the
    binomial distribution it misses it with twice the chance of fewer than `rank` heads."""
    below = rank = 0
    ways = 1
    while 2 * (rank + 1) <= count and 2 * (below + ways) / 2**count <= 1 - LEVEL:
        below += ways
        rank += 1
        ways = ways * (count - rank + 1) // rank
    return max(rank, 1)


def over_points(points: Sequence[Sequence[float]]) -> list[float]:
    """In each round the geometric mean over the points."""
    return [geometric_mean(values) for values in zip(*points, strict=False)]


def marked_texts(root: Path) -> dict[str, str]:
    """The marked source texts of a tree, as a compiler sees them."""
    found: dict[str, str] = {}
    for folder in ("lib", "experiments"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".cuh", ".cu") or path.stem.endswith("_test"):
                continue
            opened: dict[str, list[str]] = {}
            for line in path.read_text(encoding="utf-8").splitlines():
                if marker := MARKER.match(line):
                    name = marker[1]
                    if name in opened:
                        found[name] = seen_by_a_compiler("\n".join(opened.pop(name)))
                    else:
                        opened[name] = []
                elif not re.match(r"^\s*//+ (BEGIN|END) SOLUTION\s*$", line):
                    for lines in opened.values():
                        lines.append(line)
    return found


@cache
def seen_by_a_compiler(text: str) -> str:
    """A text without comments and blanks."""
    return re.sub(r"\s", "", re.sub(r"//.*", "", text))


class Run:
    """A raw result, and what the definition of its experiment says."""

    def __init__(self, raw: Mapping[str, Any], definition: Mapping[str, Any],
                 texts: Mapping[str, str], digests: Mapping[str, str], is_kept: bool) -> None:
        self.raw, self.definition, self.texts, self.digests = raw, definition, texts, digests
        self.is_kept = is_kept
        self._largest: dict[tuple[str, str], float] = {}
        self._facts: dict[int, tuple[Case, dict[str, Any]]] = {}
        self.is_partial = is_kept or bool(self.doubtful)

    # --- cases -----------------------------------------------------------------------------------

    @cached_property
    def every(self) -> list[Case]:
        """All cases with the samples of the rounds that count."""
        places: dict[Any, list[Case]] = {}
        for case in self.raw["cases"]:
            if case["samples_s"]:
                places.setdefault(self.place(case), []).append(case)
        counted: dict[Any, list[int]] = {}
        for place, cases in places.items():
            taken = max(len(case["samples_s"]) for case in cases)
            bad = set().union(*(disturbed(case) for case in cases))
            counted[place] = [i for i in range(taken) if len(bad) > taken / 5 or i not in bad]
        made: list[Case] = []
        for case in self.raw["cases"]:
            rounds = counted.get(self.place(case), []) if case["samples_s"] else []
            made.append({**case, "samples": [case["samples_s"][i] for i in rounds],
                         "recorded": {name: [values[i] for i in rounds] for name, values
                                      in case.get("rounds", {}).items()},
                         "passed": case["verdict"]["status"] == "passed"})
        return made

    def place(self, case: Case) -> Any:
        return (case["launch"], case["study"],
                tuple(sorted((k, str(v)) for k, v in case["parameters"].items())))

    def coordinates(self, case: Case) -> dict[str, Any]:
        """Study, parameters, and what its launch is."""
        launch = self.raw["launches"][case["launch"]]
        found = {"study": case["study"], **case["parameters"],
                 "threads": launch["threads"], "ranks": launch["ranks"]}
        for axis in self.definition.get("launch", {}):
            found.setdefault(axis, launch["environment"].get(axis, "unset"))
        return found

    def key(self, case: Case) -> Any:
        return case["variant"], frozenset(self.coordinates(case).items())

    @cached_property
    def all_firsts(self) -> list[Case]:
        """All but twins and repetitions, the doubtful ones too."""
        seen, found = set(), []
        for case in self.every:
            if not case["twin"] and self.key(case) not in seen:
                seen.add(self.key(case))
                found.append(case)
        return found

    @cached_property
    def cases(self) -> list[Case]:
        """Those that verdicts rest on."""
        doubtful = self.doubtful
        return [case for case in self.all_firsts if id(case) not in doubtful]

    @cached_property
    def variants(self) -> set[str]:
        return ({case["variant"] for case in self.cases}
                | {entry["variant"] for entry in self.raw["skipped"] if "variant" in entry})

    def features(self, case: Case) -> Mapping[str, float]:
        named = [value for value in case["parameters"].values()
                 if isinstance(value, str) and value in self.raw["datasets"]]
        return self.raw["datasets"][named[0]]["features"] if named else {}

    def facts(self, case: Case) -> dict[str, Any]:
        """What regions ask of a case, or of an entry of what was skipped."""
        if id(case) not in self._facts:
            self._facts[id(case)] = case, self.facts_of(case)
        return self._facts[id(case)][1]

    def facts_of(self, case: Case) -> dict[str, Any]:
        launch = self.raw["launches"][case["launch"]]
        of_variant = {name: case[name] for name in ("variant", "group", "cache", "target")
                      if name in case}
        return {**self.features(case), **self.coordinates(case), **of_variant,
                "workers": launch["threads"] * launch["ranks"]}

    # --- regions ---------------------------------------------------------------------------------

    def largest(self, name: str, study: Any) -> float:
        if (name, str(study)) not in self._largest:
            self._largest[name, str(study)] = self.largest_of(name, study)
        return self._largest[name, str(study)]

    def largest_of(self, name: str, study: Any) -> float:
        studies = study if isinstance(study, list) else [study]
        values = [facts[name] for case in self.cases for facts in [self.facts(case)]
                  if name in facts and isinstance(facts[name], (int, float))
                  and (study is None or facts["study"] in studies)]
        return max(values, default=math.nan)

    def is_in(self, facts: Mapping[str, Any], where: Where) -> bool:
        return self.region(where)(facts)

    def region(self, where: Where) -> Callable[[Mapping[str, Any]], bool]:
        """Who lies in a region: hundreds of cases are asked about each."""
        tests = [(name, self.test_of(name, wanted, where.get("study")))
                 for name, wanted in where.items()]
        return lambda facts: all(test(facts.get(name)) for name, test in tests)

    def test_of(self, name: str, wanted: Any, study: Any) -> Test:
        if not isinstance(wanted, (str, list)) or (isinstance(wanted, str)
                                                   and wanted in self.by_variant):
            return lambda value: bool(value == wanted)
        wanted = wanted if isinstance(wanted, list) else [wanted]
        without = [self.match_of(w[1:], name, study) for w in wanted
                   if isinstance(w, str) and w[:1] == "!"]
        others = [self.match_of(w, name, study) for w in wanted
                  if not (isinstance(w, str) and w[:1] == "!")]
        return lambda value: (not any(match(value) for match in without)
                              and (not others or any(match(value) for match in others)))

    def match_of(self, wanted: Any, name: str, study: Any) -> Test:
        if wanted == "max":
            largest = self.largest(name, study)
            return lambda value: bool(value == largest)
        if isinstance(wanted, str) and (bound := BOUND.fullmatch(wanted)):
            compare, limit = COMPARE[bound[1]], float(bound[2])
            return lambda value: isinstance(value, (int, float)) and compare(value, limit)
        if isinstance(wanted, str) and "*" in wanted:
            return lambda value: isinstance(value, str) and fnmatchcase(value, wanted)
        return lambda value: bool(value == wanted)

    def select(self, where: Where, cases: Iterable[Case] | None = None) -> list[Case]:
        of_all = (self.cases if cases is None else cases)
        named = where.get("variant")
        if isinstance(named, str) and named in self.by_variant:
            of_all = [case for case in self.by_variant.get(named, ()) if cases is not None
                      or id(case) not in self.doubtful]
        holds = self.region(where)
        return [case for case in of_all if holds(self.facts(case))]

    @cached_property
    def by_variant(self) -> dict[str, list[Case]]:
        found: dict[str, list[Case]] = {}
        for case in self.all_firsts:
            found.setdefault(case["variant"], []).append(case)
        return found

    def skips(self, where: Where) -> list[Case]:
        """What was skipped in a region: what an entry does not name stands for all."""
        free = ("variant", "group", "cache", "target")
        tests = [(name, self.test_of(name, wanted, where.get("study")))
                 for name, wanted in where.items()]
        return [entry for entry in self.raw["skipped"] for facts in [self.facts(entry)]
                if all(test(facts.get(name)) for name, test in tests
                       if name in facts or name not in free)]

    def find(self, variant: str, where: Where) -> list[Case]:
        """The timed cases of a variant; Absent if any failed or none was timed."""
        if variant not in self.variants and not self.is_partial:
            raise Absent(variant)
        if "variant" in where and not self.is_in({"variant": variant},
                                                 {"variant": where["variant"]}):
            return []
        where = {name: value for name, value in where.items() if name != "variant"}
        found = self.select({**where, "variant": variant})
        if any(not case["passed"] for case in found) or not found:
            raise Absent(f"{variant} where {where}")
        return found

    def skips_of(self, variant: str, where: Where) -> list[Case]:
        """Where a variant of a study was skipped, by its name or with all others there."""
        of = [{case["study"] for case in self.all_firsts if case["variant"] == variant}
              | {entry["study"] for entry in self.raw["skipped"]
                 if entry.get("variant") == variant}][0]
        named = {entry["study"] for entry in self.raw["skipped"] if "variant" in entry}
        named |= {case["study"] for case in self.cases}
        return [entry for entry in self.skips(where)
                if entry.get("variant", variant) == variant
                and (entry["study"] in of or entry["study"] not in named)]

    def asked_points(self, variant: str, where: Where, timed: bool = False) -> int:
        """At how many points of a region a variant was timed or, unless `timed`, skipped; none if
        it failed."""
        try:
            found = len(self.find(variant, where))
        except Absent:
            return 0
        others = {name: value for name, value in where.items() if name != "variant"}
        skipped = 0 if timed else len(self.skips_of(variant, others))
        return found + skipped if found else 0

    def is_elsewhere(self, variant: str, where: Where) -> bool:
        """Whether a complete, fresh run has a variant, but no case of it in a region."""
        if self.is_partial or self.stale or variant not in self.variants:
            return False
        others = {name: value for name, value in where.items() if name != "variant"}
        if "variant" in where and not self.is_in({"variant": variant},
                                                 {"variant": where["variant"]}):
            return False
        return not self.select({**others, "variant": variant}) and not self.skips_of(variant,
                                                                                    others)

    def first(self, names: Any, where: Where) -> str:
        """Of several names the first that was measured."""
        names = [names] if isinstance(names, str) else list(names)
        names = [name for name in names if name in self.variants] or names
        for name in names:
            try:
                if self.find(name, where):
                    return name
            except Absent:
                continue
        return names[0]

    # --- ceilings --------------------------------------------------------------------------------

    @cached_property
    def named_ceilings(self) -> list[str]:
        named = self.definition.get("ceiling", [])
        return [named] if isinstance(named, str) else list(named)

    def probes(self, launch: int) -> dict[str, dict[str, Any]]:
        """What the probes of a launch found."""
        return self._probes[launch]

    def probed(self, launch: int) -> dict[str, dict[str, Any]]:
        """By name: rate of the best look (all looks together by the older definition), the fastest
        pass, and whether it moves bytes."""
        looks: dict[str, list[Any]] = {}
        for probe in self.raw["ceilings"]:
            if probe["launch"] == launch and (probe["bytes"] or probe["flops"]):
                looks.setdefault(probe["name"], []).append(probe)
        found = {}
        for name, probes in looks.items():
            work = probes[0]["bytes"] or probes[0]["flops"]
            rates = [[work / seconds for seconds in probe["samples_s"]] for probe in probes]
            together = [rate for look in rates for rate in look]
            newer = probes[0].get("definition", 1) > 1
            rate = (max(map(interval, rates), key=lambda one: one.value) if newer
                    else interval(together))
            found[name] = {"rate": rate, "fastest": max(together), "moves": probes[0]["bytes"] > 0,
                           "target": probes[0].get("target", "host"), "name": name,
                           "definition": probes[0].get("definition", 1)}
        return found

    @cached_property
    def _probes(self) -> list[dict[str, dict[str, Any]]]:
        return [self.probed(launch) for launch in range(len(self.raw["launches"]))]

    @cached_property
    def peaks(self) -> dict[str, dict[str, Any]]:
        machine = self.raw["machine"]
        peaks = [*machine.get("peaks", []), *machine["cpu"].get("peaks", []),
                 *(machine["gpus"][0].get("peaks", []) if machine["gpus"] else [])]
        found = {}
        for peak in peaks:
            rate = peak.get("bytes_per_s", peak.get("flops_per_s"))
            found[f"peak:{peak['name']}"] = {
                "rate": Number(rate, rate, rate), "fastest": rate, "moves": "bytes_per_s" in peak,
                "target": "", "name": f"peak:{peak['name']}"}
        return found

    def bounds(self, case: Case, names: Sequence[str] = ()) -> list[dict[str, Any]]:
        known = {**self.peaks, **self._probes[case["launch"]]}
        asked = list(names) or self.named_ceilings
        if any(name not in known for name in asked):
            raise Absent(f"ceiling of {asked}")
        if names:
            return [known[name] for name in names]
        found = [known[name] for name in asked] or [
            probe for probe in self._probes[case["launch"]].values() if probe["moves"]]
        found = [one for one in found if one["target"] in ("", case["target"])]
        if not found:
            raise Absent("no ceiling there")
        if asked:
            return found
        return [max(found, key=lambda one: (one["rate"].value, one["name"]))]

    def seconds_at_best(self, case: Case, names: Sequence[str] = ()) -> float:
        return max((case["work"]["bytes"] if one["moves"] else case["work"]["flops"])
                   / one["rate"].value for one in self.bounds(case, names))

    def are_ceilings_known(self, launch: int) -> bool:
        probes = self._probes[launch]
        return any(one["moves"] for one in probes.values()) and all(
            name in {**self.peaks, **probes} for name in self.named_ceilings)

    def is_bounded(self, case: Case) -> bool:
        return self.are_ceilings_known(case["launch"]) and not any(
            self.is_in_simply(case, where) for where in self.definition.get("unbounded", []))

    def is_in_simply(self, case: Case, where: Where) -> bool:
        """A region without `max`, which cannot be asked before doubts are known."""
        return self.is_in(self.facts(case), where)

    @cached_property
    def doubtful(self) -> dict[int, Case]:
        """Cold cases on the operands as they are that seem faster than memory."""
        found = {}
        for case in self.all_firsts:
            if not case["passed"] or case["cache"] != "cold" or case["setup"]["stored_bytes"] > 0:
                continue
            if not self.is_bounded(case):
                continue
            moving = [one for one in self._probes[case["launch"]].values() if one["moves"]]
            moving = [one for one in moving if one["target"] == case["target"]] or moving
            best = max(moving, key=lambda one: (one["fastest"], one["name"]))
            if self.named_ceilings:
                first = {**self.peaks, **self._probes[case["launch"]]}[self.named_ceilings[0]]
                if any(first is one for one in moving) or not first["moves"]:
                    best = first
            if best["moves"] and (case["work"]["bytes"] / interval(case["samples"]).high
                                  > 1.05 * best["fastest"]):
                found[id(case)] = case
        return found

    # --- comparisons -----------------------------------------------------------------------------

    def both(self, one: Case, other: Case) -> tuple[list[float], list[float]]:
        """The samples that two cases are compared by."""
        shares = [len(disturbed(case)) / len(case["samples_s"]) for case in (one, other)]
        name = "samples_s" if abs(shares[0] - shares[1]) >= 0.1 else "samples"
        first, second = one[name], other[name]
        rounds = min(len(first), len(second))
        return first[:rounds], second[:rounds]

    @cached_property
    def equal_pairs(self) -> list[tuple[Case, float]]:
        """Of each A/A pair the second case, and by what factor the two differ."""
        firsts = {self.key(case): case for case in self.cases if case["passed"]}
        found = []
        for twin in self.every:
            if twin["twin"] and twin["passed"] and self.key(twin) in firsts:
                a, b = self.both(twin, firsts[self.key(twin)])
                ratio = median(x / y for x, y in zip(a, b, strict=True))
                found.append((twin, math.exp(abs(math.log(ratio)))))
        return found

    @cached_property
    def timed(self) -> dict[Any, Case]:
        return {self.key(case): case for case in self.cases if case["passed"]}

    def energy_pairs(self) -> list[tuple[Case, float]]:
        """The same by joules, of those that recorded them."""
        firsts = {self.key(case): case for case in self.cases if case["passed"]}
        found = []
        for twin in self.every:
            one = firsts.get(self.key(twin))
            if twin["twin"] and twin["passed"] and one and "joules" in twin["recorded"]:
                ratio = median(x / y for x, y in zip(
                    twin["recorded"]["joules"], one["recorded"]["joules"], strict=False))
                found.append((twin, math.exp(abs(math.log(ratio)))))
        return found

    def noise(self, of: Iterable[Case] = (), metric: str = "") -> float:
        """The largest factor of four or more pairs that share most facts with some cases: target,
        study and launch, or two of these; else of those on their targets; else of all. Of what is
        told for a joule, in joules."""
        cases = list(of)
        pairs = self.energy_pairs() if "per_joule" in metric else self.equal_pairs
        for facts, least in ((("target", "study", "launch"), 4), (("target", "study"), 4),
                             (("target",), 1), ((), 0)):
            alike = [factor for twin, factor in pairs
                     if all(twin[fact] in {case[fact] for case in cases} for fact in facts)]
            if len(alike) >= least:
                break
        return max(alike, default=1.0)

    def rivals(self, than: Any) -> list[str]:
        """The variants that something is compared with; none if it is itself elsewhere."""
        if isinstance(than, str):
            return [than]
        if "variant" in than:
            return [than["variant"]]
        best = than.get("best_of")
        if best is None:
            return []
        if isinstance(best, str):
            named = [(case["variant"], case["group"]) for case in self.cases]
            named += [(entry["variant"], entry.get("group", "own"))
                      for entry in self.raw["skipped"] if "variant" in entry]
            return list(dict.fromkeys(name for name, group in named if group == best))
        if isinstance(best, Mapping):
            skipped = [entry["variant"] for entry in self.skips(best) if "variant" in entry]
            return list(dict.fromkeys([*(case["variant"] for case in self.select(best)),
                                       *skipped]))
        return list(best)

    def pairs(self, faster: str, than: Any, where: Where) -> list[tuple[Case, Case]]:
        moved = {} if isinstance(than, str) else {
            name: value for name, value in than.items() if name not in ("variant", "best_of")}
        first = self.find(faster, where)
        names = self.rivals(than)
        missing = []
        for name in names:
            try:
                self.find(name, {**where, **moved})
            except Absent:
                missing.append(name)
        if names and len(missing) == len(names):
            raise Absent(str(names))
        target = {name: self.largest(name, None) if value == "max" else value
                  for name, value in moved.items()}
        timed = self.timed
        found = []
        for case in first:
            place = frozenset({**self.coordinates(case), **target}.items())
            there = [timed[name, place] for name in names or [case["variant"]]
                     if (name, place) in timed]
            if there:
                found.append((case, min(there, key=lambda one: median(one["samples"]))))
        if not found:
            raise Absent("no common point")
        return found

    # --- quantities ------------------------------------------------------------------------------

    def quantity(self, name: str, case: Case) -> float:
        first, *divisors = (self.counted(part, case) for part in name.split(" / "))
        for divisor in divisors:
            if divisor == 0:
                raise Absent(name)
            first /= divisor
        return first

    def counted(self, name: str, case: Case) -> float:
        setup, counters = case["setup"], case.get("counters", {}).get("values", {})
        if name == "stored_bytes":
            return setup["stored_bytes"] + setup.get("operand_bytes", 0)
        if name == "operations":
            return case["work"].get("operations", 0)
        known = {**counters, **setup.get("counts", {})}
        if name.startswith("counter:"):
            known, name = counters, name.removeprefix("counter:")
        if name not in known:
            raise Absent(name)
        return known[name]

    def metric(self, name: str, case: Case, ceilings: Sequence[str] = ()) -> list[float]:
        if name == "median":
            return list(case["samples"])
        if name == "per_operation":
            operations = case["work"].get("operations", 0)
            if not operations:
                raise Absent(name)
            return [seconds / operations for seconds in case["samples"]]
        if name == "of_ceiling":
            best = self.seconds_at_best(case, ceilings)
            return [best / seconds for seconds in case["samples"]]
        if name.startswith("round:"):
            if name.removeprefix("round:") not in case["recorded"]:
                raise Absent(name)
            return list(case["recorded"][name.removeprefix("round:")])
        if name.startswith("counter:"):
            return [self.quantity(name, case)]
        if name == "calls_per_joule":
            return [1 / joules for joules in case["recorded"]["joules"]]
        if name.startswith(("pj_per_", "gb_per_joule:", "gop_per_joule:")):
            return self.energy(name, case)
        rates = {"gbps": ("bytes", 1e9), "gflops": ("flops", 1e9), "tflops": ("flops", 1e12)}
        if name in rates:
            work, scale = rates[name]
            return [case["work"][work] / seconds / scale for seconds in case["samples"]]
        raise NotImplementedError(name)

    def energy(self, name: str, case: Case) -> list[float]:
        """Picojoules above a baseline for a byte or an operation, or billions of these for a
        joule."""
        kind, _, baseline = name.partition(":")
        base = self.timed.get(self.key({**case, "variant": baseline}))
        work = case["work"].get("bytes" if "b" in kind.partition("_")[0] or "byte" in kind
                                else "operations", 0)
        if base is None or not work or case["group"] == "baseline":
            raise Absent(name)
        joules = [mine - its / long * seconds for mine, seconds, its, long in zip(
            case["recorded"]["joules"], case["samples"], base["recorded"]["joules"],
            base["samples"], strict=False)]
        return [1e12 * one / work if kind.startswith("pj") else work / one / 1e9 for one in joules]

    def values(self, axis: str, where: Where) -> list[Any]:
        """The values of an axis in a region: as they are listed, or sorted if all are numbers."""
        wanted = where.get(axis)
        if axis in where:
            wanted = wanted if isinstance(wanted, list) else [wanted]
            if not any(isinstance(w, str) and (w == "max" or w[:1] == "!" or "*" in w
                                               or BOUND.fullmatch(w)) for w in wanted):
                return wanted
        found = list(dict.fromkeys(facts[axis] for case in self.select(where)
                                   for facts in [self.facts(case)] if axis in facts))
        return found if any(isinstance(value, str) for value in found) else sorted(found)

    # --- freshness -------------------------------------------------------------------------------

    @cached_property
    def stale(self) -> set[str]:
        """Variants whose text or data are not what they were."""
        changed = {name for name, known in self.raw["datasets"].items()
                   if self.digests.get(name, known["sha256"]) != known["sha256"]}
        found = set()
        for case in self.every:
            recorded = self.raw["excerpts"][case["excerpt"]]["text"]
            named = {value for value in case["parameters"].values() if isinstance(value, str)}
            if self.texts.get(case["excerpt"]) != seen_by_a_compiler(recorded) or changed & named:
                found.add(case["variant"])
        return found

    def tells_noise(self, case: Case) -> bool:
        """Whether a case stands where nothing but it and its twin was asked, in a study of several
        variants: there it is compared with nothing."""
        there = [one for one in self.every if self.place(one) == self.place(case)]
        asked = [entry for entry in self.raw["skipped"] if self.place(entry) == self.place(case)]
        alone = {one["variant"] for one in there} == {case["variant"]} and not asked
        several = any(one["variant"] != case["variant"] for one in self.every
                      if one["study"] == case["study"])
        return alone and several and any(one["twin"] for one in there)

    def disturbed_rounds(self) -> tuple[int, int, int]:
        """How many rounds of all points were disturbed, of how many, and how many do not count."""
        taken: dict[Any, int] = {}
        counted: dict[Any, int] = {}
        bad: dict[Any, set[int]] = {}
        for case in self.every:
            if case["samples_s"]:
                place = self.place(case)
                taken[place] = max(taken.get(place, 0), len(case["samples_s"]))
                counted[place] = max(counted.get(place, 0), len(case["samples"]))
                bad.setdefault(place, set()).update(disturbed(case))
        every = sum(taken.values())
        return sum(map(len, bad.values())), every, every - sum(counted.values())


def disturbed(case: Case) -> set[int]:
    """The numbers of the samples that anything disturbed."""
    return set().union(*case.get("disturbed", {}).values())


def load(root: Path, experiment: str, raw: Mapping[str, Any], is_kept: bool = False) -> Run:
    """A raw result beside the tree as it is now."""
    definition = tomllib.loads(
        (root / f"experiments/{experiment}/experiment.toml").read_text(encoding="utf-8"))
    lock = root / "datasets/structures.lock"
    digests = tomllib.loads(lock.read_text(encoding="utf-8")) if lock.exists() else {}
    return Run(raw, definition, _texts_of(root), digests, is_kept)


_known: dict[Path, dict[str, str]] = {}


def _texts_of(root: Path) -> dict[str, str]:
    if root not in _known:
        _known[root] = marked_texts(root)
    return _known[root]



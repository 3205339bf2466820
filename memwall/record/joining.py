"""What may be joined: the one place that is asked before results, or numbers of them, meet.

Processes of one run (`merge`, `prolong`), a result and a machine's folder (`obstacle`), a run and
all verdicts (`uncounted`), two cases that are compared (`unlike`), what another version wrote
(`results.require_version`).
"""

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memwall.record import disturbances, machines, privacy, results
from memwall.record.errors import UserError
from memwall.record.results import Case, Json, Result
from memwall.record.sources import code_of

#: Profiles for trying out: inputs so small that no number of theirs says anything.
FOR_TRYING = ("tiny",)


def merge(parts: list[Json]) -> Json:
    """One result from those of several processes: launches are concatenated, the rest must agree.

    Each may have loaded libraries of its own. Identity (`run.id`, `run.utc`) is the first one's; of
    the arguments those remain that all share.
    """
    merged = copy.deepcopy(parts[0])
    for part in parts[1:]:
        shift = len(merged["launches"])
        merged["launches"] += part["launches"]
        for name in ("ceilings", "cases", "skipped"):
            merged[name] += [entry | {"launch": entry["launch"] + shift} for entry in part[name]]
        for name in ("datasets", "excerpts", "libraries"):
            _merge_named(merged[name], part[name], name)
        merged["run"]["arguments"] = _shared(merged["run"]["arguments"], part["run"]["arguments"])
        _require_agreement(merged, part)
    return copy.deepcopy(merged)


def note_lost(whole: Json, threads: int, ranks: int, environment: Mapping[str, str],
              why: str) -> None:
    """Notes in a result that a further launch died: every point of the first one was skipped."""
    points = {results.identity(entry | {"variant": "", "launch": 0}): entry
              for entry in [*whole["cases"], *whole["skipped"]] if entry["launch"] == 0}
    at = len(whole["launches"])
    whole["launches"].append({"threads": threads, "ranks": ranks, "affinity": [],
                              "oversubscribed": False, "environment": dict(environment)})
    whole["skipped"] += [{"study": entry["study"], "launch": at, "parameters": entry["parameters"],
                          "reason": why} for entry in points.values()]


def prolong(first: Json, more: Json) -> Json:
    """One result from a run and one more look at some of its points: samples and other numbers of
    the rounds of each case, one after the other.

    A case that failed in either has failed. Everything else is as the first run noted it, also the
    timeline, but for what launches add up and where they ended.
    """
    _require_agreement(first, more | {"run": more["run"] | {"rounds": first["run"]["rounds"]}})
    whole = copy.deepcopy(first)
    _merge_named(whole["libraries"], more["libraries"], "libraries")
    run = whole["run"]
    run["looks"] = [*run.get("looks", [run["rounds"]]), more["run"]["rounds"]]
    look = len(run["looks"]) - 1
    looked_at = {disturbances.place(case) for case in more["cases"]}
    later: dict[tuple[Any, ...], list[Json]] = {}
    for case in more["cases"]:
        later.setdefault(_place_of_samples(case), []).append(case)
    for case in whole["cases"]:
        alike = later.get(_place_of_samples(case))
        if not alike and disturbances.place(case) not in looked_at:
            continue
        if not alike:
            raise UserError(f"prolong: {case['variant']} has no further samples")
        other = alike.pop(0)  # several twins of a variant have one name
        if other["verdict"]["status"] == "failed":
            case |= {name: other[name] for name in ("verdict", "iterations", "samples_s")}
            case.pop("timeline", None)
            case.pop("disturbed", None)
            case.pop("looks", None)
            for values in results.rounds_of(case).values():
                values.clear()
        elif case["verdict"]["status"] == "passed":
            if results.rounds_of(other).keys() != results.rounds_of(case).keys():
                raise UserError(f"prolong: {case['variant']} notes other numbers of its rounds")
            for name, numbers in other.get("disturbed", {}).items():
                case.setdefault("disturbed", {}).setdefault(name, []).extend(
                    len(case["samples_s"]) + number for number in numbers)
            case["looks"] = [*case.get("looks", [0]), look]
            case["samples_s"] += other["samples_s"]
            for name, values in results.rounds_of(case).items():
                values += other["rounds"][name]
    whole["ceilings"] += more["ceilings"]
    for launch, other in zip(whole["launches"], more["launches"], strict=True):
        for name, seconds in other.get("processors", {}).items():
            launch["processors"][name] += seconds
        if "gpus" in launch:
            launch["gpus"]["after"] = other["gpus"]["after"]
    return copy.deepcopy(whole)


def _place_of_samples(case: Json) -> tuple[Any, ...]:
    return results.identity(case), case["twin"]


def _merge_named(into: Json, part: Json, name: str) -> None:
    for key, value in part.items():
        if into.setdefault(key, value) != value:
            raise UserError(f"merge: $.{name}.{key}: the processes disagree")


def _shared(first: list[str], second: list[str]) -> list[str]:
    """Options of the first that the second has too, each with its value."""
    others = results.options(second)
    return [word for option in results.options(first) if option in others for word in option]


def _require_agreement(merged: Json, part: Json) -> None:
    for name in ("schema", "source", "build", "machine"):
        if merged[name] != part[name]:
            raise UserError(f"merge: $.{name}: the processes disagree")
    for name in ("experiment", "profile", "seed", "rounds", "tripled"):
        found, expected = part["run"][name], merged["run"][name]
        if found != expected:
            raise UserError(f"merge: $.run.{name}: found {found}, expected {expected}")


# --- a result and a machine's folder --------------------------------------------------------------


def uncounted(result: Result) -> str:
    """Why a valid result counts in nothing that is told of several; empty if it does."""
    profile = result.run["profile"]
    if profile in FOR_TRYING:
        return (f'$.run.profile: found "{profile}", a run for trying out, expected one for numbers:'
                " quick, book or full")
    return ""


def obstacle(result: Result, name: str, title: str | None, known: Collection[str]) -> str:
    """Why a valid result may not stand in a machine's folder as NAME or NAME@TITLE; empty if it
    may. `known` are the experiments of the tree. `keep`, `contribute`, `check` and `report` ask."""
    run = result.run
    if result.experiment not in known:
        return (f'$.run.experiment: found "{result.experiment}", expected one of:'
                f" {', '.join(known)}, which are the experiments of this tree")
    if result.experiment != name:
        return (f'$.run.experiment: found "{result.experiment}", expected "{name}", an experiment'
                " of the tree")
    if "--again" in run["arguments"]:
        return "found samples for an earlier run (--again), expected a run"
    if title is None and narrowing(result):
        return f"found a narrowed run ({' '.join(run['arguments'])}), expected a complete one"
    return ""


def hindrances(machine: str, found: Sequence[tuple[str, Result]]) -> Iterator[str]:
    """Why valid results, each with its file, may not leave as the folder of one machine: they tell
    who measured, or not that machine measured them. `contribute` and `check` ask."""
    first_shown, first = found[0]
    for shown, result in found:
        yield from privacy.tellings(result.raw, shown)
        known = result.raw["machine"]
        if known["slug"] != machine:
            yield f"{shown}: $.machine.slug: found {known['slug']}, expected {machine}"
        if other := machines.difference(first.raw["machine"], known):
            other_file = first_shown.rpartition("/")[2]
            yield f"{shown}: found another machine than in {other_file}: {other}"


def narrowing(result: Result) -> list[tuple[str, ...]]:
    """The options of a run that narrow it, a filter or values of an axis, each with its values."""
    axes = {name for case in result.cases for name in case.parameters}
    axes |= {name for entry in result.raw["skipped"] for name in results.parameters(entry)}
    names = {"--filter", *(f"--{axis}" for axis in axes)}
    options = (_split(option) for option in results.options(result.run["arguments"]))
    return [option for option in options if option[0] in names]


def is_partial(result: Result) -> bool:
    """Whether a run was narrowed on its command line."""
    return bool(narrowing(result))


def _split(option: tuple[str, ...]) -> tuple[str, ...]:
    """`--name=value` as two words."""
    name, equals, value = option[0].partition("=")
    return (name, *([value] if equals else []), *option[1:])


# --- two cases of one name ------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """In what two cases of one name are not alike."""

    words: str
    leaves_rates: bool  # of both still says something how much they do in a second


def unlike(first: Case, a: Result, second: Case, b: Result) -> Difference | None:
    """Why times of two cases of one name are not compared; None if they are."""
    for what, one, other in (("", first.cache, second.cache), ("on ", first.target, second.target)):
        if one != other:
            return Difference(f"{what}{one} in A, {what}{other} in B", False)
    for name in _data(first, a):
        if b.raw["datasets"].get(name, {}).get("sha256") != a.raw["datasets"][name]["sha256"]:
            return Difference(f"other data called {name}", False)
    if _work(first) != _work(second):
        return Difference("other work", True)
    profiles = [of.run["profile"] for of in (a, b)]
    if profiles[0] != profiles[1]:
        return Difference(f"{profiles[0]} in A, {profiles[1]} in B", True)
    if _text(first, a) != _text(second, b):
        return Difference("another text", True)
    return None


def _work(case: Case) -> tuple[float, ...]:
    return case.flops, case.bytes, case.operations


def _data(case: Case, of: Result) -> list[Any]:
    known = of.raw["datasets"]
    return [value for name, value in case.parameters.items()
            if name != results.STUDY and value in known]


def _text(case: Case, of: Result) -> str:
    return code_of(of.raw["excerpts"][case.excerpt]["text"])


def amounts(cases: Sequence[Case]) -> tuple[str, list[float]] | None:
    """The unit of a rate that all cases have, and what each does in a call; None without one."""
    for unit, each in (("GB/s", [case.bytes for case in cases]),
                       ("GFLOP/s", [case.flops for case in cases]),
                       ("G/s", [case.operations for case in cases])):
        if all(each):
            return unit, each
    return None

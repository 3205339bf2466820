"""Result files: load, validate, write.

A file is refused with one line that names the file, the JSON path, what was found there and what
was expected. The schema is `lib/bench/result.schema.json`; what it cannot say is checked here.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema

from memwall.record import disturbances, escape, files
from memwall.record.errors import UserError, line_of
from memwall.record.schemas import check_schema, spot
from memwall.record.sources import REPOSITORY

SCHEMA = REPOSITORY / "lib/bench/result.schema.json"
#: Of a result that is committed, before it is compressed. A case takes 400 bytes and 10 for each
#: sample: room for 4,000 cases of 63 rounds.
LARGEST_BYTES = 4_000_000
#: Of so many rounds one may be taken once more (`lib/bench/rounds.cpp`).
SPARE_ROUNDS = 4

#: Numbers beyond say nothing of any machine; what is computed from those between is finite.
LEAST, MOST = 1e-30, 1e30
Steps = tuple[str | int, ...]

#: The first parameter of every point.
STUDY = "study"

Json = dict[str, Any]
Coordinates = Mapping[str, str | float]


@dataclass(frozen=True)
class Span:
    """What one lane of a timeline did; seconds since the sample began."""

    lane: str
    name: str
    begin: float
    end: float


@dataclass(frozen=True)
class Case:
    """What was measured of one variant at one point."""

    variant: str
    group: str
    excerpt: str
    twin: bool
    launch: int
    parameters: Mapping[str, str | float]  # the study first
    flops: float
    bytes: float
    verdict: Mapping[str, Any]
    cache: str
    setup_seconds: float
    stored_bytes: float
    samples: tuple[float, ...]  # of the rounds that count
    operations: float = 0  # what a call repeats, if the time of one is of interest
    operand_bytes: float = 0  # of a format that the caller keeps and the variant reads as it is
    counts: Mapping[str, float] = field(default_factory=dict)
    counters: Mapping[str, float] = field(default_factory=dict)  # of a profiler, in another call
    notes: tuple[str, ...] = ()  # what the variant says about itself at this point
    target: str = "host"  # where it ran
    rounds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)  # one value a sample
    timeline: tuple[Span, ...] = ()  # of the round with the median sample
    taken: tuple[float, ...] = ()  # all samples, also of rounds that were disturbed
    disturbed: float = 0  # the part of them that was, by itself

    @property
    def passed(self) -> bool:
        return self.verdict["status"] == "passed"

    @property
    def format_bytes(self) -> float:
        """Bytes of the format that the variant reads, its own or the caller's; 0: not recorded."""
        return self.stored_bytes + self.operand_bytes


@dataclass(frozen=True)
class Result:
    """A validated result file."""

    path: Path
    raw: Json
    cases: tuple[Case, ...]

    @property
    def experiment(self) -> str:
        return self.raw["run"]["experiment"]

    @property
    def run(self) -> Json:
        return self.raw["run"]

    def datasets_of(self, point: Coordinates) -> list[Any]:
        """The data sets that a point's parameters name; a study may be called like another one."""
        known = self.raw["datasets"]
        return [value for name, value in point.items() if name != STUDY and value in known]


def load(path: Path) -> Result:
    """Reads and validates a result file."""
    return parse(path, path.name)


def parse(path: Path, shown: str) -> Result:
    """As `load`, calling the file `shown` in errors."""
    raw = decode(files.read(path, shown), shown)
    validate(raw, shown)
    return of(raw, path)


def of(raw: Json, path: Path) -> Result:
    """A result that is known to be valid."""
    counted = {place: disturbances.counted_rounds(cases)
               for place, cases in disturbances.of_points(raw["cases"]).items()}
    return Result(path, raw, tuple(_case(case, counted[disturbances.place(case)])
                                   for case in raw["cases"]))


def samples_of_both(one: Case, other: Case) -> tuple[Sequence[float], Sequence[float]]:
    """What two cases are compared by, of as many rounds: of those that count, or of all where one
    was disturbed much oftener than the other."""
    is_apart = abs(one.disturbed - other.disturbed) >= disturbances.MOST_APART
    first, second = (one.taken, other.taken) if is_apart else (one.samples, other.samples)
    rounds = min(len(first), len(second))
    return first[:rounds], second[:rounds]


def sealed(result: Result) -> Result:
    """A result to be shown: no text in it can be Markdown or HTML, but for the listings."""
    raw = escape.sealed(result.raw)
    for name, excerpt in result.raw["excerpts"].items():
        raw["excerpts"][escape.sealed_text(name)]["text"] = escape.listing(excerpt["text"])
    return of(raw, result.path)


def decode(text: str, shown: str) -> Any:
    """JSON without the liberties that Python takes: no NaN, no infinity, no repeated key."""

    def refuse(constant: str) -> float:
        raise UserError(f"{shown}: found {constant}, expected a finite number")

    def unique(pairs: list[tuple[str, Any]]) -> Json:
        found: Json = {}
        for key, value in pairs:
            if key in found:
                raise UserError(f'{shown}: found the key "{key}" twice in one object')
            found[key] = value
        return found

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        where = f"{shown}:{error.lineno}:{error.colno}"
        raise UserError(f"{where}: not JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:  # a number of many digits, or too deep
        raise UserError(f"{shown}: not JSON: {line_of(error)}") from error


def require_version(raw: Any, known: int, shown: str) -> None:
    """Refuses what another version of memwall wrote, before anything else is asked of it."""
    found = raw.get("schema") if isinstance(raw, dict) else None
    if found is not None and found != known:
        raise UserError(f"{shown}: $.schema: found {json.dumps(found)[:40]}, expected {known}:"
                         " another version of memwall wrote it")


def machine(text: str, shown: str) -> Json:
    """What a program tells of the machine. Raises `UserError` if it could stand in no result."""
    raw, (rules, _) = decode(text, shown), _schema()
    check_schema(raw, {**rules["properties"]["machine"], "$defs": rules["$defs"]}, shown)
    return raw


def parameters(entry: Mapping[str, Any]) -> dict[str, str | float]:
    """Where a raw case, or an entry of what was skipped, stands: its study, then its parameters."""
    return {STUDY: entry["study"], **entry["parameters"]}


def validate(raw: Any, shown: str) -> None:
    """Checks a decoded result against the schema and against what a schema cannot say."""
    rules, is_right = _schema()
    require_version(raw, rules["properties"]["schema"]["const"], shown)
    try:
        is_right(raw)
    except fastjsonschema.JsonSchemaValueException as error:
        check_schema(raw, rules, shown)
        raise UserError(f"{shown}: {error}") from error
    check_numbers(raw, shown)
    _check_references(raw, shown)
    _check_cases(raw, shown)


def rounds_of(case: Json) -> dict[str, list[float]]:
    """Numbers of the rounds of a raw case beside their times, by name."""
    return case.get("rounds", {})


def write(raw: Json, path: Path) -> None:
    """Validates a result and renames it into place, compressed if that is how its name ends."""
    validate(raw, path.name)
    content = encoded(raw).encode()
    files.write(path, files.compressed(content) if path.suffix == files.COMPRESSED else content)


def encoded(raw: Json) -> str:
    """A result as it stands in its file."""
    return json.dumps(raw, separators=(",", ":"), allow_nan=False) + "\n"


def too_large(size: int) -> str:
    """Why a result of so many bytes, before it is compressed, is not committed, where everybody
    would have to read it; empty if it may be. What is measured may be as large as it likes."""
    if size <= LARGEST_BYTES:
        return ""
    return (f"found {size} bytes of JSON, expected at most {LARGEST_BYTES} of a result that is"
            " committed: fewer points or rounds make it smaller")


def options(arguments: list[str]) -> list[tuple[str, ...]]:
    """The options of a command line, each with the words that follow it."""
    found: list[list[str]] = []
    for word in arguments:
        if word.startswith("--") or not found:
            found.append([word])
        else:
            found[-1].append(word)
    return [tuple(option) for option in found]


@cache
def _schema() -> tuple[Json, Callable[[Any], Any]]:
    """The schema, and what asks for it in a small part of the time that a validator takes which can
    tell what is wrong. Definitions stand in their places: each call of one would write down where
    it is, which takes most of the time."""
    rules = files.read_json(SCHEMA)
    return rules, fastjsonschema.compile(_in_place(rules, rules["$defs"]), use_default=False)


def _in_place(rules: Any, definitions: Json) -> Any:
    """Rules of a schema in which each reference has given way to the definition that it names."""
    if isinstance(rules, list):
        return [_in_place(each, definitions) for each in rules]
    if not isinstance(rules, dict):
        return rules
    if "$ref" in rules:
        return _in_place(definitions[rules["$ref"].removeprefix("#/$defs/")], definitions)
    return {name: _in_place(each, definitions) for name, each in rules.items() if name != "$defs"}


def _case(raw: Json, counted: Sequence[int]) -> Case:
    taken = raw["samples_s"]

    def of_counted(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(values[at] for at in counted) if values else ()

    return Case(
        variant=raw["variant"],
        group=raw["group"],
        excerpt=raw["excerpt"],
        twin=raw["twin"],
        launch=raw["launch"],
        parameters=parameters(raw),
        flops=raw["work"]["flops"],
        bytes=raw["work"]["bytes"],
        verdict=raw["verdict"],
        cache=raw["cache"],
        setup_seconds=raw["setup"]["seconds"],
        stored_bytes=raw["setup"]["stored_bytes"],
        samples=of_counted(taken),
        operations=raw["work"].get("operations", 0),
        operand_bytes=raw["setup"].get("operand_bytes", 0),
        counts=raw["setup"].get("counts", {}),
        counters=raw.get("counters", {}).get("values", {}),
        notes=tuple(raw["setup"].get("notes", [])),
        target=raw["target"],
        rounds={name: of_counted(values) for name, values in rounds_of(raw).items()},
        timeline=tuple(
            Span(span["lane"], span["name"], span["begin_s"], span["end_s"])
            for span in raw.get("timeline", [])
        ),
        taken=tuple(taken),
        disturbed=len(disturbances.disturbed_samples(raw)) / len(taken) if taken else 0,
    )


def check_numbers(raw: Json, shown: str) -> None:
    """Numbers are such that nothing computed from them overflows."""
    for path, number in _numbers(raw, ()):
        if not (number == 0 or LEAST <= abs(number) <= MOST):
            wanted = (f"0 or a number of magnitude {LEAST:g} to {MOST:g}"
                      if abs(number) < float("inf") else "a finite number")
            found = f"{number:.6g}" if isinstance(number, float) else str(number)[:40]
            raise UserError(f"{spot(shown, path)}: found {found}, expected {wanted}")


def _numbers(node: Json | list[Any],
             path: Steps) -> Iterator[tuple[Steps, float]]:
    """Every number and where it stands."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, (int, float)):
            yield (*path, key), value
        elif isinstance(value, (dict, list)):
            yield from _numbers(value, (*path, key))


def _check_references(raw: Json, shown: str) -> None:
    launches = len(raw["launches"])
    for name in ("ceilings", "cases", "skipped"):
        for index, entry in enumerate(raw[name]):
            if not isinstance(entry["launch"], int) or entry["launch"] >= launches:
                where = spot(shown, (name, index, "launch"))
                raise UserError(
                    f"{where}: found {entry['launch']}, expected a position in $.launches"
                    f" (0 to {launches - 1})"
                )
    used = set()
    for index, case in enumerate(raw["cases"]):
        used.add(case["excerpt"])
        if case["excerpt"] not in raw["excerpts"]:
            where = spot(shown, ("cases", index, "excerpt"))
            raise UserError(f'{where}: found "{case["excerpt"]}", expected a key of $.excerpts')
    for name in raw["excerpts"]:
        if name not in used:
            raise UserError(
                f"{spot(shown, ('excerpts', name))}: found a text that no case was measured with,"
                " expected each text to belong to a case"
            )


def identity(case: Json) -> tuple[Any, ...]:
    """What tells a case of a file from all others but its twins."""
    place = tuple(sorted((key, str(value)) for key, value in parameters(case).items()))
    return case["variant"], case["launch"], place


def _check_cases(raw: Json, shown: str) -> None:
    looks = raw["run"].get("looks", [raw["run"]["rounds"]])
    firsts = {identity(case) for case in raw["cases"] if not case["twin"]}
    seen = set()
    for index, case in enumerate(raw["cases"]):
        where = spot(shown, ("cases", index))
        _check_verdict(case, looks, where)
        _check_rounds(case, where)
        key = identity(case)
        if case["twin"]:
            if key not in firsts:
                raise UserError(f'{where}: found a twin of "{case["variant"]}" without its pair')
            continue
        if key in seen:
            raise UserError(f'{where}: found "{case["variant"]}" twice at one point')
        seen.add(key)


def _check_verdict(case: Json, looks: Sequence[int], where: str) -> None:
    verdict, samples = case["verdict"], len(case["samples_s"])
    if verdict["status"] == "failed":
        if samples:
            raise UserError(f"{where}.samples_s: found {samples}, expected none of a failed case")
        if not verdict.get("reason"):
            raise UserError(f"{where}.verdict: found no reason, expected why the case failed")
        return
    seen = case.get("looks", [0])
    if max(seen) >= len(looks):
        raise UserError(f"{where}.looks: found {max(seen)}, expected less than {len(looks)}")
    rounds = sum(looks[look] for look in seen)
    spare = sum(looks[look] // SPARE_ROUNDS for look in seen)
    if not rounds <= samples <= rounds + spare:
        raise UserError(
            f"{where}.samples_s: found {samples} samples, expected {rounds}, one for each round,"
            f" and at most {spare} for rounds that were disturbed"
        )
    if verdict.get("error", 0) > 1:
        raise UserError(
            f"{where}.verdict.error: found {verdict['error']}, expected at most 1 of a passed case"
        )
    if not verdict.get("checks"):
        raise UserError(f"{where}.verdict.checks: found none, expected the checks that passed")
    if case["iterations"] < 1:
        raise UserError(f"{where}.iterations: found 0, expected at least 1 of a timed case")


def _check_rounds(case: Json, where: str) -> None:
    """Numbers of the rounds beside their times, which were disturbed, and what one of them did."""
    samples = len(case["samples_s"])
    for name, numbers in case.get("disturbed", {}).items():
        if any(number >= samples for number in numbers):
            raise UserError(f"{where}.disturbed.{name}: found sample {max(numbers)}, expected less"
                            f" than {samples}")
    for name, values in rounds_of(case).items():
        if len(values) != samples:
            raise UserError(
                f"{where}.rounds.{name}: found {len(values)} values, expected {samples}, one for"
                " each sample"
            )
    for index, span in enumerate(case.get("timeline", [])):
        if span["end_s"] < span["begin_s"]:
            raise UserError(
                f"{where}.timeline[{index}].end_s: found {span['end_s']}, expected at least"
                f" {span['begin_s']}, where it begins"
            )

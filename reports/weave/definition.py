"""What stands in the tree: `experiment.toml` (what an experiment asks, draws and claims), marked
source texts, digests of data sets; the words in which it speaks of regions; and errors that a user
can cause: one line that says where, what was found, what was expected."""

import importlib.util
import json
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
from jsonschema.exceptions import ValidationError, best_match

from weave import files
from weave.errors import WeaveError

REPOSITORY = Path(__file__).resolve().parents[2]
SCHEMA = Path(__file__).with_name("experiment.schema.json")
#: Seconds expected of an experiment that says nothing.
UNKNOWN_BUDGET_S = 60


def spot(shown: str, path: Iterable[str | int]) -> str:
    """`file: $.cases[3].work`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return f"{shown}: ${''.join(steps)}"


def check_schema(value: Any, schema: dict[str, Any], shown: str) -> None:
    """Raises the most telling violation."""
    error = best_match(jsonschema.Draft202012Validator(schema).iter_errors(value))
    if error is not None:
        raise WeaveError(f"{spot(shown, error.absolute_path)}: {_found_and_expected(error)}")


def _found_and_expected(error: ValidationError) -> str:
    rule, wanted = error.validator, error.validator_value
    if rule == "required":
        missing = next(name for name in wanted if name not in error.instance)
        return f'found no "{missing}", expected the keys {_short(wanted)}'
    if rule == "additionalProperties":
        known = error.schema.get("properties", {})
        extra = next(name for name in error.instance if name not in known)
        return f'found the key "{extra}", expected only {_short(sorted(known))}'
    expectation = {
        "type": f"{wanted}",
        "enum": f"one of {_short(wanted)}",
        "const": _short(wanted),
        "pattern": f"text like {wanted}",
        "minimum": f"at least {wanted}",
        "maximum": f"at most {wanted}",
        "exclusiveMinimum": f"more than {wanted}",
        "minItems": f"at least {wanted} entries",
        "minLength": "text",
    }.get(rule, error.schema.get("description", f"{rule} {_short(wanted)}"))
    return f"found {_short(error.instance)}, expected {expectation}"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else text[:197] + "..."


# --- `experiment.toml` ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """A picture of the report; the id is the article's, or a name of our own."""

    id: str
    file: str
    caption: str
    where: Mapping[str, Any] = field(default_factory=dict)  # parameters of what it shows


@dataclass(frozen=True)
class Condition:
    """One comparison a claim rests on; of several names the first one measured counts."""

    faster: tuple[str, ...]  # with `value`: whose value it is
    than: tuple[str, ...] | Mapping[str, Any]  # or {"best_of": a group, variants or a region}
    expect: str | float | tuple[float, float]
    where: Mapping[str, Any]
    on: str = "all"  # the points together, or `any` or `every` unit by itself
    of: tuple[str, str] | None = None  # quantities of both sides in place of time
    more: bool = False  # of a metric, which is better; else less of what was counted
    along: str = ""  # with `between`: the number along which it stops being faster
    between: tuple[float, float] = (0.0, 0.0)
    per: tuple[str, ...] = ("matrix",)  # the coordinates that make a unit which counts once
    value: str = ""  # a metric of `faster` alone, with `at_least` and `at_most`
    at_least: float | None = None
    at_most: float | None = None
    ceiling: tuple[str, ...] = ()  # what a share refers to; of several the least
    label: str = ""  # what it says, in short, where a figure or a table shows it by itself


@dataclass(frozen=True)
class Claim:
    """A sentence of an article in our words, with the comparisons that decide it."""

    id: str
    article: int
    says: str
    short: str
    kind: str
    inferred: bool
    needs: tuple[str, ...]
    conditions: tuple[Condition, ...]

    @property
    def is_own(self) -> bool:
        """Whether it is a target of this project, not the claim of an article."""
        return self.article == 0

    @property
    def is_arithmetic(self) -> bool:
        """Whether it follows from the inputs alone, on every machine alike."""
        return self.kind == "arithmetic"

    @property
    def anchor(self) -> str:
        return "claim-" + self.id.replace(".", "-").lower()


@dataclass(frozen=True)
class Experiment:
    """The contents of `experiments/<name>/experiment.toml`."""

    name: str
    folder: Path
    title: str
    question: str
    article: int
    needs: tuple[str, ...]
    most_words: int  # of the chapter; 0: as many as others
    lead: str  # the machine whose numbers the chapter tells
    ceilings: tuple[str, ...]
    unbounded: tuple[Mapping[str, Any], ...]  # regions that the ceiling does not bound
    launch: Mapping[str, list[str | int]]
    budget: Mapping[str, float]
    since: Mapping[str, str]  # a variant and the source text that came with it
    figures: tuple[Figure, ...]
    claims: tuple[Claim, ...]

    def expected_seconds(self, profile: str) -> float:
        """What a profile is meant to take on two cores."""
        return self.budget.get(profile, UNKNOWN_BUDGET_S)

    def figure(self, id: str) -> Figure:
        return _named(self.figures, id, "figure")

    def claim(self, id: str) -> Claim:
        return _named(self.claims, id, "claim")


def load(root: Path, name: str) -> Experiment:
    """Reads and validates the definition of one experiment."""
    folder = root / "experiments" / name
    shown = f"experiments/{name}/experiment.toml"
    raw = files.read_toml(folder / "experiment.toml", shown)
    check_schema(raw, _schema(), shown)
    experiment = _experiment(name, folder, raw)
    _require_unique(shown, "figure", [figure.id for figure in experiment.figures])
    _require_unique(shown, "figure file", [figure.file for figure in experiment.figures])
    _require_unique(shown, "claim", [claim.id for claim in experiment.claims])
    return experiment


def load_all(root: Path) -> list[Experiment]:
    """Every experiment of the tree, by name. Raises `WeaveError` if two of them draw figures of one
    file, or make claims of one name: machines' pages and the scorecard show all."""
    found = sorted((root / "experiments").glob("*/experiment.toml"))
    experiments = [load(root, file.parent.name) for file in found]
    seen: dict[tuple[str, str], str] = {}
    for experiment in experiments:
        names = [("figure file", figure.file) for figure in experiment.figures]
        names += [("claim", claim.id) for claim in experiment.claims]
        for what, name in names:
            other = seen.setdefault((what, name), experiment.name)
            if other != experiment.name:
                raise WeaveError(f'experiments/{experiment.name}/experiment.toml: found the {what}'
                                 f' "{name}" of {other}, expected one of its own')
    return experiments


@cache
def _schema() -> dict[str, Any]:
    return files.read_json(SCHEMA)


def _experiment(name: str, folder: Path, raw: Mapping[str, Any]) -> Experiment:
    return Experiment(
        name=name,
        folder=folder,
        title=raw["title"],
        question=raw["question"].strip(),
        article=raw["article"],
        needs=tuple(raw["needs"]),
        most_words=raw.get("words", 0),
        lead=raw["lead"],
        ceilings=_names(raw.get("ceiling", [])),
        unbounded=tuple(raw.get("unbounded", [])),
        launch=raw.get("launch", {}),
        budget=raw.get("budget", {}),
        since=raw.get("since", {}),
        figures=tuple(Figure(**figure) for figure in raw.get("figure", [])),
        claims=tuple(_claim(claim) for claim in raw.get("claim", [])),
    )


def _claim(raw: Mapping[str, Any]) -> Claim:
    says = raw["says"].strip()
    return Claim(
        id=raw["id"],
        article=raw["article"],
        says=says,
        short=raw.get("short", says).strip().removesuffix("."),
        kind=raw["kind"],
        inferred=raw.get("inferred", False),
        needs=tuple(raw.get("needs", [])),
        conditions=tuple(_condition(condition) for condition in raw["condition"]),
    )


def _condition(raw: Mapping[str, Any]) -> Condition:
    """The side that a condition speaks of stands under the word for what it is to be."""
    of = raw.get("of", "")
    if "value" in raw:
        side, than, pair = of, (), None
    else:
        word = next(name for name in ("faster", "less", "more") if name in raw)
        side, than = raw[word], raw["than"]
        pair = (of, raw.get("than_of", of)) if of else None
    expect = raw.get("expect", next((n for n in ("faster", "less", "more") if n in raw), ""))
    return Condition(
        faster=_names(side),
        than=than if isinstance(than, Mapping) else _names(than),
        expect=tuple(expect) if isinstance(expect, list) else expect,
        where=raw.get("where", {}),
        on=raw.get("on", "all"),
        of=pair,
        more="more" in raw,
        along=raw.get("along", ""),
        between=tuple(raw.get("between", (0.0, 0.0))),
        per=_names(raw.get("per", "matrix")),
        value=raw.get("value", ""),
        at_least=raw.get("at_least"),
        at_most=raw.get("at_most"),
        ceiling=_names(raw.get("ceiling", [])),
        label=raw.get("label", ""),
    )


def _names(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _named(entries: tuple[Any, ...], id: str, what: str) -> Any:
    for entry in entries:
        if entry.id == id:
            return entry
    known = ", ".join(entry.id for entry in entries) or "none"
    raise WeaveError(f'no {what} "{id}" in experiment.toml, which has: {known}')


def _require_unique(shown: str, what: str, ids: list[str]) -> None:
    for id in ids:
        if ids.count(id) > 1:
            raise WeaveError(f'{shown}: found the {what} "{id}" twice, expected it once')


# --- the tree as it is now: marked source texts, digests of data sets -----------------------------

FOLDERS = ("lib", "experiments")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Excerpt:
    """A marked text: file relative to the root, and the text between the markers."""

    file: str
    text: str


@cache
def code_of(text: str) -> str:
    """A text without comments and blanks: what a compiler sees, however it is laid out."""
    return "".join(re.sub(r"//.*", "", text).split())


@dataclass(frozen=True)
class Tree:
    """What results are compared with to tell whether they are stale."""

    root: Path
    excerpts: Mapping[str, Excerpt]
    datasets: Mapping[str, str]


def read_tree(root: Path) -> Tree:
    """Scans the sources and the lock file of the data sets."""
    provenance = _provenance()
    folders = [root / folder for folder in FOLDERS]
    try:
        marked = provenance.excerpts(root, folders)
    except provenance.ProvenanceError as error:
        raise WeaveError(str(error).removeprefix(f"{root}/")) from error
    excerpts = {name: Excerpt(file, text) for name, file, text in marked}
    return Tree(root, excerpts, _digests(root / "datasets/structures.lock"))


def git(root: Path, *arguments: str) -> str | None:
    """What Git says of the tree `root`; None where that has no repository of its own."""
    said: str | None = _provenance().git(root, *arguments)
    return said


@cache
def _provenance() -> ModuleType:
    """The script that embeds the texts into the programs: both must read markers alike."""
    path = REPOSITORY / "lib/bench/provenance.py"
    spec = importlib.util.spec_from_file_location("bench_provenance", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _digests(lock: Path) -> dict[str, str]:
    if not lock.exists():
        return {}
    shown = f"{lock.parent.name}/{lock.name}"
    entries = files.read_toml(lock, shown)
    for name, digest in entries.items():
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise WeaveError(
                f"{shown}: {name}: found {digest!r}, expected the 64 digits of a sha256"
            )
    return entries


# --- regions --------------------------------------------------------------------------------------
# `where={...}`: the words in which verbs and claims say what region they speak of.
#
# Each name is a coordinate, a feature of the data set, `variant`, `group`, `cache` or `target`; its
# value is one value, a pattern (`runs-*`, `!runs-*` for all others, `<0.3`, `max`), or a list of
# them.

Where = Mapping[str, Any]
Test = Callable[[Any], bool]

#: The largest value of an axis of numbers, whatever it is on this machine.
LARGEST = "max"
BOUND = re.compile(r"(<=|>=|<|>) *(-?\d+(?:\.\d+)?)")
#: In an `Index`: the fact of something that stands for every value.
EVERY = object()
RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def listed(value: Any) -> list[Any]:
    """One value or several, as several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def names_values(wanted: Any) -> bool:
    """Whether `wanted` lists values by name: these come as they are listed, measured or not."""
    return not any(_is_pattern(value) for value in listed(wanted))


def test(wanted: Any, largest: Callable[[], Any]) -> Test:
    """Whether a value is wanted: it matches one of those listed and none that begins with `!`."""
    values = listed(wanted)
    if values and names_values(wanted):
        return OneOf(values)
    exclusions = [_one(v[1:], largest) for v in values if isinstance(v, str) and v[:1] == "!"]
    rest = [_one(v, largest) for v in values if not (isinstance(v, str) and v[:1] == "!")]

    def wanted_here(value: Any) -> bool:
        if any(excluded(value) for excluded in exclusions):
            return False
        return not rest or any(matches(value) for matches in rest)

    return wanted_here


class OneOf(tuple[Any, ...]):
    """Whether a value is one of these: the test that an index need not try on every value."""

    def __call__(self, value: Any) -> bool:
        return value in self


class Index:
    """Things by their facts, in their order: of each fact who has which value.

    A thing without a fact that others have has the value None.
    """

    def __init__(self, facts: Sequence[Mapping[str, Any]]) -> None:
        self._all = range(len(facts))
        self._by_name: dict[str, dict[Any, set[int]]] = {}
        for name in {name: None for known in facts for name in known}:
            holders = self._by_name[name] = {}
            for at, known in enumerate(facts):
                holders.setdefault(known.get(name), set()).add(at)

    def values(self, name: str, among: Iterable[int] | None = None) -> Collection[Any]:
        """The values of a fact, of some of the things or of all."""
        among = self._all if among is None else among
        holders = self._by_name.get(name, {}).items()
        return [value for value, held in holders if not held.isdisjoint(among)]

    def positions(self, tests: Mapping[str, Test]) -> list[int]:
        """Where those are that pass every test."""
        passing = [set().union(*self._passing(name, test)) for name, test in tests.items()]
        return sorted(set.intersection(*passing)) if passing else list(self._all)

    def _passing(self, name: str, is_wanted: Test) -> Iterator[set[int]]:
        by_value = self._by_name.get(name, {None: set(self._all)})
        if isinstance(is_wanted, OneOf):
            yield from (by_value[value] for value in (*is_wanted, EVERY) if value in by_value)
            return
        for value, holders in by_value.items():
            if value is EVERY or is_wanted(value):
                yield holders


def words(where: Where) -> str:
    """`precision = fp64, matrix = fem3 or rmat, nzseg_per_nnz < 0.3`."""
    return ", ".join(_words(name, value) for name, value in where.items())


def _is_pattern(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return value == LARGEST or value[:1] == "!" or "*" in value or bool(BOUND.fullmatch(value))


def _one(wanted: Any, largest: Callable[[], Any]) -> Test:
    if wanted == LARGEST:
        top = largest()
        return lambda value: value == (wanted if top is None else top)
    bound = BOUND.fullmatch(wanted) if isinstance(wanted, str) else None
    if bound:
        relation, limit = RELATIONS[bound[1]], float(bound[2])
        return lambda value: isinstance(value, (int, float)) and relation(value, limit)
    if isinstance(wanted, str) and "*" in wanted:
        return lambda value: isinstance(value, str) and fnmatchcase(value, wanted)
    return lambda value: value == wanted


def _words(name: str, wanted: Any) -> str:
    texts = []
    for value in listed(wanted):
        bound = BOUND.fullmatch(value) if isinstance(value, str) else None
        text = f"{bound[1]} {bound[2]}" if bound else str(value)
        excluded = text[:1] == "!"
        text = text.removeprefix("!")
        text = f"`{text}`" if "*" in text else text
        texts.append(f"not {text}" if excluded else text if bound else f"= {text}")
    joined = texts[0] + "".join(f" or {text.removeprefix('= ')}" for text in texts[1:])
    return f"{name} {joined}"

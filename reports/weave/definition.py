"""What stands in the tree: `experiment.toml` (what an experiment asks, draws and claims), marked
source texts, digests of data sets."""

import importlib.util
import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from weave.errors import WeaveError, check_schema
from weave.results import Case

SCHEMA = Path(__file__).with_name("experiment.schema.json")


@dataclass(frozen=True)
class Figure:
    """A picture of the report; the id is the article's, or a name of our own."""

    id: str
    file: str
    caption: str
    where: Mapping[str, Any] = field(default_factory=dict)  # parameters of what it shows

    def belongs_to(self, cases: Iterable[Case]) -> bool:
        """Whether any of what it shows was timed."""
        return not self.where or any(
            case.passed and self.where.items() <= {**case.parameters, "target": case.target}.items()
            for case in cases
        )


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

    def figure(self, id: str) -> Figure:
        return _named(self.figures, id, "figure")

    def claim(self, id: str) -> Claim:
        return _named(self.claims, id, "claim")


def load(root: Path, name: str) -> Experiment:
    """Reads and validates the definition of one experiment."""
    folder = root / "experiments" / name
    shown = f"experiments/{name}/experiment.toml"
    try:
        raw = tomllib.loads((folder / "experiment.toml").read_text(encoding="utf-8"))
    except OSError as error:
        raise WeaveError(f"{shown}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WeaveError(f"{shown}: not TOML: {error}") from error
    check_schema(raw, _schema(), shown)
    experiment = _experiment(name, folder, raw)
    _require_unique(shown, "figure", [figure.id for figure in experiment.figures])
    _require_unique(shown, "figure file", [figure.file for figure in experiment.figures])
    _require_unique(shown, "claim", [claim.id for claim in experiment.claims])
    return experiment


def load_all(root: Path) -> list[Experiment]:
    """Every experiment of the tree, by name. Raises `WeaveError` if two of them draw figures of one
    file, or make claims of one name: machines' pages and the scorecard show all."""
    files = sorted((root / "experiments").glob("*/experiment.toml"))
    experiments = [load(root, file.parent.name) for file in files]
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
    return json.loads(SCHEMA.read_text(encoding="utf-8"))


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

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDERS = ("lib", "experiments")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Excerpt:
    """A marked text: file relative to the root, and the text between the markers."""

    file: str
    text: str


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
    try:
        entries: dict[str, Any] = tomllib.loads(lock.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise WeaveError(f"{shown}: not TOML: {error}") from error
    for name, digest in entries.items():
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            raise WeaveError(
                f"{shown}: {name}: found {digest!r}, expected the 64 digits of a sha256"
            )
    return entries

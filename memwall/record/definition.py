"""`experiment.toml`: what an experiment asks, draws and claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from memwall.record import files
from memwall.record.errors import UserError
from memwall.record.schemas import check_schema

SCHEMA = Path(__file__).with_name("experiment.schema.json")
#: Seconds expected of an experiment that says nothing.
UNKNOWN_BUDGET_S = 60


@dataclass(frozen=True)
class Figure:
    """A picture of the report; the id is the article's, or a name of our own."""

    id: str
    file: str
    question: str  # that it answers: its title
    caption: str  # what is shown, below it
    draw: Mapping[str, Any]  # `as` a function of `memwall/figures`, and its arguments
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
    line: int = 0  # of the article, and its own words there; targets of this project have neither
    sentence: str = ""
    removes: str = ""  # the suspect that its study takes away, of a claim that shows a cause

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
    lead: str  # the machine whose numbers the chapter tells
    ceilings: tuple[str, ...]
    unbounded: tuple[Mapping[str, Any], ...]  # regions that the ceiling does not bound
    rates: bool  # tables of results tell these, not times
    launch: Mapping[str, list[str | int]]
    budget: Mapping[str, float]
    since: Mapping[str, str]  # a variant or a study and the source text that came with it
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
    for claim in experiment.claims:
        _require_sentence(shown, claim)
    return experiment


def load_all(root: Path) -> list[Experiment]:
    """Every experiment of the tree, by name. Raises `UserError` if two of them draw figures of one
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
                raise UserError(f'experiments/{experiment.name}/experiment.toml: found the {what}'
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
        lead=raw["lead"],
        ceilings=_names(raw.get("ceiling", [])),
        unbounded=tuple(raw.get("unbounded", [])),
        rates=raw.get("rates", False),
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
        line=raw.get("line", 0),
        sentence=raw.get("sentence", ""),
        removes=raw.get("removes", ""),
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
    raise UserError(f'no {what} "{id}" in experiment.toml, which has: {known}')


def _require_unique(shown: str, what: str, ids: list[str]) -> None:
    for id in ids:
        if ids.count(id) > 1:
            raise UserError(f'{shown}: found the {what} "{id}" twice, expected it once')


def _require_sentence(shown: str, claim: Claim) -> None:
    if not claim.is_own and not (claim.line and claim.sentence):
        raise UserError(f'{shown}: found the claim "{claim.id}" of article {claim.article} without'
                        ' line= or sentence=, expected where the article says it, and its words')

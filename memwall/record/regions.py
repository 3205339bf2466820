"""Regions, `where={...}`: the words in which verbs and claims say what they speak of.

Each name is a coordinate, a feature of the data set, `variant`, `group`, `cache` or `target`; its
value is one value, a pattern (`runs-*`, `!runs-*` for all others, `<0.3`, `max`), or a list of
them.
"""

import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

Where = Mapping[str, Any]
Test = Callable[[Any], bool]

#: The largest value of an axis of numbers, whatever it is on this machine.
LARGEST = "max"
BOUND = re.compile(r"(<=|>=|<|>) *(-?\d+(?:\.\d+)?)")
#: In an `Index`: the fact of something that stands for every value.
EVERY = object()
#: What is counted, of which a machine has as many as it has.
MANY = ("threads", "ranks", "workers")
#: Coordinates whose values tell what they are.
SAY_THEMSELVES = ("precision",)
#: Numbers from here on are read in groups of three digits.
LARGE = 10_000
RELATION_WORDS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least"}
RELATIONS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def listed(value: Any) -> list[Any]:
    """One value or several, as several."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def names_values(wanted: Any) -> bool:
    """Whether `wanted` lists values by name: these come as they are listed, measured or not."""
    return not any(_is_pattern(value) for value in listed(wanted))


def is_choice(wanted: Any) -> bool:
    """Whether a region chooses among names: by several of them, or by a pattern."""
    values = listed(wanted)
    return all(isinstance(value, str) and value != LARGEST and value[:1] != "!"
               and not BOUND.fullmatch(value) for value in values) and (
                   len(values) > 1 or not names_values(wanted))


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


def phrase(where: Where) -> str:
    """As `words`, for people: `fp64, matrix fem3 or rmat, runs per nonzero below 0.3`."""
    return ", ".join(_phrase(name, listed(wanted)) for name, wanted in where.items())


def _phrase(name: str, wanted: Sequence[Any]) -> str:
    plain = name.replace("_", " ")
    if wanted == [LARGEST]:
        return f"the most {plain}" if name in MANY else f"the largest {plain}"
    if name in MANY and isinstance(wanted[0], int):
        return f"{wanted[0]} {name if wanted[0] != 1 else name.removesuffix('s')}"
    texts = [_said(value) for value in wanted if str(value)[:1] != "!"]
    without = [_said(value[1:]) for value in wanted if str(value)[:1] == "!"]
    told = " or ".join([", ".join(texts[:-1]), *texts[-1:]] if texts[1:] else texts)
    if without:
        told += f"{' but ' if texts else ''}not {' and not '.join(without)}"
    return told if name in SAY_THEMSELVES else f"{plain} {told}"


def _said(value: Any) -> str:
    bound = BOUND.fullmatch(value) if isinstance(value, str) else None
    if bound:
        limit = float(bound[2])
        large = f"{limit:,.0f}" if limit >= LARGE and limit == int(limit) else bound[2]
        return f"{RELATION_WORDS[bound[1]]} {large}"
    if isinstance(value, int) and value >= LARGE:
        return f"{value:,}"
    return f"`{value}`" if isinstance(value, str) and "*" in value else str(value)


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

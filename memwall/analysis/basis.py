"""What the values of a variant refer to, and with which case each of its cases is compared."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from memwall.analysis.ceilings import Ceiling
from memwall.analysis.measurements import Measurements
from memwall.record import notation, regions
from memwall.record.errors import UserError
from memwall.record.regions import Where, phrase
from memwall.record.results import Case

Over = str | Mapping[str, Any] | None
#: `over={"best_of": "peer"}`: the variant that is fastest at each point, of a group, of a list, or
#: of those that `{"group": [...], "variant": ["vector_*", "!vector_shared*"]}` selects.
BEST_OF = "best_of"
#: What one of a group is called, where that is another word than the group's name.
GROUP_NOUNS = {"peer": "library"}
CeilingNames = str | Sequence[str] | None


@dataclass(frozen=True)
class Basis:
    """What values refer to: the variant they are compared with, the ceiling they are a part of."""

    measured: Measurements
    over: Over = None
    ceiling: CeilingNames = None  # of several the one that allows least counts

    def pairs(self, cases: Iterable[Case]) -> list["Pair"]:
        """The cases that have another one to be compared with: of another variant, at other
        coordinates, or both. Of several rivals it is the one with the lowest median there."""
        if self.over is None:
            raise UserError("found no over=, expected the variant to compare with")
        found = []
        for case in cases:
            names = self.rivals if self.names_rivals else (case.variant,)
            rivals = [self.measured.partner(case, name, self.moved) for name in names]
            timed = [rival for rival in rivals if rival is not None]
            if timed:
                than = min(timed, key=lambda rival: statistics.median(rival.samples))
                found.append(Pair(self, case, than))
        return found

    def alone(self, cases: Iterable[Case]) -> list["Pair"]:
        """Cases by themselves."""
        return [Pair(self, case, case) for case in cases]

    @cached_property
    def moved(self) -> dict[str, Any]:
        """The coordinates in which a case's partner differs from it."""
        moved = {} if isinstance(self.over, str) else dict(self.over or {})
        return {name: value for name, value in moved.items() if name not in ("variant", BEST_OF)}

    @cached_property
    def rivals(self) -> tuple[str, ...]:
        """The variants that values refer to; none if it is the same one at other coordinates."""
        if self.over is None or isinstance(self.over, str):
            return (self.over,) if self.over else ()
        if BEST_OF in self.over:
            return self._contenders(self.over[BEST_OF])
        return (self.over["variant"],) if "variant" in self.over else ()

    @property
    def names_rivals(self) -> bool:
        """Whether values refer to other variants, not to the same one elsewhere."""
        return isinstance(self.over, str) or bool({"variant", BEST_OF} & set(self.over or ()))

    @property
    def over_variant(self) -> str | None:
        """The variant that values refer to, if it is another one and the same at every point."""
        return self.rivals[0] if len(self.rivals) == 1 else None

    @property
    def over_words(self) -> str:
        """What values are compared with, for captions: plain text."""
        return self.over_marked.replace("`", "")

    @property
    def over_marked(self) -> str:
        """What values are compared with, for sentences: names of variants are marked."""
        if isinstance(self.over, str) or self.over is None:
            return f"`{self.over}`" if self.over else ""
        if not self.names_rivals:
            return f"itself with {phrase(self.over)}"
        wanted = self.over.get(BEST_OF)
        named = (
            f"`{self.over['variant']}`" if wanted is None
            else f"the best {GROUP_NOUNS.get(wanted, f'of the kind {wanted}')}"
            if isinstance(wanted, str)
            else f"the best of {_chosen(wanted)}" if isinstance(wanted, Mapping)
            else f"the best of {notation.listed([f'`{name}`' for name in wanted])}"
        )
        return f"{named} with {phrase(self.moved)}" if self.moved else named

    def _contenders(self, wanted: str | Sequence[str] | Where) -> tuple[str, ...]:
        """A group's variants, those of a list, or those of a region; each must be known."""
        if isinstance(wanted, str):
            return self.measured.members(wanted)
        if isinstance(wanted, Mapping):
            return tuple(self.measured.values("variant", wanted))
        for name in wanted:
            self.measured.find(name, {})
        return tuple(wanted)


def _chosen(wanted: Where) -> str:
    """`the kinds dynamic and guided without *_1`: variants that a region chooses."""
    names = regions.listed(wanted.get("variant", ()))
    without = [f"`{name[1:]}`" for name in names if name[:1] == "!"]
    groups = [str(group) for group in regions.listed(wanted.get("group", ()))]
    named = notation.listed([f"`{name}`" for name in names if name[:1] != "!"])
    kinds = f"the kind{'s' * (len(groups) > 1)} {notation.listed(groups)}" if groups else ""
    text = " of ".join(filter(None, (named, kinds)))
    others = {name: of for name, of in wanted.items() if name not in ("variant", "group")}
    text += f", {phrase(others)}" if others else ""
    return text + (f" without {notation.listed(without)}" if without else "")


@dataclass(frozen=True)
class Pair:
    """A case and the one that it is compared with: itself, where a value refers to no other."""

    basis: Basis
    case: Case
    than: Case

    @property
    def label(self) -> str:
        """Where the case stands, in words."""
        return self.basis.measured.label(self.case)

    def split(self) -> list["Pair"]:
        """Both by themselves."""
        return self.basis.alone([self.case, self.than])

    @property
    def ceilings(self) -> list[Ceiling]:
        """What limits the case."""
        return self.basis.measured.ceilings.of(self.case.launch, self.basis.ceiling,
                                               self.case.target)

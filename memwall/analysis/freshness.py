"""What of a result the present tree no longer has as it was when it was timed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from memwall.record.results import Result
from memwall.record.sources import Tree, code_of


@dataclass(frozen=True)
class Freshness:
    """A result held against a tree; `since` tells of variants which source text came with them."""

    result: Result
    tree: Tree
    since: Mapping[str, str]

    @cached_property
    def stale(self) -> Mapping[str, str]:
        """Variants whose source text or data differ from the tree's, with the reason."""
        found: dict[str, str] = {}
        for case in self.result.cases:
            recorded = self.result.raw["excerpts"][case.excerpt]
            present = self.tree.excerpts.get(case.excerpt)
            if present is None:
                found[case.variant] = f"its source text `{case.excerpt}` is gone"
            elif code_of(present.text) != code_of(recorded["text"]):
                found[case.variant] = f"`{present.file}` has another text now"
            else:
                named = self.result.datasets_of(case.parameters)
                used = [name for name in named if name in self._changed_datasets]
                if used:
                    found.setdefault(case.variant, f"the data set `{used[0]}` has changed")
        return found

    @cached_property
    def _changed_datasets(self) -> frozenset[str]:
        locked = self.tree.datasets
        return frozenset(name for name, dataset in self.result.raw["datasets"].items()
                         if name in locked and locked[name] != dataset["sha256"])

    def predates(self, name: str) -> bool:
        """Whether a variant, or the text that came with it or with a study, is in the tree, but was
        not when this was timed."""
        raw = self.result.raw
        text = self.since.get(name, name)
        known = {*raw["excerpts"], *(entry.get("variant") for entry in raw["skipped"])}
        return text in self.tree.excerpts and not {name, text} & known

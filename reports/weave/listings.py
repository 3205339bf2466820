"""Code as it stood when it was timed, and what changed between two steps."""

import difflib
from dataclasses import dataclass

from weave.errors import WeaveError
from weave.measurements import NOT_MEASURED, Measurements

FOLDED_LINES = 45
CONTEXT = 3


@dataclass(frozen=True)
class Listing:
    """A marked text, where it stands, and what is to be said about it."""

    file: str
    text: str
    remark: str = ""


def code(measured: Measurements, name: str, fold: bool | None) -> str:
    """The text of a variant in a fence; folded on request, or when it is long."""
    if _left_out(measured, name):
        return f"<sub>`{name}`: {NOT_MEASURED}</sub>"
    listing = find(measured, name)
    fence = f"```cpp\n{listing.text}\n```"
    caption = f"`{name}`, from `{listing.file}`{listing.remark}"
    long = listing.text.count("\n") >= FOLDED_LINES
    if fold or (fold is None and long):
        summary = caption.replace("`", "")
        return f"<details>\n<summary>{summary}</summary>\n\n{fence}\n\n</details>"
    return f"{fence}\n\n<sub>{caption}</sub>"


def diff(measured: Measurements, before: str, after: str) -> str:
    """Changed lines with some context in a fence."""
    for name in (before, after):
        if _left_out(measured, name):
            return f"<sub>From `{before}` to `{after}`: `{name}` {NOT_MEASURED}</sub>"
    first, second = find(measured, before), find(measured, after)
    lines = list(
        difflib.unified_diff(
            first.text.splitlines(), second.text.splitlines(), lineterm="", n=CONTEXT
        )
    )
    if not lines:
        return f"<sub>`{before}` and `{after}` have the same text.</sub>"
    shown = ["..." if line.startswith("@@") else line for line in lines[2:]]
    body = "\n".join(line.rstrip() for line in shown[1:])
    remark = first.remark or second.remark
    return f"```diff\n{body}\n```\n\n<sub>From `{before}` to `{after}`{remark}</sub>"


def _left_out(measured: Measurements, name: str) -> bool:
    """Whether a narrowed run neither has a text nor tells where the tree has it."""
    texts = {*measured.result.raw["excerpts"], *measured.tree.excerpts}
    known = texts | {case.variant for case in measured.result.cases}
    return measured.may_lack and name not in known


def find(measured: Measurements, name: str) -> Listing:
    """The recorded text of a variant or excerpt; the tree's for a variant that could not run."""
    recorded = measured.result.raw["excerpts"]
    key = next((case.excerpt for case in measured.result.cases if case.variant == name), name)
    if key in recorded:
        variants = [c.variant for c in measured.result.cases if name in (c.variant, c.excerpt)]
        stale = next(filter(None, map(measured.stale_variants.get, variants)), None)
        remark = f" (out of date: {stale}; this is what was timed)" if stale else ""
        return Listing(recorded[key]["file"], recorded[key]["text"].strip("\n"), remark)
    present = measured.tree.excerpts.get(name)
    if present is None:
        known = ", ".join(recorded)
        raise WeaveError(f'no source text "{name}" in the result, which has: {known}')
    return Listing(present.file, present.text.strip("\n"), f", {_why_not_timed(measured, name)}")


def _why_not_timed(measured: Measurements, name: str) -> str:
    if measured.predates(name):
        return NOT_MEASURED
    reasons = dict.fromkeys(
        entry["reason"]
        for entry in measured.result.raw["skipped"]
        if entry.get("variant", name) == name
    )
    return f"not run here: {'; '.join(reasons)}" if reasons else NOT_MEASURED

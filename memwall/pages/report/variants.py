"""The section Variants: every marked text that ran, once, with its diff to the step before."""

import difflib
from collections.abc import Iterator

from memwall.pages import blocks
from memwall.pages.report.told import Told
from memwall.record.escape import fenced

CONTEXT = 3  # lines round a change
MEANING = ("Every marked source text as it stood when it was timed, once, each after the one that"
           " it follows in the program. Where it is a small change of that one, the change stands"
           " first.")


def section(told: Told) -> str:
    """All marked texts, folded."""
    seen: dict[str, tuple[str, str]] = {}  # what was shown last of each group of variants
    parts = [MEANING]
    shown: set[str] = set()
    users: dict[str, list[str]] = {}
    for one in told.runs:
        for case in one.result.cases:
            of = users.setdefault(case.excerpt, [])
            if case.variant not in of:
                of.append(case.variant)
    for one in told.runs:
        groups: dict[str, str] = {}
        for case in one.result.cases:
            groups.setdefault(case.excerpt, case.group)
        for name in groups:
            if name in shown:
                continue
            shown.add(name)
            variants = users[name]
            listing = blocks.listing_of(one.measured, name)
            before = seen.get(groups[name], ("", ""))
            body = [*_diff(*before, listing.text), fenced(listing.text, "cpp")]
            used = "" if variants == [name] else f", for {', '.join(variants)}"
            title = f"{name}{used}, from {listing.file}{listing.remark.replace('`', '')}"
            parts.append(blocks.folded(title, "\n\n".join(body)))
            seen[groups[name]] = name, listing.text
    return "\n\n".join(parts)


def _diff(name: str, before: str, after: str) -> Iterator[str]:
    """The lines that changed since the text of a name, in a fence, if they are few."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="",
                                      n=CONTEXT))
    if not before or not lines or len(lines) > len(after.splitlines()):
        return
    body = ["..." if line.startswith("@@") else line.rstrip() for line in lines[2:]]
    yield f"From `{name}`:"
    yield fenced("\n".join(body[1:]), "diff")

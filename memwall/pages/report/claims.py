"""The section Claims: verdicts of all machines, and what decided each."""

import textwrap
from collections.abc import Mapping, Sequence

from memwall.analysis.claims import Verdict
from memwall.analysis.numerics import LEVEL
from memwall.analysis.statements import Statement
from memwall.analysis.verdicts import (
    DIRECTION_ONLY,
    NOT_ASKED,
    NOT_REPRODUCED,
    OUT_OF_DATE,
    REPRODUCED,
    UNDECIDED,
    Reason,
)
from memwall.pages.blocks import folded
from memwall.pages.report.told import Told, chunks
from memwall.pages.survey import INFERRED, OnMachine
from memwall.pages.tables import markdown
from memwall.record import notation
from memwall.record.definition import Claim

#: A symbol and what it means.
LEGEND = ("✓ reproduced, or holds · ≈ the direction holds, the size does not · ✗ not reproduced, or"
          " fails · ? undecided · ↻ the code or an input is newer than this run: measure again ·"
          " blank: cannot be asked of that machine, or the run was narrowed to something else."
          " Beside a symbol stands the number that decided it: how many times as good the first"
          " side is as the second, a value with its unit, or how many of the inputs; of what is"
          " undecided the interval. A ? alone: too little was measured. *(2)*: it is the second"
          " condition's, of a claim that has several.")
INTERVALS = (f"Numbers are medians over the rounds of a run. *1.23 (1.20–1.26)* adds an interval"
             f" that covers the true median in at least {100 * LEVEL:g} % of cases, whatever the"
             " distribution: two order statistics of the samples. A comparison counts only beyond"
             " its noise floor, which stands beside it and which [Runs](#runs) explains. A point"
             " is one input in one precision, with a number of threads and ranks.")
WORDS = {REPRODUCED: "reproduced", DIRECTION_ONLY: "reproduced in direction, not in size",
         NOT_REPRODUCED: "not reproduced", UNDECIDED: "undecided", OUT_OF_DATE: "out of date",
         NOT_ASKED: "cannot be asked"}
#: Words that need no verb.
VERBS = ("holds", "fails", "cannot be asked")
OWN_WORDS = {REPRODUCED: "holds", DIRECTION_ONLY: "fails", NOT_REPRODUCED: "fails"}


def section(told: Told) -> str:
    """Figure, tables, and each claim folded."""
    claims = told.experiment.claims
    if not claims:
        return "This experiment claims nothing."
    measured = [claim for claim in claims if not claim.is_arithmetic]
    articles = [claim for claim in measured if not claim.is_own]
    numbers = dict.fromkeys(str(claim.article) for claim in articles)
    parts = [told.plot.claims(), f"<sub>{LEGEND} {INTERVALS}</sub>"]
    unasked = [claim for claim in claims if not any(
        found.is_asked for found in told.survey.verdicts[claim.id].values())]
    for title, chosen in (
            (f"claim of article{'s' * (len(numbers) > 1)} {notation.listed(list(numbers))}",
             articles),
            ("our own target", [claim for claim in measured if claim.is_own])):
        asked = [claim for claim in chosen if claim not in unasked]
        parts += tables(told, title, asked, with_anchors=True)
    parts += _arithmetic(told)
    parts += [_in_full(told, claim) for claim in claims if claim not in unasked]
    parts += [_unasked(told, unasked)] if unasked else []
    return "\n\n".join(filter(None, parts))


def _unasked(told: Told, claims: Sequence[Claim]) -> str:
    """Claims that can be asked of no machine here, each with the reason."""
    lines = []
    for claim in claims:
        lines.append(f"- {_named(claim, True)} (`{claim.id}`)")
        for alike in _alike(told, claim, told.runs):
            said = f"- {verdict(told, claim, *alike)}\n{conditions(told, claim, *alike)}"
            lines.append(textwrap.indent(said.rstrip(), "  "))
    return folded(f"{notation.plural(len(claims), 'claim')} that cannot be asked here",
                  "\n".join(lines))


def tables(told: Told, title: str, claims: Sequence[Claim], with_anchors: bool = False,
           second: Mapping[str, str] | None = None) -> list[str]:
    """Verdicts, claims downwards and machines across, in as many tables as it takes; `second` is
    the text of a column more, by the ids of the claims."""
    head, more = [title], [second] if second else []
    made = []
    if not claims:
        return []
    for number, runs in enumerate(chunks(told.runs, 8 - len(more))):
        rows = [[_named(claim, with_anchors and number == 0, is_link=bool(more)),
                 *(texts[claim.id] for texts in more),
                 *(cell(told.survey.verdicts[claim.id][one.machine]) for one in runs)]
                for claim in claims]
        names = [*head, *("suspect that is taken away" for _ in more),
                 *(one.machine for one in runs)]
        text = markdown(names, rows, len(names))
        operands = {"claims": [claim.id for claim in claims],
                    "machines": [one.machine for one in runs]}
        made.append(told.say(Statement(text, "verdicts", operands), *runs))
    return made


def cell(verdict: Verdict) -> str:
    """`✓ 3.57`: a symbol, and up to two numbers that decided it; `✗ 0.82 (2)` is the second
    condition's."""
    numbers = ", ".join(number.removesuffix("x") for number in verdict.numbers[:2])
    several = len(verdict.claim.conditions) > 1 and verdict.verdict != REPRODUCED
    which = ""
    if numbers and several and verdict.telling is not None:
        which = f" ({verdict.findings.index(verdict.telling) + 1})"
    return f"{verdict.symbol} {numbers}{which}".strip()


def _named(claim: Claim, with_anchor: bool, is_link: bool = False) -> str:
    anchor = f'<a id="{claim.anchor}"></a>' if with_anchor else ""
    short = f"[{claim.short}](#{claim.anchor})" if is_link else claim.short
    return f"{anchor}{short}{' (inferred)' if claim.inferred else ''}"


def _arithmetic(told: Told) -> list[str]:
    """Claims that follow from the inputs alone: once, of a machine that can tell."""
    parts = []
    found = [(claim, teller) for claim in told.experiment.claims
             if (teller := told.survey.arithmetic(claim)) is not None]
    for machine in dict.fromkeys(teller[0] for _, teller in found):
        mine = [(claim, teller[1]) for claim, teller in found if teller[0] == machine]
        rows = [[_named(claim, True), cell(verdict)] for claim, verdict in mine]
        operands = {"claims": [claim.id for claim, _ in mine], "machines": [machine]}
        text = markdown(["arithmetic: the same wherever the inputs are the same", machine], rows, 2)
        parts.append(told.say(Statement(text, "verdicts", operands), told.on(machine)))
    return parts


def _in_full(told: Told, claim: Claim) -> str:
    """Source, verdicts in words and the sentences of the conditions."""
    asked = told.runs
    if claim.is_arithmetic and (teller := told.survey.arithmetic(claim)):
        asked = [told.on(teller[0])]
    lines = [_source(told, claim), *_tally(told, claim),
             *(f"- {verdict(told, claim, *alike)}\n{conditions(told, claim, *alike)}".rstrip()
               for alike in _alike(told, claim, asked))]
    return folded(claim.short.replace("`", ""), "\n\n".join(lines[:1]) + "\n\n"
                  + "\n".join(lines[1:]))


def _source(told: Told, claim: Claim) -> str:
    """What is claimed, and where the article says it."""
    if claim.is_own:
        return f"**{claim.says}** (`{claim.id}`, a target of our own)"
    link = f"[article {claim.article}]({told.place.reports}/articles.md#article-{claim.article})"
    inferred = f" {INFERRED}" if claim.inferred else ""
    return (f"**{claim.says}** (`{claim.id}`)\n\nIn {link}, line {claim.line}:"
            f" “{claim.sentence}”{inferred}")


def _tally(told: Told, claim: Claim) -> list[str]:
    """On how many machines it holds, of those that could tell."""
    if len(told.runs) < 2 or claim.is_arithmetic:
        return []
    verdicts = told.survey.verdicts[claim.id]
    decided = [verdict.decided for verdict in verdicts.values() if verdict.decided]
    text = f"It {'holds' if claim.is_own else 'is reproduced'} {told.survey.tally(claim.id)}"
    partly = 0 if claim.is_own else decided.count(DIRECTION_ONLY)
    text += f", in direction alone on {partly}." if partly else "."
    operands = {"claim": claim.id, "decided": len(decided), "holding": decided.count(REPRODUCED)}
    return [told.say(Statement(text, "tally", operands), *told.runs) + "\n"]


def _alike(told: Told, claim: Claim, runs: Sequence[OnMachine]) -> list[list[OnMachine]]:
    """Machines of which the same is to be said, as that nothing was measured there."""
    groups: dict[str, list[OnMachine]] = {}
    for one in runs:
        found = told.survey.verdicts[claim.id][one.machine]
        said = repr((found.verdict, found.note, [each.statement for each in found.findings]))
        groups.setdefault(said, []).append(one)
    return list(groups.values())


def verdict(told: Told, claim: Claim, *runs: OnMachine) -> str:
    """On `amd-epyc-2c` it is not reproduced."""
    found = told.survey.verdicts[claim.id][runs[0].machine]
    is_said_below = found.note in {finding.sentence for finding in found.findings}
    note = f": {found.note[:1].lower()}{found.note[1:]}" if found.note and not is_said_below else ""
    names = notation.listed([f"`{one.machine}`" for one in runs])
    said = word(found)
    text = f"On {names} it {'' if said in VERBS else 'is '}{said}{note}".removesuffix(".") + "."
    return told.say(Statement(text, "verdict", {"claim": claim.id, "verdict": found.verdict}),
                    *runs)


def word(verdict: Verdict) -> str:
    """A verdict in plain words."""
    words = {**WORDS, **OWN_WORDS} if verdict.claim.is_own else WORDS
    return words[verdict.verdict]


def conditions(told: Told, claim: Claim, *runs: OnMachine) -> str:
    """The computed sentence of each condition, as a list below a verdict; where that is out of date
    it says already what was not measured."""
    found = told.survey.verdicts[claim.id][runs[0].machine]
    lines: list[str] = []
    missing: set[str] = set()
    for number, finding in enumerate(found.findings):
        if finding.reason == Reason.MISSING:
            if found.verdict == OUT_OF_DATE or finding.sentence in missing:
                continue
            missing.add(finding.sentence)
        statement = finding.statement.about(claim=claim.id, condition=number)
        text = statement.text
        shown = f"{text[0].upper()}{text[1:]}"
        label = claim.conditions[number].label
        lines.append(f"  - {f'*{label}:* ' if label else ''}"
                     f"{told.say(statement.saying(shown), *runs)}")
    return "\n".join(lines)

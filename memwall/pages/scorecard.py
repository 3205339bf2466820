"""The scorecard: what sums up all chapters, all claims on all machines. Its numbers come from
results, as everywhere."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from statistics import mean

from memwall.analysis import numerics, verdicts
from memwall.analysis.claims import Verdict
from memwall.analysis.verdicts import DIRECTION_ONLY, NOT_REPRODUCED, OUT_OF_DATE
from memwall.pages import blocks
from memwall.pages.survey import INFERRED, NOT_RUN, Survey
from memwall.pages.tables import markdown
from memwall.record import notation
from memwall.record.definition import Claim
from memwall.record.results import Json

WOVEN = "<!-- Woven, do not edit: `just report` makes it from the results. -->\n"
LEGEND = ("✓ reproduced, or holds · ≈ the direction holds, the size does not · ✗ not · ? undecided,"
          " or not run there · ↻ the code is newer than the run: measure again · blank: cannot be"
          " asked of that machine. Underlined: the chapter's lead machine. *lead*: the number that"
          " decided there, or the interval that does not. *range*: lowest to highest on machines"
          " that decided, without runs whose noise floor is above"
          f" {notation.percent(verdicts.RESTLESS - 1)}. † {INFERRED[0].lower()}{INFERRED[1:]}")
NO_BREAK = "\u2060"  # no line may end here
JOINED = "\u00a0"  # nor at this space
#: How far the interval of two runs of the same code may lie from 1.
DISTANCES = (0.01, 0.03, 0.05)


def page(surveys: Sequence[Survey], machines: Sequence[str],
         simulated: Sequence[Json], numbers: Mapping[str, int]) -> str:
    """`reports/README.md`. An experiment that is new promises nothing yet. `simulated` are the
    lines of `reports/protocol.json`, `numbers` those of the chapters."""
    surveys = [survey for survey in surveys if survey.lead]
    asked = [machine for machine in machines if any(
        machine in survey.machines and survey.verdicts[claim.id][machine].is_asked
        for survey in surveys for claim in survey.experiment.claims)]
    letters = dict(zip(asked, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False))
    chapters = {survey.experiment.name: str(numbers[survey.experiment.name]) for survey in surveys
                if any(is_measured(survey, claim) for claim in survey.experiment.claims)}
    parts = [f"{WOVEN}# Scorecard: which claims hold where", _machines(machines, letters),
             *([_chapters(surveys, chapters)] if chapters else []), LEGEND]
    for title, chosen, noun in (("Claims of the articles", of_articles, "claim"),
                                ("Our own targets", _of_our_own, "target")):
        if any(chosen(claim) for survey in surveys for claim in survey.experiment.claims):
            table = _table(surveys, letters, chapters, chosen)
            if chosen is _of_our_own:
                table = blocks.folded("All targets on all machines", table)
            told = [summary(surveys, chosen, noun), _not_measured(surveys, chosen),
                    shares(surveys, chosen)]
            parts += [f"## {title}", " ".join(filter(None, told)), table]
    parts += _arithmetic(surveys)
    trusted = "\n\n".join([trust(surveys), *([_protocols(simulated)] if simulated else [])])
    parts += [blocks.folded("How far the method can be trusted", trusted), _figures(surveys)]
    return "\n\n".join(parts) + "\n"


def of_articles(claim: Claim) -> bool:
    """Whether a claim of an article was measured: arithmetic is told apart."""
    return not claim.is_own and not claim.is_arithmetic


def _of_our_own(claim: Claim) -> bool:
    return claim.is_own and not claim.is_arithmetic


def is_measured(survey: Survey, claim: Claim) -> bool:
    """Whether any machine has measured what a claim compares."""
    return any(verdict.is_measured for verdict in survey.verdicts[claim.id].values())


def counts(surveys: Iterable[Survey], chosen: Callable[[Claim], bool]) -> dict[str, int]:
    """How many claims hold wherever they were decided, hold in direction alone on some machine and
    fail on none, fail wherever they were decided, differ, are not decided on any machine, or were
    measured by none."""
    found = {"hold": 0, "direction": 0, "fail": 0, "differ": 0, "undecided": 0, "unmeasured": 0}
    for survey in surveys:
        for claim in filter(chosen, survey.experiment.claims):
            decided = {one.decided for one in survey.verdicts[claim.id].values() if one.decided}
            found[_outcome(decided) or (
                "undecided" if is_measured(survey, claim) else "unmeasured")] += 1
    return found


def _outcome(decided: Collection[str]) -> str:
    """What became of a claim on all machines together; empty if it was decided on none."""
    if not decided:
        return ""
    if NOT_REPRODUCED in decided:
        return "differ" if len(decided) > 1 else "fail"
    return "direction" if DIRECTION_ONLY in decided else "hold"


def summary(surveys: Iterable[Survey], chosen: Callable[[Claim], bool], noun: str) -> str:
    """What became of all claims, in a sentence."""
    found = counts(surveys, chosen)
    verbs = {"hold": ("holds", "hold", "on every machine that decided them"),
             "direction": ("holds", "hold", "in direction, but on some not in size"),
             "fail": ("fails", "fail", "on every one"),
             "differ": ("holds", "hold", "on some, not on others"),
             "undecided": ("is", "are", "not decided on any"),
             "unmeasured": ("is", "are", "not measured yet")}
    told = [f"{found[name]} {one if found[name] == 1 else more} {where}"
            for name, (one, more, where) in verbs.items() if found[name]]
    return f"Of {notation.plural(sum(found.values()), noun)}, {notation.listed(told)}."


def shares(surveys: Iterable[Survey], chosen: Callable[[Claim], bool]) -> str:
    """How many cells, a claim on a machine, can be asked by what the machines are, and what became
    of them."""
    asked = [verdict for survey in surveys for claim in filter(chosen, survey.experiment.claims)
             for verdict in survey.everywhere(claim).values() if verdict.is_asked]
    decided = sum(bool(verdict.decided) for verdict in asked)
    late = sum(verdict.verdict == OUT_OF_DATE for verdict in asked)
    idle = sum(verdict.note == NOT_RUN for verdict in asked)
    return (f"A cell is a claim on a machine that can be asked by what it is:"
            f" {notation.plural(len(asked), 'cell')}, {decided} decided, {late} out of date,"
            f" {idle} not run, {len(asked) - decided - late - idle} undecided for another reason.")


def _not_measured(surveys: Sequence[Survey], chosen: Callable[[Claim], bool]) -> str:
    """Where claims wait for a first result, which the table leaves out."""
    told = []
    for survey in surveys:
        waiting = [c for c in survey.experiment.claims
                   if chosen(c) and not is_measured(survey, c)]
        told += [f"[{_title(survey)}]({_chapter(survey)}) ({len(waiting)})"] if waiting else []
    return f"Not measured on any machine yet: {', '.join(told)}." if told else ""


def _title(survey: Survey) -> str:
    return survey.experiment.title.partition(":")[0]


def _chapter(survey: Survey) -> str:
    return f"../experiments/{survey.experiment.name}/README.md"


def _report(survey: Survey) -> str:
    return f"../experiments/{survey.experiment.name}/report.md"


def _machines(machines: Sequence[str], letters: Mapping[str, str]) -> str:
    """The machines in one paragraph, those with columns by their letters; their names say what they
    are."""
    if not machines:
        return "No machine has measured anything yet: `just run-all`."
    named = [f"**{letter}**{JOINED}[{machine}]({machine}/README.md)"
             for machine, letter in letters.items()]
    named += [f"[{machine}]({machine}/README.md), of which no claim was asked"
              for machine in machines if machine not in letters]
    return "Machines: " + " · ".join(named)


def _chapters(surveys: Sequence[Survey], numbers: dict[str, str]) -> str:
    """The chapters by their numbers, in one paragraph."""
    return "Chapters: " + " · ".join(
        f"**{numbers[survey.experiment.name]}**{JOINED}[{_title(survey)}]({_chapter(survey)})"
        for survey in surveys if survey.experiment.name in numbers)


def _table(surveys: Sequence[Survey], letters: dict[str, str], chapters: dict[str, str],
           chosen: Callable[[Claim], bool]) -> str:
    """Claims downwards, the first of each chapter with its number; machines across."""
    asked = [m for m in letters for survey in surveys for claim in survey.experiment.claims
             if chosen(claim) and m in survey.machines and survey.verdicts[claim.id][m].is_asked]
    letters = {machine: letter for machine, letter in letters.items() if machine in asked}
    rows = []
    for survey in surveys:
        claimed = [claim for claim in survey.experiment.claims
                   if chosen(claim) and is_measured(survey, claim)]
        for claim in claimed:
            verdicts = survey.everywhere(claim)
            symbols = [_symbol(verdicts.get(m), m == survey.lead) for m in letters]
            link = f"[{claim.short}]({_report(survey)}#{claim.anchor})"
            lead = verdicts.get(survey.lead)
            numbers = [lead.numbers[0].removesuffix("x") if lead and lead.numbers else "",
                       _range(survey, claim)]
            told = ", ".join(filter(None, numbers)).replace("–", f"{NO_BREAK}–{NO_BREAK}")
            number = f"**{chapters[survey.experiment.name]}**" if claim is claimed[0] else ""
            rows.append([number, link + (" †" if claim.inferred else ""), *symbols, told])
    head = ["", "claim", *letters.values(), "lead, range"]
    return markdown(head, rows, 2 + len(letters), centred=range(2, 2 + len(letters)))


def _symbol(verdict: Verdict | None, is_lead: bool) -> str:
    symbol = verdict.symbol if verdict else ""
    return f"<ins>{symbol}</ins>" if symbol and is_lead else symbol


def _range(survey: Survey, claim: Claim) -> str:
    """Lowest to highest of what one condition found, that which tells on the lead machine, where
    the claim was decided and the machine was quiet. A count, such as 4 of 11, has no interval and
    no range."""
    decided = {machine: verdict for machine, verdict in survey.verdicts[claim.id].items()
               if verdict.decided}
    quiet = [decided[one.machine] for one in survey.runs() if one.machine in decided
             and one.measured.noise.factor <= verdicts.RESTLESS]
    if not quiet or quiet[0].telling is None:
        return ""
    index = quiet[0].findings.index(quiet[0].telling)
    found = {one.estimate.value: one.decided_by for verdict in quiet
             if (one := verdict.findings[index]).estimate and one.interval}
    if len(found) < 2:
        return ""
    texts = [found[end].removeprefix("at ").removesuffix("x") for end in (min(found), max(found))]
    return "–".join(texts) if texts[0] != texts[1] else ""


def _arithmetic(surveys: Sequence[Survey]) -> list[str]:
    """Claims that follow from the inputs, on every machine alike: told once."""
    rows = []
    for survey in surveys:
        for claim in survey.experiment.claims:
            told = survey.arithmetic(claim)
            if told is not None:
                link = f"[{claim.short}]({_report(survey)}#{claim.anchor})"
                rows.append(f"{told[1].symbol} {link} {', '.join(told[1].numbers)}")
    if not rows:
        return []
    return ["## Arithmetic", "These follow from the matrices and the rules alone, whoever runs"
            f" them: {' · '.join(rows)}."]


def trust(surveys: Sequence[Survey]) -> str:
    """How often two runs of the same code seem to differ."""
    pairs = {(one.machine, one.result.run["id"], *pair): None  # results of one run share theirs
             for survey in surveys for one in survey.found for pair in one.measured.equal_pairs}
    found = [numerics.estimate(numerics.ratios(twin, first)) for _, _, twin, first in pairs]
    if not found:
        return "No result has an A/A pair yet."
    parts = []
    for distance in DISTANCES:
        outside = sum(e.low > 1 + distance or e.high < 1 / (1 + distance) for e in found)
        share = notation.percent(outside / len(found))
        parts.append(f"by more than {100 * distance:g} % in {share}")
    return ("Every run times some versions twice, as if they were two: an A/A pair. Both are the"
            " same code, so every difference that an interval tells between them is an error of the"
            f" method. All results hold {notation.count(len(found))} such pairs. Their intervals"
            f" tell a difference {notation.listed(parts)} of them. Besides, a comparison counts"
            " only beyond the largest difference within the pairs of its own run, its noise floor.")


def _protocols(simulated: Sequence[Json]) -> str:
    """How often a verdict is wrong where the truth is known, under the old protocol and the new."""
    first = simulated[0]
    told = ("A verdict can be wrong though no number is. So the protocol itself is tried where the"
            " truth is known, in a simulation (`python -m memwall.analysis.simulation`):"
            f" {len(first['wrong'])} questions, with the truth on the edges of what is claimed and"
            f" 1 % beside them, {notation.count(first['runs'])} runs of each, and rounds that"
            " scatter by so much, of which one in twenty is far off. *Two runs agree*: of those"
            " pairs of runs in which both were decided.")
    rows = [[str(one["protocol"]), f"{one['noise']}, {notation.percent(one['spread'])}",
             *map(notation.percent, (mean(one["wrong"]), max(one["wrong"]), mean(one["undecided"]),
                                     mean(one["agree"])))] for one in simulated]
    head = ["protocol", "rounds", "wrong", "at the worst question", "undecided", "two runs agree"]
    return f"{told}\n\n{markdown(head, rows, 2)}"


def _figures(surveys: Sequence[Survey]) -> str:
    """The articles' figures, the chapters that have them, and their files."""
    rows = []
    for survey in surveys:
        folder = f"../experiments/{survey.experiment.name}"
        for figure in survey.experiment.figures:
            if figure.id[0].isdigit():
                rows.append([f"`{figure.id}`", figure.caption,
                             f"[{survey.experiment.name}]({folder}/README.md)",
                             f"[{figure.file}]({folder}/figures/{figure.file})"])
    rows.sort()
    table = markdown(["figure", "shows", "chapter", "file"], rows, 4)
    return blocks.folded(f"{len(rows)} figures of the articles, where each is and what it shows",
                         table)

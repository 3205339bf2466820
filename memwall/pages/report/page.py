"""A report, whole: its sections in their order, and what stands above them."""

from dataclasses import dataclass

from memwall.analysis.verdicts import OUT_OF_DATE
from memwall.pages.report import causes, claims, figures, machines, results, runs, variants
from memwall.pages.report.told import Place, Told
from memwall.pages.survey import Survey
from memwall.record import escape, joining
from memwall.record.results import Result

WOVEN = "<!-- Woven from experiment.toml and results. Do not edit: `just report` makes it. -->\n"
#: Options with more values, or longer ones, are named without them.
MOST_VALUES = 3
MOST_LETTERS = 40


@dataclass(frozen=True)
class Report:
    """A woven report, its statements as JSON, and the figures it shows, by file name."""

    text: str
    json: str
    figures: dict[str, str]


def weave(survey: Survey, place: Place) -> Report:
    """The report of the runs of a survey, that of the lead machine first."""
    told = Told(survey, place)
    sections = {
        "Claims": claims.section(told),
        "Results": _with(figures.of_kind(told), results.section(told)),
        **_machines(told),
        "Causes": causes.section(told),
        "Variants": _with(figures.of_kind(told, figures.DRAWING), variants.section(told)),
        "Runs": runs.section(told),
    }
    parts = [f"{WOVEN}# Report: {survey.experiment.title}", survey.experiment.question,
             *_about(told), *_banners(told),
             *(f"## {name}\n\n{text}" for name, text in sections.items())]
    return Report("\n\n".join(parts) + "\n", told.as_json(), told.drawn)


def _machines(told: Told) -> dict[str, str]:
    """Machines side by side; of one alone its inputs, and no figure that would compare it."""
    if len(told.runs) == 1:
        return {"Input by input": machines.section(told)}
    return {"Machines": _with(figures.of_kind(told, figures.ACROSS), machines.section(told))}


def _with(drawn: list[str], text: str) -> str:
    return "\n\n".join([*drawn, text])


def _about(told: Told) -> list[str]:
    """Whose numbers these are, and where to read on."""
    name = told.experiment.name
    count = len(told.runs)
    if told.place.is_committed:
        lead = told.survey.lead
        text = (f"This report is made of what {told.survey.machine_count()} measured; no sentence"
                f" about that was written by hand. `{lead}` comes first. [Chapter](README.md)."
                f" `just run {name}` measures the experiment on your machine.")
    else:
        assert count == 1
        folder = f"{told.place.reports.removesuffix('reports')}experiments/{name}"
        text = (f"This report is about `{told.runs[0].machine}` alone; no sentence about what was"
                f" measured was written by hand{runs.but_notes(told)}."
                f" [Chapter]({folder}/README.md) · [report of all machines that came with memwall]"
                f"({folder}/report.md)")
    return [text]


def _banners(told: Told) -> list[str]:
    """What is to be known before anything else: a kept run, one for trying out."""
    result = told.runs[0].result
    banners = []
    if told.place.kept:
        banners.append(f"> **{told.place.kept}**: a kept run, narrowed by"
                       f" {narrowing_words(result)}; the scorecard does not count it.")
    if not told.place.is_committed and joining.uncounted(result):
        banners.append(f"> **{result.run['profile']}**: a run for trying out. Its inputs are so"
                       " small that its numbers say nothing, and they count nowhere else.")
    if any(one.measured.stale_variants or one.measured.doubts for one in told.runs):
        banners.append("> Some of what was measured is out of date or doubtful: [Runs](#runs) says"
                       " what.")
    newer = sum(any(found.verdict == OUT_OF_DATE for found in of.values())
                for of in told.survey.verdicts.values())
    if newer:
        asks = "claim asks" if newer == 1 else "claims ask"
        banners.append(f"> {newer} {asks} for what is newer than a run here (↻):"
                       " [Claims](#claims) says what.")
    return banners


def narrowing_words(result: Result) -> str:
    """What narrowed a run, in short: `--matrix` (38 values), `--filter csrl`."""
    return ", ".join(_option_words(*option) for option in joining.narrowing(result)) or "nothing"


def _option_words(name: str, *values: str) -> str:
    text = escape.sealed_text(" ".join([name, *values]))
    if len(values) > MOST_VALUES:
        return f"`{name}` ({len(values)} values)"
    return f"`{text}`" if len(text) <= MOST_LETTERS else f"`{name}`"

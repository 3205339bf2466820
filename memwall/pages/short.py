"""The short page of an experiment, `README.md`: the question, one figure, and verdicts in words."""

from collections.abc import Sequence

from memwall.analysis.claims import Verdict
from memwall.analysis.verdicts import REPRODUCED
from memwall.pages.report import figures
from memwall.pages.report.claims import word
from memwall.pages.survey import Survey
from memwall.record import kits as kits_of
from memwall.record import notation
from memwall.record.definition import Claim, Experiment

WOVEN = "<!-- Woven from experiment.toml and results. Do not edit: `just report` makes it. -->\n"


def page(survey: Survey) -> str:
    """The page of an experiment that some machine has measured."""
    experiment = survey.experiment
    parts = [f"{WOVEN}# {experiment.title}", experiment.question, *_figure(experiment)]
    articles = [claim for claim in experiment.claims if not claim.is_own]
    own = [claim for claim in experiment.claims if claim.is_own]
    for title, claims in (("What became of the claims", articles),
                          ("What became of our own targets", own)):
        if claims:
            parts += [f"## {title}", _verdicts(survey, claims)]
    return "\n\n".join([*parts, "## More", "\n".join(_links(experiment))]) + "\n"


def not_measured(experiment: Experiment) -> str:
    """The page of an experiment without results."""
    return (f"{WOVEN}# {experiment.title}\n\n{experiment.question}\n\nNo machine has"
            f" measured it yet: `just run-all {experiment.name}`.\n")


def _figure(experiment: Experiment) -> list[str]:
    lead = figures.lead(experiment.figures)
    if lead is None:
        return []
    return [f"![{lead.caption}](figures/{lead.file})", f"*{lead.caption}*"]


def _verdicts(survey: Survey, claims: list[Claim]) -> str:
    """One line a claim: on the lead machine in words, and on how many others."""
    lines = []
    for claim in claims:
        verdicts = survey.verdicts[claim.id]
        told = survey.arithmetic(claim)
        found = told[1] if told else verdicts.get(survey.lead)
        assert found is not None, "the lead machine has a verdict of every claim"
        others = "" if told else _others(list(verdicts.values()))
        lines.append(f"- {found.symbol} [{claim.short}](report.md#{claim.anchor}):"
                     f" {word(found)}{others}.".replace("-  [", "- ["))
    several = ("; in brackets: on how many machines it holds, of those that could tell"
               if len(survey.machines) > 1 else "")
    return "\n".join([f"On `{survey.lead}`{several}.", "", *lines])


def _others(verdicts: Sequence[Verdict]) -> str:
    """` (3 of 4)`: on how many machines a claim holds, of those that could tell."""
    decided = [verdict.decided for verdict in verdicts if verdict.decided]
    if len(verdicts) < 2:
        return ""
    return (f" ({decided.count(REPRODUCED)} of {len(decided)})" if decided
            else " (no machine could tell)")


def _links(experiment: Experiment) -> list[str]:
    """Where to read on, and how to run it."""
    folder = experiment.folder
    programs = [path.name for path in sorted(folder.glob("main.c*"))]
    articles = sorted({claim.article for claim in experiment.claims if not claim.is_own}
                      | ({experiment.article} if experiment.article else set()))
    kits = [path.name for path in sorted(folder.glob("kit*")) if path.is_dir()]
    lines = ["- [The report](report.md): every claim, variant, machine and run, with intervals.",
             *(f"- [The program]({name}): what is compared with what." for name in programs)]
    if articles:
        links = [f"[article {number}](../../reports/articles.md#article-{number})"
                 for number in articles]
        lines.append(f"- Where the claims come from: {notation.listed(links)}.")
    lines += [f"- [A course kit]({name}/):"
              f" `just assignment {kits_of.name_of(folder / name)} --out DIR`." for name in kits]
    return [*lines, f"- Run it: `just run {experiment.name}` measures it here and makes the same"
                    " report of your machine."]

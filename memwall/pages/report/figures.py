"""The figures of a report, drawn as `experiment.toml` says."""

from collections.abc import Iterable

from memwall.figures.plots import NOT_DRAWN
from memwall.pages.report.told import Told
from memwall.pages.survey import OnMachine
from memwall.record.definition import Figure
from memwall.record.errors import UserError
from memwall.record.results import Case

#: How figures are drawn that measure nothing, and those that compare machines.
DRAWING, ACROSS = "drawing", "across"


def of_kind(told: Told, kind: str = "") -> list[str]:
    """The figures that are drawings, or across machines, or all others, each with its caption."""
    chosen = [figure for figure in told.experiment.figures
              if (figure.draw["as"] if figure.draw["as"] in (DRAWING, ACROSS) else "") == kind]
    return [text for figure in chosen if (text := drawn(told, figure))]


def lead(figures: Iterable[Figure]) -> Figure | None:
    """The one that stands for an experiment: the first that was measured, or else the first."""
    every = list(figures)
    measured = [figure for figure in every if figure.draw["as"] not in (DRAWING, ACROSS)]
    return next(iter([*measured, *every]), None)


def drawn(told: Told, figure: Figure) -> str:
    """A figure in the page; empty where nothing was measured for it."""
    one = _whose(told, figure)
    if one is None or not _belongs(figure, one.result.cases):
        return ""
    asked = {name: value for name, value in figure.draw.items()
             if name not in ("as", "machine", "run")}
    try:
        text: str = getattr(told.plot_of(one.measured), figure.draw["as"])(figure.id, **asked)
    except (UserError, TypeError) as error:
        raise UserError(f'experiments/{told.experiment.name}/experiment.toml: figure'
                        f' "{figure.id}": {error}') from error
    if figure.file not in told.drawn:
        return text if text.endswith(NOT_DRAWN) else ""
    if one is told.runs[0] or figure.draw["as"] == DRAWING:
        return text
    kept = f", in the run that it kept as *{one.title}*" if one.title else ""
    return f"{text}\n\n<sub>Measured on `{one.machine}`{kept}.</sub>"


def _whose(told: Told, figure: Figure) -> OnMachine | None:
    """The run that a figure shows: that of the lead machine or of another one, complete or kept
    under a title, in the report of all machines; else the one that a report is about."""
    title = figure.draw.get("run", "")
    if not told.place.is_committed:
        return told.runs[0] if title in ("", told.place.kept) else None
    machine = figure.draw.get("machine", told.survey.lead)
    return next((one for one in told.survey.runs(title) if one.machine == machine), None)


def _belongs(figure: Figure, cases: Iterable[Case]) -> bool:
    """Whether any of what a figure shows was timed."""
    return not figure.where or any(
        case.passed and figure.where.items() <= {**case.parameters, "target": case.target}.items()
        for case in cases
    )

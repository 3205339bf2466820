"""The front page, `README.md`: its numbers come from results, as everywhere."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memwall.pages import scorecard
from memwall.pages.lesson import Lesson
from memwall.pages.rounding import counted
from memwall.pages.survey import Survey
from memwall.pages.verbs import render
from memwall.record.errors import UserError

TEMPLATE = "memwall/pages/front_page.md.in"
WOVEN = "<!-- Woven from memwall/pages/front_page.md.in. Do not edit: `just report`. -->\n"


class Front:
    """What the template of the front page can say."""

    def __init__(self, surveys: Sequence[Survey]) -> None:
        self._surveys = {survey.experiment.name: survey for survey in surveys}

    def all(self) -> dict[str, Any]:
        """Every verb by its name in the template."""
        return {"of": self.of, "summary": self.summary,
                "experiments": self.experiments, "machines": self.machines}

    def of(self, name: str) -> Lesson:
        """The verbs of a chapter's lesson, on its lead machine."""
        survey = self._surveys.get(name)
        if survey is None:
            raise UserError(f'of: no experiment "{name}"')
        lead = next((one for one in survey.runs() if one.machine == survey.lead), None)
        if lead is None:
            raise UserError(f'of: {survey.lead} has no result of "{name}"')
        return Lesson(lead.measured, survey, lead.machine, self._surveys)

    def summary(self) -> str:
        """How many claims of the articles hold."""
        begun = [survey for survey in self._surveys.values() if survey.lead]
        return scorecard.summary(begun, scorecard.of_articles, "claim")

    def experiments(self) -> str:
        """How many chapters have results, in words where there are few."""
        return counted(sum(bool(survey.runs()) for survey in self._surveys.values()))

    def machines(self) -> str:
        """How many machines have results."""
        return str(len({one.machine for survey in self._surveys.values() for one in survey.found}))


def front_page(root: Path, surveys: Sequence[Survey]) -> dict[str, str]:
    """`README.md`, where the tree has a template for it."""
    path = root / TEMPLATE
    if not path.exists():
        return {}
    return {"README.md": WOVEN + render(path, TEMPLATE, Front(surveys))}

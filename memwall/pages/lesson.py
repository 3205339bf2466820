"""Lessons: what an experiment's `lesson.md.in` says of the lead machine, and `answers.md.in`, the
answers to its exercises."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from memwall.analysis import crossovers
from memwall.analysis.basis import Over
from memwall.analysis.cells import measure
from memwall.analysis.comparisons import compare
from memwall.analysis.quantities import Absence
from memwall.analysis.verdicts import REPRODUCED
from memwall.pages import blocks
from memwall.pages.reading import Reading
from memwall.pages.survey import Survey
from memwall.pages.verbs import Verbs, render
from memwall.record import notation
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.escape import fenced
from memwall.record.regions import Where

TEMPLATE, ANSWERS = "lesson.md.in", "answers.md.in"
WOVEN = "<!-- Woven from {} and the lead machine's results. Do not edit: `just report`. -->\n"
STALE = ("> Some code has changed since these numbers were measured; the"
         " [report](report.md#runs) says which.")


@dataclass(frozen=True)
class Lesson(Verbs):
    """What the template of a lesson can say: numbers of the lead machine, which filters round, its
    code, figures, and what its studies showed."""

    surveys: Mapping[str, Survey] = field(default_factory=dict)
    minutes: int | None = None  # of reading, as the book says; none of what it does not list
    #: The variants that were named and are out of date, as the page is made.
    stale: set[str] = field(default_factory=set)

    def all(self) -> dict[str, Any]:
        """Every verb by its name in templates."""
        verbs = (self.crossover, self.feature, self.figure, self.holds, self.machine, self.noise,
                 self.number, self.of, self.part, self.probe, self.shown)
        return {verb.__name__: verb for verb in verbs} | {"minutes": self.minutes}

    # --- numbers ---------------------------------------------------------------------------------

    def number(self, metric: str, variant: str | None = None, where: Where | None = None,
               over: Over = None, ceiling: str | None = None) -> float:
        """A metric in seconds, bytes, parts or times, to be rounded: over several points the
        geometric mean. What was not measured stops the weave."""
        cell = measure(self._basis(over, ceiling), metric, variant, where or {})
        if cell.estimate is None:
            raise UserError(f"number: {metric} of {variant}: {cell.absence}")
        if cell.stale:
            self.stale.add(str(variant))
        return cell.estimate.value

    def probe(self, name: str, where: Where | None = None) -> float:
        """Bytes or operations a second that a probe reached at best, in the launch where it was
        the highest."""
        cases = self.measured.select(where or {}, timed=False)
        launches = dict.fromkeys(case.launch for case in cases)
        return max(self.measured.ceilings.one(at, name).rate.value for at in launches)

    def crossover(self, variant: str, over: Over, x: str, where: Where | None = None) -> float:
        """Where along a number of the points a variant stops being faster than another one."""
        compared = compare(self.measured, variant, over, where or {})
        if isinstance(compared, Absence):
            raise UserError(f"crossover: {compared.reason}")
        curve = crossovers.curve(self.measured, compared, x)
        if not curve.within:
            raise UserError(f"crossover: found {curve.words()}")
        return curve.place.value

    def feature(self, matrix: str, name: str) -> float:
        """What a matrix is: its rows, columns, nonzeros, mean_row, max_row, nzseg_per_nnz, ..."""
        known = self.measured.features(matrix)
        if name not in known:
            raise UserError(f'feature: found no "{name}" of "{matrix}", which has:'
                            f" {', '.join(known) or 'none'}")
        return float(known[name])

    def noise(self, where: Where | None = None, of: str = "") -> float:
        """By what part two copies of the same code differed at most, in the studies of a region: in
        time, or in something else `of` their rounds."""
        return self.measured.noise_of(self.measured.select(where or {}), of).factor - 1

    def of(self, experiment: str) -> "Lesson":
        """The same verbs about another chapter's results on this machine."""
        survey = self.surveys.get(experiment)
        found = survey and next((o for o in survey.runs() if o.machine == self.machine_name), None)
        if not survey or not found:
            raise UserError(f'of: {self.machine_name} has no result of "{experiment}"')
        return replace(self, measured=found.measured, survey=survey)

    # --- what was shown --------------------------------------------------------------------------

    def shown(self, claim: str, words: str) -> str:
        """A link to the study that showed a cause: its claim must hold on this machine, or have
        held when its code was timed."""
        found = self.survey.experiment.claim(claim)
        verdict = self.survey.verdicts[claim][self.machine_name]
        if verdict.decided != REPRODUCED:
            raise UserError(f'shown: found "{claim}" {verdict.word} on the lead machine'
                            f" {self.machine_name}, expected that it holds")
        return f"[{words}](report.md#{found.anchor})"

    def figure(self, id: str) -> str:
        """A figure of the experiment, with its question as its title."""
        figure = self.measured.experiment.figure(id)
        return f"![{figure.question} {figure.caption}](figures/{figure.file})"

    def part(self, name: str, begins: str = "", ends: str = "") -> str:
        """The lines of a variant's text as it was timed, from the first that contains `begins` to
        the next that contains `ends`, without their common indentation; directives, which begin
        at the margin, have none."""
        lines = blocks.listing_of(self.measured, name).text.splitlines()
        first = _line_with(lines, begins, 0, name)
        last = _line_with(lines, ends, first, name) if ends else len(lines) - 1
        chosen = lines[first:last + 1]
        code = [line for line in chosen if line.strip() and not line.startswith("#")]
        indent = min((len(line) - len(line.lstrip()) for line in code), default=0)
        return fenced("\n".join(line if line.startswith("#") else line[indent:]
                                for line in chosen), "cpp")


def _line_with(lines: Sequence[str], text: str, first: int, name: str) -> int:
    for at in range(first, len(lines)):
        if text in lines[at]:
            return at
    raise UserError(f'part: found no line of {name} with "{text}"')


def texts(survey: Survey, surveys: Mapping[str, Survey], reading: Reading) -> dict[str, str]:
    """The lesson and its answers, by their paths in the repository; nothing of an experiment that
    has no template, or whose lead machine has no result."""
    experiment, folder = survey.experiment, survey.experiment.folder
    lead = next((one for one in survey.runs() if one.machine == survey.lead), None)
    if lead is None or not (folder / TEMPLATE).exists():
        return {}
    made = {}
    for template, page in ((TEMPLATE, "README.md"), (ANSWERS, "answers.md")):
        verbs = Lesson(lead.measured, survey, lead.machine, surveys,
                       reading.minutes.get(experiment.name))
        shown = f"experiments/{experiment.name}/{template}"
        text = render(folder / template, shown, verbs)
        parts = [WOVEN.format(template) + text.rstrip(), *([STALE] if verbs.stale else [])]
        if template == TEMPLATE:
            parts.append(_links(experiment, reading))
        made[f"experiments/{experiment.name}/{page}"] = "\n\n".join(parts) + "\n"
    return made


def _called(kit: str) -> str:
    """What a folder kit-one-core is called in a sentence: kit for one core."""
    part = kit.removeprefix("kit").lstrip("-").replace("-", " ")
    return f"kit for {part.replace('gpu', 'a GPU')}" if part else "kit"


def _links(experiment: Experiment, reading: Reading) -> str:
    """What lies beside a lesson, and the chapters before and after it."""
    programs = [path.name for path in sorted(experiment.folder.glob("main.c*"))]
    kits = [path.name for path in sorted(experiment.folder.glob("kit*")) if path.is_dir()]
    beside = ["[answers](answers.md)", "[report](report.md)",
              *(f"[program]({name})" for name in programs),
              *(f"[{_called(name)}]({name}/)" for name in kits)]
    listed = f"Beside this chapter: {notation.listed(beside)}."
    return f"---\n\n{listed} {reading.around(experiment)}".rstrip()

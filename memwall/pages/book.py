"""Lessons, reports, short pages, machines' pages, the scorecard and the front page, as texts by
their path in the repository.

Nothing is written here but by `weaving`: the same texts are compared with the tree by `check`.
"""

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.pages import front, lesson, machine_page, parallel, reading, scorecard, short, weaving
from memwall.pages.reading import Reading
from memwall.pages.report import page
from memwall.pages.report.page import Report
from memwall.pages.report.told import Place
from memwall.pages.survey import NOBODY, OnMachine, Survey
from memwall.pages.weaving import Texts
from memwall.record import (
    definition,
    escape,
    files,
    joining,
    machines,
    names,
    results,
    sources,
    stored,
)
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.results import Result
from memwall.record.sources import Tree

WOVEN = "build/reports"  # below the root: the pages of each machine by itself


@dataclass(frozen=True)
class House:
    """Everything that is woven: definitions, and all that machines found."""

    root: Path
    tree: Tree
    experiments: tuple[Experiment, ...]
    found: tuple[OnMachine, ...]
    left_out: tuple[str, ...] = ()  # results that count in nothing, each with the reason

    def of_machine(self, machine: str) -> list[OnMachine]:
        """Its complete runs, then those it kept."""
        of = [one for one in self.found if one.machine == machine]
        return sorted(of, key=lambda one: (one.title != "", one.result.experiment, one.title))

    def survey(self, experiment: Experiment) -> Survey:
        """All machines' results of one experiment. Without a lead machine of its own it tells the
        numbers of the first one."""
        of = tuple(one for one in self.found if one.result.experiment == experiment.name)
        complete = [one.machine for one in of if not one.title]
        lead = experiment.lead or next(iter(complete), "")
        others = {machine: facts for machine, facts in self.facts.items()
                  if machine not in complete}
        return Survey(experiment, lead, of, lead, others, self.divided(experiment))

    def divided(self, experiment: Experiment) -> Mapping[str, Sequence[str]]:
        """By the ids of an experiment's runs the others that have cases of them."""
        mine = {one.result.run["id"] for one in self.found
                if one.result.experiment == experiment.name}
        found: dict[str, list[str]] = {}
        for one in self.found:
            run, name = one.result.run["id"], one.result.experiment
            if run in mine and name != experiment.name and name not in found.get(run, ()):
                found.setdefault(run, []).append(name)
        return found

    def committed(self) -> "House":
        """What is woven into committed pages: what came with the tree."""
        listed = machines.listed(self.root)
        return replace(self, found=tuple(one for one in self.found if one.machine in listed))

    def hindrances(self, machine: str) -> list[str]:
        """Why a machine's folder may not leave as it is."""
        of = [(one.shown, one.result) for one in self.of_machine(machine)]
        return [*self.left_out_of(machine), *(joining.hindrances(machine, of) if of else ())]

    def left_out_of(self, machine: str) -> list[str]:
        """What of a machine's folder counts in nothing."""
        return [line for line in self.left_out if line.startswith(f"reports/{machine}/")]

    @cached_property
    def surveys(self) -> list[Survey]:
        """Of every experiment what all machines found, in the book's order."""
        numbers = self.reading.numbers
        ordered = sorted(self.experiments, key=lambda one: numbers[one.name])
        return [self.survey(experiment) for experiment in ordered]

    @cached_property
    def reading(self) -> Reading:
        """The chapters in their order."""
        return reading.read(self.root, {one.name: one for one in self.experiments})

    @cached_property
    def facts(self) -> Mapping[str, Any]:
        """What each machine is, as one of its results tells."""
        return {machine: self.of_machine(machine)[0].result.raw["machine"]
                for machine in self.machines}

    def judge(self) -> None:
        """Judges all claims on all machines, so that what is woven in parallel need not."""
        for survey in self.surveys:
            _ = survey.verdicts

    @property
    def machines(self) -> list[str]:
        return sorted({one.machine for one in self.found})


def read(root: Path, only: str | None = None, beside: Collection[str] = ()) -> House:
    """Reads and validates every definition, and the results of the machines that came with the tree
    and of those `beside` them; all, or those of one experiment. By this process alone: to hand over
    what was read takes longer than to read it."""
    tree = sources.read_tree(root)
    experiments = {e.name: e for e in definition.load_all(root)}
    known = sorted({*machines.listed(root), *beside})
    paths = [path for machine in known
             for path in stored.results_of(root / "reports" / machine)]
    wanted = [path for path in paths if only in (None, stored.names_of(path)[0])]
    with _all_kept():
        read = [_on_machine(root, path, experiments, tree) for path in wanted]
    found = tuple(one for one in read if isinstance(one, OnMachine))
    left_out = tuple(one for one in read if isinstance(one, str))
    return House(root, tree, tuple(experiments.values()), found, left_out)


@contextmanager
def _all_kept() -> Iterator[None]:
    """While millions of objects are made that all stay, nobody looks for garbage among them: that
    takes a third of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _on_machine(root: Path, path: Path, experiments: Mapping[str, Experiment],
                tree: Tree) -> OnMachine | str:
    """What a result file of a machine's folder holds, or why it counts in nothing."""
    shown = path.relative_to(root).as_posix()
    result = results.parse(path, shown)
    name, title = stored.names_of(path)
    if title:
        names.require(title, f"{shown}: the title")
    why = joining.obstacle(result, name, title or None, experiments)
    if why:
        raise UserError(f"{shown}: {why}")
    if why := joining.uncounted(result):
        return f"{shown}: {why}"
    machine = path.parents[1].name
    return on_machine(machine, result, experiments[name], tree, title, partial=bool(title))


def on_machine(machine: str, result: Result, experiment: Experiment, tree: Tree, title: str,
               partial: bool) -> OnMachine:
    """A result that is known to be valid, as pages show it: sealed."""
    measured = Measurements(results.sealed(result), experiment, tree, partial)
    return OnMachine(machine, measured, title)


def unsound(root: Path, machine: str) -> list[str]:
    """What keeps a machine's results from being read, a line for each; nothing is woven of them."""
    tree = sources.read_tree(root)
    experiments = {e.name: e for e in definition.load_all(root)}
    problems = []
    for path in stored.results_of(root / "reports" / machine):
        try:
            _on_machine(root, path, experiments, tree)
        except UserError as error:
            problems.append(str(error))
    return problems


def everything(house: House) -> Texts:
    """All woven texts of the repository."""
    texts: Texts = {}
    house.judge()
    if house.reading.chapters:
        written = {one.name for one in house.experiments
                   if (one.folder / lesson.TEMPLATE).exists()}
        texts["experiments/README.md"] = house.reading.page(written)
    for woven in parallel.each(lambda one: chapter(house, one), house.experiments):
        texts |= woven
    return opened(texts | front.front_page(house.root, house.surveys)) | overviews(house)


def overviews(house: House) -> Texts:
    """The scorecard, and the short page of each machine."""
    simulated = house.root / "reports/protocol.json"
    lines = files.read_json(simulated) if simulated.exists() else []
    texts = {"reports/README.md": scorecard.page(house.surveys, house.machines, lines,
                                                  house.reading.numbers)}
    for machine in house.machines:
        texts[f"reports/{machine}/README.md"] = machine_page.page(
            machine, house.of_machine(machine), house.surveys, house.root / f"reports/{machine}")
    return opened(texts)


def opened(texts: Texts) -> Texts:
    """Pages in which the text of strangers stands as text; figures have it so already."""
    return {name: escape.markdown(text) if name.endswith(".md") else text
            for name, text in texts.items()}


def chapter(house: House, experiment: Experiment) -> Texts:
    """The lesson of an experiment or, until one is written, a short page; its report, and their
    figures; without results a page that says so."""
    folder, survey = f"experiments/{experiment.name}", house.survey(experiment)
    if not survey.machines:
        return {f"{folder}/README.md": short.not_measured(experiment)}
    if survey.lead not in survey.machines:
        known = ", ".join(survey.machines)
        raise UserError(f'{folder}/experiment.toml: lead: found "{survey.lead}", expected a'
                         f" machine with a complete result, one of: {known}")
    report = page.weave(survey, Place("../../reports", is_committed=True))
    figures = {f"{folder}/figures/{file}": svg for file, svg in report.figures.items()}
    surveys = {one.experiment.name: one for one in house.surveys}
    lessons = lesson.texts(survey, surveys, house.reading)
    return {f"{folder}/README.md": short.page(survey), f"{folder}/report.md": report.text,
            f"{folder}/report.json": report.json} | figures | lessons


def machine_pages(house: House, machine: str) -> Texts:
    """The reports of one machine, one for each of its runs, by path below `build/reports/`."""
    if machine not in house.machines:
        known = ", ".join(house.machines) or "none"
        why = house.left_out_of(machine)
        raise UserError(why[0] if why else
                         f'no results of the machine "{machine}" below reports/, which has:'
                         f" {known}")
    found = house.of_machine(machine)
    lines = [f"- [{one.measured.experiment.title}]({_page_name(one)})"
             + (f", the run kept as *{one.title}*" if one.title else "") for one in found]
    texts = {f"{machine}/README.md": f"# All reports of {machine}\n\n" + "\n".join(lines) + "\n"}
    for woven in parallel.each(lambda one: machine_report(house, one), found):
        texts |= woven
    return opened(texts)


def _page_name(one: OnMachine) -> str:
    return f"{one.result.experiment}{f'--{one.title}' if one.title else ''}.md"


def machine_report(house: House, one: OnMachine) -> Texts:
    """The report of one run of a machine, and its figures."""
    name, title = one.result.experiment, one.title
    stem = f"{name}--{title}" if title else name
    notes = house.root / f"reports/{one.machine}/notes"
    place = Place("../../../reports", f"figures/{stem}", notes, kept=title)
    divided = house.divided(one.measured.experiment)
    return _as_files(_report_of(one, place, divided), f"{one.machine}/{stem}",
                     f"{one.machine}/{place.figures}")


def _report_of(one: OnMachine, place: Place,
               divided: Mapping[str, Sequence[str]] | None = None) -> Report:
    """The report of one run alone."""
    alone = replace(one, title="")
    survey = Survey(one.measured.experiment, one.machine, (alone,), NOBODY, divided=divided or {})
    return page.weave(survey, place)


def _as_files(report: Report, stem: str, figures: str) -> Texts:
    drawn = {f"{figures}/{file}": svg for file, svg in report.figures.items()}
    return {f"{stem}.md": report.text, f"{stem}.json": report.json} | drawn


def weave_all(root: Path) -> House:
    """Writes everything that is committed."""
    house = read(root)
    write_all(house)
    return house


def write_all(house: House) -> None:
    """Writes the pages of what came with the tree."""
    texts = everything(house)
    weaving.remove_obsolete(house.root, texts)
    weaving.write(house.root, texts)


def weave_machine(root: Path, machine: str) -> House:
    """Writes the pages of one machine into `build/reports/`, and everything that is committed."""
    house = read(root, beside=[machine])
    weaving.write(root / WOVEN, machine_pages(house, machine))
    write_all(house.committed())
    return house


def weave_page(root: Path, result: Result, folder: Path) -> Path:
    """Writes the page of a single run into a folder and returns its file. Nothing else is
    touched; where the folder has a file that was not woven, as the result itself may be, nothing is
    written."""
    known = {experiment.name: experiment for experiment in definition.load_all(root)}
    if result.experiment not in known:
        raise UserError(f'{result.path.name}: found the experiment "{result.experiment}", expected'
                         f" one of: {', '.join(known)}")
    experiment, tree = known[result.experiment], sources.read_tree(root)
    one = on_machine(result.raw["machine"]["slug"], result, experiment, tree, "",
                     joining.is_partial(result))
    up = "../" * len(folder.resolve().relative_to(root.resolve()).parts) \
        if folder.resolve().is_relative_to(root.resolve()) else f"{root.resolve()}/"
    report = _report_of(one, Place(f"{up}reports"))
    weaving.write_beside(folder, opened(_as_files(report, experiment.name, "figures")))
    return folder / f"{experiment.name}.md"


def alone(root: Path) -> AbstractContextManager[int]:
    """While it is held no other command changes results or woven pages of the tree."""
    return files.exclusive(root / "build/weave")

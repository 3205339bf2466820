"""The book: its chapters in reading order, what a reader must know before each, and the page that
lists them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.pages.tables import markdown
from memwall.record import files
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.schemas import check_schema

BOOK = "experiments/book.toml"
SHORT = "*(its lesson is not written yet: a short page)*"
WOVEN = "<!-- Woven from book.toml. Do not edit: `just report`. -->\n"
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["chapter"],
    "properties": {"chapter": {"type": "array", "items": {
        "type": "object",
        "additionalProperties": False,
        "required": ["name", "idea", "know", "minutes"],
        "properties": {"name": {"type": "string"}, "idea": {"type": "string"},
                       "know": {"type": "string"}, "minutes": {"type": "integer", "minimum": 1}},
    }}},
}


@dataclass(frozen=True)
class Chapter:
    """One chapter, by the name of its experiment: what it teaches, what one must know before, and
    how long one reads."""

    name: str
    idea: str
    know: str
    minutes: int


@dataclass(frozen=True)
class Reading:
    """The chapters in their order: a chapter's number is its place, and stands nowhere else."""

    chapters: tuple[Chapter, ...]
    titles: Mapping[str, str]  # of all experiments, without what follows a colon

    @property
    def numbers(self) -> Mapping[str, int]:
        """Of every experiment; those that the book does not list come after it, by name."""
        listed = [chapter.name for chapter in self.chapters]
        return {name: at for at, name in enumerate(dict.fromkeys([*listed, *self.titles]), 1)}

    @property
    def minutes(self) -> Mapping[str, int]:
        """How long one reads each chapter."""
        return {chapter.name: chapter.minutes for chapter in self.chapters}

    def around(self, experiment: Experiment) -> str:
        """Links to the chapters before and after one; nothing of an experiment that is none."""
        names = [chapter.name for chapter in self.chapters]
        if experiment.name not in names:
            return ""
        number = self.numbers[experiment.name]
        before = [f"before it: {self._link(names[number - 2])}"] if number > 1 else []
        after = [f"next: {self._link(names[number])}"] if number < len(names) else []
        return " · ".join([f"[Chapter {number}](../README.md)", *before, *after])

    def _link(self, name: str) -> str:
        return f"[{self.titles[name]}](../{name}/README.md)"

    def page(self, written: Collection[str]) -> str:
        """The way through the book: number, chapter, its idea, what to know, minutes; those whose
        lessons are not written yet are marked."""
        rows = [[str(at), f"[{self.titles[one.name]}]({one.name}/README.md)",
                 one.idea + ("" if one.name in written else f" {SHORT}"), one.know,
                 str(one.minutes)] for at, one in enumerate(self.chapters, 1)]
        head = ["", "chapter", "what it is about", "what to know before", "minutes"]
        table = markdown(head, rows, 4)
        return f"{WOVEN}# The book, in reading order\n\n{ABOUT}\n\n{table}\n"


ABOUT = """\
All chapters tell what one machine measured, an H100 and its host of 16 cores; each has a report of
every machine beside it. The [glossary](glossary.md) says what words mean. Exercises end each
chapter, and their answers stand in a page of their own. Minutes are for reading; an afternoon goes
into the exercises."""


def read(root: Path, experiments: Mapping[str, Experiment]) -> Reading:
    """The list of the tree. Raises `UserError` if a chapter is no experiment, or stands there
    twice. A tree without a list has no book."""
    path = root / BOOK
    titles = {name: one.title.partition(": ")[0] for name, one in experiments.items()}
    if not path.exists():
        return Reading((), titles)
    raw = files.read_toml(path, BOOK)
    check_schema(raw, SCHEMA, BOOK)
    chapters = tuple(Chapter(**one) for one in raw["chapter"])
    names = [chapter.name for chapter in chapters]
    for name in names:
        if name not in experiments or names.count(name) > 1:
            raise UserError(f'{BOOK}: found the chapter "{name}", expected an experiment, once,'
                            f" of: {', '.join(experiments)}")
    return Reading(chapters, titles)

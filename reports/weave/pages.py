"""One page: a template, a result and the verbs become Markdown and figures.

The same template makes a chapter, which speaks of its lead machine and compares all others with it,
and the page of any other machine.
"""

import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from weave import blocks, results
from weave.claims import OUT_OF_DATE
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Result
from weave.survey import Survey, loosely
from weave.verbs import Verbs

TEMPLATE_FRAME = "<template>"
CHAPTER = ("<!-- Woven from report.md.in and the results in reports/. Do not edit: `just report`."
           " -->\n")
PAGE = "<!-- Woven from experiments/{name}/report.md.in and {result}. -->\n"
#: Options with more values, or longer ones, are named without them.
MOST_VALUES = 3
MOST_LETTERS = 40


@dataclass(frozen=True)
class Page:
    """A woven report and the figures it shows, by file name."""

    text: str
    figures: dict[str, str]


@dataclass(frozen=True)
class Place:
    """Where a page stands, and what it sees from there."""

    reports: str  # the folder `reports/`
    figures: str = "figures"
    notes: Path | None = None  # the folder of the machine's notes
    is_chapter: bool = False


def narrowing(result: Result) -> list[tuple[str, ...]]:
    """The options of a run that narrow it, a filter or values of an axis, each with its values."""
    axes = {name for case in result.cases for name in case.parameters}
    axes |= {name for entry in result.raw["skipped"] for name in results.parameters(entry)}
    names = {"--filter", *(f"--{axis}" for axis in axes)}
    options = (_split(option) for option in results.options(result.run["arguments"]))
    return [option for option in options if option[0] in names]


def is_partial(result: Result) -> bool:
    """Whether a run was narrowed on its command line."""
    return bool(narrowing(result))


def narrowing_words(result: Result) -> str:
    """What narrowed a run, in short: `--matrix` (38 values), `--filter csrl`."""
    return ", ".join(_option_words(*option) for option in narrowing(result)) or "nothing"


def _split(option: tuple[str, ...]) -> tuple[str, ...]:
    """`--name=value` as two words."""
    name, equals, value = option[0].partition("=")
    return (name, *([value] if equals else []), *option[1:])


def _option_words(name: str, *values: str) -> str:
    text = " ".join([name, *values])
    if len(values) > MOST_VALUES:
        return f"`{name}` ({len(values)} values)"
    return f"`{text}`" if len(text) <= MOST_LETTERS else f"`{name}`"


def weave(measured: Measurements, machine: str, survey: Survey, place: Place,
          kept: str = "") -> Page:
    """Weaves one result of a machine among those of `survey`.

    `kept` is the title of a run that was kept beside the complete ones.
    """
    if miscounted := measured.beyond_ceiling():
        raise WeaveError(miscounted)
    experiment = measured.experiment
    told = measured if place.is_chapter else loosely(measured)  # inputs are named after the lead's
    verbs = Verbs(told, survey, machine, place.figures, place.reports)
    shown = f"experiments/{experiment.name}/report.md.in"
    body = render(experiment.folder / "report.md.in", shown, verbs, place.is_chapter)
    due = [figure for figure in experiment.figures if figure.belongs_to(measured.result.cases)]
    missing = [figure.id for figure in due if figure.file not in verbs.drawn]
    if place.is_chapter and missing:
        raise WeaveError(f'{shown}: the figure "{missing[0]}" of experiment.toml is not drawn')
    if place.is_chapter:
        return Page(CHAPTER + _with_banner(body, measured, kept), verbs.drawn)
    head = PAGE.format(name=experiment.name, result=measured.result.path.name)
    notes = blocks.notes(measured, place.notes)
    if notes:
        body = f"{body}\n## Notes on this machine\n\n{notes}\n"
    return Page(head + _with_banner(body, measured, kept), verbs.drawn)


class Given(Extension):
    """`{% given "1.unroll" is "NOT REPRODUCED" %} ... {% endgiven %}`: a passage that is true if
    the verdict is that, or `{% given EXPRESSION %}` if the expression holds.

    In a chapter it must be so, or the weave stops with the line; a verdict that is out of date
    counts as it was when it was written about. On the page of another machine the passage is left
    out, with a sentence in its place where a verdict differs.
    """

    tags = {"given"}
    verbs: Verbs
    is_chapter: bool

    def parse(self, parser: Parser) -> nodes.Node:
        """Reads the tag; called by Jinja."""
        line = next(parser.stream).lineno
        asked: list[nodes.Expr] = []
        if parser.stream.current.type == "string" and parser.stream.look().test("name:is"):
            asked.append(self._verdict(parser))
            while parser.stream.skip_if("name:and"):
                asked.append(self._verdict(parser))
        else:
            asked.append(parser.parse_expression())
        body = parser.parse_statements(("name:endgiven",), drop_needle=True)
        call = self.call_method("_passage", [nodes.List(asked)])
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _verdict(self, parser: Parser) -> nodes.Expr:
        """The names of a claim and of the verdict that is expected."""
        claim = parser.stream.expect("string").value
        parser.stream.expect("name:is")
        return nodes.Const((claim, parser.stream.expect("string").value))

    def _passage(self, asked: Sequence[bool | tuple[str, str]], caller: Callable[[], str]) -> str:
        verbs, is_chapter = self.environment.verbs, self.environment.is_chapter
        for one in asked:
            if isinstance(one, tuple):
                found = verbs.verdict(one[0])
                if found == one[1] or (is_chapter and found == OUT_OF_DATE):
                    continue  # what was measured is told as it was, and marked
                if is_chapter:
                    raise WeaveError(f'given: found "{one[0]}" {found} on the lead machine'
                                     f" {verbs.machine_name}, expected {one[1]}")
                return (f"*(On this machine `{one[0]}` is {found}: what the chapter says of its"
                        " lead machine here does not apply.)*")
            if not one:
                if is_chapter:
                    raise WeaveError("given: found that this does not hold on the lead machine"
                                     f" {verbs.machine_name}")
                return ""
        return caller()


class Speaker(Protocol):
    """What gives a template its verbs."""

    def all(self) -> dict[str, Any]:
        """Every verb by its name in the template."""


def render(path: Path, shown: str, verbs: Speaker, is_chapter: bool = False) -> str:
    """The text of a template; errors name its line."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, lstrip_blocks=True,
                                     extensions=[Given])
    environment.extend(verbs=verbs, is_chapter=is_chapter)
    try:
        source = path.read_text(encoding="utf-8")
        text = environment.from_string(source, globals=verbs.all()).render()
    except OSError as error:
        raise WeaveError(f"{shown}: cannot be read: {error.strerror}") from error
    except jinja2.TemplateSyntaxError as error:
        raise WeaveError(f"{shown}:{error.lineno}: {error.message}") from error
    except (WeaveError, jinja2.UndefinedError, TypeError) as error:
        raise WeaveError(f"{shown}:{_template_line(error)}: {_one_line(error)}") from error
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _template_line(error: Exception) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == TEMPLATE_FRAME]
    return lines[-1] or 0 if lines else 0


def _one_line(error: Exception) -> str:
    """A wrong call reads `table() got ...`, without the class it belongs to."""
    return str(error).replace("\n", " ").replace("Verbs.", "").replace("Plot.", "plot.")


def _with_banner(body: str, measured: Measurements, kept: str) -> str:
    """Tells above the text that it is of a kept run, and that some of it is out of date."""
    banners = []
    if kept:
        narrowed = narrowing_words(measured.result)
        banners.append(
            f"> **{kept}**: a kept run, narrowed by {narrowed}; the scorecard does not count it.\n"
        )
    if measured.stale_variants:
        names = ", ".join(f"`{name}`" for name in measured.stale_variants)
        banners.append(f"> **Out of date**: {names} changed since this run; their numbers are"
                       " marked.\n")
    if not banners:
        return body
    banner = "\n".join(banners)
    title, _, rest = body.partition("\n")
    return f"{title}\n\n{banner}{rest}" if title.startswith("# ") else f"{banner}\n{body}"

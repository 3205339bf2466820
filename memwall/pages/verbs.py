"""The verbs of templates: every measured number in a text by hand comes through one of them. And
how a template that says them becomes a text."""

import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Protocol, Self

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.parser import Parser

from memwall.analysis import claims, expectations
from memwall.analysis.basis import Basis, Over
from memwall.analysis.claims import Verdict
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.expectations import Expectation
from memwall.analysis.measurements import Measurements
from memwall.analysis.verdicts import OUT_OF_DATE, REPRODUCED
from memwall.pages import blocks, rounding
from memwall.pages.survey import Survey
from memwall.record import files, notation
from memwall.record.errors import UserError
from memwall.record.regions import Where


@dataclass(frozen=True)
class Verbs:
    """What a template can say about one result, and about all machines that have one."""

    measured: Measurements
    survey: Survey
    machine_name: str

    # --- claims ----------------------------------------------------------------------------------

    def verdict(self, id: str) -> str:
        """`REPRODUCED`, `NOT REPRODUCED`, `UNDECIDED`, ...; of our own targets `HOLDS`, `FAILS`."""
        return self._judge(id).word

    def holds(
        self,
        faster: str,
        than: Over,
        expect: Expectation = "faster",
        where: Where | None = None,
        on: str = "all",
    ) -> bool:
        """Whether an expectation in the words of claims holds, for conditional sentences."""
        if on not in ("all", "any", "every"):
            raise UserError(f'holds: found on="{on}", expected all, any or every')
        compared = compare(self.measured, faster, than, where or {})
        if not isinstance(compared, Comparison):
            return False
        return expectations.examine(compared, expect, on).verdict == REPRODUCED

    # --- machine and provenance ------------------------------------------------------------------

    def machine(self, what: str = "summary") -> str:
        """A fact about the machine: summary, cpu, cores, threads, caches, memory, os, ..."""
        raw = self.measured.result.raw
        machine, cpu = raw["machine"], raw["machine"]["cpu"]
        facts: dict[str, Callable[[], str]] = {
            "summary": lambda: blocks.machine_summary(machine),
            "cpu": lambda: cpu["model"],
            "architecture": lambda: cpu["architecture"],
            "cores": lambda: str(cpu["cores"]),
            "threads": lambda: str(cpu["hardware_threads"]),
            "sockets": lambda: str(cpu["sockets"]),
            "caches": lambda: blocks.caches(machine),
            "last_level_cache": lambda: notation.size(cpu["last_level_cache_bytes"]),
            "memory": lambda: notation.size(machine["memory_bytes"]),
            "os": lambda: machine["os"],
            "compiler": lambda: raw["build"]["compiler"],
            "gpu": lambda: blocks.gpus(machine) or "no GPU",
        }
        if what not in facts:
            raise UserError(f'machine: found "{what}", expected one of {", ".join(facts)}')
        return facts[what]()

    def run(self, title: str) -> Self:
        """The same verbs about a run that this machine kept under a title."""
        for one in self.survey.runs(title):
            if one.machine == self.machine_name:
                return replace(self, measured=one.measured)
        raise UserError(f'run: {self.machine_name} has kept no run "{title}"')

    # --- all machines ----------------------------------------------------------------------------

    def tally(self, id: str) -> str:
        """`on 3 of the 4 machines that could tell`: where a claim was reproduced, or holds."""
        return self.survey.tally(id)

    # --- helpers ---------------------------------------------------------------------------------

    def _basis(self, over: Over, ceiling: str | None = None) -> Basis:
        return Basis(self.measured, over, ceiling)

    def _judge(self, id: str) -> Verdict:
        return claims.judge(self.measured, self.measured.experiment.claim(id))

# --- from a template to a text --------------------------------------------------------------------

TEMPLATE_FRAME = "<template>"


class Given(Extension):
    """`{% given "1.unroll" is "NOT REPRODUCED" %} ... {% endgiven %}`: a passage that is true if
    the verdict is that, or `{% given EXPRESSION %}` if the expression holds.

    It must be so, or the weave stops with the line; a verdict that is out of date counts as it was
    when it was written about.
    """

    tags = {"given"}  # noqa: RUF012 - as Jinja declares it
    environment: "Weaver"

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
        verbs = self.environment.verbs
        assert isinstance(verbs, Verbs), "only a lesson's template asks for verdicts"
        for one in asked:
            if isinstance(one, tuple):
                found = verbs.verdict(one[0])
                if found not in (one[1], OUT_OF_DATE):
                    raise UserError(f'given: found "{one[0]}" {found} on the lead machine'
                                    f" {verbs.machine_name}, expected {one[1]}")
            elif not one:
                raise UserError("given: found that this does not hold on the lead machine"
                                f" {verbs.machine_name}")
        return caller()


class Speaker(Protocol):
    """What gives a template its verbs."""

    def all(self) -> dict[str, Any]:
        """Every verb by its name in the template."""


class Weaver(jinja2.Environment):
    """What templates are compiled in, and who speaks in the one that is rendered."""

    verbs: Speaker

    def __init__(self) -> None:
        super().__init__(undefined=jinja2.StrictUndefined, lstrip_blocks=True, extensions=[Given])
        self.filters |= {one.__name__: one for one in rounding.FILTERS}


@cache
def _compiled(source: str) -> CodeType:
    """A template is woven for many machines, and takes a tenth of a second to compile."""
    return Weaver().compile(source)


def render(path: Path, shown: str, verbs: Speaker) -> str:
    """The text of a template; errors name its line."""
    environment = Weaver()
    environment.verbs = verbs
    try:
        code = _compiled(files.read(path, shown))
        named = environment.make_globals(verbs.all())
        text = jinja2.Template.from_code(environment, code, named).render()
    except jinja2.TemplateSyntaxError as error:
        raise UserError(f"{shown}:{error.lineno}: {error.message}") from error
    except (UserError, jinja2.UndefinedError, TypeError) as error:
        raise UserError(f"{shown}:{_template_line(error)}: {_one_line(error)}") from error
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _template_line(error: Exception) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == TEMPLATE_FRAME]
    return lines[-1] or 0 if lines else 0


def _one_line(error: Exception) -> str:
    """A wrong call reads `table() got ...`, without the class it belongs to."""
    return str(error).replace("\n", " ").replace("Verbs.", "")

"""Style rules of reports and experiments that a compiler cannot check."""

import re
from collections.abc import Iterator
from pathlib import Path

from weave import claims
from weave.definition import Experiment

SECTIONS = ("Model", "Steps", "Results", "Why", "Try it yourself")
MAIN_LINES = 60

JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
INLINE_CODE = re.compile(r"`[^`\n]*`")
HEADING = re.compile(r"^(#+) +(.*?)\s*$", re.MULTILINE)

UNITS = (
    r"%|percent\b|[x×](?![\w])|times\b|-?fold\b|[pnuµm]?s\b|seconds?\b|minutes?\b|[kMGT]?Hz\b"
    r"|[kKMGT]?i?B(?:/s)?\b|[kMGT]?(?:FLOPS?|[Ff]lop)(?:/s)?\b|cycles?\b|m?W\b|watts?\b"
)
MEASURED_NUMBER = re.compile(rf"\d[\d.,]*(?:\s|&nbsp;|-)?(?:{UNITS})")

MAIN_RULES = (
    (
        re.compile(r"\b(?:f|s|sn)?printf\b|\bstd::(?:cout|cerr|clog)\b|\bputs\b|\bfmt::print"),
        "prints",
    ),
    (
        re.compile(
            r"\bchrono\b|\bclock_gettime\b|\bgettimeofday\b|\bomp_get_wtime\b|\bMPI_Wtime\b"
        ),
        "reads a clock",
    ),
    (re.compile(r"\bargv\s*\[|\bgetopt\b|\bCLI::"), "reads the command line"),
    (re.compile(r"^\s*#\s*(?:if|ifdef|ifndef|elif|else)\b"), "compiles conditionally"),
)


def lint(experiment: Experiment) -> list[str]:
    """Every broken rule of one experiment, as `file:line: what`."""
    return [*_report(experiment), *_program(experiment), *_definition(experiment)]


def _report(experiment: Experiment) -> Iterator[str]:
    path = experiment.folder / "report.md.in"
    shown = f"experiments/{experiment.name}/report.md.in"
    if not path.exists():
        yield f"{shown}: missing, expected the report of the experiment"
        return
    source = path.read_text(encoding="utf-8")
    prose = _prose(source)
    yield from _numbers(prose, shown)
    yield from _sections(prose, shown)
    yield from _uses(source, experiment, shown)


def _prose(source: str) -> str:
    """The text outside verbs and code, every line in its place."""
    for pattern in (JINJA, FENCE, INLINE_CODE):
        source = pattern.sub(lambda match: _blank(match[0]), source)
    return source


def _blank(text: str) -> str:
    """A verb is no number and no unit: what stands around it does not join."""
    return "".join("\n" if letter == "\n" else "\0" for letter in text)


def _numbers(prose: str, shown: str) -> Iterator[str]:
    """Numbers with a unit come through verbs, in every section after the question."""
    headings = [match for match in HEADING.finditer(prose) if len(match[1]) == 2]
    later = [match.start() for match in headings if not match[2].lower().startswith("question")]
    if not later:
        return
    for match in MEASURED_NUMBER.finditer(prose, later[0]):
        line = prose.count("\n", 0, match.start()) + 1
        yield (
            f'{shown}:{line}: found the number "{match[0]}" in prose, expected a verb:'
            " value(), speedup(), ratio(), predicted(), ceiling() or article()"
        )


def _sections(prose: str, shown: str) -> Iterator[str]:
    """A title and the question, then the sections of every report in their order."""
    headings = [(len(match[1]), match[2]) for match in HEADING.finditer(prose)]
    if not prose.startswith("# "):
        yield f"{shown}:1: found no title, expected # {{{{ title }}}}"
    names = [text for level, text in headings if level == 2]
    wanted = list(SECTIONS)
    for name in names:
        if wanted and name.lower().startswith(wanted[0].lower()):
            wanted.pop(0)
    if wanted:
        yield (
            f'{shown}: found no section "## {wanted[0]}" in its place, expected'
            f" {', '.join(SECTIONS)} in this order"
        )


def _uses(source: str, experiment: Experiment, shown: str) -> Iterator[str]:
    """Every figure is drawn, every claim is judged, provenance comes last."""
    for figure in experiment.figures:
        if not re.search(rf"""plot\.\w+\(\s*["']{re.escape(figure.id)}["']""", source):
            yield f'{shown}: the figure "{figure.id}" of experiment.toml is not drawn'
    for claim in experiment.claims:
        if not re.search(rf"""\bclaim\(\s*["']{re.escape(claim.id)}["']\s*\)""", source):
            yield f'{shown}: the claim "{claim.id}" of experiment.toml is not judged'
    verbs = re.findall(r"\{\{\s*([\w.]+)", source)
    if not verbs or verbs[-1] != "provenance":
        yield f"{shown}: found no provenance() at the end, expected it to close the report"


def _program(experiment: Experiment) -> Iterator[str]:
    for path in sorted([*experiment.folder.glob("main.cpp"), *experiment.folder.glob("main.cu")]):
        yield from _main(path, f"experiments/{experiment.name}/{path.name}")


def _main(path: Path, shown: str) -> Iterator[str]:
    """The program says what is compared with what; everything else is the harness'."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        code = line.partition("//")[0]
        for pattern, what in MAIN_RULES:
            if pattern.search(code):
                yield f"{shown}:{number}: {what}, which is the harness' work: {line.strip()}"
    body = re.search(r"^int main\(.*?^\}", text, re.DOTALL | re.MULTILINE)
    if body is None:
        yield f"{shown}: found no function main, expected `int main(int argc, char** argv)`"
    elif (length := body[0].count("\n") + 1) > MAIN_LINES:
        yield f"{shown}: main has {length} lines, expected at most {MAIN_LINES}"


def _definition(experiment: Experiment) -> Iterator[str]:
    """Claims use known words; their needs are known."""
    shown = f"experiments/{experiment.name}/experiment.toml"
    for claim in experiment.claims:
        for need in claim.needs:
            if not claims.is_need(need):
                yield f'{shown}: claim "{claim.id}": found the unknown need "{need}"'

"""Style rules of reports and experiments that a compiler cannot check."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from memwall.analysis import needs
from memwall.record import files
from memwall.record.definition import Experiment

SECTIONS = ("In short", "Claims", "Model", "Steps", "Results", "Other machines", "Why",
            "What this does not show", "Try it yourself", "Runs")
#: Words that the author of a chapter may write; a verb, whatever it says of however many machines,
#: is one of them.
MOST_WORDS = 1600
MAIN_LINES = 60

JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
FOLDED = re.compile(r"<details>(?:(?!<details>).)*?</details>", re.DOTALL)  # none inside it
TABLE = re.compile(r"^\|.*$", re.MULTILINE)
PICTURE = re.compile(r"!\[.*?\]\(.*?\)", re.DOTALL)
#: What a link leads to, and marks of HTML.
HIDDEN = re.compile(r"(?<=\])\([^()\s]*\)|</?(?:sub|sup|a|br)\b[^<>]*>")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]*`")
TREE_PATH = re.compile(r"`((?:lib|experiments|datasets|reports)/[\w./-]+)`")
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
    return [*_template(experiment), *_program(experiment), *_definition(experiment)]


def _length(source: str, experiment: Experiment, shown: str) -> Iterator[str]:
    """A chapter teaches in as many words as a reader has patience for; what is folded is for those
    who ask. No result can change their number."""
    words, most = visible_words(JINJA.sub("verb", source)), experiment.most_words or MOST_WORDS
    if words > most:
        yield f"{shown}: found {words} words outside what is folded, expected at most {most}"


def visible_words(text: str) -> int:
    """Words of prose: without what is folded, code, tables and pictures."""
    while FOLDED.search(text):
        text = FOLDED.sub("", text)
    for pattern in (FENCE, TABLE, PICTURE, COMMENT, HIDDEN):
        text = pattern.sub("", text)
    return len(re.findall(r"[^\W_]+(?:[-.'’][^\W_]+)*", text))


def _template(experiment: Experiment) -> Iterator[str]:
    path = experiment.folder / "report.md.in"
    shown = f"experiments/{experiment.name}/report.md.in"
    if not path.exists():
        yield f"{shown}: missing, expected the report of the experiment"
        return
    source = files.read(path, shown)
    prose = _prose(source)
    yield from _numbers(prose, shown)
    yield from _sections(prose, shown, [s for s in SECTIONS if experiment.claims or s != "Claims"])
    yield from _uses(source, experiment, shown)
    yield from _paths(source, experiment.folder.parents[1], shown)
    yield from _length(source, experiment, shown)


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


def _sections(prose: str, shown: str, sections: Sequence[str]) -> Iterator[str]:
    """A title and the question, then the sections of every chapter in their order."""
    headings = [(len(match[1]), match[2]) for match in HEADING.finditer(prose)]
    if not prose.startswith("# "):
        yield f"{shown}:1: found no title, expected # {{{{ title }}}}"
    names = [text for level, text in headings if level == 2]
    wanted = list(sections)
    for name in names:
        if wanted and name.lower().startswith(wanted[0].lower()):
            wanted.pop(0)
    if wanted:
        yield (
            f'{shown}: found no section "## {wanted[0]}" in its place, expected'
            f" {', '.join(sections)} in this order"
        )


def _uses(source: str, experiment: Experiment, shown: str) -> Iterator[str]:
    """Every figure is drawn, claims are shown, the runs come last."""
    for figure in experiment.figures:
        if not re.search(rf"""plot\.\w+\(\s*["']{re.escape(figure.id)}["']""", source):
            yield f'{shown}: the figure "{figure.id}" of experiment.toml is not drawn'
    if experiment.claims and not re.search(r"\{\{ *claims\(", source):
        yield f"{shown}: the claims of experiment.toml are not shown, expected {{{{ claims() }}}}"
    verbs = re.findall(r"\{\{\s*([\w.]+)", source)
    if not verbs or verbs[-1] != "runs":
        yield f"{shown}: found no runs() at the end, expected it to close the chapter"


def _paths(source: str, root: Path, shown: str) -> Iterator[str]:
    """A file that a reader is sent to exists."""
    for match in TREE_PATH.finditer(source):
        if not (root / match[1]).exists():
            line = source.count("\n", 0, match.start()) + 1
            yield f'{shown}:{line}: found "{match[1]}", expected a file or folder of this tree'


def _program(experiment: Experiment) -> Iterator[str]:
    for path in sorted([*experiment.folder.glob("main.cpp"), *experiment.folder.glob("main.cu")]):
        yield from _main(path, f"experiments/{experiment.name}/{path.name}")


def _main(path: Path, shown: str) -> Iterator[str]:
    """The program says what is compared with what; everything else is the harness'."""
    text = files.read(path, shown)
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
            if not needs.is_known(need):
                yield f'{shown}: claim "{claim.id}": found the unknown need "{need}"'

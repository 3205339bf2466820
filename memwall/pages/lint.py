"""Style rules of experiments that a compiler cannot check."""

import re
from collections.abc import Iterator
from pathlib import Path

from memwall.analysis import needs
from memwall.record import files, machines
from memwall.record.definition import Experiment

MAIN_LINES = 60

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
    return [*_program(experiment), *_definition(experiment)]


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
    """Needs of claims are known; captions, which stand in the report of any machine, name none."""
    shown = f"experiments/{experiment.name}/experiment.toml"
    for figure in experiment.figures:
        for machine in machines.listed(experiment.folder.parents[1]):
            if machine in figure.caption:
                yield f'{shown}: figure "{figure.id}": found the machine {machine} in the caption'
    for claim in experiment.claims:
        for need in claim.needs:
            if not needs.is_known(need):
                yield f'{shown}: claim "{claim.id}": found the unknown need "{need}"'

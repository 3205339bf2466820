"""`python -m weave COMMAND`: see `--help`. None of the commands measures. `check` holds reports and
experiments to rules of style, too."""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from weave import (
    book,
    claims,
    definition,
    errors,
    files,
    machines,
    names,
    results,
    runs,
    scorecard,
    terminal,
)
from weave.definition import Experiment, WeaveError

#: Of `just new NAME`: a small experiment that already builds, runs, weaves and passes the checks.
TEMPLATES = Path(__file__).with_name("new_experiment")
FILES = ("main.cpp", "kernels.hpp", "report.md.in", "experiment.toml", "meson.build")
SUBDIR = re.compile(r"subdir\('([\w-]+)'\)")  # that stands under no condition


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    return errors.exit_code(lambda: _command(arguments))


def _command(arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="weave", description="Weave what was measured.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    for module in (runs, scorecard):
        module.add_commands(commands)
    chosen = parser.parse_args(arguments)
    return chosen.command(chosen)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the weaver's commands to the command line."""
    report = commands.add_parser("report", help="weave chapters, the scorecard and README.md; of a"
                                 " machine also all its pages")
    report.add_argument("machine", nargs="?", help="folder below reports/")
    report.set_defaults(command=_report)

    page = commands.add_parser("page", help="weave a single run; nothing else is touched")
    page.add_argument("result", type=Path, help="result file")
    page.add_argument("--output", type=Path, help="folder; default: the result's")
    page.set_defaults(command=_page)

    keep = commands.add_parser("keep", help="put a run of build/runs/ into a machine's folder")
    keep.add_argument("result", type=Path, help="folder of a run, or a result file")
    keep.add_argument("title", help="what to call it: lower-case words-with-hyphens")
    keep.add_argument("--machine", help="the folder; default: that of the machine that measured")
    keep.set_defaults(command=_keep)

    check = commands.add_parser("check", help="compare every woven file with a fresh weave")
    check.set_defaults(command=_check)

    new = commands.add_parser("new", help="start a new experiment")
    new.add_argument("name")
    new.set_defaults(command=_new)


def _patience() -> None:
    """Says what takes a while, where somebody waits for it."""
    if sys.stderr.isatty():
        print("reading all results and weaving every page: about half a minute", file=sys.stderr)


def _report(arguments: argparse.Namespace) -> int:
    _patience()
    if arguments.machine is not None:
        names.require(arguments.machine, "report")
    with book.alone(arguments.root):
        if arguments.machine is not None:
            house = book.weave_machine(arguments.root, arguments.machine)
            _left_out(house)
            print(f"wove build/reports/{arguments.machine}/")
            return 0
        house = book.weave_all(arguments.root)
    _left_out(house)
    print(f"wove {len(house.experiments)} chapters, {len(house.machines)} machines, the scorecard"
          " and README.md")
    return 0


def _left_out(house: book.House) -> None:
    """Says which results count in nothing."""
    for line in house.left_out:
        print(f"left out: {line}", file=sys.stderr)


def _page(arguments: argparse.Namespace) -> int:
    folder = arguments.output or arguments.result.parent
    result = results.load(arguments.result)
    print(f"wove {book.weave_page(arguments.root, result, folder)}")
    return 0


def _keep(arguments: argparse.Namespace) -> int:
    _patience()
    with book.alone(arguments.root):
        kept_as = runs.keep(arguments.root, arguments.result, arguments.title, arguments.machine)
    print(f"kept {kept_as.relative_to(arguments.root)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    _patience()
    house = book.read(arguments.root)
    _left_out(house)
    texts = book.everything(house)
    problems = [line for machine in house.machines for line in house.hindrances(machine)]
    problems += [problem for experiment in house.experiments for problem in lint(experiment)]
    problems += book.differences(arguments.root, texts)
    others = machines.unlisted(arguments.root)
    problems += [problem for other in others for problem in book.unsound(arguments.root, other)]
    problems += [f"{path.relative_to(arguments.root)}: {large}"
                 for path in (one.result.path for one in house.found)
                 if (large := results.too_large(path.stat().st_size))]
    for problem in problems:
        print(terminal.harmless(problem))
    experiments, stored = len(house.experiments), len(house.found)
    print(f"checked {experiments} experiments and {stored} results: {len(problems)} problems")
    if others:
        print(f"of {', '.join(others)} only that the results can be read: {machines.LIST} does not"
              " list them")
    return 1 if problems else 0


def create(root: Path, name: str) -> list[Path]:
    """Writes the files of a new experiment and registers it; nothing that exists is changed. One
    that stands there as it would be written is not refused: the command before may have been ended.
    """
    folder = root / "experiments" / names.require_target(name)
    texts = {file: _filled_in(files.read(TEMPLATES / file), name) for file in FILES}
    if not all((folder / file).is_file() and files.read(folder / file) == text
               for file, text in texts.items()):
        if folder.exists():
            raise WeaveError(f"new: experiments/{name} exists already, expected another name")
        with files.whole_folder(folder, root) as made:
            for file, text in texts.items():
                files.write(made / file, text)
    if not (folder / "README.md").exists():
        files.write(folder / "README.md", book.not_measured(definition.load(root, name)))
    _register(root / "experiments/meson.build", name)
    return [folder / file for file in (*FILES, "README.md")]


def _filled_in(template: str, name: str) -> str:
    """The text of a new experiment's file."""
    words = {"@NAME@": name, "@MARK@": name.replace("-", "_"), "@TITLE@": title(name)}
    for word, meant in words.items():
        template = template.replace(word, meant)
    return template


def title(name: str) -> str:
    """A name as the beginning of a sentence."""
    return name.replace("-", " ").capitalize()


def _register(path: Path, name: str) -> None:
    """Adds the folder, once, to those that every machine can build, which are sorted."""
    lines = files.read(path).splitlines()
    if f"subdir('{name}')" in lines:
        return
    others = (SUBDIR.fullmatch(line) for line in lines)
    later = (at for at, other in enumerate(others) if other and other[1] > name)
    lines.insert(next(later, len(lines)), f"subdir('{name}')")
    files.write(path, "\n".join([*lines, ""]))


def _new(given: argparse.Namespace) -> int:
    with book.alone(given.root):
        for path in create(given.root, given.name):
            print(path.relative_to(given.root))
    print(f"now: just run {given.name}")
    return 0


# --- style rules that a compiler cannot check -----------------------------------------------------

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
            if not claims.is_need(need):
                yield f'{shown}: claim "{claim.id}": found the unknown need "{need}"'


if __name__ == "__main__":
    sys.exit(main())

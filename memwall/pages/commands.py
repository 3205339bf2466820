"""The commands that show what was measured; none of them measures. `check` holds reports and
experiments to rules of style, too."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from memwall.pages import (
    agenda,
    articles,
    book,
    compare,
    contribute,
    keep,
    lesson_lint,
    new,
    weaving,
)
from memwall.pages.contribute import UnmetNeed
from memwall.pages.lint import lint
from memwall.record import definition, escape, files, machines, names, results, terminal
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.record.machines import Machine

#: What this machine is.
Describe = Callable[[argparse.Namespace], Machine]
#: What students read, by the names of experiments, of a tree.
Handouts = Callable[[Path], dict[str, str]]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
                 describe: Describe, unmet_need: UnmetNeed, handouts: Handouts) -> None:
    """Adds what this room does to the command line. `contribute` asks what this machine is, and why
    a machine cannot run an experiment; `site` what students of each kit read."""
    report = commands.add_parser("report", help="weave reports, short pages, the scorecard and"
                                 " README.md; of a machine also its own reports")
    report.add_argument("machine", metavar="MACHINE", nargs="?", help="folder below reports/")
    report.set_defaults(command=_report)

    drawn = commands.add_parser("figures", help="every figure of the articles on one page",
                                usage="just figures [MACHINE]")
    drawn.add_argument("machine", metavar="MACHINE", nargs="?",
                       help="folder below reports/; default: this machine's")
    drawn.set_defaults(command=lambda given: _figures(given, describe))

    page = commands.add_parser("page", help="weave a single run; nothing else is touched")
    page.add_argument("result", type=Path, help="result file")
    page.add_argument("--output", type=Path, help="folder; default: the result's")
    page.set_defaults(command=_page)

    kept = commands.add_parser("keep", help="put a run of build/runs/ into a machine's folder")
    kept.add_argument("result", metavar="RESULT", type=Path,
                      help="a result file, or the folder of a run")
    kept.add_argument("title", metavar="TITLE",
                      help="what to call it: lower-case words-with-hyphens")
    kept.add_argument("--machine", help="the folder; default: that of the machine that measured")
    kept.set_defaults(command=_keep)

    check = commands.add_parser("check", help="compare every woven file with a fresh weave")
    check.set_defaults(command=_check)

    begin = commands.add_parser("new", help="start a new experiment")
    begin.add_argument("name", metavar="NAME", help="lower-case words-with-hyphens")
    begin.set_defaults(command=_new)

    both = commands.add_parser("compare", help="compare two results, runs or machines")
    for name, what in (("a", "result file, folder of a run, or machine (a name below reports/)"),
                       ("b", "what to compare with it")):
        both.add_argument(name, metavar=name.upper(), help=what)
    both.add_argument("--all", action="store_true", help="show what is alike or undecided too")
    both.add_argument("--markdown", action="store_true", help="tables for a page or a comment")
    both.set_defaults(command=_compare)

    house = commands.add_parser("site", help="everything as one site, readable from a folder",
                                usage="just site")
    house.set_defaults(command=lambda given: _site(given, handouts))

    decide = commands.add_parser("claims", help="list what decides each claim")
    decide.add_argument("experiment", metavar="EXPERIMENT", nargs="?",
                        help="only the claims of this one")
    shape = decide.add_mutually_exclusive_group()
    shape.add_argument("--markdown", action="store_true", help="as a table for a page")
    shape.add_argument("--json", action="store_true", help="as JSON")
    decide.set_defaults(command=_claims)

    packs = commands.add_parser("contribute", help="check and pack a machine's folder",
                                usage="just contribute [--machine NAME]")
    packs.add_argument("--machine", metavar="NAME",
                       help="the folder below reports/; default: this machine's")
    packs.set_defaults(command=lambda given: _contribute(given, describe, unmet_need))


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
    for problem in _lints(house, lambda name: files.read(house.root / _lesson(name))):
        print(f"check: {terminal.harmless(problem)}", file=sys.stderr)
    print(f"wove {len(house.experiments)} reports, {len(house.machines)} machines, the scorecard"
          " and README.md")
    return 0


def _lesson(name: str) -> str:
    """Where the lesson of an experiment is woven."""
    return f"experiments/{name}/README.md"


def _lints(house: book.House, text_of: Callable[[str], str]) -> list[str]:
    """What is wrong with definitions, and with lessons though they can be woven."""
    return [problem for one in house.experiments
            for problem in (*lint(one), *lesson_lint.lint(one, text_of(one.name)))]


def _figures(given: argparse.Namespace, describe: Describe) -> int:
    root, here = given.root.resolve(), None
    name = given.machine
    if name is None:
        here = describe(given)
        name = machines.name_of(root, here).name
    elif not machines.is_machine(root / "reports" / names.require(name, "figures")):
        raise UserError(f"figures: found {name}, expected a machine's folder below reports/")
    _patience()
    folder = (given.build or root / "build").resolve() / "figures"
    with files.exclusive(folder):
        weaving.write(folder, articles.weave(root, name, here))
    print(files.shown(folder / "README.md"))
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
        kept_as = keep.keep(arguments.root, arguments.result, arguments.title, arguments.machine)
    print(f"kept {kept_as.relative_to(arguments.root)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    _patience()
    house = book.read(arguments.root)
    _left_out(house)
    texts = book.everything(house)
    problems = [line for machine in house.machines for line in house.hindrances(machine)]
    problems += _lints(house, lambda name: texts[_lesson(name)])
    problems += weaving.differences(arguments.root, texts)
    others = machines.unlisted(arguments.root)
    problems += [problem for other in others for problem in book.unsound(arguments.root, other)]
    problems += [f"{one.shown}: {large}" for one in house.found
                 if (large := results.too_large(len(files.read_bytes(one.result.path))))]
    for problem in problems:
        print(terminal.harmless(problem))
    experiments, stored = len(house.experiments), len(house.found)
    print(f"checked {experiments} experiments and {stored} results: {len(problems)} problems")
    if others:
        print(f"of {', '.join(others)} only that the results can be read: {machines.LIST} does not"
              " list them")
    return 1 if problems else 0


def _new(given: argparse.Namespace) -> int:
    with book.alone(given.root):
        for path in new.create(given.root, given.name):
            print(path.relative_to(given.root))
    print(f"now: ./justw run {given.name} --profile tiny")
    return 0


def _compare(given: argparse.Namespace) -> int:
    a, b = (compare.read(given.root, each, name) for each, name in ((given.a, "A"), (given.b, "B")))
    said = "\n".join(compare.text(a, b, compare.compare(a, b), given.all, given.markdown))
    print(escape.markdown(said) if given.markdown else terminal.harmless(said))
    return 0


def _site(given: argparse.Namespace, handouts: Handouts) -> int:
    from memwall.pages.site.build import build  # of all commands only this one needs the generator

    root = given.root.resolve()
    if sys.stderr.isatty():
        print("gathering pages and making the site: about half a minute", file=sys.stderr)
    first = build(root, (given.build or root / "build").resolve(),
                  lambda line: print(line, file=sys.stderr), handouts(root))
    print(files.shown(first))
    return 0


def _claims(given: argparse.Namespace) -> int:
    if given.experiment is None:
        experiments = definition.load_all(given.root)
    else:
        name = names.require_experiment(given.root, given.experiment)
        experiments = [definition.load(given.root, name)]
    items = agenda.agenda(experiments)
    if given.json:
        print(json.dumps([asdict(item) for item in items], indent=1, ensure_ascii=False))
    elif given.markdown:
        print(agenda.as_markdown(items))
    else:
        print(agenda.as_text(items))
        print(f"\n{len(items)} claims; `{agenda.ALL}` decides what this machine can,"
              f" in about {agenda.minutes_of_all(experiments)} minutes where nothing is skipped."
              " Minutes are those of the quick profile on two cores.")
    return 0


def _contribute(given: argparse.Namespace, describe: Describe, unmet_need: UnmetNeed) -> int:
    root, console = given.root.resolve(), Console()
    if given.machine is not None:
        machine = names.require(given.machine, "--machine")
    else:
        named = machines.name_of(root, describe(given))
        machine = named.name
        if named.why:
            console.line(named.why)
    build = (given.build or root / "build").resolve()
    with book.alone(root):
        return contribute.contribute(root, build, machine, unmet_need, console,
                                     contribute.own_names())

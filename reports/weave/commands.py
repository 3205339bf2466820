"""The commands that weave: `book`, `page`, `keep`, `check`. None of them measures."""

import argparse
from pathlib import Path

from weave import book, kept, lint, results


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the weaver's commands to the command line."""
    weave_book = commands.add_parser("book", help="weave chapters, the scorecard and README.md; of a machine also all its pages")
    weave_book.add_argument("machine", nargs="?", help="folder below reports/")
    weave_book.set_defaults(command=_book)

    page = commands.add_parser("page", help="weave a single run; no book is touched")
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


def _book(arguments: argparse.Namespace) -> int:
    if arguments.machine:
        folder = book.weave_machine(arguments.root, arguments.machine)
        print(f"wove {folder.relative_to(arguments.root)}/")
        return 0
    house = book.weave_all(arguments.root)
    print(f"wove {len(house.experiments)} chapters, {len(house.machines)} machines, the scorecard"
          " and README.md")
    return 0


def _page(arguments: argparse.Namespace) -> int:
    folder = arguments.output or arguments.result.parent
    result = results.load(arguments.result)
    print(f"wove {book.weave_page(arguments.root, result, folder)}")
    return 0


def _keep(arguments: argparse.Namespace) -> int:
    kept_as = kept.keep(arguments.root, arguments.result, arguments.title, arguments.machine)
    print(f"kept {kept_as.relative_to(arguments.root)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    house = book.read(arguments.root)
    texts = book.everything(house)
    problems = [problem for experiment in house.experiments
                for problem in lint.lint(experiment, texts)]
    problems += book.differences(arguments.root, texts)
    for problem in problems:
        print(problem)
    experiments, stored = len(house.experiments), len(house.found)
    print(f"checked {experiments} experiments and {stored} results: {len(problems)} problems")
    return 1 if problems else 0

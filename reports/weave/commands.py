"""The commands that weave: `book`, `page`, `keep`, `check`, `scorecard`. None of them measures."""

import argparse
from pathlib import Path

from weave import book, kept, lint, results


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the weaver's commands to the command line."""
    weave_book = commands.add_parser("book", help="weave books, experiment pages and the scorecard")
    weave_book.add_argument("machine", nargs="?", help="folder below reports/; default: all")
    weave_book.set_defaults(command=_book)

    page = commands.add_parser("page", help="weave a single run; no book is touched")
    page.add_argument("result", type=Path, help="result file")
    page.add_argument("--output", type=Path, help="folder; default: the result's")
    page.set_defaults(command=_page)

    keep = commands.add_parser("keep", help="put a run of build/runs/ into a machine's book")
    keep.add_argument("result", type=Path, help="folder of a run, or a result file")
    keep.add_argument("title", help="what to call it: lower-case words-with-hyphens")
    keep.add_argument("--machine", help="the book; default: that of the machine that measured")
    keep.set_defaults(command=_keep)

    check = commands.add_parser("check", help="compare every woven file with a fresh weave")
    check.set_defaults(command=_check)

    scorecard = commands.add_parser(
        "scorecard", help="weave reports/README.md and experiment pages"
    )
    scorecard.set_defaults(command=_scorecard)


def _book(arguments: argparse.Namespace) -> int:
    if arguments.machine:
        book.weave_book(arguments.root, arguments.machine)
        print(f"wove reports/{arguments.machine}/README.md")
        return 0
    house = book.read(arguments.root)
    texts = book.everything(house)
    book.remove_obsolete(arguments.root, texts)
    book.write(arguments.root, texts)
    for machine in house.machines:
        print(f"wove reports/{machine}/README.md")
    return 0


def _page(arguments: argparse.Namespace) -> int:
    folder = arguments.output or arguments.result.parent
    result = results.load(arguments.result)
    print(f"wove {book.weave_page(arguments.root, result, folder)}")
    return 0


def _keep(arguments: argparse.Namespace) -> int:
    print(f"wove {kept.keep(arguments.root, arguments.result, arguments.title, arguments.machine)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    house = book.read(arguments.root)
    problems = [problem for experiment in house.experiments for problem in lint.lint(experiment)]
    problems += book.differences(arguments.root, book.everything(house))
    for problem in problems:
        print(problem)
    experiments, stored = len(house.experiments), len(house.entries) + len(house.kept)
    print(f"checked {experiments} experiments and {stored} results: {len(problems)} problems")
    return 1 if problems else 0


def _scorecard(arguments: argparse.Namespace) -> int:
    book.write(arguments.root, book.scorecard(book.read(arguments.root)))
    print("wove reports/README.md")
    return 0

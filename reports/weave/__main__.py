"""`python -m weave COMMAND`: see `--help`. None of the commands measures."""

import argparse
import re
import signal
import sys
from pathlib import Path

from weave import agenda, book, lint, results, runs
from weave.errors import WeaveError

#: Of `just new NAME`: a small experiment that already builds, runs, weaves and passes the checks.
TEMPLATES = Path(__file__).with_name("new_experiment")
FILES = ("main.cpp", "kernels.hpp", "report.md.in", "experiment.toml", "meson.build")
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="weave", description="Weave what was measured.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    for module in (runs, agenda):
        module.add_commands(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.command(chosen)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


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
    _patience()
    kept_as = runs.keep(arguments.root, arguments.result, arguments.title, arguments.machine)
    print(f"kept {kept_as.relative_to(arguments.root)}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    _patience()
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


def create(root: Path, name: str) -> list[Path]:
    """Writes the files of a new experiment and registers it; nothing that exists is changed."""
    if not NAME.fullmatch(name):
        raise WeaveError(f"found the name {name!r}, expected lower-case words and hyphens: my-idea")
    folder = root / "experiments" / name
    if folder.exists():
        raise WeaveError(f"experiments/{name} exists already")
    texts = {file: (TEMPLATES / file).read_text(encoding="utf-8") for file in FILES}
    folder.mkdir()
    for file, text in texts.items():
        (folder / file).write_text(text.replace("@NAME@", name).replace("@TITLE@", title(name)))
    _register(root / "experiments/meson.build", name)
    return [folder / file for file in FILES]


def title(name: str) -> str:
    """A name as the beginning of a sentence."""
    return name.replace("-", " ").capitalize()


def _register(path: Path, name: str) -> None:
    """Adds the folder behind the others."""
    text = path.read_text()
    separator = "" if not text or text.endswith("\n") else "\n"
    path.write_text(f"{text}{separator}subdir('{name}')\n")


def _new(given: argparse.Namespace) -> int:
    for path in create(given.root, given.name):
        print(path.relative_to(given.root))
    book.weave_all(given.root)
    print(f"now: just run {given.name}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `just claims | head` ends quietly
    sys.exit(main())

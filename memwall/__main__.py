"""`python -m memwall COMMAND`, which the recipes of the Justfile call.

The only place that knows both what measures (`run`, `study`, `grade`) and what shows (`pages`). A
command loads the room that it is in and no other, so that the archive of a grader, which calls this
too, can leave the others out.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memwall.record import errors, files

if TYPE_CHECKING:  # an archive that grades carries no results
    from memwall.record.results import Result

Commands = Any  # what argparse calls _SubParsersAction


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    return errors.exit_code(lambda: _command(words))


def _command(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="memwall",
                                     description="Measure, and show what was found.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1],
                        help="the repository; default: this one")
    parser.add_argument("--build", type=Path, help="where programs are; default: build/ there")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", prog="just")
    asked = [add for add, names in ROOMS.items() if set(names) & set(words)]
    for add in asked or ROOMS:
        add(commands)
    given = parser.parse_args(words)
    code: int = given.command(given)
    return code


class _Pages:
    """Weaves what was measured, with what only then is loaded."""

    def of_run(self, root: Path, result: "Result", folder: Path) -> Path:
        from memwall.pages import book

        return book.weave_page(root, result, folder)

    def of_machine(self, root: Path, machine: str) -> object:
        from memwall.pages import book

        return book.weave_machine(root, machine)

    def of_ceilings(self, root: Path, result: "Result", folder: Path) -> str:
        from memwall.pages import machine

        return machine.show(root, result, folder)


def _drawn(file: Path) -> str:
    """Draws the page of a study or a trial; what to say of it."""
    from memwall.pages import study

    return files.shown(study.draw(file))


def _add_run(commands: Commands) -> None:
    from memwall.run import commands as room

    room.add_commands(commands, _Pages())


def _add_study(commands: Commands) -> None:
    from memwall.study import commands as room

    room.add_commands(commands, "just ", _drawn)


def _add_pages(commands: Commands) -> None:
    from memwall.pages import commands as room
    from memwall.run.launches import unmet_need
    from memwall.run.workspace import Workspace, describe_machine

    room.add_commands(commands, lambda given: describe_machine(Workspace.of(given)), unmet_need,
                      _handouts)


def _handouts(root: Path) -> dict[str, str]:
    """What students of each kit read, by the kit's name."""
    from memwall.grade import assignment
    from memwall.record import kits

    return {name: assignment.handout(kits.load(folder))
            for name, folder in kits.all_folders(root).items()}


def _add_grade(commands: Commands) -> None:
    from memwall.grade import commands as room
    from memwall.pages import class_pages, grades

    class Pages:
        """Who shows grades, and whole classes."""

        write, gradescope = staticmethod(grades.write), staticmethod(grades.gradescope)
        write_class = staticmethod(class_pages.write)

    room.add_commands(commands, Pages())


#: Which commands each room has, in the order of the help, and how they are added.
ROOMS = {
    _add_run: ("machine", "run", "run-all", "profile", "slurm", "folder"),
    _add_study: ("study", "try"),
    _add_pages: ("report", "figures", "page", "keep", "compare", "claims", "contribute", "check",
                 "new", "site"),
    _add_grade: ("assignment", "grade", "rehearse", "class",
                 "platforms", "gradescope", "autolab"),
}

if __name__ == "__main__":
    sys.exit(main())

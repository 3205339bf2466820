"""`run-all` and `run` of a bundle: they measure where there is no toolchain and no weaver."""

import argparse
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weave.console import Console
from weave.errors import WeaveError
from weave.launch import ProgramFailed
from weave.measure import Workspace
from weave.plan import PROFILES
from weave.run_all import describe_machine, run_all
from weave.run_one import run_one

INTERRUPTED = 130


def main(root: Path, arguments: list[str] | None = None) -> int:
    """`run-all` measures every experiment below `root` into `root/reports/`, `run` one of them into
    `root/build/runs/`; both say how the results come home."""
    parser = argparse.ArgumentParser(description="Measure on this machine.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    every = commands.add_parser("run-all", help="measure every experiment into a book")
    every.add_argument("--profile", choices=PROFILES, default="quick")
    every.add_argument("--machine", help="name of the book; default: made from the hardware")
    every.set_defaults(command=_run_all)
    one = commands.add_parser("run", help="measure one experiment", add_help=False)
    one.add_argument("name")
    one.add_argument("arguments", nargs=argparse.REMAINDER)
    one.set_defaults(command=_run)
    given = parser.parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    try:
        return given.command(Workspace(root, root / "build"), given)
    except ProgramFailed as error:
        print(error, file=sys.stderr)
        return error.code
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED


def _run_all(workspace: Workspace, given: argparse.Namespace) -> int:
    machine = describe_machine(workspace, given.machine)
    _require_instructions(machine["cpu"])
    code = run_all(workspace, given.profile, given.machine, Console(), None)
    slug = machine["slug"]
    print(f"copy reports/{slug} to reports/ of a checkout, then weave it there: just report {slug}")
    return code


def _run(workspace: Workspace, given: argparse.Namespace) -> int:
    _require_instructions(describe_machine(workspace, None)["cpu"])
    code = run_one(workspace, given.name, given.arguments, Console(), None)
    print("copy that to a checkout, then keep it there under a title: just keep RESULT TITLE")
    return code


def _require_instructions(cpu: Mapping[str, Any]) -> None:
    """Bundles are built for x86-64-v3, or for any processor of another architecture."""
    lacking = {"avx2", "fma"} - set(cpu["instruction_sets"])
    if cpu["architecture"] == "x86_64" and lacking:
        raise WeaveError(f"this processor lacks {' and '.join(sorted(lacking))}, which the programs"
                         " were built for")


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

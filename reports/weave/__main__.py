"""`python -m weave COMMAND`: see `--help`."""

import argparse
import sys
from pathlib import Path

from weave import commands as weaver
from weave import compare_runs, scaffold
from weave.errors import WeaveError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="weave", description="Weave what was measured.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for module in (weaver, compare_runs, scaffold):
        module.add_commands(commands)
    chosen = parser.parse_args(arguments)
    try:
        return chosen.command(chosen)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

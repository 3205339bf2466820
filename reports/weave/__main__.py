"""`python -m weave COMMAND`: see `--help`."""

import argparse
import sys
from pathlib import Path

from weave.commands import add_commands
from weave.errors import WeaveError


def main() -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="weave", description="Weave results into reports.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_commands(commands)
    arguments = parser.parse_args()
    try:
        return arguments.command(arguments)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())

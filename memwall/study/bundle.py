"""`study` and `try` of a bundle: what draws pages is not there, so a checkout draws them."""

import argparse
import sys
from pathlib import Path

from memwall.record import errors, files
from memwall.study import commands


def main(root: Path, arguments: list[str] | None = None) -> int:
    """Runs one command in the bundle `root`; a user's error is one line and exit code 2."""
    return errors.exit_code(lambda: _chosen(root, arguments))


def _chosen(root: Path, arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(description="Your matrix, your kernel.")
    parser.set_defaults(root=root, build=None)
    commands.add_commands(parser.add_subparsers(required=True, metavar="COMMAND"), "", _written)
    given = parser.parse_args(arguments)
    return given.command(given)


def _written(file: Path) -> str:
    return f"{files.shown(file)}: a page is made of it in a checkout: just study {file.name}"


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

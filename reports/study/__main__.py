"""`python -m study COMMAND`: see `--help`."""

import argparse
import sys
from pathlib import Path

from measure.launch import guarded
from measure.plan import Console
from measure.workspace import Workspace
from study.kernel import KINDS, try_kernel
from study.matrix import study_all
from weave.errors import WeaveError


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    parser = argparse.ArgumentParser(prog="study", description="Your matrix, your kernel.")
    root = Path(__file__).resolve().parents[2]
    parser.add_argument("--root", type=Path, default=root, help="the repository; default: this one")
    parser.add_argument("--build", type=Path, help="where the programs are; default: build/")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    matrix = commands.add_parser("matrix", prog="just study", help="a page about each matrix",
                                 usage="just study FILE.mtx...")
    matrix.add_argument("files", type=Path, nargs="+", metavar="FILE", help=".mtx or .mtx.gz")
    matrix.set_defaults(command=lambda given: study_all(_workspace(given), given.files, Console()))
    kernel = commands.add_parser("try", prog="just try", help="a kernel of yours among ours",
                                 usage="just try FILE --as KIND [--matrix NAME...]")
    kernel.add_argument("file", type=Path, metavar="FILE", help="a file .cpp or .cu")
    kernel.add_argument("--as", dest="kind", choices=KINDS, required=True,
                        help="what it does: y = A x on one thread, or on all")
    kernel.add_argument("--matrix", nargs="+", default=[], help="of the catalogue, or files")
    kernel.set_defaults(command=lambda given: try_kernel(
        _workspace(given), given.file, given.kind, given.matrix, Console()))
    chosen = parser.parse_args(arguments)
    try:
        return guarded(lambda: chosen.command(chosen))
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2


def _workspace(given: argparse.Namespace) -> Workspace:
    root = given.root.resolve()
    return Workspace(root, (given.build or root / "build").resolve())


if __name__ == "__main__":
    sys.exit(main())

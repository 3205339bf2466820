"""The commands `study` and `try`, in a checkout and in a bundle: only who makes pages differs."""

import argparse
from collections.abc import Callable
from pathlib import Path

from measure.launch import Console
from measure.workspace import Workspace
from study.kernel import KINDS, try_kernel
from study.matrix import study_all
from weave import errors

ROOT = Path(__file__).resolve().parents[2]

#: What is done with a `study.json` or `try.json`, and what is said of it.
Finish = Callable[[Workspace, Path], str]


def main(prefix: str, finish: Finish, arguments: list[str] | None = None) -> int:
    """Runs one command; a user's error is one line and exit code 2."""
    return errors.exit_code(lambda: _command(prefix, finish, arguments))


def _command(prefix: str, finish: Finish, arguments: list[str] | None) -> int:
    parser = argparse.ArgumentParser(prog="study", description="Your matrix, your kernel.")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository; default: this one")
    parser.add_argument("--build", type=Path, help="where the programs are; default: build/")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    matrix = commands.add_parser("study", prog=f"{prefix}study", help="a page about each matrix",
                                 usage=f"{prefix}study FILE...")
    matrix.add_argument("files", type=Path, nargs="+", metavar="FILE",
                        help=".mtx, .mtx.gz; or a study.json or try.json from another machine")
    matrix.set_defaults(command=_study)
    kernel = commands.add_parser("try", prog=f"{prefix}try", help="a kernel of yours among ours",
                                 usage=f"{prefix}try FILE --as KIND [--matrix NAME...]")
    kernel.add_argument("file", type=Path, metavar="FILE", help="a file .cpp or .cu")
    kernel.add_argument("--as", dest="kind", choices=KINDS, required=True,
                        help="what it does: y = A x on one thread, or on all")
    kernel.add_argument("--matrix", nargs="+", default=[], help="of the catalogue, or files")
    kernel.set_defaults(command=_try)
    given = parser.parse_args(arguments)
    root = given.root.resolve()
    workspace = Workspace(root, (given.build or root / "build").resolve())
    return given.command(given, workspace, lambda file: finish(workspace, file))


def _study(given: argparse.Namespace, workspace: Workspace, finish: Callable[[Path], str]) -> int:
    written = [file for file in given.files if file.suffix == ".json"]
    for file in written:
        print(finish(file))
    matrices = [file for file in given.files if file not in written]
    return study_all(workspace, matrices, Console(), finish) if matrices else 0


def _try(given: argparse.Namespace, workspace: Workspace, finish: Callable[[Path], str]) -> int:
    return try_kernel(workspace, given.file, given.kind, given.matrix, Console(), finish)

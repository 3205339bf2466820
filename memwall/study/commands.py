"""The commands `study` and `try`, in a checkout and in a bundle: only who makes pages differs."""

import argparse
from collections.abc import Callable
from pathlib import Path

from memwall.record.console import Console
from memwall.run.schedule import PROFILES
from memwall.run.workspace import Workspace
from memwall.study.kernel import KINDS, try_kernel
from memwall.study.matrix import study_all
from memwall.study.measuring import USUAL_PROFILE

#: What is done with a `study.json` or `try.json`, and what is said of it.
Finish = Callable[[Path], str]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]", prefix: str,
                 finish: Finish) -> None:
    """Adds both to a command line, on which people call them with a prefix."""
    matrix = commands.add_parser("study", prog=f"{prefix}study", help="a page about each matrix",
                                 usage=f"{prefix}study [--profile PROFILE] FILE...")
    matrix.add_argument("--profile", choices=PROFILES, default=USUAL_PROFILE,
                        help="how long; tiny: seconds, to see what a page is like")
    matrix.add_argument("files", type=Path, nargs="+", metavar="FILE",
                        help=".mtx, .mtx.gz; or a study.json or try.json from another machine")
    matrix.set_defaults(command=lambda given: _study(given, finish))
    kernel = commands.add_parser("try", prog=f"{prefix}try", help="a kernel of yours among ours",
                                 usage=f"{prefix}try FILE --as KIND [--matrix NAME...]")
    kernel.add_argument("file", type=Path, metavar="FILE", help="a file .cpp or .cu")
    kernel.add_argument("--as", dest="kind", choices=KINDS, required=True,
                        help="what it does: y = A x on one thread, or on all")
    kernel.add_argument("--matrix", nargs="+", default=[], help="of the catalogue, or files")
    kernel.set_defaults(command=lambda given: _try(given, finish))


def _study(given: argparse.Namespace, finish: Finish) -> int:
    written = [file for file in given.files if file.suffix == ".json"]
    for file in written:
        print(finish(file))
    matrices = [file for file in given.files if file not in written]
    if not matrices:
        return 0
    return study_all(Workspace.of(given), matrices, given.profile, Console(), finish)


def _try(given: argparse.Namespace, finish: Finish) -> int:
    return try_kernel(Workspace.of(given), given.file, given.kind, given.matrix, Console(), finish)

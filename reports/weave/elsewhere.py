"""`run-all` of a bundle: measures on a machine that has no toolchain and cannot weave."""

import argparse
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weave.console import Console
from weave.errors import WeaveError
from weave.measure import Workspace
from weave.plan import PROFILES
from weave.run_all import describe_machine, run_all

INTERRUPTED = 130


def main(root: Path, arguments: list[str] | None = None) -> int:
    """Measures everything below `root` into `root/reports/`, and says how it comes home."""
    parser = argparse.ArgumentParser(prog="run-all", description="Measure every experiment.")
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument("--machine", help="name of the book; default: made from the hardware")
    given = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    workspace = Workspace(root, root / "build")
    try:
        machine = describe_machine(workspace, given.machine)
        _require_instructions(machine["cpu"])
        code = run_all(workspace, given.profile, given.machine, Console(), None)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    slug = machine["slug"]
    print(f"copy reports/{slug} to reports/ of a checkout, then weave it there: just report {slug}")
    return code


def _require_instructions(cpu: Mapping[str, Any]) -> None:
    """Bundles are built for x86-64-v3, or for any processor of another architecture."""
    lacking = {"avx2", "fma"} - set(cpu["instruction_sets"])
    if cpu["architecture"] == "x86_64" and lacking:
        raise WeaveError(f"run-all: this processor lacks {' and '.join(sorted(lacking))}, which the"
                         " programs were built for")


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

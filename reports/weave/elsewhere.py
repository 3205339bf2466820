"""`run-all` of a bundle: measures on a machine that has no toolchain and cannot weave."""

import argparse
import signal
import sys
from pathlib import Path

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
        slug = describe_machine(workspace, given.machine)["slug"]
        code = run_all(workspace, given.profile, given.machine, Console(), None)
    except WeaveError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return INTERRUPTED
    print(f"copy reports/{slug} to reports/ of a checkout, then weave it there: just report {slug}")
    return code


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[2]))

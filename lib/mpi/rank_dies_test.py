"""A rank that dies ends the run in seconds with one line that names it; what was measured stays.

    rank_dies_test.py PROGRAM FOLDER
"""

import json
import sys
import time
from pathlib import Path

from memwall.run.launches import Launch
from memwall.run.programs import Program, ProgramFailed, take_turns

PATIENCE_S = 20


def run(program: str, output: Path, way: str) -> str:
    """Runs the program on three ranks and returns what the runner says of its end."""
    started = time.monotonic()
    command = [program, "--way", way, "--profile", "tiny"]
    try:
        with Program(command, Launch(1, ranks=3), output) as one:
            take_turns([one], lambda program, event: None)
        return "ended well"
    except ProgramFailed as error:
        return str(error)
    finally:
        took = time.monotonic() - started
        assert took < PATIENCE_S, f"{way}: took {took:.0f} s"


def points(journal: Path) -> list[str]:
    """The points that a journal holds."""
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    return [line["key"] for line in lines if "key" in line]


def expect(found: object, wanted: object) -> None:
    """An assertion that tells both sides."""
    assert found == wanted, f"found {found!r}, expected {wanted!r}"


def main() -> None:
    """Each way to die, then the same run continued."""
    program, folder = sys.argv[1], Path(sys.argv[2])
    title = f"{Path(program).name} (ranks=3 threads=1): exit code"
    for way, complaint in {
        "throw": f"{title} 2: rank-dies: copy: exact check, call 1 threw: no such luck"
                 " (rank 2 of 3)",
        "kill": f"{title} 137: rank 2 of 3 died of signal 9 (Killed)",
    }.items():
        output = folder / f"rank-dies-{way}.json"
        journal = output.with_name(output.name + ".journal")
        output.unlink(missing_ok=True)
        journal.unlink(missing_ok=True)
        expect(run(program, output, way), complaint)
        expect(points(journal), ["size=1"])
    # A user's error is the same on every rank: one line, not three.
    output = folder / "rank-dies-wrong.json"
    expect(run(program, output, "sideways"),
           f"{title} 2: rank-dies: --way: found 'sideways', expected throw, kill or not")
    expect(output.with_suffix(".stderr").read_text().count("rank-dies: "), 1)
    expect(run(program, folder / "rank-dies-not.json", "not"), "ended well")


if __name__ == "__main__":
    main()

"""`just machine`: measures what this machine can do at best, in a few minutes."""

import subprocess
from collections.abc import Callable

from memwall.record import files, processors
from memwall.record.console import Console
from memwall.record.results import Result
from memwall.run.launches import Launch, thread_counts
from memwall.run.programs import ProgramFailed, measure
from memwall.run.watch import Watch
from memwall.run.workspace import Workspace

EXPERIMENT = "machine-ceilings"
#: Beside the ceilings, which every run measures: latencies, both ways of the bus at once, and for
#: the noise floor the reads, of which nothing is as large as the caches.
STUDIES = {"read": "read_four_streams", "latency": "chase_.*"}
#: As above, of a program that was built with nvcc.
OF_GPUS = {"bus_both": "bus_both"}

#: Makes the page of what was measured; what to say of it.
Show = Callable[[Result], str]


def measure_machine(workspace: Workspace, console: Console, show: Show) -> int:
    """Measures ceilings with one thread and with all, into build/machine/, anew each time."""
    program, folder = workspace.program(EXPERIMENT), workspace.build / "machine"
    workspace.build_programs(f"experiment:{EXPERIMENT}", "lib/bench/machine")
    if not program.is_file():
        raise ProgramFailed(f"{EXPERIMENT} was not built: no file {workspace.shown(program)}", 1)
    told = subprocess.run([program, "--help"], capture_output=True, encoding="utf-8",
                          errors="replace", check=False).stdout
    studies = STUDIES | {study: name for study, name in OF_GPUS.items() if study in told}
    given = ["--study", *studies, "--filter", f"^({'|'.join(studies.values())})$"]
    launches = [Launch(threads) for threads in thread_counts([1, "max"], processors.usable())]
    with files.exclusive(folder) as lock:
        for path in folder.iterdir():
            if path.is_file() and path.name != "lock":
                path.unlink()
        measured = measure(program, given, launches, folder,
                           Watch(console, "machine", None), [lock])
        text = show(measured.result)
    for line in [*measured.failures, *text.splitlines()]:
        console.line(line)
    return 1 if measured.failures else 0

"""What a study measures: the programs of this repository, narrowed to one matrix.

Everything that was finished is kept beside the page: the same command goes on after an interruption
and measures nothing twice, unless the matrix, a program or what is asked of it has changed.
"""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure.launch import Console, Watch, launches_of, measure
from measure.workspace import Workspace, file_digest
from study import findings
from weave import definition, results
from weave.definition import Tree, WeaveError
from weave.measurements import Measurements

Json = dict[str, Any]

#: From so many nonzeros on one precision and fewer rounds must do.
LARGE = 1_000_000
ROUNDS_OF_LARGE = 5


@dataclass(frozen=True)
class Asked:
    """A program and which of its variants a study asks for."""

    name: str
    title: str
    filter: str = ""
    needs_gpu: bool = False


#: In the order of the page. Libraries are timed once, beside the formats.
PROGRAMS = (
    Asked("spmv-formats", "Formats, the plan and libraries"),
    Asked("spmv-serial-steps", "Loops over CSR, one thread",
          "^(textbook$|accumulator|restrict|aligned|unroll|prefetch|scalar|gather|avx|neon|sse)"),
    Asked("spmv-omp-schedules", "Ways to share CSR among threads",
          "^(unroll4|static|dynamic|guided|nnz|merge)"),
    Asked("spmv-gpu-variants", "Kernels and formats on the GPU", needs_gpu=True),
)


def described(workspace: Workspace, file: Path) -> Json:
    """What `just describe` says of a matrix. Raises `WeaveError` with its line for a file that is
    none."""
    return json.loads(_asked([workspace.build / "lib/sparse/describe", file, "--json"]))


def anatomy(workspace: Workspace, file: Path, folder: Path, console: Console) -> Json:
    """Where the nonzeros lie, and the traffic of partitions."""
    program = workspace.build / "lib/distributed/anatomy"
    kept = folder / "anatomy.json"
    _begin(folder / "anatomy", {"matrix": file_digest(file), "program": file_digest(program)}, kept)
    if not kept.exists():
        text = _asked([program, file], lambda line: console.step(f"structure: {line}"))
        _write(kept, text)
    return json.loads(kept.read_text(encoding="utf-8"))


def measured(workspace: Workspace, asked: Asked, given: Sequence[str], files: Sequence[Path],
             folder: Path, console: Console, lock: int, tree: Tree) -> tuple[Measurements, list[str]]:
    """What one program finds, and what failed in it; `files` are those that results depend on."""
    program = workspace.program(asked.name)
    if not program.is_file():
        raise WeaveError(f"{asked.name} was not built: no file {workspace.shown(program)}")
    experiment = definition.load(workspace.root, asked.name)
    launches = launches_of(experiment)
    into = folder / asked.name
    arguments = [*given, *(["--filter", asked.filter] if asked.filter else [])]
    _begin(into, {"arguments": list(arguments), "program": file_digest(program),
                  "files": [file_digest(file) for file in files],
                  "launches": [launch.label() for launch in launches]})
    whole = into / "result.json"
    failures: list[str] = []
    if not whole.exists():
        watch = Watch(console, asked.name, None)
        failures = measure(program, arguments, launches, into, watch, [lock], go_on=True).failures
    found = Measurements(results.load(whole), experiment, tree, partial=True)
    return found, failures


def options(matrix: Path, nonzeros: int) -> list[str]:
    """What a program is asked of a matrix: less of a large one, so that a page takes minutes."""
    given = ["--matrix", str(matrix)]
    if nonzeros >= LARGE:
        given += ["--precision", "fp64", "--samples", str(ROUNDS_OF_LARGE)]
    return given


def warn(runs: Sequence[Json], folder: str, console: Console) -> None:
    """Says what must be known before any number; `folder` keeps what was measured."""
    for words in findings.busy(runs):
        console.line(f"{words} To measure again, remove {folder}/ first.")


def _begin(folder: Path, asked: Mapping[str, Any], *kept: Path) -> None:
    """Removes what was measured of something else."""
    note = folder / "asked.json"
    text = json.dumps(asked, indent=1) + "\n"
    try:
        is_same = note.read_text(encoding="utf-8") == text
    except OSError:
        is_same = False
    if not is_same:
        shutil.rmtree(folder, ignore_errors=True)
        for path in kept:
            path.unlink(missing_ok=True)
        folder.mkdir(parents=True)
        note.write_text(text, encoding="utf-8")


def _write(path: Path, text: str) -> None:
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def _asked(command: Sequence[str | Path],
           tell: Callable[[str], None] | None = None) -> str:
    """The standard output of a program that is told what it does on standard error."""
    if not Path(command[0]).is_file():
        raise WeaveError(f"{Path(command[0]).name} was not built: no file {command[0]}")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, \
            subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        last = ""
        for line in process.stderr:
            last = line.strip()
            if tell:
                tell(last)
        process.wait()
        out.seek(0)
        said = out.read()
    if process.returncode:
        raise WeaveError(last or f"{Path(command[0]).name}: exit code {process.returncode}")
    return said

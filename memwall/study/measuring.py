"""What a study measures: the programs of this repository, narrowed to one matrix.

Everything that was finished is kept beside the page: the same command goes on after an interruption
and measures nothing twice, unless the matrix, a program or what is asked of it has changed.
"""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.record import definition, files, results, studies
from memwall.record.console import Console
from memwall.record.errors import UserError, ending
from memwall.record.shapes import read_as
from memwall.record.sources import Tree
from memwall.record.studies import Features, StudyRun
from memwall.run.launches import launches_of
from memwall.run.programs import measure
from memwall.run.watch import Watch
from memwall.run.workspace import Workspace, file_digest

Json = dict[str, Any]

#: From so many nonzeros on one precision and fewer rounds must do.
LARGE = 1_000_000
ROUNDS_OF_LARGE = 5
#: That of programs which are asked for none.
USUAL_PROFILE = "quick"


@dataclass(frozen=True)
class Contest:
    """A program and which of its variants a study asks for."""

    name: str
    title: str
    filter: str = ""
    needs_gpu: bool = False


#: In the order of the page. Libraries are timed once, beside the formats.
CONTESTS = (
    Contest("spmv-plan", "Formats, the plan and libraries"),
    Contest("spmv-serial-steps", "Loops over CSR, one thread",
          "^(textbook$|accumulator|restrict|aligned|unroll|prefetch|scalar|gather|avx|neon|sse)"),
    Contest("spmv-omp-schedules", "Ways to share CSR among threads",
          "^(unroll4|static|dynamic|guided|nnz|merge)"),
    Contest("spmv-gpu-variants", "Kernels and formats on the GPU", needs_gpu=True),
)


@contextlib.contextmanager
def own_folder(parent: Path, name: str, file: Path) -> Iterator[tuple[Path, int]]:
    """Yields the folder of a file below `parent`, and its lock, which is held meanwhile.

    It is called `name`; where another file has taken that, a mark tells the two apart.
    """
    owner = str(file.resolve())
    mark = hashlib.sha256(os.fsencode(owner)).hexdigest()[:8]
    for folder in (parent / name, parent / f"{name}-{mark}"):
        note = folder / "of.json"
        if note.exists() and files.read_json(note) != owner:
            continue
        with files.exclusive(folder) as lock:
            if not note.exists():
                files.write_json(note, owner)
            if files.read_json(note) == owner:  # else another one was quicker
                yield folder, lock
                return
    raise UserError(f"{parent / name}-{mark}: found what belongs to another file")


@dataclass(frozen=True)
class Bench:
    """Where one file is measured: a tree, who is told of it, the folder that keeps what was found,
    and the lock of that, which programs inherit."""

    workspace: Workspace
    tree: Tree
    console: Console
    folder: Path
    lock: int

    def structure(self, file: Path) -> Json:
        """Where the nonzeros of a matrix lie, and the traffic of partitions."""
        program = self.workspace.build / "lib/distributed/anatomy"
        kept = self.folder / "anatomy.json"
        asked = {"matrix": file_digest(file), "program": file_digest(program)}
        self._begin(self.folder / "anatomy", asked, kept)
        if not kept.exists():
            text = _asked([program, file], lambda line: self.console.step(f"structure: {line}"))
            files.write(kept, text)
        return files.read_object(kept)

    def measured(self, contest: Contest, given: Sequence[str], inputs: Sequence[Path]
                 ) -> tuple[Measurements, list[str]]:
        """What one program finds, and what failed in it; `inputs` are files that results depend
        on."""
        program = self.workspace.program(contest.name)
        if not program.is_file():
            shown = self.workspace.shown(program)
            raise UserError(f"{contest.name} was not built: no file {shown}")
        experiment = definition.load(self.workspace.root, contest.name)
        launches = launches_of(experiment)
        into = self.folder / contest.name
        arguments = [*given, *(["--filter", contest.filter] if contest.filter else [])]
        self._begin(into, {"arguments": list(arguments), "program": file_digest(program),
                           "files": [file_digest(file) for file in inputs],
                           "launches": [launch.label() for launch in launches]})
        whole = into / "result.json"
        failures: list[str] = []
        if whole.exists():
            result = results.load(whole)
        else:
            watch = Watch(self.console, contest.title, None)
            measurement = measure(program, arguments, launches, into, watch, [self.lock])
            result, failures = measurement.result, measurement.failures
            if not measurement.is_whole:
                whole.unlink()  # the same command tries that again
        return Measurements(result, experiment, self.tree, partial=True), failures

    def warn(self, runs: Sequence[StudyRun]) -> None:
        """Says what must be known before any number."""
        for words in studies.busy(runs):
            shown = self.workspace.shown(self.folder)
            self.console.line(f"{words} To measure again, remove {shown}/ first.")

    def _begin(self, folder: Path, asked: Mapping[str, Any], *kept: Path) -> None:
        """Removes what was measured of something else, and says so."""
        note = folder / "asked.json"
        if note.exists():
            before = files.read_object(note)
            if before == asked:
                return
            changed = ", ".join(name for name in asked if before.get(name) != asked[name])
            self.console.line(f"{folder.name}: measured anew, as what it depends on has changed:"
                              f" {changed}")
            shutil.rmtree(folder)
        for path in kept:
            path.unlink(missing_ok=True)
        files.write_json(note, asked)


def described(workspace: Workspace, file: Path) -> Features:
    """What `just describe` says of a matrix. Raises `UserError` with its line for a file that is
    none."""
    command = workspace.build / "lib/sparse/describe"
    shown = workspace.shown(command)
    return read_as(Features, results.decode(_asked([command, file, "--json"]), shown), shown)


def options(matrix: Path, nonzeros: int, profile: str = USUAL_PROFILE) -> list[str]:
    """What a program is asked of a matrix: less of a large one, so that a page takes minutes."""
    given = ["--matrix", str(matrix)]
    if profile != USUAL_PROFILE:
        given += ["--profile", profile]
    if nonzeros >= LARGE:
        given += ["--precision", "fp64", "--samples", str(ROUNDS_OF_LARGE)]
    return given


def _asked(command: Sequence[str | Path],
           tell: Callable[[str], None] | None = None) -> str:
    """The standard output of a program that is told what it does on standard error."""
    if not Path(command[0]).is_file():
        raise UserError(f"{Path(command[0]).name} was not built: no file {command[0]}")
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, \
            subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, encoding="utf-8",
                             errors="replace") as process:
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
        raise UserError(last or f"{Path(command[0]).name}: {ending(process.returncode)}")
    return said

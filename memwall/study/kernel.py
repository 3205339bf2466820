"""`just try FILE.cpp|.cu --as spmv`: somebody's own product among the variants of an experiment, in
the same rounds, verified as they are, and on a page of its own."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memwall.record import files, sources, studies
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.record.studies import YOURS, ProductCase, Ranking, TriedKernel
from memwall.run.programs import ProgramFailed
from memwall.run.workspace import Workspace, describe_machine
from memwall.study import findings, measuring
from memwall.study.measuring import Bench, Contest

#: What a file can be tried as, and the experiment whose variants it is timed with.
KINDS = {"spmv": "spmv-serial-steps", "spmv-threads": "spmv-omp-schedules"}
ON_GPU = "spmv-gpu-variants"
HOST = "lib/spmv/tried"
DEVICE = "lib/spmv/gpu/tried"
#: Variables from which nvcc takes flags.
NVCC_FLAGS = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS")


@dataclass(frozen=True)
class Compiled:
    """A file that compiled, and the experiment whose variants it is timed with."""

    file: Path
    library: Path
    experiment: str


def try_kernel(workspace: Workspace, file: Path, kind: str, matrices: Sequence[str],
               console: Console, finish: Callable[[Path], str]) -> int:
    """Measures a file; 1 if it does not compile or fails its verification."""
    if not file.is_file():
        raise UserError(f"{file}: found no file there, expected one .cpp or .cu")
    on_gpu = file.suffix == ".cu"
    if file.suffix not in (".cpp", ".cu") or not file.stem.strip("."):
        raise UserError(f"{file}: found another ending, expected a file .cpp or .cu")
    if on_gpu and not shutil.which("nvcc"):
        raise UserError("no nvcc here, which compiles files .cu")
    if not on_gpu and not shutil.which("g++"):
        raise UserError("no g++ here, which compiles files .cpp")
    workspace.build_programs("lib/bench/machine", *(f"experiment:{name}" for name in (
        [ON_GPU] if on_gpu else KINDS.values())))
    is_measured = not on_gpu or bool(describe_machine(workspace)["gpus"])
    if not is_measured:
        console.line("no CUDA device here: the file is compiled, not measured")
    place = measuring.own_folder(workspace.build / "try", file.stem, file)
    try:
        with place as (folder, lock):
            console.step(f"compiles {file.name}")
            library = folder / f"{file.stem}.so"
            code = compiled(workspace, file.resolve(), library)
            if code or not is_measured:
                return 1 if code else 0
            tried = Compiled(file, library, ON_GPU if on_gpu else KINDS[kind])
            tree = sources.read_tree(workspace.root)
            code = _measure(Bench(workspace, tree, console, folder, lock), tried, matrices)
            console.line(finish(folder / "try.json"))
            return code
    except KeyboardInterrupt:
        console.line("interrupted: the same command goes on from here")
        raise


def compiled(workspace: Workspace, file: Path, library: Path) -> int:
    """Compiles a file into a shared object, with the flags named here and none of the environment;
    what the compiler says is shown as it is."""
    root = workspace.root
    environment = {name: value for name, value in os.environ.items() if name not in NVCC_FLAGS}
    if file.suffix == ".cu":
        joined = library.with_suffix(".cu")
        files.write(joined, f'#include "{file}"\n#include "{root / DEVICE / "call.cuh"}"\n')
        command = ["nvcc", "-std=c++20", "-O3", f"-arch={_architecture()}",
                   "-rdc=true", "-shared", "-Xcompiler", "-fPIC", "-I", str(root / DEVICE),
                   str(joined)]
    else:
        command = ["g++", "-std=c++20", "-O3", "-march=native", "-fopenmp", "-Wall", "-shared",
                   "-fPIC", "-Wl,-z,defs", "-I", str(root / HOST), str(file),
                   str(root / HOST / "call.cpp")]
    return subprocess.run([*command, "-o", str(library)], check=False, env=environment).returncode


def _architecture() -> str:
    """The GPU that is here, or else one that nvcc knows for long."""
    if shutil.which("nvidia-smi"):
        asked = subprocess.run(["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader"],
                               capture_output=True, encoding="utf-8", check=False).stdout.split()
        if asked:
            return f"sm_{asked[0].replace('.', '')}"
    return "sm_80"


def _measure(bench: Bench, tried: Compiled, matrices: Sequence[str]) -> int:
    given = ["--tried", str(tried.library.resolve()), "--precision", "fp64"]
    inputs = [tried.library]
    if matrices:
        paths = [Path(name) for name in matrices]
        given += ["--matrix", *(str(path.resolve()) if path.is_file() else str(path)
                                for path in paths)]
        inputs += [path for path in paths if path.is_file()]
    contest = Contest(tried.experiment, f"{tried.file.name} among {tried.experiment}")
    try:
        found, failures = bench.measured(contest, given, inputs)
    except ProgramFailed as failed:
        raise ProgramFailed(f"{tried.file}: the program that calls it ended: {failed}",
                            failed.code) from None
    finally:
        for file in sorted((bench.folder / tried.experiment).glob("*.stdout")):
            if file.stat().st_size:
                bench.console.line(f"{tried.file.name} printed to {bench.workspace.shown(file)}")
    result = TriedKernel(
        name=tried.file.stem,
        file=tried.file.name,
        experiment=tried.experiment,
        machine=findings.machine(found),
        rankings=rankings(findings.cases(found)),
        runs=(findings.run(found),),
        source=tried.file.read_text(encoding="utf-8", errors="replace"),
    )
    studies.write(result, bench.folder / "try.json")
    bench.warn(result.runs)
    for line in verdicts(result.rankings):
        bench.console.line(line)
    for failure in failures:
        if f": {YOURS} failed at " not in failure:  # the verdicts say that
            bench.console.line(failure)
    return 1 if failures else 0


def rankings(cases: Sequence[ProductCase]) -> tuple[Ranking, ...]:
    """The cases of each matrix."""
    names = dict.fromkeys(case.matrix for case in cases)
    return tuple(Ranking(name, tuple(case for case in cases if case.matrix == name))
                 for name in names)


def verdicts(found: Sequence[Ranking]) -> list[str]:
    """A line for each point: the place of the file among all, or why it has none."""
    lines = []
    for ranking in found:
        for mine in (case for case in ranking.cases if case.variant == YOURS):
            at = f"{ranking.title}, {mine.where}"
            lines.append(f"{at}: failed verification: {mine.reason}" if mine.seconds is None
                         else f"{at}: verified, {ranking.place(mine)}, {mine.speed}")
    return lines

#!/usr/bin/env python3
"""Every test of the project, in stages: `just test` runs all of them, `just test NAME...` some.

Each stage has a short form, which CI runs at every change within a budget of processor seconds, and
a whole one, `just test --all`, which CI runs every week; what a stage adds then stands in its
docstring. Stages run one after the other in three lanes: those that keep all processors busy,
beside them those that keep one, and what is compiled in other ways takes what both leave. Nothing
stops at a failure. Each check is counted as passed, failed or skipped; the last line says how many
there were. What commands wrote is kept in `build-test/logs/`, and shown where they failed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import browser
import compiling
from checks import (
    BUILDS,
    ROOT,
    Check,
    command,
    configured,
    count,
    executables,
    fuzzed,
    meson_tests,
    python_tests,
    spent,
    totals,
    unless_passed,
)

from memwall.record import definition, results
from memwall.record.errors import UserError
from memwall.run import launches
from memwall.run.workspace import Workspace, describe_machine

RELEASE = BUILDS / "release"
#: A matrix to study: so small that all is quick.
SAMPLE = """%%MatrixMarket matrix coordinate real general
3 3 4
1 1 1
1 2 5
2 3 2
3 3 1
"""
FUZZ_SECONDS, FUZZ_SECONDS_WHOLE = 5, 300
#: In the whole form commands are driven so long over made-up machines (`memwall/tests`).
SEARCH_SECONDS = 3600
#: And so many random results are woven, of whose reports no sentence may be false.
RANDOM_REPORTS = 1000
#: The niceness that gives way to all others, and yet ends with them: a tenth of what they get.
LEAST_URGENT = 10
#: What may be sent to a machine with a GPU.
SENDABLE_MIB = 56
BUNDLED = "spmv-serial-steps"
BUNDLED_RANKS = "spmv-mpi-partitioning"
GPU_EXAMPLES = ("dense/gpu/example.cpp", "spmv/gpu/example.cpp", "transfer/example.cu")
COMPILE_EXAMPLE = "g++ -std=c++20 {} $(pkg-config --cflags --libs {}) -o example"
# Where NVIDIA's own namespace `cuda`, with a `cuda::std` in it, was there before ours.
COMPILE_GPU_EXAMPLE = (
    "nvcc -std=c++20 -arch=sm_90 -include cuda/std/cstdint -c {} -o example.o "
    "$(pkg-config --cflags-only-I {}) && "
    "g++ example.o $(pkg-config --libs memwall-gpu) -o example")
READ_EXAMPLE = ("g++ -std=c++20 -fsyntax-only {} -I{} "
                '-isystem "$(dirname "$(command -v nvcc)")/../include"')
READ_GPU_EXAMPLE = "nvcc -std=c++20 -arch=sm_90 -include cuda/std/cstdint -cubin -o example {} -I{}"
#: Take half of the time in which kernels compile: only the whole run asks them.
POINTER_CHECKS = "null,alignment,object-size,pointer-overflow"
#: Where there is none, the short form only asks front ends of code for GPUs, in half of the time
#: that building it takes; `--all` builds it.
HAS_GPU = Path("/proc/driver/nvidia").exists()
UNUSED_GPU_CODE = "-Dgpu_unused=true"
#: Most of the time that a source takes is that of its headers: those of a target are read once.
AS_ONE = "-Dunity=on -Dunity_size=99"
#: What is timed is compiled at -O3 all the same, and sources of tests at -O0. To have all others at
#: -O0, too, costs tests more than it spares the compiler.
UNTIMED = "-Doptimization=1"
CLANG = {"CC": "clang", "CXX": "clang++"}  # compiles instrumented code in half of GCC's time

# Tests of code that runs on several threads, and the race that the sanitizer has to find.
THREADED = ("planted-race", "bench-all-processors", "spmv-openmp", "spmv-shared_work")
THREADED_WHOLE = (*THREADED, "sparse-convert", "spmv-formats", "spmv-kernels")
# Tests of code that reads what strangers hand it, and lays out what it has read.
TRUSTING = ("planted-leak", "kit", "base-output", "sparse-convert", "sparse-matrix-market")
# Tests of what is written for NEON, or depends on how wide a vector is.
VECTORS = ("simd-vector", "spmv-no-weak-symbols")


def release(whole: bool, *targets: str) -> Check:
    """Builds for release what measures, or some targets of it."""
    return configured(" ".join(("build release", *targets)), RELEASE, release_options(whole),
                      *targets)


def release_options(whole: bool) -> str:
    """How the release build is configured; whole: as a user's."""
    if whole:
        return ""
    return f"{AS_ONE} {UNTIMED}" + ("" if HAS_GPU else " -Dcuda=disabled")


def build(whole: bool) -> Iterator[Check]:
    """The release build, warnings as errors; whole: for every kind of GPU."""
    yield release(whole)


def unit(whole: bool) -> Iterator[Check]:
    """The unit tests of the release build; whole: 1 to 7 ranks, over TCP and across hosts, too."""
    yield from unless_passed(release(whole))
    yield from meson_tests("release", RELEASE, whole)


def python(whole: bool) -> Iterator[Check]:
    """The tests of the Python programs; whole: what a student does with each kit and builds alone,
    races in all that may have them, the pages of every machine, commands driven for an hour, and a
    thousand random reports, too."""
    rooms = (".ci", "lib", "datasets", "memwall")
    if whole:
        os.environ.setdefault("MEMWALL_STATE_SECONDS", str(SEARCH_SECONDS))
        os.environ.setdefault("MEMWALL_RANDOM_REPORTS", str(RANDOM_REPORTS))
        # Else groups of many tests begin, and one process has the hour to itself at the end.
        yield from python_tests("not alone", "--no-loadscope-reorder", *rooms)
    else:
        yield from python_tests("not large", *rooms)


def points(_: bool) -> Iterator[Check]:
    """With --all only, when all else has ended: no cheat pays in any sandbox, equals get equal
    points, nobody honest is accused, and each step of a kit brings some."""
    yield from python_tests("alone", "-n0", "memwall/grade")


def sanitize(whole: bool) -> Iterator[Check]:
    """Under AddressSanitizer, which has to find a planted leak, and UndefinedBehaviorSanitizer:
    readers and conversions; whole: every unit test, and whether pointers are aligned and computed
    within their objects, too."""
    directory = BUILDS / "asan"
    # Places in the source come from the sanitizers' own tables: debug symbols cost minutes. Calls
    # through pointers are not checked: that leaves weak symbols in kernels.
    unchecked = "function" if whole else f"function,{POINTER_CHECKS}"
    options = (f"{AS_ONE} -Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug "
               f"-Doptimization={1 if whole else 0} -Ddebug=false -Dcuda=disabled "
               f"-Dcpp_args=-fno-sanitize={unchecked}")
    yield from unless_passed(
        configured("configure sanitize", directory, options, "build.ninja", **CLANG))
    # Of an allocation who asked for it, so that only what OpenMP itself leaves is let pass.
    yield from meson_tests("sanitize", directory, whole, *([] if whole else TRUSTING),
                           ASAN_OPTIONS="malloc_context_size=2",
                           LSAN_OPTIONS=f"suppressions={ROOT / '.ci/leaks.txt'}",
                           UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")


def tsan(whole: bool) -> Iterator[Check]:
    """Threads under ThreadSanitizer, which has to find a planted race: schedules, and how plans
    deal their work; whole: conversions and the kernels of every format, too."""
    directory = BUILDS / "tsan"
    options = (f"{AS_ONE} -Db_sanitize=thread -Db_lundef=false -Dbuildtype=debug -Doptimization=1 "
               "-Ddebug=false -Dcuda=disabled -Dmpi=disabled -Dpeers=disabled")
    # Clang's OpenMP tells the sanitizer how its threads wait for each other (its tool Archer); that
    # of GCC does not, and every parallel region would look like a race.
    yield from unless_passed(
        configured("configure tsan", directory, options, "build.ninja", **CLANG))
    yield from meson_tests("tsan", directory, whole, *(THREADED_WHOLE if whole else THREADED),
                           TSAN_OPTIONS="ignore_noninstrumented_modules=1")


def experiments(whole: bool) -> Iterator[Check]:
    """Every experiment that can run here, on tiny inputs, woven into the build directory."""
    yield from unless_passed(release(whole))
    machine = describe_machine(Workspace(ROOT, RELEASE))
    for experiment in definition.load_all(ROOT):
        name = f"experiment {experiment.name}"
        if reason := launches.unmet_need(experiment, machine):
            yield Check(name, "skipped", reason)
            continue
        # Threads that wait sleep: another stage needs their processors.
        yield command(name, sys.executable, "-m", "memwall", "--build", RELEASE, "run",
                      experiment.name, "--profile", "tiny", OMP_WAIT_POLICY="passive")
    sample = BUILDS / "sample.mtx"
    sample.write_text(SAMPLE, encoding="utf-8")
    yield command("study", sys.executable, "-m", "memwall", "--build", RELEASE, "study",
                  "--profile", "tiny", sample, OMP_WAIT_POLICY="passive")


def cuda(whole: bool) -> Iterator[Check]:
    """Code for GPUs, where there is nvcc: the front ends of compilers find nothing in what only a
    build for GPUs has, but for its tests; whole, or where a GPU is: every .cu file compiled and
    assembled. What a GPU machine has to be sent is small."""
    yield from kernels(whole)
    if shutil.which("git") and (ROOT / ".git").exists():
        yield sendable(RELEASE)


def kernels(whole: bool) -> Iterator[Check]:
    """Every .cu file compiled, or read by front ends with all else that a GPU adds to a build."""
    # Kits are compiled by their own tests, the example of the library by the stage `install`.
    sources = [path for room in ("lib", "experiments")
               for path in sorted((ROOT / room).rglob("*.cu"))
               if not any(part.startswith("kit") for part in path.relative_to(ROOT).parts)
               and path.name != "example.cu"]
    if not sources:
        return
    if not shutil.which("nvcc"):
        yield from (Check(f"compile {source.relative_to(ROOT)}", "skipped", "no nvcc here")
                    for source in sources)
        return
    yield from unless_passed(release(whole))
    built = whole or HAS_GPU
    directory = RELEASE if built else BUILDS / "gpu"
    if not built:
        options = f"{UNUSED_GPU_CODE} {AS_ONE} {UNTIMED}"
        yield from unless_passed(
            configured("configure gpu", directory, options, "build.ninja"))
    compiled = compiling.commands(directory)
    known = {source for one in compiled for source in one.sources}
    for source in sources:
        if source not in known:
            yield Check(f"compile {source.relative_to(ROOT)}", "failed",
                        "no target of meson.build compiles it")
    if built:
        for one in compiled:
            if set(one.sources) & set(sources):
                yield command(f"compile {one.output}", "ninja", "-C", directory, one.output)
    else:
        looked_at = [one for one in compiling.added(directory, RELEASE)
                     if "-test.p/" not in one.output]
        yield command("front ends of code for GPUs", "ninja", "-C", directory, "-k", "0", "-f",
                      compiling.front_ends(directory, looked_at))
        yield from gpu_examples(directory)


def gpu_examples(directory: Path) -> Iterator[Check]:
    """What front ends say of the examples for GPUs, which see the headers that are installed."""
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        for header, place in compiling.installed(directory):
            (room / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(header, room / place)
        for name in GPU_EXAMPLES:
            line = READ_GPU_EXAMPLE if name.endswith(".cu") else READ_EXAMPLE
            yield command(f"front end of {name}", "bash", "-c",
                          line.format(ROOT / "lib" / name, room), cwd=room)


def sendable(directory: Path) -> Check:
    """Whether the tracked files and the largest program of an experiment, if any is built, are
    together so small that they can be sent to a machine with a GPU."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True,
                            check=True)
    tracked = sum((ROOT / name).stat().st_size for name in listed.stdout.split("\0")
                  if (ROOT / name).is_file())
    programs = [path for path in directory.glob("experiments/*/*") if path.is_file()]
    largest = max(programs, key=lambda path: path.stat().st_size, default=None)
    program = stripped_bytes(largest) if largest else 0
    megabytes = (tracked + program) / 2**20
    told = (f"found {megabytes:.1f} MiB, of which the tracked files have {tracked / 2**20:.1f} and"
            f" the program {program / 2**20:.1f}, expected at most {SENDABLE_MIB}")
    return Check("tracked files and a program can be sent",
                 "passed" if megabytes <= SENDABLE_MIB else "failed", told)


def stripped_bytes(program: Path) -> int:
    """Of a program without its symbols."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / program.name
        subprocess.run(["strip", "-o", stripped, program], check=True)
        return stripped.stat().st_size


def neon(whole: bool) -> Iterator[Check]:
    """For aarch64, cross-compiled and tested in an emulator: what is written for its vectors;
    whole: every kernel and plan."""
    directory = BUILDS / "aarch64"
    untimed = "" if whole else UNTIMED
    options = f"{AS_ONE} {untimed} --cross-file lib/spmv/steps/aarch64.cross"
    yield from unless_passed(configured("configure aarch64", directory, options, "build.ninja"))
    yield from meson_tests("aarch64", directory, whole, *([] if whole else VECTORS))


def fuzz(whole: bool) -> Iterator[Check]:
    """The fuzz targets for some seconds each; whole: for minutes."""
    directory = BUILDS / "fuzz"
    options = (f"{AS_ONE} -Dfuzz=true -Doptimization=1 -Dcuda=disabled -Dmpi=disabled "
               "-Dpeers=disabled")
    yield from unless_passed(
        configured("configure fuzz", directory, options, "build.ninja", **CLANG))
    for program in executables(directory):
        if program.name.endswith("_fuzz"):
            yield fuzzed(program, directory, FUZZ_SECONDS_WHOLE if whole else FUZZ_SECONDS)


def check(whole: bool) -> Iterator[Check]:
    """Style, result files, and the committed pages woven again; whole: what clang-tidy finds."""
    yield command("just check", just(), "check")
    if whole and shutil.which("run-clang-tidy"):
        yield command("clang-tidy", ".ci/tidy")
    elif whole:
        yield Check("clang-tidy", "skipped", "no clang-tidy here: .ci/setup all")


def site(whole: bool) -> Iterator[Check]:
    """The site, Doxygen's warnings errors: links that lead somewhere, and in a browser some pages
    of each kind, search and a figure that answers; whole: every page."""
    yield from unless_passed(command("just site", just(), "site"))
    yield command("links of the site", sys.executable, ".ci/site_check.py", "links")
    name = "pages of the site"
    if browser.missing():
        yield Check(name, "skipped", browser.missing())
    else:
        yield command(name, sys.executable, ".ci/site_check.py",
                      "pages" if whole else "few")


def new(whole: bool) -> Iterator[Check]:
    """A new experiment in a copy of the tree builds, runs and weaves at once; whole: by the one
    command of a user, with nothing built before, and passes the checks."""
    if not whole:
        yield from unless_passed(release(whole))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "memwall"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=not_sources)
        here = (ROOT / ".ci/in-place", copy)
        run = ("run", "scratch-experiment", "--profile", "tiny")
        if not whole:
            built = RELEASE.relative_to(ROOT)  # so that only what is new is compiled
            shutil.copytree(RELEASE, copy / built, symlinks=True)
        yield command("new creates", *here, "./justw", "new", "scratch-experiment")
        if whole:
            yield command("new runs and weaves", *here, "./justw", *run)
            yield command("new passes check", *here, "./justw", "check")
        else:
            yield command("new builds", *here, ".ci/build", built, "experiment:scratch-experiment",
                          MESON_ARGS=release_options(whole))
            yield command("new runs and weaves", *here, sys.executable, "-m", "memwall", "--build",
                          built, *run)


def not_sources(folder: str, names: list[str]) -> list[str]:
    """What of a folder of the tree is no part of the sources."""
    if Path(folder) != ROOT:
        return [name for name in names if name in ("__pycache__", "cache")]
    return [name for name in names if name in (".git", ".venv") or name.startswith("build")]


def install(whole: bool) -> Iterator[Check]:
    """The library as another project uses it: installed, found by pkg-config, linked, run; whole:
    what it has for GPUs, too."""
    yield from unless_passed(release(whole, "library"))
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        yield command("install library", "meson", "install", "-C", RELEASE, "--no-rebuild",
                      "--destdir", room / "root")
        found = [str(path.parent) for path in room.rglob("memwall.pc")]
        examples: list[tuple[str, str, Callable[[Path], Check] | None]] = [
            ("spmv/plan/example.cpp", "memwall", plan_runs),
            ("dense/example.cpp", "memwall", product_runs)]
        if list(room.rglob("memwall-gpu.pc")):
            examples += [(name, "memwall-gpu", None) for name in GPU_EXAMPLES]
        for name, library, runs in examples:
            line = COMPILE_GPU_EXAMPLE if name.endswith(".cu") else COMPILE_EXAMPLE
            compiled = command(f"install compiles {name}", "bash", "-c",
                               line.format(ROOT / "lib" / name, library),
                               cwd=room, PKG_CONFIG_PATH=":".join(found))
            yield compiled
            if compiled.outcome == "passed" and runs:
                yield runs(room)


def product_runs(room: Path) -> Check:
    """Runs the example of dense products."""
    return command("install runs dense example", "bash", "-c",
                   r"""[ "$(./example)" = $'4 5\n10 11' ]""", cwd=room)


def plan_runs(room: Path) -> Check:
    """Runs the example of plans on a small matrix: what it chose, then the sums of the rows."""
    started = time.monotonic()
    matrix = room / "small.mtx"
    matrix.write_text("%%MatrixMarket matrix coordinate real symmetric\n"
                      "3 3 4\n1 1 1.5\n2 1 -4\n3 2 8\n3 3 16\n")
    done = subprocess.run([room / "example", matrix], capture_output=True, text=True, check=False)
    choice, _, sums = done.stdout.partition("\n")
    right = done.returncode == 0 and "bytes per nonzero" in choice and sums == "-2.5\n4\n24\n"
    details = "" if right else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    return Check("install runs spmv example", "passed" if right else "failed", details,
                 time.monotonic() - started)


def bundle(whole: bool) -> Iterator[Check]:
    """The archive of `just bundle`, with one experiment: unpacked where there is nothing else, it
    measures; whole: with all of them, on several ranks too."""
    targets = ["programs"] if whole else [f"experiment:{BUNDLED}", "lib/bench/machine"]
    yield from unless_passed(release(whole, *targets))
    archive = BUILDS / "bundle.tar.gz"
    yield command("bundle is made", sys.executable, ".ci/bundle.py", RELEASE, archive,
                  *([] if whole else [BUNDLED]))
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        yield from unless_passed(command("bundle unpacks", "tar", "-xf", archive, "-C", tree))
        if whole:
            yield from whole_bundle(tree)
        yield command("bundle measures in a bare tree", ".ci/bare-tree", tree, "/memwall/run-all",
                      "--profile", "tiny")
        yield brought_home(tree, f"reports/*/results/{BUNDLED}.json", ranks=1)


def whole_bundle(tree: Path) -> Iterator[Check]:
    """What else an archive with all experiments can do; leaves the one that tells whether it
    measures."""
    if shutil.which("mpirun"):
        yield command("bundle runs two ranks in a bare tree", ".ci/bare-tree", tree,
                      "/memwall/run", BUNDLED_RANKS, "--profile", "tiny", "--ranks", "2",
                      "--matrix", "pois2d-tiny")
        yield brought_home(tree, f"build/runs/{BUNDLED_RANKS}-*/result.json", ranks=2)
    else:
        yield Check("bundle runs two ranks in a bare tree", "skipped", "no mpirun here")
    for study in ("study", "try"):  # the stage `experiments` measures one
        yield command(f"bundle starts {study} in a bare tree", ".ci/bare-tree", tree,
                      f"/memwall/{study}", "--help")
    for other in (tree / "memwall/experiments").glob("*/experiment.toml"):
        if other.parent.name != BUNDLED:
            shutil.rmtree(other.parent)


def brought_home(tree: Path, result: str, ranks: int) -> Check:
    """A result that a machine's folder would take, with something measured by so many ranks."""
    name = f"bundle brings home {result}"
    try:
        found = [results.load(path) for path in (tree / "memwall").glob(result)]
    except UserError as error:
        return Check(name, "failed", str(error))
    counted = [one.raw["launches"][case.launch]["ranks"] for one in found for case in one.cases
               if case.passed]
    if ranks not in counted:
        return Check(name, "failed", f"nothing was measured by {ranks} ranks")
    return Check(name, "passed")


class Lane(Enum):
    """Where a stage runs, beside those of the other lanes."""

    ALL = "it keeps all processors busy"
    ONE = "it keeps one processor busy"
    LEFT = "it takes the processors that other lanes leave"
    ALONE = "it times what it runs: it begins when the other lanes have ended"


@dataclass(frozen=True)
class Stage:
    """Part of the tests, and the processor seconds that its short form may take where nothing was
    built before: what takes longer is told, as a slow machine is no fault. 0: no short form."""

    run: Callable[[bool], Iterator[Check]]
    budget: int
    lane: Lane = Lane.ALL
    #: Whether it begins where the stage `build` has ended.
    built: bool = False

    @property
    def name(self) -> str:
        return self.run.__name__

    @property
    def summary(self) -> str:
        return " ".join((self.run.__doc__ or "").split())


@dataclass(frozen=True)
class Done:
    """What came out of a stage, and the seconds that it took: on the wall, of processors."""

    stage: Stage
    checks: list[Check]
    seconds: float
    processor: float

    def row(self, whole: bool) -> str:
        """Its line of the summary."""
        took = (f"  {self.stage.name:<12} {totals(self.checks):<36} {self.seconds:6.0f} s,"
                f" {self.processor:6.0f} of processors")
        if whole:
            return took
        late = ", too long" if self.processor > self.stage.budget else ""
        return f"{took}, budget {self.stage.budget}{late}"


# Fuzzing stays with those that get all processors, as it has seconds of the wall for each text, and
# begins while other lanes are busy: it compiles one source.
STAGES = {stage.name: stage for stage in (
    Stage(build, 560), Stage(fuzz, 80), Stage(unit, 110), Stage(python, 440),
    Stage(sanitize, 110, Lane.LEFT), Stage(tsan, 90, Lane.LEFT), Stage(neon, 40, Lane.LEFT),
    Stage(check, 70, Lane.ONE), Stage(site, 60, Lane.ONE), Stage(new, 20, Lane.ONE, built=True),
    Stage(experiments, 110, Lane.ONE, built=True), Stage(cuda, 230, Lane.ONE, built=True),
    Stage(install, 20, Lane.ONE, built=True), Stage(bundle, 20, Lane.ONE, built=True),
    Stage(points, 0, Lane.ALONE))}


def just() -> str:
    """The just that is here."""
    return shutil.which("just") or str(ROOT / ".venv/bin/just")


def run_stage(stage: Stage, whole: bool) -> Done:
    """Runs a stage and shows its checks as they come."""
    print(f"\n== {stage.name}: {stage.summary}", flush=True)
    checks = []
    started, used = time.monotonic(), spent.seconds
    try:
        for done in stage.run(whole):
            checks.append(done)
            show(stage, done)
    except Exception as error:  # a stage that breaks is a failure; the others still run
        checks.append(Check(stage.name, "failed", f"{type(error).__name__}: {error}"))
        show(stage, checks[-1])
    return Done(stage, checks, time.monotonic() - started, spent.seconds - used)


def run_stages(stages: list[Stage], whole: bool) -> list[Done]:
    """Runs the stages of each lane in their order, the lanes beside each other, and last those of
    the lane that wants nothing beside it."""
    ended = {stage.name: threading.Event() for stage in stages}
    table: dict[str, Done] = {}

    def run(lane: Lane) -> None:
        if lane is Lane.LEFT:  # of this thread, and so of all that it starts
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST_URGENT)
        for stage in stages:
            if stage.lane is not lane:
                continue
            if stage.built and "build" in ended:
                ended["build"].wait()
            table[stage.name] = run_stage(stage, whole)
            ended[stage.name].set()

    for beside in ([lane for lane in Lane if lane is not Lane.ALONE], [Lane.ALONE]):
        lanes = [threading.Thread(target=run, args=(lane,), daemon=True) for lane in beside]
        for one in lanes:
            one.start()
        for one in lanes:  # Ctrl-C ends this thread, and so the others
            one.join()
    return [table[stage.name] for stage in stages]


def show(stage: Stage, check: Check) -> None:
    """One line for a check, and what it said if it did not pass."""
    if check.minor and check.outcome == "passed":
        return
    lines = [f"  {check.outcome:<7}  {stage.name:<11}  {check.name}  ({check.seconds:.1f} s)"]
    lines += [f"           {line}" for line in check.details.strip().splitlines()]
    print("\n".join(lines), flush=True)


def main() -> int:
    """Runs the stages that the command line names, or all."""
    parser = argparse.ArgumentParser(
        prog="just test", formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="\n".join(f"{stage.name:<12} {stage.summary}" for stage in STAGES.values()))
    parser.add_argument("stages", nargs="*", metavar="STAGE", help="all, unless some are named")
    parser.add_argument("--all", action="store_true", help="the whole form of each: takes hours")
    given = parser.parse_args()
    for name in given.stages:
        if name not in STAGES:
            parser.error(f"no stage {name!r}; there are: {', '.join(STAGES)}")

    begun = time.monotonic()
    asked = [STAGES[name] for name in dict.fromkeys(given.stages or STAGES)]  # each once
    for stage in asked if given.stages and not given.all else []:
        if not stage.budget:
            parser.error(f"{stage.name} has no short form: just test --all {stage.name}")
    table = run_stages([stage for stage in asked if given.all or stage.budget], given.all)
    print("\n== summary", *(done.row(given.all) for done in table), sep="\n")
    print(f"  in all {time.monotonic() - begun:.0f} s")
    everything = [check for done in table for check in done.checks]
    for check in everything:
        if check.outcome == "failed":
            print(f"  failed: {check.name}")
    print(totals(everything), flush=True)
    return 1 if count(everything, "failed") else 0


if __name__ == "__main__":
    sys.exit(main())

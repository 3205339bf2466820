#!/usr/bin/env python3
"""Every test of the project, in stages: `just test` runs all of them, `just test NAME...` some.

Nothing stops at a failure. Each check is counted as passed, failed or skipped; the last line says
how many there were. What commands wrote is kept in `build-test/logs/`, and shown where they failed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import browser

from memwall.record import definition, results
from memwall.record.errors import UserError
from memwall.run import launches
from memwall.run.workspace import Workspace, describe_machine

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ROOT / "build-test"
RELEASE = BUILDS / "release"
#: A matrix to study: so small that all is quick.
SAMPLE = """%%MatrixMarket matrix coordinate real general
3 3 4
1 1 1
1 2 5
2 3 2
3 3 1
"""
FUZZ_SECONDS = 20
FUZZ_PROCESSES = 2  # at once, of the same corpus
FUZZ_MEGABYTES = 512
FUZZ_SECONDS_PER_TEXT = 20
SHOWN_LINES = 40
#: Of `--all`: so long are commands driven over made-up machines (`memwall/tests`).
SEARCH_SECONDS = 3600
BUNDLED = "spmv-serial-steps"
BUNDLED_RANKS = "spmv-mpi-partitioning"
COMPILE_EXAMPLE = "g++ -std=c++20 {} $(pkg-config --cflags --libs {}) -o example"
COMPILE_GPU_EXAMPLE = (
    "nvcc -std=c++20 -arch=sm_90 -c {} -o example.o $(pkg-config --cflags-only-I {}) && "
    "g++ example.o $(pkg-config --libs memwall-gpu) -o example")
# No GPU runs it here: code for the newest one and, for the driver, for the oldest will do.
RELEASE_OPTIONS = "-Dgpu_architectures=90"
CLANG = {"CC": "clang", "CXX": "clang++"}  # compiles instrumented code in half of GCC's time
OUTCOMES = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}  # meson's words

# Tests of code that runs on several threads, and the race that the sanitizer has to find.
THREADED = ("planted-race", "sparse-convert", "spmv-formats", "spmv-kernels", "spmv-openmp",
            "spmv-shared_work")


@dataclass(frozen=True)
class Check:
    """One thing that was tried."""

    name: str
    outcome: str  # "passed", "failed", "skipped"
    details: str = ""
    seconds: float = 0
    minor: bool = False  # one of many: not worth a line if it passed


Stage = Callable[[], Iterator[Check]]


def command(name: str, *words: str | Path, cwd: Path = ROOT, **environment: str) -> Check:
    """A check that passes if a command does."""
    log = BUILDS / "logs" / f"{name.replace('/', '-').replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with log.open("w") as output:
        done = subprocess.run([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL,
                              stdout=output, stderr=subprocess.STDOUT, check=False,
                              env={**os.environ, **environment})
    seconds = time.monotonic() - started
    if done.returncode == 0:
        return Check(name, "passed", "", seconds)
    return Check(name, "failed", f"exit code {done.returncode}\n{tail(log)}", seconds)


def tail(log: Path) -> str:
    """The end of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-SHOWN_LINES:])


def configured(name: str, directory: Path, options: str, *targets: str,
               **environment: str) -> Check:
    """Builds a directory with warnings as errors."""
    return command(name, ".ci/build", directory, *targets,
                   MESON_ARGS=f"-Dwerror=true {options}", **environment)


def unless_passed(check: Check) -> Iterator[Check]:
    """A check that counts only if it fails: what another stage has counted already."""
    if check.outcome != "passed":
        yield check


def meson_tests(prefix: str, directory: Path, *tests: str,
                **environment: str) -> Iterator[Check]:
    """Runs tests of a build directory, all unless some are named: a check for each program.

    Threads that wait sleep, so that they take no processor from the test beside them."""
    environment = {"OMP_WAIT_POLICY": "passive", **environment}
    log = directory / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    whole = command(f"{prefix} tests", "meson", "test", "-C", directory, "--quiet",
                    "--timeout-multiplier", "10", *tests, **environment)
    if not log.exists():
        details = whole.details or "meson ran no test"
        yield Check(f"{prefix} tests", "failed", details, whole.seconds)
        return
    for line in log.read_text().splitlines():
        test = json.loads(line)
        outcome = OUTCOMES.get(test["result"], "failed")
        said = f"{test.get('stdout', '')}\n{test.get('stderr', '')}".strip().splitlines()
        details = "" if outcome == "passed" else "\n".join([test["result"], *said[-SHOWN_LINES:]])
        yield Check(f"{prefix} {test['name']}", outcome, details, test["duration"])


def build() -> Iterator[Check]:
    """The release build, warnings as errors."""
    yield configured("build release", RELEASE, RELEASE_OPTIONS)


def unit() -> Iterator[Check]:
    """The unit tests of the release build."""
    yield from unless_passed(configured("build release", RELEASE, RELEASE_OPTIONS))
    yield from meson_tests("release", RELEASE)


def python() -> Iterator[Check]:
    """The tests of the Python programs."""
    report = BUILDS / "pytest.xml"
    report.unlink(missing_ok=True)
    rooms = (".ci", "lib", "datasets", "memwall")
    whole = command("pytest", sys.executable, "-m", "pytest", "-q", "-n", "auto",
                    "--dist", "worksteal", f"--junitxml={report}", *rooms)
    if not report.exists():
        yield whole
        return
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        seconds = float(case.get("time", 0))
        problem = next((child for child in case if child.tag in ("failure", "error")), None)
        skipped = case.find("skipped")
        if problem is not None:
            yield Check(name, "failed", problem.text or problem.get("message", ""), seconds)
        elif skipped is not None:
            yield Check(name, "skipped", skipped.get("message", ""), seconds)
        else:
            yield Check(name, "passed", "", seconds, minor=True)


def sanitize() -> Iterator[Check]:
    """The unit tests under AddressSanitizer, which has to find a planted leak, and
    UndefinedBehaviorSanitizer."""
    directory = BUILDS / "asan"
    # Places in the source come from the sanitizers' own tables: debug symbols cost minutes. Calls
    # through pointers are not checked: that leaves weak symbols in kernels.
    options = ("-Db_sanitize=address,undefined -Db_lundef=false -Dbuildtype=debug -Doptimization=1 "
               "-Ddebug=false -Dcuda=disabled -Dcpp_args=-fno-sanitize=function")
    yield from unless_passed(
        configured("build sanitize", directory, options, "meson-test-prereq", **CLANG))
    # Of an allocation who asked for it, so that only what OpenMP itself leaves is let pass.
    yield from meson_tests("sanitize", directory, "--no-rebuild",
                           ASAN_OPTIONS="malloc_context_size=2",
                           LSAN_OPTIONS=f"suppressions={ROOT / '.ci/leaks.txt'}",
                           UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1")


def tsan() -> Iterator[Check]:
    """The tests of threaded code under ThreadSanitizer, which has to find a planted race."""
    directory = BUILDS / "tsan"
    options = ("-Db_sanitize=thread -Db_lundef=false -Dbuildtype=debug -Doptimization=1 "
               "-Ddebug=false -Dcuda=disabled -Dmpi=disabled -Dpeers=disabled")
    # Clang's OpenMP tells the sanitizer how its threads wait for each other (its tool Archer); that
    # of GCC does not, and every parallel region would look like a race.
    yield from unless_passed(
        configured("configure tsan", directory, options, "build.ninja", **CLANG))
    yield from meson_tests("tsan", directory, *THREADED,
                           TSAN_OPTIONS="ignore_noninstrumented_modules=1")


def experiments() -> Iterator[Check]:
    """Every experiment that can run here, on tiny inputs, woven into the build directory."""
    yield from unless_passed(configured("build release", RELEASE, RELEASE_OPTIONS))
    machine = describe_machine(Workspace(ROOT, RELEASE))
    for experiment in definition.load_all(ROOT):
        name = f"experiment {experiment.name}"
        if reason := launches.unmet_need(experiment, machine):
            yield Check(name, "skipped", reason)
            continue
        yield command(name, sys.executable, "-m", "memwall", "--build", RELEASE, "run",
                      experiment.name, "--profile", "tiny")
    sample = BUILDS / "sample.mtx"
    sample.write_text(SAMPLE, encoding="utf-8")
    yield command("study", sys.executable, "-m", "memwall", "--build", RELEASE, "study", sample)


def cuda() -> Iterator[Check]:
    """Every .cu file compiled, where there is nvcc."""
    # Kits are compiled by their own tests, the example of the library by the stage `install`.
    sources = [path.relative_to(ROOT) for room in ("lib", "experiments")
               for path in sorted((ROOT / room).rglob("*.cu"))
               if path.parent.name != "kit" and path.name != "example.cu"]
    if not sources:
        return
    if not shutil.which("nvcc"):
        yield from (Check(f"compile {source}", "skipped", "no nvcc here") for source in sources)
        return
    yield from unless_passed(configured("build release", RELEASE, RELEASE_OPTIONS))
    commands = json.loads((RELEASE / "compile_commands.json").read_text())
    objects = {(RELEASE / entry["file"]).resolve(): entry["output"] for entry in commands}
    for source in sources:
        if ROOT / source not in objects:
            yield Check(f"compile {source}", "failed", "no target of meson.build compiles it")
        else:
            yield command(f"compile {source}", "ninja", "-C", RELEASE, objects[ROOT / source])


def neon() -> Iterator[Check]:
    """The kernels for aarch64, cross-compiled and tested in an emulator."""
    directory = BUILDS / "aarch64"
    yield configured("build aarch64", directory, "--cross-file lib/spmv/steps/aarch64.cross")
    yield from meson_tests("aarch64", directory)


def fuzz() -> Iterator[Check]:
    """The fuzz targets, by two processes for 20 seconds, memory and time of a text capped."""
    directory = BUILDS / "fuzz"
    options = "-Dfuzz=true -Dcuda=disabled -Dmpi=disabled -Dpeers=disabled"
    yield from unless_passed(
        configured("configure fuzz", directory, options, "build.ninja", **CLANG))
    for program in executables(directory):
        if program.name.endswith("_fuzz"):
            yield fuzzed(program, directory)


def executables(directory: Path) -> list[Path]:
    """The programs that a configured build directory can build."""
    listed = subprocess.run(["meson", "introspect", "--targets", directory], capture_output=True,
                            text=True, check=True)
    return [Path(target["filename"][0]) for target in json.loads(listed.stdout)
            if target["type"] == "executable"]


def fuzzed(program: Path, directory: Path) -> Check:
    """Builds a fuzz target `x_fuzz` and runs it, from what `x_corpus` writes to a folder."""
    corpus = program.with_name(program.name.replace("_fuzz", "_corpus"))
    name = f"fuzz {program.name}"
    targets = [str(path.relative_to(directory)) for path in (program, corpus)]
    built = command(name, "ninja", "-C", directory, *targets)
    if built.outcome != "passed":
        return built
    with tempfile.TemporaryDirectory() as folder:
        seeded = command(name, corpus, folder)
        if seeded.outcome != "passed":
            return seeded
        # Each process writes a log into the working directory; the program prints those logs.
        return command(name, program, f"-jobs={FUZZ_PROCESSES}", f"-workers={FUZZ_PROCESSES}",
                       f"-max_total_time={FUZZ_SECONDS}",
                       f"-timeout={FUZZ_SECONDS_PER_TEXT}", f"-rss_limit_mb={FUZZ_MEGABYTES}",
                       f"-artifact_prefix={BUILDS}/logs/", "-print_final_stats=1", folder,
                       cwd=BUILDS / "logs")


def check() -> Iterator[Check]:
    """Style, result files, and the committed pages woven again."""
    yield command("just check", just(), "check")


def docs() -> Iterator[Check]:
    """The Doxygen site, its warnings errors: links that lead somewhere, and pages in a browser."""
    yield command("just docs", just(), "docs")
    yield command("links of the site", sys.executable, ".ci/site_check.py", "links")
    name = "pages of the site"
    if browser.program() is None:
        yield Check(name, "skipped", f"no {browser.NAME} here: {browser.INSTALL}")
    else:
        yield command(name, sys.executable, ".ci/site_check.py", "pages")


def new() -> Iterator[Check]:
    """A new experiment in a copy of the tree builds, runs, weaves and passes the checks at once."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "memwall"
        shutil.copytree(ROOT, copy, symlinks=True, ignore=not_sources)
        (copy / ".venv").symlink_to((ROOT / ".venv").resolve())
        yield command("new creates", copy / "justw", "new", "scratch-experiment", cwd=copy)
        yield command("new runs and weaves", copy / "justw", "run", "scratch-experiment",
                      "--profile", "tiny", cwd=copy)
        yield command("new passes check", copy / "justw", "check", cwd=copy)


def not_sources(folder: str, names: list[str]) -> list[str]:
    """What of a folder of the tree is no part of the sources."""
    if Path(folder) != ROOT:
        return [name for name in names if name in ("__pycache__", "cache")]
    return [name for name in names if name in (".git", ".venv") or name.startswith("build")]


def install() -> Iterator[Check]:
    """The library as another project uses it: installed, found by pkg-config, linked, run."""
    yield from unless_passed(configured("build library", RELEASE, "", "library"))
    with tempfile.TemporaryDirectory() as folder:
        room = Path(folder)
        yield command("install library", "meson", "install", "-C", RELEASE, "--no-rebuild",
                      "--destdir", room / "root")
        found = [str(path.parent) for path in room.rglob("memwall.pc")]
        examples = [("spmv/plan/example.cpp", "memwall", plan_runs),
                    ("dense/example.cpp", "memwall", product_runs)]
        if list(room.rglob("memwall-gpu.pc")):
            examples += [("dense/gpu/example.cpp", "memwall-gpu", None),
                         ("transfer/example.cu", "memwall-gpu", None)]
        for name, library, runs in examples:
            compiling = COMPILE_GPU_EXAMPLE if name.endswith(".cu") else COMPILE_EXAMPLE
            compiled = command(f"install compiles {name}", "bash", "-c",
                               compiling.format(ROOT / "lib" / name, library),
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


def bundle() -> Iterator[Check]:
    """The archive of `just bundle`: unpacked where there is nothing else, it measures."""
    yield from unless_passed(configured("build programs", RELEASE, "", "programs"))
    archive = BUILDS / "bundle.tar.gz"
    yield command("bundle is made", sys.executable, ".ci/bundle.py", RELEASE, archive)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        yield from unless_passed(command("bundle unpacks", "tar", "-xf", archive, "-C", tree))
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
            if other.parent.name != BUNDLED:  # one tells whether it works
                shutil.rmtree(other.parent)
        yield command("bundle measures in a bare tree", ".ci/bare-tree", tree, "/memwall/run-all",
                      "--profile", "tiny")
        yield brought_home(tree, f"reports/*/results/{BUNDLED}.json", ranks=1)


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


STAGES: dict[str, Stage] = {
    stage.__name__: stage
    for stage in (build, unit, python, sanitize, tsan, experiments, cuda, neon, fuzz, check, docs,
                  install, new, bundle)
}


def just() -> str:
    """The just that is here."""
    return shutil.which("just") or str(ROOT / ".venv/bin/just")


def run_stage(name: str) -> list[Check]:
    """Runs a stage and shows its checks as they come."""
    stage = STAGES[name]
    print(f"\n== {name}: {(stage.__doc__ or '').strip()}", flush=True)
    checks = []
    try:
        for done in stage():
            checks.append(done)
            show(done)
    except Exception as error:  # a stage that breaks is a failure; the others still run
        checks.append(Check(name, "failed", f"{type(error).__name__}: {error}"))
        show(checks[-1])
    return checks


def show(check: Check) -> None:
    """One line for a check, and what it said if it did not pass."""
    if check.minor and check.outcome == "passed":
        return
    print(f"  {check.outcome:<7}  {check.name}  ({check.seconds:.1f} s)", flush=True)
    for line in check.details.strip().splitlines():
        print(f"           {line}", flush=True)


def count(checks: list[Check], outcome: str) -> int:
    """How many checks came out so."""
    return sum(check.outcome == outcome for check in checks)


def totals(checks: list[Check]) -> str:
    """The line that others read."""
    return ", ".join(f"{count(checks, outcome)} {outcome}"
                     for outcome in ("passed", "failed", "skipped"))


def main() -> int:
    """Runs the stages that the command line names, or all."""
    parser = argparse.ArgumentParser(prog="just test")
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=", ".join(STAGES))
    parser.add_argument("--all", action="store_true", help="search for faults for an hour, too")
    given = parser.parse_args()
    chosen = given.stages
    if given.all:
        os.environ.setdefault("MEMWALL_STATE_SECONDS", str(SEARCH_SECONDS))
    for name in chosen:
        if name not in STAGES:
            parser.error(f"no stage {name!r}; there are: {', '.join(STAGES)}")

    table = []
    everything: list[Check] = []
    for name in chosen or STAGES:
        started = time.monotonic()
        checks = run_stage(name)
        everything += checks
        table.append(f"  {name:<12} {totals(checks):<36} {time.monotonic() - started:6.0f} s")
    print("\n== summary", *table, sep="\n")
    for check in everything:
        if check.outcome == "failed":
            print(f"  failed: {check.name}")
    print(totals(everything), flush=True)
    return 1 if count(everything, "failed") else 0


if __name__ == "__main__":
    sys.exit(main())

"""What a stage of the tests is made of: checks, each passed, failed or skipped, of a command, of
the tests of a build directory, of those in Python, of a fuzz target."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILDS = ROOT / "build-test"
SHOWN_LINES = 40
#: So many times as long as a test says it may take where it gives way to all others.
PATIENCE = "40"
FUZZ_PROCESSES = 2  # at once, of the same corpus
FUZZ_MEGABYTES = 512
FUZZ_SECONDS_PER_TEXT = 20
OPTIONS = "tested-with"  # where a build directory says with which options it was configured
OUTCOMES = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}  # meson's words


@dataclass(frozen=True)
class Check:
    """One thing that was tried."""

    name: str
    outcome: str  # "passed", "failed", "skipped"
    details: str = ""
    seconds: float = 0
    minor: bool = False  # one of many: not worth a line if it passed


class Spent(threading.local):
    """Processor time in seconds of the commands that this thread ran, each with all it started."""

    seconds = 0.0


spent = Spent()


def command(name: str, *words: str | Path, cwd: Path = ROOT, **environment: str) -> Check:
    """A check that passes if a command does."""
    log = BUILDS / "logs" / f"{name.replace('/', '-').replace(' ', '-')}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen([str(word) for word in words], cwd=cwd, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT,
                                   env={**os.environ, **environment})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    spent.seconds += usage.ru_utime + usage.ru_stime
    seconds = time.monotonic() - started
    if process.returncode == 0:
        return Check(name, "passed", "", seconds)
    return Check(name, "failed", f"exit code {process.returncode}\n{tail(log)}", seconds)


def tail(log: Path) -> str:
    """The end of a log."""
    return "\n".join(log.read_text(errors="replace").splitlines()[-SHOWN_LINES:])


def configured(name: str, directory: Path, options: str, *targets: str,
               **environment: str) -> Check:
    """Builds a directory with warnings as errors, anew where it has other options: the whole run
    would find nothing that the short form leaves out."""
    recorded = directory / OPTIONS
    if directory.exists() and (not recorded.exists() or recorded.read_text() != options):
        shutil.rmtree(directory)
    directory.mkdir(parents=True, exist_ok=True)
    recorded.write_text(options)
    return command(name, ".ci/build", directory, *targets, cwd=ROOT,
                   MESON_ARGS=f"-Dwerror=true {options}", **environment)


def unless_passed(check: Check) -> Iterator[Check]:
    """A check that counts only if it fails: what another stage has counted already."""
    if check.outcome != "passed":
        yield check


def meson_tests(prefix: str, directory: Path, whole: bool, *tests: str,
                **environment: str) -> Iterator[Check]:
    """Runs tests of a build directory, all unless some are named, and builds what they need: a
    check for each. Those of the suite `large` belong to the whole.

    Threads that wait sleep, so that they take no processor from the test beside them."""
    environment = {"OMP_WAIT_POLICY": "passive", **environment}
    log = directory / "meson-logs/testlog.json"
    log.unlink(missing_ok=True)
    left_out = [] if whole else ["--no-suite", "large"]
    done = command(f"{prefix} tests", "meson", "test", "-C", directory, "--quiet",
                   "--timeout-multiplier", PATIENCE, *left_out, *tests, cwd=ROOT, **environment)
    if not log.exists():
        yield Check(f"{prefix} tests", "failed", done.details or "meson ran no test", done.seconds)
        return
    for line in log.read_text().splitlines():
        test = json.loads(line)
        outcome = OUTCOMES.get(test["result"], "failed")
        said = f"{test.get('stdout', '')}\n{test.get('stderr', '')}".strip().splitlines()
        details = "" if outcome == "passed" else "\n".join([test["result"], *said[-SHOWN_LINES:]])
        yield Check(f"{prefix} {test['name']}", outcome, details, test["duration"])


def python_tests(marks: str, *words: str) -> Iterator[Check]:
    """Runs the tests in Python with such marks, as many at once as there are processors, unless
    words for pytest say otherwise: a check for each."""
    report = BUILDS / "pytest.xml"
    report.unlink(missing_ok=True)
    done = command(f"pytest {marks}", sys.executable, "-m", "pytest", "-q", "-n", "auto",
                   "--dist", "loadgroup", f"--junitxml={report}", "-m", marks, *words)
    if not report.exists():
        yield done
        return
    for case in xml.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        seconds = float(case.get("time", 0))
        problem = next((child for child in case if child.tag in ("failure", "error")), None)
        skipped = case.find("skipped")
        if problem is not None:
            yield Check(name, "failed", problem.text or problem.get("message") or "", seconds)
        elif skipped is not None:
            yield Check(name, "skipped", skipped.get("message", ""), seconds)
        else:
            yield Check(name, "passed", "", seconds, minor=True)


def executables(directory: Path) -> list[Path]:
    """The programs that a configured build directory can build."""
    listed = subprocess.run(["meson", "introspect", "--targets", directory], capture_output=True,
                            text=True, check=True)
    return [Path(target["filename"][0]) for target in json.loads(listed.stdout)
            if target["type"] == "executable"]


def fuzzed(program: Path, directory: Path, seconds: int) -> Check:
    """Builds a fuzz target `x_fuzz` and runs it, from what `x_corpus` writes to a folder: by two
    processes for so long, memory and time of a text capped."""
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
                       f"-max_total_time={seconds}",
                       f"-timeout={FUZZ_SECONDS_PER_TEXT}", f"-rss_limit_mb={FUZZ_MEGABYTES}",
                       f"-artifact_prefix={BUILDS}/logs/", "-print_final_stats=1", folder,
                       cwd=BUILDS / "logs")


def count(checks: list[Check], outcome: str) -> int:
    """How many checks came out so."""
    return sum(check.outcome == outcome for check in checks)


def totals(checks: list[Check]) -> str:
    """`12 passed, 0 failed, 3 skipped`."""
    return ", ".join(f"{count(checks, outcome)} {outcome}"
                     for outcome in ("passed", "failed", "skipped"))

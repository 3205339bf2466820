#!/usr/bin/env python3
"""Makes an archive that measures on machines without a toolchain: `just bundle`.

It holds the programs as they were built, the shared libraries that they load (but for the C
library), a Python that runs them, and what describes the experiments. It unpacks anywhere.
"""

import argparse
import importlib.metadata
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "memwall"

# The C library has to be that of the machine: its parts load each other by absolute paths.
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|nss_\w+))\.so\.\d+")

PROGRAMS = ("experiments/*/*", "lib/bench/machine", "lib/*/*.so", "lib/**/*-gpu-test")
SOURCES = ("experiments", "lib", "datasets", "reports/weave")
NOT_SOURCES = ("__pycache__", "cache", "tests")
# What of Python's library nothing here needs.
NOT_LIBRARY = ("__pycache__", "config-*", "dist-packages", "site-packages", "ensurepip", "idlelib",
               "lib2to3", "pydoc_data", "test", "tests", "tkinter", "turtledemo")

RUN_ALL = """\
#!/bin/sh
# Measures every experiment on this machine; --help tells the options.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/shared" PYTHONHOME="$here/python" PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$here/reports:$here/python/packages"
if ! "$here/python/bin/python3" -c '' 2>/dev/null; then
    echo "run-all: cannot start; the C library has to be glibc {glibc} or later" >&2
    exit 2
fi
exec "$here/python/bin/python3" -m weave.elsewhere "$@"
"""

TEST_GPU = """\
#!/bin/sh
# Runs the tests of GPU code on this machine, where they were built.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/shared"
exec "$here/gpu-tests" "$here"/build/lib/*/*-gpu-test "$here"/build/lib/*/*/*-gpu-test
"""


PROFILE_GPU = """\
#!/bin/sh
# Asks Nsight Compute what limits kernels on this machine; --help tells the options.
here=$(cd "$(dirname "$0")" && pwd)
export LD_LIBRARY_PATH="$here/shared" PYTHONHOME="$here/python" PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$here/reports:$here/python/packages"
exec "$here/python/bin/python3" -m weave.profiler "$@"
"""


class BundleError(Exception):
    """Something that the archive needs is not here."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="build directory with the programs")
    parser.add_argument("archive", type=Path, help="what to write: NAME.tar.gz")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(dir=given.build) as folder:
            stage = Path(folder) / NAME
            fill(stage, given.build.resolve())
            with tarfile.open(given.archive, "w:gz", compresslevel=6) as archive:
                archive.add(stage, NAME)
    except (BundleError, OSError) as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 2
    print(f"{given.archive}: {given.archive.stat().st_size / 1e6:.0f} MB; unpack it on the machine"
          f" and call {NAME}/run-all")
    return 0


def fill(stage: Path, build: Path) -> None:
    """Puts everything into an empty folder."""
    for folder in SOURCES:
        shutil.copytree(ROOT / folder, stage / folder, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    programs = list(copied_programs(build, stage / "build"))
    interpreter = copy_python(stage / "python")
    loaded = [*programs, interpreter, *(stage / "python").rglob("*.so")]
    copy_libraries(loaded, stage / "shared")
    shutil.copy(ROOT / ".ci/gpu-tests", stage)
    glibc = subprocess.run(["ldd", "--version"], capture_output=True, text=True, check=True)
    script(stage / "run-all", RUN_ALL.format(glibc=glibc.stdout.splitlines()[0].split()[-1]))
    if any(program.name.endswith("-gpu-test") for program in programs):
        script(stage / "test-gpu", TEST_GPU)
        script(stage / "profile-gpu", PROFILE_GPU)


def script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def copied_programs(build: Path, to: Path) -> Iterator[Path]:
    """Copies the programs that were built, each to its place."""
    found = [path for pattern in PROGRAMS for path in build.glob(pattern)
             if path.is_file() and is_elf(path)]
    if not found:
        raise BundleError(f"{build}: no programs there")
    for path in found:
        target = to / path.relative_to(build)
        target.parent.mkdir(parents=True, exist_ok=True)
        yield Path(shutil.copy(path, target))


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def copy_python(to: Path) -> Path:
    """Copies the interpreter, its library, and the packages that the runner needs."""
    (to / "bin").mkdir(parents=True)
    interpreter = shutil.copy(Path(sys.executable).resolve(), to / "bin/python3")
    library = Path(sysconfig.get_path("stdlib"))
    shutil.copytree(library, to / "lib" / library.name,
                    ignore=shutil.ignore_patterns(*NOT_LIBRARY))
    for name in with_needs("jsonschema"):
        distribution = importlib.metadata.distribution(name)
        for file in distribution.files or []:
            if ".." not in file.parts and "__pycache__" not in file.parts:
                target = to / "packages" / file
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), target)
    return Path(interpreter)


def with_needs(name: str) -> set[str]:
    """A package and all that it cannot do without."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # of other versions of Python
        found.add(name)
        waiting += [re.split(r"[^\w.-]", need)[0] for need in needs if "extra ==" not in need]
    return found


def copy_libraries(programs: Iterable[Path], to: Path) -> None:
    """Copies the shared libraries that programs load, less the C library."""
    to.mkdir()
    for name, path in sorted({pair for program in programs for pair in needed(program)}):
        shutil.copy(path, to / name)
        if name.startswith("libmkl_rt"):
            for part in mkl_parts(path):
                shutil.copy(part, to)


def needed(program: Path) -> Iterator[tuple[str, Path]]:
    """Names and places of the shared libraries of a program."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    for line in listed.stdout.splitlines():
        name, arrow, place = line.strip().partition(" => ")
        if not arrow or C_LIBRARY.fullmatch(name):
            continue
        if place == "not found":
            raise BundleError(f"{program.name} needs {name}, which is not here")
        yield name, Path(place.split(" ")[0])


def mkl_parts(runtime: Path) -> Iterator[Path]:
    """What MKL's runtime loads, beside it."""
    wanted = re.compile(r"libmkl_(core|gnu_thread|intel_lp64|def|avx2|avx512)\.so\.\d+")
    for path in runtime.resolve().parent.iterdir():
        if wanted.fullmatch(path.name):
            yield path


if __name__ == "__main__":
    sys.exit(main())

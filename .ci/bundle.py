#!/usr/bin/env python3
"""Makes an archive that measures on machines without a toolchain: `just bundle`.

It holds the programs as they were built, the shared libraries that they load (but for the C
library), Open MPI where programs need it, a Python that runs them, and what describes the
experiments. It unpacks anywhere.
"""

import argparse
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memwall.record import errors  # noqa: E402
from memwall.record.errors import UserError  # noqa: E402

NAME = "memwall"

# The C library has to be that of the machine: its parts load each other by absolute paths.
C_LIBRARY = re.compile(r"(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|nss_\w+))\.so\.\d+")

PROGRAMS = ("lib/bench/machine", "lib/sparse/describe", "lib/distributed/anatomy", "lib/*/*.so",
            "lib/**/*-gpu-test")
LIST = "reports/machines.txt"
SOURCES = ("lib", "datasets",
           *(f"memwall/{room}" for room in ("record", "analysis", "run", "study")))
NOT_SOURCES = ("__pycache__", "cache", "tests")
# What measuring needs beside Python's library; a test of `memwall` holds it to that.
PACKAGES = ("fastjsonschema", "jsonschema")
# What of Python's library nothing here needs.
NOT_LIBRARY = ("__pycache__", "config-*", "dist-packages", "site-packages", "ensurepip", "idlelib",
               "lib2to3", "pydoc_data", "test", "tests", "tkinter", "turtledemo")

# Networks beyond TCP: their plugins load what only machines with such hardware have. What belongs
# to OpenSHMEM is not for MPI at all.
OTHER_NETWORKS = re.compile(
    r"lib(fabric|uc[mpst]|ibverbs|rdmacm|efa|psm\w*|infinipath|oshmem|lustreapi)\.so.*")

# Each command of a bundle: its module, and what it does.
COMMANDS = {
    "run-all": ("memwall.run.bundle", "Measures every experiment on this machine"),
    "run": ("memwall.run.bundle", "Measures one experiment on this machine: run NAME [OPTION...]"),
    "profile": ("memwall.run.bundle", "Writes a profiler's counters into a result of here"),
    "study": ("memwall.study.bundle", "Studies matrices: study FILE.mtx..."),
    "try": ("memwall.study.bundle", "Verifies and times a kernel among ours: try FILE --as KIND"),
}

# What begins each command. Libraries come from the archive first, as another C++ runtime or another
# OpenMP would be measured in place of that with which all was built and tested; then from where the
# user says; vendors' libraries of the archive come last, so that a newer one that the user names is
# the one that is compared with.
BEGIN = """\
#!/bin/sh
# {what}
fail() {{
    echo "{command}: $1" >&2
    exit 2
}}
unset CDPATH # cd would print
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0
here=$(cd -- "$(dirname -- "$self")" && pwd)
named=${{LD_LIBRARY_PATH:-}}
export LD_LIBRARY_PATH="$here/shared:${{named:+$named:}}$here/vendor"
[ -e "$here/{last}" ] && [ -e "$here/python/bin/python3" ] ||
    fail "$here is not whole: the archive, or its unpacking, was cut short; unpack it again"
"""

RUN = BEGIN + """\
export PYTHONHOME="$here/python" PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="$here:$here/python/packages"
# Open MPI looks for itself where it was built unless it is told; it refuses both by default: to run
# as root, and more ranks than cores.
if [ -d "$here/mpi" ]; then
    export PATH="$here/mpi/bin:$PATH" OPAL_PREFIX="$here/mpi"
    export OPAL_BINDIR="$here/mpi/bin" OPAL_LIBDIR="$here/mpi/lib" OPAL_SYSCONFDIR="$here/mpi/etc"
    export OPAL_PKGLIBDIR="$here/mpi/plugins" OPAL_PKGDATADIR="$here/mpi/help"
    export PMIX_PREFIX="$here/mpi/pmix" PMIX_LIBDIR="$here/mpi/pmix/lib"
    export PMIX_PKGLIBDIR="$here/mpi/pmix/plugins" PMIX_PKGDATADIR="$here/mpi/pmix/help"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    # It ends where it finds no ssh, even if all ranks are here, and no home of an unknown user.
    command -v ssh >/dev/null || export OMPI_MCA_plm=^rsh
    export HOME="${{HOME:-$here}}"
fi
python=$here/python/bin/python3
[ -x "$python" ] ||
    fail "$here lets no program run: its file system is mounted noexec, or modes of files were lost"
why=$("$python" -c '' 2>&1) || {{
    why=${{why%%
*}} # the first line
    machine=$(uname -m 2>/dev/null) || machine={architecture}
    [ "$machine" = {architecture} ] ||
        fail "cannot start: this machine is of $machine, and all was built for {architecture}"
    if [ -n "$named" ] && LD_LIBRARY_PATH="$here/shared" "$python" -c '' 2>/dev/null; then
        fail "cannot start with the libraries of LD_LIBRARY_PATH=$named: $why"
    fi
    case $why in
        *GLIBC_*"not found"* | *"python3: not found"*)
            fail "cannot start: the C library has to be glibc {glibc} or later" ;;
    esac
    fail "cannot start: $why"
}}
# -P: a checkout in which it is started has modules of the same names.
exec "$python" -P -m {module} {command} "$@"
"""

TEST_GPU = BEGIN + """\
exec "$here/gpu-tests" "$here"/build/lib/*/*-gpu-test "$here"/build/lib/*/*/*-gpu-test
"""
# The last file of an archive: where it is, all others are.
LAST = "whole"

# What programs open by name where a machine has it: none is linked with them.
OPENED = ("libopenblas.so.0",)

# Libraries that a user may have newer ones of, and that nothing but comparisons loads.
VENDORS = re.compile(r"lib(mkl_|openblas|cublas|cusparse|cudnn|cudart|nvJitLink).*")


class BundleError(UserError):
    """Something that the archive needs is not here."""


def main() -> int:
    return errors.exit_code(_main)


def _main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path, help="build directory with the programs")
    parser.add_argument("archive", type=Path, help="what to write: NAME.tar.gz")
    parser.add_argument("experiments", nargs="*", help="only these; default: all that were built")
    given = parser.parse_args()
    build(given.build, given.experiments)
    with tempfile.TemporaryDirectory(dir=given.archive.parent) as folder:
        stage, part = Path(folder) / NAME, Path(folder) / given.archive.name
        fill(stage, given.build.resolve(), given.experiments)
        last = Path(folder) / LAST
        last.touch()
        with tarfile.open(part, "w:gz", compresslevel=6) as archive:
            # The commands first: they can tell that the rest is not there.
            for path in sorted(stage.iterdir(), key=lambda path: (path.is_dir(), path.name)):
                archive.add(path, f"{NAME}/{path.name}")
            archive.add(last, f"{NAME}/{LAST}")
        part.replace(given.archive)
    print(f"{given.archive}: {given.archive.stat().st_size / 1e6:.0f} MB; unpack it on the machine"
          f" and call {NAME}/run-all, or {NAME}/run EXPERIMENT")
    return 0


def build(directory: Path, experiments: Sequence[str]) -> None:
    """Builds what the archive holds; a directory that is new is configured for every processor on
    which such archives run."""
    if experiments:
        calls = [["lib/bench/machine", *(f"experiment:{name}" for name in experiments)]]
    else:
        calls = [["programs"], *([["gpu-tests"]] if shutil.which("nvcc") else [])]
    native = "x86-64-v3" if platform.machine() == "x86_64" else ""
    for targets in calls:
        code = subprocess.call([ROOT / ".ci/build", directory.resolve(), *targets],
                               env={"MESON_ARGS": f"-Dnative={native}", **os.environ})
        if code:
            raise SystemExit(code)  # what is wrong was told


def fill(stage: Path, build: Path, experiments: Sequence[str]) -> None:
    """Puts everything into an empty folder."""
    chosen = [f"experiments/{name}" for name in experiments] or ["experiments"]
    for folder in (*SOURCES, *chosen):
        if not (ROOT / folder).is_dir():
            raise BundleError(f"no folder {folder}")
        shutil.copytree(ROOT / folder, stage / folder, ignore=shutil.ignore_patterns(*NOT_SOURCES))
    programs = list(copied_programs(build, stage / "build", experiments))
    interpreter = copy_python(stage / "python")
    loaded = [*programs, interpreter, *(stage / "python").rglob("*.so")]
    if any(name.startswith("libmpi.so") for program in programs for name, _ in needed(program)):
        loaded += copy_mpi(stage / "mpi")
    copy_libraries(loaded, opened(programs), stage / "shared", stage / "vendor")
    shutil.copy(ROOT / ".ci/gpu-tests", stage)
    shutil.copy(ROOT / "memwall/__init__.py", stage / "memwall")
    (stage / LIST).parent.mkdir()
    shutil.copy(ROOT / LIST, stage / LIST)  # names that are taken
    version = subprocess.run(["ldd", "--version"], capture_output=True, text=True, check=True)
    glibc = version.stdout.splitlines()[0].split()[-1]
    common = {"last": LAST, "glibc": glibc, "architecture": platform.machine()}
    for command, (module, what) in COMMANDS.items():
        script(stage / command, RUN.format(
            command=command, module=module, what=f"{what}; --help tells the options.", **common))
    if any(program.name.endswith("-gpu-test") for program in programs):
        script(stage / "test-gpu", TEST_GPU.format(
            command="test-gpu", what="Runs the tests of GPU code on this machine.", **common))


def script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def copied_programs(build: Path, to: Path, experiments: Sequence[str]) -> Iterator[Path]:
    """Copies the programs that were built, each to its place, and what they load from there."""
    wanted = [f"experiments/{name}/{name}" for name in experiments] or ["experiments/*/*"]
    found = [path for pattern in (*wanted, *PROGRAMS) for path in build.glob(pattern)
             if path.is_file() and is_elf(path)]
    measuring = [path for path in found if path.parent.parent.name == "experiments"]
    if len(measuring) < max(1, len(experiments)):
        raise BundleError(f"{build}: no programs there of {' '.join(experiments) or 'experiments'}")
    loaded = {place.resolve() for path in measuring for _, place in needed(path)}
    for path in found:
        if path.suffix == ".so" and path.resolve() not in loaded:
            continue  # for experiments that were not asked for
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
    for package in PACKAGES:
        for name in with_needs(package):
            copy_package(name, to / "packages")
    return Path(interpreter)


def copy_package(name: str, to: Path) -> None:
    """Copies the files of an installed package."""
    for file in importlib.metadata.distribution(name).files or []:
        if ".." not in file.parts and "__pycache__" not in file.parts:
            target = to / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file.locate(), target)


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


def copy_mpi(to: Path) -> list[Path]:
    """Copies what Open MPI consists of beside its libraries: `mpirun`, plugins, help texts. Returns
    what loads libraries in turn."""
    told = subprocess.run(["ompi_info", "--parsable", "--path", "all"], capture_output=True,
                          text=True, check=True)
    paths = {name: Path(place) for _, name, place in
             (line.split(":", 2) for line in told.stdout.splitlines() if line.startswith("path:"))}
    (to / "bin").mkdir(parents=True)
    programs = [Path(shutil.copy(paths["bindir"] / name, to / "bin/" / name))
                for name in ("mpirun", "orted")]
    plugins = copied_plugins(paths["pkglibdir"], "mca_*.so", to / "plugins")
    (to / "lib").mkdir()
    shutil.copytree(paths["pkgdatadir"], to / "help")
    shutil.copytree(paths["sysconfdir"], to / "etc")
    plugins += copy_pmix(plugins, to / "pmix")
    return [*programs, *plugins]


def copy_pmix(plugins: Iterable[Path], to: Path) -> list[Path]:
    """Copies the plugins and help texts of the PMIx that Open MPI's plugins load, if it is none of
    Open MPI's own; returns its plugins."""
    found = {place.resolve() for plugin in plugins for name, place in needed(plugin)
             if name.startswith("libpmix.so")}
    for library in found:
        home = library.parents[1]
        if (home / "share/pmix").is_dir():
            shutil.copytree(home / "share/pmix", to / "help")
        return copied_plugins(library.parent / "pmix", "*.so", to / "plugins")
    return []


def copied_plugins(folder: Path, pattern: str, to: Path) -> list[Path]:
    """Copies the plugins that load nothing of a network beyond TCP."""
    to.mkdir(parents=True)
    kept = [path for path in sorted(folder.glob(pattern))
            if not any(OTHER_NETWORKS.fullmatch(name) for name, _ in needed(path))]
    return [Path(shutil.copy(path, to / path.name)) for path in kept]


def copy_libraries(programs: Iterable[Path], by_name: dict[str, Path], to: Path,
                   vendors: Path) -> None:
    """Copies the shared libraries that programs load or open, less the C library; vendors' ones
    apart."""
    to.mkdir()
    vendors.mkdir()
    loaded = {pair for program in (*programs, *by_name.values()) for pair in needed(program)}
    for name, path in sorted(loaded | {*by_name.items()}):
        shutil.copy(path, (vendors if VENDORS.fullmatch(name) else to) / name)
        if name.startswith("libmkl_rt"):
            for part in mkl_parts(path):
                shutil.copy(part, vendors)


def opened(programs: Iterable[Path]) -> dict[str, Path]:
    """The libraries of this machine that programs open by name."""
    code = [program.read_bytes() for program in programs]
    wanted = [name for name in OPENED if any(name.encode() in bytes_ for bytes_ in code)]
    listed = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True,
                            env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"})
    known = [line.strip().partition(" => ") for line in listed.stdout.splitlines()]
    # Of two the loader takes the first: the last that is put in here.
    return {name: Path(place) for name in wanted for entry, _, place in reversed(known)
            if entry.split(" ")[0] == name}


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
    wanted = re.compile(r"libmkl_(core|gnu_thread|sequential|intel_lp64|def|avx2|avx512)\.so\.\d+")
    for path in runtime.resolve().parent.iterdir():
        if wanted.fullmatch(path.name):
            yield path


if __name__ == "__main__":
    sys.exit(main())

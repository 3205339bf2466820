"""Who imports whom: arrows between rooms, and between libraries, run one way, no two modules need
each other, a bundle has what it imports."""

import ast
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUNDLER = ROOT / ".ci/bundle.py"
OURS = ("memwall",)
#: Each room, and those that it may use.
USES: dict[str, tuple[str, ...]] = {
    "record": (),
    "analysis": ("record",),
    "figures": ("analysis", "record"),
    "pages": ("figures", "analysis", "record"),
    "run": ("analysis", "record"),
    "study": ("run", "analysis", "record"),
    "grade": ("run", "analysis", "record"),
}
#: Each library of C++, and those whose headers it includes.
INCLUDES: dict[str, set[str]] = {
    "base": set(),
    "simd": set(),
    "machine": set(),
    "bench": {"base", "machine"},
    "cuda": {"base", "bench"},
    "mpi": {"bench"},
    "sparse": {"base"},
    "kit": {"base", "sparse"},
    "transfer": {"base", "cuda", "simd"},
    "dense": {"base", "cuda", "machine", "simd"},
    "spmv": {"base", "cuda", "machine", "simd", "sparse"},
    "energy": {"bench", "cuda", "machine"},
    "ceilings": {"base", "bench", "cuda", "machine", "simd"},
    "distributed": {"base", "mpi", "sparse", "spmv"},
    "peers": {"base", "ceilings", "cuda", "dense", "sparse", "spmv"},
}

#: Modules that the scripts of a bundle start.
STARTED = ("memwall.run.bundle", "memwall.study.bundle")


@cache
def bundler() -> ModuleType:
    """What makes bundles: it knows what they carry."""
    spec = importlib.util.spec_from_file_location("bundler", BUNDLER)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def file_of(module: str) -> Path | None:
    """The source of a module of ours; None if there is none of that name."""
    path = ROOT.joinpath(*module.split("."))
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((each for each in found if each.is_file()), None)


def imported(path: Path) -> set[str]:
    """Modules that a source imports, wherever in it. Of `from a import b`, also `a.b` if that is
    one of ours."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{path}:{node.lineno}: a relative import"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {node.module, *(name for name in inner if file_of(name))}
    return names


def reached(start: str) -> Iterator[tuple[str, str]]:
    """What a module of ours imports, directly or through others of ours, with the first of those
    that does."""
    seen, waiting = {start}, [start]
    while waiting:
        module = waiting.pop()
        path = file_of(module)
        assert path is not None, f"no module {module}"
        for name in sorted(imported(path) - seen):
            seen.add(name)
            yield name, module
            if name.split(".")[0] in OURS:
                waiting.append(name)


@cache
def carried() -> set[str]:
    """Top names of the packages that a bundle carries."""
    names = {name for package in bundler().PACKAGES for name in bundler().with_needs(package)}
    return {top for top, packages in importlib.metadata.packages_distributions().items()
            if {name.lower().replace("_", "-") for name in packages}
            & {name.lower().replace("_", "-") for name in names}}


def is_carried(module: str) -> bool:
    """Whether a bundle has a module: of ours, of Python's library, or of a package."""
    top = module.split(".")[0]
    if top in OURS:
        path = file_of(module)
        return path is not None and str(path.relative_to(ROOT)).startswith(bundler().SOURCES)
    if top in sys.stdlib_module_names:
        return top not in bundler().NOT_LIBRARY
    return top in carried()


def sources_of(room: str) -> list[Path]:
    """The modules of a room and of the packages within it, but for tests."""
    return sorted(path for path in (ROOT / "memwall" / room).rglob("*.py")
                  if "tests" not in path.parts and "cheats" not in path.parts)


def test_arrows_run_one_way() -> None:
    """Between rooms as the table says; `__main__` alone knows those that measure and `pages`."""
    wrong = [f"{path.relative_to(ROOT)} imports {name}" for room, uses in USES.items()
             for path in sources_of(room) for name in imported(path)
             if name.startswith("memwall.") and name.split(".")[1] not in {room, *uses}]
    assert wrong == []
    rooms = {path.parent.name for path in ROOT.glob("memwall/*/__init__.py")}
    assert rooms == {*USES, "tests"}
    beside = {path.name for path in ROOT.glob("memwall/*.py")}
    assert beside == {"__init__.py", "__main__.py", "conftest.py"}


def test_no_module_needs_itself() -> None:
    """Arrows run one way, also those of late imports; the error would name the circle."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for room in USES
               for path in sources_of(room) if path.stem != "__init__"}
    assert len(modules) > 20
    needs = {name: imported(path) & modules.keys() for name, path in modules.items()}
    TopologicalSorter(needs).prepare()


def included(library: str) -> set[str]:
    """The other libraries whose headers one includes, but for tests."""
    sources = [path for path in (ROOT / "lib" / library).rglob("*")
               if path.suffix in {".hpp", ".cpp", ".cu", ".cuh"}
               and "_test" not in path.stem and "tests" not in path.parts]
    names = {name for path in sources for name in re.findall(
        r'^ *#include "(\w+)/', path.read_text(encoding="utf-8"), re.MULTILINE)}
    return names & INCLUDES.keys() - {library}


def test_arrows_between_libraries_run_one_way() -> None:
    """As the table says: an error would name the circle."""
    assert {library: included(library) for library in INCLUDES} == INCLUDES
    assert {path.name for path in (ROOT / "lib").iterdir() if path.is_dir()} == INCLUDES.keys()
    TopologicalSorter(INCLUDES).prepare()


def test_what_a_bundle_starts() -> None:
    assert {module for module, _ in bundler().COMMANDS.values()} == set(STARTED)


@pytest.mark.parametrize("start", STARTED)
def test_a_bundle_imports_what_it_carries(start: str) -> None:
    """Also what is imported late, inside of functions."""
    assert [f"{module} imports {name}" for name, module in reached(start)
            if not is_carried(name)] == []


@pytest.mark.parametrize("start", STARTED)
def test_a_bundle_starts_with_what_it_carries(start: str, tmp_path: Path) -> None:
    """What packages import is known when they are imported: here with nothing but those carried."""
    for package in bundler().PACKAGES:
        for name in bundler().with_needs(package):
            bundler().copy_package(name, tmp_path)
    code = f"import sys; sys.path += {[str(ROOT), str(tmp_path)]}; import {start}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_weaves_is_not_carried() -> None:
    """Else the tests above would find nothing."""
    assert not is_carried("altair") and not is_carried("jinja2") and not is_carried("numpy")
    assert is_carried("jsonschema") and is_carried("rpds") and is_carried("argparse")
    missing = {name for name, _ in reached("memwall.__main__") if not is_carried(name)}
    assert {"jinja2", "altair", "memwall.pages.book", "memwall.figures.sheet"} <= missing


def types_of(path: Path) -> Iterator[tuple[str, str]]:
    """Each class, alias and type variable of a module, with what is the same where another module
    means the same by that name."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, f"a class of {path.relative_to(ROOT)}"
        elif isinstance(node, ast.Assign):
            named = [ast.unparse(target) for target in node.targets]
            yield from ((name, ast.unparse(node.value)) for name in named
                        if name[:1].isupper() and (len(name) == 1 or not name.isupper()))


def test_a_name_means_one_type() -> None:
    """No two rooms call different things alike."""
    named: dict[str, set[str]] = {}
    for path in (path for room in USES for path in sources_of(room)):
        for name, meaning in types_of(path):
            named.setdefault(name, set()).add(meaning)
    assert {"Json", "Coordinates", "T", "P", "Claim"} <= named.keys()
    assert {name: found for name, found in named.items() if len(found) > 1} == {}

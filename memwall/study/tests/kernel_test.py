"""`just try`: what compiles is what programs call, and what does not is said by the compiler."""

import ctypes
import re
from pathlib import Path

import pytest

from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run.workspace import Workspace
from memwall.study import kernel
from memwall.tests import made_up

REPOSITORY = Path(__file__).resolve().parents[3]
GUIDE = REPOSITORY / "memwall/pages/site/your-own.md"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(REPOSITORY, tmp_path)


def kernel_of_the_guide() -> str:
    """The kernel that the page on own kernels shows."""
    found = re.search(r'```cpp\n(#include "spmv.hpp".*?)```', GUIDE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_kernel_of_the_guide_multiplies(workspace: Workspace, tmp_path: Path) -> None:
    file, library = tmp_path / "mine.cpp", tmp_path / "mine.so"
    file.write_text(kernel_of_the_guide(), encoding="utf-8")
    assert kernel.compiled(workspace, file, library) == 0
    ints, reals = ctypes.c_int32, ctypes.c_double
    row_ptr, col = (ints * 4)(0, 2, 2, 3), (ints * 3)(0, 3, 1)
    values, x, y = (reals * 3)(1, 2, 3), (reals * 4)(1, 10, 100, 1000), (reals * 3)(7, 7, 7)
    ctypes.CDLL(str(library)).memwall_tried(3, 4, row_ptr, col, values, x, y)
    assert list(y) == [2001, 0, 30]


def test_errors_of_the_compiler_are_shown(workspace: Workspace, tmp_path: Path,
                                          capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "broken.cpp"
    file.write_text('#include "spmv.hpp"\nint main() { return nothing; }\n', encoding="utf-8")
    assert kernel.try_kernel(workspace, file, "spmv", [], Console(), str) == 1
    assert "broken.cpp:2:21: error:" in capfd.readouterr().err


def test_a_file_without_the_function_is_refused(workspace: Workspace, tmp_path: Path,
                                                capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "empty.cpp"
    file.write_text('#include "spmv.hpp"\n', encoding="utf-8")
    assert kernel.compiled(workspace, file, tmp_path / "empty.so") != 0
    assert "undefined reference to `spmv(" in capfd.readouterr().err


def test_nvcc_takes_no_flags_of_the_environment(workspace: Workspace, tmp_path: Path,
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    nvcc, file, seen = tmp_path / "bin/nvcc", tmp_path / "mine.cu", tmp_path / "seen"
    nvcc.parent.mkdir()
    nvcc.write_text(f'#!/bin/sh\necho "${{NVCC_APPEND_FLAGS-}}$NVCC_PREPEND_FLAGS" >{seen}\n')
    nvcc.chmod(0o755)
    file.write_text("")
    for name, value in (("PATH", f"{nvcc.parent}:/usr/bin:/bin"), ("NVCC_APPEND_FLAGS", "-G"),
                        ("NVCC_PREPEND_FLAGS", "-O0")):
        monkeypatch.setenv(name, value)
    assert kernel.compiled(workspace, file, tmp_path / "mine.so") == 0
    assert seen.read_text() == "\n"


@pytest.mark.parametrize("name", ["missing.cpp", "kernel.py"])
def test_other_files_are_refused(workspace: Workspace, tmp_path: Path, name: str) -> None:
    if name == "kernel.py":
        (tmp_path / name).write_text("")
    with pytest.raises(UserError, match=name):
        kernel.try_kernel(workspace, tmp_path / name, "spmv", [], Console(), str)


def test_a_place_among_all() -> None:
    cases = tuple(made_up.product("m", variant=name, seconds=seconds)
                  for name, seconds in (("fast", 1e-3), ("yours", 2e-3), ("slow", 3e-3)))
    assert kernel.verdicts(kernel.rankings(cases)) == [
        "m, 1 thread: verified, place 2 of 3, 2.00 ms a product, 50 % of the memory bound"]
    wrong = made_up.product("m", variant="yours", seconds=None, reason="off by one")
    assert kernel.verdicts(kernel.rankings([wrong])) == [
        "m, 1 thread: failed verification: off by one"]

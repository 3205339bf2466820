"""What `make test` says to students whose program is not right yet."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memwall.grade.tests import small_kit
from memwall.grade.tests.cheats_test import CASES

SERIAL, OPENMP, MPI, *_ = CASES
CRASH = """#include "spmv.hpp"

void spmv(Csr const& a, std::span<double const>, std::span<double> y)
{
    for (std::int32_t i = 0; i < a.rows; ++i) {
        y[i + (1 << 28)] = 0;
    }
}
"""
WAITS = """#include "spmv.hpp"

#include <mpi.h>

void spmv(Csr const&, std::span<std::int32_t const>, std::span<double const>, std::span<double> y)
{
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Recv(y.data(), 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
"""

pytestmark = [pytest.mark.skipif(shutil.which("make") is None, reason="no make here"),
              pytest.mark.xdist_group("workshop")]


def said(folder: Path, name: str, text: str, **environment: str) -> str:
    """What `make test` says of a text; it has to fail."""
    student = small_kit.small(folder, name, CASES[name]).folder / "student"
    (student / "spmv.cpp").write_text(text)
    done = subprocess.run(["make", "-s", "-C", student, "test"], capture_output=True, text=True,
                          check=False, env={"PATH": "/usr/bin:/bin", **environment})
    assert done.returncode != 0, done.stdout
    return done.stdout


def test_a_crash_runs_again_under_the_sanitizers_which_name_the_line(tmp_path: Path) -> None:
    told = said(tmp_path, SERIAL, CRASH)
    assert "it was ended by Segmentation fault" in told
    assert "AddressSanitizer found SEGV (spmv.cpp, line 6)" in told


def test_a_function_of_another_type_is_shown_beside_the_one_that_is_asked_for(
        tmp_path: Path) -> None:
    told = said(tmp_path, SERIAL, '#include "spmv.hpp"\nvoid spmv(Csr) {}\n')
    assert "spmv.cpp defines no spmv as spmv.hpp declares it:\nvoid spmv(Csr const& a," in told
    assert "it defines spmv(Csr)" in told


@pytest.mark.large
def test_ranks_that_wait_for_ever_are_told_about_messages(tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun here")
    told = said(tmp_path, MPI, WAITS)
    assert "did not come back: 1. Do they wait for a message that nobody sends" in told


@pytest.mark.large
def test_a_race_is_found_or_said_not_to_be_looked_for(tmp_path: Path) -> None:
    race = (small_kit.ROOT / "memwall/grade/cheats/openmp/race_by_luck.cpp").read_text()
    told = said(tmp_path / "with", OPENMP, race)
    if "NOT looked for" in told:
        pytest.skip("no clang++ with Archer here")
    assert "a race: two threads use the same memory" in told
    assert "(spmv.cpp, line 14)" in told
    without = tmp_path / "bin"
    without.mkdir()
    for tool in Path("/usr/bin").iterdir():
        if not tool.name.startswith("clang"):
            (without / tool.name).symlink_to(tool)
    student = small_kit.small(tmp_path / "without", OPENMP, CASES[OPENMP]).folder / "student"
    shutil.copy(student / "naive.cpp", student / "spmv.cpp")
    done = subprocess.run(["make", "-s", "-C", student, "test"], capture_output=True, text=True,
                          check=False, env={"PATH": str(without)})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "races were NOT looked for" in done.stdout

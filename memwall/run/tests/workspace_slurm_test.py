"""The job for Slurm."""

import os
import subprocess
from pathlib import Path

import pytest

from memwall.record.errors import UserError
from memwall.run import workspace as places
from memwall.run.workspace import Workspace


def run_job(folder: Path, program: str) -> tuple[int, Path]:
    """Runs a job as Slurm would, with a program in the place of Python; returns where home is."""
    workspace = Workspace(folder, folder / "build")
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/bash\n{program}\n")
    python.chmod(0o755)
    earlier = folder / "build/runs/spmv-mpi-partitioning-earlier"
    earlier.mkdir(parents=True)
    (earlier / "result.json").write_text("earlier")
    os.utime(earlier, (1, 1))
    job = places.slurm_job(workspace, "2", ["--matrix", "my matrix.mtx"])
    done = subprocess.run(["bash", job], env={**os.environ, "SLURM_JOB_ID": "7"}, check=False)
    return done.returncode, folder / "build/slurm/7"


def test_results_come_home(tmp_path: Path) -> None:
    folder = tmp_path / "a tree"
    run = "build/runs/spmv-mpi-partitioning-now"
    code, home = run_job(folder, f'mkdir -p {run}; printf "%s|" "$@" >{run}/result.json')
    assert code == 0
    assert [path.name for path in home.iterdir()] == ["result.json"]
    said = "-m|memwall|run|spmv-mpi-partitioning|--matrix|my matrix.mtx|"
    assert (home / "result.json").read_text() == said


def test_what_was_measured_comes_home_from_a_run_that_died(tmp_path: Path) -> None:
    run = "build/runs/spmv-mpi-partitioning-now"
    died = f"mkdir -p {run}; echo point >{run}/launch-0.json.journal; exit 2"
    code, home = run_job(tmp_path, died)
    assert code == 2
    assert (home / "launch-0.json.journal").read_text() == "point\n"


def test_the_job_asks_for_its_hosts(tmp_path: Path) -> None:
    text = places.slurm_script(Workspace(tmp_path, tmp_path / "build"), "3", 64, [])
    assert "#SBATCH --nodes=3\n" in text
    assert "#SBATCH --ntasks-per-node=64\n" in text


@pytest.mark.parametrize("nodes", ["0", "-1", "two", "1.5", ""])
def test_what_is_no_number_of_hosts(tmp_path: Path, nodes: str) -> None:
    with pytest.raises(UserError, match=f"found '{nodes}', expected a number of hosts"):
        places.slurm_job(Workspace(tmp_path, tmp_path / "build"), nodes, [])

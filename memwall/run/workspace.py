"""Where experiments are measured: a tree and what was built from it, and this machine; other hosts,
by a job for Slurm."""

import argparse
import hashlib
import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from memwall.record import files, numbers, results
from memwall.record.errors import UserError, ending


@dataclass(frozen=True)
class Workspace:
    """Where the sources and what was built from them lie."""

    root: Path
    build: Path
    run: str = "just run"  # how people start a run here

    @classmethod
    def of(cls, given: argparse.Namespace) -> Self:
        """That of a command line with `--root` and `--build`."""
        root = given.root.resolve()
        return cls(root, (given.build or root / "build").resolve())

    def build_programs(self, *targets: str) -> None:
        """Builds what a command starts (targets of `.ci/build`). Nothing is built where a tree
        brings its programs, as an archive does, nor in another folder that the user names."""
        command = self.root / ".ci/build"
        if self.build != self.root / "build" or not command.exists():
            return
        if code := subprocess.call([command, self.build, *targets]):
            raise SystemExit(code)  # what is wrong was told

    def program(self, name: str) -> Path:
        """The program of an experiment."""
        return self.build / "experiments" / name / name

    def shown(self, path: Path) -> str:
        """A path as people would type it where they are."""
        return files.shown(path)


def describe_machine(workspace: Workspace) -> dict[str, Any]:
    """The `machine` object of results; its `slug` is what its hardware is called."""
    workspace.build_programs("lib/bench/machine")
    command = workspace.build / "lib/bench/machine"
    described = subprocess.run([command], capture_output=True, encoding="utf-8", errors="replace",
                               check=False)
    if described.returncode:
        why = described.stderr.strip() or ending(described.returncode)
        raise UserError(f"{workspace.shown(command)}: {why}")
    return results.machine(described.stdout, workspace.shown(command))


def file_digest(path: Path) -> str:
    """sha256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- on other hosts: a job for Slurm -------------------------------------------------------------

#: The experiment that several hosts can measure together.
SLURM_EXPERIMENT = "spmv-mpi-partitioning"

SLURM_SCRIPT = """\
#!/usr/bin/env bash
#SBATCH --job-name=memwall
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={tasks}
#SBATCH --exclusive
#SBATCH --output="{home}/%j.log"
# Submit it from any folder. All hosts must see this tree at the same place. Results come home to
# {home}/JOB, also those of a run that died on the way. A task is a thread of a host:
# where other hosts have more or fewer of them than the one that wrote this, change line 4.
set -euo pipefail
cd {root}
home={quoted_home}/$SLURM_JOB_ID
before=" $(echo build/runs/{experiment}-*/) "

bring_home() {{
    local run
    mkdir -p "$home"
    for run in build/runs/{experiment}-*/; do
        if [ -d "$run" ] && [[ $before != *" $run "* ]]; then
            cp -r "$run". "$home/"
        fi
    done
}}
trap bring_home EXIT

# Open MPI refuses both by default: to run as root, and more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
{python} -m memwall run {experiment}{arguments}
"""


def slurm_job(workspace: Workspace, nodes: str, arguments: Sequence[str]) -> Path:
    """Writes the job for so many hosts like this one; returns its file."""
    nodes = str(numbers.whole("slurm", nodes, what="a number of hosts"))
    workspace.build_programs(f"experiment:{SLURM_EXPERIMENT}", "lib/bench/machine")
    home = workspace.build / "slurm"
    job = home / f"{nodes}-nodes.sbatch"
    files.write(job, slurm_script(workspace, nodes, len(os.sched_getaffinity(0)), arguments))
    return job


def slurm_script(workspace: Workspace, nodes: str, tasks: int, arguments: Sequence[str]) -> str:
    """The text of the job."""
    return SLURM_SCRIPT.format(
        nodes=nodes,
        tasks=tasks,
        root=shlex.quote(str(workspace.root)),
        home=workspace.build / "slurm",
        quoted_home=shlex.quote(str(workspace.build / "slurm")),
        experiment=SLURM_EXPERIMENT,
        python=shlex.quote(str(workspace.root / ".venv/bin/python")),
        arguments="".join(f" {shlex.quote(word)}" for word in arguments),
    )

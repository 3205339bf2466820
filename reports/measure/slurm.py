"""`just slurm NODES`: a job for Slurm that measures on many hosts and brings its results home."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from measure.workspace import Workspace
from weave.errors import WeaveError

#: The experiment that several hosts can measure together.
EXPERIMENT = "spmv-mpi-partitioning"

SCRIPT = """\
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

export PYTHONPATH=reports
# Open MPI refuses both by default: to run as root, and more ranks than cores.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
{python} -m measure run {experiment}{arguments}
"""


def write(workspace: Workspace, nodes: str, arguments: Sequence[str]) -> Path:
    """Writes the job for so many hosts like this one; returns its file."""
    if not nodes.isdecimal() or int(nodes) < 1:
        raise WeaveError(f"slurm: found {nodes!r}, expected a number of hosts")
    home = workspace.build / "slurm"
    home.mkdir(parents=True, exist_ok=True)
    job = home / f"{nodes}-nodes.sbatch"
    job.write_text(script(workspace, nodes, len(os.sched_getaffinity(0)), arguments))
    return job


def script(workspace: Workspace, nodes: str, tasks: int, arguments: Sequence[str]) -> str:
    """The text of the job."""
    return SCRIPT.format(
        nodes=nodes,
        tasks=tasks,
        root=shlex.quote(str(workspace.root)),
        home=workspace.build / "slurm",
        quoted_home=shlex.quote(str(workspace.build / "slurm")),
        experiment=EXPERIMENT,
        python=shlex.quote(str(workspace.root / ".venv/bin/python")),
        arguments="".join(f" {shlex.quote(word)}" for word in arguments),
    )

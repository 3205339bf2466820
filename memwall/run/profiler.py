"""`just profile`: what a profiler counts in a call of a variant, written into its case of a result.

The program is started for one case at a time, and tells the profiler when a timed call begins and
ends (`Target::profile` of `lib/bench`), so that checks, preparations and emptied caches count
nothing. On a GPU Nsight Compute (`ncu`) looks at every kernel of one call; on the host `perf stat`
counts events of all threads.
"""

import argparse
import csv
import io
import math
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memwall.analysis.measurements import Measurements
from memwall.record import definition, machines, names, notation, results, sources
from memwall.record.console import Console, duration
from memwall.record.errors import UserError
from memwall.record.regions import Where
from memwall.record.results import STUDY, Case, Json, Result
from memwall.run.workspace import Workspace, describe_machine

#: Why warps wait: cycles for each instruction that is issued.
STALLS = ("long_scoreboard", "short_scoreboard", "lg_throttle", "mio_throttle", "barrier", "wait",
          "membar", "branch_resolving", "no_instruction", "not_selected")
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
GLOBAL_LOADS = "pipe_lsu_mem_global_op_ld"

#: What kernels are asked for, by the names that it has in a result.
OF_KERNELS: dict[str, str] = {
    "seconds": "gpu__time_duration.sum",
    "dram_bytes": "dram__bytes.sum",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_percent": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1_percent": "l1tex__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "l2_sectors": "lts__t_sectors_op_read.sum",
    "l2_atomics": "lts__t_requests_op_atom.sum",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "sectors_per_request": f"l1tex__average_t_sectors_per_request_{GLOBAL_LOADS}.ratio",
    "global_load_requests": f"l1tex__t_requests_{GLOBAL_LOADS}.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    **{f"stall_{stall}": STALL.format(stall) for stall in STALLS},
}
TIME = OF_KERNELS["seconds"]
NANOSECOND = 1e-9  # the base unit of a time

#: Events of processors, by the names that they have in a result.
OF_PROCESSORS = {event.lower().replace("-", "_"): event for event in (
    "branch-misses", "branches", "LLC-load-misses", "instructions", "cycles")}

#: `lib/bench` tells a profiler of its timed calls where this is set.
VARIABLE = "MEMWALL_PROFILER"
#: On the host several calls are counted, so that the two words to `perf` weigh little.
SAMPLING = ["--samples", "3", "--min-time", "0.02"]
NO_COUNTERS = "profile: this machine lets no program read its counters"
#: What profilers say where they may not count.
FORBIDDEN = {
    "ERR_NVGPUCTRPERM": "profile: the driver lets only administrators read counters here"
                        " (ERR_NVGPUCTRPERM)",
    "perf_event_": NO_COUNTERS,
}
#: Options of a run that a start for one case has for itself.
OWN_OPTIONS = {"--study", "--profile", "--precision", "--filter", "--samples", "--min-time",
               "--threads", "--again"}

Counters = dict[str, float]


def add_options(profile: argparse.ArgumentParser) -> None:
    """What `profile` is told."""
    profile.add_argument("name", metavar="NAME", help="an experiment")
    profile.add_argument("--result", type=Path, required=True, metavar="FILE",
                         help="a result of it, measured on this machine; it gets the counters")
    profile.add_argument("--variant", nargs="+", default=(), help="default: all at the point")
    profile.add_argument("--where", nargs="+", default=(), metavar="AXIS=VALUE",
                         help="points, in the words of claims: 'matrix=fem3*', threads=max;"
                              " of other axes the first value")
    profile.add_argument("--counters", nargs="+", default=(), metavar="COUNTER",
                         choices=[*OF_KERNELS, *OF_PROCESSORS],
                         help=f"default: all. On a GPU {', '.join(OF_KERNELS)}; on the host"
                              f" {', '.join(OF_PROCESSORS)}")


def profile_cases(workspace: Workspace, given: argparse.Namespace, console: Console) -> int:
    """Counts each case that is asked for, and writes it into the result at once."""
    measured = _of_here(workspace, given.name, given.result)
    cases = chosen(measured, given.variant, region_of(given.where))
    if not cases:
        raise UserError(f"profile: {given.result} has no such case that passed on the host or a"
                         " GPU, in a launch of one rank")
    tools = {target: find_tool(target, given.counters) for target in {c.target for c in cases}}
    result = measured.result
    entries = {id(case): raw for case, raw in zip(result.cases, result.raw["cases"], strict=True)}
    for case in cases:
        console.line(f"  {case.variant} {measured.label(case)}")
    points = {frozenset(measured.coordinates(case).items()) for case in measured.cases}
    seconds = measured.experiment.expected_seconds(result.run["profile"]) * len(cases)
    console.line(f"{notation.plural(len(cases), 'case')}, about"
                 f" {duration(max(1, seconds / len(points)))} by what a point of a run takes;"
                 " stopped, it keeps what it has")
    for case in cases:
        start = Start(workspace.program(given.name), result, case)
        tool = tools[case.target]
        values = {name: float(f"{value:.6g}") for name, value in tool.count(start).items()}
        if not values:
            raise UserError(f"profile: {tool.version} counted nothing of {case.variant}")
        entries[id(case)]["counters"] = {"tool": tool.version, "values": values}
        results.write(result.raw, given.result)
        console.line(f"{case.variant} {measured.label(case)}: {len(values)} counters")
    folder = given.result.resolve().parent
    is_kept = folder.parent.parent == workspace.root / "reports"
    how = (f"just report {folder.parent.name}" if is_kept
           else f".venv/bin/python -m memwall page {given.result}")
    console.line(f"wrote {given.result}; in a checkout this weaves it: {how}")
    return 0


def _of_here(workspace: Workspace, name: str, path: Path) -> Measurements:
    """A result of an experiment, if it is one of this machine."""
    program = workspace.program(names.require_experiment(workspace.root, name))
    experiment = definition.load(workspace.root, name)
    workspace.build_programs(f"experiment:{name}", "lib/bench/machine")
    if not program.is_file():
        raise UserError(f"profile: {name} was not built: no file {workspace.shown(program)}")
    result = results.load(path)
    if result.experiment != name:
        raise UserError(f"profile: {path} is a result of {result.experiment}, not of {name}")
    here = describe_machine(workspace)
    if differing := machines.difference(result.raw["machine"], here):
        raise UserError(f"profile: {path} is from another machine: {differing}")
    return Measurements(result, experiment, sources.read_tree(workspace.root))


def region_of(words: Sequence[str]) -> Where:
    """`matrix=fem3 matrix=rmat threads=4` as a region; what may be a number may be a name too."""
    where: dict[str, list[str | float]] = {}
    for word in words:
        axis, is_there, value = word.partition("=")
        if not is_there:
            raise UserError(f"--where: found {word!r}, expected AXIS=VALUE")
        where.setdefault(axis, []).append(value)
        if (number := _number(value)) is not None:
            where[axis].append(number)
    return where


def chosen(measured: Measurements, variants: Sequence[str], where: Where) -> list[Case]:
    """The cases that passed in a region; of axes that it does not name only the first value."""
    named = {"variant": list(variants)} if variants else {}
    launches = measured.result.raw["launches"]
    cases = [case for case in measured.select({**where, **named})
             if case.target in TOOLS and launches[case.launch]["ranks"] == 1]
    for axis in measured.axes:
        if axis not in where and cases:
            first = measured.coordinates(cases[0]).get(axis)
            cases = [case for case in cases if measured.coordinates(case).get(axis) == first]
    for case in cases:
        if reason := measured.stale_variants.get(case.variant):
            raise UserError(f"profile: {case.variant} is no longer what was measured: {reason}")
    return cases


@dataclass(frozen=True)
class Start:
    """How a program is started for one case alone."""

    program: Path
    result: Result
    case: Case

    def command(self) -> list[str]:
        """The command line, less samples and output: what the run was told, at this point."""
        run, parameters = self.result.run, self.case.parameters
        known = {f"--{axis}" for one in self.result.cases for axis in one.parameters}
        given = {option[0].partition("=")[0]: option
                 for option in results.options(run["arguments"])}
        kept = [word for name, option in given.items() if name not in OWN_OPTIONS | known
                for word in option]
        studies = {one.parameters[STUDY] for one in self.result.cases}
        axes = [axis for axis in parameters
                if axis != STUDY or len(studies) > 1 or "--study" in given]
        point = [word for axis in axes for word in (f"--{axis}", str(parameters[axis]))]
        exact = re.sub(r"([.+])", r"[\1]", self.case.variant)
        return [str(self.program), *kept, "--profile", run["profile"], *point,
                "--filter", f"^{exact}$", "--threads", str(self._launch["threads"])]

    def under(self, profiler: Sequence[str], sampling: Sequence[str], told: str,
              inherit: Sequence[int] = ()) -> tuple[str, int]:
        """What a profiler and the program said, and how many calls of the case were timed."""
        threads = {"OMP_NUM_THREADS": str(self._launch["threads"])}
        environment = {**os.environ, **self._launch["environment"], **threads,
                       "LC_ALL": "C", VARIABLE: told}
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "result.json"
            done = subprocess.run(
                [*profiler, *self.command(), *sampling, "--output", str(output)],
                encoding="utf-8", errors="replace", env=environment, pass_fds=inherit,
                capture_output=True, check=False)
            said = f"{done.stdout}\n{done.stderr}"
            for word, meaning in FORBIDDEN.items():
                if word in said:
                    raise UserError(meaning)
            if done.returncode or not output.exists():
                last = said.strip().splitlines()[-1:] or ["no output"]
                raise UserError(f"profile: {self.case.variant} under {Path(profiler[0]).name}"
                                 f" ended with code {done.returncode}: {last[0]}")
            return said, self._calls(results.load(output))

    @property
    def _launch(self) -> Json:
        return self.result.raw["launches"][self.case.launch]

    def _calls(self, found: Result) -> int:
        """Timed calls of this case, which must be all that was measured."""
        wanted = [(self.case.variant, self.case.parameters)]
        if [(one.variant, one.parameters) for one in found.cases] != wanted:
            raise UserError(f"profile: asked for {self.case.variant} alone, the program measured"
                             f" {', '.join(one.variant for one in found.cases) or 'nothing'}")
        return found.raw["cases"][0]["iterations"] * len(found.cases[0].samples)


@dataclass(frozen=True)
class Tool:
    """A profiler: the counters of a call by name, and its name with its version for the record."""

    version: str
    count: Callable[[Start], Counters]


def find_tool(target: str, asked: Collection[str]) -> Tool:
    """The profiler of a target, for the counters that are asked for, or all that it has."""
    name, title, known, count = TOOLS[target]
    path = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
    if path is None:
        raise UserError(f"profile: {title} is not on this machine")
    names = {short: long for short, long in known.items() if not asked or short in asked}
    if not names:
        raise UserError(f"--counters: none of {title}, which has: {', '.join(known)}")
    said = subprocess.run([path, "--version"], capture_output=True, encoding="utf-8",
                          errors="replace", check=False).stdout
    number = re.search(r"[Vv]ersion (\S+)", said)
    return Tool(f"{name} {number[1]}" if number else name, lambda start: count(path, start, names))


def count_kernels(ncu: str, start: Start, names: Mapping[str, str]) -> Counters:
    """The kernels of one call: sums, and of rates and shares the mean weighted by their times."""
    metrics = ",".join(dict.fromkeys([TIME, *names.values()]))
    caches = "all" if start.case.cache == "cold" else "none"  # emptied before each kernel, or not
    said, calls = start.under(
        [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics", metrics,
         "--profile-from-start", "off", "--graph-profiling", "node", "--clock-control", "none",
         "--cache-control", caches], ["--samples", "1", "--min-time", "1e-9"], "ncu")
    values: Counters = {}
    kernels = kernels_of(said)
    if not kernels:
        raise UserError(f"profile: {start.case.variant} launched no kernel while it was timed")
    for name, metric in names.items():
        found = [(kernel[metric], kernel.get(TIME, 1)) for kernel in kernels if metric in kernel]
        if found and metric.endswith(".sum"):
            values[name] = sum(value for value, _ in found) / calls
        elif found:  # else this GPU does not count it
            values[name] = sum(value * time for value, time in found) / sum(t for _, t in found)
    return {name: value * (NANOSECOND if name == "seconds" else 1)
            for name, value in values.items()}


def kernels_of(text: str) -> list[Counters]:
    """The metrics of each kernel: `ncu --csv --page raw` prints names, units, and a row for each,
    behind what the program said."""
    lines = text.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID",')), None)
    if first is None:
        return []
    table = [line for line in lines[first:] if line.startswith('"')]
    names, *rows = csv.reader(io.StringIO("\n".join(table)))
    return [{name: value for name, text in zip(names, row, strict=False)
             if (value := _number(text)) is not None} for row in rows if row[0]]


def _number(text: str) -> float | None:
    """A number with or without commas; None of anything else, such as `n/a` and `nan`."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def count_events(perf: str, start: Start, names: Mapping[str, str]) -> Counters:
    """Events of all threads in the timed calls, for one call."""
    of_perf, of_program = socket.socketpair()
    with of_perf, of_program:
        here, there = of_perf.fileno(), of_program.fileno()
        said, calls = start.under(
            [perf, "stat", "-x,", "-D", "-1", "--control", f"fd:{here},{here}",
             "-e", ",".join(names.values()), "--"], SAMPLING,
            f"{there},{there}", (here, there))
    found = events_of(said)
    if not any(event in found for event in names.values()):
        raise UserError(NO_COUNTERS)
    return {name: found[event] / calls for name, event in names.items() if event in found}


def events_of(text: str) -> Counters:
    """What `perf stat -x,` prints, among what the program said: value, unit, event, and more. In
    place of a value stands `<not supported>` or `<not counted>` where there is none."""
    rows = [line.split(",") for line in text.splitlines()]
    return {row[2].removesuffix(":u"): value for row in rows
            if len(row) > 4 and (value := _number(row[0])) is not None}


#: Who counts, by the target of a case: a program, what it is called, counters.
TOOLS = {"cuda": ("ncu", "ncu (Nsight Compute)", OF_KERNELS, count_kernels),
         "host": ("perf", "perf", OF_PROCESSORS, count_events)}

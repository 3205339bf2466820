"""`just fit-plan`: constants of the plan's model for a kind of processor, from measured runs."""

import argparse
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path


import numpy as np

from measure import plan_fit
from measure.plan_fit import Point, Vector, Way
from weave import results
from weave.errors import WeaveError
from weave.results import Case, Json, Result

PRECISIONS = ("fp32", "fp64")
GROUPS = ("format", "build")  # of variants that a plan may choose
PIECES = re.compile(r", \d+ rows in pieces$")
COLUMNS = ("now", "fitted", "without")
UNDISTURBED = 0.25  # quantile of samples; half of them may have met somebody else's work


@dataclass(frozen=True)
class Machine:
    """What the model has to know of a machine that measured."""

    vendor: str
    kernels: str
    caches: tuple[int, int, int]
    hardware_threads: int
    model: str


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds `fit-plan` to the command line."""
    fit = commands.add_parser("fit-plan", help="fit the constants of the plan's model to runs")
    fit.add_argument("result", type=Path, nargs="+", help="runs of spmv-formats on one machine")
    fit.add_argument("--matrices", type=Path, nargs="+", default=[], metavar="FILE",
                     help="those matrices of the runs that the catalogue does not have")
    fit.add_argument("--precision", choices=PRECISIONS, nargs="+", default=list(PRECISIONS),
                     help="fit these, leave the others as they are")
    fit.add_argument("--spread", type=float, metavar="SHARE",
                     help=f"by what share the constants of now may be wrong: {plan_fit.SPREAD}")
    fit.add_argument("--by", choices=("times", "choices"), default="times",
                     help="fit constants to times, or move those of now until choices are better")
    fit.add_argument("--write", action="store_true", help="replace the constants of its kind")
    fit.add_argument("--build", type=Path, help="where plan-terms is; default: build/")
    fit.set_defaults(command=_fit_plan)


def _fit_plan(given: argparse.Namespace) -> int:
    if given.by == "choices" and given.spread is not None:
        raise WeaveError("fit-plan: --spread is for a fit to times, found --by choices")
    runs = [results.load(path / "result.json" if path.is_dir() else path) for path in given.result]
    machines = {machine_of(run) for run in runs}
    if len(machines) != 1:
        raise WeaveError("fit-plan: the runs are of several machines or kernels")
    machine = machines.pop()
    program = (given.build or given.root / "build") / "lib/spmv/plan-terms"
    counted = count_terms(program, machine, runs, given.matrices)
    constants = {precision: _present(counted, precision) for precision in PRECISIONS}
    matrices = 0
    for precision in given.precision:
        fit = (plan_fit.choose if given.by == "choices"
               else partial(plan_fit.fit, spread=given.spread or plan_fit.SPREAD))
        fitted = Fitted.to(runs, counted, precision, fit)
        print(fitted.report(precision))
        constants[precision] = fitted.constants
        matrices = fitted.matrices
    title = (f"// {' and '.join(given.precision)} fitted to {matrices} matrices on {machine.model}"
             f" with {machine.kernels}: see lib/spmv/plan_times/README.md.")
    text = table(title, constants, terms_of(counted))
    path = given.root / f"lib/spmv/plan_times/{counted['kind']}.inc"
    if given.write:
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(given.root)}")
    else:
        print(f"{path.relative_to(given.root)} would be:\n{text}", end="")
    return 0


def machine_of(run: Result) -> Machine:
    """Vendor, kernels and caches as the model names them."""
    cpu = run.raw["machine"]["cpu"]
    sizes = {cache["level"]: cache["bytes"] for cache in cpu["caches"]
             if cache["kind"] != "instruction"}
    asked = [option[1] for option in results.options(run.raw["run"]["arguments"])
             if option[0] == "--kernels" and len(option) > 1]
    sets = set(cpu["instruction_sets"])
    vendor = next((name for name in ("amd", "intel") if name in cpu["model"].lower()), "other")
    # as `spmv::detect_cpu` and `spmv::format_kernels`
    best = ("avx512_gather" if vendor == "intel" and "avx512_fp16" in sets
            else "avx512" if {"avx512f", "avx512bw", "avx512vl"} <= sets
            else "avx2" if {"avx2", "fma"} <= sets else "baseline")
    first, core = sizes.get(1, 32 << 10), sizes.get(2, 1 << 20)
    caches = (first, core, sizes[max(sizes)] if sizes else 64 << 20)
    return Machine(vendor, asked[0] if asked else best, caches, cpu["hardware_threads"],
                   cpu["model"])


def count_terms(program: Path, machine: Machine, runs: Sequence[Result],
                files: Sequence[Path]) -> Json:
    """What the model counts on the matrices of the runs."""
    by_name = {path.name.split(".mtx")[0]: str(path) for path in files}
    names = sorted({name for run in runs for name in run.raw["datasets"]})
    matrices = [by_name.get(Path(name).name.split(".mtx")[0], name) for name in names]
    threads = sorted({launch["threads"] for run in runs for launch in run.raw["launches"]})
    words = [program, *matrices, "--vendor", machine.vendor, "--kernels", machine.kernels,
             "--threads", *map(str, threads), "--caches", *map(str, machine.caches),
             "--hardware-threads", str(machine.hardware_threads)]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError as error:
        raise WeaveError(f"fit-plan: {program} cannot be run: {error.strerror}") from error
    if done.returncode != 0:
        raise WeaveError(f"fit-plan: {done.stderr.strip()}")
    return json.loads(done.stdout)


def terms_of(counted: Json) -> list[str]:
    """Names of all constants, in the order of the table."""
    return list(counted["times"])


def _present(counted: Json, precision: str) -> Vector:
    """The constants of now."""
    return np.array([counted["times"][name][precision] for name in terms_of(counted)])


def points_of(runs: Sequence[Result], counted: Json, precision: str) -> list[Point]:
    """What was measured in one precision, beside what the model counts there."""
    return [point for run in runs for point in _points(run, counted, precision)]


def _points(run: Result, counted: Json, precision: str) -> list[Point]:
    terms = {name: index for index, name in enumerate(terms_of(counted))}
    measured = _measured(run, precision)
    points = []
    for entry in counted["points"]:
        place = (entry["sha256"], entry["threads"], entry["cache"])
        times = measured.get(place)
        if entry["precision"] != precision or times is None:
            continue
        ways = tuple(_way(estimate, terms, times) for estimate in entry["estimates"])
        label = f"{precision}, {entry['threads']} threads, {entry['cache']}"
        point = Point(Path(entry["matrix"]).name.split(".mtx")[0], label, ways,
                      min(min(some) for some in times.values()))
        if point.measured:
            points.append(point)
    return points


def _measured(run: Result,
              precision: str) -> Mapping[tuple[str, int, str], Mapping[str, list[float]]]:
    """Nanoseconds by matrix, threads and cache, then by what the variant says that it is."""
    found: dict[tuple[str, int, str], dict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list))
    for case in run.cases:
        if case.group in GROUPS and case.passed and case.parameters["precision"] == precision:
            digest = run.raw["datasets"][case.parameters["matrix"]]["sha256"]
            threads = run.raw["launches"][case.launch]["threads"]
            found[digest, threads, case.cache][says(case)].append(
                1e9 * float(np.quantile(case.samples, UNDISTURBED)))
    return found


def says(case: Case) -> str:
    """How a plan explains itself, without figures that the model does not know beforehand."""
    return PIECES.sub("", case.notes[0].split("; ")[0]) if case.notes else case.variant


def _way(estimate: Json, terms: Mapping[str, int], times: Mapping[str, list[float]]) -> Way:
    explained = ": ".join(text for text in (estimate["format"], estimate["detail"]) if text)
    some = times.get(explained)
    return Way(estimate["name"], _counts(estimate["core"], terms),
               _counts(estimate["memory"], terms), estimate["overlap"],
               float(np.mean(some)) if some else None)


def _counts(counted: Mapping[str, float], terms: Mapping[str, int]) -> Vector:
    counts = np.zeros(len(terms))
    for name, count in counted.items():
        counts[terms[name]] = count
    return counts


@dataclass(frozen=True)
class Fitted:
    """Constants of one precision, and how good they are."""

    constants: Vector
    unused: tuple[str, ...]  # names of constants that no measured time depends on
    matrices: int
    choices: Mapping[str, plan_fit.Choices]  # by `COLUMNS`
    errors: Mapping[str, Mapping[str, plan_fit.Errors]]

    @staticmethod
    def to(runs: Sequence[Result], counted: Json, precision: str,
           fit: plan_fit.Fit) -> "Fitted":
        points = points_of(runs, counted, precision)
        if not points:
            raise WeaveError(f"fit-plan: nothing was measured in {precision} that the model knows")
        names = terms_of(counted)
        start = _present(counted, precision)
        constants = fit(points, start)
        used = sum(way.core + way.memory for point in points for way in point.measured)
        without = plan_fit.left_out(points, start, fit)
        judged = dict(zip(COLUMNS, ([(point, start) for point in points],
                                    [(point, constants) for point in points], without),
                          strict=True))
        return Fitted(
            constants,
            tuple(name for name, count in zip(names, used, strict=True) if count == 0),
            len({point.matrix for point in points}),
            {name: plan_fit.choices(some) for name, some in judged.items()},
            {name: plan_fit.errors(some) for name, some in judged.items()},
        )

    def report(self, precision: str) -> str:
        """Tables for people: how far times are off, and what choices cost."""
        lines = [f"{precision}: {self.matrices} matrices; constants of now, fitted, and fitted"
                 " without the matrix that they are judged on", "",
                 f"{'relative error, median and 90 %':<32}{'times':>6}"
                 + "".join(f"{name:>18}" for name in COLUMNS)]
        for family in self.errors["now"]:
            cells = [self.errors[name][family] for name in COLUMNS]
            lines.append(f"  {family:<30}{cells[0].count:>6}" + "".join(
                f"{100 * cell.median:>10.1f}{100 * cell.tenth:>8.1f}" for cell in cells))
        lines.append("")
        for title, show in (
                ("choices within 5 % of the best", lambda one: f"{100 * one.close:.1f} %"),
                ("mean loss", lambda one: f"{100 * one.mean:.2f} %"),
                ("worst loss", lambda one: f"{100 * one.worst:.0f} %")):
            cells = "".join(f"{show(self.choices[name]):>18}" for name in COLUMNS)
            lines.append(f"{title:<38}{cells}")
        lines.append("worst without: " + self.choices["without"].where)
        if self.unused:
            lines.append("never measured, scaled like all others: " + ", ".join(self.unused))
        return "\n".join(lines) + "\n"


def table(title: str, constants: Mapping[str, Vector], terms: Sequence[str]) -> str:
    """The file of a kind's constants."""
    rows = [f'{{"{name}", {constants["fp32"][k]:.4g}, {constants["fp64"][k]:.4g}}},'
            for k, name in enumerate(terms)]
    return "\n".join([title, *rows]) + "\n"

"""`just fit-plan`: constants of the plan's model for a kind of processor, from measured runs."""

import argparse
import json
import re
import subprocess
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from weave import results
from weave.errors import WeaveError
from weave.results import Case, Json, Result

Vector = np.ndarray

TIME_ERROR = 0.1  # what a time is expected to differ from the model by
SPREAD = 0.3  # and a constant from where it began, relatively
PACE = 1  # by what share a machine may change its pace between points
WILD_ERROR = 0.2  # beyond it an error counts no more than proportionally
SLOWNESS = 0.25  # a format that takes n times as long as the best counts n to minus this
ROUNDS = 8
CLOSE = 0.05  # a choice that takes so much longer than the best is as good

STEPS = 4000  # of a search for better choices
STEP = 0.25  # of a constant, as a logarithm
LIKELY = 0.04  # ways expected to differ by so much may change places
WORST_LOSS = 1.5  # beyond it a choice is no worse
NEAR = 0.002  # what a constant that moved by a factor of e has to bring


@dataclass(frozen=True)
class Way:
    """One way to store a matrix: what a multiply counts, one number for each constant."""

    name: str
    core: Vector
    memory: Vector
    overlap: float
    measured_ns: float | None = None

    @property
    def family(self) -> str:
        """The format, for tables: of dense blocks each shape."""
        return self.name.removesuffix("_plain").removesuffix("_ahead")

    def parts(self, constants: Vector) -> tuple[float, float]:
        return float(self.core @ constants), float(self.memory @ constants)

    def nanoseconds(self, constants: Vector) -> float:
        core, memory = self.parts(constants)
        return float((core**self.overlap + memory**self.overlap) ** (1 / self.overlap))

    def slope(self, constants: Vector) -> Vector:
        """Derivatives of the time, whose product with the constants is the time again."""
        core, memory = self.parts(constants)
        total = max(self.nanoseconds(constants), 1e-9)
        order = self.overlap - 1
        return (core / total) ** order * self.core + (memory / total) ** order * self.memory


@dataclass(frozen=True)
class Point:
    """A matrix on a number of threads: all ways, and the best time of everything measured there."""

    matrix: str
    label: str  # precision, threads, cache
    ways: tuple[Way, ...]
    best_ns: float

    @cached_property
    def measured(self) -> tuple[Way, ...]:
        return tuple(way for way in self.ways if way.measured_ns is not None)

    def loss(self, constants: Vector) -> float:
        """By how much the model's choice takes longer than the best."""
        choice = min(self.measured, key=lambda way: way.nanoseconds(constants))
        assert choice.measured_ns is not None
        return choice.measured_ns / self.best_ns - 1


def fit(points: Sequence[Point], start: Vector, spread: float = SPREAD) -> Vector:
    """The constants that suit measured times best; those that no time depends on are scaled like
    all others."""
    ways = [way for point in points for way in point.measured]
    if not ways:
        return start
    times = np.array([way.measured_ns for way in ways])
    best = np.array([point.best_ns for point in points for _ in point.measured])
    start = start * float(np.median(times / [way.nanoseconds(start) for way in ways]))
    point_of = np.repeat(np.arange(len(points)), [len(point.measured) for point in points])
    scale = _scale(ways, times, start)
    near_start = (TIME_ERROR / spread) ** 2
    constants = start
    for _ in range(ROUNDS):
        slopes = np.array([way.slope(constants) for way in ways])
        residual = np.log(times / (slopes @ constants))
        paced = times / np.exp(_pace(residual, point_of))[point_of]
        wild = np.abs(np.log(slopes @ constants / paced)) / WILD_ERROR
        weights = (best / times) ** SLOWNESS / np.sqrt(np.maximum(1, wild))
        shares = slopes * scale * (weights / paced)[:, None]
        gram = shares.T @ shares + near_start * np.eye(len(start))
        constants = scale * nonnegative(gram, shares.T @ weights + near_start * start / scale)
    return constants


def _pace(residual: Vector, point_of: Vector) -> Vector:
    """How much slower than the model, as a logarithm, everything was that was measured at a point;
    none on average. Choices compare ways at one point, and a virtual machine changes its speed
    between points: what all ways share says little about constants."""
    count = np.bincount(point_of)
    pace = np.bincount(point_of, residual) / (count + (TIME_ERROR / PACE) ** 2 * count.mean())
    return pace - np.average(pace, weights=count)


def _scale(ways: Sequence[Way], times: Vector, start: Vector) -> Vector:
    """What a constant may differ by: as much as itself, or what a tenth of the time would take."""
    counts = np.array([way.core + way.memory for way in ways])
    scale = start.copy()
    for k in range(len(start)):
        some = counts[:, k] > 0
        tenth = 0.1 * float(np.median(times[some] / counts[some, k])) if some.any() else 0.0
        scale[k] = max(scale[k], tenth, 1e-9)
    return scale


def nonnegative(gram: Vector, right: Vector) -> Vector:
    """The minimum of x'Gx/2 - r'x over x >= 0 for a positive definite G, by the active sets of
    Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23)."""
    x = np.zeros(len(right))
    free = np.zeros(len(right), bool)
    tolerance = 1e-10 * max(1.0, float(np.abs(right).max()))
    while True:
        downhill = np.where(free, -np.inf, right - gram @ x)
        if free.all() or downhill.max() <= tolerance:
            return x
        free[downhill.argmax()] = True
        while True:
            target = np.zeros(len(right))
            target[free] = np.linalg.solve(gram[np.ix_(free, free)], right[free])
            blocked = free & (target <= 0)
            if not blocked.any():
                x = target
                break
            step = (x[blocked] / np.maximum(x[blocked] - target[blocked], 1e-300)).min()
            x = np.maximum(0, x + step * (target - x))
            free &= ~(blocked & (x <= 1e-15))


def choose(points: Sequence[Point], start: Vector, steps: int = STEPS) -> Vector:
    """Constants with which choices lose least, found by random steps from `start`: one constant at
    a time, kept if the expected loss gets smaller. Which way is chosen is taken to be as likely as
    it is near the fastest one, so that constants do not end where a little more would change a
    choice. The same points give the same constants."""
    if not any(point.measured for point in points):
        return start
    search = _Search(points, start)
    random = np.random.default_rng(1)
    for _ in range(steps):
        search.try_step(int(random.integers(len(start))), float(np.exp(random.normal(0, STEP))))
    return search.constants


class _Search:
    """Sums of all ways, so that a step costs one column of counts."""

    def __init__(self, points: Sequence[Point], start: Vector) -> None:
        ways = [way for point in points for way in point.measured]
        self._first = np.cumsum([0, *(len(point.measured) for point in points)])[:-1]
        self._point = np.repeat(np.arange(len(points)), [len(point.measured) for point in points])
        self._counts = (np.array([way.core for way in ways]),
                        np.array([way.memory for way in ways]))
        self._overlap = np.array([way.overlap for way in ways])
        best = np.array([point.best_ns for point in points])[self._point]
        times = np.array([way.measured_ns for way in ways])
        self._loss = np.minimum(times / best - 1, WORST_LOSS)
        self._start = start
        self._sums = tuple(counts @ start for counts in self._counts)
        self.constants = start.copy()
        self._value = self._objective(self._sums, start)

    def try_step(self, index: int, factor: float) -> None:
        """Keeps a constant times `factor` if that is better."""
        changed = self.constants.copy()
        changed[index] = max(changed[index], 1e-4) * factor
        more = changed[index] - self.constants[index]
        sums = tuple(total + more * counts[:, index]
                     for total, counts in zip(self._sums, self._counts, strict=True))
        value = self._objective(sums, changed)
        if value < self._value:
            self._value, self._sums, self.constants = value, sums, changed

    def _objective(self, sums: tuple[Vector, ...], constants: Vector) -> float:
        core, memory = (np.maximum(total, 0) for total in sums)
        times = (core**self._overlap + memory**self._overlap) ** (1 / self._overlap)
        fastest = np.minimum.reduceat(times, self._first)[self._point]
        likely = np.exp((1 - times / np.maximum(fastest, 1e-9)) / LIKELY)
        share = likely / np.add.reduceat(likely, self._first)[self._point]
        lost = float(share @ self._loss) / len(self._first)
        moved = np.log((constants + 1e-6) / (self._start + 1e-6)).clip(-3, 3)
        return lost + NEAR * float(moved @ moved)


Fit = Callable[[Sequence[Point], Vector], Vector]


def left_out(points: Sequence[Point], start: Vector, fit: Fit) -> list[tuple[Point, Vector]]:
    """Every point with constants that were fitted without its matrix."""
    judged = []
    for matrix in sorted({point.matrix for point in points}):
        constants = fit([point for point in points if point.matrix != matrix], start)
        judged += [(point, constants) for point in points if point.matrix == matrix]
    return judged


@dataclass(frozen=True)
class Choices:
    """How good choices are."""

    close: float  # share of points where the choice is close to the best
    mean: float  # loss
    worst: float
    where: str  # the worst is


def choices(judged: Sequence[tuple[Point, Vector]]) -> Choices:
    losses = [(point.loss(constants), point) for point, constants in judged]
    worst, where = max(losses, key=lambda loss: loss[0])
    values = np.array([loss for loss, _ in losses])
    return Choices(float((values <= CLOSE).mean()), float(values.mean()), worst,
                   f"{where.matrix} {where.label}")


@dataclass(frozen=True)
class Errors:
    """How far the model is off, relatively, for one family."""

    count: int
    median: float
    tenth: float  # of ten, the worst one's: the 90 % quantile


def errors(judged: Sequence[tuple[Point, Vector]]) -> dict[str, Errors]:
    by_family: dict[str, list[float]] = {}
    for point, constants in judged:
        for way in point.measured:
            assert way.measured_ns is not None
            error = abs(way.nanoseconds(constants) / way.measured_ns - 1)
            by_family.setdefault(way.family, []).append(error)
    return {
        family: Errors(len(some), float(np.median(some)), float(np.quantile(some, 0.9)))
        for family, some in sorted(by_family.items())
    }


# --- from runs to constants -----------------------------------------------------------------------

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
                     help=f"by what share the constants of now may be wrong: {SPREAD}")
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
        way = (choose if given.by == "choices"
               else partial(fit, spread=given.spread or SPREAD))
        fitted = Fitted.to(runs, counted, precision, way)
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
    choices: Mapping[str, Choices]  # by `COLUMNS`
    errors: Mapping[str, Mapping[str, Errors]]

    @staticmethod
    def to(runs: Sequence[Result], counted: Json, precision: str,
           fit: Fit) -> "Fitted":
        points = points_of(runs, counted, precision)
        if not points:
            raise WeaveError(f"fit-plan: nothing was measured in {precision} that the model knows")
        names = terms_of(counted)
        start = _present(counted, precision)
        constants = fit(points, start)
        used = sum(way.core + way.memory for point in points for way in point.measured)
        without = left_out(points, start, fit)
        judged = dict(zip(COLUMNS, ([(point, start) for point in points],
                                    [(point, constants) for point in points], without),
                          strict=True))
        return Fitted(
            constants,
            tuple(name for name, count in zip(names, used, strict=True) if count == 0),
            len({point.matrix for point in points}),
            {name: choices(some) for name, some in judged.items()},
            {name: errors(some) for name, some in judged.items()},
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

"""Fits the constants of the plan's model to measured times, and judges what it then chooses.

The model (`lib/spmv/plan_model.hpp`) takes the norm of two sums of counts times constants. A norm
is homogeneous: with the sums weighted as they are at present constants, the time is linear in the
constants, so that a few rounds of linear least squares fit them. Errors count relatively, wild ones
no more than large ones (Huber), and those of slow formats, which nobody chooses, less than those of
fast ones. Constants are not negative, and stay near where they began as far as nothing speaks
against it.

What counts in the end are choices, which may get worse while times get better. `choose` begins with
constants that are about right and moves them as long as choices get better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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

"""What `just study` finds about a matrix and `just try` about a kernel, as `study.json` and
`try.json` keep it; and its words, so that a console and a page say the same."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from memwall.record import files, notation, results
from memwall.record.errors import UserError
from memwall.record.shapes import read_as

#: Version of both files.
SCHEMA = 1
#: A noise floor that makes most comparisons worthless.
BUSY = 0.25
#: The variant that is the user's kernel.
YOURS = "yours"


@dataclass(frozen=True)
class StudyMachine:
    """The machine in the words of its page."""

    slug: str
    processor: str
    cores: int
    hardware_threads: int
    memory: str
    gpus: tuple[str, ...]
    compiler: str


@dataclass(frozen=True)
class Features:
    """What `just describe` says of a matrix."""

    kind: str
    entries: int
    rows: int
    cols: int
    nnz: int
    mean_row: float
    max_row: int
    std_row: float
    empty_rows: int
    nzseg: int
    nzseg_per_nnz: float


@dataclass(frozen=True)
class Anatomy:
    """Where the nonzeros lie: in each cell of a picture, and counts by powers of two."""

    spy_rows: int
    spy_columns: int
    spy: tuple[int, ...]
    row_lengths: tuple[int, ...]
    run_lengths: tuple[int, ...]
    distances: tuple[int, ...]
    lower_bandwidth: int
    upper_bandwidth: int


class AtPoint:
    """Something that was measured with so many threads, in one precision."""

    target: str
    threads: int
    precision: str

    @property
    def point(self) -> tuple[str, int, str]:
        return self.target, self.threads, self.precision

    @property
    def where(self) -> str:
        """`1 thread`, `2 threads`, `GPU`."""
        return panel_title(self.target, self.threads)


@dataclass(frozen=True)
class ProductCase(AtPoint):
    """One product at one point."""

    experiment: str
    variant: str
    group: str
    target: str
    threads: int
    precision: str
    matrix: str
    cache: str
    verdict: str
    reason: str
    seconds: float | None  # None: it failed
    of_bound: float | None  # of memory; None: no ceiling was measured
    of_bound_interval: tuple[float, float] | None
    setup_seconds: float
    stored_bytes: float
    notes: tuple[str, ...]

    @property
    def share(self) -> str:
        """`87 %`, of the memory bound."""
        return "unknown" if self.of_bound is None else notation.percent(self.of_bound)

    @property
    def time(self) -> float:
        """Seconds of a product that passed."""
        assert self.seconds is not None
        return self.seconds

    @property
    def speed(self) -> str:
        """`12 µs a product, 87 % of the memory bound`."""
        return f"{notation.time(self.time)} a product, {self.share} of the memory bound"


@dataclass(frozen=True)
class Ranking:
    """The cases of one program, or of one matrix."""

    title: str
    cases: tuple[ProductCase, ...]

    @property
    def timed(self) -> list[ProductCase]:
        """Those that passed."""
        return [case for case in self.cases if case.seconds is not None]

    def best_of(self, variant: str) -> ProductCase | None:
        """The fastest case of a variant, if one was timed."""
        mine = (case for case in self.timed if case.variant == variant)
        return min(mine, key=lambda case: case.time, default=None)

    def place(self, case: ProductCase) -> str:
        """`place 2 of 3`, among all that were timed at the same point."""
        rivals = sorted((c for c in self.timed if c.point == case.point), key=lambda c: c.time)
        return f"place {1 + rivals.index(case)} of {len(rivals)}"


@dataclass(frozen=True)
class Conversion(AtPoint):
    """A format at one point: its bytes, its conversion, the products until that has paid."""

    experiment: str
    variant: str
    target: str
    threads: int
    precision: str
    stored_bytes: float
    setup_seconds: float
    bytes_per_nonzero: float | None  # None: there are no nonzeros
    speed_over_csr: float | None  # None: there is no CSR
    products_until_paid: int | None  # None: never, or there is no CSR

    @property
    def nonzero_bytes(self) -> float:
        """As `bytes_per_nonzero`, 0 where there is none."""
        return self.bytes_per_nonzero or 0.0


@dataclass(frozen=True)
class PlanChoice(AtPoint):
    """What a plan chose at one point, and how far that is from the best of all formats there."""

    experiment: str
    variant: str
    target: str
    threads: int
    precision: str
    seconds: float
    explain: str
    best_format: str | None
    speed_over_best_format: float | None

    @property
    def choice(self) -> str:
        """What it chose, of all that it explains."""
        return re.split("[:;,]", self.explain)[0]


@dataclass(frozen=True)
class SkippedVariant:
    """What could not run."""

    experiment: str
    variant: str
    group: str
    reason: str


@dataclass(frozen=True)
class Partition:
    """What one way to deal rows to ranks costs."""

    way: Literal["equal_rows", "least_bottleneck", "graph"]
    ranks: int
    imbalance: float
    ghosts: int
    most_ghosts: int
    messages: int
    most_messages: int
    idle_ranks: int


@dataclass(frozen=True)
class GraphPartitioner:
    """Who cut the graph, or why nobody did."""

    partitioner: str
    missing: str


@dataclass(frozen=True)
class StudyCeiling:
    """What a launch reached at best, per second."""

    threads: int
    name: str
    rate: float
    unit: str


@dataclass(frozen=True)
class StudyRun:
    """What tells one run of a program from another."""

    experiment: str
    utc: str
    rounds: int
    noise_floor: float | None  # None: unknown
    ceilings: tuple[StudyCeiling, ...]


@dataclass(frozen=True)
class Study:
    """All findings about a matrix."""

    name: str
    file: str
    machine: StudyMachine
    features: Features
    anatomy: Anatomy
    formats: tuple[Conversion, ...]
    plans: tuple[PlanChoice, ...]
    rankings: tuple[Ranking, ...]
    skipped: tuple[SkippedVariant, ...]
    partitions: tuple[Partition, ...]
    graph: GraphPartitioner
    runs: tuple[StudyRun, ...]


@dataclass(frozen=True)
class TriedKernel:
    """All findings about somebody's own product: a ranking for each matrix."""

    name: str
    file: str
    experiment: str
    machine: StudyMachine
    rankings: tuple[Ranking, ...]
    runs: tuple[StudyRun, ...]
    source: str


def write(found: Study | TriedKernel, file: Path) -> None:
    """Writes `study.json` or `try.json`."""
    files.write_json(file, {"schema": SCHEMA, **asdict(found)})


def read(file: Path) -> Study | TriedKernel:
    """What `write` wrote. Raises `UserError` for another file."""
    shown = str(file)
    told = results.decode(files.read(file), shown)
    if not isinstance(told, dict) or "schema" not in told:
        raise UserError(f'{shown}: found no "schema", expected study.json or try.json')
    results.require_version(told, SCHEMA, shown)
    results.check_numbers(told, shown)
    del told["schema"]
    if "source" in told:
        return read_as(TriedKernel, told, shown)
    return read_as(Study, told, shown)


def busy(runs: Sequence[StudyRun]) -> list[str]:
    """A warning where a run was so noisy that most comparisons are worthless."""
    noise = max((run.noise_floor for run in runs if run.noise_floor), default=0.0)
    if noise <= BUSY:
        return []
    return ["The machine was busy: two timings of the same code differed by a factor of up to"
            f" {notation.factor(1 + noise)}. Measure again when it is quiet; small differences mean"
            " nothing."]


def panel_title(target: str, threads: int) -> str:
    """`1 thread`, `2 threads`, `GPU`."""
    if target != "host":
        return "GPU"
    return f"{threads} thread{'s' * (threads > 1)}"

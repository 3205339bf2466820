"""Figures that explain and do not measure: how formats store a small matrix, who gets which rows,
which engine or bank does what.

Every number in them is computed from the matrix or the order that is drawn. A drawing is one
function without arguments, listed in `DRAWINGS` under the id of its figure in `experiment.toml`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from memwall.figures.sheet import STYLE, ink, saved, series_colour

WIDTH = 7.6  # inches; 730 pixels on a page
TEXT = {**STYLE, "font.size": 8.5}
#: Rows of a matrix; a letter is a nonzero.
RUNS = (
    "xxxx....",
    ".....xx.",
    "xx.....x",
    "..xxxxx.",
    "........",
    "x....xx.",
)
SCATTERED = (
    "x.........x.",
    "...x........",
    "x........x..",
    ".........x..",
    ".....x......",
    "..x.....x...",
    ".....x.....x",
    "..x.......x.",
)
#: Nonzeros of rows that are dealt to ranks.
ROW_LENGTHS = (5, 2, 4, 5, 1, 5, 3, 5, 2, 5, 4, 3, 5, 2, 5, 4, 1, 5, 3, 5, 4, 2, 5, 3)
RANKS = 8
TILE = 4  # rows and columns of the tiles that `SCATTERED` is cut into
GAP = 5.0  # cells between a matrix and its arrays, where the names of the arrays stand


@dataclass(frozen=True)
class Box:
    """One element of an array as it is drawn; `slot` is the colour, None: no colour."""

    text: str
    slot: int | None = None


@dataclass(frozen=True)
class Boxes:
    """An array: its name, its elements, and a title that stands above it."""

    name: str
    cells: Sequence[Box]
    title: str = ""


@dataclass(frozen=True)
class RunOfColumns:
    """Consecutive nonzeros of a row."""

    row: int
    start: int
    length: int


def csrl(title: str) -> str:
    """A matrix of runs, its arrays in CSR, and those that replace the columns in CSRL."""
    runs = runs_of(RUNS)
    slot = {(r.row, r.start + k): i for i, r in enumerate(runs) for k in range(r.length)}
    numbers = {place: str(k + 1) for k, place in enumerate(sorted(slot))}
    coloured = {place: Box(text, slot[place]) for place, text in numbers.items()}
    rows = range(len(RUNS) + 1)
    row_ptr = [sum(place[0] < row for place in numbers) for row in rows]
    ptr = [sum(run.row < row for run in runs) for row in rows]
    columns = [Box(str(place[1]), slot[place]) for place in numbers]
    arrays = [
        Boxes("values", list(coloured.values()), "CSR"),
        Boxes("columns", columns),
        Boxes("row_ptr", _plain(row_ptr)),
        Boxes("val", list(coloured.values()), "CSRL"),
        Boxes("jas (first column)", [Box(str(r.start), i) for i, r in enumerate(runs)]),
        Boxes("jan (length)", [Box(str(r.length), i) for i, r in enumerate(runs)]),
        Boxes("ptr (first run)", _plain(ptr)),
    ]
    return _drawn(title, RUNS, coloured, arrays)


def blocked_coo(title: str) -> str:
    """A matrix cut into tiles, and the arrays in which tiles without nonzeros do not appear."""
    places = [(i, j) for i, row in enumerate(SCATTERED) for j, x in enumerate(row) if x == "x"]
    ordered = sorted(places, key=lambda place: (place[0] // TILE, place[1], place[0]))
    tiles = list(dict.fromkeys((i // TILE, j // TILE) for i, j in ordered))
    slot = {place: tiles.index((place[0] // TILE, place[1] // TILE)) for place in ordered}
    coloured = {place: Box(str(k + 1), slot[place]) for k, place in enumerate(ordered)}
    begins = [next(k for k, p in enumerate(ordered) if slot[p] == t) for t in range(len(tiles))]
    strips = range(len(SCATTERED) // TILE + 1)
    arrays = [
        Boxes("first row", _plain([TILE * strip for strip in strips]), "Strips of rows"),
        Boxes("first tile", _plain([sum(tile[0] < strip for tile in tiles) for strip in strips])),
        Boxes("first column", [Box(str(TILE * j), t) for t, (_, j) in enumerate(tiles)], "Tiles"),
        Boxes("first entry", [Box(str(begin), t) for t, begin in enumerate(begins)]),
        Boxes("row in tile", [Box(str(i % TILE), slot[i, j]) for i, j in ordered], "Entries"),
        Boxes("column in tile", [Box(str(j % TILE), slot[i, j]) for i, j in ordered]),
        Boxes("value", list(coloured.values())),
    ]
    return _drawn(title, SCATTERED, coloured, arrays, tile=TILE)


def partition(title: str) -> str:
    """Rows as long as they have nonzeros, in the colours of the ranks that own them."""
    ways = {
        "rounded down": dealt(ROW_LENGTHS, RANKS, lambda rank: False),
        "rounded up": dealt(ROW_LENGTHS, RANKS, lambda rank: True),
        "alternating": dealt(ROW_LENGTHS, RANKS, lambda rank: rank % 2 == 0),
        "least bottleneck": least_bottleneck(ROW_LENGTHS, RANKS),
    }
    with matplotlib.rc_context(TEXT):
        figure = Figure(figsize=(WIDTH, 3.0))
        axes = figure.add_axes((0.15, 0.02, 0.84, 0.96))
        axes.set(xlim=(0, sum(ROW_LENGTHS)), ylim=(4 * 1.5, -0.1))
        axes.set_axis_off()
        for line, (name, bounds) in enumerate(ways.items()):
            axes.text(-1, 1.5 * line + 0.5, name, ha="right", va="center", color=ink("ink"))
            _shares(axes, 1.5 * line, bounds)
        return saved(figure, title)


def dealt(lengths: Sequence[int], ranks: int, goes_over: Callable[[int], bool]) -> list[int]:
    """Bounds of contiguous shares: each rank takes its share of the nonzeros, or a row more."""
    total, bounds = sum(lengths), [0]
    for rank in range(ranks - 1):
        end, taken = bounds[-1], 0
        while end < len(lengths) and (taken + lengths[end]) * ranks <= total:
            taken += lengths[end]
            end += 1
        if goes_over(rank) and end < len(lengths) and taken * ranks < total:
            end += 1
        bounds.append(end)
    return [*bounds, len(lengths)]


def least_bottleneck(lengths: Sequence[int], ranks: int) -> list[int]:
    """Bounds of contiguous shares of which the largest is as small as can be."""
    most = max(lengths)
    while True:
        bounds = [0]
        while bounds[-1] < len(lengths) and len(bounds) <= ranks:
            end, taken = bounds[-1], 0
            while end < len(lengths) and taken + lengths[end] <= most:
                taken += lengths[end]
                end += 1
            bounds.append(end)
        if bounds[-1] == len(lengths):
            return bounds + [len(lengths)] * (ranks + 1 - len(bounds))
        most += 1


def light(title: str) -> str:
    """A warp that fetches rows from a counter: which lane has what after each instruction."""
    lanes, for_row, first = 8, 2, 2
    rows = [first + lane // for_row for lane in range(lanes)]
    places = [(i, j) for i, row in enumerate(RUNS) for j, letter in enumerate(row) if letter == "x"]
    numbers = {place: k + 1 for k, place in enumerate(places)}
    entries = {i: [numbers[place] for place in places if place[0] == i] for i in range(len(RUNS))}
    slots = {i: i - first if i in rows else None for i in range(len(RUNS))}
    coloured = {place: Box(str(number), slots[place[0]]) for place, number in numbers.items()}

    def step(k: int) -> list[Box]:
        """The entries that the lanes multiply in their step `k`; a lane may have none left."""
        taken = [entries[row][k * for_row + lane % for_row :][:1] for lane, row in enumerate(rows)]
        return [
            Box(str(entry[0]), slots[row]) if entry else Box("")
            for entry, row in zip(taken, rows, strict=True)
        ]

    heads = [lane % for_row == 0 for lane in range(lanes)]
    steps = -(-max(len(entries[row]) for row in rows) // for_row)
    sums = zip(rows, heads, strict=True)
    arrays = [
        Boxes("lane", _plain(range(lanes)), f"{for_row} lanes for each row"),
        Boxes("counter", [Box(str(first)), *[Box("")] * (lanes - 1)], "One lane asks"),
        Boxes("row", [Box(str(row), slots[row]) for row in rows], "A shuffle tells all lanes"),
        *[
            Boxes(f"entry, step {k + 1}", step(k), "" if k else "Every lane adds up products")
            for k in range(steps)
        ],
        Boxes(
            "row of y",
            [Box(str(row) if head else "", slots[row] if head else None) for row, head in sums],
            "Shuffles add up the lanes",
        ),
    ]
    return _drawn(title, RUNS, coloured, arrays)


@dataclass(frozen=True)
class Piece:
    """What an engine does in one go: `a0` is a copy of the first array for the first chunk."""

    name: str
    begin: int = 0
    end: int = 0

    @property
    def chunk(self) -> str:
        return self.name[1:]

    @property
    def slot(self) -> int:
        return "abkc".index(self.name[0])


#: Pieces of two chunks in the order in which a program issues them.
DEPTH_FIRST = ("a0", "b0", "k0", "c0", "a1", "b1", "k1", "c1")
BREADTH_FIRST = ("a0", "a1", "b0", "b1", "k0", "k1", "c0", "c1")
#: Which engine does what: GPUs that copy one way at a time, and those that copy both ways at once.
ONE_ENGINE = {"a": "copies", "b": "copies", "k": "kernels", "c": "copies"}
BOTH_WAYS = {"a": "to device", "b": "to device", "k": "kernels", "c": "to host"}
STEPS = {"a": 1, "b": 1, "k": 3, "c": 1}  # that a piece takes: copies as long as kernels


def scheduled(order: Sequence[str], engine_of: dict[str, str]) -> dict[str, list[Piece]]:
    """When each engine does what. It takes pieces as they were issued, and a piece waits for the
    one before it in its engine and in its stream."""
    lanes: dict[str, list[Piece]] = {engine: [] for engine in engine_of.values()}
    of_stream: dict[str, int] = {}
    for name in order:
        lane = lanes[engine_of[name[0]]]
        begin = max(lane[-1].end if lane else 0, of_stream.get(name[1:], 0))
        lane.append(Piece(name, begin, begin + STEPS[name[0]]))
        of_stream[name[1:]] = lane[-1].end
    return lanes


def double_copy(title: str) -> str:
    """The way of pageable memory to the device, and that of locked memory."""
    with matplotlib.rc_context(TEXT):
        figure, axes = _canvas(40, 11)
        places = {"of": 0.0, "buffer": 15.5, "device": 31.0}
        for y, first in ((0.0, "pageable memory"), (6.5, "locked memory")):
            _box(axes, (places["of"], y), 8, 3, first, None)
            _box(axes, (places["device"], y), 8, 3, "device memory", 0)
        _box(axes, (places["buffer"], 0), 8, 3, "locked buffer", 2)
        _arrow(axes, (8, 1.5), (15.5, 1.5), "copy 1, on the host")
        _arrow(axes, (23.5, 1.5), (31, 1.5), "copy 2, over the bus")
        _arrow(axes, (8, 8), (31, 8), "one copy, over the bus, by a copy engine")
        return saved(figure, title)


def engines(title: str) -> str:
    """Pieces of two streams, and how they queue for the engines of two kinds of GPU."""
    streams = {f"stream {s}": [Piece(n) for n in DEPTH_FIRST if n[1:] == s] for s in ("0", "1")}
    groups = {
        "Two streams": streams,
        "One copy engine": scheduled(DEPTH_FIRST, ONE_ENGINE),
        "Two copy engines": scheduled(DEPTH_FIRST, BOTH_WAYS),
    }
    with matplotlib.rc_context(TEXT):
        figure, axes = _canvas(40, 14.5)
        x = 1.0
        for name, queues in groups.items():
            axes.text(x, 0.6, name, fontweight="bold", color=ink("ink"))
            for queue, pieces in queues.items():
                axes.text(x + 2, 2, queue, ha="center", color=ink("ink"))
                for k, piece in enumerate(pieces):
                    _box(axes, (x, 2.6 + 1.9 * k), 4, 1.6, piece.name, piece.slot)
                x += 5
            x += 2.4
        return saved(figure, title)


def dependencies(title: str) -> str:
    """What two orders of issuing make of two kinds of engines, with what waits for what."""
    kinds = {"one copy engine": ONE_ENGINE, "two copy engines": BOTH_WAYS}
    orders = {"Depth-first": DEPTH_FIRST, "Breadth-first": BREADTH_FIRST}
    with matplotlib.rc_context(TEXT):
        figure, axes = _canvas(42, 17.5)
        y = 0.0
        for kind, engine_of in kinds.items():
            for (order, names), left in zip(orders.items(), (4.5, 26.0), strict=True):
                _schedule(axes, f"{order}, {kind}", scheduled(names, engine_of), (left, y))
            y += 3.0 + 2.4 * len(set(engine_of.values()))
        return saved(figure, title)


def block_softmax(title: str) -> str:
    """Which block takes which rows of a matrix, and where its threads put the packs of a row."""
    rows, columns, blocks, threads, pack = 6, 16, 3, 4, 2
    cells = {(i, j): Box(str(i % blocks), threads + i % blocks)
             for i in range(rows) for j in range(columns)}
    taken = [Box(str(j), j // pack % threads) for j in range(columns)]
    arrays = [
        Boxes("column", taken, "A row in memory"),
        Boxes("pack", _plain([j // pack for j in range(columns)])),
        Boxes("thread", [Box(str(c.slot), c.slot) for c in taken]),
        Boxes("column", [taken[pack * k + i] for i in range(pack) for k in range(columns // pack)],
            "The row in shared memory"),
    ]
    return _drawn(title, ["x" * columns] * rows, cells, arrays)


BANKS = 8  # also the lanes that write; a GPU has 32 of both
#: How lanes write packs of two words, each write as the words of its lanes, in their order. A pack
#: that is written at once fills two banks: half the lanes come at a time.
PACKED = {
    "Side by side, two writes": [[2 * lane + i for lane in range(BANKS)] for i in range(2)],
    "Side by side, one write": [[BANKS * half + i for i in range(BANKS)] for half in range(2)],
    "In columns, two writes": [[BANKS * i + lane for lane in range(BANKS)] for i in range(2)],
}


def cycles_of(writes: Sequence[Sequence[int]]) -> dict[int, int]:
    """The cycle in which each word is written: a bank takes one word at a time."""
    cycles: dict[int, int] = {}
    begin = 0
    for words in writes:
        turns = [[w for w in words if w % BANKS == bank] for bank in range(BANKS)]
        cycles |= {word: begin + k for waiting in turns for k, word in enumerate(waiting)}
        begin += max(len(waiting) for waiting in turns)
    return cycles


def banks(title: str) -> str:
    """Packs of two words in shared memory: which lane writes which word, and in which cycle."""
    last = 2 * BANKS
    with matplotlib.rc_context(TEXT):
        figure, axes = _canvas(GAP + 3 * (BANKS + 2), 7.4)
        for k, (layout, writes) in enumerate(PACKED.items()):
            left, cycles = GAP + k * (BANKS + 2), cycles_of(writes)
            in_columns = layout.startswith("In columns")
            lanes = [word % BANKS if in_columns else word // 2 for word in range(last)]
            memory = [Box(str(lane), cycles[word]) for word, lane in enumerate(lanes)]
            names = ["bank", "first words", "next words", "cycle"] if k == 0 else [""] * 4
            rows = [_plain(range(BANKS)), memory[:BANKS], memory[BANKS:],
                    [Box(str(c + 1), c) for c in sorted(set(cycles.values()))]]
            axes.text(left, 0.5, layout, fontweight="bold", color=ink("ink"))
            for name, row, y in zip(names, rows, (1.0, 2.6, 3.6, 5.6), strict=True):
                _array(axes, Boxes(name, row), left, y)
        return saved(figure, title)


def matrix_tiles(title: str) -> str:
    """One tile of a product, and the tiles of both operands that it is made of."""
    of_k, side, gap = 4, 2.4, 3.0  # tiles along k; their edge, and the space for a sign
    with matplotlib.rc_context(TEXT):
        left_b = side * of_k + gap
        left_c = left_b + 3 * side + gap
        figure, axes = _canvas(left_c + 3 * side + 0.6, side * of_k + 3.8)
        middle = 1.5 + side * of_k / 2
        grids = {"A": (0.0, 3, of_k), "B": (left_b, of_k, 3), "C": (left_c, 3, 3)}
        for name, (left, rows, columns) in grids.items():
            top = middle - side * rows / 2
            axes.text(left + side * columns / 2, top - 0.5, name, ha="center", fontweight="bold",
                      color=ink("ink"))
            for i in range(rows):
                for j in range(columns):
                    used = {"A": i == 1, "B": j == 1, "C": i == j == 1}[name]
                    step = {"A": j, "B": i, "C": of_k}[name]
                    text = "" if not used else "Cs" if name == "C" else f"{name}s{step}"
                    corner = (left + side * j, top + side * i)
                    _box(axes, corner, side, side, text, step if used else None)
        for left, sign in ((left_b, "×"), (left_c, "=")):
            axes.text(left - gap / 2, middle, sign, ha="center", va="center", fontsize=14,
                      color=ink("ink"))
        total = " + ".join(f"As{step} × Bs{step}" for step in range(of_k))
        axes.text((left_c + 3 * side) / 2, side * of_k + 2.6, f"Cs = {total}", ha="center",
                  color=ink("ink"))
        return saved(figure, title)


def _schedule(
    axes: Axes, title: str, lanes: dict[str, list[Piece]], at: tuple[float, float]
) -> None:
    """Lanes of pieces over time; arrows to what waits for a piece of another engine."""
    wide, left, top = 1.2, *at
    last = max(piece.end for pieces in lanes.values() for piece in pieces)
    axes.text(left, top + 0.9, f"{title}: {last} steps", fontweight="bold", color=ink("ink"))
    tops = {lane: top + 1.6 + 2.4 * k for k, lane in enumerate(lanes)}
    placed = {piece.name: (piece, lane) for lane, pieces in lanes.items() for piece in pieces}
    for lane, pieces in lanes.items():
        axes.text(left - 0.4, tops[lane] + 0.8, lane, ha="right", va="center", color=ink("ink"))
        for piece in pieces:
            corner = (left + wide * piece.begin, tops[lane])
            _box(axes, corner, wide * (piece.end - piece.begin), 1.6, piece.name, piece.slot)
    for before, after in (("b", "k"), ("k", "c")):
        for chunk in ("0", "1"):
            (first, above), (then, below) = placed[before + chunk], placed[after + chunk]
            down = tops[below] > tops[above]
            _arrow(axes, (left + wide * (first.end - 0.15), tops[above] + (1.6 if down else 0.0)),
                   (left + wide * (then.begin + 0.25), tops[below] + (0.0 if down else 1.6)))


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    """A page of so many units, without axes."""
    figure = Figure(figsize=(WIDTH, WIDTH * height / width))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))
    axes.set_axis_off()
    return figure, axes


def _box(
    axes: Axes, corner: tuple[float, float], width: float, height: float, text: str,
    slot: int | None,
) -> None:
    """A name in a box; on a colour it is written in that of the page."""
    face = ink("panel") if slot is None else series_colour(slot)
    edge = ink("muted" if slot is None else "panel")
    axes.add_patch(
        Rectangle(corner, width, height, facecolor=face, edgecolor=edge, linewidth=0.8))
    colour = ink("ink" if slot is None else "panel")
    weight = "normal" if slot is None else "bold"
    axes.text(corner[0] + width / 2, corner[1] + height / 2, text, ha="center",
              va="center_baseline", color=colour, fontweight=weight)


def _arrow(
    axes: Axes, tail: tuple[float, float], head: tuple[float, float], text: str = ""
) -> None:
    style = {"arrowstyle": "-|>", "color": ink("ink"), "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=head, xytext=tail, arrowprops=style)
    if text:
        axes.text((tail[0] + head[0]) / 2, tail[1] - 0.5, text, ha="center", va="bottom",
                  fontsize=7.5, color=ink("ink"))


DRAWINGS: dict[str, Callable[[str], str]] = {
    "1.csrl": csrl,
    "1.blocked-coo": blocked_coo,
    "1.partition": partition,
    "1.light": light,
    "2.banks": banks,
    "2.grid": block_softmax,
    "3.tiles": matrix_tiles,
    "4.double-copy": double_copy,
    "4.engines": engines,
    "4.dependencies": dependencies,
}


def runs_of(matrix: Sequence[str]) -> list[RunOfColumns]:
    """The runs of consecutive nonzeros, row by row."""
    found = []
    for i, row in enumerate(matrix):
        for j, letter in enumerate(row):
            if letter == "x" and (j == 0 or row[j - 1] != "x"):
                length = len(row[j:]) - len(row[j:].lstrip("x"))
                found.append(RunOfColumns(i, j, length))
    return found


def _shares(axes: Axes, top: float, bounds: Sequence[int]) -> None:
    """The rows of all ranks in a line, and below them what each rank has."""
    for rank, (begin, end) in enumerate(pairwise(bounds)):
        left = sum(ROW_LENGTHS[:begin])
        x = left
        for length in ROW_LENGTHS[begin:end]:
            axes.add_patch(Rectangle((x, top), length, 1, facecolor=series_colour(rank),
                                     edgecolor=ink("panel"), linewidth=0.8))
            x += length
        axes.text((left + x) / 2, top + 1.2, str(x - left), ha="center", va="center",
                  color=ink("ink"), fontsize=7.5)


def _plain(numbers: Sequence[int]) -> list[Box]:
    return [Box(str(number)) for number in numbers]


def _drawn(
    title: str,
    matrix: Sequence[str],
    cells: dict[tuple[int, int], Box],
    arrays: Sequence[Boxes],
    tile: int = 0,
) -> str:
    """A matrix to the left, arrays to the right, everything in units of one cell."""
    left = len(matrix[0]) + GAP
    width = left + max(len(row.cells) for row in arrays)
    places = _places(arrays)
    height = max(places[-1] + 1, len(matrix) + 1.2)
    with matplotlib.rc_context(TEXT):
        figure = Figure(figsize=(WIDTH, WIDTH * (height + 0.4) / (width + 0.4)))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-0.2, width + 0.2), ylim=(height + 0.2, -0.2))
        axes.set_axis_off()
        top = (height - len(matrix)) / 2
        _matrix(axes, matrix, cells, top)
        if tile:
            _tiles(axes, matrix, tile, top)
        for row, y in zip(arrays, places, strict=True):
            _array(axes, row, left, y)
        return saved(figure, title)


def _places(arrays: Sequence[Boxes]) -> list[float]:
    """Where arrays stand below each other; a title needs room above it."""
    places: list[float] = []
    y = 0.0
    for row in arrays:
        y += 1.25 if row.title and places else 1.0 if row.title else 0.0
        places.append(y)
        y += 1.25
    return places


def _matrix(
    axes: Axes, matrix: Sequence[str], cells: dict[tuple[int, int], Box], top: float
) -> None:
    for i, row in enumerate(matrix):
        for j in range(len(row)):
            _cell(axes, j, top + i, cells.get((i, j)))


def _tiles(axes: Axes, matrix: Sequence[str], tile: int, top: float) -> None:
    """The borders between tiles, in a stronger line."""
    for j in range(0, len(matrix[0]) + 1, tile):
        axes.plot([j, j], [top, top + len(matrix)], color=ink("ink"), linewidth=1.4)
    for i in range(0, len(matrix) + 1, tile):
        axes.plot([0, len(matrix[0])], [top + i, top + i], color=ink("ink"), linewidth=1.4)


def _array(axes: Axes, row: Boxes, left: float, y: float) -> None:
    if row.title:
        axes.text(left, y - 0.35, row.title, fontweight="bold", color=ink("ink"))
    axes.text(left - 0.25, y + 0.5, row.name, ha="right", va="center", color=ink("ink"))
    for k, cell in enumerate(row.cells):
        _cell(axes, left + k, y, cell)


def _cell(axes: Axes, x: float, y: float, cell: Box | None) -> None:
    """A square; numbers on a colour are written in that of the page."""
    slot = cell.slot if cell else None
    face = ink("panel") if slot is None else series_colour(slot)
    axes.add_patch(
        Rectangle((x, y), 1, 1, facecolor=face, edgecolor=ink("grid"), linewidth=0.8)
    )
    if cell:
        colour = ink("ink" if slot is None else "panel")
        weight = "normal" if slot is None else "bold"
        axes.text(x + 0.5, y + 0.5, cell.text, color=colour, fontweight=weight, ha="center",
                  va="center_baseline", fontsize=7.5)

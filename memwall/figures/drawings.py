"""Figures that explain and do not measure: how formats store a small matrix, who gets which rows;
those of `drawings_gpu.py` say which thread, engine or bank does what.

Every number in them is computed from the matrix or the order that is drawn. A drawing is a function
of its question and of what stands below it, listed in `DRAWINGS` under the id of its figure in
`experiment.toml`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memwall.figures import drawings_gpu as gpu
from memwall.figures.board import Board, Slot, Strip, matrix_and_arrays, plain
from memwall.figures.sheet import BODY, SMALL, ink, series_colour

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

@dataclass(frozen=True)
class RunOfColumns:
    """Consecutive nonzeros of a row."""

    row: int
    start: int
    length: int


def csrl(question: str, about: str) -> str:
    """A matrix of runs, its arrays in CSR, and those that replace the columns in CSRL."""
    runs = runs_of(RUNS)
    slot = {(r.row, r.start + k): i for i, r in enumerate(runs) for k in range(r.length)}
    numbers = {place: str(k + 1) for k, place in enumerate(sorted(slot))}
    coloured = {place: Slot(text, slot[place]) for place, text in numbers.items()}
    rows = range(len(RUNS) + 1)
    row_ptr = [sum(place[0] < row for place in numbers) for row in rows]
    ptr = [sum(run.row < row for run in runs) for row in rows]
    columns = [Slot(str(place[1]), slot[place]) for place in numbers]
    arrays = [
        Strip("values", list(coloured.values()), "CSR"),
        Strip("col", columns),
        Strip("row_ptr", plain(row_ptr)),
        Strip("values", list(coloured.values()), "CSRL"),
        Strip("start (jas)", [Slot(str(r.start), i) for i, r in enumerate(runs)]),
        Strip("length (jan)", [Slot(str(r.length), i) for i, r in enumerate(runs)]),
        Strip("first_run (ptr)", plain(ptr)),
    ]
    return matrix_and_arrays(question, about, RUNS, coloured, arrays)


def blocked_coo(question: str, about: str) -> str:
    """A matrix cut into tiles, and the arrays in which tiles without nonzeros do not appear."""
    places = [(i, j) for i, row in enumerate(SCATTERED) for j, x in enumerate(row) if x == "x"]
    ordered = sorted(places, key=lambda place: (place[0] // TILE, place[1], place[0]))
    tiles = list(dict.fromkeys((i // TILE, j // TILE) for i, j in ordered))
    slot = {place: tiles.index((place[0] // TILE, place[1] // TILE)) for place in ordered}
    coloured = {place: Slot(str(k + 1), slot[place]) for k, place in enumerate(ordered)}
    begins = [next(k for k, p in enumerate(ordered) if slot[p] == t) for t in range(len(tiles))]
    strips = range(len(SCATTERED) // TILE + 1)
    arrays = [
        Strip("first row", plain([TILE * strip for strip in strips]), "Strips of rows"),
        Strip("first tile", plain([sum(tile[0] < strip for tile in tiles) for strip in strips])),
        Strip("first column", [Slot(str(TILE * j), t) for t, (_, j) in enumerate(tiles)], "Tiles"),
        Strip("first entry", [Slot(str(begin), t) for t, begin in enumerate(begins)]),
        Strip("row in tile", [Slot(str(i % TILE), slot[i, j]) for i, j in ordered], "Entries"),
        Strip("column in tile", [Slot(str(j % TILE), slot[i, j]) for i, j in ordered]),
        Strip("value", list(coloured.values())),
    ]
    return matrix_and_arrays(question, about, SCATTERED, coloured, arrays, tile=TILE)


def partition(question: str, about: str) -> str:
    """Rows as long as they have nonzeros, in the colours of the ranks that own them."""
    ways = {
        "rounded down": dealt(ROW_LENGTHS, RANKS, lambda rank: False),
        "rounded up": dealt(ROW_LENGTHS, RANKS, lambda rank: True),
        "alternating": dealt(ROW_LENGTHS, RANKS, lambda rank: rank % 2 == 0),
        "least bottleneck": least_bottleneck(ROW_LENGTHS, RANKS),
    }
    left, unit = 7.0, 0.28
    board = Board(question, about, left + unit * sum(ROW_LENGTHS), 2.2 * len(ways))
    for line, (name, bounds) in enumerate(ways.items()):
        board.text(left - 0.4, 2.2 * line + 0.5, name, "end")
        _shares(board, left, 2.2 * line, unit, bounds)
    return board.svg()


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


def light(question: str, about: str) -> str:
    """A warp that fetches rows from a counter: which lane has what after each instruction."""
    lanes, for_row, first = 8, 2, 2
    rows = [first + lane // for_row for lane in range(lanes)]
    places = [(i, j) for i, row in enumerate(RUNS) for j, letter in enumerate(row) if letter == "x"]
    numbers = {place: k + 1 for k, place in enumerate(places)}
    entries = {i: [numbers[place] for place in places if place[0] == i] for i in range(len(RUNS))}
    slots = {i: i - first if i in rows else None for i in range(len(RUNS))}
    coloured = {place: Slot(str(number), slots[place[0]]) for place, number in numbers.items()}

    def step(k: int) -> list[Slot]:
        """The entries that the lanes multiply in their step `k`; a lane may have none left."""
        taken = [entries[row][k * for_row + lane % for_row :][:1] for lane, row in enumerate(rows)]
        return [
            Slot(str(entry[0]), slots[row]) if entry else Slot("")
            for entry, row in zip(taken, rows, strict=True)
        ]

    heads = [lane % for_row == 0 for lane in range(lanes)]
    steps = -(-max(len(entries[row]) for row in rows) // for_row)
    sums = zip(rows, heads, strict=True)
    arrays = [
        Strip("lane", plain(range(lanes)), f"{for_row} lanes for each row"),
        Strip("counter", [Slot(str(first)), *[Slot("")] * (lanes - 1)], "One lane asks"),
        Strip("row", [Slot(str(row), slots[row]) for row in rows], "A shuffle tells all lanes"),
        *[
            Strip(f"entry, step {k + 1}", step(k), "" if k else "Every lane adds up products")
            for k in range(steps)
        ],
        Strip(
            "row of y",
            [Slot(str(row) if head else "", slots[row] if head else None) for row, head in sums],
            "Shuffles add up the lanes",
        ),
    ]
    return matrix_and_arrays(question, about, RUNS, coloured, arrays)


def runs_of(matrix: Sequence[str]) -> list[RunOfColumns]:
    """The runs of consecutive nonzeros, row by row."""
    found = []
    for i, row in enumerate(matrix):
        for j, letter in enumerate(row):
            if letter == "x" and (j == 0 or row[j - 1] != "x"):
                length = len(row[j:]) - len(row[j:].lstrip("x"))
                found.append(RunOfColumns(i, j, length))
    return found


def _shares(board: Board, left: float, top: float, unit: float, bounds: Sequence[int]) -> None:
    """The rows of all ranks in a line, and below them what each rank has."""
    for rank, (begin, end) in enumerate(pairwise(bounds)):
        start = x = left + unit * sum(ROW_LENGTHS[:begin])
        for length in ROW_LENGTHS[begin:end]:
            board.box(x, 0 + top, unit * length, 1, "", rank)
            x += unit * length
        board.text((start + x) / 2, top + 1.35, str(round((x - start) / unit)), "middle", size=11)


# --- article 5 ------------------------------------------------------------------------------------

RowAndColumn = tuple[int, int]
#: Rows of a small matrix that every format below can store; a letter is a nonzero.
FIVE = ("xx...", ".xx..", "x.xx.", "...xx", "....x")
SHORT = 2  # nonzeros of a row that HYB stores in its ELL part
NOTHING = Slot("\u2013")  # what fills a format up


def formats(question: str, about: str) -> str:
    """One matrix in the five formats that article 5 names."""
    cells = five()
    rows = [[place for place in cells if place[0] == i] for i in range(len(FIVE))]
    starts = [sum(i < row for i, _ in cells) for row in range(len(rows) + 1)]
    columns = [Slot(str(j), i) for i, j in cells]
    values = list(cells.values())
    board = Board(question, about, 35.2, 15)
    board.text(0, 0.5, "The matrix", bold=True)
    board.matrix(cells, len(FIVE), len(FIVE), 0, 1)
    for left, arrays in (
        (10.0, [Strip("row", [Slot(str(i), i) for i, _ in cells], "COO: where each nonzero is"),
                Strip("column", columns), Strip("value", values)]),
        (25.0, [Strip("first of row", plain(starts), "CSR: where each row begins"),
                Strip("column", columns), Strip("value", values)]),
    ):
        for k, array in enumerate(arrays):
            board.row(array, left, 1 + 1.3 * k)
    top = 9.0
    offsets = sorted({j - i for i, j in cells})
    on_diagonals = [[cells.get((i, i + offset), NOTHING) for offset in offsets]
                    for i in range(len(FIVE))]
    board.text(0, top - 1.3, "DIA: whole diagonals", bold=True)
    _block(board, 0, top, on_diagonals, "")
    for k, offset in enumerate(offsets):
        board.text(k + 0.5, top - 0.4, f"{offset:+d}" if offset else "0", "middle", size=12)
    widest = max(map(len, rows))
    board.text(10, top - 1.3, "ELL: rows filled up to the longest", bold=True)
    _padded(board, 10, top, rows, widest, cells)
    board.text(25, top - 1.3, "HYB: ELL for two of a row, COO for the rest", bold=True)
    _padded(board, 25, top, [row[:SHORT] for row in rows], SHORT, cells)
    rest = [place for row in rows for place in row[SHORT:]]
    for k, name in enumerate(("row", "column", "value")):
        found = [(Slot(str(p[0]), p[0]), Slot(str(p[1]), p[0]), cells[p])[k] for p in rest]
        board.row(Strip(name, found), 33.2, top + 1.3 * k)
    return board.svg()


def five() -> dict[RowAndColumn, Slot]:
    """The nonzeros of `FIVE` by their places: numbered, in the colours of their rows."""
    places = [(i, j) for i, row in enumerate(FIVE) for j, x in enumerate(row) if x == "x"]
    return {place: Slot(str(k + 1), place[0]) for k, place in enumerate(places)}


def _padded(board: Board, x: float, y: float, rows: Sequence[Sequence[RowAndColumn]], width: int,
            cells: dict[RowAndColumn, Slot]) -> None:
    """Columns and values of rows that are filled up to one width."""
    for part, name in enumerate(("columns", "values")):
        shown = [[Slot(str(p[1]), p[0]) if part == 0 else cells[p] for p in row]
                 + [NOTHING] * (width - len(row)) for row in rows]
        _block(board, x + part * (width + 0.5), y, shown, name)


def _block(board: Board, x: float, y: float, rows: Sequence[Sequence[Slot]], name: str) -> None:
    """A small grid with its name above."""
    board.text(x, y - 0.4, name, size=12)
    for i, row in enumerate(rows):
        for k, box in enumerate(row):
            board.cell(x + k, y + i, box)


def product(question: str, about: str) -> str:
    """One row of a sparse matrix times a vector, in the matrix and in the arrays of CSR."""
    cells, row = five(), 2
    used = [place for place in cells if place[0] == row]
    shown = {place: box if place[0] == row else Slot(box.text) for place, box in cells.items()}
    board = Board(question, about, 34, 7.4)
    for name, x in (("A", 2.5), ("x", 7.5), ("y", 10.5)):
        board.text(x, 0.5, name, "middle", bold=True)
    board.matrix(shown, len(FIVE), len(FIVE), 0, 1)
    board.frame(0, 1 + row, len(FIVE), 1)
    taken = {j for _, j in used}
    board.matrix({(j, 0): Slot(f"x{j}", row if j in taken else None) for j in range(len(FIVE))},
                 len(FIVE), 1, 7, 1)
    board.matrix({(i, 0): Slot(f"y{i}", row if i == row else None) for i in range(len(FIVE))},
                 len(FIVE), 1, 10, 1)
    board.text(6, 3.5, "\u00d7", "middle", size=16)
    board.text(9, 3.5, "=", "middle", size=16)
    left, first = 20.0, sum(i < row for i, _ in cells)
    starts = [sum(i < k for i, _ in cells) for k in range(len(FIVE) + 1)]
    board.row(Strip("first of row", [Slot(str(s), row if k in (row, row + 1) else None)
                                     for k, s in enumerate(starts)], "The same row in CSR"),
              left, 1)
    board.row(Strip("column", [Slot(str(j), row if i == row else None) for i, j in cells]), left, 3)
    board.row(Strip("value", list(shown.values())), left, 4.2)
    board.frame(left + first, 3, len(used), 2.2)
    terms = " + ".join(f"{cells[p].text} \u00b7 x{p[1]}" for p in used)
    board.text(left, 6.2, f"y{row} = {terms}", bold=True)
    return board.svg()


def overtaking(question: str, about: str) -> str:
    """Ticks over products, on a host that begins at once and on GPUs that wait for the matrix, and
    after how many products the two are level."""
    matrix, host = 60.0, 60.0 / 3  # ticks until the matrix is there, and of a product on the host
    lines = (  # a name, ticks until the matrix is there, and those of a product
        ("the host", 0.0, host),
        ("the GPU", matrix, matrix / 60),
        ("infinitely fast GPU memory", matrix, 0.0),
        ("a bus of two bytes a tick", matrix / 2, matrix / 60),
    )
    last, most = 6, 120
    board = Board(question, about, 34, 11.4)

    def place(products: float, ticks: float) -> tuple[float, float]:
        return board.at(2.6 + 3.6 * products, 9.6 - 9 * ticks / most)

    for ticks in range(0, most + 1, 20):
        board.sheet.line([place(0, ticks), place(last, ticks)], ink("grid"))
        left, middle = place(0, ticks)
        board.sheet.text(left - 6, middle + 4, str(ticks), SMALL, align="end")
    for products in range(last + 1):
        middle, below = place(products, 0)
        board.sheet.text(middle, below + 18, str(products), SMALL, align="middle")
    board.text(0, 0, "ticks", size=SMALL)
    board.text(2.6 + 1.8 * last, 10.9, "products", "middle", size=SMALL)
    for slot, (name, way, each) in enumerate(lines):
        colour = series_colour(slot)
        board.sheet.line([place(0, way), place(last, way + last * each)], colour, 2)
        left, middle = place(last, way + last * each)
        told = name
        if way:
            level = way / (host - each)
            x, y = place(level, host * level)
            board.sheet.box(x - 4, y - 4, x + 4, y + 4, colour)
            told += f": level after {level:.1f}"
        board.sheet.text(left + 8, middle + 4, told, BODY, colour)
    return board.svg()


DRAWINGS: dict[str, Callable[[str, str], str]] = {
    "1.csrl": csrl,
    "1.blocked-coo": blocked_coo,
    "1.partition": partition,
    "1.light": light,
    "2.banks": gpu.banks,
    "2.grid": gpu.block_softmax,
    "3.linear": gpu.linear_storage,
    "3.grid": gpu.grid_and_blocks,
    "3.threads": gpu.threads_of_elements,
    "3.reuse": gpu.reuse,
    "3.tiles": gpu.matrix_tiles,
    "3.ragged": gpu.ragged_tiles,
    "3.shared": gpu.into_shared_memory,
    "4.double-copy": gpu.double_copy,
    "4.engines": gpu.engines,
    "4.dependencies": gpu.dependencies,
    "5.formats": formats,
    "5.product": product,
    "overtaking": overtaking,
}

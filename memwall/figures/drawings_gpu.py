"""Drawings of what a GPU does: which thread computes which element, where tiles go, which engine or
bank takes what. `drawings.py` lists them."""

from collections.abc import Sequence
from dataclasses import dataclass

from memwall.figures.board import Board, Slot, Strip, matrix_and_arrays, plain

# --- article 2 ------------------------------------------------------------------------------------


def block_softmax(question: str, about: str) -> str:
    """Which block takes which rows of a matrix, and where its threads put the packs of a row."""
    rows, columns, blocks, threads, pack = 6, 16, 3, 4, 2
    cells = {(i, j): Slot(str(i % blocks), threads + i % blocks)
             for i in range(rows) for j in range(columns)}
    taken = [Slot(str(j), j // pack % threads) for j in range(columns)]
    arrays = [
        Strip("column", taken, "A row in memory"),
        Strip("pack", plain([j // pack for j in range(columns)])),
        Strip("thread", [Slot(str(c.slot), c.slot) for c in taken]),
        Strip("column", [taken[pack * k + i] for i in range(pack) for k in range(columns // pack)],
              "The row in shared memory"),
    ]
    return matrix_and_arrays(question, about, ["x" * columns] * rows, cells, arrays)


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


def banks(question: str, about: str) -> str:
    """Packs of two words in shared memory: which lane writes which word, and in which cycle."""
    last, names_of = 2 * BANKS, 4.0
    board = Board(question, about, names_of + 3 * (BANKS + 1.5), 7)
    for k, (layout, writes) in enumerate(PACKED.items()):
        left, cycles = names_of + k * (BANKS + 1.5), cycles_of(writes)
        in_columns = layout.startswith("In columns")
        lanes = [word % BANKS if in_columns else word // 2 for word in range(last)]
        memory = [Slot(str(lane), cycles[word]) for word, lane in enumerate(lanes)]
        words = [f"words {first}\u2013{first + BANKS - 1}" for first in (0, BANKS)]
        names = ["bank", *words, "cycle"] if k == 0 else [""] * 4
        rows = [plain(range(BANKS)), memory[:BANKS], memory[BANKS:],
                [Slot(str(c + 1), c) for c in sorted(set(cycles.values()))]]
        board.text(left, 0.4, layout, bold=True)
        for name, row, y in zip(names, rows, (1.0, 2.6, 3.6, 5.6), strict=True):
            board.row(Strip(name, row), left, y)
    return board.svg()


# --- article 3 ------------------------------------------------------------------------------------


def linear_storage(question: str, about: str) -> str:
    """A matrix row by row, the line of memory that it is, and the way of one element."""
    rows, width, (i, j) = 3, 5, (2, 1)
    cells = {(r, c): Slot(f"{r},{c}", r) for r in range(rows) for c in range(width)}
    board = Board(question, about, 27, 9)
    left = (27 - rows * width) / 2
    board.text(left - 0.4, 2.0, "the matrix, w = 5", "end")
    board.matrix(cells, rows, width, left + 5, 0.5)
    board.frame(left + 5 + j, 0.5 + i, 1, 1, 2.4)
    board.text(left - 0.4, 6.5, "memory", "end")
    for k, box in enumerate(cells.values()):
        board.cell(left + k, 6, box)
        board.text(left + k + 0.5, 7.5, str(k), "middle", muted=True, size=11)
    place = i * width + j
    board.frame(left + place, 6, 1, 1, 2.4)
    board.arrow((left + 5.5 + j, 1.5 + i), (left + place + 0.5, 5.9))
    board.text(left, 8.5, f"Element (i, j) stands at i \u00b7 w + j: ({i}, {j}) at"
                          f" {i} \u00b7 {width} + {j} = {place}.", bold=True)
    return board.svg()


BLOCKS, THREADS = 8, 8  # of a grid, and of a block, as in the article's example


def grid_and_blocks(question: str, about: str) -> str:
    """A grid of blocks, each with its threads; what a launch counts."""
    board = Board(question, about, 33, 9.2)
    board.text(0.5, 0.4, "grid", bold=True)
    board.frame(0, 0.9, 33, 7)
    for block in range(BLOCKS):
        x, y = 0.8 + 8.0 * (block % 4), 1.4 + 3.2 * (block // 4)
        board.text(x, y + 0.4, f"block {block}", size=12)
        for thread in range(THREADS):
            board.box(x + 0.92 * thread, y + 0.9, 0.92, 1.4, str(thread), block % 7)
    board.text(0, 8.8, f"<<<{BLOCKS}, {THREADS}>>>: {BLOCKS} blocks \u00b7 {THREADS} threads ="
                       f" {BLOCKS * THREADS} threads, of one grid.", bold=True)
    return board.svg()


def threads_of_elements(question: str, about: str) -> str:
    """The number of a thread in its grid, and the element of C that is its own."""
    block, thread, width = 5, 4, 16  # the sixth block, the fifth thread in it; columns of C
    number = block * THREADS + thread
    row, column = divmod(number, width)
    small = 0.5
    board = Board(question, about, 33, 10.6)
    board.text(0, 0.4, "threads", bold=True)
    for k in range(BLOCKS * THREADS):
        board.box(small * k, 1, small, 1, "", k // THREADS % 7)
    for k in range(BLOCKS):
        board.text(small * THREADS * (k + 0.5), 2.5, f"block {k}", "middle", muted=True, size=11)
    board.frame(small * number, 1, small, 1, 2.4)
    board.text(0, 3.9, f"thread {thread} of block {block}: {thread} + {block} \u00b7 {THREADS}"
                       f" = {number}", bold=True)
    left, top = 15.0, 5.0
    rows = BLOCKS * THREADS // width
    cells = {(r, c): Slot(str(r * width + c), (r * width + c) // THREADS % 7)
             for r in range(rows) for c in range(width)}
    board.text(left - 0.4, top + rows / 2, f"C, {width} columns: which thread computes what", "end")
    board.matrix(cells, rows, width, left, top)
    board.frame(left + column, top + row, 1, 1, 2.4)
    board.text(left, top + rows + 0.8, f"row {number} / {width} = {row},"
                                       f" column {number} mod {width} = {column}", bold=True)
    return board.svg()


def reuse(question: str, about: str) -> str:
    """A row of A that three columns of B need: fetched three times, or once into shared memory."""
    uses = 3
    board = Board(question, about, 33, 12.4)
    board.text(0, 0.4, f"Without shared memory: {uses} ways all the way", bold=True)
    for k in range(uses):
        y = 1.1 + 1.7 * k
        for x, name, slot in ((0.0, "global memory", None), (8.5, "L2", 1), (14.5, "L1", 2),
                              (20.5, "registers", 0)):
            board.box(x, y, 5, 1.2, name, slot)
        for x in (5.0, 13.5, 19.5):
            board.arrow((x, y + 0.6), (x + (3.5 if x == 5 else 1), y + 0.6))
        board.text(26, y + 0.6, f"row of A \u00b7 column {k} of B", size=12)
    board.text(0, 7, f"With shared memory: one way to the block, {uses} short ones", bold=True)
    middle = 7.7 + 1.7 + 0.6
    board.box(0, middle - 0.6, 5, 1.2, "global memory")
    board.arrow((5, middle), (10.5, middle))
    board.box(10.5, middle - 0.6, 5, 1.2, "shared memory", 3)
    for k in range(uses):
        y = 7.7 + 1.7 * k
        board.box(20.5, y, 5, 1.2, "registers", 0)
        board.arrow((15.5, middle), (20.4, y + 0.6))
        board.text(26, y + 0.6, f"row of A \u00b7 column {k} of B", size=12)
    return board.svg()


def matrix_tiles(question: str, about: str) -> str:
    """One tile of a product, and the tiles of both operands that it is made of."""
    of_k, side, gap = 4, 2.4, 3.0  # tiles along k; their edge, and the space for a sign
    left_b = side * of_k + gap
    left_c = left_b + 3 * side + gap
    board = Board(question, about, left_c + 3 * side, side * of_k + 2.6)
    middle = 1 + side * of_k / 2
    grids = {"A": (0.0, 3, of_k), "B": (left_b, of_k, 3), "C": (left_c, 3, 3)}
    for name, (left, rows, columns) in grids.items():
        top = middle - side * rows / 2
        board.text(left + side * columns / 2, top - 0.5, name, "middle", bold=True)
        for i in range(rows):
            for j in range(columns):
                used = {"A": i == 1, "B": j == 1, "C": i == j == 1}[name]
                step = {"A": j, "B": i, "C": of_k}[name]
                text = "" if not used else "Cs" if name == "C" else f"{name}s{step}"
                board.box(left + side * j, top + side * i, side, side, text,
                          step if used else None)
    for left, sign in ((left_b, "\u00d7"), (left_c, "=")):
        board.text(left - gap / 2, middle, sign, "middle", size=18)
    total = " + ".join(f"As{step} \u00d7 Bs{step}" for step in range(of_k))
    board.text((left_c + 3 * side) / 2, side * of_k + 1.9, f"Cs = {total}", "middle")
    return board.svg()


EDGE = 4  # rows and columns of a tile


def ragged_tiles(question: str, about: str) -> str:
    """A matrix that tiles do not divide: which tiles reach over its edges, and where."""
    rows, columns = 10, 11
    down, along = -(-rows // EDGE), -(-columns // EDGE)
    cells = {(i, j): Slot("", 0 + (j // EDGE == along - 1) + 2 * (i // EDGE == down - 1))
             for i in range(rows) for j in range(columns)}
    board = Board(question, about, 33, down * EDGE + 1)
    for i in range(down * EDGE):
        for j in range(along * EDGE):
            board.cell(j, i + 0.5, cells.get((i, j), Slot("0")))
    for i in range(down):
        for j in range(along):
            board.frame(EDGE * j, EDGE * i + 0.5, EDGE, EDGE)
    told = ((f"A matrix of {rows} rows and {columns} columns, tiles of {EDGE} \u00d7 {EDGE}", None),
            ("whole tiles: no bounds checks", 0),
            (f"the last column of tiles has {columns % EDGE} of {EDGE} columns", 1),
            (f"the last row of tiles has {rows % EDGE} of {EDGE} rows", 2),
            ("the corner lacks both", 3),
            ("beyond the edge a thread puts 0 into shared memory, and stores nothing", None))
    for k, (words, slot) in enumerate(told):
        y = 1.6 + 1.7 * k
        if slot is not None:
            board.box(14, y - 0.5, 1, 1, "", slot)
        board.text(14 if slot is None else 15.6, y, words, bold=k == 0)
    return board.svg()


def into_shared_memory(question: str, about: str) -> str:
    """Which thread loads which element of a tile, and who reads it afterwards."""
    rows, width, first = 8, 12, (4, 4)  # of A, and where the tile begins
    inside = {(i, j): Slot(f"{i},{j}", i) for i in range(EDGE) for j in range(EDGE)}
    at_home = {(first[0] + i, first[1] + j): box for (i, j), box in inside.items()}
    board = Board(question, about, 33, 12.2)
    board.text(0, 0.4, f"A in global memory, w = {width}", bold=True)
    board.matrix(at_home, rows, width, 0, 1)
    board.frame(first[1], 1 + first[0], EDGE, EDGE, 2.4)
    left, top = 20.0, 1 + first[0]
    board.arrow((first[1] + EDGE + 0.1, top + 2), (left - 0.2, top + 2))
    board.text((first[1] + EDGE + left) / 2 + 2, top + 1.3, "one load a thread", "middle", size=12)
    board.text(left, top - 0.5, "As in shared memory", bold=True)
    board.matrix(inside, EDGE, EDGE, left, top)
    board.text(left + EDGE + 0.6, top + 1, "then a barrier:", size=12)
    board.text(left + EDGE + 0.6, top + 2, "all of the block may", size=12)
    board.text(left + EDGE + 0.6, top + 3, f"read each of them {EDGE} times", size=12)
    begin = first[0] * width + first[1]
    board.text(0, 10.4, f"thread (ty, tx) loads A[{begin} + {width} \u00b7 ty + tx] into"
                        " As[ty][tx].", bold=True)
    lines = ", ".join(f"{begin + width * i} to {begin + width * i + EDGE - 1}" for i in range(EDGE))
    board.text(0, 11.6, f"Threads with one ty read neighbours in memory: {lines}.")
    return board.svg()


# --- article 4 ------------------------------------------------------------------------------------


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


def double_copy(question: str, about: str) -> str:
    """The ways of pageable memory to the device and back, and those of locked memory."""
    board = Board(question, about, 33, 10.3)
    for top, way, turn, core in ((0.9, "to the GPU", 1, "a core copies"),
                                 (4.5, "to the host", -1, "a core copies?")):
        steps = (((6, 13), core), ((19, 27), "the engine copies"))
        board.text(0, top - 0.45, way, bold=True)
        board.box(0, top, 6, 2, "pageable memory")
        board.box(13, top, 6, 2, "locked buffer", 2)
        board.box(27, top, 6, 2, "the GPU's memory", 0)
        for number, (ends, words) in enumerate(steps[::turn], 1):
            tail, head = ends[::turn]
            board.arrow((tail, top + 1), (head, top + 1), f"{number}. {words}")
    board.text(0, 7.65, "either way", bold=True)
    board.box(0, 8.1, 6, 2, "locked memory")
    board.box(27, 8.1, 6, 2, "the GPU's memory", 0)
    board.arrow((6, 8.9), (27, 8.9), "the engine copies")
    board.arrow((27, 9.4), (6, 9.4))
    return board.svg()


def engines(question: str, about: str) -> str:
    """Pieces of two streams, and how they queue for the engines of two kinds of GPU."""
    streams = {f"stream {s}": [Piece(n) for n in DEPTH_FIRST if n[1:] == s] for s in ("0", "1")}
    groups = {
        "Two streams": streams,
        "One copy engine": scheduled(DEPTH_FIRST, ONE_ENGINE),
        "Two copy engines": scheduled(DEPTH_FIRST, BOTH_WAYS),
    }
    board = Board(question, about, 33, 11.6)
    x = 0.0
    for name, queues in groups.items():
        board.text(x, 0.4, name, bold=True)
        for queue, pieces in queues.items():
            board.text(x + 2, 1.6, queue, "middle", size=12)
            for k, piece in enumerate(pieces):
                board.box(x, 2.2 + 1.55 * k, 4, 1.3, piece.name, piece.slot)
            x += 4.4
        x += 1.3
    return board.svg()


#: For each panel: a piece, the one that has to stand behind it, and what a reader should see.
BEHIND = {
    ("Depth-first", "one copy engine"): ("c0", "a1", "a1 could go at once, but stands behind c0"),
    ("Breadth-first", "one copy engine"): ("", "", "a1 and b1 go before c0"),
    ("Depth-first", "two copy engines"): ("", "", "c0 stands in nobody's way"),
    ("Breadth-first", "two copy engines"): ("a1", "b0", "k0 waits for b0, which stands behind a1"),
}


def dependencies(question: str, about: str) -> str:
    """What two orders of issuing make of two kinds of engines, with what waits for what."""
    kinds = {"one copy engine": ONE_ENGINE, "two copy engines": BOTH_WAYS}
    orders = {"Depth-first": DEPTH_FIRST, "Breadth-first": BREADTH_FIRST}
    board = Board(question, about, 36, 18.6)
    y = 0.0
    for kind, engine_of in kinds.items():
        for (order, names), left in zip(orders.items(), (3.4, 22.0), strict=True):
            _schedule(board, f"{order}, {kind}", scheduled(names, engine_of), left, y,
                      BEHIND[order, kind])
        y += 3.8 + 2.4 * len(set(engine_of.values()))
    return board.svg()


def _schedule(board: Board, title: str, lanes: dict[str, list[Piece]], left: float, top: float,
              behind: tuple[str, str, str]) -> None:
    """Lanes of pieces over time, with squares counted below; arrows to what waits for a piece of
    another engine, a frame round what stands behind a piece in the queue of its own."""
    wide = 1.1
    last = max(piece.end for pieces in lanes.values() for piece in pieces)
    board.text(left, top + 0.6, f"{title}: {last} squares", bold=True)
    tops = {lane: top + 1.5 + 2.4 * k for k, lane in enumerate(lanes)}
    placed = {piece.name: (piece, lane) for lane, pieces in lanes.items() for piece in pieces}
    for lane, pieces in lanes.items():
        board.text(left - 0.4, tops[lane] + 0.7, lane, "end", size=12)
        for piece in pieces:
            board.box(left + wide * piece.begin, tops[lane], wide * (piece.end - piece.begin), 1.4,
                      piece.name, piece.slot)
    for before, after in (("b", "k"), ("k", "c")):
        for chunk in ("0", "1"):
            (first, above), (then, below) = placed[before + chunk], placed[after + chunk]
            down = tops[below] > tops[above]
            board.arrow((left + wide * (first.end - 0.15), tops[above] + (1.4 if down else 0.0)),
                        (left + wide * (then.begin + 0.25), tops[below] + (0.0 if down else 1.4)))
    bottom = max(tops.values()) + 1.4
    for step in range(last + 1):
        board.text(left + wide * step, bottom + 0.5, str(step), "middle", muted=True, size=11)
    ahead, waiting, words = behind
    board.text(left, bottom + 1.5, words, size=12)
    if ahead:
        (first, lane), (then, _) = placed[ahead], placed[waiting]
        board.frame(left + wide * first.begin, tops[lane], wide * (then.end - first.begin), 1.4, 3)

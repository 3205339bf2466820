"""What drawings are made of: cells, arrays and arrows, in units of one cell below the question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memwall.figures.sheet import (
    BODY,
    HEAD,
    MARGIN,
    SMALL,
    WIDTH,
    Sheet,
    ink,
    line_height,
    series_colour,
    text_width,
    wrapped,
)

UNIT = 30.0  # pixels of a cell, at most
GAP = 5.0  # cells between a matrix and its arrays, where the names of the arrays stand


@dataclass(frozen=True)
class Slot:
    """One element of an array as it is drawn; `slot` is the colour, None: no colour."""

    text: str
    slot: int | None = None


@dataclass(frozen=True)
class Strip:
    """An array: its name, its elements, and a title that stands above it."""

    name: str
    cells: Sequence[Slot]
    title: str = ""


class Board:
    """A sheet in cells from the top left, `width` and `height` of them, below its question."""

    def __init__(self, question: str, about: str, width: float, height: float) -> None:
        self.question, self.about = question, about
        self.unit = min(UNIT, (WIDTH - 2 * MARGIN) / width)
        lines = wrapped(question, WIDTH - 2 * MARGIN, HEAD)
        self.top = MARGIN + line_height(HEAD) * len(lines) + 14
        self.sheet = Sheet(self.top + self.unit * height + MARGIN)
        for k, line in enumerate(lines):
            self.sheet.text(MARGIN, MARGIN + 14 + k * line_height(HEAD), line, HEAD, bold=True)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixels of a place in cells."""
        return MARGIN + self.unit * x, self.top + self.unit * y

    def svg(self) -> str:
        """What was drawn."""
        return self.sheet.svg(self.question, self.about)

    def text(self, x: float, y: float, text: str, align: str = "start", bold: bool = False,
             muted: bool = False, size: float = BODY) -> None:
        """A text, its middle at `y`."""
        left, middle = self.at(x, y)
        self.sheet.text(left, middle + 0.36 * size, text, size, ink("muted") if muted else "",
                        align, bold)

    def box(self, x: float, y: float, width: float, height: float, text: str = "",
            slot: int | None = None, edge: str = "") -> None:
        """A name in a box; on a colour it is written in that of the page."""
        left, top = self.at(x, y)
        right, bottom = self.at(x + width, y + height)
        face = ink("panel") if slot is None else series_colour(slot)
        border = edge or ink("muted" if slot is None else "panel")
        self.sheet.box(left, top, right, bottom, face, border)
        if text:
            size = SMALL if text_width(text, SMALL, bold=True) < right - left else 11
            self.sheet.text((left + right) / 2, (top + bottom) / 2 + 0.36 * size, text, size,
                            ink("ink" if slot is None else "panel"), "middle", slot is not None)

    def cell(self, x: float, y: float, cell: Slot | None) -> None:
        """A square of one cell; None is an empty one."""
        slot = cell.slot if cell else None
        self.box(x, y, 1, 1, cell.text if cell else "", slot, ink("grid"))

    def row(self, row: Strip, x: float, y: float) -> None:
        """An array, its name to the left and its title above."""
        if row.title:
            self.text(x, y - 0.45, row.title, bold=True)
        self.text(x - 0.25, y + 0.5, row.name, "end", size=SMALL)
        for k, cell in enumerate(row.cells):
            self.cell(x + k, y, cell)

    def matrix(self, cells: Mapping[tuple[int, int], Slot], rows: int, columns: int, x: float = 0,
               y: float = 0) -> None:
        """A grid of cells by row and column."""
        for i in range(rows):
            for j in range(columns):
                self.cell(x + j, y + i, cells.get((i, j)))

    def frame(self, x: float, y: float, width: float, height: float, strong: float = 1.6) -> None:
        """A border without a face."""
        (left, top), (right, bottom) = self.at(x, y), self.at(x + width, y + height)
        corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
        self.sheet.line(corners, ink("ink"), strong)

    def arrow(self, tail: tuple[float, float], head: tuple[float, float], text: str = "") -> None:
        """From one place to another, with words above its middle."""
        self.sheet.arrow(self.at(*tail), self.at(*head))
        if text:
            self.text((tail[0] + head[0]) / 2, (tail[1] + head[1]) / 2 - 0.4, text, "middle",
                      size=SMALL)


def plain(numbers: Sequence[int | str]) -> list[Slot]:
    """Cells without a colour."""
    return [Slot(str(number)) for number in numbers]


def matrix_and_arrays(question: str, about: str, matrix: Sequence[str],
                      cells: Mapping[tuple[int, int], Slot], arrays: Sequence[Strip],
                      tile: int = 0) -> str:
    """A matrix to the left, arrays to the right; borders of tiles in a stronger line."""
    left = len(matrix[0]) + GAP
    places = _places(arrays)
    height = max(places[-1] + 1, len(matrix))
    width = left + max(len(row.cells) for row in arrays)
    board = Board(question, about, width, height)
    top = (height - len(matrix)) / 2
    board.matrix(cells, len(matrix), len(matrix[0]), 0, top)
    for i in range(0, len(matrix), tile or len(matrix)):
        for j in range(0, len(matrix[0]), tile or len(matrix[0])):
            if tile:
                board.frame(j, top + i, tile, tile)
    for row, y in zip(arrays, places, strict=True):
        board.row(row, left, y)
    return board.svg()


def _places(arrays: Sequence[Strip]) -> list[float]:
    """Where arrays stand below each other; a title needs room above it."""
    places: list[float] = []
    y = 0.0
    for row in arrays:
        y += 1.25 if row.title and places else 1.0 if row.title else 0.0
        places.append(y)
        y += 1.25
    return places

"""Figures of a study: where the nonzeros lie, how variants rank, what partitions cost."""

import math
from collections.abc import Callable, Sequence

from memwall.figures.curves import lines
from memwall.figures.dots import Dots, Panel, Row, dots
from memwall.figures.panels import NOT_MEASURED, Chart, Series, Value
from memwall.figures.sheet import (
    MARGIN,
    ROLE_OF_GROUP,
    SMALL,
    TINY,
    WIDTH,
    Sheet,
    ink,
    role_colour,
    text_width,
)
from memwall.record.studies import Anatomy, Partition, ProductCase, panel_title

SPY = 420.0  # pixels of the longer side of the picture
FAR_BEYOND = 3.0  # times the bound
LEVELS = 4  # shades of a cell
TOP = 30.0
BAR = 62.0  # pixels of the highest bar of a histogram
GROUND = 112.0  # pixels from one histogram to the next


# --- structure ------------------------------------------------------------------------------------


def structure(anatomy: Anatomy) -> str:
    """The picture of the matrix, and beside it how long its rows and runs are and how far its
    nonzeros lie from the diagonal."""
    sheet = Sheet(TOP + SPY + 40)
    _spy(sheet, anatomy)
    left = MARGIN + SPY + 70
    for at, (title, unit, counts) in enumerate((
        ("Rows by their nonzeros", "rows", anatomy.row_lengths),
        ("Runs of consecutive columns by their nonzeros", "runs", anatomy.run_lengths),
        ("Nonzeros by their distance from the diagonal", "nonzeros", anatomy.distances),
    )):
        _histogram(sheet, left, TOP + at * (GROUND + 42), title, unit, counts)
    return sheet.svg("Where the nonzeros lie")


def _spy(sheet: Sheet, anatomy: Anatomy) -> None:
    rows, columns = anatomy.spy_rows, anatomy.spy_columns
    if not rows or not columns:
        sheet.text(MARGIN, TOP, "no rows or no columns", SMALL, ink("muted"))
        return
    cell = SPY / max(rows, columns)
    left, top = MARGIN, TOP
    right, bottom = left + columns * cell, top + rows * cell
    frame = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    sheet.text(left, 16, "Nonzeros, darker where there are more", SMALL)
    by_level: dict[int, list[tuple[float, float]]] = {}
    most = max(anatomy.spy, default=0)
    for place, count in enumerate(anatomy.spy):
        if count:
            row, column = divmod(place, columns)
            by_level.setdefault(_level(count, most), []).append(
                (left + column * cell, top + row * cell))
    for level, corners in sorted(by_level.items()):
        _cells(sheet, corners, cell, level / LEVELS)
    sheet.line(frame, ink("muted"), 1)


def _level(count: int, most: int) -> int:
    """1 for the least, `LEVELS` for the most; a matrix whose cells are alike is dark."""
    if most <= 1:
        return LEVELS
    return 1 + min(LEVELS - 1, int(LEVELS * math.log(count) / math.log(most)))


def _cells(sheet: Sheet, corners: Sequence[tuple[float, float]], cell: float,
           opacity: float) -> None:
    """Squares as one shape, so that a picture stays small."""
    outlines = [[(x, y), (x + cell, y), (x + cell, y + cell), (x, y + cell)] for x, y in corners]
    sheet.shape(outlines, role_colour("ours"), opacity)


def _histogram(sheet: Sheet, left: float, top: float, title: str, unit: str,
               counts: Sequence[int]) -> None:
    """A bar for each power of two; entry k counts sizes from 2^(k-1)."""
    sheet.text(left, top - 14, title, SMALL)
    total = sum(counts)
    base, right = top + GROUND - 26, WIDTH - MARGIN
    sheet.line([(left, base), (right, base)], ink("muted"), 1)
    if not total:
        sheet.text(left, base - 6, f"no {unit}", SMALL, ink("muted"))
        return
    pitch = min(48.0, (right - left) / len(counts))
    tallest = max(counts)
    widest = max(text_width(size_label(k), TINY) for k in range(len(counts)))
    stride = math.ceil((widest + 5) / pitch)
    for k, count in enumerate(counts):
        x = left + k * pitch
        high = BAR * count / tallest
        if count:
            sheet.box(x + 2, base - max(high, 1), x + pitch - 2, base, role_colour("ours"))
        share = share_text(count / total) if count else ""
        if share and text_width(share, TINY) <= pitch + 2:
            sheet.text(x + pitch / 2, base - high - 4, share, TINY, align="middle")
        if k % stride == 0:
            sheet.text(x + pitch / 2, base + 14, size_label(k), TINY, ink("muted"),
                       align="middle")


def share_text(share: float) -> str:
    """`12%`, or `<1%`: short, as it stands above a bar."""
    return f"{100 * share:.0f}%" if share >= 0.01 else "<1%"


def size_label(power: int) -> str:
    """Where a bar begins: 0, 1, 2, 4, ..., 1k (1,024), 1M."""
    if power == 0:
        return "0"
    size = 1 << (power - 1)
    for scale, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if size >= scale:
            return f"{size // scale}{letter}"
    return str(size)


# --- ranking --------------------------------------------------------------------------------------


def ranking(cases: Sequence[ProductCase], title: str) -> str:
    """Shares of the bound: a panel for each number of threads, the fastest variants first."""
    threads = sorted({(case.target, case.threads) for case in cases})
    series = tuple(sorted({case.precision for case in cases}))
    rows = _ranked(cases)
    found = {(case.variant, case.target, case.threads, case.precision): case
             for case in cases}
    # Where caches hold the matrix, shares are so large that they are written as multiples.
    top = max((case.of_bound or 0 for case in cases), default=0)
    full, label = ((1.0, "multiple of what the memory bound allows") if top > FAR_BEYOND
                   else (100.0, "share of the memory bound, in percent"))
    cells = tuple(tuple(tuple(_share(found.get((row.name, *of, one)), full) for one in series)
                        for row in rows) for of in threads)
    panels = tuple(Panel(panel_title(target, count), bound=full) for target, count in threads)
    data = Dots(title, panels, rows, cells, series, scale="linear", value_label=label,
                bound_label="the bound")
    return dots(data).svg


def _ranked(cases: Sequence[ProductCase]) -> tuple[Row, ...]:
    """Variants, those first whose best share is the largest; yours stands at the very top."""
    best: dict[str, float] = {}
    groups: dict[str, str] = {}
    for case in cases:
        groups[case.variant] = case.group
        best[case.variant] = max(best.get(case.variant, 0), case.of_bound or 0)
    names = sorted(best, key=lambda name: (groups[name] != "yours", -best[name], name))
    return tuple(Row(name, role=_role(groups[name])) for name in names)


def _role(group: str) -> str:
    return "yours" if group == "yours" else ROLE_OF_GROUP.get(group, "ours")


def _share(case: ProductCase | None, full: float) -> Value:
    if case is None:
        return Value(absence="skipped")
    if case.of_bound is None or case.of_bound_interval is None:
        return Value(absence="failed" if case.seconds is None else "no bound")
    low, high = case.of_bound_interval
    return Value(full * case.of_bound, full * low, full * high)


# --- partitions -----------------------------------------------------------------------------------

WAYS = {"equal_rows": "equal rows", "least_bottleneck": "least bottleneck", "graph": "graph"}


def partitions(found: Sequence[Partition], quantity: Callable[[Partition], float], label: str,
               title: str) -> str:
    """A quantity of each way over the ranks."""
    ranks = sorted({each.ranks for each in found})
    drawn = []
    for slot, (way, name) in enumerate(WAYS.items()):
        of = {each.ranks: Value(float(quantity(each))) for each in found if each.way == way}
        if of:
            absent = Value(absence=NOT_MEASURED)
            drawn.append(Series(name, slot, tuple(of.get(count, absent) for count in ranks)))
    return lines(Chart(title, "ranks", label, tuple(map(float, ranks)), tuple(drawn),
                       log_categories=True)).svg

"""Tables, in Markdown and for terminals."""

from collections.abc import Sequence


def markdown(
    head: Sequence[str], body: Sequence[Sequence[str]], numbers: int, prose: Sequence[int] = (),
    centred: Sequence[int] = ()
) -> str:
    """A table whose columns from the position `numbers` on, but for `prose`, are right-aligned."""
    left = [index < numbers or index in prose for index in range(len(head))]
    rule = [":-:" if index in centred else "---" if is_left else "---:"
            for index, is_left in enumerate(left)]
    lines = [head, rule, *body]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in lines)


def aligned(rows: Sequence[Sequence[str]], sides: str = "") -> list[str]:
    """A table for a terminal; each column stands to the left, or as `sides` tells: `<<>`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = sides or "<" * len(widths)
    return ["  ".join(f"{cell:{side}{width}}" for cell, side, width
                      in zip(row, sides, widths, strict=True)).rstrip() for row in rows]


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")

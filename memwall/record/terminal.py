"""What is shown to people: text of strangers does nothing to a terminal but stand there."""

import os
import unicodedata
from typing import TextIO

from memwall.record.escape import opened


def harmless(text: str) -> str:
    """A text of which every character can be seen: escape codes and other controls, marks that turn
    the direction of writing and bytes that are no text are spelled (`\\x1b`). Lines stay lines."""
    return "".join(letter if _is_shown(letter) or letter == "\n" else _spelled(letter)
                   for letter in opened(text))


def one_line(text: str) -> str:
    """As `harmless`, of a name: it ends no line."""
    return harmless(text).replace("\n", "\\n")


def _is_shown(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"  # blanks of any width


def _spelled(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")


def can_rewrite(stream: TextIO) -> bool:
    """Whether a line on a stream can be written over: on terminals that know escape codes, unless a
    user wants none of these."""
    return (stream.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
            and not os.environ.get("NO_COLOR"))


def cut(text: str, columns: int) -> str:
    """As much of a text as so many columns hold; letters of some scripts take two, as
    wcwidth says, which bundles do not carry."""
    for at, letter in enumerate(text):
        columns -= (0 if unicodedata.combining(letter)
                    else 2 if unicodedata.east_asian_width(letter) in "WF" else 1)
        if columns < 0:
            return text[:at]
    return text

"""Text of strangers, harmless wherever it is shown: names, notes and reasons in results that others
measured, and files that users call as they like.

A page is put together from many small texts, and only its author's may be Markdown or HTML. So what
comes from a result is *sealed* when it is read: each letter that means something in Markdown, HTML
or Doxygen gives way to a stand-in of Unicode's private use area, and what steers a terminal or the
direction of a text becomes words. Stand-ins pass through tables, sentences and figures as letters
that mean nothing. Where a text leaves, it is opened in that place's own way: in a page each
stand-in becomes an entity, in a figure and on a terminal the letter that it stands for. A text that
had stand-ins from the beginning cannot break out either: it gets entities for them. Pages that are
HTML alone need none of this: their templates escape, and texts are only made visible.
"""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache
from html import escape as _entities
from typing import Any, TypeVar

#: What is sealed: marks, what begins links, and commands of Doxygen.
ACTIVE = re.compile(r"[<>&|`*\\{}$#]|\](?=[(\[:]|$)|:(?=//)|(?<=www)\.|(?<!\w)@(?=[A-Z])",
                    re.IGNORECASE)
BASE = 0xE000
STAND_IN = re.compile(f"[{chr(BASE + 0x20)}-{chr(BASE + 0x7E)}]")  # of a control there is none
#: A span of code on one line of Markdown, where entities mean nothing.
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]*?)(?<!`)\1(?!`)")
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1`*$", re.DOTALL | re.MULTILINE)
#: Controls, directions of text, halves of letters, ends of lines that are none.
UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
#: What a spreadsheet takes for the begin of a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
#: The same behind what separates cells where a comma is part of a number.
FORMULA_INSIDE = re.compile(r"(;\s*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])")

T = TypeVar("T")


@cache
def visible(text: str, keep: str = "", blank: str = "\t\n\r\v\f") -> str:
    """A text in one line: `\\x1b` for what steers a terminal or the direction of a text, and blanks
    for what ends lines. `keep` is left as it is."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(letter if letter in keep else " " if letter in blank else _seen(letter)
                   for letter in text)


def _seen(letter: str) -> str:
    if unicodedata.category(letter) in UNSEEN and letter != "\u00ad":
        return letter.encode("ascii", "backslashreplace").decode() if ord(letter) > 0x7F else (
            f"\\x{ord(letter):02x}")
    return letter


@cache
def sealed_text(text: str) -> str:
    """A text without any letter that means something in a page."""
    return ACTIVE.sub(lambda match: chr(BASE + ord(match[0])), visible(text))


def listing(text: str) -> str:
    """A text of several lines, which stands in a fence or is escaped as a whole."""
    return visible(text, keep="\n\t")


def sealed(value: T) -> T:
    """A JSON value whose every text and name is sealed."""
    return _each_text(value, sealed_text)


def unsealed(value: T) -> T:
    """A JSON value whose every text and name has its own letters again."""
    return _each_text(value, opened)


def shown(value: T) -> T:
    """An object of JSON values whose every text is visible, for templates that escape the rest."""
    return _each_text(value, visible)


def _each_text(value: T, change: Callable[[str], str]) -> T:
    made: Any = value
    if isinstance(value, str):
        made = change(value)
    elif isinstance(value, dict):
        made = {change(name): _each_text(of, change) for name, of in value.items()}
    elif isinstance(value, (int, float)):
        pass  # most values of a result
    elif isinstance(value, (list, tuple)):
        if value and not isinstance(value[0], (int, float)):
            made = type(value)(_each_text(of, change) for of in value)
    elif is_dataclass(value) and not isinstance(value, type):
        made = replace(value, **{each.name: _each_text(getattr(value, each.name), change)
                                 for each in fields(value)})
    return made


def opened(text: str) -> str:
    """A sealed text with its own letters: for figures, terminals and names of files."""
    return STAND_IN.sub(lambda match: chr(ord(match[0]) - BASE), text)


def html(page: str) -> str:
    """A page in which every stand-in is an entity."""
    return STAND_IN.sub(lambda match: f"&#{ord(match[0]) - BASE};", page)


def markdown(page: str) -> str:
    """As `html`, of a page in Markdown: a span of code that has stand-ins becomes one of HTML."""
    if not STAND_IN.search(page):
        return page
    return html(CODE_SPAN.sub(_span, page))


def _span(match: re.Match[str]) -> str:
    return f"<code>{_entities(match[2], False)}</code>" if STAND_IN.search(match[2]) else match[0]


def fenced(text: str, language: str) -> str:
    """A listing in a fence that it cannot close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def without_code(page: str) -> str:
    """A page in Markdown less its listings and spans of code, each line in its place."""
    page = FENCE.sub(lambda match: "\n" * match[0].count("\n"), page)
    return CODE_SPAN.sub("", page)


def csv_cell(value: Any) -> Any:
    """A cell of CSV that no spreadsheet takes for a formula."""
    if not isinstance(value, str):
        return value
    text = FORMULA_INSIDE.sub(r"\1'", visible(value))
    formula = value.startswith(FORMULA) or value.lstrip().startswith(FORMULA)
    return f"'{text}" if formula else text


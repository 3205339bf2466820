"""What tells of a machine more than a result should: paths, users, hosts."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from memwall.record import escape
from memwall.record.results import Json, Steps
from memwall.record.schemas import spot

# "/usr/lib" but not "GB/s", "a / b" or "https://host/path", nor "/sys/class/powercap": the kernel's
# folders are the same on every machine.
ABSOLUTE_PATH = re.compile(
    r"(?:(?<![\w./])|(?<=-[BIL]))/(?!sys/class/)[\w.+-]+(?:/[\w.+-]+)+|\b[A-Za-z]:\\|(?<!\w)~\w*/"
)
USER_AT_HOST = re.compile(r"\b[\w.-]+@[\w-]+")
HOST_NAME = re.compile(
    r"\b[\w-]+\.(?:local|localdomain|lan|internal|home|intranet)\b", re.IGNORECASE
)


def tellings(raw: Json, shown: str) -> Iterator[str]:
    """What of a result must not leave the machine that measured it, a line for each text that tells
    of it; the repository's own marked texts may. Who measures for himself is never asked."""
    for path, telling in _tellings(raw, ()):
        yield f"{spot(shown, path)}: {telling}"


def _tellings(node: Json | list[Any], path: Steps) -> Iterator[tuple[Steps, str]]:
    """What is wrong with any text, or any key of an object, and where."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(key, str) and (telling := _telling(key)):
            yield (*path, key), telling
        if isinstance(value, str) and (telling := _telling(value)):
            yield (*path, key), telling
        elif isinstance(value, (dict, list)) and (path or key != "excerpts"):
            yield from _tellings(value, (*path, key))


@cache
def _telling(text: str) -> str:
    """What a text tells of a machine: a path, a user or a host; empty if it does not."""
    text = escape.opened(text)
    for pattern, what in (
        (ABSOLUTE_PATH, "no absolute path"),
        (USER_AT_HOST, "no user or host name"),
        (HOST_NAME, "no host name"),
    ):
        if pattern.search(text):
            return f'found "{text[:80]}", expected {what}'
    return ""

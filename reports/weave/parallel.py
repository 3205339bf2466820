"""The same work on many things, on all processors."""

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def each(work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
    """What `work` makes of each item, in their order.

    The processes are forks, which have `work` and the items already: only what is made has to be
    pickled, and errors. The first error, in the order of the items, is raised.
    """
    workers = min(len(items), len(os.sched_getaffinity(0)))
    if workers < 2:
        return [work(item) for item in items]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _inherit,
                             (work, items)) as pool:
        return list(pool.map(_make, range(len(items))))


_inherited: tuple[Callable[[Any], Any], Sequence[Any]]


def _inherit(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    global _inherited
    _inherited = work, items


def _make(at: int) -> Any:
    work, items = _inherited
    return work(items[at])

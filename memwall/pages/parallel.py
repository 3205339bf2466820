"""The same work on many things, on all processors."""

import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from memwall.record import processors
from memwall.record.errors import UserError

T = TypeVar("T")
R = TypeVar("R")


def each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """What `work` makes of each item, in their order.

    The processes are forks, which have `work` and the items already: only what is made has to be
    pickled, and errors. The first error, in the order of the items, is raised.
    """
    workers = min(len(items), processors.usable())
    if workers < 2:
        return [work(item) for item in items]
    with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), _inherit,
                             (work, items)) as pool:
        try:
            return list(pool.map(_make, range(len(items))))
        except BrokenProcessPool:
            raise UserError("a process that weaves was killed: is there memory enough?") from None


_inherited: tuple[Callable[[Any], Any], Sequence[Any]]


def _inherit(work: Callable[[Any], Any], items: Sequence[Any]) -> None:
    global _inherited
    _inherited = work, items
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that waits for them


def _make(at: int) -> Any:
    work, items = _inherited
    return work(items[at])

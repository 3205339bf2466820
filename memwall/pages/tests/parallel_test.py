"""The same work on many things."""

import os

import pytest

from memwall.pages import parallel
from memwall.record.errors import UserError


def test_what_is_made_comes_in_the_order_of_the_items() -> None:
    base = 10  # not pickled, but known where the work is done
    assert parallel.each(lambda item: base * item, range(20)) == [base * i for i in range(20)]


def test_nothing_is_made_of_nothing() -> None:
    assert parallel.each(str, []) == []


def test_on_two_processors_the_work_is_done_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 2)
    assert os.getpid() not in parallel.each(lambda item: os.getpid(), range(4))
    monkeypatch.setattr("memwall.record.processors.usable", lambda: 1)
    assert set(parallel.each(lambda item: os.getpid(), range(4))) == {os.getpid()}


@pytest.mark.parametrize("processors", [1, 2])
def test_the_first_error_is_raised(monkeypatch: pytest.MonkeyPatch, processors: int) -> None:
    def refuse_odd(item: int) -> int:
        if item % 2:
            raise UserError(f"found {item}, expected an even number")
        return item

    monkeypatch.setattr("memwall.record.processors.usable", lambda: processors)
    with pytest.raises(UserError, match="found 1, expected an even number"):
        parallel.each(refuse_odd, range(6))

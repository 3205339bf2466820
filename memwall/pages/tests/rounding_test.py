"""Numbers as lessons say them."""

import pytest

from memwall.pages import rounding
from memwall.record.errors import UserError


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (rounding.about(1.364), "1.4"),
        (rounding.about(0.0871), "0.087"),
        (rounding.about(99.6), "100"),
        (rounding.about(1234, "calls"), "1,200 calls"),
        (rounding.about(0), "0"),
        (rounding.seconds(1.364e-9), "1.4 ns"),
        (rounding.seconds(0.0101), "10 ms"),
        (rounding.rate(1.234e10), "12 GB/s"),
        (rounding.rate(9.996e11), "1.0 TB/s"),
        (rounding.rate(6.55e13, "FLOP/s"), "66 TFLOP/s"),
        (rounding.size(2**21), "2 MiB"),
        (rounding.size(300 * 2**20), "300 MiB"),
        (rounding.size(5.3 * 2**20), "5.3 MiB"),
        (rounding.percent(0.382), "38 %"),
        (rounding.percent(0.0042), "0.42 %"),
        (rounding.times(1.34), "1.3 times"),
        (rounding.times(1.52), "one and a half times"),
        (rounding.times(1.96), "twice"),
        (rounding.times(2.4), "two and a half times"),
        (rounding.times(2.24), "2.2 times"),
        (rounding.times(3.3), "3.3 times"),
        (rounding.times(3.65), "three and a half times"),
        (rounding.times(3.9), "four times"),
        (rounding.times(11.8), "twelve times"),
        (rounding.times(16.2), "16 times"),
        (rounding.times(134), "130 times"),
        (rounding.share(0.34), "a third"),
        (rounding.share(0.68), "two thirds"),
        (rounding.share(0.5), "half"),
        (rounding.share(0.04), "4 %"),
        (rounding.share(0.98), "98 %"),
        (rounding.counted(4.2), "four"),
        (rounding.counted(1300), "1,300"),
    ],
)
def test_words(said: str, expected: str) -> None:
    assert said == expected


@pytest.mark.parametrize("value", [0.5, 1.0, 1.04])
def test_no_more_is_no_number_of_times(value: float) -> None:
    with pytest.raises(UserError, match="expected at least 1.05"):
        rounding.times(value)


def test_words_are_never_further_off_than_they_may_be() -> None:
    named = {words: value for value, words in rounding.SHARES}
    for share in (value / 1000 for value in range(1, 1001)):
        said = rounding.share(share)
        value = named[said] if said in named else float(said.removesuffix(" %")) / 100
        assert value == pytest.approx(share, rel=rounding.NEAR, abs=0.0051), share

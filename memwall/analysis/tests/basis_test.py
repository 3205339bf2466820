"""What values are compared with, in words."""

from typing import cast

from memwall.analysis.basis import Basis
from memwall.analysis.measurements import Measurements


def test_the_best_of_the_peers_is_called_a_library() -> None:
    unused = cast(Measurements, None)
    assert Basis(unused, {"best_of": "peer"}).over_words == "the best library"
    assert Basis(unused, {"best_of": "format"}).over_words == "the best of the kind format"

"""What machines are compared by: kinds of inputs."""

import pytest

from memwall.pages.survey import kind_of


@pytest.mark.parametrize("size", ["", "-tiny", "-small", "-half", "-gpu", "-xl"])
def test_sizes_of_one_kind_of_matrix_are_one_kind(size: str) -> None:
    assert kind_of(f"rmat{size}") == "rmat"


def test_what_is_no_size_is_part_of_the_kind() -> None:
    assert kind_of("runs-25-small") == "runs-25"

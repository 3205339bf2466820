"""Tests of one group run in one process."""

import pytest


@pytest.mark.xdist_group("some")
def test_a_group_is_known_to_the_one_who_distributes(request: pytest.FixtureRequest) -> None:
    """pytest-xdist does so by the names of tests: with a pytest that lets it change none, each test
    would go anywhere, and nobody would be told."""
    if not request.config.getoption("loadgroup", False):
        pytest.skip("nothing is distributed by groups")
    assert request.node.nodeid.endswith("@some")

"""Names that become folders, files and targets of the build."""

from pathlib import Path

import pytest

from memwall.record import names
from memwall.record.errors import UserError


@pytest.mark.parametrize("name", ["", "-x", "a/", "a/b", "..", ".", "A", "a b", "x" * 101, "ä",
                                  "a\n", "a-", "a--b", "a_b", "results@x", "\x1b[2J"])
def test_what_is_no_name(name: str) -> None:
    with pytest.raises(UserError, match=r"^--machine: found .*, expected") as error:
        names.require(name, "--machine")
    assert str(error.value).isprintable() and len(str(error.value)) < 200
    assert names.require(names.fitting(f"{name}7"), "") != name


@pytest.mark.parametrize("name", [*sorted(names.MESONS_OWN), "meson-log"])
def test_targets_that_meson_keeps(name: str) -> None:
    with pytest.raises(UserError, match=f"^new: found '{name}', which Meson keeps for itself"):
        names.require_target(name)
    assert names.require_target(f"{name}-2x".removeprefix("meson-")) != name


@pytest.mark.parametrize("name", ["", "alpha/", "../experiments/alpha", "x" * 300, "a\nb"])
def test_what_is_no_experiment(name: str, tmp_path: Path) -> None:
    (tmp_path / "experiments/alpha").mkdir(parents=True)
    (tmp_path / "experiments/alpha/experiment.toml").write_text("")
    with pytest.raises(UserError, match="^no experiment .*; there are: alpha$") as error:
        names.require_experiment(tmp_path, name)
    assert len(str(error.value)) < 120
    assert names.require_experiment(tmp_path, "alpha") == "alpha"


def test_a_fitting_name_has_room_for_a_number() -> None:
    assert names.require(f"{names.fitting('a' * 300)}-{10**9 - 1}", "")

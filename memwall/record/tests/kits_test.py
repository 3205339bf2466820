"""What a kit says of itself is asked before anything is graded by it."""

from pathlib import Path

import pytest

from memwall.record import kits
from memwall.record.errors import UserError

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "experiments/spmv-serial-steps/kit/kit.toml"


@pytest.mark.parametrize(("found", "put", "said"), [
    ("vectors=4", "vectors=0", r"\$\.problem: found "),
    ("vectors=4", "vectors=many", r"\$\.problem: found "),
    ("rounds = 6", "rounds = nan", r"kit\.toml: not TOML: found nan, expected a finite number"),
    ("rounds = 6", "rounds = 4.5", r"\$\.rounds: found 4.5, expected integer"),
    ("rounds = 6", "rounds = true", r"\$\.rounds: found true, expected integer"),
    ("rounds = 6", "rounds = 99999999999999999999", r"\$\.rounds: found 9+, expected at most"),
    ("problem = ", "problems = ", r'\$: found the key "problems"|found no "problem"'),
    ("rounds = 6", "rounds = -1", r"\$\.rounds: found -1, expected at least 1"),
    ("ranks = 1", "ranks = \"2\"", r"\$\.ranks: found \"2\", expected integer"),
    ("speed = 60", "speed = -50", r"\$\.points\.speed: found -50"),
    ("speed = 60", "speed = inf", r"kit\.toml: not TOML: found inf, expected"),
    ("file = \"spmv.cpp\"", "file = \"../spmv.cpp\"", r"\$\.file: found"),
    ("hidden = true", "hiden = true", r"found the key \"hiden\""),
    ("processors = 1", "processors = [", r"kit\.toml: not TOML: "),
])
def test_a_kit_is_asked(tmp_path: Path, found: str, put: str, said: str) -> None:
    text = KIT.read_text(encoding="utf-8")
    assert found in text
    (tmp_path / "kit.toml").write_text(text.replace(found, put), encoding="utf-8")
    with pytest.raises(UserError, match=said) as error:
        kits.load(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("kit", sorted(ROOT.glob("experiments/*/kit*/kit.toml")))
def test_every_kit_of_the_tree_is_right(kit: Path) -> None:
    loaded = kits.load(kit.parent)
    assert all(value >= 1 for value in loaded.settings.values())

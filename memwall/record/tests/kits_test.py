"""What a kit says of itself is asked before anything is graded by it."""

from pathlib import Path

import pytest

from memwall.record import kits
from memwall.record.errors import UserError

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "experiments/spmv-serial-steps/kit/kit.toml"


@pytest.mark.parametrize(("found", "put", "said"), [
    ("vectors = 4", "vectors = 0", r"\$\.vectors: found 0, expected at least 1"),
    ("vectors = 4", "vectors = nan", r"kit\.toml: not TOML: found nan, expected a finite number"),
    ("vectors = 4", "vectors = 4.5", r"\$\.vectors: found 4.5, expected integer"),
    ("vectors = 4", "vectors = true", r"\$\.vectors: found true, expected integer"),
    ("vectors = 4", "vectors = 99999999999999999999", r"\$\.vectors: found 9+, expected at most"),
    ("vectors = 4", "vector = 4", r'\$: found the key "vector"|found no "vectors"'),
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


@pytest.mark.parametrize("kit", sorted(ROOT.glob("experiments/*/kit/kit.toml")))
def test_every_kit_of_the_tree_is_right(kit: Path) -> None:
    assert kits.load(kit.parent).vectors >= 1

"""Pages name files by where they are now, whatever results recorded."""

import re
from pathlib import Path

import pytest

from memwall.record import sources
from memwall.record.errors import UserError

ROOT = Path(__file__).resolve().parents[3]


def tree(root: Path, renames: str) -> sources.Tree:
    (root / "lib").mkdir()
    (root / "lib/renames.txt").write_text(renames, encoding="utf-8")
    return sources.read_tree(root)


def test_the_longest_path_of_the_list_counts(tmp_path: Path) -> None:
    now = tree(tmp_path, "# a list\n\nlib/a lib/b\nlib/a/old.cpp lib/c/new.cpp\n").where_now
    assert now("lib/a/old.cpp") == "lib/c/new.cpp"
    assert now("lib/a/other.cpp") == "lib/b/other.cpp" and now("lib/a") == "lib/b"
    assert now("lib/ab/other.cpp") == "lib/ab/other.cpp"


def test_a_line_that_is_no_pair_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"lib/renames.txt:2: found \"lib/a\", expected two paths"):
        tree(tmp_path, "lib/x lib/y\nlib/a\n")


def test_what_was_renamed_is_there_under_its_new_name_alone() -> None:
    renames = sources.read_tree(ROOT).renames
    assert len(renames) > 40 and list(renames) == sorted(renames)
    for old, new in renames.items():
        assert (ROOT / new).exists() and not (ROOT / old).is_file(), (old, new)


def test_committed_reports_name_files_that_are_there() -> None:
    """Those that a listing is from."""
    named = {(report.parent.name, file) for report in ROOT.glob("experiments/*/report.md")
             for file in re.findall(r"<summary>.*, from ((?:lib|experiments)/[\w./-]+)",
                                    report.read_text(encoding="utf-8"))}
    assert len(named) > 40
    assert [(name, file) for name, file in sorted(named) if not (ROOT / file).is_file()] == []

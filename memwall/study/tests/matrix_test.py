"""`just study`: files that are refused, and what is kept between two starts."""

from pathlib import Path

import pytest

from memwall.record import sources
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.run.workspace import Workspace
from memwall.study import matrix, measuring


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def bench(root: Path) -> measuring.Bench:
    tree = sources.Tree(root, {}, {}, {})
    return measuring.Bench(Workspace(root, root), tree, Console(), root / "study", 0)


def test_names_of_matrices() -> None:
    assert matrix.name_of(Path("a/b.c.mtx.gz")) == "b.c"
    assert matrix.name_of(Path("x.mtx")) == "x"
    with pytest.raises(UserError, match=r"x\.txt: found another ending"):
        matrix.name_of(Path("x.txt"))


def test_each_file_has_a_folder_of_its_own(tmp_path: Path) -> None:
    files = [tmp_path / "a.mtx", tmp_path / "b" / "a.mtx.gz", tmp_path / "c" / "a.mtx"]
    found = []
    for file in [*files, *files]:
        with measuring.own_folder(tmp_path / "study", matrix.name_of(file), file) as (folder, _):
            found.append(folder)
    assert found[0] == tmp_path / "study/a"
    assert len(set(found)) == 3
    assert found[3:] == found[:3]  # and finds it again


def test_two_at_once_do_not_share_a_folder(tmp_path: Path) -> None:
    one, other = tmp_path / "x/a.mtx", tmp_path / "y/a.mtx"
    with measuring.own_folder(tmp_path, "a", one) as (first, _), \
            measuring.own_folder(tmp_path, "a", other) as (second, _):
        assert first != second


def test_a_malformed_file_is_one_line(tmp_path: Path) -> None:
    program(tmp_path / "lib/sparse/describe", "echo 'a.mtx:3: found 3, expected 2' >&2; exit 2")
    with pytest.raises(UserError, match=r"^a\.mtx:3: found 3, expected 2$"):
        measuring.described(Workspace(tmp_path, tmp_path), tmp_path / "a.mtx")


def test_a_structure_is_kept_until_the_file_changes(tmp_path: Path) -> None:
    file, calls = tmp_path / "a.mtx", tmp_path / "calls"
    file.write_text("one")
    program(tmp_path / "lib/distributed/anatomy", f"echo call >> {calls}; echo '{{\"rows\": 1}}'")
    for text in ("one", "one", "two"):
        file.write_text(text)
        assert bench(tmp_path).structure(file) == {"rows": 1}
    assert calls.read_text().count("call") == 2


def test_a_large_output_does_not_block(tmp_path: Path) -> None:
    program(tmp_path / "lib/distributed/anatomy",
            "echo reads >&2; printf '{\"of\": \"'; "
            "head -c 300000 /dev/zero | tr '\\0' x; echo '\"}'")
    file = tmp_path / "a.mtx"
    file.write_text("")
    assert len(bench(tmp_path).structure(file)["of"]) == 300_000


def test_large_matrices_are_asked_for_less() -> None:
    assert measuring.options(Path("a.mtx"), 10) == ["--matrix", "a.mtx"]
    assert measuring.options(Path("a.mtx"), 10, "tiny")[2:] == ["--profile", "tiny"]
    assert "fp64" in measuring.options(Path("a.mtx"), measuring.LARGE)

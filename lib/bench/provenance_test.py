"""What a program records of its sources."""

import json
import os
import re
import subprocess
from pathlib import Path

import provenance
import pytest


def git(tree: Path, *words: str | Path) -> str:
    """What Git says; it is not misled if these tests run in a hook."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tree,
                          check=True, text=True, capture_output=True, env=usual)
    return done.stdout.strip()


def committed(tree: Path, message: str = "first") -> str:
    """Makes a repository of a tree; its only commit."""
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-qm", message)
    return git(tree, "rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with a source, without a repository."""
    source = tmp_path / "outer/tree/lib/a.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("before\n")
    return tmp_path / "outer/tree"


@pytest.mark.parametrize(("file", "dirty"), [("lib/a.cpp", True), ("experiments/b/main.cpp", True),
                                             ("experiments/b/README.md", False),
                                             ("experiments/b/report.md.in", False),
                                             ("reports/c.json", False)])
def test_only_sources_make_a_program_dirty(tmp_path: Path, file: str, dirty: bool) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("before\n")
    committed(tmp_path)
    assert provenance.commit(tmp_path)[1] is False
    path.write_text("after\n")
    assert provenance.commit(tmp_path)[1] is dirty


def test_a_new_source_makes_a_program_dirty_whatever_git_shows_a_user(tree: Path) -> None:
    committed(tree)
    (tree / "lib/b.cpp").write_text("new\n")
    git(tree, "config", "status.showUntrackedFiles", "no")
    assert provenance.commit(tree)[1] is True


def test_a_repository_above_the_tree_is_not_the_trees(tree: Path) -> None:
    outer = committed(tree.parent, "outer")
    assert provenance.commit(tree) == ("unknown", False)
    own = committed(tree)
    assert own != outer
    assert provenance.commit(tree) == (own, False)


@pytest.mark.parametrize("names", [("GIT_DIR",), ("GIT_DIR", "GIT_WORK_TREE"), ("GIT_INDEX_FILE",),
                                   ("GIT_OBJECT_DIRECTORY",), ("GIT_COMMON_DIR",),
                                   ("GIT_LITERAL_PATHSPECS",)])
def test_variables_of_git_change_nothing(tree: Path, tmp_path: Path, names: tuple[str, ...],
                                         monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks and aliases of Git set them for what they start."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "a").write_text("other\n")
    committed(other, "other")
    places = {"GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_LITERAL_PATHSPECS": 1,
              "GIT_INDEX_FILE": other / ".git/index", "GIT_COMMON_DIR": other / ".git",
              "GIT_OBJECT_DIRECTORY": other / ".git/objects"}
    own = committed(tree)
    for name in names:
        monkeypatch.setenv(name, str(places[name]))
    assert provenance.commit(tree) == (own, False)
    (tree / ".git").rename(tree / "not.git")
    assert provenance.commit(tree) == ("unknown", False)


def test_worktrees_and_links_are_trees_of_their_own(tree: Path, tmp_path: Path) -> None:
    own = committed(tree)
    git(tree, "worktree", "add", "-q", tmp_path / "second")
    assert provenance.commit(tmp_path / "second") == (own, False)
    (tmp_path / "link").symlink_to(tree)
    assert provenance.commit(tmp_path / "link") == (own, False)


def test_a_repository_of_long_names_is_recorded(tree: Path) -> None:
    git(tree, "init", "-q", "--object-format=sha256")
    schema = json.loads(Path(__file__).with_name("result.schema.json").read_text(encoding="utf-8"))
    pattern = schema["properties"]["source"]["properties"]["commit"]["pattern"]
    assert re.search(pattern, committed(tree))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_tree_of_another_user_is_known(tree: Path) -> None:
    own = committed(tree)
    for path in (tree, tree / ".git"):
        os.chown(path, 12345, 12345)
    assert provenance.commit(tree) == (own, False)


def test_an_empty_repository_or_no_git_is_no_commit(tree: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    git(tree, "init", "-q")
    assert provenance.commit(tree) == ("unknown", False)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert provenance.commit(tree) == ("unknown", False)

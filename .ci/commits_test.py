"""Subjects of commits are asked from one commit on, and nothing where that is not known; a hook
asks that of a message before it is one."""

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("commits")


def git(root: Path, *words: str) -> str:
    """What Git says in a repository."""
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root: Path, subject: str) -> str:
    """Commits nothing under a subject; its hash."""
    git(root, "commit", "-q", "--allow-empty", "-m", f"{subject}\n\n{'A body is as wide.' * 9}")
    return git(root, "rev-parse", "HEAD").strip()


def ask(root: Path, *first: str) -> tuple[int, str]:
    """Exit code and output of the script in a repository."""
    done = subprocess.run([root / ".ci/commits", *first], cwd="/", capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout


@pytest.fixture(name="root")
def repository(tmp_path: Path) -> Path:
    """A tree with the script and without commits."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SCRIPT, tmp_path / ".ci/commits")
    git(tmp_path, "init", "-q")
    return tmp_path


def test_long_subjects_after_the_first_commit_are_told(root: Path) -> None:
    first = commit(root, "o" * 100)
    commit(root, "ü" * 72)  # characters, not bytes
    assert ask(root, first) == (0, "")
    long = commit(root, "n" * 73)
    code, output = ask(root, first)
    assert code == 1
    assert output.split() == [long[:len(output.split()[0])], "n" * 73]


def test_nothing_is_asked_where_the_first_commit_is_not_known(root: Path, tmp_path: Path) -> None:
    commit(root, "n" * 73)
    assert ask(root) == (0, "")  # of another repository
    shutil.rmtree(tmp_path / ".git")
    assert ask(root) == (0, "")  # an archive


def test_a_message_is_asked_before_it_is_a_commit(tmp_path: Path) -> None:
    message = tmp_path / "message"
    message.write_text(f"\n# What Git says\n{'ü' * 72}\n\n{'body' * 30}\n", encoding="utf-8")
    asking: list[str | Path] = [SCRIPT, "--message", message]
    assert subprocess.run(asking, check=False).returncode == 0
    message.write_text(f"{'n' * 73}\n", encoding="utf-8")
    done = subprocess.run(asking, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "n" * 73 + "\n")
    assert done.stderr.startswith("commits: found a subject of more than 72 characters")

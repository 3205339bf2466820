"""What a program records of its sources."""

import subprocess
from pathlib import Path

import provenance
import pytest


@pytest.mark.parametrize(("file", "dirty"), [("lib/a.cpp", True), ("experiments/b/main.cpp", True),
                                             ("experiments/b/README.md", False),
                                             ("experiments/b/report.md.in", False),
                                             ("reports/c.json", False)])
def test_only_sources_make_a_program_dirty(tmp_path: Path, file: str, dirty: bool) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("before\n")
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "."), (*identity, "commit", "-qm", "first")):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    assert provenance.commit(tmp_path)[1] is False
    path.write_text("after\n")
    assert provenance.commit(tmp_path)[1] is dirty

"""`just contribute`: what it refuses, what it packs, and that a new machine needs no other edit."""

import gzip
import io
import os
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.pages import book, weaving
from memwall.pages.contribute import contribute
from memwall.record import files, machines, results
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.run.launches import unmet_need
from memwall.tests import synthetic

MACHINE = "newcomer-2c"
HOST = "grey-heron"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return synthetic.repository(tmp_path)


def passing() -> Json:
    """A result of a made-up machine in which everything passed."""
    raw = synthetic.result()
    synthetic.drop(raw, "broken")
    raw["machine"]["slug"] = MACHINE
    return raw


def stored(root: Path, raw: Json, machine: str = MACHINE) -> Path:
    path = root / "reports" / machine / "results" / f"{synthetic.NAME}.json"
    results.write(raw, path)
    return path


def kept(root: Path, raw: Json) -> Path:
    """A narrowed run beside the complete one."""
    synthetic.narrow(raw)
    path = stored(root, passing()).with_name(f"{synthetic.NAME}@mine.json.gz")
    results.write(raw, path)
    return path


def tried(root: Path, machine: str = MACHINE) -> tuple[int, str]:
    """The exit code, and what was said."""
    said = io.StringIO()
    code = contribute(root, root / "build", machine, unmet_need, Console(said), [HOST])
    return code, said.getvalue()


def archive(root: Path) -> Path:
    return root / "build/contribute" / f"{MACHINE}.tar.gz"


def test_a_new_machine_gives_chapter_and_scorecard_its_row(root: Path) -> None:
    before = synthetic.result()
    before["machine"]["slug"] = "example-2c"
    stored(root, before, "example-2c")
    machines.enlist(root, "example-2c")
    earlier = book.everything(book.read(root))
    shared = ("reports/README.md", f"experiments/{synthetic.NAME}/report.md")
    assert not any(MACHINE in earlier[name] for name in shared)
    stored(root, passing())
    code, said = tried(root)
    assert code == 0, said
    assert f"{synthetic.NAME} " in said and "a row in every table" in said
    texts = book.everything(book.read(root))
    assert MACHINE in machines.listed(root)
    assert all(MACHINE in texts[name] for name in shared)
    assert weaving.differences(root, texts) == []
    assert texts[f"reports/{MACHINE}/README.md"] == (
        root / f"reports/{MACHINE}/README.md").read_text(encoding="utf-8")


def test_says_that_nothing_is_new(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clone holds folders of other machines, maybe of one that is called as this."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)  # as in a hook
    stored(root, synthetic.result(), "example-2c")
    stored(root, passing())
    assert "Commit reports/" in tried(root)[1]  # no Git knows this tree
    git = ("git", "-C", root, "-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    subprocess.run([*git, "init", "--quiet"], check=True)
    assert "Commit reports/" in tried(root)[1]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "all"], check=True)
    assert "Nothing in it is new" in tried(root)[1]
    (root / "reports" / MACHINE / "notes").mkdir()
    (root / "reports" / MACHINE / "notes/alpha.md").write_text("A note.\n")
    assert "Commit reports/" in tried(root)[1]


def test_packs_without_owner_and_the_same_each_time(root: Path) -> None:
    stored(root, passing())
    tried(root)
    first = archive(root).read_bytes()
    tried(root)
    assert archive(root).read_bytes() == first
    with tarfile.open(archive(root)) as tar:
        entries = tar.getmembers()
    assert [entry.name for entry in entries] == [
        f"reports/{MACHINE}/README.md", f"reports/{MACHINE}/results/{synthetic.NAME}.json"]
    assert all((entry.uid, entry.uname, entry.mtime) == (0, "", 0) for entry in entries)


def test_what_failed_or_is_doubtful_is_said_and_packed(root: Path) -> None:
    """Every page marks it; the rest of what a machine found is worth having."""
    raw = synthetic.result()
    raw["machine"]["slug"] = MACHINE
    synthetic.scale(raw, "restrict", 0.3, matrix="rmat")
    stored(root, raw)
    code, said = tried(root)
    assert code == 0
    assert f"results/{synthetic.NAME}.json: 20 cases failed verification, marked\n" in said
    assert "`restrict` at rmat fp32 threads=1: 1" in said and "of the fastest pass of read" in said
    assert archive(root).exists()


@pytest.mark.parametrize(("text", "found"), [
    ("Measured on grey-heron at night.", "grey-heron, the name of"),
    ("Measured on GREY-HERON.", "grey-heron, the name of"),
    ("See /home/somebody/notes for more.", "an absolute path"),
    ("See ~/notes for more.", "an absolute path"),
    ("Ask somebody@example for more.", "a user at a host"),
    ("It is box7.lan here.", "a host name"),
    ("Look: <script>alert(1)</script>", "<s, expected Markdown without HTML"),
    ("[here](javascript:alert)", "](javascript:, expected Markdown"),
])
def test_refuses_what_names_somebody(root: Path, text: str, found: str) -> None:
    stored(root, passing())
    note = root / "reports" / MACHINE / "notes" / f"{synthetic.NAME}.md"
    note.parent.mkdir()
    note.write_text(f"# A note\n\n{text}\n", encoding="utf-8")
    code, said = tried(root)
    assert code == 1
    assert f"notes/{synthetic.NAME}.md:3: found" in said and found in said


def test_a_note_may_hold_code(root: Path) -> None:
    stored(root, passing())
    note = root / "reports" / MACHINE / "notes" / f"{synthetic.NAME}.md"
    note.parent.mkdir()
    note.write_text("<!-- run: 0123456789abcdef -->\nA `std::span<int>`, 3 < 4:\n\n"
                    "```cpp\nstd::vector<int> x;\n```\n", encoding="utf-8")
    code, said = tried(root)
    assert code == 0, said


@pytest.mark.parametrize("text", ["{", "[]", '{"dot": 3}', '{"dot": {"memwall_s": 1}}',
                                  '{"dot": {"memwall_s": 1, "google_benchmark_s": 0}}',
                                  '{"dot": {"memwall_s": 1e-300, "google_benchmark_s": 1}}'])
def test_what_would_break_a_page_is_refused_where_it_is_packed(root: Path, text: str) -> None:
    """`report` and `check` would say the same line."""
    stored(root, passing())
    (root / "reports" / MACHINE / "harness.json").write_text(text)
    with pytest.raises(UserError, match=f"^reports/{MACHINE}/harness.json"):
        tried(root)
    assert not archive(root).exists()


@pytest.mark.parametrize("text", ["/home/somebody/bin/gcc", f"gcc of {HOST}"])
def test_refuses_a_result_that_names_somebody(root: Path, text: str) -> None:
    path = stored(root, passing())
    shown = path.read_text(encoding="utf-8").replace("gcc 12.2.0", text)
    path.write_text(shown, encoding="utf-8")
    code, said = tried(root)
    assert code == 1 and f"results/{synthetic.NAME}.json" in said
    assert not archive(root).exists()


@pytest.mark.parametrize(("text", "found"), [
    ("/home/somebody/bin/gcc", "/home/somebody/bin/gcc"), (f"gcc of {HOST}", f"found {HOST}, the"),
])
def test_refuses_a_compressed_result_that_names_somebody(root: Path, text: str, found: str) -> None:
    path = kept(root, passing())
    assert tried(root)[0] == 0
    archive(root).unlink()
    named = files.read(path).replace("gcc 12.2.0", text)
    path.write_bytes(files.compressed(named.encode()))
    code, said = tried(root)
    assert code == 1 and f"results/{path.name}" in said and found in said
    assert not archive(root).exists()


def test_packs_a_compressed_result_as_it_is(root: Path) -> None:
    path = kept(root, passing())
    assert tried(root)[0] == 0
    with tarfile.open(archive(root)) as tar:
        packed = tar.extractfile(f"reports/{MACHINE}/results/{path.name}")
        assert packed is not None and packed.read() == path.read_bytes()


@pytest.mark.parametrize(("how", "said"), [
    (lambda whole: whole[:99], "@mine.json.gz: not gzip: Compressed file ended"),
    (lambda whole: files.compressed(b"\xff"), "@mine.json.gz: cannot be read: byte 0 is no UTF-8"),
    (lambda whole: files.compressed(b"{"), "@mine.json.gz:1:2: not JSON"),
    (lambda whole: files.compressed(b" " * (files.MOST_BYTES + 1)),
     "@mine.json.gz: found more than 64000000 bytes"),
    (lambda whole: files.compressed(b" " * results.LARGEST_BYTES + gzip.decompress(whole)),
     "bytes of JSON, expected at most 4000000 of a result that is committed"),
])
def test_refuses_a_compressed_result_that_is_none_or_too_large(
        root: Path, how: Callable[[bytes], bytes], said: str) -> None:
    path = kept(root, passing())
    path.write_bytes(how(path.read_bytes()))
    code, told = tried(root)
    assert code == 1 and said in told and told.endswith("refused: 1 problem\n")
    assert not archive(root).exists()


def test_refuses_a_run_that_stands_there_twice(root: Path) -> None:
    path = kept(root, passing())
    results.write(results.load(path).raw, path.with_suffix(""))
    with pytest.raises(UserError, match="@mine.json: found spmv-demo@mine.json.gz beside it"):
        tried(root)


def test_refuses_results_of_another_machine(root: Path) -> None:
    raw = passing()
    raw["machine"]["slug"] = "elsewhere-4c"
    stored(root, raw)
    code, said = tried(root)
    assert code == 1 and "$.machine.slug: found elsewhere-4c, expected newcomer-2c" in said


def test_refuses_files_of_other_kinds(root: Path) -> None:
    stored(root, passing())
    for name in ("core.1234", "results/one.json.gz", "notes.json.gz"):
        (root / "reports" / MACHINE / name).write_text("")
        code, said = tried(root)
        assert code == 1 and f"{name}: found a file of another kind, expected results/" in said
        (root / "reports" / MACHINE / name).unlink()

"""Runs of one's own choice in a machine's folder: kept, woven, checked, or refused in a line."""

import copy
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.conftest import Store
from memwall.pages import keep as keeping
from memwall.pages.tests.book_test import FOLDER, PAGES, Done, run, weave
from memwall.record import files, results
from memwall.record.results import Json
from memwall.tests import synthetic

RESULT = f"{FOLDER}/results/{synthetic.NAME}@one-of-mine.json.gz"
CHAPTER = f"experiments/{synthetic.NAME}/report.md"
PAGE = f"{PAGES}example-2c/{synthetic.NAME}--one-of-mine.md"


@pytest.fixture
def measured(root: Path, store: Store, raw: Json) -> Path:
    """The folder of a narrowed run, in a tree that has results."""
    store(raw)
    weave(root)
    mine = copy.deepcopy(raw)
    synthetic.narrow(mine)
    folder = root / "build/runs/1"
    results.write(mine, folder / "result.json")
    return folder


def keep(root: Path, path: Path, machine: str = "example-2c") -> Done:
    return run(root, "keep", str(path), "one-of-mine", "--machine", machine)


def change(folder: Path, how: Callable[[Json], object]) -> None:
    """Measures again, with another outcome."""
    path = folder / "result.json"
    raw = results.load(path).raw
    how(raw)
    results.write(raw, path)


def test_a_kept_run_is_a_part_of_the_machine(root: Path, measured: Path) -> None:
    before = {name: (root / name).read_text(encoding="utf-8")
              for name in ("reports/README.md", "README.md")}
    found = keep(root, measured)
    assert (found.returncode, found.stdout, found.stderr) == (0, f"kept {RESULT}\n", "")
    page = (root / PAGE).read_text(encoding="utf-8")
    assert "> **one-of-mine**: a kept run, narrowed by `--matrix mine.mtx`" in page
    for picture in re.findall(r"!\[.*\]\((.*)\)", page):
        assert picture.startswith(f"figures/{synthetic.NAME}--one-of-mine/")
        assert ((root / PAGE).parent / picture).exists()
    readme = (root / FOLDER / "README.md").read_text(encoding="utf-8")
    assert "| spmv-demo, kept as one-of-mine | `01234567` |" in readme
    chapter = (root / CHAPTER).read_text(encoding="utf-8")
    assert "| `01234567` (one-of-mine) |" in chapter
    scorecard, front_page = ((root / name).read_text(encoding="utf-8") for name in before)
    assert scorecard.replace("24 such pairs", "20 such pairs") == before["reports/README.md"]
    assert front_page == before["README.md"]
    checked = run(root, "check")
    assert checked.stdout == "checked 1 experiments and 2 results: 0 problems\n"


def test_keeping_again_replaces(root: Path, measured: Path) -> None:
    keep(root, measured)
    before = (root / PAGE).read_text(encoding="utf-8")
    change(measured, lambda raw: synthetic.scale(raw, "unroll4", 1.5))
    assert keep(root, measured / "result.json").returncode == 0
    assert (root / PAGE).read_text(encoding="utf-8") != before
    assert run(root, "check").returncode == 0


def test_a_plain_one_of_an_older_version_is_read_and_replaced(root: Path, measured: Path) -> None:
    plain = (root / RESULT).with_suffix("")
    keep(root, measured)
    pages = {name: (root / name).read_bytes() for name in (PAGE, CHAPTER)}
    plain.write_bytes(gzip.decompress((root / RESULT).read_bytes()))
    for command in (("report",), ("check",), ("keep", str(measured), "another")):
        found = run(root, *command)
        assert (found.returncode, found.stdout) == (2, "")
        assert f"{plain.name}: found {plain.name}.gz beside it, expected one" in found.stderr
        assert found.stderr.count("\n") == 1
    (root / RESULT).unlink()
    assert run(root, "report", "example-2c").returncode == 0
    assert pages == {name: (root / name).read_bytes() for name in pages}
    assert run(root, "check").returncode == 0
    assert keep(root, measured).stdout == f"kept {RESULT}\n"
    assert (root / RESULT).exists() and not plain.exists()
    assert run(root, "check").returncode == 0


def test_what_is_kept_is_limited_before_it_is_compressed(root: Path, measured: Path) -> None:
    large = results.load(measured / "result.json").raw
    large["machine"]["slug"] = "example-2c"
    large["libraries"]["large"] = "x" * results.LARGEST_BYTES
    size = len(results.encoded(large))
    said = f"found {size} bytes of JSON, expected at most {results.LARGEST_BYTES} of a result"
    results.write(large, measured / "result.json")
    assert said in keep(root, measured).stderr and not (root / RESULT).exists()
    results.write(large, root / RESULT)
    assert (root / RESULT).stat().st_size < size / 10
    assert f"{RESULT}: {said}" in run(root, "check").stdout


def test_report_forgets_what_is_kept_no_more(root: Path, measured: Path) -> None:
    keep(root, measured)
    (root / RESULT).unlink()
    assert run(root, "report").returncode == 0
    for name in (CHAPTER, f"{FOLDER}/README.md"):
        assert "one-of-mine" not in (root / name).read_text(encoding="utf-8")
    assert run(root, "check").returncode == 0


def test_folders_of_matrices_are_not_kept(root: Path, measured: Path) -> None:
    def where_it_lay(raw: Json) -> None:
        files = ["--matrix", "../secret folder/mine.mtx.gz", "--matrix=secret/b.mtx"]
        raw["run"]["arguments"] = files
        raw["cases"][0]["setup"]["notes"] = ["rows of (../secret/mine.mtx.gz) at 3 GB/s, a/b"]
        raw["skipped"] = [
            {
                "study": synthetic.STUDY,
                "launch": 0,
                "parameters": {"matrix": "../secret/b.mtx", "precision": "fp32"},
                "reason": "../secret/b.mtx:3: found no number",
            }
        ]
        raw["datasets"]["../secret/b.mtx"] = raw["datasets"]["mine"]

    change(measured, where_it_lay)
    assert keep(root, measured).returncode == 0
    assert "secret" not in files.read(root / RESULT)
    raw = results.load(root / RESULT).raw
    assert raw["run"]["arguments"] == ["--matrix", "mine.mtx.gz", "--matrix=b.mtx"]
    assert raw["cases"][0]["setup"]["notes"] == ["rows of (mine.mtx.gz) at 3 GB/s, a/b"]
    assert raw["skipped"][0]["reason"] == "b.mtx:3: found no number"
    assert set(raw["datasets"]) == {"mine", "b.mtx"}


def test_another_folder_of_the_same_machine(root: Path, measured: Path) -> None:
    def elsewhere(raw: Json) -> None:
        raw["machine"]["slug"] = "renamed-2c"

    change(measured, elsewhere)
    assert keep(root, measured).returncode == 0
    assert results.load(root / RESULT).raw["machine"]["slug"] == "example-2c"


def _rename_experiment(raw: Json) -> None:
    raw["run"]["experiment"] = "other"


def _rename_machine(raw: Json) -> None:
    raw["machine"]["slug"] = "other-2c"


def _other_hardware(raw: Json) -> None:
    raw["machine"]["cpu"]["model"] = "Other CPU"


def _other_caches(raw: Json) -> None:
    raw["machine"]["cpu"]["caches"][0]["bytes"] = 49152


def _older_code(raw: Json) -> None:
    raw["excerpts"]["unroll4"]["text"] = "an older text\n"


def _samples_alone(raw: Json) -> None:
    raw["run"]["arguments"] += ["--samples", "6", "--again"]


REFUSED: dict[str, tuple[Callable[[Json], object], str, str]] = {
    "an unknown experiment": (_rename_experiment, "mine", 'found "other", expected one of: spmv-d'),
    "older code": (_older_code, "mine", "a run that is out of date, expected a fresh one: unroll4"),
    "samples for another run": (_samples_alone, "mine", "found samples for an earlier run"),
    "a title with blanks": (lambda _: None, "My run", "the title: found 'My run', expected lower-"),
    "a title that is a path": (lambda _: None, "../mine", "the title: found '../mine'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_kept(name: str, root: Path, measured: Path) -> None:
    how, title, said = REFUSED[name]
    change(measured, how)
    before = sorted((root / "reports").rglob("*"))
    found = run(root, "keep", str(measured), title, "--machine", "example-2c")
    assert found.returncode == 2
    assert said in found.stderr and found.stderr.count("\n") == 1
    assert sorted((root / "reports").rglob("*")) == before


def test_a_folder_may_begin_with_a_kept_run(root: Path, measured: Path) -> None:
    """Nobody lists it: it has pages of its own, and no other is changed."""
    change(measured, _rename_machine)
    before = (root / "reports/README.md").read_bytes()
    found = run(root, "keep", str(measured), "one-of-mine")
    assert found.stdout == "kept reports/other-2c/results/spmv-demo@one-of-mine.json.gz\n"
    assert (root / PAGES / f"other-2c/{synthetic.NAME}--one-of-mine.md").exists()
    assert (root / "reports/README.md").read_bytes() == before
    assert run(root, "check").returncode == 0


@pytest.mark.parametrize("how", [_other_hardware, _other_caches, lambda _: None])
def test_what_came_with_the_tree_is_left_alone(
    how: Callable[[Json], object], root: Path, measured: Path
) -> None:
    """Also where this machine is just like it: `--machine` asks for it. Next time it is found."""
    change(measured, how)
    for _ in range(2):
        found = run(root, "keep", str(measured), "one-of-mine")
        why, kept = found.stdout.splitlines()
        assert why.startswith("reports/example-2c ")
        assert why.endswith(": this machine is called example-2c-2")
        assert kept == f"kept reports/example-2c-2/results/{synthetic.NAME}@one-of-mine.json.gz"
    assert not (root / RESULT).exists()


def test_nothing_else_is_rewritten(raw: Json) -> None:
    assert keeping.without_folders(raw, "r.json") == raw

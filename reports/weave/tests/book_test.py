"""Whole books: golden, deterministic, and compared with the tree.

`WEAVE_GOLDEN=write` replaces the golden book after an intended change.
"""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from weave import book, pages, results
from weave.__main__ import main
from weave.errors import WeaveError
from weave.results import Json
from weave.tests import synthetic
from weave.tests.conftest import Store

GOLDEN = Path(__file__).parent / "golden"
PACKAGE = Path(__file__).resolve().parents[2]
BOOK = "reports/example-2c"


def weave(root: Path) -> book.Texts:
    texts = book.everything(book.read(root))
    book.write(root, texts)
    return texts


@dataclass(frozen=True)
class Done:
    """What a command printed and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def run(root: Path, *arguments: str) -> Done:
    """One command of the weaver, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(["--root", str(root), *arguments])
    return Done(code, out.getvalue(), err.getvalue())


def second_machine() -> Json:
    """A slower run elsewhere, with other verdicts."""
    raw = synthetic.result(seed=9)
    raw["machine"]["slug"] = "other-2c"
    raw["machine"]["cpu"]["model"] = "Other CPU"
    raw["machine"]["cpu"]["instruction_sets"].append("avx512f")
    raw["run"]["id"] = "f" * 16
    synthetic.scale(raw, "unroll4", 1.4)
    raw["excerpts"]["restrict"]["text"] = "an older text\n"
    return raw


def test_the_golden_book(root: Path, store: Store, raw: Json) -> None:
    store(raw)
    store(second_machine(), "other-2c")
    mine = synthetic.result(rounds=7, threads=(1,))
    synthetic.narrow(mine)
    results.write(mine, root / f"{BOOK}/results/{synthetic.NAME}@one-of-mine.json")
    texts = weave(root)
    if os.environ.get("WEAVE_GOLDEN") == "write":
        book.write(GOLDEN, texts)
    golden = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}
    assert set(texts) == golden
    for name, text in texts.items():
        assert (GOLDEN / name).read_text(encoding="utf-8") == text, name


def test_a_book_names_its_gpus(root: Path, store: Store, raw: Json) -> None:
    synthetic.add_gpus(raw, 2)
    store(raw)
    texts = weave(root)
    readme = texts[f"{BOOK}/README.md"]
    assert "# Example CPU @ 2.00GHz with 2 x Example GPU: `example-2c`" in readme
    assert ("2 x Example GPU (compute capability 9.0, 132 multiprocessors, 140 GiB, L2 60.0 MiB,"
            " ECC on, 700 W)") in readme
    page = texts[f"{BOOK}/{synthetic.NAME}.md"]
    assert "before: 345 MHz, memory 3200 MHz, 76 W, 30 °C, held back by idle" in page
    assert "after: 1980 MHz, 512 W, held back by power cap and sync" in page


def test_a_page_tells_what_the_host_kept(root: Path, store: Store, raw: Json) -> None:
    for launch, stolen in zip(raw["launches"], (0, 5), strict=True):
        launch["processors"] = {"busy_s": 15, "stolen_s": stolen}
    store(raw)
    page = weave(root)[f"{BOOK}/{synthetic.NAME}.md"]
    assert ("| taken by the host | of processor time asked for: 1 thread 0.0 %; 2 threads 25 % |"
            in page)


def test_what_the_driver_does_not_tell_is_left_out(root: Path, store: Store, raw: Json) -> None:
    synthetic.add_gpus(raw, 1)
    raw["machine"]["gpus"] = [{"name": "Example GPU"}]
    for launch in raw["launches"]:
        del launch["gpus"]
    store(raw)
    texts = weave(root)
    assert "| GPUs | Example GPU |" in texts[f"{BOOK}/README.md"]
    assert "| GPU | not noted |" in texts[f"{BOOK}/{synthetic.NAME}.md"]


def test_same_bytes_anywhere_with_any_hash_seed(tmp_path: Path, raw: Json) -> None:
    woven = []
    for seed, place in (("1", "here"), ("2", "there/else")):
        root = tmp_path / place
        root.mkdir(parents=True)
        synthetic.repository(root)
        results.write(raw, root / f"reports/example-2c/results/{synthetic.NAME}.json")
        environment = os.environ | {"PYTHONPATH": str(PACKAGE), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "weave", "--root", str(root), "book"]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        files = [path for path in root.rglob("*") if path.is_file()]
        woven.append({path.relative_to(root).as_posix(): path.read_bytes() for path in files})
    assert woven[0] == woven[1]


def test_weaving_again_writes_nothing(root: Path, store: Store, raw: Json) -> None:
    store(raw)
    weave(root)
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    weave(root)
    assert before == {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def woven(root: Path, store: Store, raw: Json) -> Path:
    """A tree whose book is as it would be woven."""
    store(raw)
    weave(root)
    return root


PAGE = f"{BOOK}/{synthetic.NAME}.md"


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_check_passes_what_was_woven(woven: Path) -> None:
    found = run(woven, "check")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == "checked 1 experiments and 1 results: 0 problems\n"


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a number in a page": (
        lambda root: _replace(root / PAGE, "1.25x", "1.35x"),
        f"{PAGE}: differs from what is woven now\n--- in the tree\n+++ woven\n",
    ),
    "a figure": (
        lambda root: _replace(root / BOOK / "figures/demo-serial.svg", "<svg", "<svg "),
        "figures/demo-serial.svg: differs",
    ),
    "a page that is gone": (lambda root: (root / PAGE).unlink(), f"{PAGE}: missing, expected"),
    "a page too many": (
        lambda root: (root / BOOK / "old.md").write_text("old"),
        f"{BOOK}/old.md: found a file that nothing weaves",
    ),
    "a figure too many": (
        lambda root: (root / BOOK / "figures/old.svg").write_text("old"),
        "figures/old.svg: found a file that nothing weaves",
    ),
    "the scorecard": (
        lambda root: _replace(root / "reports/README.md", "NOT REPRODUCED]", "REPRODUCED]"),
        "reports/README.md: differs",
    ),
    "an experiment's page": (
        lambda root: (root / "experiments" / synthetic.NAME / "README.md").unlink(),
        "experiments/spmv-demo/README.md: missing",
    ),
    "a sample": (
        lambda root: _spoil_sample(root / BOOK / "results" / f"{synthetic.NAME}.json"),
        f"{PAGE}: differs",
    ),
    "the source of a variant": (
        lambda root: _replace(root / "experiments/spmv-demo/main.cpp", "sum4(i)", "sum5(i)"),
        "+> **STALE**: `unroll4` changed since this run",
    ),
    "a rule of style": (
        lambda root: _replace(
            root / "experiments/spmv-demo/report.md.in", "Run it", "In 3 ms run it"
        ),
        'found the number "3 ms" in prose',
    ),
}


def _spoil_sample(path: Path) -> None:
    raw = results.load(path).raw
    synthetic.scale(raw, "unroll4", 0.5)
    results.write(raw, path)


@pytest.mark.parametrize("name", SPOILED)
def test_check_finds_what_was_changed_by_hand(name: str, woven: Path) -> None:
    spoil, said = SPOILED[name]
    spoil(woven)
    found = run(woven, "check")
    assert found.returncode == 1
    assert said in found.stdout
    assert found.stdout.splitlines()[-1].startswith("checked 1 experiments")


STOPPING: dict[str, tuple[Callable[[Path], object], str]] = {
    "a result that is no JSON": (
        lambda root: (root / BOOK / "results" / f"{synthetic.NAME}.json").write_text("{"),
        f"{BOOK}/results/spmv-demo.json:1:2: not JSON",
    ),
    "a marker that is not closed": (
        lambda root: _replace(root / "experiments/spmv-demo/main.cpp", "//! [csrl]", "//! [other]"),
        "marker [other] is not closed",
    ),
    "a variant in the report": (
        lambda root: _replace(root / "experiments/spmv-demo/report.md.in", '"unroll4"', '"unrol4"'),
        "experiments/spmv-demo/report.md.in:20: no source text",
    ),
    "a figure that is not drawn": (
        lambda root: _replace(
            root / "experiments/spmv-demo/experiment.toml",
            "[[claim]]",
            '[[figure]]\nid = "x"\nfile = "x.svg"\ncaption = "X."\n\n[[claim]]',
        ),
        'the figure "x" of experiment.toml is not drawn',
    ),
    "a result of another experiment": (
        lambda root: (root / BOOK / "results" / f"{synthetic.NAME}.json").rename(
            root / BOOK / "results" / "other.json"
        ),
        'results/other.json: $.run.experiment: found "spmv-demo", expected "other"',
    ),
}


@pytest.mark.parametrize("name", STOPPING)
def test_what_stops_the_weave(name: str, woven: Path) -> None:
    spoil, said = STOPPING[name]
    spoil(woven)
    for command in ("check", "book"):
        found = run(woven, command)
        assert found.returncode == 2
        assert said in found.stderr
        assert found.stderr.count("\n") == 1
        assert "Traceback" not in found.stderr


def test_a_claim_on_an_unknown_variant_names_its_file(woven: Path) -> None:
    toml = woven / "experiments/spmv-demo/experiment.toml"
    _replace(toml, 'faster = "restrict"', 'faster = "restrct"')
    message = 'experiments/spmv-demo/experiment.toml: claim "1.restrict" on example-2c: no variant'
    with pytest.raises(WeaveError, match=message):
        book.read(woven)


def test_cold_and_faster_than_memory_stops_the_weave(root: Path, store: Store, raw: Json) -> None:
    synthetic.scale(raw, "unroll4", 0.4, matrix="rmat")
    store(raw)
    said = r"unroll4 at rmat fp\d\d threads=1: found \d+ % of the fastest pass"
    with pytest.raises(WeaveError, match=said):
        book.everything(book.read(root))


def test_the_probe_with_the_fastest_pass_counts(root: Path, store: Store, raw: Json) -> None:
    """Another may have the higher median rate."""
    synthetic.scale(raw, "unroll4", 0.4, matrix="rmat")
    for probe in [probe for probe in raw["ceilings"] if probe["bytes"] > 0]:
        slow = [seconds * 1.1 for seconds in probe["samples_s"]]
        raw["ceilings"].append(probe | {"name": "uneven", "samples_s": [*slow, slow[0] / 4]})
    store(raw)
    weave(root)


def test_a_smaller_format_may_be_faster_than_the_compulsory_bytes(
    root: Path, store: Store, raw: Json
) -> None:
    synthetic.scale(raw, "csrl", 0.5, matrix="rmat")
    store(raw)
    weave(root)


def test_few_restless_samples_raise_no_alarm(root: Path, store: Store) -> None:
    """The median is above 105 %, its interval is not."""
    raw = synthetic.result(rounds=7)
    synthetic.scale(raw, "unroll4", 0.46, matrix="rmat")
    for entry in raw["cases"]:
        if entry["variant"] == "unroll4":
            entry["samples_s"][3] *= 2
    store(raw)
    weave(root)


def test_warm_may_be_faster_than_memory(root: Path, store: Store, raw: Json) -> None:
    for entry in raw["cases"]:
        entry["cache"] = "warm"
    synthetic.scale(raw, "csrl", 0.5)
    store(raw)
    weave(root)


def test_a_narrowed_run_has_no_place_in_a_book(root: Path, store: Store, raw: Json) -> None:
    raw["run"]["arguments"] = ["--profile", "full", "--matrix", "fem3"]
    store(raw)
    with pytest.raises(WeaveError, match="found a narrowed run .*--matrix fem3"):
        book.read(root)


@pytest.mark.parametrize(
    ("arguments", "partial"),
    [
        (["--profile", "quick"], False),
        (["--samples", "63", "--min-time", "0.1"], False),
        (["--filter", "csrl"], True),
        (["--filter=csrl"], True),
        (["--matrix", "a.mtx"], True),
        (["--precision=fp32"], True),
        (["--study", "spmv"], True),
    ],
)
def test_what_narrows_a_run(arguments: list[str], partial: bool, raw: Json, tmp_path: Path) -> None:
    raw["run"]["arguments"] = arguments
    assert pages.is_partial(results.of(raw, tmp_path)) == partial


def test_an_older_result_may_lack_the_figure_of_new_code(woven: Path) -> None:
    """A kernel that the report gained since: its section says so, its figure waits."""
    folder = woven / "experiments/spmv-demo"
    marked = "//! [new]\nint new_kernel();\n//! [new]\n"
    _replace(folder / "main.cpp", "//! [csrl]", f"{marked}//! [csrl]")
    STOPPING["a figure that is not drawn"][0](woven)
    drawn = '{% if measured("new") %}{{ plot.bars("x", x="matrix", y="gbps") }}{% endif %}'
    quoted = '{{ code("new") }}'
    _replace(folder / "report.md.in", "## Results", f"{quoted}\n\n{drawn}\n\n## Results")
    assert run(woven, "book").returncode == 0
    page = (woven / BOOK / f"{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "int new_kernel();" in page and "not measured in this run" in page


def test_a_single_run_is_woven_beside_itself(woven: Path, raw: Json) -> None:
    """The user's own matrix: its page lacks what needs more, and no book changes."""
    books = {p: p.read_bytes() for p in (woven / "reports").rglob("*") if p.is_file()}
    synthetic.narrow(raw)
    path = woven / "build/runs/1/result.json"
    results.write(raw, path)
    found = run(woven, "page", str(path))
    assert (found.returncode, found.stderr) == (0, "")
    page = (path.parent / f"{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "NOT APPLICABLE" in page and "Needs at least 5 matrices, this run has 1" in page
    assert "mine" in page and "pois2d" not in page
    assert "not measured in this run" in page
    assert (path.parent / "figures/demo-serial.svg").exists()
    assert books == {p: p.read_bytes() for p in (woven / "reports").rglob("*") if p.is_file()}


def test_an_empty_house_has_a_scorecard(root: Path) -> None:
    texts = weave(root)
    assert "No machine has a book yet" in texts["reports/README.md"]
    assert "No machine has measured it yet" in texts["experiments/spmv-demo/README.md"]
    assert run(root, "check").returncode == 0


def test_book_removes_what_nothing_weaves(woven: Path) -> None:
    (woven / BOOK / "old.md").write_text("old")
    (woven / BOOK / "notes").mkdir()
    (woven / BOOK / "notes/kept.md").write_text("kept")
    assert run(woven, "book").returncode == 0
    assert not (woven / BOOK / "old.md").exists()
    assert (woven / BOOK / "notes/kept.md").exists()


def test_an_unknown_machine(woven: Path) -> None:
    found = run(woven, "book", "nowhere")
    assert found.returncode == 2
    assert found.stderr == (
        'no results of the machine "nowhere" below reports/, which has: example-2c\n'
    )


def test_links_lead_to_files(woven: Path) -> None:
    for page in [*woven.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, _, anchor in re.findall(r"\]\(([^)#]+)(#?)([^)]*)\)", text):
            found = (page.parent / target).resolve()
            assert found.exists(), f"{page}: {target}"
            assert not anchor or f'id="{anchor}"' in found.read_text(encoding="utf-8")

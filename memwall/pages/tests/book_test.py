"""The whole house: golden, deterministic, and compared with the tree.

`WEAVE_GOLDEN=write` replaces the golden texts after an intended change. They are no pages of the
house, and so have names of their own. Of figures the digests are golden.
"""

import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.conftest import Store
from memwall.pages import book, weaving
from memwall.pages.report import runs
from memwall.record import joining, machines, results
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.tests import synthetic

GOLDEN = Path(__file__).parent / "golden"
PACKAGE = Path(__file__).resolve().parents[2]
FOLDER = "reports/example-2c"
CHAPTER = f"experiments/{synthetic.NAME}"
PAGE = f"{CHAPTER}/README.md"
REPORT = f"{CHAPTER}/report.md"
RESULT = f"{FOLDER}/results/{synthetic.NAME}.json"
FRONT_PAGE = "memwall/pages/front_page.md.in"
PAGES = "build/reports/"  # where those of one machine are woven
DIGESTS = "figures.sha256"
DEMO = "Serial SpMV: what does each step gain?"


def weave(root: Path) -> weaving.Texts:
    texts = book.everything(book.read(root))
    weaving.write(root, texts)
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


def pages_of(root: Path, machine: str = "example-2c") -> weaving.Texts:
    return book.machine_pages(book.read(root), machine)


def test_the_golden_house(root: Path, store: Store, raw: Json) -> None:
    store(raw)
    store(second_machine(), "other-2c")
    mine = synthetic.result(rounds=7, threads=(1,))
    synthetic.narrow(mine)
    results.write(mine, root / f"{FOLDER}/results/{synthetic.NAME}@one-of-mine.json.gz")
    texts = weave(root)
    kept_page = f"example-2c/{synthetic.NAME}--one-of-mine.md"
    other_page = f"other-2c/{synthetic.NAME}.md"
    texts |= {f"{PAGES}{kept_page}": pages_of(root)[kept_page],
              f"{PAGES}{other_page}": pages_of(root, "other-2c")[other_page]}
    figures = {name: svg for name, svg in texts.items() if "/figures/" in name}
    texts = {name: text for name, text in texts.items() if name not in figures}
    texts[DIGESTS] = "".join(f"{hashlib.sha256(svg.encode()).hexdigest()}  {name}\n"
                             for name, svg in sorted(figures.items()))
    texts = {f"{name}.golden": text for name, text in texts.items()}
    if os.environ.get("WEAVE_GOLDEN") == "write":
        shutil.rmtree(GOLDEN, ignore_errors=True)
        weaving.write(GOLDEN, texts)
    golden = {path.relative_to(GOLDEN).as_posix() for path in GOLDEN.rglob("*") if path.is_file()}
    assert set(texts) == golden
    for name, text in texts.items():
        assert (GOLDEN / name).read_text(encoding="utf-8") == text, name


def test_a_machine_names_its_gpus(root: Path, store: Store, raw: Json) -> None:
    synthetic.add_gpus(raw, 2)
    store(raw)
    texts = weave(root)
    readme = texts[f"{FOLDER}/README.md"]
    assert "# example-2c: Example CPU @ 2.00GHz, 2 x Example GPU\n" in readme
    assert ("2 x Example GPU (compute capability 9.0, 132 multiprocessors, 140 GiB, L2 60.0 MiB,"
            " ECC on, 700 W)") in readme
    assert "| GPU |" not in texts[REPORT]  # nothing ran on it
    states = runs.gpu_states(raw["launches"])
    assert "before: 345 MHz, memory 3200 MHz, 76 W, 30 °C, idle" in states
    assert "after: 1980 MHz, 512 W, held back by power cap and sync" in states


def test_a_page_tells_what_the_host_kept(root: Path, store: Store, raw: Json) -> None:
    for launch, stolen in zip(raw["launches"], (0, 5), strict=True):
        launch["processors"] = {"busy_s": 15, "stolen_s": stolen}
    store(raw)
    assert ("| taken by the host | of processor time asked for: 1 thread 0.0 %; 2 threads 25 % |"
            in weave(root)[REPORT])


def test_what_the_driver_does_not_tell_is_left_out(root: Path, store: Store, raw: Json) -> None:
    synthetic.add_gpus(raw, 1)
    raw["machine"]["gpus"] = [{"name": "Example GPU"}]
    for launch in raw["launches"]:
        del launch["gpus"]
    store(raw)
    texts = weave(root)
    assert "| GPUs | Example GPU |" in texts[f"{FOLDER}/README.md"]
    assert runs.gpu_states(raw["launches"]) == "not noted"


def test_same_bytes_anywhere_with_any_hash_seed(tmp_path: Path, raw: Json) -> None:
    woven = []
    for seed, place in (("1", "here"), ("2", "there/else")):
        root = tmp_path / place
        root.mkdir(parents=True)
        synthetic.repository(root)
        results.write(raw, root / f"reports/example-2c/results/{synthetic.NAME}.json")
        environment = os.environ | {"PYTHONPATH": str(PACKAGE), "PYTHONHASHSEED": seed}
        command = [sys.executable, "-m", "memwall", "--root", str(root), "report"]
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


@pytest.fixture(scope="module")
def woven_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = synthetic.repository(tmp_path_factory.mktemp("woven"))
    results.write(synthetic.result(), root / RESULT)
    weave(root)
    return root


@pytest.fixture
def woven(woven_once: Path, tmp_path: Path) -> Path:
    """A tree in which everything is as it would be woven."""
    return shutil.copytree(woven_once, tmp_path / "woven")


def _replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_check_passes_what_was_woven(woven: Path) -> None:
    found = run(woven, "check")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout == "checked 1 experiments and 1 results: 0 problems\n"


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a number in a report": (
        lambda root: _replace(root / REPORT, "runs 2.22 times", "runs 2.32 times"),
        f"{REPORT}: differs from what is woven now\n--- in the tree\n+++ woven\n",
    ),
    "a number in the JSON of a report": (
        lambda root: _replace(root / CHAPTER / "report.json", "runs 2.22 times", "runs 2 times"),
        f"{CHAPTER}/report.json: differs from what is woven now\n",
    ),
    "a verdict in a report": (
        lambda root: _replace(root / REPORT, "| ✓ 10 of 10 |", "| ✗ 5 of 5 |"),
        "+| <a id=\"claim-1-unroll\"></a>Unrolling four times helps on most matrices"),
    "a verdict in a short page": (
        lambda root: _replace(root / PAGE, ": reproduced", ": not reproduced"),
        "+- ✓ [Unrolling four times helps on most matrices]"),
    "a text that was timed": (lambda root: _replace(root / REPORT, "y[i] = sum(i);", "y[i] = 0;"),
                              "+    y[i] = sum(i);"),
    "a figure": (
        lambda root: _replace(root / CHAPTER / "figures/demo-serial.svg", "<svg", "<svg "),
        f"{CHAPTER}/figures/demo-serial.svg: differs",
    ),
    "a report that is gone": (lambda root: (root / REPORT).unlink(),
                             f"{REPORT}: missing, expected"),
    "a figure that is gone": (lambda root: (root / CHAPTER / "figures/claims.svg").unlink(),
                              "figures/claims.svg: missing, expected"),
    "a page too many": (
        lambda root: (root / FOLDER / "old.md").write_text("old"),
        f"{FOLDER}/old.md: found a file that nothing weaves",
    ),
    "a figure too many": (
        lambda root: (root / CHAPTER / "figures/old.svg").write_text("old"),
        f"{CHAPTER}/figures/old.svg: found a file that nothing weaves",
    ),
    "figures of a machine": (
        lambda root: weaving.write(root / FOLDER, {"figures/mine/old.svg": "old"}),
        f"{FOLDER}/figures/mine/old.svg: found a file that nothing weaves",
    ),
    "a chapter too many": (
        lambda root: weaving.write(root, {"experiments/gone/README.md": "old"}),
        "experiments/gone/README.md: found a file that nothing weaves",
    ),
    "the scorecard": (
        lambda root: _replace(root / "reports/README.md", "<ins>≈</ins>", "<ins>✓</ins>"),
        "reports/README.md: differs",
    ),
    "the front page": (lambda root: _replace(root / "README.md", "1 holds in", "0 hold in"),
                       "README.md: differs"),
    "the template of the front page": (
        lambda root: _replace(root / FRONT_PAGE, "It was measured", "It is measured"),
        "+Of 4 claims,",
    ),
    "a machine's page": (
        lambda root: _replace(root / FOLDER / "README.md", "16.0 GiB", "32.0 GiB"),
        f"{FOLDER}/README.md: differs",
    ),
    "a sample": (lambda root: _spoil_sample(root / RESULT), f"{REPORT}: differs"),
    "the source of a variant": (
        lambda root: _replace(root / CHAPTER / "main.cpp", "csrl(a, x, y);", "csrl(a, x, y, 1);"),
        "+> Some of what was measured is out of date or doubtful",
    ),
    "the condition of a claim": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", '"several"', '"far"'),
        "+| <a id=\"claim-1-csrl\"></a>CSRL is several times faster (inferred) | ✓ 2.22 |",
    ),
    "a rule of style": (
        lambda root: _replace(root / CHAPTER / "main.cpp", "int main(", "int start("),
        "found no function main",
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
        lambda root: (root / RESULT).write_text("{"),
        f"{RESULT}:1:2: not JSON",
    ),
    "a marker that is not closed": (
        lambda root: _replace(root / CHAPTER / "main.cpp", "//! [csrl]", "//! [other]"),
        "marker [other] is not closed",
    ),
    "a figure over an axis that is unknown": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", 'x = "matrix"', 'x = "matrx"'),
        f'{CHAPTER}/experiment.toml: figure "1.serial": no axis "matrx" in the result',
    ),
    "a figure that nothing draws": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", 'as = "bars"', 'as = "cakes"'),
        f"{CHAPTER}/experiment.toml: $.figure[0].draw.as: ",
    ),
    "a figure without an argument": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", 'y = "gflops"', 'z = "gflops"'),
        f'{CHAPTER}/experiment.toml: figure "demo.threads": ',
    ),
    "a result of another experiment": (
        lambda root: (root / RESULT).rename(root / FOLDER / "results" / "other.json"),
        'results/other.json: $.run.experiment: found "spmv-demo", expected "other"',
    ),
    "a claim on an unknown variant": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", '"restrict"', '"restrct"'),
        f'{CHAPTER}/experiment.toml: claim "1.restrict" on example-2c: no variant "restrct"',
    ),
    "a lead machine without a result": (
        lambda root: _replace(root / CHAPTER / "experiment.toml", '"example-2c"', '"other-2c"'),
        f'{CHAPTER}/experiment.toml: lead: found "other-2c", expected a machine with a complete'
        " result, one of: example-2c",
    ),
    "a verb of the front page": (
        lambda root: _replace(root / FRONT_PAGE, "summary()", "sumary()"),
        f"{FRONT_PAGE}:3: 'sumary' is undefined",
    ),
}


@pytest.mark.parametrize("name", STOPPING)
def test_what_stops_the_weave(name: str, woven: Path) -> None:
    spoil, said = STOPPING[name]
    spoil(woven)
    for command in ("check", "report"):
        found = run(woven, command)
        assert found.returncode == 2
        assert said in found.stderr
        assert found.stderr.count("\n") == 1
        assert "Traceback" not in found.stderr


def test_a_narrowed_run_has_no_place_in_a_folder(root: Path, store: Store, raw: Json) -> None:
    raw["run"]["arguments"] = ["--profile", "full", "--matrix", "fem3"]
    store(raw)
    with pytest.raises(UserError, match="found a narrowed run .*--matrix fem3"):
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
    assert joining.is_partial(results.of(raw, tmp_path)) == partial


def test_an_older_result_may_lack_the_figure_of_new_code(woven: Path) -> None:
    """A variant that the lead machine has measured since: another machine's report goes without."""
    older = second_machine()
    synthetic.drop(older, "csrl")
    results.write(older, woven / f"reports/other-2c/results/{synthetic.NAME}.json")
    machines.enlist(woven, "other-2c")
    _replace(woven / CHAPTER / "experiment.toml", "[[claim]]",
             '[[figure]]\nid = "x"\nfile = "x.svg"\nquestion = "X?"\ncaption = "X."\n'
             '[figure.draw]\nas = "bars"\n'
             'x = "matrix"\ny = "gbps"\nwhere = { variant = "csrl" }\n\n[[claim]]')
    assert run(woven, "report", "other-2c").returncode == 0
    assert not (woven / PAGES / f"other-2c/figures/{synthetic.NAME}/x.svg").exists()
    assert (woven / CHAPTER / "figures/x.svg").exists()
    report = (woven / REPORT).read_text(encoding="utf-8")
    assert "csrl(a, x, y);" in report
    assert "CSRL is several times faster (inferred) | ≈ 2.22 | ? |" in report


def test_a_single_run_is_woven_beside_itself(woven: Path, raw: Json) -> None:
    """The user's own matrix: its report says what needs more, and nothing else changes."""
    before = {p: p.read_bytes() for p in woven.rglob("*") if p.is_file()}
    synthetic.narrow(raw)
    path = woven / "build/runs/1/result.json"
    results.write(raw, path)
    found = run(woven, "page", str(path))
    assert (found.returncode, found.stderr) == (0, "")
    report = (path.parent / f"{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "This report is about `example-2c` alone" in report
    assert f"(../../../{CHAPTER}/report.md)" in report
    assert "helps on most matrices | ? 2 of 2 |" in report
    assert "it is undecided: needs at least 5 matrices, this run has 1" in report
    assert "| `mine` |" in report and "pois2d" not in report
    for picture in ("demo-serial", "claims"):
        assert f"figures/{picture}.svg" in report
        assert (path.parent / f"figures/{picture}.svg").exists()
    assert before == {p: p.read_bytes() for p in before}


def test_a_page_is_not_written_over_a_result_or_a_text(woven: Path, raw: Json) -> None:
    """A kept result is called as its statements would be."""
    for name in (f"{synthetic.NAME}.json", f"{synthetic.NAME}.md"):
        path = woven / "elsewhere" / name
        results.write(raw, path)
        before = path.read_bytes()
        beside = path if path.suffix == ".json" else path.with_name("result.json")
        results.write(raw, beside)
        found = run(woven, "page", str(beside))
        assert found.returncode == 2
        assert f"{name}: found a file that was not woven, expected --output FOLDER" in found.stderr
        assert path.read_bytes() == before
        assert not (path.parent / "figures").exists()
        path.unlink()
    for _ in range(2):  # what was woven is woven again
        assert run(woven, "page", str(beside)).returncode == 0


def test_a_filtered_run_of_what_is_not_compared(woven: Path, raw: Json) -> None:
    raw["run"]["arguments"] = ["--filter", "csrl"]
    raw["cases"] = [entry for entry in raw["cases"] if entry["variant"] == "csrl"]
    raw["skipped"], raw["excerpts"] = [], {"csrl": raw["excerpts"]["csrl"]}
    path = woven / "elsewhere/result.json"
    results.write(raw, path)
    assert run(woven, "page", str(path)).returncode == 0
    report = (path.parent / f"{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "it cannot be asked: " in report and "`unroll4` was not measured in this run" in report


def test_a_run_of_an_unknown_experiment_has_no_page(woven: Path, raw: Json) -> None:
    raw["run"]["experiment"] = "other"
    path = woven / "build/result.json"
    results.write(raw, path)
    found = run(woven, "page", str(path))
    assert found.returncode == 2
    assert 'found the experiment "other", expected one of: spmv-demo' in found.stderr


def test_an_empty_house_has_a_scorecard(root: Path) -> None:
    texts = weave(root)
    assert "No machine has measured anything yet" in texts["reports/README.md"]
    assert "No machine has measured it yet: `just run-all spmv-demo`" in texts[PAGE]
    assert "Of 4 claims, 4 are not measured yet." in texts["README.md"]
    assert run(root, "check").returncode == 0


def test_a_report_removes_what_nothing_weaves(woven: Path) -> None:
    """Also pages that a machine's folder had before; notes and files of other folders stay."""
    obsolete = [f"{FOLDER}/old.md", f"{FOLDER}/figures/a/b.svg", f"{CHAPTER}/figures/old.svg"]
    others = [f"{FOLDER}/notes/kept.md", "experiments/notes.md", "reports/articles.md",
              "memwall/pages/README.md", f"{CHAPTER}/kit/README.md"]
    weaving.write(woven, dict.fromkeys([*obsolete, *others], "text"))
    assert weaving.obsolete(woven, book.everything(book.read(woven))) == sorted(obsolete)
    assert run(woven, "report").returncode == 0
    assert not any((woven / name).exists() for name in obsolete)
    assert all((woven / name).exists() for name in others)
    assert run(woven, "check").returncode == 0


def test_without_a_lead_the_first_machine_tells_its_numbers(woven: Path) -> None:
    results.write(second_machine(), woven / f"reports/another-2c/results/{synthetic.NAME}.json")
    machines.enlist(woven, "another-2c")
    _replace(woven / CHAPTER / "experiment.toml", 'lead = "example-2c"', 'lead = ""')
    assert run(woven, "report").returncode == 0
    report = (woven / REPORT).read_text(encoding="utf-8")
    assert "what two machines measured; no sentence" in report and "`another-2c` comes" in report
    assert "| another-2c | example-2c |" in report


def test_a_kept_run_may_be_all_there_is(woven: Path) -> None:
    """It has a report; the one of all machines waits for a complete run."""
    (woven / RESULT).rename(woven / FOLDER / "results" / f"{synthetic.NAME}@mine.json")
    assert run(woven, "report", "example-2c").returncode == 0
    assert "No machine has measured it yet" in (woven / PAGE).read_text(encoding="utf-8")
    page = (woven / PAGES / f"example-2c/{synthetic.NAME}--mine.md").read_text(encoding="utf-8")
    assert "> **mine**: a kept run" in page
    assert not (woven / REPORT).exists()
    assert not (woven / CHAPTER / "figures/claims.svg").exists()


def test_the_report_of_a_machine_speaks_of_it_alone(
    root: Path, store: Store, raw: Json
) -> None:
    store(raw)
    store(second_machine(), "other-2c")
    texts = pages_of(root, "other-2c")
    assert texts["other-2c/README.md"].endswith(f"- [{DEMO}]({synthetic.NAME}.md)\n")
    page = texts[f"other-2c/{synthetic.NAME}.md"]
    assert "This report is about `other-2c` alone" in page and "example-2c" not in page
    assert "On `other-2c` it is not reproduced." in page
    assert "- `restrict` is out of date, measure it again: " in page


def test_a_report_says_why_it_has_no_figure(root: Path, store: Store, raw: Json) -> None:
    for twin in (case for case in raw["cases"] if case["twin"]):
        twin["samples_s"] = [3 * seconds for seconds in twin["samples_s"]]
    store(raw)
    page = pages_of(root)[f"example-2c/{synthetic.NAME}.md"]
    assert "(No figure of the claims, as" in page
    assert "differs by more than half in this run" in page


def test_notes_belong_to_a_run(root: Path, store: Store, raw: Json) -> None:
    store(raw)
    page = f"example-2c/{synthetic.NAME}.md"
    notes = root / FOLDER / "notes" / f"{synthetic.NAME}.md"
    weaving.write(notes.parent, {notes.name: "<!-- run: 0123456789abcdef -->\nIt was busy.\n"})
    assert pages_of(root)[page].endswith("### Notes of who measured\n\nIt was busy.\n")
    assert "[spmv-demo](notes/spmv-demo.md)" in weave(root)[f"{FOLDER}/README.md"]
    assert "It was busy" not in weave(root)[REPORT]
    notes.write_text("<!-- run: ffffffffffffffff -->\nIt was busy.\n")
    assert "notes/spmv-demo.md) explain another run, `ffffffff`" in pages_of(root)[page]
    kept = f"{synthetic.NAME}@classes.md"
    weaving.write(notes.parent, {kept: "<!-- run: 0123456789abcdef -->\nIt was quiet.\n"})
    assert pages_of(root)[page].endswith("\n\nIt was quiet.\n")
    (notes.parent / kept).unlink()
    notes.write_text("It was busy.\n")
    with pytest.raises(UserError, match="found no first line <!-- run: ID -->"):
        pages_of(root)


def test_report_weaves_what_check_refuses_and_says_so(woven: Path) -> None:
    (woven / CHAPTER / "lesson.md.in").write_text("# Why so slow?\n\nBecause of memory.\n")
    (woven / CHAPTER / "answers.md.in").write_text("# Answers\n")
    told = run(woven, "report")
    assert told.returncode == 0
    refused = run(woven, "check")
    assert refused.returncode == 1
    found = [line.removeprefix("check: ") for line in told.stderr.splitlines()]
    assert len(found) > 1 and set(found) < set(refused.stdout.splitlines())


def test_a_folder_that_is_not_listed_changes_no_committed_page(woven: Path) -> None:
    """Its owner has pages; a text that it contradicts is not theirs to mend."""
    other = second_machine()
    synthetic.scale(other, "unroll4", 3)
    results.write(other, woven / f"reports/other-2c/results/{synthetic.NAME}.json")
    before = {p: p.read_bytes() for p in woven.rglob("*") if p.is_file()}
    found = run(woven, "check")
    assert found.returncode == 0
    assert "of other-2c only that the results can be read" in found.stdout
    assert run(woven, "report").returncode == 0
    assert run(woven, "report", "other-2c").returncode == 0
    assert before == {p: p.read_bytes() for p in before}
    page = (woven / PAGES / f"other-2c/{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "other-2c" in page and "example-2c" not in page
    (woven / f"reports/other-2c/results/{synthetic.NAME}.json").write_text("{")
    assert "reports/other-2c/results/spmv-demo.json:1:2: not JSON" in run(woven, "check").stdout
    assert run(woven, "report").returncode == 0


def test_an_unknown_machine(woven: Path) -> None:
    found = run(woven, "report", "nowhere")
    assert found.returncode == 2
    assert found.stderr == (
        'no results of the machine "nowhere" below reports/, which has: example-2c\n'
    )


def test_links_lead_to_files(woven: Path) -> None:
    (woven / "reports/articles.md").write_text('<a id="article-1"></a>', encoding="utf-8")
    for page in [*woven.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#]+)#?([^)]*)\)", text):
            found = (page.parent / target).resolve()
            assert found.exists(), f"{page}: {target}"
            assert not anchor or f'id="{anchor}"' in found.read_text(encoding="utf-8")

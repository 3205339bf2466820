"""What Gradescope, Autolab and GitHub Classroom take, held against what their pages say.

Facts are of gradescope-autograders.readthedocs.io/en/latest/specs and /submission_metadata, of
docs.autolabproject.com/lab and of the code that reads the last line there
(app/helpers/assessment_autograde_core.rb), and of github.com/classroom-resources.
"""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memwall.__main__ import main
from memwall.grade import assignment, grading
from memwall.grade.tests import calls
from memwall.pages import grades as pages
from memwall.record import kits

#: The keys of results.json, of a test in it, and their values where only some are known.
TOP = {"score", "execution_time", "output", "output_format", "test_output_format",
       "test_name_format", "visibility", "stdout_visibility", "extra_data", "tests", "leaderboard"}
TEST = {"score", "max_score", "status", "name", "name_format", "number", "output", "output_format",
        "tags", "visibility", "extra_data"}
VISIBILITY = {"hidden", "after_due_date", "after_published", "visible"}
CASES = {"gemm-cpu-to-gpu-all-cores", "spmv-gpu-variants", "spmv-mpi-partitioning"}


@pytest.fixture(scope="module", params=sorted(CASES))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the platforms take of one kit."""
    out = tmp_path_factory.mktemp("course")
    assignment.make(calls.ROOT, request.param, out)
    assert main(["platforms", str(out / "instructor")]) == 0
    return out / "platforms"


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[grading.Record]:
    """What the grader will find, without timing anything."""
    records: list[grading.Record] = [calls.record("submission", 1.5)]
    monkeypatch.setattr(grading, "grade_all", lambda *_: records)
    kit = calls.kit()
    monkeypatch.setattr(kits, "load", lambda _: kit)
    return records


def names_in(path: Path) -> list[str]:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as packed:
            return packed.namelist()
    with tarfile.open(path) as unpacked:
        assert all(entry.isfile() for entry in unpacked)
        return unpacked.getnames()


def test_archives_hold_the_grader_and_the_kit_but_no_cheats(made: Path) -> None:
    for path in (made / "gradescope/autograder.zip", made / "autolab/autograde.tar"):
        names = names_in(path)
        assert {"memwall/__main__.py", "kit/kit.toml"} <= set(names)
        assert not [name for name in names if re.search("cheats|honest|tests/|__pycache__", name)]
        assert len(set(names)) == len(names)


def test_gradescope_finds_two_scripts_at_the_root(made: Path) -> None:
    with zipfile.ZipFile(made / "gradescope/autograder.zip") as packed:
        for name in ("setup.sh", "run_autograder"):
            assert packed.getinfo(name).external_attr >> 16 & 0o111
            assert packed.read(name).startswith(b"#!/usr/bin/env bash\n")
        assert b"/autograder/results/results.json" in packed.read("run_autograder")


def test_an_autograder_installs_what_it_imports(made: Path) -> None:
    known = {*sys.stdlib_module_names, "memwall"}
    with zipfile.ZipFile(made / "gradescope/autograder.zip") as packed:
        setup = packed.read("setup.sh").decode()
        texts = [packed.read(name).decode() for name in packed.namelist()
                 if name.startswith("memwall/") and name.endswith(".py")]
    imported = {match[1] for text in texts
                for match in re.finditer(r"^(?:import|from) (\w+)", text, re.MULTILINE)}
    assert "jinja2" in imported
    readme = (made / "autolab/README.md").read_text()
    for module in imported - known:
        assert f"python3-{module}" in setup.split() and f"python3-{module}" in readme


def test_an_autograder_needs_nothing_else_of_this_tree(made: Path, tmp_path: Path) -> None:
    submission = tmp_path / "submission"
    submission.mkdir()  # nothing in it: refused before anything is compiled
    results = tmp_path / "results.json"
    with zipfile.ZipFile(made / "gradescope/autograder.zip") as packed:
        packed.extractall(tmp_path / "source")
    for words in (["gradescope", "kit", str(submission), str(results)],
                  ["autolab", "kit", str(submission)]):
        done = subprocess.run([sys.executable, "-m", "memwall", *words], cwd=tmp_path / "source",
                              env={}, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert json.loads(results.read_text())["output"].startswith("refused: expected one file")
    assert json.loads(done.stdout.splitlines()[-1])["scores"]["Correctness"] == 0


def test_results_have_the_keys_that_gradescope_knows(tmp_path: Path) -> None:
    for record in (calls.record("ada"), calls.record("bob", failures={"long": "y[0] is 1"}),
                   calls.record("eve", reason="refused: a link")):
        result = pages.gradescope(calls.kit(), record)
        assert set(result) <= TOP and isinstance(result["score"], int | float)
        assert {result["visibility"], result["stdout_visibility"]} <= VISIBILITY
        for test in result["tests"]:
            assert set(test) <= TEST and test.get("visibility", "visible") in VISIBILITY
            assert test.get("status", "passed") in {"passed", "failed"}
            assert isinstance(test["name"], str) and isinstance(test.get("number", ""), str)
        for one in result.get("leaderboard", ()):
            assert set(one) <= {"name", "value", "order"}


def online(platform: str, folder: Path, *more: object) -> tuple[int, Path]:
    (folder / "submission").mkdir(exist_ok=True)
    results = [folder / "results.json"] if platform == "gradescope" else []
    words = [platform, folder / "kit", folder / "submission", *results, *more]
    return main([str(word) for word in words]), folder / "results.json"


@pytest.mark.parametrize("error", [RuntimeError("case secret"), OSError(28, "No space left"), None])
def test_a_fault_of_ours_is_no_score(error: Exception | None, tmp_path: Path,
                                     graded: list[grading.Record],
                                     monkeypatch: pytest.MonkeyPatch,
                                     capsys: pytest.CaptureFixture[str]) -> None:
    """No results.json for Gradescope; for Autolab no line of scores, in whose place the Makefile
    writes one without the problems that are worth something."""
    def fails(*_: object) -> list[grading.Record]:
        if error:
            raise error
        return []  # noise prevented it

    monkeypatch.setattr(grading, "grade_all", fails)
    code, results = online("gradescope", tmp_path)
    assert code != 0 and not results.exists()
    capsys.readouterr()
    assert online("autolab", tmp_path)[0] != 0
    said = capsys.readouterr()
    assert "The fault is ours" in said.out and "scores" not in said.out
    assert "secret" not in said.out


def test_autolab_reads_scores_in_the_last_line(tmp_path: Path, graded: list[grading.Record],
                                               capsys: pytest.CaptureFixture[str]) -> None:
    assert online("autolab", tmp_path)[0] == 0
    last = capsys.readouterr().out.rstrip().splitlines()[-1]
    # As it is read there: words before a colon get quotation marks first.
    told = json.loads(re.sub(r"([a-zA-Z0-9]+):", r'"\1":', last))
    assert told["scores"] == {"Correctness": graded[0]["correctness"],
                              "Speed": round(graded[0]["speed"], 2), "Grader": 0}
    assert told["scoreboard"] == [round(graded[0]["points"], 2), round(graded[0]["speedup"], 2)]


@pytest.mark.parametrize(("python", "scores"), [
    ("#!/bin/sh\necho hello; echo '{\"scores\": {\"Speed\": 1}}'\n", {"Speed": 1}),
    ("#!/bin/sh\necho no; echo case secret >&2; exit 1\n", {"Grader": 0})])
def test_autolab_always_gets_a_line_that_it_can_read(
        python: str, scores: dict[str, int], made: Path, tmp_path: Path) -> None:
    """It calls `make` where the Makefile, the archive and what was handed in lie."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_text(python)
    (tmp_path / "bin/python3").chmod(0o755)
    (tmp_path / "Makefile").write_text((made / "autolab/autograde-Makefile").read_text())
    (tmp_path / "autograde.tar").write_bytes((made / "autolab/autograde.tar").read_bytes())
    done = subprocess.run(["make"], cwd=tmp_path, check=True, capture_output=True, text=True,
                          env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    assert json.loads(done.stdout.splitlines()[-1])["scores"] == scores
    assert "secret" not in done.stdout + done.stderr
    assert (tmp_path / "kit/kit.toml").exists()


@pytest.mark.parametrize(("earlier", "score"), [
    ([], None), ([{"submission_time": "Monday", "score": 99.0}], 99.0),
    ([{"score": 1.0}, {"score": "98.5"}], 98.5), ([{"score": None}], None), ("none", None)])
def test_on_gradescope_the_best_counts(earlier: Sequence[dict[str, Any]], score: float | None,
                                       tmp_path: Path, graded: list[grading.Record]) -> None:
    metadata = tmp_path / "submission_metadata.json"
    metadata.write_text(json.dumps({"id": 1, "previous_submissions": earlier}))
    code, results = online("gradescope", tmp_path, "--metadata", metadata)
    told = json.loads(results.read_text())
    assert code == 0
    assert told["score"] == pytest.approx(score or graded[0]["points"])
    assert ("the best does" in told["output"]) == (score is not None)


def test_github_tries_the_kit_before_it_grades(made: Path) -> None:
    """What its runner fails at, with the solution that came with the kit, ends the job unscored."""
    kit = kits.load(made.parent / "instructor")
    path = made / "github/.github/workflows/classroom.yml"
    assert path.exists() != kit.on_gpu
    if kit.on_gpu:
        return
    text = path.read_text()
    itself, right = text.index("FILE=naive.cpp"), text.index("autograding-command-grader@v1")
    assert itself < right < text.index("autograding-grading-reporter@v1")
    given = dict(re.findall(r"^ {10}([a-z-]+): (.*)$", text, re.M))
    assert {"test-name", "setup-command", "command", "timeout", "max-score"} <= set(given)
    assert given["max-score"] == str(kit.correctness)
    assert 0 < int(given["timeout"]) <= 60  # minutes
    assert f"{given['runners'].upper()}_RESULTS: \"${{{{steps.right.outputs.result}}}}\"" in text
    assert ("mpi" in text) == (kit.ranks > 1)

"""What is in the two folders of an assignment, and what is not."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from memwall.__main__ import main
from memwall.grade import assignment
from memwall.grade.tests import small_kit
from memwall.record import kits
from memwall.record.kits import GradeError

ROOT = Path(__file__).resolve().parents[3]
KITS = sorted(kits.all_folders(ROOT))
ONE_OF_A_KIND = ("spmv-gpu-variants", "spmv-serial-steps")  # for a GPU, and for processors
GPU_KITS = [name for name, folder in kits.all_folders(ROOT).items() if kits.load(folder).on_gpu]


@pytest.mark.parametrize("name", KITS)
def test_students_get_neither_solutions_nor_hidden_cases(name: str, tmp_path: Path) -> None:
    student, instructor = assignment.make(ROOT, name, tmp_path)
    kit = kits.load(instructor)
    assert kit.name == name
    texts = {path: path.read_text() for path in student.rglob("*") if path.is_file()}
    for path, text in texts.items():
        assert not any(case.line in text for case in kit.cases if case.hidden), path
        assert "SOLUTION" not in text, path
        assert "answers.md" not in text and not path.name.startswith("answers"), path
    assert "YOUR CODE HERE" in (student / kit.file).read_text()
    assert any(case.hidden for case in kit.cases)
    assert "BEGIN SOLUTION" in (instructor / f"model{kit.suffix}").read_text()
    assert instructor.stat().st_mode & 0o077 == 0
    page = (student / "README.md").read_text()
    assert f"{kit.correctness} points" in page
    for case in kit.cases:
        assert (f"| `{case.name}` | {case.about} |" in page) == (not case.hidden)
        assert case.model or case.hidden


def test_a_solution_is_a_region() -> None:
    text = "a\n    /// BEGIN SOLUTION\n    b\n    /// END SOLUTION\nc\n"
    assert assignment.without_solution(text) == "a\n    // YOUR CODE HERE\nc\n"


@pytest.mark.parametrize("text", ["BEGIN SOLUTION\n", "END SOLUTION\n",
                                  "BEGIN SOLUTION\nBEGIN SOLUTION\nEND SOLUTION\n"])
def test_regions_come_in_pairs(text: str) -> None:
    with pytest.raises(GradeError, match="SOLUTION"):
        assignment.without_solution(text)


def test_an_unknown_kit_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assignment", "no-such", "--out", str(tmp_path)]) == 2
    assert "no kit of that name: no-such; there are " in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.parametrize("name", ONE_OF_A_KIND)
def test_a_judge_knows_every_problem_that_a_kit_carries(name: str, tmp_path: Path) -> None:
    """Also one that somebody adds to those of today."""
    student, _ = assignment.make(ROOT, name, tmp_path)
    (student / "harness/kit/problem_of_its_own.cpp").touch()
    told = subprocess.run(["make", "-n", "-C", student, "build/judge"], capture_output=True,
                          text=True, check=True).stdout
    (compiled,) = (line.split() for line in told.splitlines() if line.startswith("printf"))
    problems = {f"kit/{path.name}" for path in student.glob("harness/kit/problem*.cpp")}
    assert len(problems) > 4 and problems <= set(compiled)


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.xdist_group("workshop")
@pytest.mark.parametrize(("name", "has_judge"), [
    *((name, True) for name in ONE_OF_A_KIND if name not in GPU_KITS),
    *(pytest.param(name, True, marks=pytest.mark.large) for name in ONE_OF_A_KIND
      if name in GPU_KITS),
    *(pytest.param(name, False, marks=pytest.mark.large) for name in KITS)])
def test_a_student_builds_and_tests_with_the_kit_alone(name: str, has_judge: bool,
                                                       tmp_path: Path) -> None:
    """In the short form with a judge that another folder of a student has built."""
    student, instructor = assignment.make(ROOT, name, tmp_path / "out")
    kit = kits.load(instructor)
    if shutil.which(kit.compiler) is None:
        pytest.skip(f"no {kit.compiler} here")
    alone = Path(shutil.move(student, tmp_path / "alone"))
    if has_judge:
        small_kit.hand_judge(alone)
    path = "/usr/bin:/bin:/usr/local/cuda/bin"

    def make(*targets: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["make", "-j2", "-C", alone, *targets], capture_output=True,
                              text=True, check=False, env={"PATH": path, "HOME": str(tmp_path)})

    if kit.on_gpu:  # `just test-gpu` runs it
        shutil.copy(instructor / "model.cu", alone / kit.file)
        built = make("build/box" if has_judge else "references", f"build/{kit.function}")
        assert built.returncode == 0, built.stderr
        (alone / "build/judge").write_text("#!/bin/sh\ncat\n")
        told = [line.split("\t") for line in make("test").stdout.splitlines()]
        assert [words[words.index("--tool") + 1:words.index("build/box")]
                for words in told if "--tool" in words] == [
            [tool, *more, "--log-file", f"build/{tool}.log"]
            for tool, *more in (["memcheck", "--report-api-errors", "no"], ["initcheck"],
                                ["synccheck"])]
        clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
        for found, code in (("", 0), ("========= Invalid __global__ read of size 8 bytes\n", 2)):
            (alone / "build/judge").write_text(
                f"#!/bin/sh\ncat\nprintf '{clean}{found}' > build/initcheck.log\n")
            done = make("test")
            assert (done.returncode, found in done.stdout) == (code, True), done.stdout
        return
    empty = make("test")
    assert empty.returncode != 0
    assert "the fault is yours" in empty.stdout, empty.stdout + empty.stderr
    assert "was this element written?" in empty.stdout
    shutil.copy(instructor / f"model{kit.suffix}", alone / kit.file)
    os.utime(alone / kit.file)
    done = make("test")
    assert done.returncode == 0, done.stdout + done.stderr
    first = kit.cases[0].name
    said = [line.split() for line in done.stdout.splitlines()]
    # As it is, under the sanitizers, and where races are looked for.
    assert said.count([first, "right"]) == 2 + kit.openmp


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
@pytest.mark.large
@pytest.mark.parametrize("name", [name for name, folder in kits.all_folders(ROOT).items()
                                  if not kits.load(folder).on_gpu])
def test_a_student_reads_about_how_many_points_there_are(name: str, tmp_path: Path) -> None:
    student, instructor = assignment.make(ROOT, name, tmp_path)
    shutil.copy(instructor / "model.cpp", student / kits.load(instructor).file)
    answers = {"PREDICT": "9", "BECAUSE": "it is the model", "WHY": "it is"}
    done = subprocess.run(["make", "-s", "-C", student, "score"], capture_output=True, text=True,
                          check=False,
                          env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **answers})
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^about \d+ of 100 points", done.stdout, re.M), done.stdout
    assert "times as fast as naive" in done.stdout


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here")
@pytest.mark.parametrize("name", GPU_KITS)
def test_what_a_kit_for_gpus_holds_compiles(name: str, tmp_path: Path) -> None:
    """Every solution of it, as the kit compiles what is handed in; `just test-gpu` runs them."""
    _, instructor = assignment.make(ROOT, name, tmp_path)
    kit = kits.load(instructor)
    sources = [instructor / "model.cu", *(instructor / "student" / f"{one}.cu"
                                          for one in ("naive", "floor")),
               *sorted((instructor / "ladder").glob("*.cu"))]
    assert len(sources) == 5
    for number, source in enumerate(sources):
        done = subprocess.run(
            ["nvcc", "-std=c++20", *kit.flags.split(), f"-I{instructor / 'student'}", "-ptx",
             source, "-o", tmp_path / f"{number}.ptx"], capture_output=True, text=True,
            check=False)
        assert (done.returncode, done.stdout + done.stderr) == (0, ""), source

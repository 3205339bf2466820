"""The pages of the grader in a browser."""

from pathlib import Path

import browser
import pytest
import site_check

from memwall.__main__ import main
from memwall.grade import grading, submissions
from memwall.grade.tests import calls
from memwall.pages import grades as pages
from memwall.record import kits

needs_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())


@needs_browser
@pytest.mark.parametrize("width", [400, 1012])
def test_pages_for_people_open_without_complaint(width: int, tmp_path: Path) -> None:
    records = [calls.record("ada", 1.0), calls.record("bob", 1.01), calls.record("eve", 2.5),
               calls.record("sam", 3.0, failures={"long": "y[0] is nan, expected 0.5"})]
    pages.write(calls.kit(), records, tmp_path)
    with browser.chromium(width, 1200) as window:
        for name in ("leaderboard", "students/ada", "students/eve", "students/sam"):
            file = tmp_path / f"{name}.html"
            assert list(site_check.problems(window, file)) == [], name
            rows = window.execute_script("return document.querySelectorAll('tr').length")
            assert rows > len(records), name


@needs_browser
def test_pages_of_a_class_open_without_complaint(tmp_path: Path) -> None:
    assert main(["rehearse", "gemm-cpu-to-gpu-one-core", "--out", str(tmp_path), "--class"]) == 0
    kit = kits.load(tmp_path / "first/instructor")
    for name, time in (("ada", 1.0), ("chen", 4.0)):
        one = submissions.read(kit, tmp_path / f"first/handed-in/{name}.cpp")
        record = {**calls.record(name, time), **grading.about(one)}
        record["outcomes"] = record["outcomes"][:len(kit.cases)]
        grading.keep(tmp_path / "first/grades", kit, one, record)
    assert main(["class", str(tmp_path), "--no-grading"]) == 1  # the others have no grade yet
    public = tmp_path / "sheet/for-students"
    with browser.chromium(1012, 1200) as window:
        for file in (public / "leaderboard-first.html",
                     *(place / "index.html" for place in list((public / "students").iterdir())[:3]),
                     *public.glob("students/*/first.html")):
            assert list(site_check.problems(window, file)) == [], file

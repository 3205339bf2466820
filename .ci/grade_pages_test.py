"""The pages of the grader in a browser."""

from pathlib import Path

import browser
import pytest
import site_check

from memwall.grade.tests import calls
from memwall.pages import grades as pages

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

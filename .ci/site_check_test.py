"""The checks of the site find what is wrong with it."""

from pathlib import Path

import pytest
import site_check
from browser import chromium, missing

FIGURE = """<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"></svg>"""
TABLE = """<div style="overflow-x: auto"><div style="width: 3000px">wide</div></div>"""
GOOD = f"""<!doctype html><title>good</title><a id="here"></a><img src="a.svg">{TABLE}
<details>{TABLE}</details>"""


def site(folder: Path, text: str) -> Path:
    """A site with one page."""
    (folder / "a.svg").write_text(FIGURE)
    page = folder / "a.html"
    page.write_text(text)
    return page


def test_links_lead_to_files_and_places(tmp_path: Path) -> None:
    site(tmp_path, GOOD)
    (tmp_path / "b.html").write_text("""<a href="a.html"></a> <a href="a.html#here"></a>
        <a href="#there" id="there"></a> <a href="https://host/x#y"></a> <img src="a.svg">
        <a href="a%2Ehtml#he%72e"></a> <a href="javascript:void(0)"></a> <a href="#"></a>""")
    assert list(site_check.dead_links(tmp_path)) == []


def test_dead_links_are_found(tmp_path: Path) -> None:
    site(tmp_path, GOOD)
    (tmp_path / "b.html").write_text("""<a href="c.html"></a> <a href="a.html#there"></a>
        <a href="#there"></a> <img src="figures/b.svg">""")
    assert list(site_check.dead_links(tmp_path)) == [
        "b.html: no place #there",
        "b.html: no place a.html#there",
        "b.html: no file c.html",
        "b.html: no file figures/b.svg",
    ]


def test_views_of_the_explorer_have_data(tmp_path: Path) -> None:
    (tmp_path / "explorer").mkdir()
    (tmp_path / "explorer/index.html").write_text("<p id=about>")
    (tmp_path / "explorer/data-spmv.js").touch()
    (tmp_path / "b.html").write_text("""<a href="explorer/index.html#e=spmv&amp;s=x"></a>
        <a href="explorer/index.html#about"></a> <a href="explorer/index.html#e=gone"></a>
        <a href="explorer/index.html#s=x"></a>""")
    assert list(site_check.dead_links(tmp_path)) == [
        "b.html: no place explorer/index.html#e=gone",
        "b.html: no place explorer/index.html#s=x"]


def test_every_page_but_most_of_doxygens_is_looked_at(tmp_path: Path) -> None:
    for page in ("index.html", "api/index.html", "api/a.html", "source/b.cpp.html"):
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).touch()
    assert site_check.names(tmp_path, whole=True) == [
        "index.html", "source/b.cpp.html", "api/index.html"]
    assert site_check.names(tmp_path, whole=False) == ["index.html", "api/index.html"]


@pytest.mark.skipif(bool(missing()), reason=missing())
class TestBrowser:
    def found(self, folder: Path, text: str) -> list[str]:
        page = site(folder, text)
        with chromium(site_check.DESK, 600) as browser:
            return list(site_check.problems(browser, page))

    def test_finds_nothing_on_a_good_page(self, tmp_path: Path) -> None:
        assert self.found(tmp_path, GOOD) == []

    def test_finds_what_is_wrong(self, tmp_path: Path) -> None:
        missing, wide, *problems = self.found(tmp_path, """<!doctype html><title>bad</title>
            <img src="b.svg"><details><div style="width: 1500px">wide</div></details>
            <script>console.error("two", 2); console.log("three");</script>
            <script>nothing.at.all</script>""")
        assert missing == "figure does not load: b.svg"
        assert wide.startswith("scrolls sideways: html (15")
        assert len(problems) == 3
        assert all(problem.startswith("error on the console: ") for problem in problems)
        assert any('"two" 2' in problem for problem in problems)
        assert any("nothing is not defined" in problem for problem in problems)
        assert any("ERR_FILE_NOT_FOUND" in problem for problem in problems)

    def test_finds_text_that_is_wider_than_its_part_of_the_window(self, tmp_path: Path) -> None:
        text = """<!doctype html><title>bad</title><div id="doc-content" style="overflow: auto;
            width: 700px"><div style="width: 800px">wide</div></div>"""
        assert self.found(tmp_path, text) == [
            "scrolls sideways: doc-content (800 of 700 pixels)"]

    def test_finds_what_a_page_asks_of_other_hosts(self, tmp_path: Path) -> None:
        found = self.found(tmp_path, """<!doctype html><title>bad</title>
            <link rel="stylesheet" href="http://127.0.0.1:9/font.css">""")
        assert found[-1] == "asks another host: http://127.0.0.1:9/font.css"

    def test_says_what_pages_are_missing(self, tmp_path: Path) -> None:
        site(tmp_path, GOOD)
        assert list(site_check.ugly_pages(tmp_path, ["a.html", "b.html"])) == [
            "b.html: not in the site"]

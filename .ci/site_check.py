#!/usr/bin/env python3
"""Checks the site in build/docs/ and prints what is wrong with it.

    .ci/site_check.py links    every link within the site leads to a file and to a place in it
    .ci/site_check.py pages    in a browser, figures load, no page scrolls sideways or complains
"""

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import docs_page
from browser import BrowserError, chromium, visit
from selenium.webdriver import Chrome

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build/docs"
WIDTH = 1012  # of the narrowest window in which nothing may scroll sideways
HEIGHT = 1200
PAGES = ("*.md", *(f"{room}/**/*.md" for room in docs_page.ROOMS))
LISTS = ("namespaces.html", "annotated.html", "files.html", "usergroup0.html",
         "namespacespmv.html", "classspmv_1_1Plan.html")
DOXYGENS = ("#nested-classes",)  # its pages have links to lists that it leaves out: they do nothing

# What a page says of itself, all that is folded unfolded: [figures that are not there, parts that
# are wider than the page]. Tables and listings may be wide if they scroll in their own box.
INSPECT = """
    for (const part of document.querySelectorAll("details")) { part.open = true; }
    const figures = [...document.images].filter(image => !image.complete || !image.naturalWidth)
        .map(image => image.getAttribute("src"));
    const rooms = [document.documentElement, document.querySelector("#doc-content")];
    const wide = rooms.filter(room => room && room.scrollWidth > Math.min(room.clientWidth,
        innerWidth)).map(room => `${room.id || room.tagName.toLowerCase()} (${room.scrollWidth} of `
        + `${Math.min(room.clientWidth, innerWidth)} pixels)`);
    return [figures, wide];"""


class Page(HTMLParser):
    """The places of a page and the links that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Notes the places and links of a tag."""
        for name, value in attrs:
            if name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")
            elif name in ("href", "src") and value:
                self.links.add(value)


def dead_links(site: Path) -> Iterator[str]:
    """A line for each link within a site that leads nowhere. By hand: linkchecker with its plugin
    for places takes more than four minutes for the thousand files that this reads in three seconds.
    """
    pages = {file: Page(file.read_text(encoding="utf-8", errors="replace"))
             for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        for link in sorted(page.links):
            path, _, place = link.partition("#")
            if ":" in path or link in DOXYGENS:
                continue
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.exists():
                yield f"{file.relative_to(site)}: no file {link}"
            elif place and target in pages and unquote(place) not in pages[target].places:
                yield f"{file.relative_to(site)}: no place {link}"


def names() -> list[str]:
    """The files to look at: pages that were Markdown, and the main ones of the API."""
    found = [path.relative_to(ROOT).as_posix() for pattern in PAGES
             for path in sorted(ROOT.glob(pattern))]
    return [f"{docs_page.label(page)}.html" for page in found if docs_page.is_page(page)] + [*LISTS]


def problems(browser: Chrome, file: Path) -> Iterator[str]:
    """A line for each thing that is wrong with a page in a browser."""
    complaints = visit(browser, file.as_uri())
    figures, wide = browser.execute_script(INSPECT)
    yield from (f"figure does not load: {figure}" for figure in figures)
    yield from (f"scrolls sideways: {part}" for part in wide)
    yield from (f"error on the console: {complaint}" for complaint in complaints)


def ugly_pages(site: Path, pages: list[str]) -> Iterator[str]:
    """A line for each thing that is wrong with some pages of a site in a browser."""
    with chromium(WIDTH, HEIGHT) as browser:
        for page in pages:
            if not (site / page).is_file():
                yield f"{page}: not in the site"
                continue
            yield from (f"{page}: {problem}" for problem in problems(browser, site / page))


def main() -> int:
    """Does the check that the command line names."""
    if sys.argv[1:] not in (["links"], ["pages"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not (SITE / "index.html").is_file():
        print(f"no site in {SITE}: just docs", file=sys.stderr)
        return 1
    try:
        found = list(dead_links(SITE) if sys.argv[1] == "links" else ugly_pages(SITE, names()))
    except BrowserError as error:
        found = [error.msg or str(error)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

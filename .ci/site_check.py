#!/usr/bin/env python3
"""Checks the site in build/site/ and prints what is wrong with it.

    .ci/site_check.py links    every link within the site leads to a file and to a place in it
    .ci/site_check.py few      in a browser: some pages of each kind, search, a figure that answers
    .ci/site_check.py pages    the same with every page, on a desk and on a phone, light and dark

A page is opened from its folder. Its figures load and are drawn again, it does not scroll sideways,
writes no error on the console, and asks no other host for anything.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qs, unquote

from browser import BrowserError, chromium, prefer, visit
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build/site"
DESK, PHONE, HEIGHT = 1280, 390, 1200  # pixels of windows
PATIENCE_S = 20  # for what a page does when it is asked
#: Some of each kind: by hand, a lesson, a report, tables, a machine, a source, explorer, API.
FEW = ("index.html", "experiments/spmv-serial-steps/index.html",
       "experiments/softmax-block/report.html", "reports/index.html", "reports/*-h200/index.html",
       "source/experiments/*/main.cpp.html", "explorer/index.html", "api/index.html")
ON_PHONES = 4  # of these, the first ones
#: Of Doxygen's pages, which are more than a thousand: the main ones.
API = ("index.html", "namespaces.html", "annotated.html", "files.html", "namespacespmv.html",
       "classspmv_1_1Plan.html")
DOXYGENS = ("#nested-classes",)  # its pages have links to lists that it leaves out: they do nothing
LIVE = "experiments/spmv-serial-steps/report.html"  # a page with figures that answer, and of them
MEASURED = "How much of what memory allows does each version reach?"  # one of what was measured
SOUGHT = "load imbalance"  # the glossary says what it is

# Draws again every figure that can be, and calls back: what a reader sees who scrolls to the end.
DRAW = """const done = arguments[0];
    memwallFigures().then(() => done(""), error => done(`figure: ${error.message}`));"""
# Where the first mark of a figure is that says how it was measured.
POINT = f"""const figure = document.querySelector('.drawn[aria-label="{MEASURED}"]');
    const mark = figure.querySelector(".role-mark.mark-symbol path");
    mark.scrollIntoView({{block: "center", behavior: "instant"}});
    const box = mark.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];"""
TOOLTIP = """return document.querySelector("#vg-tooltip-element")?.innerText"""
# The search stands in a tree of its own.
SEARCH = """const search = [...document.querySelectorAll("div")].map(part => part.shadowRoot)
    .find(part => part?.querySelector("[role=combobox]"));"""
FIELD = f"""{SEARCH} return search?.activeElement ? "here" : "" """
FOUND = f"""{SEARCH} return search?.querySelector("[role=option]")?.innerText"""
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
            elif place and target in pages and not is_there(place, target, pages[target]):
                yield f"{file.relative_to(site)}: no place {link}"


def is_there(place: str, target: Path, page: Page) -> bool:
    """Whether a page has a place; a view of the explorer is one where it has that experiment."""
    if target.parent.name == "explorer" and "=" in place:
        experiment = parse_qs(place).get("e", [""])[0]
        return (target.parent / f"data-{experiment}.js").is_file()
    return unquote(place) in page.places


def names(site: Path, whole: bool) -> list[str]:
    """The pages to look at: some, or all but most of Doxygen's."""
    if not whole:
        found = [sorted(site.glob(pattern)) for pattern in FEW]
        return [pages[0].relative_to(site).as_posix() for pages in found if pages]
    ours = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    return [page for page in ours if not page.startswith("api/")] + [
        f"api/{page}" for page in API if (site / "api" / page).exists()]


def problems(browser: Chrome, file: Path) -> Iterator[str]:
    """A line for each thing that is wrong with a page in a browser."""
    complaints = visit(browser, file.as_uri())
    if browser.execute_script("return typeof memwallFigures === 'function'"):
        complaints += [each for each in [browser.execute_async_script(DRAW)] if each]
    figures, wide = browser.execute_script(INSPECT)
    yield from (f"figure does not load: {figure}" for figure in figures)
    yield from (f"scrolls sideways: {part}" for part in wide)
    yield from (f"error on the console: {complaint}" for complaint in complaints)
    yield from (f"asks another host: {address}" for address in asked(browser))


def asked(browser: Chrome) -> Iterator[str]:
    """Addresses at other hosts that pages asked for since this was last called."""
    for entry in browser.get_log("performance"):
        event = json.loads(entry["message"])["message"]
        if event["method"] == "Network.requestWillBeSent":
            address: str = event["params"]["request"]["url"]
            if not address.startswith(("file:", "data:", "blob:", "about:")):
                yield address


def ugly_pages(site: Path, pages: list[str], width: int = DESK, scheme: str = "light"
               ) -> Iterator[str]:
    """A line for each thing that is wrong with some pages of a site in a browser."""
    with chromium(width, HEIGHT) as browser:
        prefer(browser, scheme)
        for page in pages:
            if not (site / page).is_file():
                yield f"{page}: not in the site"
                continue
            yield from (f"{page}, {width} pixels, {scheme}: {problem}"
                        for problem in problems(browser, site / page))


def dumb_parts(site: Path) -> Iterator[str]:
    """A line for each thing that does not answer: a figure below the mouse, and the search."""
    with chromium(DESK, HEIGHT) as browser:
        visit(browser, (site / LIVE).as_uri())
        browser.execute_async_script(DRAW)
        x, y = browser.execute_script(POINT)
        browser.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x, "y": y})
        told = until(lambda: browser.execute_script(TOOLTIP))
        if "samples" not in told or "run " not in told:
            yield f"{LIVE}: a figure says {told!r} on hover, expected samples and a run"
        browser.find_element(By.CSS_SELECTOR, ".md-search__button").click()
        if until(lambda: browser.execute_script(FIELD)):
            browser.switch_to.active_element.send_keys(SOUGHT)
        if not until(lambda: browser.execute_script(FOUND)):
            yield f'the search for "{SOUGHT}" finds nothing'
        yield from (f"the search asks another host: {address}" for address in asked(browser))


def until(told: Callable[[], str]) -> str:
    """What is told as soon as it is anything, or nothing after some patience."""
    deadline = time.monotonic() + PATIENCE_S
    while not (text := told()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return text or ""


def wrong(what: str) -> Iterator[str]:
    """What the check that the command line names finds."""
    if what == "links":
        yield from dead_links(SITE)
        return
    yield from dumb_parts(SITE)
    pages = names(SITE, what == "pages")
    yield from ugly_pages(SITE, pages)
    yield from ugly_pages(SITE, pages if what == "pages" else pages[:ON_PHONES], PHONE, "dark")


def main() -> int:
    """Does the check that the command line names."""
    if sys.argv[1:] not in (["links"], ["few"], ["pages"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not (SITE / "index.html").is_file():
        print(f"no site in {SITE}: just site", file=sys.stderr)
        return 1
    try:
        found = list(wrong(sys.argv[1]))
    except BrowserError as error:
        found = [error.msg or str(error)]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

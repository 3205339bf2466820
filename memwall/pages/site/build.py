"""The site in `build/site/`: pages, figures and sources are gathered in `build/site-work/`, from
which the generator makes it; beneath lie the explorer and the library's pages."""

import posixpath
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from memwall.pages import book, explorer, grades, weaving
from memwall.pages.book import House
from memwall.pages.site import api, contents, figures, markdown, sources
from memwall.pages.site.contents import API, EXPLORER, Contents
from memwall.record import files, kits, machines
from memwall.record.errors import UserError

ASSETS = Path(__file__).parent / "assets"
DRAWER = "vega.js"
#: What a page of a machine that did not come with the tree says of it.
NOT_COMMITTED = ('!!! warning "Measured here, not committed"\n'
                 "    `{}` did not come with memwall: only this site shows it. `just contribute`\n"
                 "    packs what it measured.\n")
#: Made-up classes that were graded: of each kit the records that `just rehearse` left on a machine.
REHEARSED = Path(__file__).parent / "rehearsed"
#: What a handout says above its title.
HANDED_OUT = ('!!! note "What students get"\n'
              "    `just assignment` writes this page into the students' folder, as `README.md`.\n")
#: And of a class that was graded: whose page shows what.
GRADED = ("    `just rehearse {name}` graded a made-up class on `{machine}`:\n"
          '    the <a href="{name}/leaderboard.html">leaderboard</a>, and the pages of\n'
          '    <a href="{name}/students/ada.html">Ada</a> (a good solution),\n'
          '    <a href="{name}/students/ben.html">Ben</a> (one that is wrong, then a first idea),\n'
          '    <a href="{name}/students/chen.html">Chen</a> (what came with the kit) and\n'
          '    <a href="{name}/students/dora.html">Dora</a> (it does not compile); for you\n'
          '    <a href="{name}/grades.csv">grades.csv</a> and files for\n'
          '    <a href="{name}/gradescope/ben.json">Gradescope</a>.\n')
#: What stands below a lesson and a report.
IN_EXPLORER = '\n\n<a href="{}">Every number of this experiment in the explorer</a>\n'
#: How the generator complains, in colours: what is wrong, and below it where.
COLOURS = re.compile(r"\x1b\[[\d;]*m")
WARNING = re.compile(r"^Warning: (?P<what>.*)\n.*\[ (?P<where>\S+):\d+:\d+ \]\n"
                     r".*\n.*│ (?P<line>.*)$", re.MULTILINE)
CONFIG: dict[str, Any] = {
    "site_name": "memwall",
    "site_description": "Experiments, lessons and reports about the memory wall",
    "copyright": "memwall, under the MIT licence",
    "docs_dir": "src",
    "site_dir": "site",
    "use_directory_urls": False,
    "theme": {
        "name": "material",
        "font": False,
        "language": "en",
        "icon": {"logo": "lucide/brick-wall"},
        "features": ["navigation.tabs", "navigation.top", "toc.integrate",
                     "toc.follow", "search.highlight", "content.code.copy"],
        "palette": [
            {"media": "(prefers-color-scheme)",
             "toggle": {"icon": "lucide/sun-moon", "name": "Colours: as the system; to light"}},
            {"media": "(prefers-color-scheme: light)", "scheme": "default",
             "toggle": {"icon": "lucide/sun", "name": "Colours: light; to dark"}},
            {"media": "(prefers-color-scheme: dark)", "scheme": "slate",
             "toggle": {"icon": "lucide/moon", "name": "Colours: dark; to the system's"}},
        ],
    },
    "plugins": {"search": {}, "offline": {}},
    # The generator would fetch this one from another host.
    "extra": {"polyfills": ["assets/iframe-worker.js"]},
    "extra_css": ["assets/site.css"],
    "extra_javascript": ["assets/figures.js"],
    "markdown_extensions": ["admonition", "attr_list", "md_in_html", "tables",
                            "pymdownx.highlight", "pymdownx.superfences"],
}


def build(root: Path, room: Path, say: Callable[[str], object],
          handouts: Mapping[str, str]) -> Path:
    """Makes the site in a folder of `room` and returns its first page; `handouts` are what students
    read, by the names of experiments. Raises `UserError` with one
    line if a page links to what is not there."""
    work = room / "site-work"
    with files.exclusive(work), ExitStack() as at_end:
        library = None
        if api.is_here():
            library = api.Api(root, work / "api")
            at_end.callback(library.stop)
        else:
            say(api.MISSING)
        house = book.read(root, beside=machines.unlisted(root))
        guests = [name for name in house.machines if name not in machines.listed(root)]
        with book.alone(root):
            for guest in guests:
                weaving.write(root / book.WOVEN, book.machine_pages(house, guest))
        found = contents.read(root, guests)
        nav = contents.navigation(found, house, library is not None, handouts)
        _gather(house, found, work / "src")
        _hand_out(handouts, work / "src")
        with ThreadPoolExecutor(1) as beside:
            drawer = beside.submit(figures.libraries, work)
            site = _generated(work, nav)
            files.write(site / "assets" / DRAWER, drawer.result())
        for name, graded in rehearsed(handouts).items():
            grades.write(kits.load(kits.all_folders(root)[name]), graded["records"],
                         site / posixpath.splitext(contents.handout(name))[0])
        explorer.write(house, site / posixpath.dirname(EXPLORER))
        if library is not None:
            library.finished().rename(site / posixpath.dirname(API))
        target = room / "site"
        shutil.rmtree(target, ignore_errors=True)
        site.rename(target)
        return target / "index.html"


def _gather(house: House, found: Contents, folder: Path) -> None:
    """Writes the pages, the sources that they link to, figures, and what all pages load."""
    shutil.rmtree(folder, ignore_errors=True)
    linked = Links(found)
    for page in found.pages:
        guest = found.guest_of(page)
        text = files.read(house.root / page, page) + in_explorer(page)
        text = markdown.converted(page, text, linked.on(page), linked.picture_on(page),
                                  NOT_COMMITTED.format(guest) if guest else "")
        _put(folder / page, text)
    for name, text in sources.pages(house.root, linked.sources).items():
        _put(folder / name, text)
    for name in sorted(linked.copied):
        _copy(house.root / name, folder / name)
    for name, text in figures.scripts(house, found).items():
        _put(folder / name, text)
    for asset in sorted(ASSETS.iterdir()):
        _copy(asset, folder / "assets" / asset.name)


def in_explorer(page: str) -> str:
    """The end of a lesson and of a report: where its numbers can be chosen and compared."""
    match page.split("/"):
        case ["experiments", name, "README.md" | "report.md"]:
            return IN_EXPLORER.format(f"../../{EXPLORER}#e={name}")
    return ""


def _hand_out(handouts: Mapping[str, str], folder: Path) -> None:
    """Writes what students of each kit read, whose links lead to files beside it."""
    graded = rehearsed(handouts)
    for name, text in handouts.items():
        page, notice = contents.handout(name), HANDED_OUT
        if name in graded:
            notice += "\n" + GRADED.format(name=name, machine=graded[name]["machine"])
        _put(folder / page, markdown.converted(page, text, str, lambda target: False, notice))


def rehearsed(names: Iterable[str]) -> dict[str, dict[str, Any]]:
    """What `just rehearse` said of the classes of some kits, and on which machine."""
    return {name: files.read_json(path) for name in names
            if (path := REHEARSED / f"{name}.json").exists()}


def _put(path: Path, text: str) -> None:
    """Writes a file of the work folder, which nobody reads before all are there: without the care
    of `files.write`, which waits for the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())


def _copy(source: Path, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, path)


class Links:
    """Where links lead in the site; keeps which sources and pictures it has to have for them."""

    def __init__(self, found: Contents) -> None:
        self.root, self.pages = found.root, {*found.pages}
        self.sources: set[str] = set()
        self.copied: set[str] = set()

    def on(self, page: str) -> markdown.Linked:
        """What links of a page become."""
        return lambda target: self._linked(page, target)

    def picture_on(self, page: str) -> Callable[[str], bool]:
        """Notes a picture of a page as one that the site has; whether it can be drawn again."""
        def picture(target: str) -> bool:
            path = self._path(page, target)
            self.copied.add(path)
            return (self.root / path).with_suffix(figures.SPECIFICATION).is_file()
        return picture

    def _path(self, page: str, target: str) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
        if path.startswith("..") or not (self.root / path).exists():
            raise UserError(f"{page}: found a link to {target}, expected a file of the tree")
        return path

    def _linked(self, page: str, target: str) -> str:
        file, _, place = target.partition("#")
        if not file or re.match(r"[a-z]+:", file):
            return target
        path = self._path(page, _of_note(page, file))
        if path in self.pages:
            return _relative(page, path) + (f"#{place}" if place else "")
        if path.endswith(".svg"):
            self.copied.add(path)
            return file
        if handout := contents.handout_of(path):
            return _relative(page, handout)
        self.sources.add(path)
        return _relative(page, sources.page_of(path, (self.root / path).is_dir()))


def _of_note(page: str, file: str) -> str:
    """Notes stand in reports, and link to reports of other runs: here to the notes on these."""
    if "/notes/" in page and re.fullmatch(r"[^/]+--[^/]+\.md", file):
        return file.replace("--", "@")
    return file


def _relative(page: str, path: str) -> str:
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


# --- the generator --------------------------------------------------------------------------------


def _generated(work: Path, nav: contents.Nav) -> Path:
    """The folder of pages that the generator makes. Raises `UserError` with the first thing that it
    complains of: in strict mode a warning is an error."""
    site = work / "site"
    shutil.rmtree(site, ignore_errors=True)
    files.write_json(work / "mkdocs.yml", {**CONFIG, "nav": nav})  # JSON is YAML
    done = subprocess.run([sys.executable, "-m", "zensical", "build", "--strict", "--config-file",
                           "mkdocs.yml"], cwd=work, capture_output=True, encoding="utf-8",
                          check=False)
    if done.returncode:
        raise UserError(complaint(done.stdout + done.stderr))
    for extra in ("404.html", "sitemap.xml", "search.json"):  # for servers alone
        (site / extra).unlink(missing_ok=True)
    return site


def complaint(said: str) -> str:
    """One line for what the generator said before it gave up; it counts the lines of its own copy,
    so that the line's text tells the place."""
    said = COLOURS.sub("", said)
    if warning := WARNING.search(said):
        return f"{warning['where']}: {warning['what']}: {warning['line'].strip()}"
    return f"zensical: {(said.strip().splitlines() or ['ended without a word'])[-1]}"

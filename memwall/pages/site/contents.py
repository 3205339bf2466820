"""Which pages of the tree the site has, and how its navigation lists them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.pages.book import WOVEN, House
from memwall.pages.site.markdown import told_by
from memwall.record import files

HAND = "memwall/pages/site"
#: What is a page, below the root.
PATTERNS = ("*.md", "experiments/**/*.md", "reports/**/*.md", "lib/**/*.md",
            "memwall/pages/README.md", f"{HAND}/*.md")
API, EXPLORER = "api/index.html", "explorer/index.html"
#: Pages by hand on how to use memwall, in their order; those for lecturers begin with `teach`, and
#: all others are for contributors and referees.
RUN = ("run", "your-own", "library")
TEACH = "teach"
#: Pages for contributors beside these, in their order.
FOR_CONTRIBUTORS = ("CONTRIBUTING.md", "memwall/pages/README.md", "lib/spmv/formats/README.md",
                    "CHANGELOG.md", "SECURITY.md")

Nav = list[Any]  # an address, {title: address} or {title: Nav}


@dataclass(frozen=True)
class Contents:
    """The pages by their paths, and the machines that did not come with the tree."""

    root: Path
    pages: tuple[str, ...]
    guests: tuple[str, ...]

    def guest_of(self, page: str) -> str:
        """The machine that a page is about, if it did not come with the tree."""
        folder = page.split("/")
        return folder[2] if page.startswith(f"{WOVEN}/") else (
            folder[1] if folder[0] == "reports" and folder[1] in self.guests else "")


def read(root: Path, guests: Iterable[str] = ()) -> Contents:
    """All pages of a tree, and those that `just report MACHINE` wove of guests."""
    guests = tuple(guests)
    patterns = [*PATTERNS, *(f"{WOVEN}/{guest}/*.md" for guest in guests)]
    found = {path.relative_to(root) for pattern in patterns for path in root.glob(pattern)}
    pages = sorted(path.as_posix() for path in found if "results" not in path.parts)
    return Contents(root, tuple(page for page in pages if not handout_of(page)), guests)


def title(root: Path, page: str) -> str:
    """The first heading of a page; of notes, which have none, what they are about."""
    for line in files.read(root / page, page).splitlines():
        if line.startswith("# "):
            return re.sub(r"[`*]", "", line[2:])
    return told_by(page)


# --- the navigation -------------------------------------------------------------------------------


def handout(name: str) -> str:
    """The page of what students read of a kit."""
    return f"handouts/{name}.md"


def handout_of(path: str) -> str | None:
    """The handout of the kit that a path lies in: all that the site shows of one, as it holds the
    model solution and the hidden cases."""
    found = re.match(r"experiments/([^/]+)/kit(-[^/]+)?(?:/|$)", path)
    return handout(found[1] + (found[2] or "")) if found else None


def navigation(contents: Contents, house: House, has_api: bool, handouts: Mapping[str, str]) -> Nav:
    """What the site lists, in reading order."""
    run, teach, more = by_hand(contents)
    numbers = house.reading.numbers
    order = {name: (numbers[_chapter(name, numbers)], name) for name in handouts}
    teach += [{f"Handout: {heading(handouts[name])}": handout(name)}
              for name in sorted(handouts, key=order.__getitem__)]
    return [
        {"Home": "README.md"},
        *([{"Run it": run}] if run else []),
        {"The book": _book(contents, house)},
        {"Machines": machines(contents)},
        {"Explorer": EXPLORER},
        *([{"Teach": teach}] if teach else []),
        *([{"API": API}] if has_api else []),
        {"Contribute": [*_there(contents, FOR_CONTRIBUTORS), *more]},
    ]


def heading(text: str) -> str:
    """The title of a page, which is its first line."""
    return text.partition("\n")[0].removeprefix("# ")


def _chapter(kit: str, chapters: Iterable[str]) -> str:
    """The chapter whose experiment a kit belongs to: its name begins with that of it."""
    return max((name for name in chapters if kit.startswith(name)), key=len)


def _there(contents: Contents, pages: Iterable[str]) -> list[str]:
    return [page for page in pages if page in contents.pages]


def by_hand(contents: Contents) -> tuple[Nav, Nav, Nav]:
    """The pages of this room: how to use memwall, for lecturers, and the others by name."""
    named = {Path(page).stem: page for page in contents.pages if Path(page).parent == Path(HAND)}
    run: Nav = [named.pop(name) for name in RUN if name in named]
    teach: Nav = [named.pop(name) for name in sorted(named) if name.startswith(TEACH)]
    return run, teach, [named[name] for name in sorted(named)]


def _book(contents: Contents, house: House) -> Nav:
    chapters: Nav = []
    numbers, titles = house.reading.numbers, house.reading.titles
    for name in sorted(numbers, key=lambda each: numbers[each]):
        folder = f"experiments/{name}"
        parts: Nav = [{told: page} for told, page in (
            ("Lesson", f"{folder}/README.md"), ("Report", f"{folder}/report.md"),
            ("Answers", f"{folder}/answers.md")) if page in contents.pages]
        chapters.append({f"{numbers[name]} {titles[name]}": parts})
    return [*_there(contents, ["experiments/README.md"]), *chapters,
            *_there(contents, ["experiments/glossary.md"])]


def machines(contents: Contents) -> Nav:
    """The scorecard, what came with the tree, and what did not."""
    found: Nav = [{told: page} for told, page in (
        ("Scorecard", "reports/README.md"), ("The articles", "reports/articles.md"))
        if page in contents.pages]
    own = {page.split("/")[1]: page for page in contents.pages
           if re.fullmatch(r"reports/[^/]+/README\.md", page) and not contents.guest_of(page)}
    for name, page in sorted(own.items()):
        notes: Nav = [{f"Notes: {title(contents.root, each)}": each} for each in contents.pages
                      if each.startswith(f"reports/{name}/notes/")]
        found.append({name: [{"What it measured": page}, *notes] if notes else page})
    for guest in contents.guests:
        folder = f"{WOVEN}/{guest}/"
        pages = [page for page in contents.pages if page.startswith(folder)]
        if f"{folder}README.md" in pages:
            pages.remove(f"{folder}README.md")
            reports: Nav = [{title(contents.root, page).removeprefix("Report: ").partition(":")[0]:
                             page} for page in pages]
            found.append({f"{guest} (not committed)":
                          [{"All its reports": f"{folder}README.md"}, *reports]})
    return found

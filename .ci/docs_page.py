#!/usr/bin/env python3
"""Prints a Markdown page of this repository as Doxygen understands it: `.ci/docs_page.py FILE.md`.

A repository browser takes a page's address from its path and that of a section from its heading;
Doxygen gets both as explicit labels, and what it would read in another way becomes HTML. Both show
the same page.
"""

import posixpath
import re
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("lib", "experiments", "reports")  # what is a page: as INPUT of the Doxyfile says
NO_ROOMS = ("kit",)  # and its EXCLUDE_PATTERNS

COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
FOLD = re.compile(r"<details>\s*<summary>.*?</summary>|</details>")
HEADING = re.compile(r"^(#{2,6}) +(.+?) *$", re.MULTILINE)
STRONG = re.compile(r"(?<![\\*])\*\*(?=[^\s*])((?:(?!\n\n).)+?)(?<=[^\s*\\])\*\*", re.DOTALL)
EMPHASIS = re.compile(r"(?<![\\*\w])\*(?=[^\s*])((?:(?!\n\n)[^*])+?)(?<=[^\s*\\])\*(?![*\w])")
DIFF = re.compile(r"^```diff\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def label(page: str) -> str:
    """The address of a page: `reports/box/README.md` is `reports-box`."""
    if page == "README.md":
        return "index"
    name = page.removesuffix(".md").removesuffix("/README")
    return re.sub(r"[^a-z0-9]+", "-", name.lower())


def is_page(path: str) -> bool:
    """Whether the site has a page of a file of this tree."""
    rooms = path.split("/")[:-1]
    wanted = rooms[0] in ROOMS if rooms else path in ("README.md", "CONTRIBUTING.md")
    return (wanted and not set(rooms) & set(NO_ROOMS)
            and path.endswith(".md") and (ROOT / path).is_file())


def anchor(page: str, place: str) -> str:
    """The name of a place, which a site has only once: all chapters have a section `Runs`."""
    return f"{label(page)}_{re.sub('[^a-z0-9_-]+', '', place.lower())}"


def slug(heading: str) -> str:
    """The place that a repository browser makes of a heading."""
    words = LINK.sub(lambda match: match[1], heading)
    return re.sub(r"[^\w -]", "", words).strip().lower().replace(" ", "-")


def linked(page: str, text: str, target: str) -> str:
    """A link to another page or a place in it; only its text where the site has no such page."""
    file, _, place = target.partition("#")
    if "://" in file:
        return f"[{text}]({target})"
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file)) if file else page
    if is_page(path):
        where = f"#{anchor(path, place)}" if place else ""
        text = text.replace("@", "\\@")
        return f'<a href="{label(path)}.html{where}">{text}</a>'
    if path.endswith(".svg"):
        return f'<a href="{path}">{text}</a>'
    return text


def shown(page: str, text: str, target: str) -> str:
    """A picture; figures are copied to the same path in the site."""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return f'<img src="{path}" alt="{text.replace(chr(34), "&quot;")}"/>'


def folded(match: re.Match[str]) -> str:
    """The begin or the end of a folded part, which Doxygen would close too early."""
    return f"\n\\htmlonly[block]\n{match[0]}\n\\endhtmlonly\n\n"


def compared(match: re.Match[str]) -> str:
    """A listing of changes, with new and old lines in colours, for which Doxygen has none."""
    kinds = {"+": "new", "-": "old"}
    rows = [f'<span class="{kinds.get(line[:1], "same")}">{escape(line)}</span>'
            for line in match[1].splitlines()]
    listing = "\n".join(rows)
    return f'\\htmlonly[block]\n<pre class="fragment changes">{listing}</pre>\n\\endhtmlonly'


def titled(page: str, text: str) -> str:
    """The page, which gets a title if it has none: notes on a run have only text."""
    if text.startswith("# "):
        return text
    path = Path(page)
    machine = path.parent.parent.name
    return f"# {machine}: notes on {path.stem.replace('@', ', ')}\n\n{text}"


def converted(page: str, text: str) -> str:
    """A page with labels, links, pictures and anchors in Doxygen's way; code is left as it is."""
    code: list[str] = []
    taken: dict[str, int] = {}

    def stash(match: re.Match[str]) -> str:
        code.append(DIFF.sub(compared, match[0]))
        return f"\0{len(code) - 1}\0"

    def restored(text: str) -> str:
        return re.sub("\0(\\d+)\0", lambda match: code[int(match[1])], text)

    def labelled(match: re.Match[str]) -> str:
        place = slug(restored(match[2]))
        again = taken.get(place, 0)
        taken[place] = again + 1
        name = anchor(page, f"{place}-{again}" if again else place)
        level = f"h{len(match[1])}"
        return f'<{level}><a name="{name}"></a>{match[2]}</{level}>'

    text = titled(page, COMMENT.sub("", CODE.sub(stash, text)).lstrip())
    text = HEADING.sub(labelled, text)
    text = PICTURE.sub(lambda match: shown(page, *match.groups()), text)
    text = LINK.sub(lambda match: linked(page, *match.groups()), text)
    text = FOLD.sub(folded, text)
    text = STRONG.sub(r"<b>\1</b>", text)
    text = EMPHASIS.sub(r"<em>\1</em>", text)
    text = ANCHOR.sub(lambda match: f'<a name="{anchor(page, match[1])}"></a>', text)
    title, newline, rest = restored(text).partition("\n")
    page_label = "mainpage" if page == "README.md" else label(page)
    plain_title = title.replace("`", "")
    return f"{plain_title} {{#{page_label}}}{newline}{rest}"


def main() -> None:
    """Converts the file that the command line names."""
    file = Path(sys.argv[1]).resolve()
    print(converted(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8")), end="")


if __name__ == "__main__":
    main()

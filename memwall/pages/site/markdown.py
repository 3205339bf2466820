"""A Markdown page of this repository as the site's generator reads it.

A repository browser (GitHub's Markdown) and the generator (Python-Markdown) differ in few things:
the name of a section's place, how far nested lists are indented, and that what stands in HTML is
Markdown only where it says so. Both show the same page. By hand: a few lines change, where a parser
of Markdown would write the whole page anew.
"""

import re
import textwrap
from collections.abc import Callable
from pathlib import Path

COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
CODE = re.compile(r"^(?P<margin> *)```.*?^(?P=margin)```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
ITEM = re.compile(r"(?:[-*+]|\d+\.) +")
STASHED = re.compile("^( *)\0(\\d+)\0$|\0(\\d+)\0", re.MULTILINE)
STEP = 4  # columns that a list within a list is indented by

#: What a link is to lead to, by what it says.
Linked = Callable[[str], str]


def converted(page: str, text: str, linked: Linked, live: Callable[[str], bool],
              notice: str = "") -> str:
    """The page of a path: places, lists, folded parts, links and figures in the generator's way;
    below its title the notice, if there is one. Code is left as it is. A picture is marked if it is
    `live`: the page can draw it again."""
    code: list[str] = []
    taken: dict[str, int] = {}

    def stash(match: re.Match[str]) -> str:
        margin = match["margin"] or ""
        code.append(textwrap.dedent(match[0]) if margin else match[0])
        return f"{margin}\0{len(code) - 1}\0"

    def restored(match: re.Match[str]) -> str:
        told = code[int(match[2] or match[3])]
        return textwrap.indent(told, match[1] or "")

    def placed(match: re.Match[str]) -> str:
        place = slug(STASHED.sub(restored, match[2]))
        again = taken.get(place, 0)
        taken[place] = again + 1
        return f"{match[0].rstrip()} {{ #{place}{f'-{again}' if again else ''} }}"

    def link(match: re.Match[str]) -> str:
        return f"[{match[1]}]({linked(match[2])})"

    def picture(match: re.Match[str]) -> str:
        mark = "{ .live }" if live(match[2]) else ""
        return f'<span class="figure">{match[0]}{mark}</span>'

    text = titled(page, COMMENT.sub("", CODE.sub(stash, text)).lstrip())
    title, _, rest = text.partition("\n")
    text = HEADING.sub(placed, f"{title}\n\n{notice}\n{rest}" if notice else text)
    text = text.replace("<details>", '<details markdown="1">')
    text = text.replace("<summary>", '<summary markdown="span">')
    text = LINK.sub(link, indented(text))
    text = PICTURE.sub(picture, text)
    return STASHED.sub(restored, text)


def titled(page: str, text: str) -> str:
    """The page, which gets a title if it has none: notes on a run have only text."""
    if text.startswith("# "):
        return text
    return f"# {Path(page).parent.parent.name}: notes on {told_by(page)}\n\n{text}"


def told_by(page: str) -> str:
    """The experiment, and the title of the run if it was kept, that notes are about."""
    return Path(page).stem.replace("@", ", ")


def slug(heading: str) -> str:
    """The place that a repository browser makes of a heading."""
    words = LINK.sub(r"\1", heading)
    return re.sub(r"[^\w -]", "", words).strip().lower().replace(" ", "-")


def indented(text: str) -> str:
    """Lists within lists, and what else belongs to an item, as far to the right as the generator
    wants it: an item's own text may begin at any column."""
    lines: list[str] = []
    begins: list[int] = []  # the columns at which the text of open items begins
    blank = True
    for line in text.split("\n"):
        column = len(line) - len(line.lstrip(" "))
        is_code = not begins and column >= STEP
        item = None if is_code else ITEM.match(line[column:])
        if item and not begins and not blank:
            lines.append("")
        if line.strip() and (item or blank):
            while begins and column < begins[-1]:
                begins.pop()
        left = begins[-1] if begins else 0
        moved = STEP * len(begins) + column - left if column >= left else column
        lines.append(" " * moved + line[column:] if line.strip() else "")
        if item and column - left < STEP:
            begins.append(column + len(item[0]))
        blank = not line.strip()
    return "\n".join(lines)

#!/usr/bin/env python3
"""Prints the layout of the Doxygen site: what its navigation lists, in which order."""

from pathlib import Path
from xml.sax.saxutils import quoteattr

import docs_page

ROOT = Path(__file__).resolve().parents[1]


def title(page: Path) -> str:
    """The title of a page: `# Serial SpMV: how far...` is `Serial SpMV`."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            return line[2:].partition(":")[0].replace("`", "")
    raise SystemExit(f"{page}: no title")


def tab(page: Path, name: str) -> str:
    """A line of the navigation that opens a page."""
    label = docs_page.label(page.relative_to(ROOT).as_posix())
    return f'<tab type="user" url="@ref {label}" title={quoteattr(name)}/>'


def tabs(pages: list[Path]) -> str:
    """Lines for some pages, under their own titles."""
    return "\n".join(tab(page, title(page)) for page in pages)


def layout() -> str:
    """The whole layout; of what it does not name, Doxygen's own stays."""
    return f"""<doxygenlayout version="1.0">
<navindex>
<tab type="mainpage" visible="no" title=""/>
<tab type="usergroup" title="Chapters">
{tabs(sorted(ROOT.glob("experiments/*/README.md")))}
</tab>
{tab(ROOT / "reports/README.md", "Scorecard")}
<tab type="usergroup" title="Machines">
{tabs(machines())}
</tab>
{tab(ROOT / "reports/articles.md", "The articles")}
{tab(ROOT / "CONTRIBUTING.md", "Contributing")}
<tab type="usergroup" title="API">
<tab type="namespaces" title="Namespaces"><tab type="namespacelist" title="" intro=""/></tab>
<tab type="classes" title="Classes"><tab type="classlist" title="" intro=""/></tab>
<tab type="files" title="Files"><tab type="filelist" title="" intro=""/></tab>
</tab>
</navindex>
</doxygenlayout>"""


def machines() -> list[Path]:
    """The pages of machines: of all folders of reports/ that hold results."""
    return sorted(path for path in ROOT.glob("reports/*/README.md")
                  if (path.parent / "results").is_dir())


if __name__ == "__main__":
    print(layout())

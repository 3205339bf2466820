"""`.ci/docs-page`: GitHub's Markdown in Doxygen's way."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest


def load() -> ModuleType:
    loader = SourceFileLoader("docs_page", str(Path(__file__).with_name("docs-page")))
    spec = spec_from_loader("docs_page", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


docs_page = load()


@pytest.mark.parametrize(("page", "expected"), [
    ("README.md", "index"),
    ("reports/README.md", "reports"),
    ("reports/my-box/README.md", "reports-my-box"),
    ("reports/my-box/spmv-serial.md", "reports-my-box-spmv-serial"),
])
def test_the_label_of_a_page_is_its_path(page: str, expected: str) -> None:
    assert docs_page.label(page) == expected


def convert(text: str, page: str = "reports/box/a.md") -> str:
    return docs_page.converted(page, f"# `T`\n{text}").partition("\n")[2]


def test_the_title_gets_the_label() -> None:
    text = docs_page.converted("reports/box/README.md", "<!-- woven -->\n# My `box`\n")
    assert text == "# My box {#reports-box}\n"


def test_links_lead_to_pages_of_the_site() -> None:
    assert convert("[up](../../README.md)") == '<a href="index.html">up</a>'
    assert convert("[here](../../README.md#a-b)") == '<a href="index.html#index-a-b">here</a>'
    assert convert("[out](https://host/x.md)") == "[out](https://host/x.md)"
    assert convert("[code](../../lib/meson.build)") == "code"
    assert convert("[`a.md`](../../README.md)") == '<a href="index.html">`a.md`</a>'


def test_figures_are_found_from_every_page() -> None:
    expected = '<img src="reports/box/figures/a.svg" alt="A caption."/>'
    assert convert("![A caption.](figures/a.svg)") == expected


def test_code_is_left_alone() -> None:
    code = "```cpp\na[i](b); // <!-- no --> [x](../../README.md)\n```"
    assert convert(code) == code
    assert convert("`[x](../../README.md)`") == "`[x](../../README.md)`"


def test_folded_parts_are_not_closed_early() -> None:
    text = convert("<details>\n<summary>More</summary>\n\n| a |\n\n</details>")
    assert "\\htmlonly[block]\n<details>\n<summary>More</summary>\n\\endhtmlonly\n\n" in text

"""`.ci/docs_page.py`: Markdown of repository browsers in Doxygen's way."""

import xml.etree.ElementTree as xml

import docs_layout
import docs_page
import pytest


@pytest.mark.parametrize(("page", "expected"), [
    ("README.md", "index"),
    ("reports/README.md", "reports"),
    ("reports/my-box/README.md", "reports-my-box"),
    ("experiments/spmv-serial/README.md", "experiments-spmv-serial"),
    ("reports/box/notes/spmv-serial@Large.md", "reports-box-notes-spmv-serial-large"),
])
def test_the_label_of_a_page_is_its_path(page: str, expected: str) -> None:
    assert docs_page.label(page) == expected


def convert(text: str, page: str = "experiments/a/README.md") -> str:
    return docs_page.converted(page, f"# `T`\n{text}").partition("\n")[2]


def test_the_title_gets_the_label() -> None:
    text = docs_page.converted("reports/box/README.md", "<!-- woven -->\n# My `box`\n")
    assert text == "# My box {#reports-box}\n"


def test_notes_get_a_title() -> None:
    text = docs_page.converted("reports/box/notes/spmv@mine.md", "<!-- run: 1 -->\nText.\n")
    assert text == "# box: notes on spmv, mine {#reports-box-notes-spmv-mine}\n\nText.\n"


def test_links_lead_to_pages_of_the_site() -> None:
    assert convert("[up](../../README.md)") == '<a href="index.html">up</a>'
    assert convert("[here](../../README.md#a-b)") == '<a href="index.html#index_a-b">here</a>'
    assert convert("[b@c](../../README.md)") == '<a href="index.html">b\\@c</a>'
    assert convert("[out](https://host/x.md)") == "[out](https://host/x.md)"
    assert convert("[code](../../lib/meson.build)") == "code"
    assert convert("[the weaver](../../memwall/pages/README.md)") == "the weaver"
    assert convert("[`a.md`](../../README.md)") == '<a href="index.html">`a.md`</a>'


def test_sections_have_the_places_that_links_name() -> None:
    text = convert("## The `x`, 2nd\n\n### Runs\n\n### Runs\n", "README.md")
    assert '<h2><a name="index_the-x-2nd"></a>The `x`, 2nd</h2>' in text
    assert '<h3><a name="index_runs"></a>Runs</h3>' in text
    assert '<h3><a name="index_runs-1"></a>Runs</h3>' in text
    link = convert("[x](#the-x-2nd)", "README.md")
    assert link == '<a href="index.html#index_the-x-2nd">x</a>'


def test_claims_have_the_places_that_links_name() -> None:
    cell = '| <a id="claim-1-x"></a>It is fast |'
    assert convert(cell) == '| <a name="experiments-a_claim-1-x"></a>It is fast |'
    assert 'a name="index_claim-1-x"' in convert(cell, "README.md")
    link = convert("[x](../../README.md#claim-1-x)")
    assert link == '<a href="index.html#index_claim-1-x">x</a>'


@pytest.mark.parametrize(("text", "expected"), [
    ("**`static` is slow.** Or not.", "<b>`static` is slow.</b> Or not."),
    ("*one [x](../../README.md).*", '<em>one <a href="index.html">x</a>.</em>'),
    ("*over\ntwo lines*", "<em>over\ntwo lines</em>"),
    ("**[x](../../README.md)** and *y*", '<b><a href="index.html">x</a></b> and <em>y</em>'),
    ("| **A** | *b* |", "| <b>A</b> | <em>b</em> |"),
    ("* a\n* b\n", "* a\n* b\n"),
    ("2 * 3 * 4, a*b*c", "2 * 3 * 4, a*b*c"),
    ("*a\n\nb*", "*a\n\nb*"),
])
def test_emphasis_may_hold_code_and_links(text: str, expected: str) -> None:
    assert convert(text) == expected


def test_figures_are_found_from_every_page() -> None:
    expected = '<img src="experiments/a/figures/a.svg" alt="A caption."/>'
    assert convert("![A caption.](figures/a.svg)") == expected


def test_code_is_left_alone() -> None:
    code = "```cpp\na[i](b); // <!-- no --> [x](../../README.md)\n```"
    assert convert(code) == code
    assert convert("`[x](../../README.md)`") == "`[x](../../README.md)`"


def test_changes_have_colours() -> None:
    assert convert("```diff\n a<b>\n-c;\n+d;\n```").splitlines() == [
        "\\htmlonly[block]",
        '<pre class="fragment changes"><span class="same"> a&lt;b&gt;</span>',
        '<span class="old">-c;</span>',
        '<span class="new">+d;</span></pre>',
        "\\endhtmlonly",
    ]


def test_folded_parts_are_not_closed_early() -> None:
    text = convert("<details>\n<summary>More</summary>\n\n| a |\n\n</details>")
    assert "\\htmlonly[block]\n<details>\n<summary>More</summary>\n\\endhtmlonly\n\n" in text


def test_parts_may_be_folded_within_folded_parts() -> None:
    text = convert("<details>\n<summary>A</summary>\n\n<details><summary>B</summary>\n\nC\n\n"
                   "</details>\n\n</details>")
    assert text.count("\\htmlonly[block]\n</details>\n\\endhtmlonly") == 2


def test_the_navigation_lists_chapters_and_machines() -> None:
    groups = {tab.get("title"): [line.get("url") for line in tab]
              for tab in xml.fromstring(docs_layout.layout()).findall("navindex/tab")}
    assert "@ref experiments-spmv-serial-steps" in groups["Chapters"]
    assert "@ref reports-amd-epyc-2c" in groups["Machines"]
    assert {"Scorecard", "The articles", "Contributing", "API"} <= set(groups)

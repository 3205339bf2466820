"""The site: pages as its generator reads them, where links lead, what the navigation lists."""

import json
import re
from pathlib import Path

import pytest

from memwall.pages import grades
from memwall.pages.site import build, contents, markdown, sources
from memwall.pages.site.contents import Contents
from memwall.record import files, kits, machines
from memwall.record.errors import UserError
from memwall.record.sources import REPOSITORY

PAGE = "experiments/a/README.md"


def convert(text: str, page: str = PAGE, notice: str = "") -> str:
    told = markdown.converted(page, f"# `T`\n{text}", lambda target: f"<{target}>",
                              lambda target: "live" in target, notice)
    return told.partition("\n")[2].lstrip("\n")


def test_sections_have_the_places_that_a_repository_browser_gives_them() -> None:
    text = convert("## The `x`, 2nd\n\n### Runs\n\n### Runs\n")
    assert "## The `x`, 2nd { #the-x-2nd }\n" in text
    assert "### Runs { #runs }\n" in text
    assert "### Runs { #runs-1 }\n" in text


def test_what_is_folded_is_markdown() -> None:
    text = convert("<details>\n<summary>`x`</summary>\n\n- one\n\n</details>\n")
    assert text == ('<details markdown="1">\n<summary markdown="span">`x`</summary>\n\n- one\n\n'
                    "</details>\n")


@pytest.mark.parametrize(("text", "expected"), [
    ("- a\n  - b\n    - c\n\n  d\n", "- a\n    - b\n        - c\n\n    d\n"),
    ("1. a\n\n   more\n\n       code\n2. b\n", "1. a\n\n    more\n\n        code\n2. b\n"),
    ("- a\n\nText.\n\n    code\n", "- a\n\nText.\n\n    code\n"),
    ("Text:\n- a\n- b\n", "Text:\n\n- a\n- b\n"),
    ("Sum:\n\n    a\n    + b\n    + c\n", "Sum:\n\n    a\n    + b\n    + c\n"),  # code, no items
    ("1. a\n   ```cpp\n   if (x)\n     y();\n   ```\n",
     "1. a\n    ```cpp\n    if (x)\n      y();\n    ```\n"),
])
def test_lists_are_indented_as_the_generator_wants_it(text: str, expected: str) -> None:
    assert convert(text) == expected


def test_code_is_left_as_it_is() -> None:
    code = "```\n# no heading\n[no](link)\n<details>\n```\n"
    assert convert(code) == code
    assert convert("`[no](link)`\n") == "`[no](link)`\n"


def test_links_and_pictures() -> None:
    assert convert("[x](y.md#z)") == "[x](<y.md#z>)"
    assert convert("![x](still.svg)") == '<span class="figure">![x](still.svg)</span>'
    assert convert("![x](live.svg)") == '<span class="figure">![x](live.svg){ .live }</span>'


def test_notes_get_a_title_and_guests_a_notice() -> None:
    text = markdown.converted("reports/box/notes/spmv@mine.md", "<!-- run: 1 -->\nText.\n",
                              str, lambda target: False, "!!! warning")
    assert text.startswith("# box: notes on spmv, mine { #box-notes-on-spmv-mine }\n\n!!! warning")
    assert "Text." in text


@pytest.mark.parametrize(("page", "has"), [
    ("experiments/a/README.md", True), ("experiments/a/report.md", True),
    ("experiments/a/answers.md", False), ("experiments/README.md", False),
    ("reports/box/README.md", False), ("README.md", False)])
def test_lessons_and_reports_lead_to_the_explorer(page: str, has: bool) -> None:
    assert ('href="../../explorer/index.html#e=a"' in build.in_explorer(page)) is has


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in {
        "README.md": "# Home\n", PAGE: "# A\n", "lib/x.cpp": "int x;\n",
        "experiments/a/kit/README.md": "# For students\n", "experiments/a/kit/y.hpp": "int y;\n",
        "experiments/a/figures/f.svg": "<svg/>", "experiments/a/figures/f.vl.json": "{}",
        "reports/box/README.md": "# box\n", "reports/box/notes/spmv.md": "Text.\n",
        "reports/box/notes/spmv@mine.md": "Text.\n",
        "memwall/pages/site/artifact.md": "# Check\n",
        "memwall/pages/site/teach.md": "# Teach\n", "memwall/pages/site/run.md": "# Run\n",
        "memwall/pages/site/teach-kits.md": "# Kits\n",
        "build/reports/mine/README.md": "# mine\n", "build/reports/mine/a.md": "# Report: A: x\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_pages_are_those_of_the_tree_and_of_guests(tree: Path) -> None:
    assert contents.read(tree).pages == (
        "README.md", PAGE, *(f"memwall/pages/site/{name}.md"
                             for name in ("artifact", "run", "teach-kits", "teach")),
        "reports/box/README.md", "reports/box/notes/spmv.md",
        "reports/box/notes/spmv@mine.md")
    found = contents.read(tree, ["mine"])
    assert "build/reports/mine/a.md" in found.pages
    assert found.guest_of("build/reports/mine/a.md") == "mine"
    assert found.guest_of("reports/box/README.md") == ""
    assert found.guest_of("README.md") == ""


def linked(tree: Path, page: str, target: str) -> str:
    return build.Links(contents.read(tree)).on(page)(target)


@pytest.mark.parametrize(("page", "target", "expected"), [
    (PAGE, "../../README.md#x", "../../README.md#x"),
    (PAGE, "#x", "#x"),
    (PAGE, "https://host/x", "https://host/x"),
    (PAGE, "../../lib/x.cpp", "../../source/lib/x.cpp.md"),
    (PAGE, "kit/", "../../handouts/a.md"),
    (PAGE, "kit/README.md", "../../handouts/a.md"),
    (PAGE, "figures/f.svg", "figures/f.svg"),
    ("reports/box/notes/spmv.md", "spmv--mine.md", "spmv@mine.md"),
])
def test_links_lead_to_pages_sources_and_pictures(tree: Path, page: str, target: str,
                                                  expected: str) -> None:
    assert linked(tree, page, target) == expected


@pytest.mark.parametrize("target", ["nothing.md", "../../../outside.md"])
def test_a_link_to_nothing_is_an_error(tree: Path, target: str) -> None:
    with pytest.raises(UserError, match=f"{PAGE}: found a link to {target}, expected a file"):
        linked(tree, PAGE, target)


def test_a_picture_with_a_specification_is_live(tree: Path) -> None:
    links = build.Links(contents.read(tree))
    assert links.picture_on(PAGE)("figures/f.svg")
    (tree / "experiments/a/figures/f.vl.json").unlink()
    assert not links.picture_on(PAGE)("figures/f.svg")
    assert links.copied == {"experiments/a/figures/f.svg"}


def test_a_folder_of_sources_has_a_page_for_each_file(tree: Path) -> None:
    (tree / "lib/input.bin").write_bytes(b"\0\1")
    pages = sources.pages(tree, {"lib"})
    assert set(pages) == {f"source/lib/{name}.md" for name in ("index", "x.cpp")}
    assert "[x.cpp](x.cpp.md)" in pages["source/lib/index.md"]
    assert "cpp\nint x;\n" in pages["source/lib/x.cpp.md"]


def test_of_a_kit_only_the_handout_is_shown(tree: Path) -> None:
    """The model solution and the hidden cases lie beside it."""
    shown = [*sources.pages(tree, {"experiments", "experiments/a"}), *contents.read(tree).pages]
    assert "source/experiments/a/README.md.md" in shown
    assert not [page for page in shown if "kit/" in page]


def test_pages_by_hand_and_guests_stand_in_the_navigation(tree: Path) -> None:
    found: Contents = contents.read(tree, ["mine"])
    assert [[Path(page).stem for page in tab] for tab in contents.by_hand(found)] == [
        ["run"], ["teach", "teach-kits"], ["artifact"]]
    shown = json.dumps(contents.machines(found))
    assert '{"What it measured": "reports/box/README.md"}' in shown
    assert '{"mine (not committed)": [' in shown
    assert '{"A": "build/reports/mine/a.md"}' in shown


def test_what_the_generator_complains_of_is_one_line() -> None:
    said = ("Build started\n\x1b[33mWarning:\x1b[0m anchor does not exist\n"
            "     ╭─[ experiments/a/README.md:213:45 ]\n     │\n"
            " 213 │     verify [yours](../../README.md#gone).\n     │      ┬\n─────╯\n"
            "1 issue found\n")
    assert build.complaint(said) == ("experiments/a/README.md: anchor does not exist:"
                                     " verify [yours](../../README.md#gone).")
    assert build.complaint("Traceback\nRuntimeError: x\n") == "zensical: RuntimeError: x"
    assert build.complaint("") == "zensical: ended without a word"


@pytest.mark.parametrize("path", sorted(build.REHEARSED.glob("*.json")), ids=lambda path: path.stem)
def test_a_class_that_is_shown_was_asked_what_its_kit_asks(path: Path, tmp_path: Path) -> None:
    graded = files.read_json(path)
    kit = kits.load(kits.all_folders(REPOSITORY)[path.stem])
    assert graded["machine"] in machines.listed(REPOSITORY)
    asked = [case.name for case in kit.cases]
    assert all([one["name"] for one in record["outcomes"]] in ([], asked)
               for record in graded["records"])
    grades.write(kit, graded["records"], tmp_path)
    shown = {page.name for page in tmp_path.rglob("*") if page.is_file()}
    linked = re.findall(r'href="{name}/([^"]+)"', build.GRADED)
    assert {Path(link).name for link in linked} <= shown

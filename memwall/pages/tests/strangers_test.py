"""What strangers wrote: every text and every number of a result is made hostile in turn. Either the
file is refused in one line, or every page is woven, steady, and without markup of theirs."""

import copy
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from memwall.figures import sheet
from memwall.pages import book, parallel, weaving
from memwall.pages.survey import OnMachine
from memwall.record import definition, escape, results, sources
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.record.sources import Tree
from memwall.tests import synthetic

#: What a text may hold: HTML, Markdown, Doxygen, templates, terminals, directions, half a letter.
TEXTS = {
    "html": "<script>alert(1)</script>--><img src=x>&lt;",
    "markdown": "|` `` ```\n# x\n> [a](http://evil.example) ![b](//evil) [c]: //evil | ](x)",
    "template": "{{ 7 * 7 }}{% raw %} $x$ \\htmlonly @htmlonly www.evil.example",
    "terminal": "\x1b[31m\u202e\ud800\x00\u2028" + "\u5b57" * 40,
    "long": "x " * 2000,
    "stand-ins": "\ue03cscript\ue03e",
}
#: Numbers that a file may hold and no machine measures; those of `REFUSED` are too far off.
NUMBERS = (0, -1, 1e-30, 1e30)
REFUSED = (5e-324, -1e-31, 1e300, 10**40, -10**400, float("nan"))
#: What must stand in no page outside of listings.
MARKUP = re.compile(r"<(?:script|img)|\]\(|(?<!`)```(?!`)|\{\{|\{%|\\htmlonly|@htmlonly|://evil"
                    r"|www\.evil|[\x00-\x09\x0b-\x1f\u202e\ud800\u2028\ue000-\ue07f]")
FENCE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1$", re.DOTALL | re.MULTILINE)
#: Links of the weaver's own.
OURS = re.compile(r"\]\((?:\.\./|#|figures/|notes/|[\w-]+/README\.md|spmv-demo)[\w./#-]*\)")
Path_ = tuple[str | int, ...]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return synthetic.repository(tmp_path_factory.mktemp("tree"))


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are laid out, and their texts looked at; drawing them would take most of the time."""
    monkeypatch.setattr(sheet, "saved", lambda spec, title, about: f"<svg>{escape.opened(title)}")
    monkeypatch.setattr(parallel, "each", lambda work, items: [work(item) for item in items])


def rich() -> Json:
    """A result that has everything a result can have, of one launch and two matrices."""
    raw = synthetic.result(seed=3, rounds=3, threads=(1,))
    synthetic.add_gpus(raw, 1)
    kept = ("fem3", "random")
    for name in ("cases", "skipped"):
        raw[name] = [one for one in raw[name] if one["parameters"]["matrix"] in kept]
    raw["datasets"] = {name: raw["datasets"][name] for name in kept}
    for case in raw["cases"]:
        if case["verdict"]["status"] == "passed":
            case["setup"] |= {"counts": {"messages": 3}, "notes": ["a note"], "operand_bytes": 44.0}
            case["rounds"] = {"cycles": [5.0] * 3}
            case["timeline"] = [{"lane": "bus", "name": "up 0", "begin_s": 0, "end_s": 1e-3}]
            case["counters"] = {"tool": "ncu", "values": {"l2_sectors": 3}}
            case["work"]["operations"] = 4
    peak = {"name": "memory", "bytes_per_s": 1e10, "source": "data sheet"}
    raw["machine"] |= {"slug": "stranger-2c"}
    raw["machine"]["cpu"] |= {"peaks": [peak], "vendor": "amd", "family": 25, "model_number": 1}
    raw["launches"][0]["processors"] = {"busy_s": 1.0, "stolen_s": 0.1}
    return raw


def leaves(node: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def kind(path: Path_) -> str:
    """Where a leaf stands, whichever entry of a list it belongs to."""
    return ".".join("*" if isinstance(step, int) else step for step in path)


def of_kind(*kinds: str) -> Callable[[Path_, Any], bool]:
    """Leaves that stand in one of these places."""
    return lambda path, _: kind(path) in kinds


def spoiled(raw: Json, hostile: Any, chosen: Callable[[Path_, Any], bool]) -> Json:
    """A result in which the chosen leaves are replaced."""
    made = copy.deepcopy(raw)
    for path, value in list(leaves(made)):
        if chosen(path, value):
            node: Any = made
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = hostile
    return made


@cache
def known(tree: Path) -> tuple[Experiment, Tree, OnMachine]:
    """What stands in the tree, and what its lead machine measured, which nobody touches."""
    experiment, here = definition.load(tree, synthetic.NAME), sources.read_tree(tree)
    lead = results.of(synthetic.result(threads=(1,)), Path("lead.json"))
    return experiment, here, book.on_machine("example-2c", lead, experiment, here, "",
                                                partial=False)


def pages(tree: Path, raw: Json) -> weaving.Texts:
    """All pages that show a stranger's result, beside those of the lead machine."""
    experiment, here, lead = known(tree)
    stranger = book.on_machine("stranger-2c", results.of(raw, Path("r.json")), experiment, here,
                               "", partial=False)
    house = book.House(tree, here, (experiment,), (lead, stranger))
    return book.machine_pages(house, "stranger-2c") | book.overviews(house)


def is_refused(raw: Json) -> bool:
    try:
        results.validate(raw, "r.json")
    except UserError as error:
        assert str(error).startswith("r.json: $") and str(error).isprintable()
        return True
    return False


def require_harmless(texts: weaving.Texts) -> None:
    for name, text in texts.items():
        text.encode()
        if name.endswith(".md"):
            prose = OURS.sub("", FENCE.sub("", text))
            found = MARKUP.search(prose)
            assert not found, f"{name}: {prose[max(0, found.start() - 60):found.end() + 40]!r}"


BASE = rich()
KINDS = dict.fromkeys(kind(path) for path, value in leaves(BASE) if isinstance(value, str))
COUNTED = dict.fromkeys(kind(path) for path, value in leaves(BASE)
                        if isinstance(value, (int, float)) and not isinstance(value, bool))


@pytest.mark.parametrize("name", TEXTS)
def test_every_text_at_once(tree: Path, name: str) -> None:
    hostile = TEXTS[name]
    free = {each for each in KINDS
            if each not in ("run.experiment", "run.profile") and not is_refused(
                spoiled(BASE, hostile, of_kind(each)))}
    assert len(free) > 25
    raw = spoiled(BASE, hostile, of_kind(*free))
    assert not is_refused(raw)
    woven = pages(tree, raw)
    require_harmless(woven)
    if name == "markdown":
        assert woven == pages(tree, raw)


@pytest.mark.parametrize("where", ["datasets", "libraries", "excerpts"])
@pytest.mark.parametrize("name", ["html", "markdown", "terminal"])
def test_every_name(tree: Path, where: str, name: str) -> None:
    """Keys are shown too: of data sets, of libraries, of listings."""
    raw, hostile = copy.deepcopy(BASE), TEXTS[name]
    first = next(iter(raw[where]))
    raw[where] = {hostile if key == first else key: value for key, value in raw[where].items()}
    for case in [*raw["cases"], *raw["skipped"]]:
        case["parameters"] = {key: hostile if (where, value) == ("datasets", first) else value
                              for key, value in case["parameters"].items()}
        if where == "excerpts" and case.get("excerpt") == first:
            case["excerpt"] = hostile
    assert not is_refused(raw)
    require_harmless(pages(tree, raw))


@pytest.mark.parametrize("number", NUMBERS)
def test_every_number(tree: Path, number: float) -> None:
    """Each by itself is refused or shown; all that may stand there at once too."""
    free = {each for each in COUNTED if not is_refused(
        spoiled(BASE, number, of_kind(each)))}
    raw = spoiled(BASE, number, of_kind(*free))
    for drop in ("launches.*.threads", "cases.*.verdict.error", "cases.*.timeline.*.end_s"):
        if is_refused(raw):
            free.discard(drop)
            raw = spoiled(BASE, number, of_kind(*free))
    for chosen in (free, {"cases.*.samples_s.*"} & free, {"launches.*.threads"} & free):
        raw = spoiled(BASE, number, of_kind(*chosen))
        if chosen and not is_refused(raw):
            require_harmless(pages(tree, raw))


@pytest.mark.parametrize("number", REFUSED)
def test_a_number_of_no_machine_is_refused_wherever_it_stands(number: float) -> None:
    for where in COUNTED:
        raw = spoiled(BASE, number, of_kind(where))
        assert is_refused(raw), where


def test_a_command_can_be_copied(tree: Path) -> None:
    raw = copy.deepcopy(BASE)
    raw["run"]["arguments"] = ["--matrix", "my file.mtx", "--filter", "^(a|b)$", "$(reboot)"]
    page = pages(tree, raw)["stranger-2c/spmv-demo.md"]
    quoted = "just run spmv-demo --matrix 'my file.mtx' --filter '^(a|b)$' '$(reboot)'"
    shown = re.search(r"\| command \| <code>(.*?)</code>", page)
    assert shown is not None
    assert re.sub(r"&#(\d+);", lambda match: chr(int(match[1])), shown[1]) == quoted


# --- the one place that escapes -------------------------------------------------------------------


@pytest.mark.parametrize(("text", "page"), [
    ("plain text, 3 of 4", "plain text, 3 of 4"),
    ("y[3] is 0", "y[3] is 0"),
    ("CPU @ 2.00GHz", "CPU @ 2.00GHz"),
    ("a<b", "a&#60;b"),
    ("[a](b)", "[a&#93;(b)"),
    ("see https://x.org", "see https&#58;//x.org"),
    ("two\nlines", "two lines"),
    ("\x1b[31m", "&#92;x1b[31m"),
    ("\u202e", "&#92;u202e"),
    ("Größe µ 字", "Größe µ 字"),
])
def test_a_sealed_text_stands_as_text(text: str, page: str) -> None:
    assert escape.markdown(escape.sealed_text(text)) == page


def test_a_sealed_text_in_code() -> None:
    sealed = escape.sealed_text("a|b`<c>")
    said = escape.markdown(f"`plain` and `{sealed}` and `x < y`")
    assert said == "`plain` and <code>a&#124;b&#96;&#60;c&#62;</code> and `x < y`"


def test_a_figure_and_a_terminal_get_the_letters() -> None:
    assert escape.opened(escape.sealed_text("a<b|c")) == "a<b|c"


def test_a_fence_is_longer_than_those_inside() -> None:
    assert escape.fenced("x\n````\ny", "cpp") == "`````cpp\nx\n````\ny\n`````"


@pytest.mark.parametrize(("value", "cell"), [
    ("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@x", "'@x"), ("\t=x", "' =x"),
    ("a=b", "a=b"), (-1.5, -1.5), ("two\nlines", "two lines"),
])
def test_a_cell_is_no_formula(value: Any, cell: Any) -> None:
    assert escape.csv_cell(value) == cell

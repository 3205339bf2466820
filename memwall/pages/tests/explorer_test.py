"""The explorer: how many bytes its data take, that it computes what the weaver does, and that a
browser has nothing to complain of."""

import base64
import itertools
import json
import random
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memwall.analysis import numerics
from memwall.analysis.basis import Basis, Over, Pair
from memwall.analysis.comparisons import Comparison, compare
from memwall.analysis.metrics import METRICS
from memwall.analysis.numerics import Estimate
from memwall.pages import blocks, book, explorer
from memwall.pages.book import House
from memwall.pages.survey import OnMachine
from memwall.pages.tests.study_page_test import browser
from memwall.record import escape, machines, results
from memwall.record.results import Case, Json
from memwall.tests import synthetic

pytestmark = pytest.mark.xdist_group("committed")
MOST_BYTES = 70  # of a case
PAIRS, MEANS = 1000, 100
WIDTH, PHONE, SCREEN = 1280, 390, 800
GAP = 5  # pixels between two numbers of an axis
#: What the page compares a variant with on more threads than one: itself.
ALONE = "one thread"
HOSTILE = "<script>document.title = 'broken'</script><img src=x onerror=alert(1)>"
#: Waits until the page shows another view than before, or any, and says which.
SHOWN = """const [before, done] = arguments;
    const look = () => { const {shown} = document.documentElement.dataset;
        shown && shown !== before ? done(shown) : setTimeout(look, 20); };
    look();"""
#: The rounds of cases are compared as the page compares them.
COMPARED = """const [name, asked, done] = arguments;
    explorer.load(name).then(data => done(asked.map(([run, cases, over]) => {
        const rounds = numbers.meanPerRound(cases.map(at => {
            const one = data.runs[run].cases[at];
            return runs.speedups(one, runs.rival(one, over));
        }));
        const found = numbers.estimate(rounds);
        return [found.value, found.low, found.high, found.coverage, numbers.speedup(found)];
    })), error => done(String(error)));"""
ROWS = """return [...document.querySelectorAll("tbody tr")].map(row =>
    [...row.cells].map(cell => cell.textContent))"""


@pytest.fixture(scope="module")
def page(committed: House, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The explorer of all results that came with the tree."""
    folder = tmp_path_factory.mktemp("explorer")
    explorer.write(committed, folder)
    return folder / "index.html"


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """A browser with one tab, as wide as a desk's."""
    module = browser()
    if module.missing():
        pytest.skip(module.missing())
    with module.chromium(WIDTH, 900) as tab:
        yield tab


def visit(tab: Any, page: Path, view: str = "") -> str:
    """Opens a view in a tab, without a complaint; what the page then shows, as an address."""
    tab.get("about:blank")
    assert browser().visit(tab, page.as_uri() + view) == []
    return tab.execute_async_script(SHOWN, "")


def after(tab: Any, act: Any) -> str:
    """The view after something was done."""
    before = tab.execute_script("return document.documentElement.dataset.shown")
    act()
    shown: str = tab.execute_async_script(SHOWN, before)
    return shown


def choose(tab: Any, name: str, value: str) -> str:
    """The view after a choice."""
    script = """const part = document.getElementById(arguments[0]); part.value = arguments[1];
        part.dispatchEvent(new Event("change", {bubbles: true}))"""
    return after(tab, lambda: tab.execute_script(script, name, value))


def typed(tab: Any, field: Any, words: str) -> None:
    """Types, and waits until all of it is in the address of the view."""
    field.send_keys(words)
    wanted = field.get_attribute("value").replace(" ", "+")
    while f"q={wanted}&" not in f"{tab.execute_script('return location.hash')}&":
        tab.execute_async_script("setTimeout(arguments[0], 20)")
    tab.execute_async_script("setTimeout(arguments[0], 50)")


def text(tab: Any, name: str) -> str:
    said: str = tab.execute_script("return document.getElementById(arguments[0]).textContent", name)
    return said


def groups(tab: Any) -> list[str]:
    found: list[str] = tab.execute_script(
        "return [...document.querySelectorAll('.group')].map(part => part.querySelector('h3')"
        "?.textContent ?? '')")
    return found


# --- data -----------------------------------------------------------------------------------------


def test_a_case_takes_few_bytes(committed: House, page: Path) -> None:
    taken = sum(path.stat().st_size for path in page.parent.glob("data-*.js"))
    cases = sum(len(one.measured.cases) for one in committed.found)
    assert cases > 40_000
    assert taken / cases <= MOST_BYTES


def test_every_digit_of_a_sample_is_kept(committed: House) -> None:
    for one in committed.found:
        for case in one.measured.cases[::5]:
            assert decoded(*explorer.coded(case.taken)) == list(case.taken), one.shown


def decoded(exponent: int, coded: list[int]) -> list[float]:
    first, *others = coded
    return [float(f"{whole}e{exponent}") for whole in (first, *(first + more for more in others))]


@pytest.mark.parametrize("samples", [(1e-30, 1e30), (1e30, 1e-30, 1.0), (123456.0,)])
def test_samples_of_strangers_stay_positive(samples: tuple[float, ...]) -> None:
    assert all(sample > 0 for sample in decoded(*explorer.coded(samples)))


def told(page: Path, name: str) -> Any:
    """The values that a data script of a page hands over."""
    _, _, values = (page.parent / f"data-{name}.js").read_text().strip().partition("(")
    return json.loads(f"[{values.removesuffix(');')}]")


def unpacked(page: Path, name: str) -> Any:
    """What the data script of an experiment holds."""
    _, text = told(page, name)
    return json.loads(zlib.decompress(base64.b64decode(text)))


def test_a_machine_is_told_as_on_other_pages(committed: House, page: Path) -> None:
    (index,) = told(page, "index")
    assert {one["name"]: one["is"] for one in index["machines"]} == {
        name: escape.opened(blocks.machine_summary(facts, short=True))
        for name, facts in committed.facts.items()}


# --- numbers --------------------------------------------------------------------------------------


def drawn(house: House, source: random.Random) -> tuple[OnMachine, Case, str, Over]:
    """A case that has a rival, and the rival's name for the page and for the weaver."""
    while True:
        one = source.choice(house.found)
        case = source.choice(one.measured.cases)
        name = source.choice(one.measured.variants)
        group = source.choice(one.measured.cases).group
        over: Over = name
        kind = source.random()
        if kind < 0.3:
            name, over = f"best of {group}", {"best_of": group}
        elif kind < 0.5:
            name, over = ALONE, {"threads": 1, "ranks": 1}
        pairs = Basis(one.measured, over).pairs([case]) if case.passed else []
        if pairs and (name != ALONE or does_the_same(pairs[0])):
            return one, case, name, over


def does_the_same(pair: Pair) -> bool:
    """Whether a call of both does the same work."""
    first, second = ((case.flops, case.bytes, case.operations) for case in (pair.case, pair.than))
    return pair.case is not pair.than and first == second


def asked_of_page(tab: Any, house: House,
                  asked: list[tuple[OnMachine, list[Case], str]]) -> list[list[Any]]:
    """What the page computes of cases and what each is compared with, in the order asked."""
    answers: dict[int, list[Any]] = {}
    for survey in house.surveys:
        own = {number: one for number, one in enumerate(asked)
               if one[0].result.experiment == survey.experiment.name}
        if own:
            told = [[survey.found.index(one), [positions(one)[id(case)] for case in cases], name]
                    for one, cases, name in own.values()]
            found = tab.execute_async_script(COMPARED, survey.experiment.name, told)
            assert isinstance(found, list), found
            answers |= dict(zip(own, found, strict=True))
    return [answers[number] for number in range(len(asked))]


def positions(one: OnMachine) -> dict[int, int]:
    return {id(case): at for at, case in enumerate(one.measured.cases)}


def assert_alike(answer: list[Any], estimate: Estimate) -> None:
    """The numbers themselves, and how they are written, to the last digit."""
    *numbers, written = answer
    assert numbers == pytest.approx([estimate.value, estimate.low, estimate.high,
                                     estimate.coverage], rel=1e-12)
    assert written == numerics.speedup(estimate)


def test_a_thousand_pairs_are_compared_as_by_the_weaver(driver: Any, committed: House,
                                                        page: Path) -> None:
    source = random.Random(51)
    pairs = [drawn(committed, source) for _ in range(PAIRS)]
    visit(driver, page)
    assert sum(name == ALONE for _, _, name, _ in pairs) > 50
    answers = asked_of_page(driver, committed,
                            [(one, [case], name) for one, case, name, _ in pairs])
    for (one, case, _, over), answer in zip(pairs, answers, strict=True):
        (pair,) = Basis(one.measured, over).pairs([case])
        assert_alike(answer, numerics.estimate(METRICS["speedup"].of(pair)))


@pytest.mark.large
def test_means_over_inputs_are_those_of_the_weaver(driver: Any, committed: House,
                                                   page: Path) -> None:
    source = random.Random(52)
    asked: list[tuple[OnMachine, list[Case], str]] = []
    expected: list[Estimate] = []
    while len(asked) < MEANS:
        one, case, name, over = drawn(committed, source)
        where = {axis: value for axis, value in one.measured.coordinates(case).items()
                 if axis != "matrix"}
        found = compare(one.measured.loose, case.variant, over, where)
        if isinstance(found, Comparison) and len(found.points) > 1:
            asked.append((one, [point.case for point in found.points], name))
            expected.append(found.overall)
    visit(driver, page)
    answers = asked_of_page(driver, committed, asked)
    for answer, estimate in zip(answers, expected, strict=True):
        assert_alike(answer, estimate)


def test_intervals_of_any_number_of_rounds(driver: Any, page: Path) -> None:
    visit(driver, page)
    counts = range(1, 400)
    found = driver.execute_script("""return arguments[0].map(count => {
        const {rank, coverage} = numbers.intervalRank(count); return [rank, coverage]; })""",
                                  list(counts))
    for count, (rank, coverage) in zip(counts, found, strict=True):
        assert rank == numerics.interval_rank(count)
        covered = numerics.interval_coverage(rank, count)
        assert coverage == pytest.approx(max(0, covered), abs=1e-12)


# --- the page -------------------------------------------------------------------------------------


def test_first_the_page_shows_a_claim(driver: Any, page: Path) -> None:
    visit(driver, page)
    assert text(driver, "chart-title").endswith("?") and text(driver, "claimed")
    assert driver.execute_script("return document.querySelectorAll('.mark').length") > 20
    assert len(driver.execute_script(ROWS)) > 10
    assert text(driver, "problem") == ""
    way_back = driver.find_element("css selector", "header a").get_attribute("href")
    assert way_back == (page.parents[1] / "index.html").as_uri()


def test_every_experiment_shows_something(driver: Any, page: Path) -> None:
    visit(driver, page)
    names = driver.execute_script("return [...document.getElementById('e').options]"
                                  ".map(option => option.value)")
    for name in names:
        visit(driver, page, f"#e={name}")
        assert driver.execute_script("return document.querySelector('#chart .mark')"), name
        assert driver.execute_script(ROWS), name
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        assert wide <= WIDTH, name


VIEW = ("#e=spmv-plan&r=real-matrices&s=spmv&y=ratio&o=mkl&x=input&c=variant&q=bcsstk&sort=-value"
        "&v=plan&v=plan_untimed&m=amd-epyc-2c&p=fp64&l=1+thread")


def test_a_view_is_an_address(driver: Any, page: Path) -> None:
    assert visit(driver, page, VIEW) == VIEW
    chosen = driver.execute_script("""return Object.fromEntries([...document.querySelectorAll(
        "select, #q")].map(part => [part.id, part.value]))""")
    assert chosen == {"e": "spmv-plan", "r": "real-matrices", "s": "spmv", "claim": "",
                      "y": "ratio", "o": "mkl", "c": "variant", "x": "input", "q": "bcsstk"}
    boxes = driver.execute_script("""return [...document.querySelectorAll("#v input:checked")].map(
        box => box.value)""")
    assert sorted(boxes) == ["plan", "plan_untimed"]
    rows = driver.execute_script(ROWS)
    assert rows and all("bcsstk" in " ".join(row).lower() for row in rows)


def test_a_view_is_the_same_in_another_folder(driver: Any, page: Path, tmp_path: Path) -> None:
    visit(driver, page)
    header = driver.find_element("css selector", "header").text
    assert "send only the part from # on" in header
    copy = shutil.copytree(page.parent, tmp_path / "elsewhere") / page.name
    assert visit(driver, copy, VIEW) == visit(driver, page, VIEW) == VIEW


def test_a_choice_changes_the_address_and_back_undoes_it(driver: Any, page: Path) -> None:
    first = visit(driver, page)
    second = choose(driver, "y", "time")
    assert "y=time" in second and "y=time" in driver.current_url
    assert after(driver, driver.back) == first
    assert "y=share" in choose(driver, "y", "share")
    assert text(driver, "chart-title").startswith("Which part of its ceiling")
    claimed = choose(driver, "claim", "1")
    assert claimed not in (first, second)
    assert choose(driver, "e", "gemm-cpu-to-gpu").startswith("#e=gemm-cpu-to-gpu&")


def test_a_filter_leaves_what_has_all_words(driver: Any, page: Path) -> None:
    visit(driver, page)
    every = len(driver.execute_script(ROWS))
    field = driver.find_element("id", "q")
    typed(driver, field, "EPYC small")
    rows = driver.execute_script(ROWS)
    assert 0 < len(rows) < every
    assert all("epyc" in " ".join(row) and "small" in " ".join(row) for row in rows)
    typed(driver, field, " nothing-is-called-so")
    assert driver.execute_script(ROWS) == []
    assert "Nothing" in text(driver, "chart-note")


def test_a_table_is_sorted_by_its_heads(driver: Any, page: Path) -> None:
    visit(driver, page)
    head = "return document.querySelector('th button[data-sort=ratio]')"
    column = """const at = [...document.querySelectorAll("tbody tr")];
        return at.map(row => parseFloat(row.querySelector(".number").textContent))"""
    for sort, way in (("-value", "descending"), ("value", "ascending")):
        shown = after(driver, lambda: driver.execute_script(f"{head[7:]}.click()"))
        assert f"sort={sort}" in shown
        assert driver.execute_script(f"{head}.closest('th').ariaSort") == way
        values = driver.execute_script(column)
        assert values == sorted(values, reverse=way == "descending")


def test_what_tells_cases_apart_is_offered_everywhere(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=spmv-omp-schedules&s=spmv&y=time")
    letters = dict(driver.execute_script(
        "return Object.entries(runs.COORDINATES).map(([name, {letter}]) => [name, letter])"))
    offered = {name: driver.execute_script("return [...document.querySelectorAll(arguments[0])]"
                                           ".map(part => part.id || part.value)", where)
               for name, where in (("lists", "#lists details"), ("rows", "#x option"))}
    assert offered["lists"] == [*letters.values()]
    assert {*offered["rows"]} == {"", *letters} - {"cache"}  # which have no axis in common
    for name in letters:
        assert driver.execute_script(
            "return document.querySelector(`th button[data-sort=${arguments[0]}]`)", name), name


@pytest.mark.large
def test_every_measure_has_a_column_that_sorts(driver: Any, page: Path) -> None:
    visit(driver, page)
    for name in driver.execute_script("return Object.keys(measured.MEASURES)"):  # blanks come last
        view = "#e=gemm-cpu-to-gpu&s=squares" if name == "gops" else (
            "#e=spmv-plan&s=spmv&o=csr&p=fp64&i=fem3-small&m=amd-epyc-2c")
        visit(driver, page, f"{view}&y={name}&sort=-value")
        values = driver.execute_script("""const head = document.querySelector(
                `th[aria-sort=descending] button[data-sort=${arguments[0]}]`);
            const before = [...head.closest("tr").cells].slice(0, head.closest("th").cellIndex);
            const at = before.reduce((sum, cell) => sum + cell.colSpan, 0);
            return [...document.querySelectorAll("tbody tr")].map(row =>
                row.cells[at].textContent)""", name)
        blank = values.index("") if "" in values else len(values)
        assert not any(values[blank:]), name
        values = [float(value.split()[0].rstrip("x")) for value in values[:blank]]
        if name != "time":  # whose units differ
            assert len(values) > 10 and values == sorted(values, reverse=True), name


def test_marks_are_told_to_keys(driver: Any, page: Path) -> None:
    visit(driver, page)
    chart = driver.find_element("css selector", "#chart svg")
    driver.execute_script("arguments[0].focus()", chart)
    chart.send_keys("\ue014")  # arrow to the right
    first = text(driver, "pointed")
    assert "mean over" in first
    for _ in range(8):
        chart.send_keys("\ue015")  # arrow down
    assert text(driver, "pointed") not in ("", first)
    chart.send_keys("\ue00c")  # escape
    assert text(driver, "pointed") == ""


def test_what_all_cases_have_in_common_stands_above_them(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&y=gbps&o=mkl&p=fp64&m=amd-epyc-2c")
    assert text(driver, "common") == "Throughout: csr, amd-epyc-2c, fp64, cold caches"


def test_cases_without_a_rival_are_counted(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&y=gbps&o=mkl")
    assert re.fullmatch(r"\d+ cases, \d+ without a speed-up: mkl was not timed there",
                        text(driver, "table-note"))
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&y=gbps&o=csr")
    assert re.fullmatch(r"\d+ cases", text(driver, "table-note"))


def test_a_mark_of_a_rate_also_says_the_ratio(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&y=gbps&o=mkl&p=fp64&m=amd-epyc-2c&x=variant"
                        "&i=fem3-small")
    chart = driver.find_element("css selector", "#chart svg")
    driver.execute_script("arguments[0].focus()", chart)
    chart.send_keys("\ue014")
    said = text(driver, "pointed")
    assert re.search(r"^GB/s: .* GB/s \(.*^time of a call: .*^\S+x \(.*\) as fast as mkl$", said,
                     re.MULTILINE | re.DOTALL)


def test_all_threads_are_compared_with_one(driver: Any, committed: House, page: Path) -> None:
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&o=one+thread&m=amd-epyc-2c&p=fp64&y=ratio")
    assert text(driver, "problem") == ""
    assert text(driver, "chart-title") == "How many times as fast as itself on one thread is csr?"
    assert "processes of their own" in text(driver, "chart-note")
    (run,) = [one for one in committed.found if one.result.experiment == "spmv-plan"
              and one.machine == "amd-epyc-2c" and not one.title]
    where = {"study": "spmv", "precision": "fp64", "threads": 2}
    found = compare(run.measured, "csr", {"threads": 1}, where)
    assert isinstance(found, Comparison)
    expected = {numerics.speedup(each.overall) for each in found.each}
    rows = [" ".join(row) for row in driver.execute_script(ROWS) if "all 2 threads" in row]
    assert rows and all(any(said in row for said in expected) for row in rows)
    assert all("csr on 1 thread" in row for row in rows)
    chart = driver.find_element("css selector", "#chart svg")
    driver.execute_script("arguments[0].focus()", chart)
    chart.send_keys("\ue014")
    chart.send_keys("\ue015")
    assert re.search(r"^\S+x \(.*\) as fast as csr on 1 thread$", text(driver, "pointed"),
                     re.MULTILINE)
    visit(driver, page, "#e=spmv-plan&s=spmv&v=csr&o=one+thread&l=1+thread&y=ratio")
    assert text(driver, "chart-note").startswith("Nothing that is chosen was timed on more threads")


def test_one_thread_is_offered_where_there_are_more(driver: Any, page: Path) -> None:
    offered = "return [...document.getElementById('o').options].map(option => option.text)"
    visit(driver, page, "#e=spmv-plan&s=spmv")
    assert driver.execute_script(offered)[-1] == "itself on one thread"
    visit(driver, page, "#e=spmv-serial-steps&o=one+thread")
    assert "itself on one thread" not in driver.execute_script(offered)
    assert text(driver, "problem") == "Not in these results, and left out: one thread"


def test_beside_a_variant_stand_its_group_and_its_first_sentence(driver: Any, tmp_path: Path
                                                                 ) -> None:
    raw = synthetic.result()
    raw["excerpts"]["csrl"]["text"] = "/// Reads a column once for each run.\nvoid csrl();"
    for entry in raw["cases"]:
        entry["group"] = {"csrl": "format", "unroll4": "peer"}.get(entry["variant"], "own")
    page = made(tmp_path, ("good-2c", raw))
    beside = """return Object.fromEntries([...document.querySelectorAll("#v label")].map(label =>
        [label.querySelector("input").value, label.querySelector("small")?.textContent ?? ""]))"""
    visit(driver, page, "#s=spmv")
    assert driver.execute_script(beside).items() >= {
        "csrl": "Group format. Reads a column once for each run.", "unroll4": "A library.",
        "textbook": "Group own."}.items()
    for entry in raw["cases"]:
        entry["group"] = "own"
    visit(driver, made(tmp_path / "alike", ("good-2c", raw)), "#s=spmv")
    assert driver.execute_script(beside).items() >= {
        "csrl": "Reads a column once for each run.", "textbook": ""}.items()


def test_every_control_has_a_name(driver: Any, page: Path) -> None:
    visit(driver, page)
    nameless = driver.execute_script("""return [...document.querySelectorAll("select, input")]
        .filter(part => !part.labels.length).map(part => part.id)""")
    assert nameless == []


def test_an_unknown_name_is_told_and_left_out(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=spmv-plan&v=plan&v=%3Cb%3Eno&o=nobody")
    assert text(driver, "problem") == "Not in these results, and left out: nobody, <b>no"
    visit(driver, page, "#e=..%2F..%2Fx")
    assert text(driver, "problem") == "Not in these results, and left out: ../../x"


@pytest.mark.parametrize("view", ["", "#e=gemm-cpu-to-gpu&s=squares&y=gflops",
                                  "#e=transfer-modes&s=modes&y=time"])
def test_numbers_of_an_axis_do_not_touch(driver: Any, page: Path, view: str) -> None:
    visit(driver, page, view)
    rows = driver.execute_script("""return [...document.querySelectorAll("#chart svg")].map(svg =>
        Object.values(Object.groupBy(svg.querySelectorAll("text[text-anchor=middle]"), part =>
            part.getAttribute("y"))).map(row => row.map(part => part.getBoundingClientRect())
                .map(({left, right}) => [left, right]))).flat()""")
    assert rows
    for row in rows:
        assert len(row) > 1
        assert all(end + GAP <= begin for (_, end), (begin, _) in itertools.pairwise(row))


def test_of_many_panels_some_of_each_group_are_drawn(driver: Any, page: Path) -> None:
    visit(driver, page, "#e=gemm-cpu-to-gpu&s=squares&y=gflops")
    assert groups(driver) == ["warm caches", "cold caches"]
    assert driver.execute_script("return [...document.querySelectorAll('.group')].map(part =>"
                                 " part.querySelectorAll('svg').length)") == [6, 6]
    assert "more panels not drawn" in text(driver, "chart-note")


def test_a_phone_scrolls_one_way_and_shows_the_chart_first(driver: Any, page: Path) -> None:
    module = browser()
    with module.chromium(PHONE, SCREEN) as tab:
        for scheme in ("light", "dark"):
            module.prefer(tab, scheme)
            visit(tab, page)
            assert tab.execute_script("return document.querySelector('#chart .mark')"
                                      ".getBoundingClientRect().top") < SCREEN
            tab.execute_script("for (const part of document.querySelectorAll('details'))"
                               " { part.open = true; }")
            assert tab.execute_script("return document.documentElement.scrollWidth") <= PHONE
            widths = tab.execute_script("return [...document.querySelectorAll('#chart svg')]"
                                        ".map(part => part.getBoundingClientRect().right)")
            assert widths and max(widths) <= PHONE


# --- made-up results ------------------------------------------------------------------------------


def made(root: Path, *found: tuple[str, Json], defined: Callable[[str], str] = str) -> Path:
    """The explorer of results of several machines; the last one did not come with the tree. The
    experiment is as `defined` from the usual one."""
    definition = synthetic.repository(root) / "experiments" / synthetic.NAME / "experiment.toml"
    definition.write_text(defined(definition.read_text()))
    for machine, raw in found:
        raw["machine"]["slug"] = machine
        results.write(raw, root / "reports" / machine / "results" / f"{synthetic.NAME}.json")
    for machine, _ in found[:-1]:
        machines.enlist(root, machine)
    explorer.write(book.read(root, beside=[found[-1][0]]), root / "explorer")
    return root / "explorer/index.html"


def test_text_of_strangers_is_text(driver: Any, tmp_path: Path) -> None:
    raw = synthetic.result(seed=7)
    raw["machine"]["cpu"]["model"] = HOSTILE
    raw["build"]["compiler"] = HOSTILE
    raw["datasets"][HOSTILE] = raw["datasets"].pop("fem3")
    for entry in [*raw["cases"], *raw["skipped"]]:
        if entry["parameters"]["matrix"] == "fem3":
            entry["parameters"]["matrix"] = HOSTILE
        if "reason" in entry:
            entry["reason"] = HOSTILE
    page = made(tmp_path, ("good-2c", synthetic.result()), ("stranger-2c", raw))
    visit(driver, page, "#s=spmv&y=time")
    driver.execute_script("for (const part of document.querySelectorAll('details'))"
                          " { part.open = true; } document.getElementById('more').click()")
    for name in ("m", "i", "runs", "table", "chart"):
        assert HOSTILE in text(driver, name)
    assert "stranger-2c (not committed)" in text(driver, "runs")
    assert driver.title != "broken"
    assert driver.execute_script("return document.querySelectorAll('body img, main script').length"
                                 ) == 0


def test_axes_of_launches_are_no_inputs(driver: Any, tmp_path: Path) -> None:
    places = synthetic.result(threads=(2, 2))
    for launch, value in zip(places["launches"], ("cores", "sockets"), strict=True):
        launch["environment"]["OMP_PLACES"] = value
    page = made(tmp_path, ("placed-2c", places), defined=lambda text: text.replace(
        "[launch]", '[launch]\nOMP_PLACES = ["cores", "sockets"]'))
    (run,) = unpacked(page, synthetic.NAME)["runs"]
    assert {tuple(point["on"]) for point in run["points"]} == {("threads", "ranks", "OMP_PLACES")}
    assert {tuple(point["at"]) for point in run["points"]} == {("study", "matrix", "precision")}
    visit(driver, page, "#s=spmv&v=csrl&o=textbook&y=ratio&p=fp64")
    assert {cell for row in driver.execute_script(ROWS) for cell in row} >= {
        "fem3", "all 2 threads, OMP_PLACES=cores", "all 2 threads, OMP_PLACES=sockets"}


def test_other_work_on_one_thread_is_not_compared(driver: Any, tmp_path: Path) -> None:
    raw = synthetic.result()
    for entry in raw["cases"]:
        if entry["parameters"]["matrix"] == "fem3" and entry["launch"] == 1:
            entry["work"] = {**entry["work"], "flops": 1}
    page = made(tmp_path, ("good-2c", raw))
    visit(driver, page, "#s=spmv&v=csrl&o=one+thread&y=ratio&p=fp64&l=all+threads")
    speedups = {" ".join(row): "csrl on 1 thread" in row for row in driver.execute_script(ROWS)}
    assert {"fem3" not in row for row in speedups} == {True, False}
    assert all(("fem3" not in row) == is_told for row, is_told in speedups.items())
    assert "1 without a speed-up: it was not timed on one thread, or does other work there" in text(
        driver, "table-note")


#: A claim about a part of the points, which is to be written behind it.
NARROWED = """
[[claim]]
id = "1.there"
article = 1
line = 71
sentence = "但在这里大部分算例效果有提升"
says = "Four times is faster there."
kind = "direction"
[[claim.condition]]
faster = "unroll4"
than = "textbook"
expect = "faster"
where = """


@pytest.mark.parametrize("where", ['matrix = "road-*"', 'precision = "fp16"', "threads = 64"])
def test_a_claim_that_nothing_fits_is_not_one_about_all(driver: Any, tmp_path: Path, where: str
                                                        ) -> None:
    page = made(tmp_path, ("good-2c", synthetic.result()),
                defined=lambda text: f"{text}{NARROWED}{{ {where} }}")
    *all_over, there = unpacked(page, synthetic.NAME)["claims"]
    assert all_over[1]["where"]["matrix"] is None
    assert there["where"]["matrix"] == ([] if "matrix" in where else None)
    visit(driver, page)
    offered = driver.execute_script("return [...document.getElementById('claim').options]"
                                    ".map(option => option.text)")
    assert len(offered) == len(all_over) and "Four times is faster there." not in offered


def test_a_claim_is_shown_as_far_as_something_fits(driver: Any, tmp_path: Path) -> None:
    page = made(tmp_path, ("good-2c", synthetic.result()), defined=lambda text:
                f'{text}{NARROWED}{{ precision = ["fp16", "fp64"], matrix = ["fem3", "road"] }}')
    visit(driver, page)
    last = driver.execute_script(
        "return [...document.getElementById('claim').options].at(-1).value")
    shown = choose(driver, "claim", last)
    assert "p=fp64" in shown and "i=fem3" in shown and text(driver, "problem") == ""
    assert text(driver, "claimed") == "Claim: Four times is faster there."


def test_what_is_not_alike_has_no_axis_in_common(driver: Any, tmp_path: Path) -> None:
    one, other = synthetic.result(), synthetic.result(seed=2)
    other["run"]["profile"] = "quick"
    other["datasets"]["random"]["sha256"] = "ab" * 32
    for probe in other["ceilings"]:
        probe["definition"] = 2
    for raw in (one, other):
        for case in raw["cases"]:
            is_small = case["parameters"]["matrix"] == "short"
            case["cache"] = "warm" if is_small else "cold"
    page = made(tmp_path, ("one-2c", one), ("other-2c", other))
    visit(driver, page, "#s=spmv&v=csrl&o=textbook&y=ratio&p=fp64&l=1+thread")
    assert groups(driver) == ["cold caches", "warm caches",
                              "cold caches, other data under the same name"]
    assert "Cold and warm caches are drawn apart" in text(driver, "chart-note")
    visit(driver, page, "#s=spmv&v=csrl&o=textbook&y=ratio&p=fp64&l=1+thread&w=warm")
    assert groups(driver) == [""] and "warm caches" in text(driver, "common")
    visit(driver, page, "#s=spmv&v=csrl&o=textbook&y=ratio&p=fp64&l=1+thread")
    choose(driver, "y", "share")
    assert [part for part in groups(driver) if "definition 2" in part]
    assert "definition 1 and 2 are drawn apart" in text(driver, "chart-note")
    choose(driver, "y", "time")
    assert {part.rpartition(", ")[2] for part in groups(driver)} == {"profile full",
                                                                     "profile quick"}

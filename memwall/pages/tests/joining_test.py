"""What may be joined: what a folder takes, what counts in verdicts, which cases are alike."""

import copy
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.pages import book
from memwall.pages.tests.book_test import Done, run
from memwall.pages.tests.compare_test import Compare, case, compare, result, times  # noqa: F401
from memwall.record import joining, machines, results
from memwall.record.results import Json
from memwall.tests import synthetic

LEAD, OTHER = "example-2c", "other-2c"
FILE = f"{synthetic.NAME}.json"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with the lead machine's result, and what somebody measured beside it."""
    root = synthetic.repository(tmp_path)
    results.write(synthetic.result(), root / f"reports/{LEAD}/results/{FILE}")
    (root / machines.LIST).write_text(f"{LEAD}\n{OTHER}\n")
    return root


def tiny(raw: Json) -> None:
    raw["run"] |= {"profile": "tiny", "arguments": ["--profile", "tiny"]}


def of_other(change: Callable[[Json], object] = lambda raw: None) -> Json:
    raw = synthetic.result(seed=5)
    raw["machine"]["slug"] = OTHER
    synthetic.scale(raw, "unroll4", 1.5)
    change(raw)
    return raw


# --- a run that is not for numbers ----------------------------------------------------------------


def test_a_tiny_run_changes_no_verdict_and_is_named(tree: Path) -> None:
    before = book.everything(book.read(tree))
    results.write(of_other(tiny), tree / f"reports/{OTHER}/results/{FILE}")
    house = book.read(tree)
    assert book.everything(house) == before
    assert house.left_out == (f'reports/{OTHER}/results/{FILE}: $.run.profile: found "tiny", a run'
                              " for trying out, expected one for numbers: quick, book or full",)
    done = run(tree, "report")
    assert done.returncode == 0
    assert done.stderr == f"left out: {house.left_out[0]}\n"
    done = run(tree, "report", OTHER)
    assert done.returncode == 2 and done.stderr == f"{house.left_out[0]}\n"


def test_a_run_for_numbers_does(tree: Path) -> None:
    before = book.everything(book.read(tree))
    results.write(of_other(), tree / f"reports/{OTHER}/results/{FILE}")
    assert book.everything(book.read(tree))["reports/README.md"] != before["reports/README.md"]


def test_a_tiny_run_is_not_kept(tree: Path) -> None:
    results.write(of_other(tiny), tree / "run/result.json")
    done = run(tree, "keep", str(tree / "run"), "mine")
    assert done.returncode == 2 and "a run for trying out" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_page_of_a_tiny_run_says_so(tree: Path) -> None:
    results.write(of_other(tiny), tree / "build/run/result.json")
    assert run(tree, "page", str(tree / "build/run/result.json")).returncode == 0
    page = (tree / f"build/run/{synthetic.NAME}.md").read_text(encoding="utf-8")
    assert "> **tiny**: a run for trying out." in page


@pytest.mark.parametrize("given", ["a.json", OTHER])
def test_a_tiny_run_is_not_compared(tree: Path, given: str,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    for path in (tree / "a.json", tree / f"reports/{OTHER}/results/{FILE}"):
        results.write(of_other(tiny), path)
    done = run(tree, "compare", LEAD, given)
    assert done.returncode == 2 and "a run for trying out" in done.stderr
    assert done.stderr.count("\n") == 1


# --- what another tree or version wrote -----------------------------------------------------------


def test_an_unknown_experiment_says_what_it_is(tree: Path) -> None:
    raw = of_other(lambda raw: raw["run"].update(experiment="spmv-of-tomorrow"))
    results.write(raw, tree / f"reports/{OTHER}/results/spmv-of-tomorrow.json")
    results.write(raw, tree / "run/result.json")
    for arguments in (["report"], ["check"], ["keep", str(tree / "run"), "mine"],
                      ["page", str(tree / "run/result.json")]):
        done = run(tree, *arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert '"spmv-of-tomorrow", expected one of: spmv-demo' in done.stderr


@pytest.mark.parametrize("schema", [99, 1, "2", None, [2]])
def test_another_schema_says_what_it_is(tree: Path, schema: object,
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tree)
    raw = of_other() | {"schema": schema}
    for path in (tree / f"reports/{OTHER}/results/{FILE}", tree / "run/result.json"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(raw), encoding="utf-8")
    for arguments in (["report"], ["check"], ["keep", "run", "mine"], ["compare", LEAD, OTHER],
                      ["page", "run/result.json"]):
        done = run(tree, *arguments)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
        assert "$.schema: found" in done.stderr and "expected 2" in done.stderr


# --- what leaves the machine ----------------------------------------------------------------------


def test_a_private_name_is_measured_woven_and_not_kept(tree: Path) -> None:
    raw = of_other()
    synthetic.narrow(raw, "me@host.mtx")
    results.write(raw, tree / "build/run/result.json")
    assert run(tree, "page", str(tree / "build/run/result.json")).returncode == 0
    done = run(tree, "keep", str(tree / "build/run"), "mine")
    assert done.returncode == 2 and "no user or host name" in done.stderr
    assert done.stderr.count("\n") == 1


def test_check_asks_what_is_committed(tree: Path) -> None:
    """`report` is the owner's own."""
    raw = of_other(lambda raw: raw["libraries"].update(mpi="built by jane@cluster"))
    results.write(raw, tree / f"reports/{OTHER}/results/{FILE}")
    assert run(tree, "report").returncode == 0
    done = run(tree, "check")
    assert done.returncode == 1
    assert f"reports/{OTHER}/results/{FILE}: $.libraries.mpi: found" in done.stdout


def test_two_matrices_of_one_name_are_not_kept_as_one(tree: Path) -> None:
    raw = of_other()
    names = {"fem3": "a/m.mtx", "random": "b/m.mtx"}
    for entry in [*raw["cases"], *raw["skipped"]]:
        matrix = entry["parameters"]["matrix"]
        entry["parameters"]["matrix"] = names.get(matrix, matrix)
    raw["datasets"] = {names.get(name, name): of for name, of in raw["datasets"].items()}
    raw["run"]["arguments"] = ["--matrix", "a/m.mtx", "b/m.mtx"]
    results.write(raw, tree / "run/result.json")
    done = run(tree, "keep", str(tree / "run"), "mine")
    assert done.returncode == 2
    assert "found two files called m.mtx in different folders" in done.stderr


# --- cases that are alike -------------------------------------------------------------------------


def pair() -> tuple[Json, Json]:
    """Two runs of which B takes a tenth of the time in one of two cases."""
    a, b = (result({("fem3", 0): {"copy": times(1), "csr": times(1)}}) for _ in range(2))
    for raw in (a, b):
        for entry in raw["cases"]:
            entry["work"] = {"flops": 0, "bytes": 2e6}
    b["cases"][0]["samples_s"] = times(10)
    return a, b


def first(raw: Json, **changes: object) -> Json:
    raw["cases"][0] |= changes
    return raw


def said(compare: Compare, change: Callable[[Json], object],  # noqa: F811
         *options: str) -> Done:
    a, b = pair()
    change(b)
    return compare(a, b, *options)


RATES: dict[str, tuple[Callable[[Json], object], str]] = {
    "other work": (lambda b: first(b, work={"flops": 0, "bytes": 1e5}),
                   "2.00 GB/s  1.00 GB/s  0.50x"),
    "another text": (lambda b: (b["excerpts"].update(new={"file": "a.cpp", "text": "y = 0;"}),
                                first(b, excerpt="new")), "2.00 GB/s  20.0 GB/s  10.0x"),
}


@pytest.mark.parametrize("why", RATES)
def test_what_is_not_alike_has_rates_set_apart(compare: Compare, why: str) -> None:  # noqa: F811
    change, rates = RATES[why]
    done = said(compare, change)
    assert done.returncode == 0
    assert "spmv-demo: geometric mean 1.00x (1.00–1.00) of 1 case: 1 alike" in done.stdout
    assert "1 case not alike, so their rates are compared, and in nothing above:" in done.stdout
    line = next(line for line in done.stdout.splitlines() if line.endswith(why))
    assert rates in line


NOTHING: dict[str, tuple[Callable[[Json], object], str]] = {
    "cache": (lambda b: first(b, cache="warm"), "cold in A, warm in B"),
    "target": (lambda b: first(b, target="cuda"), "on host in A, on cuda in B"),
    "no work": (lambda b: first(b, work={"flops": 1, "bytes": 0}), "other work"),
}


@pytest.mark.parametrize("what", NOTHING)
def test_what_has_nothing_in_common_is_counted(compare: Compare, what: str) -> None:  # noqa: F811
    change, why = NOTHING[what]
    done = said(compare, change)
    assert "of 1 case: 1 alike" in done.stdout
    assert f"  not compared: 1 case: {why}\n" in done.stdout
    assert "10.0x" not in done.stdout


def test_other_data_under_one_name_are_not_compared(compare: Compare) -> None:  # noqa: F811
    a, b = pair()
    b["datasets"]["fem3"]["sha256"] = "e" * 64
    done = compare(a, b)
    assert done.returncode == 2
    assert done.stderr == "compare: no case in common: not compared other data called fem3 (2)\n"


def test_another_profile_has_rates_alone(compare: Compare) -> None:  # noqa: F811
    done = said(compare, lambda b: b["run"].update(profile="quick"))
    assert "spmv-demo: no case that is alike" in done.stdout
    assert done.stdout.count("full in A, quick in B") == 2


def test_comments_are_no_other_text(compare: Compare) -> None:  # noqa: F811
    done = said(compare, lambda b: b["excerpts"]["csr"].update(
        text=b["excerpts"]["csr"]["text"] + "// explained\n"))
    assert "of 2 cases" in done.stdout and "not alike" not in done.stdout


def test_rates_stand_in_a_table_of_a_page(compare: Compare) -> None:  # noqa: F811
    done = said(compare, RATES["other work"][0], "--markdown")
    assert "| variant | point | A | B | rate | interval | not alike |" in done.stdout
    assert "| `copy` |  | 2.00 GB/s | 1.00 GB/s | 0.50x | 0.50–0.50 | other work |" in done.stdout


def test_of_many_rates_those_that_differ_most_are_shown(compare: Compare) -> None:  # noqa: F811
    many = {f"v{i}": times(1) for i in range(14)}
    a, b = result({("fem3", 0): many}), result({("fem3", 0): many})
    for at, entry in enumerate(b["cases"]):
        entry["work"] = {"flops": 1, "bytes": 2 + at}
    short, long = compare(a, b), compare(a, b, "--all")
    assert "(the 10 that differ most; --all shows all)" in short.stdout
    assert short.stdout.count("other work") == 10 and long.stdout.count("other work") == 14
    assert "v0 " not in short.stdout and "v13" in short.stdout


def test_a_terminal_is_not_steered(compare: Compare) -> None:  # noqa: F811
    a = result({("\x1b[31m<b>|", 0): {"csr": times(1)}, ("rmat", 0): {"csr": times(1)}})
    b = copy.deepcopy(a)
    shown = compare(a, b, "--all").stdout
    assert "\\x1b[31m<b>|" in shown and "\x1b" not in shown
    page = compare(a, b, "--all", "--markdown").stdout
    assert "&#92;x1b[31m&#60;b&#62;&#124;" in page


def test_the_amounts_that_make_a_rate() -> None:
    one = results.of(result({("fem3", 0): {"csr": times(1)}}), Path("r.json")).cases[0]
    assert joining.amounts([one, one]) == ("GB/s", [1, 1])

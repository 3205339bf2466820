"""`compare A B`: which cases belong together, their ratios, and what is said."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from memwall.analysis.numerics import Estimate
from memwall.pages.compare import EACH_WORD, word
from memwall.pages.tests.book_test import Done, run
from memwall.record import results
from memwall.record.results import Json
from memwall.tests import synthetic

ROUNDS = 5
STEADY = (1e-3,) * ROUNDS
Samples = Mapping[str, Sequence[float]]
Compare = Callable[..., Done]


def result(points: Mapping[tuple[str, int], Samples], threads: Sequence[int] = (1,),
           rounds: int = ROUNDS) -> Json:
    """What variants took, by matrix and launch; a name with a * is a twin, no samples a failure."""
    raw = synthetic.frame(rounds, tuple(threads))
    raw["excerpts"] = {"csr": raw["excerpts"]["textbook"]}
    for (matrix, launch), variants in points.items():
        raw["cases"] += [case(name, matrix, launch, times) for name, times in variants.items()]
    return raw


def case(name: str, matrix: str, launch: int, samples: Sequence[float]) -> Json:
    verdict = ({"status": "passed", "checks": ["exact"]} if samples
               else {"status": "failed", "reason": "made to fail"})
    return {
        "variant": name.rstrip("*"), "group": "own", "excerpt": "csr", "twin": name.endswith("*"),
        "launch": launch, "study": "spmv", "target": "host", "parameters": {"matrix": matrix},
        "work": {"flops": 1, "bytes": 1},
        "verdict": verdict, "clock": "host", "cache": "cold",
        "setup": {"seconds": 0, "stored_bytes": 0}, "iterations": 1, "samples_s": list(samples),
    }


def times(value: float) -> list[float]:
    """Five samples whose median is 1 ms over a speed."""
    return [1e-3 / value] * ROUNDS


@pytest.fixture
def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Compare:
    """Compares two results as files of the folder where the user is."""
    monkeypatch.chdir(tmp_path)

    def do(a: Json, b: Json, *options: str) -> Done:
        for name, raw in (("a.json", a), ("b.json", b)):
            results.write(raw, tmp_path / name)
        return run(tmp_path, "compare", "a.json", "b.json", *options)

    return do


def rows(done: Done) -> list[list[str]]:
    """The lines of the table, as words."""
    return [line.split() for line in done.stdout.splitlines() if line.startswith("  ")]


def test_speed_is_that_of_b(compare: Compare) -> None:
    """B is twice as fast in csr, and a quarter slower in coo: sqrt(2 x 0.8) in all."""
    a = result({("fem3", 0): {"csr": STEADY, "coo": STEADY}})
    b = result({("fem3", 0): {"csr": times(2), "coo": times(0.8)}})
    done = compare(a, b)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == """\
A is a.json, B is b.json.
Speed is that of B over that of A, the median time of A by that of B: above 1, B is faster.
Intervals are for 98.3 %, from what varied within each run; what differs from one run to the next \
is not in them.
Alike is an interval within 5 %; faster or slower, one beyond 1 and beyond both noise floors.

spmv-demo: geometric mean 1.26x (1.26–1.26) of 2 cases: 1 faster, 1 slower
  noise floor: unknown in A, unknown in B
  variant  point        A        B  speed   interval  B is
  coo             1.00 ms  1.25 ms  0.80x  0.80–0.80  slower
  csr             1.00 ms   500 µs  2.00x  2.00–2.00  faster
"""


def test_the_interval_is_of_unpaired_medians(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": [1.0, 1.1, 1.2, 1.3, 1.5]}})
    b = result({("fem3", 0): {"csr": [0.7, 0.5, 0.62, 0.6, 0.55]}})
    done = compare(a, b)
    assert rows(done)[-1] == ["csr", "1.20", "s", "600", "ms", "2.00x", "1.43–2.80", "faster"]
    assert "geometric mean 2.00x (1.43–2.80) of 1 case: 1 faster" in done.stdout


@pytest.mark.parametrize(("low", "high", "noise", "expected"), [
    (0.96, 1.04, 1.0, "alike"),
    (1.01, 1.04, 1.0, "alike"),
    (1.01, 1.06, 1.0, "faster"),
    (1.01, 1.06, 1.02, "undecided"),
    (0.94, 0.99, 1.0, "slower"),
    (0.94, 0.99, 1.05, "undecided"),
    (0.90, 1.10, 1.0, "undecided"),
])
def test_words(low: float, high: float, noise: float, expected: str) -> None:
    assert word(Estimate((low + high) / 2, low, high, 0.95, 7), noise) == expected


def test_what_is_alike_is_left_out_and_counted(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY, "coo": STEADY}})
    b = result({("fem3", 0): {"csr": times(1.01), "coo": times(1.5)}})
    short, long = compare(a, b), compare(a, b, "--all")
    assert [row[0] for row in rows(short)][2:] == ["coo", "left"]
    assert "  left out: 1 case: 1 alike (--all shows them)\n" in short.stdout
    assert [row[0] for row in rows(long)][2:] == ["csr", "coo"]
    assert "left out" not in long.stdout


def test_of_many_cases_those_that_differ_most_are_shown(compare: Compare) -> None:
    many = range(EACH_WORD + 5)
    a = result({("fem3", 0): {f"v{i}": STEADY for i in many}})
    b = result({("fem3", 0): {f"v{i}": times(1.2 + i / 100) for i in many}})
    done = compare(a, b)
    shown = [row[0] for row in rows(done) if row[-1] == "faster"]
    assert shown == [f"v{i}" for i in many][5:]
    assert "left out: 5 cases: 5 faster" in done.stdout


def test_a_difference_counts_beyond_the_noise_of_both(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY, "csr*": times(1.25)}})
    b = result({("fem3", 0): {"csr": times(1.2), "csr*": times(1.2)}})
    done = compare(a, b)
    assert "noise floor: 1.25x in A, 1.00x in B" in done.stdout
    assert "1 undecided" in done.stdout
    assert "of 1 case:" in done.stdout  # twins are no contenders


def test_points_are_parameters_and_launches(compare: Compare) -> None:
    """Where the same matrix ran on one and two threads, each is compared with its own."""
    a = result({("fem3", 0): {"csr": STEADY}, ("fem3", 1): {"csr": times(2)}}, (1, 2))
    b = result({("fem3", 0): {"csr": times(6)}, ("fem3", 1): {"csr": times(3)}}, (2, 1))
    table = rows(compare(a, b, "--all"))[2:]
    assert [(row[1], row[6]) for row in table] == [("threads=1", "3.00x"), ("threads=2", "3.00x")]


@pytest.mark.parametrize(("change", "named"), [
    (lambda launch: launch.update(ranks=4), "ranks=4"),
    (lambda launch: launch.update(hosts=2), "hosts=2"),
    (lambda launch: launch["environment"].update(OMP_PROC_BIND="close"), "OMP_PROC_BIND=close"),
])
def test_other_launches_are_other_points(
        compare: Compare, change: Callable[[Json], None], named: str) -> None:
    a = result({("fem3", 0): {"csr": STEADY}, ("fem3", 1): {"csr": STEADY}}, (1, 2))
    b = copy.deepcopy(a)
    change(b["launches"][1])
    done = compare(a, b)
    assert "of 1 case" in done.stdout
    assert f"  only in B: 1 case: {named}\n" in done.stdout


def test_threads_are_not_told_twice(compare: Compare) -> None:
    """A program that was started by hand has no OMP_NUM_THREADS."""
    a = result({("fem3", 0): {"csr": STEADY}})
    b = copy.deepcopy(a)
    b["launches"][0]["environment"] = {}
    assert "of 1 case: 1 alike" in compare(a, b).stdout


def test_what_one_side_lacks_is_counted_and_named(compare: Compare) -> None:
    both = {"csr": STEADY, "coo": STEADY}
    a = result({("fem3", 0): both | {"mkl": STEADY}, ("rmat", 0): both | {"mkl": STEADY},
                ("short", 0): both})
    b = result({("fem3", 0): both, ("rmat", 0): {"csr": STEADY}})
    done = compare(a, b)
    assert "  only in A: 5 cases: mkl (2), coo rmat, matrix=short (2)\n" in done.stdout
    assert "only in B" not in done.stdout


def test_what_failed_is_named_and_not_compared(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY, "coo": STEADY}})
    b = result({("fem3", 0): {"csr": STEADY, "coo": []}})
    done = compare(a, b)
    assert "of 1 case" in done.stdout
    assert "  failed in B: 1 case: coo\n" in done.stdout


def test_many_names_are_cut_short(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY, **{f"v{i}": STEADY for i in range(9)}}})
    b = result({("fem3", 0): {"csr": STEADY}})
    cut = "only in A: 9 cases: v0, v1, v2, v3, v4, v5, and 3 more\n"
    assert cut in compare(a, b).stdout
    assert "v8\n" in compare(a, b, "--all").stdout


def test_other_data_and_other_machines_are_said_once(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY}, ("rmat", 0): {"csr": STEADY}})
    b = copy.deepcopy(a)
    b["datasets"]["fem3"]["sha256"] = "e" * 64
    b["machine"]["slug"] = "other-2c"
    said = compare(a, b).stdout
    assert said.count("Other data under the same name: fem3.\n") == 1
    assert said.count("The machines differ: A ran on example-2c, B on other-2c.\n") == 1


def test_a_single_round_has_no_interval(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": [1e-3]}}, rounds=1)
    b = result({("fem3", 0): {"csr": [5e-4]}}, rounds=1)
    done = compare(a, b, "--all")
    assert "geometric mean 2.00x (one round) of 1 case: 1 undecided" in done.stdout


def test_a_study_is_a_parameter_like_others(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY}, ("rmat", 0): {"csr": STEADY}})
    for entry, study in zip(a["cases"], ("spmv", "setup"), strict=True):
        entry["parameters"] = {"study": study, "matrix": "fem3"}
    table = rows(compare(a, copy.deepcopy(a), "--all"))[2:]
    assert [row[1] for row in table] == ["spmv", "setup"]


def test_markdown(compare: Compare) -> None:
    a = result({("fem3", 0): {"csr": STEADY, "coo": STEADY}})
    b = result({("fem3", 0): {"csr": times(2), "coo": times(1)}})
    lines = compare(a, b, "--markdown").stdout.splitlines()
    assert lines[0] == "- A is a.json, B is b.json."
    assert lines[5:] == [
        "## spmv-demo",
        "",
        "geometric mean 1.41x (1.41–1.41) of 2 cases: 1 faster, 1 alike; noise floor unknown"
        " in A, unknown in B.",
        "",
        "| variant | point | A | B | speed | interval | B is |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
        "| `csr` |  | 1.00 ms | 500 µs | 2.00x | 2.00–2.00 | faster |",
        "",
        "- left out: 1 case: 1 alike (--all shows them)",
    ]


# --- what A and B may be -------------------------------------------------------------------------


@pytest.fixture
def machines(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two machines of a tree, one with a kept run, and a run of one's own."""
    monkeypatch.chdir(root)
    raw = result({("fem3", 0): {"csr": STEADY}})
    for place, speed in (("reports/one/results/spmv-demo.json", 1),
                         ("reports/two/results/spmv-demo.json", 2),
                         ("reports/two/results/spmv-demo@mine.json.gz", 3),
                         ("build/runs/1/result.json", 4)):
        raw["cases"][0]["samples_s"] = times(speed)
        results.write(raw, root / place)
    return root


@pytest.mark.parametrize(("a", "b", "expected"), [
    ("one", "two", "2.00x"),
    ("reports/one", "reports/two", "2.00x"),
    ("one", "build/runs/1", "4.00x"),
    ("build/runs/1/result.json", "two", "0.50x"),
    ("build/runs/1", "reports/two/results/spmv-demo@mine.json.gz", "0.75x"),
])
def test_files_folders_and_machines(machines: Path, a: str, b: str, expected: str) -> None:
    done = run(machines, "compare", a, b)
    assert done.returncode == 0
    assert f"spmv-demo: geometric mean {expected}" in done.stdout


def test_kept_runs_are_compared_by_their_titles_compressed_or_not(machines: Path) -> None:
    raw = results.load(machines / "reports/two/results/spmv-demo@mine.json.gz").raw
    raw["cases"][0]["samples_s"] = times(6)
    results.write(raw, machines / "reports/one/results/spmv-demo@mine.json")
    said = run(machines, "compare", "one", "two").stdout
    assert "spmv-demo: geometric mean 2.00x" in said
    assert "spmv-demo@mine: geometric mean 0.50x" in said


def test_results_that_one_machine_lacks_are_named(machines: Path) -> None:
    results.write(results.load(machines / "reports/two/results/spmv-demo.json").raw
                  | {"run": synthetic.frame(ROUNDS, (1,))["run"] | {"experiment": "other"}},
                  machines / "reports/one/results/other.json")
    said = run(machines, "compare", "one", "two").stdout
    assert "Only in A: other.\n" in said
    assert "Only in B: spmv-demo@mine.\n" in said


def _cut_off(path: Path) -> None:
    path.write_text("{")


def _other_json(path: Path) -> None:
    path.write_text(json.dumps({"schema": 1}))


def _other_experiment(path: Path) -> None:
    raw = results.load(path).raw
    raw["run"]["experiment"] = "other"
    results.write(raw, path)


def _other_matrix(path: Path) -> None:
    raw = results.load(path).raw
    raw["cases"][0]["parameters"] = {"matrix": "rmat"}
    results.write(raw, path)


def _only_failures(path: Path) -> None:
    results.write(result({("fem3", 0): {"csr": []}}), path)


@pytest.mark.parametrize(("change", "said"), [
    (Path.unlink, "compare: build/runs/1 is no result, no folder of a finished run and no machine"
                  " below reports/"),
    (_cut_off, "build/runs/1/result.json:1:2: not JSON"),
    (_other_json, "build/runs/1/result.json: $.schema: found 1, expected 2: another version"),
    (_other_experiment, "compare: no experiment in common: A has spmv-demo, B has other"),
    (_other_matrix, "compare: no case in common: only in A matrix=fem3; only in B matrix=rmat"),
    (_only_failures, "compare: no case in common: failed in B csr"),
])
def test_a_users_error_is_one_line(
        machines: Path, change: Callable[[Path], None], said: str) -> None:
    change(machines / "build/runs/1/result.json")
    done = run(machines, "compare", "one", "build/runs/1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(said) and done.stderr.count("\n") == 1


def test_of_two_launches_that_are_alike_the_first_counts(machines: Path) -> None:
    raw = result({("fem3", 0): {"csr": STEADY}, ("fem3", 1): {"csr": STEADY}}, (1, 1))
    results.write(raw, machines / "build/runs/1/result.json")
    done = run(machines, "compare", "one", "build/runs/1")
    assert done.returncode == 0
    assert "of 1 case" in done.stdout
    assert "measured again in B, in a launch like another: 1 case" in done.stdout

"""`profile`: the cases that are asked for, what ncu and perf print, and what is written of it.

The table of kernels was recorded on an H200, without the columns that describe the device.
"""

import io
import json
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import pytest

from memwall.record import results
from memwall.record.console import Console
from memwall.record.errors import UserError
from memwall.record.results import Json
from memwall.run import profiler
from memwall.run.run_one import run_one
from memwall.run.tests.fake_tree import add_experiment, behave, make_tree
from memwall.run.workspace import Workspace

TABLE = (Path(__file__).parent / "data/ncu-raw.csv").read_text(encoding="utf-8")

NCU = """
import json, pathlib, subprocess, sys
here = pathlib.Path(__file__).parent
if "--version" in sys.argv:
    sys.exit(print("Version 2025.3.1.0 (build 1)"))
(here / "told.json").write_text(json.dumps(sys.argv[1:]))
at = next(i for i, word in enumerate(sys.argv) if "/experiments/" in word)
code = subprocess.call(sys.argv[at:])
print((here / "says").read_text())
sys.exit(code)
"""

#: Counts a thousand of each event for each time that it is told to begin and to end.
PERF = """
import os, pathlib, select, subprocess, sys
if "--version" in sys.argv:
    sys.exit(print("perf version 6.1.90"))
words = sys.argv[sys.argv.index("stat"):]
hears, answers = map(int, words[words.index("--control") + 1].removeprefix("fd:").split(","))
assert words[words.index("-D") + 1] == "-1"
program = subprocess.Popen(words[words.index("--") + 1:], close_fds=False)
heard = b""
while program.poll() is None:
    if select.select([hears], [], [], 0.01)[0]:
        heard += os.read(hears, 100)
        os.write(answers, b"ack\\n\\0")
assert heard == b"enable\\ndisable\\n" * (len(heard) // 15), heard
for event in words[words.index("-e") + 1].split(","):
    lacks = event in (pathlib.Path(__file__).parent / "says").read_text()
    value = "<not supported>" if lacks else 1000 * len(heard) // 15
    print(f"{value},,{event}:u,123,100.00,,", file=sys.stderr)
sys.exit(program.returncode)
"""


def fake(root: Path, name: str, program: str, says: str = "") -> Path:
    """Puts a profiler into the only folder where programs are looked for."""
    folder = root / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "says").write_text(says, encoding="utf-8")
    path = folder / name
    path.write_text(f"#!{sys.executable}{program}")
    path.chmod(0o755)
    return folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tree = make_tree(tmp_path / "tree")
    (tree / "bin").mkdir()
    monkeypatch.chdir(tree)
    monkeypatch.setenv("PATH", str(tree / "bin"))
    return tree


def measured(root: Path, **behaviour: Any) -> Path:
    """The result of a run of an experiment that behaves so: two sizes, each `slow` and `fast`."""
    if not (root / "experiments/alpha").exists():
        add_experiment(root, "alpha", **behaviour)
    stream = io.StringIO()
    workspace = Workspace(root, root / "build")
    assert run_one(workspace, "alpha", ["--profile", "tiny"], Console(stream), None) == 0
    return root / stream.getvalue().splitlines()[-1]


def profile(root: Path, *arguments: str) -> list[str]:
    """What the command says."""
    parser = ArgumentParser()
    profiler.add_options(parser)
    stream = io.StringIO()
    given = parser.parse_args(["alpha", *arguments])
    profiler.profile_cases(Workspace(root, root / "build"), given, Console(stream))
    return stream.getvalue().splitlines()


def counted(path: Path) -> dict[tuple[str, float], Json]:
    """The counters of a result, by variant and size."""
    return {(case["variant"], case["parameters"]["size"]): case["counters"]
            for case in results.load(path).raw["cases"] if "counters" in case}


def test_kernels_are_read_behind_what_the_program_says() -> None:
    first, second = profiler.kernels_of(TABLE.replace("62.27", "n/a", 1).replace("6.11", "nan", 1))
    assert second["dram__bytes.sum"] == 450560
    assert second["lts__t_sectors_op_read.sum"] == 34821
    assert "l1tex__t_sector_hit_rate.pct" not in first
    lacks = profiler.STALL.format("long_scoreboard")
    assert (lacks in first) + (lacks in second) == 1  # nan is no number of a result
    assert profiler.kernels_of("==WARNING== No kernels were profiled.\n") == []


def test_kernels_of_a_call_are_added_and_written(root: Path) -> None:
    told = fake(root, "ncu", NCU, TABLE) / "told.json"
    path = measured(root, target="cuda", iterations=2)
    before = results.load(path)
    said = profile(root, "--result", str(path), "--variant", "fast")
    assert list(counted(path)) == [("fast", 100)]
    assert said[0].split() == ["fast", "size=100"]
    assert said[1].startswith("1 case, about 1 s")
    found = counted(path)["fast", 100]
    assert found["tool"] == "ncu 2025.3.1.0"
    values = found["values"]
    first, second = profiler.kernels_of(TABLE)
    times = [kernel["gpu__time_duration.sum"] for kernel in (first, second)]
    assert values["seconds"] == pytest.approx(sum(times) * 1e-9 / 2)
    assert values["l2_sectors"] == pytest.approx(
        sum(kernel["lts__t_sectors_op_read.sum"] for kernel in (first, second)) / 2)
    shares = [kernel["lts__t_sector_hit_rate.pct"] for kernel in (first, second)]
    weighted = sum(share * time for share, time in zip(shares, times, strict=True)) / sum(times)
    assert values["l2_hit_percent"] == pytest.approx(weighted, rel=1e-5)
    assert "stall_long_scoreboard" in values
    assert "global_load_requests" not in values  # the table has no such column
    command = json.loads(told.read_text())
    for option, value in (("--profile-from-start", "off"), ("--graph-profiling", "node"),
                          ("--cache-control", "none"), ("--filter", "^fast$"),
                          ("--size", "100"), ("--samples", "1"), ("--profile", "tiny")):
        assert command[command.index(option) + 1] == value
    assert "--study" not in command
    after = results.load(path)
    assert [case.samples for case in after.cases] == [case.samples for case in before.cases]


def test_cold_cases_have_empty_caches_before_each_kernel(root: Path) -> None:
    told = fake(root, "ncu", NCU, TABLE) / "told.json"
    path = measured(root, target="cuda", cold_beside=[1e-4, 1e-4])
    profile(root, "--result", str(path), "--counters", "l2_sectors")
    command = json.loads(told.read_text())
    assert command[command.index("--cache-control") + 1] == "all"
    assert list(counted(path)["slow", 100]["values"]) == ["l2_sectors"]


@pytest.mark.parametrize(
    ("says", "reason"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission", "only administrators"),
        ("==WARNING== No kernels were profiled.", "slow launched no kernel while it was timed"),
    ],
)
def test_what_ncu_cannot_tell_is_one_line(root: Path, says: str, reason: str) -> None:
    fake(root, "ncu", NCU, says)
    path = measured(root, target="cuda")
    with pytest.raises(UserError, match=reason):
        profile(root, "--result", str(path))
    assert counted(path) == {}


def test_a_program_that_fails_is_named_by_its_last_line(root: Path) -> None:
    fake(root, "ncu", NCU, "")
    path = measured(root, target="cuda")
    behave(root, "alpha", refuse="no memory is left")
    with pytest.raises(UserError, match="slow under ncu ended with code 2: no memory is left"):
        profile(root, "--result", str(path))


def test_events_are_those_of_one_call(root: Path) -> None:
    fake(root, "perf", PERF, "LLC-load-misses")
    path = measured(root, iterations=4)
    profile(root, "--result", str(path), "--where", "size=101")
    assert counted(path) == {
        (variant, 101): {"tool": "perf 6.1.90", "values": dict.fromkeys(
            ("branch_misses", "branches", "instructions", "cycles"), 250.0)}
        for variant in ("slow", "fast")
    }


def test_counters_replace_those_of_before(root: Path) -> None:
    fake(root, "perf", PERF)
    path = measured(root)
    profile(root, "--result", str(path), "--where", "size=>0")
    assert len(counted(path)) == 4
    profile(root, "--result", str(path), "--variant", "f*", "--counters", "cycles")
    values = {place: list(found["values"]) for place, found in counted(path).items()}
    assert values.pop(("fast", 100)) == ["cycles"]
    assert all(len(names) == 5 for names in values.values())


@pytest.mark.parametrize("lacks", [" ".join(profiler.OF_PROCESSORS.values())])
def test_a_processor_without_counters_says_so(root: Path, lacks: str) -> None:
    fake(root, "perf", PERF, lacks)
    path = measured(root)
    with pytest.raises(UserError, match="^profile: this machine lets no program read its count"):
        profile(root, "--result", str(path))
    fake(root, "perf", '\nimport sys\nsys.exit("Access is limited: perf_event_paranoid is 3")')
    with pytest.raises(UserError, match="^profile: this machine lets no program read its count"):
        profile(root, "--result", str(path))
    assert counted(path) == {}


def test_without_a_profiler_one_line_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = measured(root)
    with pytest.raises(UserError, match="profile: perf is not on this machine"):
        profile(root, "--result", str(path))
    behave(root, "alpha", target="cuda")
    path = measured(root)
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(UserError, match="Nsight Compute"):
        profile(root, "--result", str(path))


def test_only_what_was_measured_here_is_profiled(root: Path) -> None:
    fake(root, "perf", PERF)
    path = measured(root)
    for words, reason in (
        (("--variant", "none"), "no such case"),
        (("--where", "color=red"), "color"),
        (("--where", "size"), "--where: found 'size', expected AXIS=VALUE"),
        (("--counters", "l2_sectors"), "none of perf, which has: branch_misses"),
    ):
        with pytest.raises(UserError, match=reason):
            profile(root, "--result", str(path), *words)
    raw = results.load(path).raw
    for changed, reason in (
        ({"run": raw["run"] | {"experiment": "beta"}}, "is a result of beta, not of alpha"),
        ({"machine": raw["machine"] | {"cpu": raw["machine"]["cpu"] | {"family": 26}}},
         "from another machine: processor"),
    ):
        results.write(raw | changed, root / "other.json")
        with pytest.raises(UserError, match=reason):
            profile(root, "--result", "other.json")
    source = root / "experiments/alpha/main.cpp"
    source.write_text(source.read_text().replace("work();", "less();", 1))
    with pytest.raises(UserError, match="slow is no longer what was measured"):
        profile(root, "--result", str(path))


def test_a_program_is_told_what_the_run_was_told(root: Path) -> None:
    path = measured(root)
    raw = results.load(path).raw
    raw["run"]["arguments"] = ["--size", "100", "101", "--seed", "7", "--samples", "9",
                               "--study=sizes", "--profile", "tiny"]
    case = raw["cases"][0]
    case["variant"] = "sell.32+x"
    results.write(raw, path)
    result = results.load(path)
    start = profiler.Start(Path("program"), result, result.cases[0])
    assert start.command() == [
        "program", "--seed", "7", "--profile", "tiny", "--study", "sizes", "--size", "100",
        "--filter", "^sell[.]32[+]x$", "--threads", "1"]


def test_more_than_the_case_is_refused(root: Path) -> None:
    """As counters of several variants would be added."""
    path = measured(root, points=1)
    result = results.load(path)
    start = profiler.Start(Path("program"), result, result.cases[0])
    with pytest.raises(UserError, match="asked for slow alone, the program measured slow, fast"):
        start._calls(result)

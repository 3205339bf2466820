"""Every command over made-up machines and results, in any order, whatever goes wrong.

After each step nothing that was measured is lost unless the command said so, no file has changed
that is not the command's own, what failed said so in one line, and the same command does its work
as soon as the cause is gone. CI takes a few steps, the same each time; with MEMWALL_STATE_SECONDS
it goes on for so long, each time with others.
"""

import json
import os
import re
import shutil
import signal
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, note, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from memwall import __main__ as memwall
from memwall.record import files, machines, names, stored
from memwall.run import bundle
from memwall.run.tests import fake_tree
from memwall.tests import made_up
from memwall.tests.watched import RAISED, Done, Fault, Started, contents, samples

EXPERIMENTS = ("spmv-omp-schedules", "spmv-plan", "spmv-serial-steps")
#: The machine whose folder came with the tree, and other names that a user may choose.
LISTED = "came-with"
FOLDERS = (LISTED, "mine", "other")
TITLES = ("one", "two")
#: What the hardware says of itself; the last two differ only in what renames nobody.
HARDWARE: tuple[dict[str, Any], ...] = (
    {"cpu": {"cores": 64, "hardware_threads": 128}},
    {"cpu": {"model": "<script>alert(1)</script>|`&\x1b[31m"}, "slug": "script"},
    {"cpu": {"caches": []}, "slug": "a" * 130},
    {"gpus": [{"name": "GPU\u202e9", "memory_bytes": 1 << 34, "compute_capability": "9.0"}]},
    {},
    {"memory_bytes": 1 << 40, "os": "Linux 99"},
)
USUAL = len(HARDWARE) - 2
#: What programs may do instead of measuring, and what `run` ends with then.
DOES: dict[str, tuple[dict[str, object], int]] = {
    "measures": ({}, 0), "fails": ({"fail": True}, 1), "refuses": ({"refuse": "a\nno"}, 2),
    "skips": ({"skip": "no such thing here"}, 1), "aborts": ({"oddly": "aborts"}, 1),
}
NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e308", "", "1.5", " 1", "1_0", "\u0663", "9" * 300)
ODD = ("", ".", "..", "/", "-", "a/b", "a/", "../x", "a" * 250, "A", "a b", "\n", "a\nb",
       "\x1b[2J", "\udcff", "\u202e", "README.md", "machines.txt", "%s", "{}", "$(id)", "~", "ä")
DAMAGE: tuple[Callable[[bytes], bytes], ...] = (
    lambda text: b"", lambda text: text[:len(text) // 2], lambda text: b"[]",
    lambda text: b"null", lambda text: b'{"schema": 99}', lambda text: b"\xff\xfe\x00",
    lambda text: text.replace(b'"schema":2', b'"schema":99'), lambda text: b"[" * 100_000,
    lambda text: text.replace(b"0.", b"NaN,0.", 1), lambda text: b'{"a": "b", "cases": 1}',
    lambda text: text.replace(b"0.", b"1e999,0.", 1), lambda text: b"7",
)
DAMAGED = ("reports/*/results/*.json", "reports/*/results/*.json.gz", "build/runs/*/*.json",
           "build/run-all/*.json", "build/run-all/*/*/*.json", "build/run-all/*/*/*/*.json",
           "build/study/*/*.json", "build/study/*/*/*.json", "reports/machines.txt",
           "experiments/*/experiment.toml", "experiments/*/report.json",
           "experiments/*/README.md", "experiments/meson.build")
#: Programs that tell nothing of the machine.
UNKNOWN = ("#!/bin/sh\necho one >&2; echo two >&2; exit 3\n", "#!/bin/sh\n", "#!/bin/sh\necho []\n",
           "#!/bin/sh\necho '{}'\n", "#!/bin/sh\nkill -9 $$\n", "no program", "#!/no/such\n")

COMMITTED = (r"README\.md|reports/README\.md|reports/[^/]+/README\.md|build/weave/lock"
             r"|experiments/[^/]+/(README\.md|report\.(md|json)|figures/.*)")

KINDS = ("ENOSPC", "EROFS", "SIGINT", "SIGTERM", "SIGKILL")
FAULTS = st.none() | st.builds(Fault, st.sampled_from(KINDS), st.integers(1, 12)) | st.builds(
    Fault, st.sampled_from(("nobody reads", "closed output", "full output"))) | st.builds(
    Fault, st.sampled_from(("stop SIGINT", "stop SIGTERM", "stop SIGKILL")), st.integers(1, 15))

Words = Sequence[str]
#: A sample and the files that hold it; and what the command that may lose it has said.
MayLose = Callable[[str, set[str]], bool]


def nothing_lost(_: str, __: set[str]) -> bool:
    """Of most commands."""
    return False


@dataclass(frozen=True)
class Call:
    """A command, and what holds of it."""

    words: Words
    ends: frozenset[int] = frozenset({0})  # with one of these codes, when nothing hinders it
    own: Callable[[str], str] = field(default=lambda said: r"(?!)")  # the paths that it may change
    may_lose: MayLose = nothing_lost

    def command(self, root: Path) -> Callable[[], int]:
        """What it starts."""
        which, *words = self.words
        where = ["--root", str(root)]
        if which == "bundle":
            return lambda: bundle.main(root, words)
        return lambda: memwall.main([*where, *words])


Item = TypeVar("Item")


@cache
def template() -> Path:
    """A tree with experiments, and a machine that came with it."""
    room = Path(tempfile.mkdtemp(prefix="state-"))
    root = fake_tree.make_tree(room / "tree")
    for name in EXPERIMENTS:
        fake_tree.add_experiment(root, name, unique=True, machine=HARDWARE[USUAL])
    path = root / "experiments/spmv-omp-schedules/experiment.toml"
    path.write_text(path.read_text().replace("[launch]",
                                             '[launch]\nOMP_SCHEDULE = ["static", "dynamic"]'))
    (root / "experiments/meson.build").write_text("")
    for program, said in (("sparse/describe", asdict(made_up.features())),
                          ("distributed/anatomy", made_up.anatomy())):
        at = root / "build/lib" / program
        at.parent.mkdir(parents=True)
        at.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps(said)}\nE\n")
        at.chmod(0o755)
    for name in ("a.mtx", "b.mtx"):
        (root / name).write_text(name)
    (room / "tmp").mkdir()
    for call in (Call(["measure", "run-all", "--machine", LISTED]),):
        done = Started(room, call.command(root)).done()
        assert done.code == 0, done
    machines.enlist(root, LISTED)
    assert Started(room, Call(["weave", "report"]).command(root)).done().code == 0
    return room


class Commands(RuleBasedStateMachine):
    """A user, and what may happen to one."""

    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.room = Path(tempfile.mkdtemp(prefix="state-"))
        shutil.copytree(template(), self.room, symlinks=True, dirs_exist_ok=True)
        self.root = self.room / "tree"
        self.hardware = USUAL
        self.does = dict.fromkeys(EXPERIMENTS, "measures")
        self.stop: tuple[int, int] | None = None
        self.replaced: set[float] = set()  # samples in whose place others stand in reports/

    def teardown(self) -> None:
        shutil.rmtree(self.room)

    # --- what holds after each step ---------------------------------------------------------------

    def perform(self, call: Call, fault: Fault | None = None) -> Done:
        """The command, hindered by a fault and then once more without, as far as it has one."""
        done = self.hindered(call, fault) if fault else None
        if done and done.code == 0:
            return done
        again = self.resumed(call, done) if done else call
        return self.watched([again])[0]

    def hindered(self, call: Call, fault: Fault) -> Done:
        """The command with a fault."""
        ends = call.ends | {1, 2, 130}
        if fault.kind.endswith("SIGKILL"):
            ends |= {-signal.SIGKILL}
        if fault.kind.startswith("stop "):
            self.stop = (getattr(signal, fault.kind.removeprefix("stop ")), fault.nth)
            self.tell_programs()
        kind = None if self.stop else fault
        try:
            hindered = Call(call.words, frozenset(ends), call.own, call.may_lose)
            return self.watched([hindered], kind)[0]
        finally:
            if self.stop:
                self.stop = None
                self.tell_programs()

    def resumed(self, call: Call, done: Done) -> Call:
        """The command that goes on, as it was said."""
        said = re.search(r"to go on: just run (\S+) --resume (\S+)$", done.out, re.MULTILINE)
        if said and done.code != 2:
            return Call(["measure", "run", said[1], "--resume", said[2]], call.ends, call.own,
                        call.may_lose)
        return call

    def watched(self, calls: Sequence[Call], fault: Fault | None = None) -> list[Done]:
        """Commands at once, and what must hold after them."""
        type(self).steps += 1
        before = contents(self.room)
        started = [Started(self.room, call.command(self.root), fault) for call in calls]
        every = [each.done() for each in started]
        after = contents(self.room)
        for call, done in zip(calls, every, strict=True):
            note(f"{call.words} {fault}: {done}")
            quiet = fault is not None and fault.kind in ("nobody reads", "closed output")
            waits = len(calls) > 1 and "another run is at work in" in done.err
            assert done.code in call.ends or (waits and done.code == 2), (call.words, done)
            says_so(done, quiet)
        self.only_own(calls, every, before, after)
        self.nothing_lost(calls, every, before, after)
        return every

    def only_own(self, calls: Sequence[Call], every: Sequence[Done], before: Mapping[str, bytes],
                 after: Mapping[str, bytes]) -> None:
        """No file differs that is not the commands' own, nothing unfinished is left."""
        killed = any(done.code == -signal.SIGKILL for done in every)
        own = [re.compile(call.own(done.out)) for call, done in zip(calls, every, strict=True)]
        for path in before.keys() | after.keys():
            if before.get(path) == after.get(path) or path.endswith("/has-stopped"):
                continue
            if killed and (path.startswith("tmp/") or path.endswith(".part") or ".part/" in path):
                continue
            if path not in after and ".part" in path:  # what a killed command had left
                continue
            unfinished = not path.startswith("tree/") or ".part" in path
            inside = path.removeprefix("tree/")
            assert not unfinished and any(each.fullmatch(inside) for each in own), (
                f"changed {path}", [call.words for call in calls], every)

    def nothing_lost(self, calls: Sequence[Call], every: Sequence[Done],
                     before: Mapping[str, bytes], after: Mapping[str, bytes]) -> None:
        """Every sample is still somewhere, unless the commands may replace it or others did."""
        now = samples(after)
        for sample, found in samples(before).items():
            places = {place.removeprefix("tree/") for place in found}
            if found <= now.get(sample, set()):
                continue
            may = any(call.may_lose(done.out, places)
                      for call, done in zip(calls, every, strict=True))
            self.replaced |= {sample} if may else set()
            assert sample in now or sample in self.replaced, (
                f"lost {sample} of {places}", [call.words for call in calls], every)

    # --- commands ---------------------------------------------------------------------------------

    def run(self, data: st.DataObject) -> Call:
        name = data.draw(st.sampled_from(EXPERIMENTS))
        options = data.draw(st.sampled_from([[], ["--profile", "tiny"], ["--samples", "5"],
                                             ["--size", "100"], ["--threads", "1"]]))
        return Call(["measure", "run", name, *options], frozenset({DOES[self.does[name]][1]}),
                    lambda said: rf"build/runs/{name}-[^/]+/.*")

    def run_all(self, data: st.DataObject) -> Call:
        machine = data.draw(st.none() | st.sampled_from(FOLDERS))
        profile = data.draw(st.sampled_from(("quick", "quick", "full", "tiny")))
        words = ["--machine", machine] if machine else []
        is_well = set(self.does.values()) == {"measures"} and not self.unbuilt()
        ends = {0} if is_well else {0, 1}
        if not self.may_be(machine):
            ends = {2}

        def slug(said: str) -> str:
            found = re.search(r"^\w+ profile on (.*):$", said, re.MULTILINE)
            return found[1] if found else machine or rf"(?!{LISTED}/)[^/]+"  # nobody could read it

        def own(said: str) -> str:
            return (rf"reports/{slug(said)}/results/[^/@]+\.json|build/run-all/(lock|durations"
                    rf"\.json|{slug(said)}/{profile}/.*)|build/reports/{slug(said)}/.*|{COMMITTED}")

        def may_lose(said: str, places: set[str]) -> bool:
            return any(re.fullmatch(rf"reports/{slug(said)}/results/[^/@]+\.json", place)
                       for place in places)

        if profile == "tiny":
            words = ["bundle", "run-all", "--profile", "tiny", *words]
        else:
            words = ["measure", "run-all", *words, *(["--full"] if profile == "full" else [])]
        return Call(words, frozenset(ends), own, may_lose)

    def keep(self, data: st.DataObject) -> Call | None:
        run = one_of(data, sorted(self.root.glob("build/runs/*/result.json")))
        title = data.draw(st.sampled_from(TITLES))
        machine = data.draw(st.none() | st.sampled_from(FOLDERS))
        if run is None:
            return None
        told = json.loads(run.read_text())
        is_fit = self.may_be(machine, told["machine"]) and told["run"]["profile"] != "tiny"
        name = rf"results/{told['run']['experiment']}@{title}\.json\.gz"
        given = ["--machine", machine] if machine else []

        def may_lose(_: str, places: set[str]) -> bool:
            return any(re.fullmatch(rf"reports/[^/]+/{name}", place) for place in places)

        return Call(["weave", "keep", str(run.parent), title, *given],
                    frozenset({0 if is_fit else 2}),
                    lambda said: rf"reports/[^/]+/{name}|build/reports/.*|{COMMITTED}", may_lose)

    def report(self, data: st.DataObject) -> Call:
        machine = one_of(data, [None, *self.folders()])
        given = [machine] if machine else []
        ends = frozenset({0} if machine is None or self.counted(machine) else {2})
        return Call(["weave", "report", *given], ends,
                    lambda said: rf"build/reports/{machine}/.*|{COMMITTED}")

    def compare(self, data: st.DataObject) -> Call:
        which = [*self.folders(), *map(str, sorted(self.root.glob("build/runs/*/result.json")))]
        a, b = str(one_of(data, which)), str(one_of(data, which))
        more = data.draw(st.sampled_from([[], ["--all"], ["--markdown"]]))
        return Call(["weave", "compare", a, b, *more], frozenset({0, 2}))

    def contribute(self, data: st.DataObject) -> Call:
        machine = one_of(data, [None, *self.folders()])
        given = ["--machine", machine] if machine else []
        is_whole = machine is not None and self.counted(machine) == self.results(machine)
        return Call(["measure", "contribute", *given], frozenset({0} if is_whole else {0, 1, 2}),
                    lambda said: r"reports/[^/]+/README\.md|build/contribute/[^/]+\.tar\.gz"
                    rf"|reports/machines\.txt|{COMMITTED}")

    def study(self, data: st.DataObject) -> Call:
        file = data.draw(st.sampled_from(("a", "b")))
        ends = {DOES[does][1] for does in self.does.values()}
        own = rf"build/study/{file}(-[0-9a-f]{{8}})?/.*"  # marked: its note was damaged
        return Call(["study", "study", f"{file}.mtx"], frozenset(ends), lambda said: own,
                    lambda said, places: "measured anew" in said and all(
                        re.fullmatch(own, place) for place in places))

    def new(self, data: st.DataObject) -> Call:
        name = data.draw(st.sampled_from(("idea", "my-idea")))
        return Call(["weave", "new", name], frozenset({0}),
                    lambda said: rf"experiments/{name}/.*|experiments/meson\.build|{COMMITTED}")

    def one(self, data: st.DataObject) -> Call | None:
        """Any of them."""
        makes = [self.run, self.run_all, self.keep, self.report, self.compare, self.contribute,
                 self.study, self.new]
        return makes[data.draw(st.integers(0, len(makes) - 1))](data)

    @rule(data=st.data(), fault=FAULTS)
    def a_command(self, data: st.DataObject, fault: Fault | None) -> None:
        if call := self.one(data):
            self.perform(call, fault)

    @rule(data=st.data(), fault=FAULTS)
    def a_run_of_all(self, data: st.DataObject, fault: Fault | None) -> None:
        self.perform(self.run_all(data), fault)

    @rule(data=st.data(), fault=FAULTS)
    def a_kept_run(self, data: st.DataObject, fault: Fault | None) -> None:
        if call := self.keep(data):
            self.perform(call, fault)

    @rule(data=st.data())
    def two_at_once(self, data: st.DataObject) -> None:
        first, second = self.one(data), self.one(data)
        if first and second:
            calls = [Call(call.words, call.ends | {0, 1, 2}, call.own, call.may_lose)
                     for call in (first, second)]
            self.watched(calls)

    # --- what users get wrong ---------------------------------------------------------------------

    @rule(word=st.sampled_from(ODD) | st.text(st.characters(exclude_characters="\0"), max_size=9),
          which=st.integers(0, 12), is_number=st.booleans(), number=st.sampled_from(NUMBERS))
    def an_odd_word(self, word: str, which: int, is_number: bool, number: str) -> None:
        name = EXPERIMENTS[0]
        if is_number:
            words = [["measure", "run", name, option, number]
                     for option in ("--threads", "--ranks", "--samples", "--profile", "--resume")]
            words.append(["measure", "slurm", number])
        else:
            words = [
                ["weave", "keep", f"reports/{LISTED}/results/{name}.json", word],
                ["weave", "keep", f"reports/{LISTED}/results/{name}.json", "t", "--machine", word],
                ["weave", "keep", word, "title"], ["weave", "report", word], ["weave", "new", word],
                ["weave", "compare", word, LISTED], ["measure", "contribute", "--machine", word],
                ["measure", "run-all", "--machine", word], ["measure", "run", word],
                ["bundle", "run-all", "--machine", word], ["study", "study", word],
                ["measure", "run", name, "--resume", word], ["weave", "page", word],
            ]
        is_right = names.WORDS.fullmatch(word) or word == "--" or word.startswith("-h")
        if is_right and not is_number:
            return
        self.watched([Call(words[which % len(words)], frozenset({2}),
                           lambda said: rf"build/weave/lock|build/runs/{name}-.*")])

    @rule(data=st.data(), how=st.sampled_from(DAMAGE))
    def a_damaged_file(self, data: st.DataObject, how: Callable[[bytes], bytes]) -> None:
        paths = sorted(path for pattern in DAMAGED for path in self.root.glob(pattern))
        path, call = one_of(data, paths), self.one(data)
        if path is None or call is None:
            return
        whole = path.read_bytes()
        path.write_bytes(damaged := how(whole))
        note(f"damaged {path}")
        done, = self.watched([Call(call.words, frozenset({0, 1, 2}), call.own, call.may_lose)])
        if path.exists() and path.read_bytes() == damaged:
            path.write_bytes(whole)
            self.watched([call] if done.code not in call.ends else [])

    @rule(data=st.data(), text=st.sampled_from(UNKNOWN))
    def an_unknown_machine(self, data: st.DataObject, text: str) -> None:
        path = self.root / "build/lib/bench/machine"
        whole = path.read_bytes()
        path.write_text(text)
        for words in (["measure", "run-all"], ["measure", "contribute"], ["measure", "folder"],
                      ["study", "study", "a.mtx"], ["bundle", "run", EXPERIMENTS[0]]):
            self.watched([Call(words, frozenset({2}))])
        path.write_bytes(whole)

    # --- what changes meanwhile -------------------------------------------------------------------

    @rule(which=st.integers(0, len(HARDWARE) - 1))
    def another_machine(self, which: int) -> None:
        self.hardware = which
        self.tell_programs()

    @rule(name=st.sampled_from(EXPERIMENTS), does=st.sampled_from(tuple(DOES)))
    def another_behaviour(self, name: str, does: str) -> None:
        self.does[name] = does
        self.tell_programs()

    @rule()
    def all_is_well(self) -> None:
        self.does = dict.fromkeys(EXPERIMENTS, "measures")
        self.tell_programs()

    @rule(name=st.sampled_from(EXPERIMENTS))
    def another_build(self, name: str) -> None:
        with (self.root / "build/experiments" / name / name).open("a") as program:
            program.write("# again\n")

    @rule(data=st.data())
    def the_user_removes_a_run(self, data: st.DataObject) -> None:
        if run := one_of(data, sorted(self.root.glob("build/runs/*"))):
            shutil.rmtree(run)

    def tell_programs(self) -> None:
        """Writes what the programs do now."""
        told: dict[str, Any] = {"machine": HARDWARE[self.hardware]}
        if self.stop:
            told["stop"] = self.stop
        for name in EXPERIMENTS:
            fake_tree.behave(self.root, name, unique=True, **told, **DOES[self.does[name]][0])
            (self.root / "build/experiments" / name / "has-stopped").unlink(missing_ok=True)
        (self.root / "build/lib/bench/behaviour.json").write_text(json.dumps(told))

    # --- what a user knows ------------------------------------------------------------------------

    def folders(self) -> list[str]:
        return sorted({path.parents[1].name for path in self.root.glob("reports/*/results/*")})

    def unbuilt(self) -> bool:
        return len(list(self.root.glob("experiments/*/"))) > len(EXPERIMENTS)

    def results(self, machine: str) -> list[Path]:
        return stored.results_of(self.root / "reports" / machine)

    def counted(self, machine: str) -> list[Path]:
        return [path for path in self.results(machine)
                if files.read_json(path)["run"]["profile"] != "tiny"]

    def may_be(self, machine: str | None, here: Mapping[str, Any] | None = None) -> bool:
        """Whether a folder may take results of a machine."""
        now = key(here) if here else key(HARDWARE[self.hardware])
        return machine is None or all(
            key(files.read_json(path)["machine"]) == now for path in self.results(machine))


def one_of(data: st.DataObject, items: Sequence[Item]) -> Item | None:
    """One of them, or None where there is none. What is drawn is the same whatever there is: two
    commands at once, or a killed one, may leave another number of files each time."""
    number = data.draw(st.integers(0, 1 << 16))
    return items[number % len(items)] if items else None


def key(machine: Mapping[str, Any]) -> tuple[object, ...]:
    """What tells made-up machines apart."""
    cpu = machine.get("cpu", {})
    return (cpu.get("cores", 2), cpu.get("model", "Fake CPU"), len(cpu.get("caches", [0])),
            len(machine.get("gpus", [])))


def says_so(done: Done, is_quiet: bool) -> None:
    """A failure is told in one line that can be printed, and is no traceback."""
    assert done.code != RAISED and "Traceback" not in done.err, done.err
    assert done.code in (0, 1, 2, 130, -signal.SIGKILL), done
    lines = done.err.splitlines()
    if lines and lines[0].startswith("usage: "):
        while lines and ": error: " not in lines[0]:
            lines.pop(0)
    told = [line for line in lines if not line.startswith("left out: ")]
    assert all(letter.isprintable() or unicodedata.category(letter) == "Zs"  # a blank of any width
               for line in lines for letter in line), done
    if is_quiet:  # what was told went nowhere
        assert len(told) <= 1, done
    elif done.code == 2:
        assert len(told) == 1, done
    elif done.code == 1:
        said = " ".join([*told, done.out])
        assert len(told) <= 1 and re.search("fail|refused|killed|wrong|nothing|died", said), done
    else:
        assert not told, done


STATE_SECONDS = "MEMWALL_STATE_SECONDS"
LONG = settings(max_examples=20, stateful_step_count=30, deadline=None, database=None,
                phases=[Phase.generate], suppress_health_check=list(HealthCheck))
SHORT = settings(LONG, max_examples=3, stateful_step_count=9, derandomize=True)


@pytest.fixture(autouse=True)
def no_template_is_left() -> Iterator[None]:
    yield
    shutil.rmtree(template())
    template.cache_clear()


@pytest.mark.first
def test_every_command() -> None:
    seconds = float(os.environ.get(STATE_SECONDS, "0"))
    if not seconds:
        run_state_machine_as_test(Commands, settings=SHORT)
        return
    ends, number = time.monotonic() + seconds, time.time_ns()
    while time.monotonic() < ends:
        run_state_machine_as_test(seed(number)(Commands), settings=LONG)
        number += 1
    print(f"{Commands.steps} commands")

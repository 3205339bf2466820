"""`just run-all`: every experiment, or those that are named, into the folder of this machine."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.analysis import claims
from memwall.record import definition, errors, files, machines, names, notation, results
from memwall.record.console import Console, duration
from memwall.record.errors import UserError
from memwall.run import looks
from memwall.run.launches import launches_of
from memwall.run.programs import AllSkipped, Measurement, measure
from memwall.run.schedule import Step, make_schedule, schedule_text
from memwall.run.watch import Watch
from memwall.run.workspace import Workspace, describe_machine, file_digest


@dataclass(frozen=True)
class SummaryLine:
    """One line of the summary."""

    name: str
    verb: str  # "measured", "FAILED", "skipped"
    details: str


#: Weaves all pages of a machine in a tree, and what all machines share.
WeaveMachine = Callable[[Path, str], object]


def run_all(workspace: Workspace, profile: str, slug: str | None, console: Console,
            weave: WeaveMachine | None, named: Sequence[str] = ()) -> int:
    """Measures what the plan says, of all experiments or of those that are named, then weaves the
    pages. 1 if anything failed, else 0.

    Without `weave` the results wait for a machine that can weave them.
    """
    for name in named:
        names.require_experiment(workspace.root, name)
    targets = [f"experiment:{name}" for name in named] + ["lib/bench/machine"]
    workspace.build_programs(*targets if named else ["programs"])
    machine = describe_machine(workspace)
    folder = machines.name_of(workspace.root, machine, slug)
    if folder.why:
        console.line(folder.why)
    machine["slug"] = folder.name
    directory = workspace.build / "run-all"
    with files.exclusive(directory) as lock:
        state = RunState(directory, machine["slug"], profile)
        try:
            run = RunOfAll(workspace, profile, machine, named, state, lock, console)
            outcomes = run.everything()
            outcomes += [run.weave(weave)] if weave else []
        except KeyboardInterrupt:
            console.line("interrupted: the same command goes on from here")
            raise
        failed = any(outcome.verb == "FAILED" for outcome in outcomes)
        if not failed:
            state.complete(named)
    console.line(summary(outcomes))
    return 1 if failed else 0


class RunState:
    """What is remembered between starts: the experiments that an unfinished run has measured, and
    how long each took the last time.

    A run is unfinished for as long as something was interrupted or failed. An experiment
    counts as measured for as long as its program stays the same. Journals and results of the
    programs lie in `folder(name)`. Each machine and profile has a folder of its own, so that a run
    of another leaves what this one has measured.
    """

    def __init__(self, directory: Path, machine: str, profile: str) -> None:
        """Continues the unfinished run of this machine and profile below `directory`, if any."""
        self._folder = directory / machine / profile
        self._key = f"{machine}/{profile}/"
        self._durations_file = directory / "durations.json"
        self._durations = _load(self._durations_file, (int, float))
        self._done = _load(self._folder / "state.json", str)

    def done(self, name: str, program: Path) -> bool:
        """True if this run has measured the experiment with the program as it is now."""
        return name in self._done and program.is_file() and self._done[name] == file_digest(program)

    def finish(self, name: str, program: Path) -> None:
        """Marks an experiment as measured."""
        self._done[name] = file_digest(program)
        files.write_json(self._folder / "state.json", self._done)

    def complete(self, named: Sequence[str]) -> None:
        """Everything, or what is named, is measured and stored: the next run begins anew."""
        if not named:
            shutil.rmtree(self._folder, ignore_errors=True)
            return
        for name in named:
            shutil.rmtree(self.folder(name), ignore_errors=True)
            self._done.pop(name, None)
        files.write_json(self._folder / "state.json", self._done)

    def durations(self) -> dict[str, float]:
        """Seconds of the last uninterrupted runs of this machine and profile, by experiment."""
        return {key.removeprefix(self._key): seconds for key, seconds in self._durations.items()
                if key.startswith(self._key)}

    def took(self, name: str, seconds: float) -> None:
        """Remembers how long an experiment took."""
        self._durations[self._key + name] = round(seconds, 1)
        files.write_json(self._durations_file, self._durations)

    def folder(self, name: str) -> Path:
        """Where the programs of an experiment keep their journals and results."""
        return self._folder / name


class RunOfAll:
    """One run of all experiments, or of those that are named, on one machine."""

    def __init__(self, workspace: Workspace, profile: str, machine: dict[str, Any],
                 named: Sequence[str], state: RunState, lock: int, console: Console) -> None:
        self._workspace = workspace
        self._profile = profile
        self._slug = machine["slug"]
        self._machine = machine
        self._named = named
        self._state = state
        self._lock = lock
        self._console = console
        self._folder = workspace.root / "reports" / self._slug

    def everything(self) -> list[SummaryLine]:
        """Follows the plan to its end, whatever fails."""
        steps = self._plan()
        self._console.line(schedule_text(steps, self._profile, self._slug))
        return [self._follow(steps, index) for index in range(len(steps))]

    def weave(self, weave: WeaveMachine) -> SummaryLine:
        """The pages of all results of this machine, and what all machines share."""
        page = self._workspace.root / "build/reports" / self._slug / "README.md"
        shown = self._workspace.shown(page)
        try:
            with files.exclusive(self._workspace.build / "weave"):
                weave(self._workspace.root, self._slug)
        except (UserError, OSError) as error:
            return SummaryLine(shown, "FAILED", errors.line_of(error))
        return SummaryLine(shown, "woven", "")

    def _plan(self) -> list[Step]:
        experiments = [experiment for experiment in definition.load_all(self._workspace.root)
                       if not self._named or experiment.name in self._named]
        paths = {experiment.name: self._folder / "results" / f"{experiment.name}.json"
                 for experiment in experiments}
        stored = {name: results.load(path).run["profile"]
                  for name, path in paths.items() if path.exists()}
        done = [experiment.name for experiment in experiments
                if self._state.done(experiment.name, self._workspace.program(experiment.name))]
        return make_schedule(experiments, self._machine, self._profile, self._state.durations(),
                             done, stored)

    def _follow(self, steps: Sequence[Step], index: int) -> SummaryLine:
        step = steps[index]
        name = step.experiment.name
        if step.verb != "run":
            verb = {"skip": "skipped", "done": "measured"}[step.verb]
            return SummaryLine(name, verb, step.reason)
        title = f"[{index + 1}/{len(steps)}] {name}"
        later = sum(other.seconds for other in steps[index + 1:])
        started = time.monotonic()
        self._console.step(title)
        try:
            failures = self._measure(step, lambda what="": Watch(self._console, title + what,
                                                                 step.seconds, later))
        except AllSkipped as error:
            self._console.line(f"{title}: skipped")
            return SummaryLine(name, "skipped", errors.line_of(error))
        except (UserError, OSError) as error:
            failures = [errors.line_of(error)]
        outcome = SummaryLine(name, "FAILED" if failures else "measured",
                          "; ".join([duration(time.monotonic() - started), *failures]))
        self._console.line(f"{title}: {outcome.verb}, {outcome.details}")
        return outcome

    def _measure(self, step: Step, watch: Callable[..., Watch]) -> list[str]:
        """Measures an experiment, and with more rounds what is open then, for as long as was
        promised; returns what failed in it."""
        name = step.experiment.name
        folder = self._state.folder(name)
        fresh = not folder.exists()
        started = time.monotonic()
        measured = self._measure_once(step, folder, [], watch())
        self._store(name, measured.result.raw)
        for look in range(1, looks.MOST_LOOKS):
            opened = claims.open_of(measured.result, self._workspace.root)
            if not opened.questions or measured.failures:  # what failed is measured again anyway
                break
            questions = ", ".join(opened.questions)
            if time.monotonic() - started > step.seconds:
                rounds = sum(looks.ROUNDS, 1) * measured.result.run["rounds"]
                self._console.line(f"{name}: took longer than {duration(step.seconds)}, so these"
                                   f" stay open: {questions}; {rounds} rounds may decide them:"
                                   f" {self._workspace.run} {name} --samples {rounds}")
                break
            points = notation.plural(len(opened.points), "point")
            self._console.line(f"{name}: more rounds at {points} to decide {questions}")
            measured = looks.further(
                measured, opened, look, folder,
                lambda more, room: self._measure_once(step, room, more, watch(", more rounds")))
            self._store(name, measured.result.raw)
        if fresh:
            self._state.took(name, time.monotonic() - started)
        if not measured.failures:
            self._state.finish(name, self._workspace.program(name))
        return measured.failures

    def _measure_once(self, step: Step, folder: Path, more: list[str], watch: Watch) -> Measurement:
        """Measures an experiment, unless this run did so with the same program before it was
        interrupted."""
        program = self._workspace.program(step.experiment.name)
        path = folder / "result.json"
        if path.exists() and program.is_file():
            earlier = results.load(path)
            if earlier.raw["source"]["binary_sha256"] == file_digest(program):
                return Measurement(earlier, [])
        arguments = ["--profile", self._profile, *more]
        measured = measure(program, arguments, launches_of(step.experiment), folder, watch,
                           [self._lock])
        if measured.failures:
            for own in (path, *folder.glob("launch-*.json")):
                own.unlink()  # to be measured again when the run is continued
        return measured

    def _store(self, name: str, raw: results.Json) -> None:
        """Puts a result into the machine's folder."""
        stored = raw | {"machine": raw["machine"] | {"slug": self._slug}}
        results.write(stored, self._folder / "results" / f"{name}.json")


def summary(outcomes: Sequence[SummaryLine]) -> str:
    """What became of each experiment, as a table for people."""
    width = max(len(outcome.name) for outcome in outcomes)
    rows = [f"  {outcome.verb:<8}  {outcome.name:<{width}}  {outcome.details}".rstrip()
            for outcome in outcomes]
    failed = sum(outcome.verb == "FAILED" for outcome in outcomes)
    last = f"{failed} failed; the same command tries that again" if failed else "nothing failed"
    return "\n".join(["", *rows, last])


def _load(path: Path, of: type | tuple[type, ...]) -> dict[str, Any]:
    """The JSON object in a file, of values of a kind; empty if there is none."""
    return files.read_object(path, of=of) if path.exists() else {}

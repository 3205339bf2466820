"""`just run-all`: every experiment into the book of this machine."""

import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure.console import Console
from measure.measure import Measurement, Watch, Workspace, measure
from measure.plan import Step, duration, launches_of, make_plan, plan_text
from measure.runner_state import RunState, exclusive, file_digest
from weave import claims, definition, hardware, results
from weave.errors import WeaveError


@dataclass(frozen=True)
class Outcome:
    """One line of the summary."""

    name: str
    verb: str  # "measured", "FAILED", "skipped"
    details: str


#: Weaves the book of a machine in a tree.
Weave = Callable[[Path, str], object]


def run_all(workspace: Workspace, profile: str, slug: str | None, console: Console,
            weave: Weave | None) -> int:
    """Measures what the plan says, then weaves the book. 1 if anything failed, else 0.

    Without `weave` the results wait for a machine that can weave them.
    """
    machine = describe_machine(workspace, slug)
    require_own_book(workspace, machine)
    directory = workspace.build / "run-all"
    with exclusive(directory) as lock:
        state = RunState(directory, {"machine": machine["slug"], "profile": profile})
        try:
            run = Run(workspace, profile, machine, state, lock, console)
            outcomes = run.everything()
            outcomes += [run.weave(weave)] if weave else []
        except KeyboardInterrupt:
            console.line("interrupted: the same command goes on from here")
            raise
        failed = any(outcome.verb == "FAILED" for outcome in outcomes)
        if not failed:
            state.complete()
    console.line(summary(outcomes))
    return 1 if failed else 0


class Run:
    """One run of all experiments on one machine."""

    def __init__(self, workspace: Workspace, profile: str, machine: dict[str, Any], state: RunState,
                 lock: int, console: Console) -> None:
        self._workspace = workspace
        self._profile = profile
        self._slug = machine["slug"]
        self._machine = machine
        self._state = state
        self._lock = lock
        self._console = console
        self._book = workspace.root / "reports" / self._slug

    def everything(self) -> list[Outcome]:
        """Follows the plan to its end, whatever fails."""
        steps = self._plan()
        self._console.line(plan_text(steps, self._profile, self._slug))
        return [self._follow(steps, index) for index in range(len(steps))]

    def weave(self, weave: Weave) -> Outcome:
        """The book of all results of this machine."""
        shown = self._workspace.shown(self._book / "README.md")
        try:
            weave(self._workspace.root, self._slug)
        except WeaveError as error:
            return Outcome(shown, "FAILED", str(error))
        return Outcome(shown, "woven", "")

    def _plan(self) -> list[Step]:
        experiments = definition.load_all(self._workspace.root)
        paths = {experiment.name: self._book / "results" / f"{experiment.name}.json"
                 for experiment in experiments}
        stored = {name: results.load(path).run["profile"]
                  for name, path in paths.items() if path.exists()}
        done = [experiment.name for experiment in experiments
                if self._state.done(experiment.name, self._workspace.program(experiment.name))]
        return make_plan(experiments, self._machine, self._profile, self._state.durations(), done,
                         stored)

    def _follow(self, steps: Sequence[Step], index: int) -> Outcome:
        step = steps[index]
        name = step.experiment.name
        if step.verb != "run":
            verb = {"skip": "skipped", "done": "measured"}[step.verb]
            return Outcome(name, verb, step.reason)
        title = f"[{index + 1}/{len(steps)}] {name}"
        later = sum(other.seconds for other in steps[index + 1:])
        started = time.monotonic()
        self._console.step(title)
        try:
            failures = self._measure(step, lambda: Watch(self._console, title, step.seconds, later))
        except (WeaveError, OSError) as error:
            failures = [str(error)]
        outcome = Outcome(name, "FAILED" if failures else "measured",
                          "; ".join([duration(time.monotonic() - started), *failures]))
        self._console.line(f"{title}: {outcome.verb}, {outcome.details}")
        return outcome

    def _measure(self, step: Step, watch: Callable[[], Watch]) -> list[str]:
        """Measures an experiment, a second time with more samples if a question is open; returns
        what failed in it."""
        name = step.experiment.name
        folder = self._state.folder(name)
        fresh = not folder.exists()
        started = time.monotonic()
        measured = self._measure_once(step, folder, [], watch())
        self._store(name, measured.result.raw, tripled=False)
        questions = claims.open_questions(measured.result, self._workspace.root)
        if questions and not measured.failures:  # what failed would be measured again anyway
            first, rounds = measured.result.raw, 2 * measured.result.run["rounds"]
            self._console.line(f"{name}: {rounds} more rounds to decide {', '.join(questions)}")
            more = ["--samples", str(rounds), "--again"]
            measured = self._measure_once(step, folder / "more", more, watch())
            self._store(name, results.prolong(first, measured.result.raw), tripled=True)
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
            path.unlink()  # to be measured again when the run is continued
        return measured

    def _store(self, name: str, raw: results.Json, tripled: bool) -> None:
        """Puts a result into the book."""
        stored = raw | {"machine": raw["machine"] | {"slug": self._slug},
                        "run": raw["run"] | {"tripled": tripled}}
        results.write(stored, self._book / "results" / f"{name}.json")


def describe_machine(workspace: Workspace, slug: str | None) -> dict[str, Any]:
    """The `machine` object of results, under another name if one is given."""
    command = workspace.build / "lib/bench/machine"
    described = subprocess.run([command], capture_output=True, text=True, check=False)
    if described.returncode:
        raise WeaveError(f"{workspace.shown(command)}: {described.stderr.strip()}")
    machine = json.loads(described.stdout)
    if slug is not None:
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug):
            raise WeaveError(f"--machine: found {slug!r}, expected lower-case words and hyphens")
        machine["slug"] = slug
    return machine


def require_own_book(workspace: Workspace, machine: Mapping[str, Any]) -> None:
    """Refuses to measure into the book of a machine that has other parts than this one."""
    book = workspace.root / "reports" / machine["slug"]
    for path in sorted(book.glob("results/*.json")):
        if found := hardware.difference(results.load(path).raw["machine"], machine):
            raise WeaveError(f"{workspace.shown(path)}: found a result of another machine"
                             f" ({found}), choose another name for this one with --machine")


def summary(outcomes: Sequence[Outcome]) -> str:
    """What became of each experiment, as a table for people."""
    width = max(len(outcome.name) for outcome in outcomes)
    rows = [f"  {outcome.verb:<8}  {outcome.name:<{width}}  {outcome.details}".rstrip()
            for outcome in outcomes]
    failed = sum(outcome.verb == "FAILED" for outcome in outcomes)
    last = f"{failed} failed; the same command tries that again" if failed else "nothing failed"
    return "\n".join(["", *rows, last])

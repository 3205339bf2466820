"""How far an experiment is: its processes' events as one line of words."""

import time

from memwall.record import terminal
from memwall.record.console import Console, duration
from memwall.run.channel import Event
from memwall.run.programs import Program


class Watch:
    """Follows the events of an experiment's processes and shows how far they are."""

    def __init__(self, console: Console, title: str, expected_s: float | None,
                 later_s: float = 0) -> None:
        """`expected_s` is None where only the run itself can tell; `later_s` is expected for what
        comes after this experiment."""
        self._console = console
        self._title = title
        self._expected_s = expected_s
        self._later_s = later_s
        self._started = time.monotonic()
        self._furthest = -1
        self._point = ""
        self._rounds: dict[Program, int] = {}  # done so far
        self._all_rounds: dict[Program, int] = {}

    def __call__(self, program: Program, event: Event) -> None:
        kind = event["event"]
        if kind == "plan":
            self._all_rounds[program] = max(1, event["points"] * event["rounds"])
        elif kind == "point":
            rounds = self._all_rounds[program] // event["points"]
            self._rounds[program] = event["point"] * rounds
            if event["point"] > self._furthest:  # the other processes come to it later
                self._furthest = event["point"]
                label = terminal.one_line(event["label"])
                self._point = f"point {self._furthest + 1} of {event['points']}: {label}"
                self._console.step(self._text())
        elif kind == "silent":
            self._console.line(f"{self._text()}: nothing heard for {duration(event['seconds'])};"
                               " Ctrl-C ends it")
        elif kind == "turn":
            self._rounds[program] = self._rounds.get(program, 0) + (event["phase"] == "round")
            self._console.status(self._text())

    def _text(self) -> str:
        left = self._left_s()
        parts = [self._title, self._point, "" if left is None else f"{duration(left)} left"]
        return "  ".join(part for part in parts if part)

    def _left_s(self) -> float | None:
        spent = time.monotonic() - self._started
        share = min(1, sum(self._rounds.values()) / max(1, sum(self._all_rounds.values())))
        if share > (0.2 if self._expected_s is not None else 0):
            return spent * (1 - share) / share + self._later_s
        if self._expected_s is None:
            return None
        return max(0, self._expected_s - spent) + self._later_s

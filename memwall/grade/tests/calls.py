"""Calls of a judge that never were."""

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from memwall.grade import points
from memwall.grade.grading import Record
from memwall.record import kits

ROOT = Path(__file__).resolve().parents[3]
KIT = ROOT / "experiments/spmv-serial-steps/kit"
USUAL = {"naive": 4.0, "model": 1.0, "model_again": 1.0, "floor": 0.5}


def kit() -> kits.Kit:
    """The kit for one core, with points from naive on."""
    return dataclasses.replace(kits.load(KIT), span=10)


def calls(submission: float, case: str = "", **changes: float) -> list[dict[str, Any]]:
    """Three rounds of one case, or of all, in milliseconds; every call with so many of its own."""
    times = {**USUAL, "submission": submission, **changes}
    return [{"case": name, "session": 0, "round": number, "contender": contender, "work": 1e6,
             "seconds": 1e-3 * time * (1 + 0.001 * number), "fault": "", "foul": False, "wrong": "",
             "freezer": "signals"}
            for name in ([case] if case else [one.name for one in kit().cases])
            for number in range(3) for contender, time in times.items()]


def disturbed(submission: float, random: Random, spread: float, rounds: int = 6,
              certain: str = "") -> list[dict[str, Any]]:
    """As above, with rounds of other lengths, in which each call errs by so much (a logarithm); in
    one case the submission is much faster than the model in any case."""
    made = []
    for number in range(rounds):
        usual = math.exp(random.gauss(0, 0.3))
        for call in calls(submission):
            if call["round"] == 0:
                time = call["seconds"] * usual * math.exp(random.gauss(0, spread))
                if (call["case"], call["contender"]) == (certain, "submission"):
                    time *= 0.7 / submission
                made.append({**call, "round": number, "seconds": time})
    return made


def record(student: str, submission: float = 2.0, label: str = "", reason: str = "",
           failures: Mapping[str, str] | None = None) -> Record:
    """A record as grading makes it, with some cases wrong."""
    made = calls(submission)
    for call in made:
        if call["contender"] == "submission" and call["case"] in (failures or {}):
            call["wrong"] = (failures or {})[call["case"]]
    grade = dataclasses.asdict(points.grade(kit(), made))
    return {"student": student, "label": label or student, "digest": "0" * 64, "compiler": "",
            "tier": "A", "freezer": "signals", **grade, **({"reason": reason} if reason else {})}

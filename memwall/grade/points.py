"""From the calls that a judge saw to points. Nothing here knows a clock."""

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memwall.record.kits import InputFamily, Kit

WORTH = 1.3  # the model must be so many times as fast as naive, or speed is not asked
LEAST_NOISE = 0.02  # logarithms, as all noise here
QUIET = 0.15  # a machine on which two copies of the model differ by more is none to grade on
#: Whose times of one round are compared.
COMPARED = {"naive", "model", "model_again", "submission"}
FLOOR_SLACK = 0.7  # of the least time in which the input was read; less by the noise


@dataclass(frozen=True)
class Outcome:
    """What a submission did in one case."""

    name: str
    wrong: str  # why it is not right; empty if it is
    foul: str  # what is against the rules
    gain: float | None  # of the model over naive
    noise: float  # logarithm: model over model
    speedup: float | None  # over naive
    share: float | None  # of the bound
    milliseconds: float | None
    points: float | None  # 0 to 1 of its points for speed; None where speed is not asked
    by_round: tuple[float, ...] = ()  # logarithms of the speed-up
    below_floor: bool = False  # it is foul for a time alone
    race: bool = False  # it is wrong for a race alone, whatever its values
    error: float = 0  # standard error of `points`


@dataclass(frozen=True)
class Grade:
    """What a submission gets."""

    points: float
    correctness: float
    speed: float
    reason: str  # why it is nothing, or less
    outcomes: tuple[Outcome, ...]
    speedup: float | None  # over naive, geometric mean over cases that count
    low: float | None  # its interval
    high: float | None
    error: float = 0  # standard error of `speed`

    @property
    def noise(self) -> float:
        """The largest of a case in which times decide; other failures are certain at any noise."""
        return max((one.noise for one in self.outcomes if one.points is not None or one.foul),
                   default=0)

    @property
    def is_doubtful(self) -> bool:
        """Whether it accuses for a time alone: who disturbed the floor does the same."""
        return any(one.below_floor for one in self.outcomes)


def grade(kit: Kit, calls: Sequence[dict[str, Any]]) -> Grade:
    """Points of a submission from all calls of one judge."""
    outcomes = tuple(outcome(case, [call for call in calls if call["case"] == case.name], kit)
                     for case in kit.cases)
    foul = next((f"{case.known_as}: {one.foul}"
                 for case, one in zip(kit.cases, outcomes, strict=True) if one.foul), "")
    if foul:
        return Grade(0, 0, 0, foul, outcomes, None, None, None)
    right = sum(not one.wrong for one in outcomes) / len(outcomes)
    correctness = kit.correctness * right
    if any(one.wrong and not one.race for one in outcomes):
        reason = "nothing for speed, which needs every case to be right"
        return Grade(correctness, correctness, 0, reason, outcomes, None, None, None)
    asked = [one for one in outcomes if one.points is not None]
    if not asked:
        reason = "speed is not asked: in no case is the model clearly faster than naive"
        return Grade(correctness, correctness, 0, reason, outcomes, None, None, None)
    weights = {case.name: case.weight for case in kit.cases}
    worth = kit.speed / sum(weights[one.name] for one in asked)
    speed = worth * sum(weights[one.name] * (one.points or 0) for one in asked)
    error = worth * math.hypot(*(weights[one.name] * one.error for one in asked))
    middle, low, high = interval(asked)
    raced = ", ".join(case.known_as for case, one in zip(kit.cases, outcomes, strict=True)
                      if one.race)
    reason = f"nothing for {raced}: a race, even where values are right" if raced else ""
    return Grade(correctness + speed, correctness, speed, reason, outcomes,
                 math.exp(middle), math.exp(low), math.exp(high), error)


def outcome(case: InputFamily, calls: Sequence[dict[str, Any]], kit: Kit) -> Outcome:
    """What happened in one case."""
    times: dict[str, list[float]] = defaultdict(list)
    rounds: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    foul = wrong = race = ""
    for call in calls:
        if call["contender"] == "races":
            race = race or call["race"]
            continue
        problem = call["fault"] or call["wrong"]
        if problem and call["contender"] == "submission":
            foul = foul or (problem if call["foul"] else "")
            wrong = wrong or problem
        elif not problem:
            times[call["contender"]].append(call["seconds"] / call["work"])
            rounds[call["session"], call["round"]][call["contender"]] = call["seconds"]
    if not times["submission"] and not wrong:
        wrong = "it was never called"
    if wrong:
        return Outcome(case.name, wrong, foul, None, 0, None, None, None, None)
    usual = {name: typical(values) for name, values in times.items()}
    whole = {at: one for at, one in rounds.items() if one.keys() >= COMPARED}

    def compared(logarithm: Callable[[dict[str, float]], float]) -> tuple[float, float]:
        return over_sessions([(session, logarithm(one)) for (session, _), one in whole.items()])

    noise = abs(compared(lambda one: math.log(one["model"] / one["model_again"]))[0])
    share = min(times["submission"]) / min(times["floor"])
    if share < FLOOR_SLACK * math.exp(-noise):
        foul = f"a call took {share:.2f} of the time of the floor, which no call can do without"
        return Outcome(case.name, foul, foul, None, noise, None, None, None, None,
                       below_floor=True)
    gain = math.exp(compared(lambda one: math.log(one["naive"]) - of_model(one))[0])
    over, of_over = compared(lambda one: of_model(one) - math.log(one["submission"]))
    speedup, of_speedup = compared(lambda one: math.log(one["naive"] / one["submission"]))
    by_round = tuple(math.log(one["naive"] / one["submission"]) for one in whole.values())
    points, error = None, 0.0
    if kit.thresholds:
        points, error = with_error(lambda x: reached(kit.thresholds, math.exp(x + noise)),
                                   speedup, of_speedup)
    elif gain >= WORTH:
        points, error = with_error(lambda x: scale(x, math.log(min(gain, kit.span)), noise),
                                   over, of_over)
    if race and points is not None:
        points, error = 0, 0.0
    milliseconds = 1e3 * usual["submission"] * calls[0]["work"]
    return Outcome(case.name, race, "", gain, noise, math.exp(speedup),
                   usual["floor"] / usual["submission"], milliseconds, points, by_round,
                   race=bool(race), error=error)


def of_model(one: dict[str, float]) -> float:
    """The logarithm of the model's time in a round, of both of its copies."""
    return math.log(one["model"] * one["model_again"]) / 2


def center(values: Iterable[float]) -> tuple[float, float]:
    """The mean of logarithms without a tenth at either end, and its standard error (Tukey and
    McLaughlin: that of the values beyond pulled in). Rounds are compared, each in itself: of what
    disturbs a whole round nothing is left, and the mean of all tells more than any one of them."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    kept = ordered[cut:len(ordered) - cut]
    if len(kept) < 2:
        return statistics.fmean(kept), math.inf
    pulled_in = [min(max(value, kept[0]), kept[-1]) for value in ordered]
    error = statistics.stdev(pulled_in) * math.sqrt(len(ordered)) / len(kept)
    return statistics.fmean(kept), error


def over_sessions(values: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """The center of all rounds of some sessions, and its standard error: what differs from round to
    round, or from session to session if that is more. Each session starts new processes, whose
    memory lies elsewhere: its rounds have that in common."""
    middle, within = center(value for _, value in values)
    sessions = defaultdict(list)
    for session, value in values:
        sessions[session].append(value)
    if len(sessions) < 2:
        return middle, within
    centers = [center(rounds)[0] for rounds in sessions.values()]
    return middle, max(within, statistics.stdev(centers) / math.sqrt(len(centers)))


def with_error(worth: Callable[[float], float], value: float, error: float
               ) -> tuple[float, float]:
    """What a value is worth, and the error of that: none where twice that of the value changes
    nothing."""
    return worth(value), (worth(value + 2 * error) - worth(value - 2 * error)) / 4


def typical(times: Sequence[float]) -> float:
    """The lower quartile: what disturbs a call only makes it longer.

    By hand: a call that was measured, where `statistics.quantiles` puts a number between two.
    """
    return sorted(times)[len(times) // 4]


def scale(speedup: float, span: float, noise: float) -> float:
    """0 to 1 for a speed-up over the model: from where it is `span` times as slow to where it is as
    fast, flat within the noise of either end. All three are logarithms."""
    noise = min(max(noise, LEAST_NOISE), QUIET, span / 4)
    return min(max((speedup + span - noise) / (span - 2 * noise), 0), 1)


def reached(thresholds: Sequence[tuple[float, float]], speedup: float) -> float:
    """0 to 1: the largest part whose threshold a speed-up over naive reaches."""
    return max((part for threshold, part in thresholds if speedup >= threshold), default=0)


def interval(asked: Sequence[Outcome]) -> tuple[float, float, float]:
    """Median over rounds of the mean over cases, with the notches of McGill, Tukey and Larsen.

    By hand: middle and quartiles are rounds that were measured.
    """
    count = min(len(one.by_round) for one in asked)
    means = sorted(sum(one.by_round[r] for one in asked) / len(asked) for r in range(count))
    middle = means[count // 2]
    spread = means[(3 * count) // 4] - means[count // 4]
    half = max(1.57 * spread / math.sqrt(count), LEAST_NOISE)
    return middle, middle - half, middle + half

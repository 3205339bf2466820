"""The section Runs: which run each machine made, how it was measured, and what is doubtful."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memwall.analysis.ceilings import Ceiling
from memwall.analysis.measurements import Measurements
from memwall.analysis.quantities import FEATURES
from memwall.analysis.statements import Statement
from memwall.pages.blocks import folded, machine_summary
from memwall.pages.report.told import Told
from memwall.pages.survey import OLDER, OLDER_MEANS, OnMachine
from memwall.pages.tables import markdown
from memwall.record import disturbances, files, notation
from memwall.record.errors import UserError

NOTE_RUN = re.compile(r"<!-- run: ([0-9a-f]{16}) -->\s*")
MEANING = ("*Rounds*: how often each point was measured, every variant once in each; a further look"
           " adds rounds where a question was open. *Noise floor*: the largest difference that the"
           " run found between two copies of the same code (A/A pairs), timed as if they were two"
           " versions: a smaller difference between two versions counts as none, and what ran on a"
           " GPU alone is held against pairs on the GPU, and a study or launch with four"
           " pairs or more against its own. *Ceiling*: the rate that a probe of this"
           " experiment reached at best in this run. *Disturbed*: rounds in which another process"
           " took the processor, or the host of a virtual machine did, do not count, unless they"
           " are many.")
NOTHING = "–"
#: Features that a table of data sets has no room for.
LEFT_OUT = ("empty_rows", "nzseg")


def section(told: Told) -> str:
    """A table of all runs; of each run what is doubtful or out of date, and its provenance."""
    every = [one for title in _titles(told) for one in told.survey.runs(title)]
    parts = [_table(told, every), f"<sub>{MEANING}</sub>"]
    for one in told.runs:
        parts += [*_marks(told, one), _provenance(told, one)]
    if told.place.notes is not None:
        notes = _notes(told.runs[0].measured, told.place.notes)
        parts += ["### Notes of who measured", notes] if notes else []
    return "\n\n".join(parts)


def _titles(told: Told) -> list[str]:
    return sorted({one.title for one in told.survey.found})


def _table(told: Told, every: Sequence[OnMachine]) -> str:
    highest = [_highest_ceiling(one.measured) for one in every]
    newest = max((found.definition for found in highest if found), default=1)
    rows = []
    for one, ceiling in zip(every, highest, strict=True):
        run, floor = one.result.run, one.measured.noise
        looks = sum(run["looks"]) if "looks" in run else run["rounds"]
        more = f" to {looks}" if looks > run["rounds"] else ""
        rows.append([
            f"[{one.machine}]({told.place.reports}/{one.machine}/README.md)"
            if told.place.is_committed else one.machine,
            f"`{run['id'][:8]}`" + (f" ({one.title})" if one.title else ""),
            run["utc"][:10],
            run["profile"],
            f"{run['rounds']}{more}",
            notation.percent(floor.factor - 1) if floor.pairs else "unknown",
            _rate_text(ceiling, newest),
            str(len(one.measured.stale_variants)) if one.measured.stale_variants else NOTHING,
            _disturbed(one.result.raw),
        ])
    head = ["machine", "run", "date", "profile", "rounds", "noise floor", "ceiling",
            "variants out of date", "disturbed"]
    text = told.say(Statement(markdown(head, rows, 9), "runs"), *every)
    is_mixed = any(found and found.definition < newest for found in highest)
    return text + (f"\n\n<sub>{OLDER_MEANS}</sub>" if is_mixed else "")


def _disturbed(raw: Mapping[str, Any]) -> str:
    """`12 of 210 rounds`, or that nobody watched."""
    if not any("disturbed" in case for case in raw["cases"]):
        return "not watched"
    left_out, taken = disturbances.left_out(raw)
    return f"{left_out} of {notation.plural(taken, 'round')}"


def _highest_ceiling(measured: Measurements) -> Ceiling | None:
    """The experiment's ceiling at best, in one launch or another."""
    launches = range(len(measured.result.raw["launches"]))
    found = [measured.ceilings.one(i) for i in launches if measured.ceilings.are_known(i)]
    return max(found, key=lambda ceiling: ceiling.rate.value, default=None)


def _rate_text(found: Ceiling | None, newest: int) -> str:
    if found is None:
        return NOTHING
    rate = notation.significant(found.rate.value / 1e9)
    older = OLDER if found.definition < newest else ""
    return f"{found.name} {rate} {found.unit}{older}"


def _marks(told: Told, one: OnMachine) -> list[str]:
    """What is out of date, and which cases count in no verdict."""
    stale = [Statement(f"`{name}` is out of date, measure it again: {reason}.", "stale",
                       {"variant": name}) for name, reason in one.measured.stale_variants.items()]
    doubtful = [Statement(f"Doubtful, and counted in no verdict: {doubt}.", "doubtful")
                for doubt in one.measured.doubts]
    statements = [*stale, *doubtful]
    if not statements:
        return []
    count = notation.plural(len(statements), "mark")
    return [folded(f"{one.machine}: {count} on what was measured",
                   "\n".join(f"- {told.say(each, one)}" for each in statements))]


def _provenance(told: Told, one: OnMachine) -> str:
    """Where every number of a run comes from, folded."""
    measured, raw = one.measured, one.result.raw
    facts = told.say(Statement(_facts(measured), "facts"), one)
    parts = [facts, f"Compile flags:\n\n{_flags(measured)}"]
    if raw["datasets"]:
        parts.append(f"Data sets:\n\n{told.say(Statement(_datasets(measured), 'facts'), one)}")
    return folded(f"{one.machine}: command, commit, compiler, flags and data sets",
                  "\n\n".join(parts))


def _facts(measured: Measurements) -> str:
    """What a run says of itself."""
    raw = measured.result.raw
    run, source = raw["run"], raw["source"]
    commit = f"`{source['commit'][:12]}`"
    if source["commit"] == "unknown":
        commit = "unknown, as the tree had no repository of its own"
    dirty = " with uncommitted changes" if source["dirty"] else ""
    command = shlex.join(["just", "run", run["experiment"], *run["arguments"], *_ranks(measured)])
    rounds = notation.plural(run["rounds"], "round")
    if run["tripled"]:
        rounds += ", tripled because a question was open"
    if "looks" in run:
        rounds += f", and {_looks(raw)} where questions were open"
    facts = [
        ("machine", machine_summary(raw["machine"])),
        ("operating system", raw["machine"]["os"]),
        ("run", f"`{run['id']}`, {run['utc']}, {run['profile']} profile, {rounds}"),
        ("command", f"`{command}`, seed {run['seed']}"),
        ("launches", "; ".join(_launch(launch) for launch in raw["launches"])),
        *_processors(raw["launches"]),
        *([("disturbances", told)] if (told := disturbances.told(raw)) else []),
        *([("GPU", _gpu_states(raw["launches"]))] if raw["machine"]["gpus"] else []),
        ("commit", f"{commit}{dirty}"),
        ("program", f"sha256 `{source['binary_sha256'][:16]}`"),
        ("compiler", f"{raw['build']['compiler']}, {raw['build']['type']}"),
        ("libraries", ", ".join(f"{k} {v}" for k, v in sorted(raw["libraries"].items())) or "none"),
        ("noise floor", _noise(measured)),
    ]
    return markdown(["what", "value"], [list(fact) for fact in facts], numbers=2)


def _ranks(measured: Measurements) -> list[str]:
    """The option that chooses the ranks of a narrowed run: it starts programs, which know nothing
    of it, and so stands in no list of their arguments."""
    if not measured.partial or "ranks" not in measured.experiment.launch:
        return []
    ranks = dict.fromkeys(launch["ranks"] for launch in measured.result.raw["launches"])
    return ["--ranks", *map(str, ranks)]


def _noise(measured: Measurements) -> str:
    """The noise floor in words."""
    floor = measured.noise
    if floor.pairs == 0:
        return "unknown: the run has no A/A pair"
    pairs = notation.plural(floor.pairs, "A/A pair")
    text = f"{notation.percent(floor.factor - 1)}, the largest difference within {pairs}"
    return text if floor.pairs >= 20 else text + "; fewer than 20 pairs may miss some noise"


def _looks(raw: Mapping[str, Any]) -> str:
    """`14 more at 12 points, then 28 more at 3 points`."""
    points = disturbances.of_points(raw["cases"]).values()
    told = []
    for look, rounds in list(enumerate(raw["run"]["looks"]))[1:]:
        there = sum(any(look in case.get("looks", ()) for case in cases) for cases in points)
        told.append(f"{rounds} more at {notation.plural(there, 'point')}")
    return ", then ".join(told)


def _processors(launches: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What a virtual machine's host kept of the processor time that each launch asked for."""
    noted = [launch for launch in launches if "processors" in launch]
    kept = "; ".join(f"{_workers(launch)} {_stolen(launch['processors'])}" for launch in noted)
    return [("taken by the host", f"of processor time asked for: {kept}")] if kept else []


def _stolen(processors: Mapping[str, float]) -> str:
    asked = processors["busy_s"] + processors["stolen_s"]
    return notation.percent(processors["stolen_s"] / asked if asked else 0)


def _gpu_states(launches: Sequence[Mapping[str, Any]]) -> str:
    """What the GPUs did before the first and after the last launch."""
    noted = [launch["gpus"] for launch in launches if "gpus" in launch]
    if not noted:
        return "not noted"
    ends = {"before": noted[0]["before"], "after": noted[-1]["after"]}
    return "; ".join(f"{when}: {' / '.join(map(_gpu_state, states))}"
                     for when, states in ends.items())


def _gpu_state(state: Mapping[str, Any]) -> str:
    facts: Mapping[str, Callable[[Any], str]] = {
        "clock_hz": lambda value: f"{value / 1e6:.0f} MHz",
        "memory_clock_hz": lambda value: f"memory {value / 1e6:.0f} MHz",
        "power_w": lambda value: f"{value:.0f} W",
        "temperature_c": lambda value: f"{value:.0f} °C",
        "throttle_reasons": lambda value: f"held back by {' and '.join(value) or 'nothing'}",
    }
    return ", ".join(say(state[name]) for name, say in facts.items() if name in state)


def _workers(launch: Mapping[str, Any]) -> str:
    text = notation.plural(launch["threads"], "thread")
    return f"{notation.plural(launch['ranks'], 'rank')} of {text}" if launch["ranks"] > 1 else text


def _launch(launch: Mapping[str, Any]) -> str:
    text = _workers(launch) + "".join(f" {k}={v}" for k, v in sorted(launch["environment"].items()))
    return text + (" (oversubscribed)" if launch["oversubscribed"] else "")


def _flags(measured: Measurements) -> str:
    """Flags of the objects of every folder that holds a variant, which may be in a header."""
    raw = measured.result.raw
    folders = {_folder(excerpt["file"]) for excerpt in raw["excerpts"].values()}
    objects = [entry for entry in raw["build"]["objects"] if _folder(entry["source"]) in folders]
    now = measured.tree.where_now
    body = [
        [f"`{now(e['source'])}`", f"`{e['object'].rsplit('/', 1)[-1]}`", f"`{e['flags']}`"]
        for e in objects
    ]
    return markdown(["source", "object", "flags"], body, numbers=3)


def _folder(file: str) -> str:
    return file.rpartition("/")[0]


def _datasets(measured: Measurements) -> str:
    """Every data set with its features and the beginning of its digest."""
    found = _datasets_in_order(measured)
    recorded = {name for d in found.values() for name in d["features"]}
    features = [name for name in FEATURES if name in recorded and name not in LEFT_OUT]
    head = ["data set", *(FEATURES[name] for name in features), "sha256"]
    body = [
        [f"`{name}`", *(_feature(dataset["features"].get(feature)) for feature in features),
         f"`{dataset['sha256'][:8]}`"]
        for name, dataset in found.items()
    ]
    return markdown(head, body, numbers=1)


def _datasets_in_order(measured: Measurements) -> dict[str, Any]:
    """As the experiment visits them; a result file lists them by name."""
    found = measured.result.raw["datasets"]
    visited = dict.fromkeys(v for case in measured.cases for v in case.parameters.values())
    return {name: found[name] for name in [*visited, *found] if name in found}


def _feature(value: float | None) -> str:
    if value is None:
        return ""
    return notation.count(value) if value == int(value) else notation.significant(value)


def _notes(measured: Measurements, folder: Path) -> str:
    """What the owner of the machine says about this run, complete or kept."""
    name = measured.experiment.name
    earlier = ""
    found = [*folder.glob(f"{name}.md"), *folder.glob(f"{name}@*.md")]
    for path in sorted(found):
        text = files.read(path)
        tied = NOTE_RUN.match(text)
        if tied is None:
            raise UserError(
                f"notes/{path.name}: found no first line <!-- run: ID -->, expected the run it"
                " explains"
            )
        if tied[1] == measured.result.run["id"]:
            return text[tied.end() :].strip()
        if "@" not in path.name:
            earlier = f"<sub>The notes of this machine explain an earlier run, {tied[1]}.</sub>"
    return earlier

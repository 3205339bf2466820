"""The section Runs: which run each machine made, how it was measured, and what is doubtful."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath
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
           " pairs or more against its own: the floor that counted stands beside a comparison."
           " *Ceiling*: what a probe of this experiment reached, in the launch where it was most."
           " *Changed*: variants whose source text or data are not what they were; a claim is out"
           " of date (↻) also where it asks for a variant or an input that came later."
           " *Disturbed*: rounds in which another process took the processor, or the host of a"
           " virtual machine did, or the clock was held back. These are left out, unless at a"
           " point more than a fifth were: then that is how the machine is, and all count.")
NOTHING = "–"
#: Features that a table of data sets has no room for.
LEFT_OUT = ("empty_rows", "nzseg")


def section(told: Told) -> str:
    """A table of all runs; of each run what is doubtful or out of date, and its provenance."""
    every = [one for title in _titles(told) for one in told.survey.runs(title)]
    parts = [_table(told, every), f"<sub>{MEANING}</sub>"]
    shown: dict[str, str] = {}
    for one in told.runs:
        parts += [*_marks(told, one), _provenance(told, one, shown)]
    if notes := _notes(told):
        parts += [f"### {NOTES}", notes]
    return "\n\n".join(parts)


NOTES = "Notes of who measured"


def but_notes(told: Told) -> str:
    """What of a report is written by hand all the same, if anything is."""
    return f", but *{NOTES}* at its end" if _notes(told) else ""


def _titles(told: Told) -> list[str]:
    return sorted({one.title for one in told.survey.found})


def _table(told: Told, every: Sequence[OnMachine]) -> str:
    highest = [None if told.experiment.rates else _highest_ceiling(one.measured) for one in every]
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
            _rate_text(ceiling),
            str(len(one.measured.stale_variants)) if one.measured.stale_variants else NOTHING,
            _disturbed(one.result.raw),
        ])
    head = ["machine", "run", "date", "profile", "rounds", "noise floor", "ceiling",
            "variants changed", "disturbed"]
    text = told.say(Statement(markdown(head, rows, 9), "runs"), *every)
    is_older = any(found and found.is_older for found in highest)
    return text + (f"\n\n<sub>{OLDER_MEANS}</sub>" if is_older else "")


def _disturbed(raw: Mapping[str, Any]) -> str:
    """`12 of 210 rounds, 3 left out`, or that nobody watched."""
    if not any("disturbed" in case for case in raw["cases"]):
        return "not watched"
    left_out, taken = disturbances.left_out(raw)
    return (f"{disturbances.disturbed(raw)} of {notation.plural(taken, 'round')},"
            f" {left_out or 'none'} left out")


def _highest_ceiling(measured: Measurements) -> Ceiling | None:
    """The experiment's ceiling at best, in one launch or another."""
    launches = range(len(measured.result.raw["launches"]))
    found = [measured.ceilings.one(i) for i in launches if measured.ceilings.are_known(i)]
    return max(found, key=lambda ceiling: ceiling.rate.value, default=None)


def _rate_text(found: Ceiling | None) -> str:
    if found is None:
        return NOTHING
    rate = notation.significant(found.rate.value / 1e9)
    older = OLDER if found.is_older else ""
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


def _provenance(told: Told, one: OnMachine, shown: dict[str, str]) -> str:
    """Where every number of a run comes from, folded; `shown` are the data sets that stand above
    already, and of whose run."""
    measured, raw = one.measured, one.result.raw
    others = told.survey.divided.get(raw["run"]["id"], ())
    facts = told.say(Statement(_facts(measured, others), "facts"), one)
    parts = [facts, f"Compile flags of what variants may come from:\n\n{_flags(measured)}"]
    if raw["datasets"]:
        known = json.dumps(raw["datasets"], sort_keys=True)
        if known in shown:
            above = Statement(f"Data sets: those of `{shown[known]}`, above.", "same data")
            parts.append(told.say(above, one, told.on(shown[known])))
        else:
            shown[known] = one.machine
            table = Statement(_datasets(measured), "facts")
            parts.append(f"Data sets:\n\n{told.say(table, one)}")
    what = ["command", "commit", "compiler", "flags", *(["data sets"] if raw["datasets"] else [])]
    return folded(f"{one.machine}: {notation.listed(what)}", "\n\n".join(parts))


def _facts(measured: Measurements, others: Sequence[str]) -> str:
    """What a run says of itself; `others` are experiments that have its other cases."""
    raw = measured.result.raw
    run, source = raw["run"], raw["source"]
    commit = f"`{source['commit'][:12]}`"
    if source["commit"] == "unknown":
        commit = "unknown, as the tree had no repository of its own"
    dirty = " with uncommitted changes" if source["dirty"] else ""
    command = shlex.join(["just", "run", run["experiment"], *run["arguments"], *_ranks(measured)])
    divided = notation.listed([f"`{name}`" for name in others])
    if divided:
        divided = f"; its program was divided since, the run has cases of {divided} too"
    rounds = notation.plural(run["rounds"], "round")
    if run["tripled"]:
        rounds += ", tripled because a question was open"
    if "looks" in run:
        rounds += f", and {_looks(raw)} where questions were open"
    facts = [
        ("machine", machine_summary(raw["machine"])),
        ("operating system", raw["machine"]["os"]),
        ("run", f"`{run['id']}`, {run['utc']}, {run['profile']} profile, {rounds}"),
        ("command", f"`{command}`, seed {run['seed']}{divided}"),
        ("launches", "; ".join(_launch(launch) for launch in raw["launches"])),
        *_processors(raw["launches"]),
        *([("disturbances", told)] if (told := disturbances.told(raw)) else []),
        *([("GPU", gpu_states(raw["launches"]))] if _used_gpus(raw) else []),
        ("commit", f"{commit}{dirty}"),
        ("program", f"sha256 `{source['binary_sha256'][:16]}`"),
        ("compiler", f"{raw['build']['compiler']}, {raw['build']['type']}"),
        ("libraries", _libraries(raw["libraries"])),
        ("noise floor", _noise(measured)),
    ]
    return markdown(["what", "value"], [list(fact) for fact in facts], numbers=2)


def _used_gpus(raw: Mapping[str, Any]) -> bool:
    """Whether anything ran on a GPU."""
    return any(case["target"] != "host" for case in raw["cases"]) and bool(raw["machine"]["gpus"])


def _libraries(versions: Mapping[str, str]) -> str:
    """Libraries with their versions, those of one version together."""
    names: dict[str, list[str]] = {}
    for name, version in sorted(versions.items()):
        names.setdefault(version, []).append(name)
    return ", ".join(f"{notation.listed(of)} {version}" for version, of in names.items()) or "none"


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


def gpu_states(launches: Sequence[Mapping[str, Any]]) -> str:
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
        "throttle_reasons": _held_back,
    }
    return ", ".join(say(state[name]) for name, say in facts.items() if name in state)


def _held_back(reasons: Sequence[str]) -> str:
    """What held a GPU back: to have nothing to do is no hindrance."""
    hindrances = [reason for reason in reasons if reason != "idle"]
    if hindrances:
        return f"held back by {' and '.join(hindrances)}"
    return "idle" if reasons else "held back by nothing"


def _workers(launch: Mapping[str, Any]) -> str:
    text = notation.plural(launch["threads"], "thread")
    return f"{notation.plural(launch['ranks'], 'rank')} of {text}" if launch["ranks"] > 1 else text


def _launch(launch: Mapping[str, Any]) -> str:
    text = _workers(launch) + "".join(f" {k}={v}" for k, v in sorted(launch["environment"].items()))
    return text + (" (oversubscribed)" if launch["oversubscribed"] else "")


def _flags(measured: Measurements) -> str:
    """Flags of the sources that hold a variant, or that may compile a header which does."""
    raw = measured.result.raw
    files = {excerpt["file"] for excerpt in raw["excerpts"].values()}
    now = measured.tree.where_now
    body = dict.fromkeys((now(entry["source"]), entry["flags"])
                         for entry in raw["build"]["objects"]
                         if any(_may_compile(entry["source"], file) for file in files))
    return markdown(["source", "flags"], [[f"`{source}`", f"`{flags}`"] for source, flags in body],
                    numbers=2)


def _may_compile(source: str, file: str) -> bool:
    """Whether an object of a source may hold a marked text of a file: kernels of formats, which are
    headers, are compiled once for each instruction set; other headers by their neighbours."""
    if PurePath(file).suffix not in (".hpp", ".cuh"):
        return source == file
    if PurePath(file).name == KERNELS_OF_FORMATS:
        return PurePath(source).name.startswith("kernels_")
    is_near = PurePath(source).parent == PurePath(file).parent
    return is_near and (PurePath(file).suffix == ".hpp" or PurePath(source).suffix == ".cu")


KERNELS_OF_FORMATS = "kernel.hpp"


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


def _notes(told: Told) -> str:
    """What the owner of the machine says about this run, complete or kept."""
    folder, run = told.place.notes, told.runs[0].result.run
    if folder is None:
        return ""
    name = told.experiment.name
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
        if tied[1] == run["id"]:
            return text[tied.end() :].strip()
        if "@" not in path.name and not told.place.kept:
            there = f"{told.place.reports}/{told.runs[0].machine}/notes/{path.name}"
            earlier = (f"<sub>[The notes of this machine]({there}) explain another run,"
                       f" `{tied[1][:8]}`.</sub>")
    return earlier

"""Blocks of a report: data sets, skipped cases, notes, provenance, and code as it stood when it was
timed."""

import difflib
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.analysis.claims import Verdict
from memwall.analysis.measurements import NOT_MEASURED, Measurements
from memwall.analysis.quantities import FEATURES
from memwall.pages.tables import markdown
from memwall.record import disturbances, files, notation, results
from memwall.record.errors import UserError
from memwall.record.escape import fenced

NOTE_RUN = re.compile(r"<!-- run: ([0-9a-f]{16}) -->\s*")


def datasets(measured: Measurements) -> str:
    """Every data set with its features."""
    found = _datasets_in_order(measured)
    if not found:
        return "*This run names no data sets.*"
    recorded = dict.fromkeys(name for d in found.values() for name in d["features"])
    features = [name for name in FEATURES if name in recorded]
    features += [name for name in recorded if name not in FEATURES]
    head = ["data set", *(FEATURES.get(name, name) for name in features)]
    body = [
        [f"`{name}`", *(_feature(dataset["features"].get(feature)) for feature in features)]
        for name, dataset in found.items()
    ]
    return markdown(head, body, numbers=1)


def _datasets_in_order(measured: Measurements) -> dict[str, Any]:
    """As the experiment visits them; a result file lists them by name."""
    found = measured.result.raw["datasets"]
    visited = dict.fromkeys(v for case in measured.cases for v in case.parameters.values())
    return {name: found[name] for name in [*visited, *found] if name in found}


def skipped(measured: Measurements) -> str:
    """What was skipped or failed, with the reason."""
    places: dict[tuple[str, str], list[str]] = {}
    for entry in measured.result.raw["skipped"]:
        name = f"`{entry['variant']}`" if "variant" in entry else "every variant"
        place = measured.place(entry)
        places.setdefault((name, f"skipped: {entry['reason']}"), []).append(place)
    for case in measured.cases:
        if not case.passed:
            error = case.verdict.get("error")
            text = f"failed: {case.verdict['reason']}"
            text += f", error {error:.3g} times the bound" if error else ""
            places.setdefault((f"`{case.variant}`", text), []).append(measured.label(case))
    doubts = [f"- doubtful: {doubt}" for doubt in measured.doubts]
    if not places:
        return "\n".join(doubts) or "Nothing was skipped and nothing failed."
    total = len({measured.label(case) for case in measured.cases})
    names: dict[str, list[str]] = {}  # of variants to which the same happened at the same points
    for (name, reason), where in places.items():
        text = f"{reason}{'' if len(set(where)) == total else _places(where)}"
        names.setdefault(text, []).append(name)
    return "\n".join([*(f"- {', '.join(alike)} {text}" for text, alike in names.items()), *doubts])


def claim(verdict: Verdict) -> str:
    """A claim, its verdict and what was measured for it."""
    claim = verdict.claim
    source = f"article {claim.article}" if claim.article else "our own"
    inferred = ", inferred" if claim.inferred else ""
    lines = [
        f"> **{verdict.word}**: {claim.says} <sub>(`{claim.id}`, {source}{inferred})</sub>",
    ]
    remarks = [verdict.note] if verdict.note else []
    for remark in [*remarks, *(finding.sentence for finding in verdict.findings)]:
        lines += [">", f"> {remark[0].upper()}{remark[1:]}"]
    return "\n".join(lines)


def notes(measured: Measurements, folder: Path | None) -> str:
    """What the owner of the machine says about this run, complete or kept."""
    name = measured.experiment.name
    earlier = ""
    found = [*folder.glob(f"{name}.md"), *folder.glob(f"{name}@*.md")] if folder else []
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


def provenance(measured: Measurements) -> str:
    """Where every number of the page comes from."""
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
        ("noise floor", noise(measured)),
        ("intervals", "order statistics of the samples, no distribution assumed"),
    ]
    parts = [markdown(["what", "value"], [list(fact) for fact in facts], numbers=2)]
    if measured.stale_variants:
        lines = [f"- `{name}`: {reason}" for name, reason in measured.stale_variants.items()]
        parts.append("Out of date, measure again:\n\n" + "\n".join(lines))
    parts.append("Compile flags:\n\n" + _flags(measured))
    if raw["datasets"]:
        found = _datasets_in_order(measured)
        body = [[f"`{name}`", f"`{dataset['sha256'][:16]}`"] for name, dataset in found.items()]
        parts.append("Digests of the data sets:\n\n" + markdown(["data set", "sha256"], body, 2))
    parts.append("Skipped and failed:\n\n" + skipped(measured))
    return "\n\n".join(parts)


def _ranks(measured: Measurements) -> list[str]:
    """The option that chooses the ranks of a narrowed run: it starts programs, which know nothing
    of it, and so stands in no list of their arguments."""
    if not measured.partial or "ranks" not in measured.experiment.launch:
        return []
    ranks = dict.fromkeys(launch["ranks"] for launch in measured.result.raw["launches"])
    return ["--ranks", *map(str, ranks)]


def noise(measured: Measurements) -> str:
    """The noise floor in words."""
    floor = measured.noise
    if floor.pairs == 0:
        return "unknown: the run has no A/A pair"
    pairs = notation.plural(floor.pairs, "A/A pair")
    text = f"{notation.percent(floor.factor - 1)}, the largest difference within {pairs}"
    return text if floor.pairs >= 20 else text + "; fewer than 20 pairs may miss some noise"


def machine_summary(machine: Mapping[str, Any], short: bool = False) -> str:
    """A machine in one line."""
    cpu = machine["cpu"]
    caches = results.data_caches(cpu)
    parts = [
        f"{cpu['model']} ({results.processor_kind(cpu)})",
        notation.plural(cpu["cores"], "core"),
        notation.plural(cpu["hardware_threads"], "thread"),
        f"caches of {caches}" if caches and not short else "",
        "" if short else f"{notation.size(machine['memory_bytes'])} of memory",
        gpu_names(machine),
    ]
    return ", ".join(filter(None, parts)) + (", virtual" if machine["virtual"] else "")


def gpus(machine: Mapping[str, Any]) -> str:
    """The GPUs in one line; empty if there are none."""
    return _counted(_gpu(gpu) for gpu in machine["gpus"])


def gpu_names(machine: Mapping[str, Any]) -> str:
    """Only the names of the GPUs, in one line; empty if there are none."""
    return _counted(gpu["name"] for gpu in machine["gpus"])


def _counted(things: Iterable[str]) -> str:
    return ", ".join(f"{count} x {thing}" if count > 1 else thing
                     for thing, count in Counter(things).items())


def _gpu(gpu: Mapping[str, Any]) -> str:
    facts: Mapping[str, Callable[[Any], str]] = {
        "compute_capability": lambda value: f"compute capability {value}",
        "multiprocessors": lambda value: f"{value} multiprocessors",
        "memory_bytes": notation.size,
        "l2_bytes": lambda value: f"L2 {notation.size(value)}",
        "ecc": lambda value: f"ECC {'on' if value else 'off'}",
        "power_limit_w": lambda value: f"{value:.0f} W",
    }
    known = [say(gpu[name]) for name, say in facts.items() if name in gpu]
    return f"{gpu['name']} ({', '.join(known)})" if known else gpu["name"]


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


def caches(machine: Mapping[str, Any]) -> str:
    """The caches in one line."""
    cpu = machine["cpu"]
    letters = {"data": "d", "instruction": "i", "unified": ""}
    known = [
        f"L{c['level']}{letters[c['kind']]} {c['instances']} x {notation.size(c['bytes'])}"
        for c in cpu["caches"]
    ]
    assumed = "" if cpu["last_level_cache_known"] else "last level unknown, 64 MiB assumed"
    return ", ".join([*known, *([assumed] if assumed else [])]) or "unknown"


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


def folded(summary: str, body: str) -> str:
    """What a page shows when a reader asks for it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def _workers(launch: Mapping[str, Any]) -> str:
    text = notation.plural(launch["threads"], "thread")
    return f"{notation.plural(launch['ranks'], 'rank')} of {text}" if launch["ranks"] > 1 else text


def _launch(launch: Mapping[str, Any]) -> str:
    text = _workers(launch) + "".join(f" {k}={v}" for k, v in sorted(launch["environment"].items()))
    return text + (" (oversubscribed)" if launch["oversubscribed"] else "")


def _places(labels: list[str]) -> str:
    named = [label for label in dict.fromkeys(labels) if label]
    if not named:
        return ""
    shown = ", ".join(named[:4])
    more = f" and {notation.plural(len(named) - 4, 'more point')}" if len(named) > 4 else ""
    return f" (at {shown}{more})"


def _feature(value: float | None) -> str:
    if value is None:
        return ""
    return notation.count(value) if value == int(value) else notation.significant(value)


# --- code as it stood when it was timed -----------------------------------------------------------

FOLDED_LINES = 45
NOT_RECORDED = "not recorded in this run"  # as a variant that came later, or no variant's own text
CONTEXT = 3


@dataclass(frozen=True)
class Listing:
    """A marked text, where it stands, and what is to be said about it."""

    file: str
    text: str
    remark: str = ""


def code(measured: Measurements, name: str, fold: bool | None) -> str:
    """The text of a variant in a fence; folded on request, or when it is long."""
    if _left_out(measured, name):
        return f"<sub>`{name}`: {NOT_MEASURED}</sub>"
    listing = listing_of(measured, name)
    fence = fenced(listing.text, "cpp")
    caption = f"`{name}`, from `{listing.file}`{listing.remark}"
    long = listing.text.count("\n") >= FOLDED_LINES
    if fold or (fold is None and long):
        return folded(caption.replace("`", ""), fence)
    return f"{fence}\n\n<sub>{caption}</sub>"


def diff(measured: Measurements, before: str, after: str) -> str:
    """Changed lines with some context in a fence."""
    for name in (before, after):
        if _left_out(measured, name):
            return f"<sub>From `{before}` to `{after}`: `{name}` {NOT_MEASURED}</sub>"
    first, second = listing_of(measured, before), listing_of(measured, after)
    lines = list(
        difflib.unified_diff(
            first.text.splitlines(), second.text.splitlines(), lineterm="", n=CONTEXT
        )
    )
    if not lines:
        return f"<sub>`{before}` and `{after}` have the same text.</sub>"
    shown = ["..." if line.startswith("@@") else line for line in lines[2:]]
    body = "\n".join(line.rstrip() for line in shown[1:])
    remark = first.remark or second.remark
    return f"{fenced(body, 'diff')}\n\n<sub>From `{before}` to `{after}`{remark}</sub>"


def _left_out(measured: Measurements, name: str) -> bool:
    """Whether a narrowed run neither has a text nor tells where the tree has it."""
    texts = {*measured.result.raw["excerpts"], *measured.tree.excerpts}
    known = texts | {case.variant for case in measured.result.cases}
    return measured.may_lack and name not in known


def listing_of(measured: Measurements, name: str) -> Listing:
    """The recorded text of a variant or excerpt; the tree's for a variant that could not run."""
    recorded = measured.result.raw["excerpts"]
    key = next((case.excerpt for case in measured.result.cases if case.variant == name), name)
    if key in recorded:
        variants = [c.variant for c in measured.result.cases if name in (c.variant, c.excerpt)]
        stale = next(filter(None, map(measured.stale_variants.get, variants)), None)
        remark = f" (out of date: {stale}; this is what was timed)" if stale else ""
        file = measured.tree.where_now(recorded[key]["file"])
        return Listing(file, recorded[key]["text"].strip("\n"), remark)
    present = measured.tree.excerpts.get(name)
    if present is None:
        known = ", ".join(recorded)
        raise UserError(f'no source text "{name}" in the result, which has: {known}')
    return Listing(present.file, present.text.strip("\n"), f", {_why_not_timed(measured, name)}")


def _why_not_timed(measured: Measurements, name: str) -> str:
    if measured.freshness.predates(name):
        return NOT_RECORDED
    reasons = dict.fromkeys(
        entry["reason"]
        for entry in measured.result.raw["skipped"]
        if entry.get("variant", name) == name
    )
    return f"not run here: {'; '.join(reasons)}" if reasons else NOT_RECORDED

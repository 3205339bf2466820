"""Blocks of a report: data sets, skipped cases, notes, provenance, and code as it stood when it was
timed."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.record import hardware, notation
from memwall.record.errors import UserError

NOTE_RUN = re.compile(r"<!-- run: ([0-9a-f]{16}) -->\s*")


def machine_summary(machine: Mapping[str, Any], short: bool = False) -> str:
    """A machine in one line."""
    cpu = machine["cpu"]
    caches = hardware.data_caches(cpu)
    parts = [
        f"{cpu['model']} ({hardware.processor_kind(cpu)})",
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


def folded(summary: str, body: str) -> str:
    """What a page shows when a reader asks for it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


# --- code as it stood when it was timed -----------------------------------------------------------

NOT_RECORDED = "not recorded in this run"  # as a variant that came later, or no variant's own text


@dataclass(frozen=True)
class Listing:
    """A marked text, where it stands, and what is to be said about it."""

    file: str
    text: str
    remark: str = ""


def listing_of(measured: Measurements, name: str) -> Listing:
    """The recorded text of a variant or excerpt; the tree's for a variant that could not run."""
    recorded, present = measured.result.raw["excerpts"], measured.tree.excerpts
    key = next((case.excerpt for case in measured.result.cases if case.variant == name), name)
    if key in recorded:
        variants = [c.variant for c in measured.result.cases if name in (c.variant, c.excerpt)]
        stale = next(filter(None, map(measured.stale_variants.get, variants)), None)
        remark = f" (out of date: {stale}; this is what was timed)" if stale else ""
        file = (present[key].file if key in present
                else measured.tree.where_now(recorded[key]["file"]))
        return Listing(file, recorded[key]["text"].strip("\n"), remark)
    if name not in present:
        known = ", ".join(recorded)
        raise UserError(f'no source text "{name}" in the result, which has: {known}')
    text = present[name].text.strip("\n")
    return Listing(present[name].file, text, f", {_why_not_timed(measured, name)}")


def _why_not_timed(measured: Measurements, name: str) -> str:
    if measured.freshness.predates(name):
        return NOT_RECORDED
    reasons = dict.fromkeys(
        entry["reason"]
        for entry in measured.result.raw["skipped"]
        if entry.get("variant", name) == name
    )
    return f"not run here: {'; '.join(reasons)}" if reasons else NOT_RECORDED

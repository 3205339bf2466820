#!/usr/bin/env python3
"""Copies results of `spmv-formats` from the days when it compared plans and libraries, too.

    .ci/split_formats.py FILE...     # reports/*/results/spmv-formats*.json

A complete run becomes a result of each of the two experiments that took its place, with the cases
that either would measure today: `spmv-formats` on one thread, `spmv-plan` on the matrices of its
set in datasets/catalogue.toml. The noise floor belongs to the run, so both keep every A/A pair. A
kept run was about plans and libraries: it becomes one of `spmv-plan` as it is. Nothing else
changes, least of all a sample: run, date, launches, ceilings and libraries are those of the run.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from memwall.record import errors, files, results  # noqa: E402
from memwall.record.errors import UserError  # noqa: E402

Json = dict[str, Any]

FORMATS, PLAN = "spmv-formats", "spmv-plan"
#: Members of the three profiles of the set `plan`.
SETS = files.read_toml(ROOT / "datasets/catalogue.toml", "datasets/catalogue.toml")["set"]
OF_PLANS = frozenset(name for profile in SETS["plan"].values() for name in profile)


def is_of_formats(raw: Json, entry: Mapping[str, Any]) -> bool:
    """Whether `spmv-formats` measures, or skips, this today."""
    if raw["launches"][entry["launch"]]["threads"] > 1:
        return False
    return entry.get("group") == "format" or (
        entry.get("group") == "step" and entry["parameters"]["matrix"] in OF_PLANS)


def is_of_plans(entry: Mapping[str, Any]) -> bool:
    """Whether `spmv-plan` does."""
    return (entry.get("group") in ("format", "plan", "peer")
            and entry["parameters"]["matrix"] in OF_PLANS)


def split(raw: Json) -> dict[str, Json]:
    """The results of a complete run by their experiments."""
    paired = {results.identity(case) for case in raw["cases"] if case["twin"]}
    found = {}
    for name, is_wanted in ((FORMATS, lambda entry: is_of_formats(raw, entry)),
                            (PLAN, is_of_plans)):
        cases = [case for case in raw["cases"]
                 if is_wanted(case) or results.identity(case) in paired]
        skipped = [entry for entry in raw["skipped"] if is_wanted(entry)]
        matrices = {entry["parameters"]["matrix"] for entry in [*cases, *skipped]}
        texts = {case["excerpt"] for case in cases}
        found[name] = renamed(raw, name) | {
            "cases": cases,
            "skipped": skipped,
            "datasets": {key: value for key, value in raw["datasets"].items() if key in matrices},
            "excerpts": {key: value for key, value in raw["excerpts"].items() if key in texts},
        }
    return found


def renamed(raw: Json, name: str) -> Json:
    """A result as one of another experiment."""
    return raw | {"run": raw["run"] | {"experiment": name}}


def dropped(raw: Json, parts: Iterable[Json]) -> Counter[str]:
    """How many cases, and points that were skipped, are in no part, by variant and threads."""
    kept = {id(entry) for part in parts for entry in [*part["cases"], *part["skipped"]]}
    return Counter(
        f"{what} {entry.get('variant', 'every variant')}"
        f" on {raw['launches'][entry['launch']]['threads']}"
        for what in ("cases", "skipped") for entry in raw[what] if id(entry) not in kept)


def convert(path: Path) -> None:
    """Writes the results that take the place of a file, and says what is in none of them."""
    text = files.read(path)
    raw = results.decode(text, path.name)
    if raw["run"]["experiment"] != FORMATS or results.encoded(raw) != text:
        raise UserError(f"{path}: found no result of {FORMATS} as memwall writes it")
    parts = {PLAN: renamed(raw, PLAN)} if "@" in path.name else split(raw)
    lost = dropped(raw, parts.values())
    path.unlink()
    for name, part in parts.items():
        results.write(part, path.with_name(path.name.replace(FORMATS, name)))
    print(f"{path}: {', '.join(f'{count} {what}' for what, count in lost.items()) or 'nothing'}"
          " left out, as nothing compares it")


def main() -> int:
    """Converts the files of the command line."""
    for path in map(Path, sys.argv[1:]):
        convert(path)
    return 0


if __name__ == "__main__":
    sys.exit(errors.exit_code(main))

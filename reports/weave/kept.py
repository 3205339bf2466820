"""`just keep`: a run of one's own choice goes into a machine's book, beside the complete ones."""

import copy
import re
from dataclasses import replace
from pathlib import Path

from weave import book, hardware, results
from weave.book import Entry, House
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Json, Result

# The folders before the name of a Matrix Market file.
FOLDERS = re.compile(r"""(?:[^\s/:;,'"=()]*/)+(?=[^\s/]+\.mtx\b)""")


def keep(root: Path, path: Path, title: str, machine: str | None) -> str:
    """Puts a run into a book under a title, where it replaces one of the same title, and weaves it.

    `path` is the folder of a run or its result; `machine` names another book than that of the
    machine that measured. Returns the page. The book is left alone if anything is wrong.
    """
    book.require_title(title, "keep")
    house = book.read(root)
    result = results.load(path / "result.json" if path.is_dir() else path)
    book.require_own_run(result, result.path.name)
    raw = without_folders(result.raw)
    raw["machine"]["slug"] = machine or raw["machine"]["slug"]
    results.validate(raw, result.path.name)
    entry = _entry(house, results.of(raw, result.path), title)
    others = [kept for kept in house.kept if kept.page != entry.page]
    kept = sorted([*others, entry], key=lambda one: one.result_path)
    house = replace(house, kept=tuple(kept))
    texts = book.books(house, [entry.machine]) | book.scorecard(house)
    results.write(raw, root / entry.result_path)
    book.write(root, texts)
    for name in book.obsolete(root, texts):
        if name.startswith(f"reports/{entry.machine}/{entry.figures}/"):
            (root / name).unlink()
    return entry.page


def without_folders(raw: Json) -> Json:
    """A result in which matrices of the user's own are named by their files alone."""
    clean = copy.deepcopy(raw)
    clean["run"]["arguments"] = [_argument(word) for word in raw["run"]["arguments"]]
    clean["datasets"] = {_base(name): known for name, known in raw["datasets"].items()}
    for entry in [*clean["cases"], *clean["skipped"]]:
        entry["parameters"] = {name: _base(at) for name, at in entry["parameters"].items()}
    for entry in clean["skipped"]:
        entry["reason"] = _text(entry["reason"])
    for case in clean["cases"]:
        if "reason" in case["verdict"]:
            case["verdict"]["reason"] = _text(case["verdict"]["reason"])
        if "notes" in case["setup"]:
            case["setup"]["notes"] = [_text(note) for note in case["setup"]["notes"]]
    return clean


def _entry(house: House, result: Result, title: str) -> Entry:
    """A result as a part of a book, if it may be one."""
    shown, slug = result.path.name, result.raw["machine"]["slug"]
    known = {experiment.name: experiment for experiment in house.experiments}
    if result.experiment not in known:
        expected = ", ".join(known)
        raise WeaveError(f'{shown}: found "{result.experiment}", expected one of: {expected}')
    for other in house.all_of(slug)[:1]:
        found, expected = _hardware(result), _hardware(other.result)
        if found != expected:
            raise WeaveError(f"{shown}: found a run on {found}, expected {expected} as in {slug}")
        if other_than := hardware.difference(other.result.raw["machine"], result.raw["machine"]):
            raise WeaveError(f"{shown}: found a run on another machine than {slug} ({other_than})")
    experiment = known[result.experiment]
    stale = Measurements(result, experiment, house.tree, partial=True).stale_variants
    if stale:
        name, reason = next(iter(stale.items()))
        raise WeaveError(f"{shown}: found a STALE run, expected a fresh one: {name}: {reason}")
    return Entry(slug, experiment, result, {}, title)


def _hardware(result: Result) -> str:
    cpu = result.raw["machine"]["cpu"]
    return f"{cpu['model']} with {cpu['hardware_threads']} threads"


def _base(value: str | float) -> str | float:
    """A path without its folders; anything else as it is."""
    return value.rpartition("/")[2] if isinstance(value, str) else value


def _argument(word: str) -> str:
    """An argument whose value may be a path: `FILE` or `--matrix=FILE`."""
    name, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{name}{equals}{_base(value)}"


def _text(words: str) -> str:
    return FOLDERS.sub("", words)

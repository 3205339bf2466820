"""`just keep`: a run of one's own choice goes into a machine's book, beside the complete ones."""

import copy
import re
from dataclasses import replace
from pathlib import Path

from weave import book, hardware, results
from weave.book import House
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Json, Result
from weave.survey import OnMachine

# The folders before the name of a Matrix Market file.
FOLDERS = re.compile(r"""(?:[^\s/:;,'"=()]*/)+(?=[^\s/]+\.mtx\b)""")


def keep(root: Path, path: Path, title: str, machine: str | None) -> Path:
    """Puts a run into a machine's folder under a title, where it replaces one of the same title,
    and weaves what follows from it.

    `path` is the folder of a run or its result; `machine` names another folder than that of the
    machine that measured. Returns the result's new place. Nothing is changed if anything is wrong.
    """
    book.require_title(title, "keep")
    house = book.read(root)
    result = results.load(path / "result.json" if path.is_dir() else path)
    book.require_own_run(result, result.path.name)
    raw = without_folders(result.raw)
    raw["machine"]["slug"] = slug = machine or raw["machine"]["slug"]
    results.validate(raw, result.path.name)
    one = _on_machine(house, results.of(raw, result.path), title)
    name = f"{result.experiment}@{title}.json"
    target = root / "reports" / slug / "results" / name
    others = [each for each in house.found
              if (each.machine, each.result.experiment, each.title)
              != (slug, result.experiment, title)]
    house = replace(house, found=(*others, one))
    texts = book.everything(house) | {f"build/reports/{file}": text
                                      for file, text in book.machine_pages(house, slug).items()}
    results.write(raw, target)
    book.write(root, texts)
    return target


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


def _on_machine(house: House, result: Result, title: str) -> OnMachine:
    """A result as a part of a machine's folder, if it may be one."""
    shown, slug = result.path.name, result.raw["machine"]["slug"]
    known = {experiment.name: experiment for experiment in house.experiments}
    if result.experiment not in known:
        expected = ", ".join(known)
        raise WeaveError(f'{shown}: found "{result.experiment}", expected one of: {expected}')
    for other in house.of_machine(slug)[:1]:
        found, expected = _hardware(result), _hardware(other.result)
        if found != expected:
            raise WeaveError(f"{shown}: found a run on {found}, expected {expected} as in {slug}")
        if other_than := hardware.difference(other.result.raw["machine"], result.raw["machine"]):
            raise WeaveError(f"{shown}: found a run on another machine than {slug} ({other_than})")
    experiment = known[result.experiment]
    measured = Measurements(result, experiment, house.tree, partial=True)
    stale = measured.stale_variants
    if stale:
        name, reason = next(iter(stale.items()))
        raise WeaveError(f"{shown}: found a run that is out of date, expected a fresh one: {name}: {reason}")
    return OnMachine(slug, measured, title)


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

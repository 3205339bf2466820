"""`just keep RUN TITLE`: a run of one's own choice goes into a machine's folder."""

import copy
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from memwall.pages import book, weaving
from memwall.pages.book import House
from memwall.pages.survey import OnMachine
from memwall.record import joining, machines, names, privacy, results, stored
from memwall.record.errors import UserError
from memwall.record.results import Json, Result

# The folders before the name of a Matrix Market file.
FOLDERS = re.compile(r"""(?:[^\s/:;,'"=()]*/)+(?=[^\s/]+\.mtx\b)""")


def keep(root: Path, path: Path, title: str, machine: str | None,
         say: Callable[[str], object] = print) -> Path:
    """Puts a run into a machine's folder under a title, where it replaces one of the same title,
    and weaves what follows from it.

    `path` is the folder of a run or its result; `machine` names another folder than that of the
    machine that measured. Returns the result's new place. Nothing is changed if anything is wrong.
    """
    names.require(title, "keep: the title")
    result = results.load(path / "result.json" if path.is_dir() else path)
    named = machines.name_of(root, result.raw["machine"], machine)
    if named.why:
        say(named.why)
    house = book.read(root, beside=[named.name])
    raw = without_folders(result.raw, result.path.name)
    raw["machine"]["slug"] = slug = named.name
    results.validate(raw, result.path.name)
    if large := results.too_large(len(results.encoded(raw).encode())):
        raise UserError(f"{result.path.name}: {large}")
    for telling in privacy.tellings(raw, result.path.name):
        raise UserError(telling)
    target = root / "reports" / slug / "results" / stored.kept_name(result.experiment, title)
    one = _on_machine(house, results.of(raw, target), title, result.path.name)
    others = [each for each in house.found
              if (each.machine, each.result.experiment, each.title)
              != (slug, result.experiment, title)]
    house = replace(house, found=(*others, one))
    texts = {f"{book.WOVEN}/{file}": text
             for file, text in book.machine_pages(house, slug).items()}
    if slug in machines.listed(root):
        texts |= book.everything(house.committed())
    results.write(raw, target)
    stored.plain_of(target).unlink(missing_ok=True)
    weaving.write(root, texts)
    return target


def without_folders(raw: Json, shown: str) -> Json:
    """A result in which matrices of the user's own are named by their files alone."""
    clean = copy.deepcopy(raw)
    bases = [_base(name) for name in raw["datasets"]]
    for name in bases:
        if bases.count(name) > 1:
            raise UserError(f"{shown}: $.datasets: found two files called {name} in different"
                             " folders, expected names of their own")
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


def _on_machine(house: House, result: Result, title: str, shown: str) -> OnMachine:
    """A result as a part of a machine's folder, if it may be one."""
    slug = result.raw["machine"]["slug"]
    known = {experiment.name: experiment for experiment in house.experiments}
    why = (joining.obstacle(result, result.experiment, title, known)
           or joining.uncounted(result))
    if why:
        raise UserError(f"{shown}: {why}")
    one = book.on_machine(slug, result, known[result.experiment], house.tree, title, partial=True)
    stale = one.measured.stale_variants
    if stale:
        name, reason = next(iter(stale.items()))
        raise UserError(f"{shown}: found a run that is out of date, expected a fresh one: {name}:"
                         f" {reason}")
    return one


def _base(value: str | float) -> str | float:
    """A path without its folders; anything else as it is."""
    return value.rpartition("/")[2] if isinstance(value, str) else value


def _argument(word: str) -> str:
    """An argument whose value may be a path: `FILE` or `--matrix=FILE`."""
    name, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{name}{equals}{_base(value)}"


def _text(words: str) -> str:
    return FOLDERS.sub("", words)

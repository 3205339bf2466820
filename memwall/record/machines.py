"""Machines and their folders below `reports/`: which of them came with the tree, what shows that
two are not one, and the name that a machine gets.

A folder that came with the tree is named in the list `reports/machines.txt`; `just contribute` adds
to it. Committed pages are woven from the listed folders alone. Any other folder is its owner's, who
sees its pages in `build/reports/`.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from memwall.record import files, names, notation, stored
from memwall.record.errors import UserError
from memwall.record.escape import visible

LIST = "reports/machines.txt"
HEAD = "# The machines whose results came with this tree; `just contribute` adds a line.\n"
#: What a machine's folder may hold, beside files.
ROOMS = {"results", "notes"}

Machine = Mapping[str, Any]


def listed(root: Path) -> list[str]:
    """The machines whose folders came with the tree; none where there is no list."""
    path = root / LIST
    lines = files.read(path, LIST).splitlines() if path.exists() else []
    named = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    return [names.require(name, LIST) for name in named]


def unlisted(root: Path) -> list[str]:
    """The folders with results that did not come with the tree."""
    found = {path.parent.name for path in (root / "reports").glob("*/results")}
    return sorted(found - {*listed(root)})


def enlist(root: Path, name: str) -> None:
    """Adds a machine to the list, which stays sorted."""
    lines = "".join(f"{each}\n" for each in sorted({*listed(root), name}))
    files.write(root / LIST, HEAD + lines)


# --- what shows that two machines are not one ----------------------------------------------------

#: What CPUID tells of a processor. Early results lack it: it is compared where both know it.
SIGNATURE = ("vendor", "family", "model_number", "stepping")
#: So many differences are told.
TOLD = 2


def difference(known: Machine, here: Machine) -> str:
    """What shows that two machines are not one, in words; empty if nothing does.

    Processor, numbers of cores and GPUs, caches and kinds of GPU say what a machine is; what is
    known of one alone is a difference. Its system, driver and amount of memory may change.
    """
    signature = [name for name in SIGNATURE if name in known["cpu"] and name in here["cpu"]]
    before, now = (_facts(machine, signature) for machine in (known, here))
    differing = [f"{what}: {before.get(what, 'none known')}, here {now.get(what, 'none known')}"
                 for what in dict.fromkeys([*before, *now]) if before.get(what) != now.get(what)]
    more = len(differing) - TOLD
    return visible("; ".join([*differing[:TOLD], *([f"and {more} more"] if more > 0 else [])]))


def _facts(machine: Machine, signature: Sequence[str]) -> dict[str, str]:
    """What a machine is, each fact by its name."""
    cpu = machine["cpu"]
    facts = {"processor": cpu["model"], "architecture": cpu["architecture"]}
    facts |= {f"processor's {name.replace('_', ' ')}": str(cpu[name]) for name in signature}
    facts |= {name.replace("_", " "): str(cpu[name])
              for name in ("sockets", "cores", "hardware_threads")}
    for cache in cpu["caches"]:
        what = f"level {cache['level']} {cache['kind']} caches"
        size = f"{cache['instances']} of {notation.size(cache['bytes'])}"
        facts[what] = ", ".join(sorted([*facts.get(what, "").split(", "), size])).strip(", ")
    kinds = Counter(gpu["name"] for gpu in machine["gpus"])
    return facts | {kind: str(number) for kind, number in sorted(kinds.items())}


# --- the name of a machine -----------------------------------------------------------------------


@dataclass(frozen=True)
class Named:
    """What a machine is called; `why` is empty if that is as its hardware is called."""

    name: str
    why: str = ""


def name_of(root: Path, machine: Machine, asked: str | None = None) -> Named:
    """The name of a machine's folder, by the one rule that all commands have.

    Without `asked` it is that of the hardware, with a number behind it where that name is taken:
    the folder that holds this machine's own results, or else the first name that nobody has. What
    came with the tree is nobody's own. Raises `UserError` if `asked` is no name, or that of a
    folder which is another machine's, or no machine's.
    """
    if asked is not None:
        if occupied := _occupied(root, names.require(asked, "--machine"), machine):
            raise UserError(f"--machine: reports/{asked} {occupied}, expected another name")
        return Named(asked)
    base = names.fitting(machine["slug"]) or "machine"
    taken = {name: _taken(root, name, machine) for name in _names_like(root, base)}
    own = [name for name, why in taken.items()
           if not why and stored.results_of(root / "reports" / name)]
    free = (name for number in count(1)
            if not taken.get(name := f"{base}-{number}" if number > 1 else base))
    name = own[0] if own else next(free)
    if name == base:
        return Named(base)
    why = taken.get(base) or "was taken when this one was first measured"
    return Named(name, f"reports/{base} {why}: this machine is called {name}")


def _names_like(root: Path, base: str) -> list[str]:
    """The folders that are called so or so with a number, in the order of the numbers."""
    like = re.compile(rf"{re.escape(base)}(?:-(\d{{1,9}}))?")
    known = {*listed(root), *(path.name for path in (root / "reports").glob("*"))}
    found = [match for name in known if (match := like.fullmatch(name))]
    return [match[0] for match in sorted(found, key=lambda match: int(match[1] or 1))]


def _taken(root: Path, name: str, machine: Machine) -> str:
    """Why results of a machine do not stand below a name unless somebody asks for it."""
    if occupied := _occupied(root, name, machine):
        return occupied
    if name in listed(root):
        return f"came with this tree and stays as it is (--machine {name} measures into it)"
    return ""


def _occupied(root: Path, name: str, machine: Machine) -> str:
    """Why results of a machine cannot stand below a name at all."""
    folder = root / "reports" / name
    if not os.path.lexists(folder):
        return ""
    if not is_machine(folder):
        return "is no machine's folder"
    results = stored.results_of(folder)
    records = _records(results)
    for record in records:
        if other := difference(record, machine):
            return f"is another machine ({other})"
    return "holds no result that can be read" if results and not records else ""


def is_machine(folder: Path) -> bool:
    """Whether a folder may be a machine's: it has no other rooms than one has, and nothing else
    stands in their places."""
    return folder.is_dir() and all(path.is_dir() == (path.name in ROOMS)
                                   for path in folder.iterdir())


def _records(results: Sequence[Path]) -> list[dict[str, Any]]:
    """What results say of the machine that measured, each thing once."""
    found: dict[str, dict[str, Any]] = {}
    for path in results:
        try:
            machine = files.read_json(path)["machine"]
            difference(machine, machine)
        except (UserError, ValueError, TypeError, LookupError, AttributeError, ArithmeticError):
            continue
        found[json.dumps(machine, sort_keys=True)] = machine
    return list(found.values())

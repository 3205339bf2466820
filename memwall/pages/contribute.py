"""`just contribute` checks and packs a machine's folder, and says what each chapter gains by it.

A folder is refused with one line a problem: a host name, a user name or a path in it, a result that
is not valid, or that another machine measured, and files of other kinds. It packs only what weaves;
what failed verification or is doubtful is marked on every page, and said.
"""

import getpass
import io
import re
import socket
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memwall.pages import book
from memwall.pages.book import House
from memwall.pages.survey import OnMachine, Survey
from memwall.record import escape, files, machines, notation, privacy, results, stored
from memwall.record.console import Console
from memwall.record.definition import Experiment
from memwall.record.errors import UserError
from memwall.record.files import shown
from memwall.record.sources import git

#: Why a machine cannot run an experiment at all; empty if it can.
UnmetNeed = Callable[[Experiment, Mapping[str, Any]], str]

#: What a machine's folder may hold, relative to it.
ALLOWED = re.compile(r"README\.md|harness\.json|results/[\w@-]+\.json"
                     r"|results/[\w-]+@[\w-]+\.json\.gz|notes/[\w@-]+\.md")
#: Names that say nothing about who measured.
COMMON_NAMES = {"root", "user", "admin", "debian", "ubuntu", "runner", "localhost", "nobody"}
#: What ties a note to its run, the only HTML that it needs.
TIED = re.compile(r"^<!-- run: [0-9a-f]{16} -->")
MARKUP = re.compile(r"<[A-Za-z!/?]|[\\@]htmlonly|\]\(\s*javascript:", re.IGNORECASE)
#: Shorter names would be found within other words of a report.
LEAST_LETTERS = 3


@dataclass(frozen=True)
class Gain:
    """What one chapter gains by a machine."""

    name: str
    words: str


def contribute(root: Path, build: Path, machine: str, unmet_need: UnmetNeed, console: Console,
               names: Sequence[str]) -> int:
    """Packs `reports/<machine>/` into `build/` and says what every chapter gains; 1 if the folder
    is refused.

    `unmet_need` tells why a machine cannot run an experiment; `names` are words that must not stand
    in the folder: the host's and the user's.
    """
    folder = root / "reports" / machine
    if not stored.results_of(folder):
        raise UserError(f"{shown(folder)}: found no results, expected those of `just run-all`")
    if problems := list(unreadable(folder, names)):
        return _refuse(console, problems)
    console.status("weaving its pages among those of all machines: about half a minute")
    house = book.read(root, beside=[machine])
    found = house.of_machine(machine)
    if problems := house.hindrances(machine):
        return _refuse(console, problems)
    page = f"reports/{machine}/README.md"
    texts = book.machine_pages(house, machine) | book.overviews(house)
    files.write(root / page, texts[page])
    for doubt in doubts(found):
        console.line(doubt)
    archive = build / "contribute" / f"{machine}.tar.gz"
    count = pack(folder, archive)
    for gain in gains(house, machine, unmet_need):
        console.line(f"{gain.name:<24}{gain.words}")
    advice = _enlisted(house, machine)
    if is_committed(root, folder):
        advice = "Nothing in it is new: all of it is committed, and `just run-all` measures again."
    console.line(f"{machine}: {count} files checked; packed into {shown(archive)}."
                 f" {advice}")
    return 0


def _enlisted(house: House, machine: str) -> str:
    """Weaves the committed pages with one machine more, which is listed then; what to do next.

    What a definition asks and no machine has, as a lead machine that is not there, is for those who
    wrote it: then nothing is woven.
    """
    try:
        book.write_all(house)
    except UserError as error:
        return (f"Send the archive, or commit reports/{machine}/ and say so: the reports cannot be"
                f" woven with it yet ({error}).")
    machines.enlist(house.root, machine)
    return (f"All pages are woven with it. Commit reports/{machine}/, its line in {machines.LIST}"
            " and the pages, or send the archive.")


def is_committed(root: Path, folder: Path) -> bool:
    """Whether Git knows a folder as it stands, as one that came with the repository and in which
    nothing was measured since; false where there is no Git."""
    known, changed = (git(root, *words, "--", str(folder))
                      for words in (["ls-files"], ["status", "--porcelain"]))
    return bool(known) and changed == ""


def _refuse(console: Console, problems: Sequence[str]) -> int:
    for problem in problems:
        console.line(problem)
    console.line(f"refused: {len(problems)} problem{'s' * (len(problems) > 1)}")
    return 1


# --- what is refused ------------------------------------------------------------------------------


def own_names() -> list[str]:
    """The names of this host and of this user, as far as they tell who measured."""
    host = socket.gethostname()
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    names = dict.fromkeys([host, host.partition(".")[0], user])
    return [name for name in names
            if len(name) >= LEAST_LETTERS and name.lower() not in COMMON_NAMES]


def unreadable(folder: Path, names: Sequence[str]) -> Iterator[str]:
    """What must not leave the machine, or is no part of a contribution, one line a problem."""
    for path in _whole(folder):
        inside = path.relative_to(folder).as_posix()
        shown = f"reports/{folder.name}/{inside}"
        if path.is_symlink() or not ALLOWED.fullmatch(inside):
            yield (f"{shown}: found a file of another kind, expected results/*.json,"
                   " results/*@*.json.gz, notes/*.md, README.md or harness.json")
            continue
        try:
            content = files.read_bytes(path, shown)
        except UserError as error:
            yield str(error)
            continue
        text = files.text_of(content, "replace")
        if path.parent.name == "results":
            yield from _invalid(path, shown, len(content))
        elif path.parent.name == "notes":
            yield from _private(text, shown)
        yield from _named(text, names, shown)


def _whole(folder: Path) -> list[Path]:
    """What lies in a folder, but for what a command that was killed left unfinished."""
    return sorted(path for path in folder.rglob("*")
                  if not path.is_dir() and not files.is_unfinished(path))


def _invalid(path: Path, shown: str, size: int) -> Iterator[str]:
    """Why a result of so many bytes is no result, or is too large."""
    try:
        results.parse(path, shown)
    except UserError as error:
        yield str(error)
    if large := results.too_large(size):
        yield f"{shown}: {large}"


def _private(text: str, shown: str) -> Iterator[str]:
    """Lines of a note that look like a path, a user or a host, or like markup that would reach a
    page."""
    prose = escape.without_code(TIED.sub("", text))
    for number, line in enumerate(prose.splitlines(), 1):
        if match := MARKUP.search(line):
            yield f"{shown}:{number}: found {match[0]}, expected Markdown without HTML"
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, what in ((privacy.ABSOLUTE_PATH, "an absolute path"),
                              (privacy.USER_AT_HOST, "a user at a host"),
                              (privacy.HOST_NAME, "a host name")):
            if match := pattern.search(line):
                yield f"{shown}:{number}: found {what} ({match[0]}), expected none"


def _named(text: str, names: Sequence[str], shown: str) -> Iterator[str]:
    """Whether the host or the user is named."""
    for name in names:
        match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.IGNORECASE)
        if match:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{shown}:{line}: found {name}, the name of this host or user, expected none"


def doubts(found: Sequence[OnMachine]) -> Iterator[str]:
    """What every page marks, and no verdict counts: it is packed as it is."""
    for one in found:
        failed = sum(not case.passed for case in one.measured.cases)
        if failed:
            yield f"{one.shown}: {notation.plural(failed, 'case')} failed verification, marked"
        for doubt in one.measured.doubts:
            yield f"{one.shown}: {doubt}"


# --- what is gained -------------------------------------------------------------------------------


def gains(house: House, machine: str, unmet_need: UnmetNeed) -> list[Gain]:
    """Chapter by chapter what the machine adds, or what it lacks."""
    here = house.of_machine(machine)[0].result.raw["machine"]
    return [Gain(survey.experiment.name,
                 _gain(survey, machine, unmet_need(survey.experiment, here)))
            for survey in house.surveys]


def _gain(survey: Survey, machine: str, unmet: str) -> str:
    experiment = survey.experiment
    if machine not in survey.machines:
        if unmet:
            return f"nothing: {unmet}"
        return f"nothing yet: just run-all {experiment.name}"
    words: dict[str, int] = {}
    for claim in experiment.claims:
        verdict = survey.verdicts[claim.id][machine]
        if verdict.is_asked:
            words[verdict.word] = words.get(verdict.word, 0) + 1
    told = ", ".join(f"{count} {word}" for word, count in sorted(words.items()))
    return f"a row in every table and figure; verdicts: {told or 'none that it can be asked'}"


# --- the archive ----------------------------------------------------------------------------------


def pack(folder: Path, archive: Path) -> int:
    """Writes the files of a folder into an archive that names no owner and no time; how many."""
    paths = _whole(folder)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for path in paths:
            entry = tarfile.TarInfo(f"reports/{folder.name}/{path.relative_to(folder).as_posix()}")
            entry.size, entry.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                tar.addfile(entry, file)
    files.write(archive, files.compressed(packed.getvalue()))
    return len(paths)

"""What students hand in: a file, a folder or an archive, of which one file counts."""

import contextlib
import hashlib
import os
import re
import stat
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from memwall.grade import exports, unpack
from memwall.grade.unpack import MOST_BYTES, MOST_FILES, Refused
from memwall.record import errors
from memwall.record.escape import visible
from memwall.record.kits import GradeError, Kit

ARCHIVES = (".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".tar", ".zip")
KINDS = ((stat.S_ISLNK, "a link"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
         (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
LOG, LOG_SUFFIX = "worklog.tsv", ".tsv"
PATIENCE_S = 120  # for an archive, of which it may take a twelfth as processor time
REASON_LETTERS = 300
#: What systems put beside files, which nobody has handed in.
LITTER = re.compile(r"\._.*|\.DS_Store|__MACOSX|Thumbs\.db|desktop\.ini|.*:Zone\.Identifier",
                    re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Submission:
    """One try of one student: a text, or the reason why there is none."""

    student: str
    label: str  # the name that it was handed in with, in letters that can be seen
    text: bytes
    refused: str = ""
    log: bytes = b""  # the work log that came with it
    late: int = 0  # days
    regrades: int = 0  # how often it was decided that it is to be graded anew

    def digest(self) -> str:
        """Of what was handed in."""
        return hashlib.sha256(self.text + self.refused.encode()).hexdigest()


def is_litter(path: Path) -> bool:
    """Whether a system has put it there, and no student."""
    return LITTER.fullmatch(path.name) is not None


def read_all(kit: Kit, paths: Sequence[Path]) -> tuple[list[Submission], list[str]]:
    """Reads each by itself. Of one name in one folder, as `bob.cpp` and `bob.zip`, all are tries.
    Returns also a line for each that is nobody's: it is not there, or has the name of another
    elsewhere."""
    found: dict[str, list[tuple[Path, Submission]]] = defaultdict(list)
    nobodys: list[str] = []
    for path in paths:
        try:
            one = read(kit, path)
            found[one.label].append((path, one))
        except GradeError as error:
            nobodys.append(str(error))
    graded: list[Submission] = []
    for label, alike in found.items():
        if len({one.digest() for _, one in alike}) == 1:
            graded.append(alike[0][1])
        elif len({path.parent for path, _ in alike}) == 1:
            graded += [replace(one, label=_shown(path.name)) for path, one in alike]
        else:
            names = ", ".join(str(path) for path, _ in alike)
            nobodys.append(f"{label}: found {len(alike)} submissions of this name, none is graded:"
                           f" {names}; a name tells whose it is, and {label}@1, {label}@2 tell"
                           " tries apart")
    return graded, nobodys


def _shown(name: str) -> str:
    """A name in one line; those of two that differ do."""
    return visible(name.replace("\\", "\\\\"), blank="")


def read(kit: Kit, path: Path) -> Submission:
    """Reads one submission. An @ and a number at the end of its name tell tries of one student
    apart. Raises `GradeError` where the fault is not the student's."""
    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
    except OSError as error:
        raise GradeError(f"{path}: no such submission: {error.strerror}") from None
    name = path.name or path.resolve().name
    suffix = "" if is_folder else _suffix(name, (*ARCHIVES, kit.suffix))
    label = _shown(name[:len(name) - len(suffix)] or name)
    attempt = re.fullmatch(r"(.+)@[0-9]+", label)
    student = attempt[1] if attempt else label
    try:
        text = _from_folder(kit, path) if is_folder else _from_file(kit, path, suffix)
        _check_text(text)
        log = _log_beside(kit, path, is_folder, suffix) if kit.log else b""
    except Refused as error:
        return Submission(student, label, b"", visible(str(error))[:REASON_LETTERS])
    except RecursionError:
        return Submission(student, label, b"", "its folders are nested too deeply")
    except OSError as error:
        return Submission(student, label, b"", visible(f"cannot be read: {error.strerror}"))
    return Submission(student, label, text, log=log)


def is_log(path: Path) -> bool:
    """Whether it is a work log, which is read with the file beside it. One that has none is a
    hand-in as any other, and will be refused."""
    return path.name.endswith(LOG_SUFFIX) and any(
        not other.name.endswith(LOG_SUFFIX) for other in _beside(path, LOG_SUFFIX))


def _beside(path: Path, suffix: str) -> list[Path]:
    """The files of a folder that came with one that ends so: those of its name, of an export of
    Canvas those of whoever handed it in."""
    canvas = exports.CANVAS.fullmatch(path.name)
    begin = path.name[:canvas.end("user")] + "_" if canvas else path.name[:-len(suffix)] + "."
    return [other for other in path.parent.iterdir() if other.name.startswith(begin)]


def _log_beside(kit: Kit, path: Path, is_folder: bool, suffix: str) -> bytes:
    """The work log: in a folder or an archive, or of the files that came with one the newest that
    ends in .tsv; empty where there is none that can be read."""
    of_log = replace(kit, file=LOG)
    try:
        if is_folder:
            log = _from_folder(of_log, path)
        elif suffix.lower() in ARCHIVES:
            log = _from_file(of_log, path, suffix)
        else:
            logs = [one for one in _beside(path, suffix) if one.name.endswith(LOG_SUFFIX)]
            newest = max(logs, key=lambda one: one.lstat().st_mtime, default=None)
            log = _from_file(of_log, newest, LOG_SUFFIX) if newest else b""
        _check_text(log)
    except (Refused, OSError):
        return b""
    return log


def _suffix(name: str, known: Sequence[str]) -> str:
    """The end of a name as it is written there, if it is one of those that are known."""
    found = next((one for one in known if name.lower().endswith(one)), "")
    return name[len(name) - len(found):]


def _from_folder(kit: Kit, folder: Path) -> bytes:
    names: list[str] = []
    count = 0
    for place, folders, files in os.walk(folder, onerror=_raise):
        names += [os.path.relpath(os.path.join(place, name), folder) for name in files]
        count += len(files) + len(folders)
        if count > MOST_FILES:
            raise Refused(f"it holds more than {MOST_FILES} files")
    packed = [name for name in names if _suffix(name, ARCHIVES)]
    if len(packed) == 1 and kit.file.lower() not in (Path(name).name.lower() for name in names):
        return _from_file(kit, folder / packed[0], _suffix(packed[0], ARCHIVES))
    return _from_file(kit, folder / unpack.only(names, kit.file), kit.suffix)


def _raise(error: OSError) -> None:
    raise error


def _from_file(kit: Kit, path: Path, suffix: str) -> bytes:
    with _opened(path) as file:
        if suffix.lower() == kit.suffix:
            return file.read(MOST_BYTES + 1)
        if suffix.lower() in ARCHIVES:
            return _unpacked(kit, file, suffix.lower())
    raise Refused(f"expected a file {kit.suffix}, a folder or an archive ({', '.join(ARCHIVES)})")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """A file that is one and is small: asked before it is opened and read, as a pipe has no end."""
    kind = next((name for is_it, name in KINDS if is_it(path.lstat().st_mode)), "")
    if kind:
        raise Refused(f"it is {kind}, expected a file")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        size = os.fstat(descriptor).st_size
        if size > MOST_BYTES:
            raise Refused(f"the file has {size} bytes, expected at most {MOST_BYTES}")
        yield file


def _unpacked(kit: Kit, archive: BinaryIO, suffix: str) -> bytes:
    command = [sys.executable, "-I", "-S", unpack.__file__, suffix, kit.file]
    try:
        done = subprocess.run(command, stdin=archive, capture_output=True, timeout=PATIENCE_S,
                              check=False)
    except subprocess.TimeoutExpired:
        raise Refused(f"it cannot be read within {PATIENCE_S} s") from None
    if done.returncode == unpack.REFUSED:
        raise Refused(done.stdout.decode(errors="replace"))
    if done.returncode < 0:
        raise Refused(f"it takes more than {unpack.MOST_SECONDS} s to read"
                      f" ({errors.ending(done.returncode)})")
    if done.returncode:
        raise GradeError(f"{unpack.__file__}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def _check_text(text: bytes) -> None:
    if len(text) > MOST_BYTES:
        raise Refused(f"the file has more than {MOST_BYTES} bytes")
    if not text.strip():
        raise Refused("the file is empty")
    if b"\0" in text:
        raise Refused("the file is no text: found a zero byte, as UTF-16 has; save it as UTF-8")

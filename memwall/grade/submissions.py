"""What students hand in: a file, a folder or an archive, of which one file counts."""

import hashlib
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memwall.record.kits import GradeError, Kit

MOST_BYTES = 1 << 20
SUFFIXES = (".tar.gz", ".tar.xz", ".tgz", ".tar", ".zip")


@dataclass(frozen=True)
class Submission:
    """One try of one student: a text, or the reason why there is none."""

    student: str
    label: str  # the name that it was handed in with
    text: bytes
    refused: str = ""

    def digest(self) -> str:
        """Of what was handed in."""
        return hashlib.sha256(self.text + self.refused.encode()).hexdigest()


def read_all(kit: Kit, paths: Sequence[Path]) -> list[Submission]:
    """Reads all. Raises `GradeError` where two have one name: which student handed in which?"""
    found = [read(kit, path) for path in paths]
    seen: dict[str, Path] = {}
    for one, path in zip(found, paths, strict=True):
        if one.label in seen:
            raise GradeError(f"{path}: found a second submission {one.label}, after"
                             f" {seen[one.label]}; the name of a file, folder or archive tells"
                             " whose it is")
        seen[one.label] = path
    return found


def read(kit: Kit, path: Path) -> Submission:
    """Reads one submission. What stands behind an @ in its name tells tries apart."""
    suffix = next((one for one in SUFFIXES if path.name.endswith(one)), None)
    if suffix is None:
        suffix = "" if path.is_dir() else path.suffix
    label = path.name.removesuffix(suffix)
    student = label.partition("@")[0]
    if not student or not path.exists():
        raise GradeError(f"{path}: no such submission")
    try:
        text = _text(kit, path, suffix)
    except (OSError, tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
        return Submission(student, label, b"", f"cannot be read: {error}")
    except _Refused as error:
        return Submission(student, label, b"", str(error))
    return Submission(student, label, text)


class _Refused(Exception):
    """Why something is not accepted."""


def _text(kit: Kit, path: Path, suffix: str) -> bytes:
    if path.is_symlink():
        raise _Refused("it is a link")
    if path.is_dir():
        files = sorted(path.rglob(kit.file))
        if len(files) != 1 or files[0].is_symlink() or not files[0].is_file():
            raise _Refused(f"expected one file {kit.file} in the folder, found {len(files)}")
        return _within_limits(files[0].read_bytes())
    if suffix in SUFFIXES and path.stat().st_size > MOST_BYTES:
        raise _Refused(f"the archive is larger than {MOST_BYTES >> 20} MB")
    if suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                _check_name(entry.filename, entry.external_attr >> 28 == 0o12)
            chosen = _only(kit, [one.filename for one in archive.infolist()])
            with archive.open(chosen) as file:
                return _within_limits(file.read(MOST_BYTES + 1))
    if suffix in SUFFIXES:
        with tarfile.open(path) as archive:
            members = archive.getmembers()
            for member in members:
                _check_name(member.name, not (member.isfile() or member.isdir()))
            chosen = _only(kit, [member.name for member in members if member.isfile()])
            stored = archive.extractfile(chosen)
            return _within_limits(stored.read(MOST_BYTES + 1) if stored else b"")
    if suffix != kit.suffix:
        raise _Refused(f"expected a file {kit.suffix}, a folder or an archive"
                       f" ({', '.join(SUFFIXES)})")
    return _within_limits(path.read_bytes()[:MOST_BYTES + 1])


def _check_name(name: str, is_link: bool) -> None:
    place = PurePosixPath(name)
    if is_link:
        raise _Refused(f"the archive holds a link: {name}")
    if place.is_absolute() or ".." in place.parts:
        raise _Refused(f"the archive reaches outside of itself: {name}")


def _only(kit: Kit, names: list[str]) -> str:
    found = [name for name in names if PurePosixPath(name).name == kit.file
             and not PurePosixPath(name).parts[0].startswith("__MACOSX")]
    if len(found) != 1:
        raise _Refused(f"expected one file {kit.file} in the archive, found {len(found)}")
    return found[0]


def _within_limits(text: bytes) -> bytes:
    if len(text) > MOST_BYTES:
        raise _Refused(f"the file is larger than {MOST_BYTES >> 20} MB")
    return text

"""Takes the one file that counts out of an archive: `python -I unpack.py SUFFIX FILE`.

Strangers make archives, so that a program of its own reads them: whatever goes wrong in it goes
wrong without rights, and within limits on memory and time. The archive is its standard input, what
it found its standard output. It uses the standard library alone.
"""

import bz2  # noqa: F401  these three: tarfile asks for them when rights are gone
import codecs
import gzip  # noqa: F401
import lzma  # noqa: F401
import os
import resource
import stat
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import PureWindowsPath
from typing import BinaryIO

MOST_BYTES = 1 << 20  # of an archive, and of the file that counts
MOST_UNPACKED = 64 << 20  # bytes of all that an archive says to hold
MOST_FILES = 10_000
MOST_MEMORY = 512 << 20
MOST_SECONDS = 10  # of processor time
NOBODY = 64_000  # a uid that Debian leaves to nobody
REFUSED = 3  # exit code: standard output is the reason


class Refused(Exception):
    """Why something that was handed in is not accepted."""


def only(names: Iterable[str], wanted: str) -> str:
    """The one name that is the wanted file's, in whatever folder and letters: Spmv.CPP counts."""
    own = [name for name in names if "__MACOSX" not in PureWindowsPath(name).parts]
    found = [name for name in own if PureWindowsPath(name).name.lower() == wanted.lower()]
    if len(found) == 1:
        return found[0]
    held = found or own
    told = ", ".join(sorted(held)[:3]) + (", ..." if len(held) > 3 else "")
    raise Refused(f"expected one file {wanted} in it, found {len(found) or 'none'}"
                  + (f": {told}" if found else f" but {told}" if own else ""))


def take(file: BinaryIO, suffix: str, wanted: str) -> bytes:
    """The text of the wanted file, at most one byte more than is accepted."""
    return _from_zip(file, wanted) if suffix == ".zip" else _from_tar(file, wanted)


def _from_zip(file: BinaryIO, wanted: str) -> bytes:
    with zipfile.ZipFile(file) as archive:
        size = 0
        for number, entry in enumerate(archive.infolist()):
            size += entry.file_size
            _check(entry.filename, number, size, stat.S_ISLNK(entry.external_attr >> 16))
        files = [one for one in archive.infolist() if not one.is_dir()]
        name = only([one.filename for one in files], wanted)
        stored = next(one for one in files if one.filename == name)
        if stored.flag_bits & 1:
            raise Refused("it is encrypted: hand it in without a password")
        with archive.open(stored) as text:
            return text.read(MOST_BYTES + 1)


def _from_tar(file: BinaryIO, wanted: str) -> bytes:
    with tarfile.open(fileobj=file) as archive:
        size = 0
        for number, entry in enumerate(archive):
            size += entry.size
            _check(entry.name, number, size, not (entry.isfile() or entry.isdir()))
        files = [one for one in archive.getmembers() if one.isfile()]
        name = only([one.name for one in files], wanted)
        text = archive.extractfile(next(one for one in files if one.name == name))
        return text.read(MOST_BYTES + 1) if text else b""


def _check(name: str, number: int, size: int, is_special: bool) -> None:
    place = PureWindowsPath(name)  # knows both kinds of slashes, and drives
    if number >= MOST_FILES:
        raise Refused(f"it holds more than {MOST_FILES} files")
    if size > MOST_UNPACKED:
        raise Refused(f"it unpacks to more than {MOST_UNPACKED >> 20} MB")
    if is_special:
        raise Refused(f"it holds a link, a pipe or a device: {name}")
    if place.anchor or ".." in place.parts:
        raise Refused(f"it reaches outside of itself: {name}")


def _give_up_rights() -> None:
    codecs.lookup("cp437")  # names in archives; no file can be counted on to be readable below
    for what, most in ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS),
                       (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NPROC, 0),
                       (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def main() -> int:
    """Writes the text, or why there is none."""
    suffix, wanted = sys.argv[1:]
    _give_up_rights()
    try:
        text = take(sys.stdin.buffer, suffix, wanted)
    except Refused as error:
        said = str(error)
    except MemoryError:
        said = f"it takes more than {MOST_MEMORY >> 20} MB of memory to read"
    except Exception as error:  # readers of archives raise what they like
        said = f"it cannot be read: {error or type(error).__name__}"
    else:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()
        return 0
    sys.stdout.buffer.write(said.encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()
    return REFUSED


if __name__ == "__main__":
    sys.exit(main())

"""Fetch matrices of the SuiteSparse Matrix Collection into the cache.

    fetch.py NAME...

Each NAME is an entry of catalogue.toml with a group. Its archive is downloaded (and continued where
an earlier download stopped), checked, and unpacked to CACHE/GROUP/NAME.mtx. The archive's size and
SHA-256 are recorded in archives.lock the first time and compared ever after.

Exit codes: 0 everything asked for is in the cache, 2 it is not, and one line says why, 130 stopped.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import fcntl
import gzip
import hashlib
import http.client
import io
import os
import re
import ssl
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from memwall.record import errors, files, numbers  # noqa: E402
from memwall.record.errors import UserError  # noqa: E402

COLLECTION = "https://suitesparse-collection-website.herokuapp.com/MM"
CHUNK = 1 << 20
SECONDS = numbers.option(lambda name, text: numbers.finite(name, text, 0.001), "seconds")
RETRIES = numbers.option(lambda name, text: numbers.whole(name, text, 0, 1000), "retries")
# An entry of a complex matrix written with all digits takes about 70 bytes.
BYTES_PER_ENTRY = 100
HEADER_ALLOWANCE = 1 << 20


class FetchError(UserError):
    """Why a matrix could not be fetched, in one line."""


class Interrupted(Exception):
    """A download that broke off and may be continued."""


@dataclass(frozen=True)
class Matrix:
    """An entry of the collection as the catalogue gives it."""

    group: str
    name: str
    nonzeros: int

    @property
    def largest(self) -> int:
        """More bytes than its Matrix Market file, and so its archive, can take."""
        return self.nonzeros * BYTES_PER_ENTRY + HEADER_ALLOWANCE


@dataclass(frozen=True)
class Archive:
    """What archives.lock records of an archive."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Settings:
    """Where things come from and go to, and how long to try."""

    lock: Path
    cache: Path
    base_url: str
    timeout: float
    retries: int
    pause: float
    again: bool


def find_matrix(catalogue: Path, name: str) -> Matrix:
    """The entry `name`, which must be one of the collection."""
    try:
        matrices = files.read_toml(catalogue)["matrix"]
    except KeyError as error:
        raise FetchError(f"{catalogue}: {error}, expected tables [matrix.NAME]") from error
    if name not in matrices:
        fetchable = [key for key, entry in matrices.items() if "group" in entry]
        near = difflib.get_close_matches(name, fetchable, n=3, cutoff=0.0)
        raise FetchError(f'unknown matrix "{name}"; the nearest names are {", ".join(near)}')
    entry = matrices[name]
    if "group" not in entry:
        raise FetchError(f'matrix "{name}" is generated, there is nothing to fetch')
    return Matrix(entry["group"], entry["name"], entry["nonzeros"])


def read_lock(path: Path) -> dict[str, Archive]:
    """The recorded archives by "group/name"."""
    if not path.exists():
        return {}
    try:
        return {key: Archive(**entry) for key, entry in files.read_toml(path).items()}
    except TypeError as error:
        raise FetchError(f"{path}: {error}, expected lines written by fetch.py") from error


def record(path: Path, key: str, archive: Archive) -> None:
    """Add one archive to the lock file, which is replaced as a whole."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        entries = read_lock(path) | {key: archive}
        lines = ["# Size and SHA-256 of every archive fetched; written by fetch.py.\n"]
        for name, entry in sorted(entries.items()):
            lines.append(f'"{name}" = {{ bytes = {entry.bytes}, sha256 = "{entry.sha256}" }}\n')
        files.write(path, "".join(lines))
    finally:
        os.close(folder)


@contextlib.contextmanager
def reserved(part: Path) -> Iterator[None]:
    """Keep other fetches of the same archive out while the block runs."""
    with part.open("ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FetchError(f"{part}: another fetch of this matrix is under way") from error
        try:
            yield
        finally:
            if part.exists() and part.stat().st_size == 0:
                part.unlink()


class Progress:
    """How much has arrived: only on a terminal on which a line can be written over."""

    def __init__(self, label: str) -> None:
        self.label = label
        usual = os.environ.get("TERM", "") not in ("", "dumb") and not os.environ.get("NO_COLOR")
        self.shown = sys.stderr.isatty() and usual
        self.next = 0.0

    def show(self, done: int, total: int | None) -> None:
        """Called often; draws a few times a second."""
        now = time.monotonic()
        if not self.shown or now < self.next:
            return
        self.next = now + 0.2
        of = f" of {total / 1e6:.1f} MB, {100 * done / total:.0f} %" if total else " MB"
        print(f"\r{self.label}: {done / 1e6:.1f}{of}\x1b[K", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Clears the line."""
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def total_size(response: http.client.HTTPResponse, start: int) -> int | None:
    """Bytes of the whole archive as the answer tells, if it does."""
    if response.status == 206:
        match = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if match is None or int(match[1]) != start:
            raise FetchError(
                f"{response.url}: Content-Range {response.headers.get('Content-Range')!r},"
                f" expected one from byte {start} on"
            )
        return int(match[2])
    length = response.headers.get("Content-Length")
    return int(length) if length is not None and length.isdigit() else None


@dataclass(frozen=True)
class Job:
    """An archive to download."""

    url: str
    part: Path
    known: Archive | None
    largest: int

    def check_size(self, size: int) -> None:
        """Complain as soon as the size is known to be wrong."""
        if self.known is not None and size != self.known.bytes:
            raise FetchError(f"{self.url}: {size} bytes, expected {self.known.bytes} as recorded")
        self.check_limit(size)

    def check_limit(self, size: int) -> None:
        """Refuse what cannot be the archive of this matrix."""
        if size > self.largest:
            raise FetchError(f"{self.url}: {size} bytes or more, expected at most {self.largest}")


def receive(job: Job, timeout: float) -> None:
    """One attempt to complete the part, from where it ends."""
    start = job.part.stat().st_size
    if job.known is not None and start == job.known.bytes:
        return
    request = urllib.request.Request(job.url, headers={"User-Agent": "memwall"})
    if start:
        request.add_header("Range", f"bytes={start}-")
    with urllib.request.urlopen(request, timeout=timeout) as response:
        if response.status != 206:
            start = 0
        size = total_size(response, start)
        if size is not None:
            job.check_size(size)
        progress = Progress(job.part.name.removesuffix(".part"))
        with job.part.open("ab" if start else "wb") as file:
            try:
                while block := response.read1(CHUNK):  # what has arrived, be it little
                    file.write(block)
                    job.check_limit(file.tell())
                    progress.show(file.tell(), size)
            finally:
                progress.end()
            done = file.tell()
    if size is not None and done != size:
        raise Interrupted(f"{done} of {size} bytes arrived")


def attempt(job: Job, timeout: float) -> None:
    """`receive`, with its many errors sorted: worth another try (`Interrupted`) or not."""
    try:
        receive(job, timeout)
    except urllib.error.HTTPError as error:
        if error.code == 416:
            # Either everything had arrived, or what had arrived is of another archive.
            if error.headers.get("Content-Range") == f"bytes */{job.part.stat().st_size}":
                return
            job.part.write_bytes(b"")
            raise Interrupted("the part on disk does not belong to this archive") from error
        if error.code >= 500 or error.code == 429:
            raise Interrupted(f"HTTP {error.code} {error.reason}") from error
        raise FetchError(f"{job.url}: HTTP {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise Interrupted(str(error.reason)) from error
    except (http.client.HTTPException, ConnectionError, TimeoutError, ssl.SSLError) as error:
        raise Interrupted(str(error) or type(error).__name__) from error


def download(job: Job, settings: Settings) -> None:
    """Complete the part, with pauses that double between attempts."""
    for tried in range(settings.retries + 1):
        try:
            attempt(job, settings.timeout)
            return
        except Interrupted as error:
            if tried == settings.retries:
                kept = job.part.stat().st_size
                note = f"; {kept} bytes are kept for the next time" if kept else ""
                raise FetchError(f"{job.url}: {error}{note}") from error
            time.sleep(settings.pause * 2**tried)


class Metered(io.BufferedIOBase):
    """A stream that gives out no more bytes than it was allowed."""

    def __init__(self, stream: gzip.GzipFile, allowance: int) -> None:
        super().__init__()
        self.stream = stream
        self.allowance = allowance

    def read(self, size: int | None = -1, /) -> bytes:
        """At most `size` bytes; an error when the allowance is used up."""
        block = self.stream.read(size)
        self.allowance -= len(block)
        if self.allowance < 0:
            raise FetchError("unpacks to more than its members say")
        return block


def check_member(member: tarfile.TarInfo, name: str) -> None:
    """Plain files and folders below NAME/ are all that an archive of the collection holds."""
    parts = member.name.split("/")
    if not (member.isreg() or member.isdir()) or parts[0] != name or ".." in parts:
        raise FetchError(f"member {member.name!r} is not a plain file or folder below {name}/")


def unpack_member(tar: tarfile.TarFile, member: tarfile.TarInfo, target: Path) -> None:
    """Write one member to `target`."""
    source = tar.extractfile(member)
    assert source is not None  # a regular file, as check_member made sure
    with target.open("wb") as file:
        while block := source.read(CHUNK):
            file.write(block)


def unpack(archive: Path, matrix: Matrix, target: Path) -> None:
    """Write NAME/NAME.mtx of the archive to `target` and read all the rest, checksums included."""
    limit = matrix.largest
    wanted = f"{matrix.name}/{matrix.name}.mtx"
    found = False
    with gzip.open(archive) as unzipped:
        # Headers are read into memory: they get little, a file gets what it says, up to the limit.
        metered = Metered(unzipped, HEADER_ALLOWANCE)
        with tarfile.open(fileobj=metered, mode="r|") as tar:
            for member in tar:
                check_member(member, matrix.name)
                limit -= member.size
                if limit < 0:
                    raise FetchError(f"member {member.name!r} of {member.size} bytes is too large")
                metered.allowance += member.size
                if member.name == wanted:
                    if found:
                        raise FetchError(f"holds {wanted} twice")
                    found = True
                    unpack_member(tar, member, target)
        while metered.read(CHUNK):
            pass
    if not found:
        raise FetchError(f"holds no {wanted}")


def unpack_checked(archive: Path, matrix: Matrix, target: Path) -> None:
    """`unpack`; whatever is wrong with the archive becomes one line."""
    try:
        unpack(archive, matrix, target)
    except FetchError as error:
        raise FetchError(f"the archive {error}") from error
    except (EOFError, gzip.BadGzipFile, zlib.error, tarfile.TarError) as error:
        raise FetchError(f"the archive is damaged: {error}") from error


def digest(path: Path) -> Archive:
    """Size and SHA-256 of a file."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return Archive(path.stat().st_size, sha256)


def check_archive(job: Job, found: Archive) -> None:
    """The archive must be the one that was recorded."""
    if job.known is not None and found != job.known:
        raise FetchError(
            f"{job.url}: {found.bytes} bytes with SHA-256 {found.sha256},"
            f" expected {job.known.bytes} bytes with SHA-256 {job.known.sha256} as recorded"
        )


def check_and_unpack(job: Job, matrix: Matrix, target: Path) -> Archive:
    """From a complete part to the Matrix Market file; a part that proves wrong is removed, since
    the next attempt would continue it."""
    try:
        found = digest(job.part)
        check_archive(job, found)
        unpack_checked(job.part, matrix, target)
        return found
    except FetchError:
        job.part.unlink()
        raise


def fetch(matrix: Matrix, settings: Settings) -> Path:
    """Bring one matrix into the cache; the path of its Matrix Market file."""
    target = settings.cache / matrix.group / f"{matrix.name}.mtx"
    if target.exists() and not settings.again:
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    key = f"{matrix.group}/{matrix.name}"
    part = target.with_name(f"{matrix.name}.tar.gz.part")
    unpacked = target.with_name(f"{matrix.name}.mtx.part")
    with reserved(part):
        known = read_lock(settings.lock).get(key)
        job = Job(f"{settings.base_url}/{key}.tar.gz", part, known, matrix.largest)
        download(job, settings)
        try:
            found = check_and_unpack(job, matrix, unpacked)
            if known is None:
                record(settings.lock, key, found)
            os.replace(unpacked, target)
        finally:
            unpacked.unlink(missing_ok=True)
        part.unlink()
    return target


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="fetch", description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="+", metavar="NAME", help="a matrix of the catalogue")
    parser.add_argument("--again", action="store_true", help="fetch what is in the cache anew")
    parser.add_argument("--catalogue", type=Path, default=HERE / "catalogue.toml")
    parser.add_argument("--lock", type=Path, default=HERE / "archives.lock")
    cache = os.environ.get("MEMWALL_CACHE") or HERE / "cache"
    parser.add_argument("--cache", type=Path, default=Path(cache), help="also MEMWALL_CACHE")
    parser.add_argument(
        "--base-url",
        default=os.environ.get("MEMWALL_COLLECTION") or COLLECTION,
        help="where GROUP/NAME.tar.gz are; also MEMWALL_COLLECTION",
    )
    parser.add_argument("--timeout", type=SECONDS, default=30, help="seconds without an answer")
    parser.add_argument("--retries", type=RETRIES, default=4)
    parser.add_argument("--pause", type=SECONDS, default=0.5, help="seconds before the first retry")
    return parser.parse_args()


def main() -> int:
    """Fetch all that was asked for; the exit code."""
    return errors.exit_code(_main)


def _main() -> int:
    options = arguments()
    settings = Settings(
        options.lock,
        options.cache,
        options.base_url.rstrip("/"),
        options.timeout,
        options.retries,
        options.pause,
        options.again,
    )
    code = 0
    for name in options.name:
        try:
            print(fetch(find_matrix(options.catalogue, name), settings))
        except BrokenPipeError:
            raise
        except (UserError, OSError) as error:
            print(f"fetch {name}: {errors.line_of(error)}", file=sys.stderr)
            code = 2
        except KeyboardInterrupt:
            print(f"fetch {name}: interrupted; the same command continues", file=sys.stderr)
            raise
    return code


if __name__ == "__main__":
    sys.exit(main())

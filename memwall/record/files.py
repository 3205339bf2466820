"""Files and folders: written whole or not at all, read with errors that name them, and held by one
command at a time. Nothing else in Python opens a file to write what others read."""

import contextlib
import fcntl
import gzip
import io
import json
import math
import os
import re
import secrets
import shutil
import time
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memwall.record.errors import UserError, line_of

#: How names of compressed files end.
COMPRESSED = ".gz"
#: A compressed file that holds more is not read: a small one may hold more than memory does.
MOST_BYTES = 64_000_000


def shown(path: Path) -> str:
    """A path as people would type it where they are."""
    return os.path.relpath(path)


def write(path: Path, content: str | bytes) -> None:
    """Writes a file, its folder too: it is there whole, or as it was before. Raises `OSError` with
    the file's name."""
    data = content.encode() if isinstance(content, str) else content
    target = Path(os.path.realpath(path))  # what a link names is replaced, not the link
    with _naming(path):
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        part = _beside(target)
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def write_json(path: Path, value: Any) -> None:
    """Writes a value for people and programs. A byte of a file's name that is no text becomes a
    `\\udcff` of JSON, which reads as that byte again."""
    text = json.dumps(value, indent=1, ensure_ascii=False) + "\n"
    write(path, text.encode(errors="backslashreplace"))


def compressed(content: bytes) -> bytes:
    """As gzip has it, without a name and a time: the same bytes each time."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as file:
        file.write(content)
    return packed.getvalue()


@contextlib.contextmanager
def whole_folder(target: Path, room: Path | None = None) -> Iterator[Path]:
    """Yields an empty folder that becomes `target` when the block ends well, and else goes away.
    Raises `UserError` if `target` exists, also if it has come meanwhile.

    It is made in `room`, a folder where nothing looks for what a killed command leaves behind.
    """
    if target.exists():
        raise UserError(f"{target}: exists already")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _beside(room / target.name if room else target)
    part.mkdir()
    try:
        yield part
        try:
            part.rename(target)
        except OSError:
            if not target.exists():
                raise
            raise UserError(f"{target}: exists already") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _beside(target: Path) -> Path:
    """A name that nothing has, in the same folder."""
    return target.with_name(f".{secrets.token_hex(6)}.part")


def is_unfinished(path: Path) -> bool:
    """Whether a file is what a command that was killed had not written to its end."""
    return re.fullmatch(r"\.[0-9a-f]{12}\.part", path.name) is not None


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Lets errors name the file that was to be written, not its unfinished twin."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


# --- reading --------------------------------------------------------------------------------------


def read(path: Path, shown: str = "") -> str:
    """The text of a file, called `shown` in errors. Raises `UserError` if it cannot be read."""
    try:
        return text_of(read_bytes(path, shown))
    except UnicodeDecodeError as error:
        raise UserError(f"{shown or path}: cannot be read: byte {error.start} is no UTF-8"
                         ) from error


def text_of(content: bytes, errors: str = "strict") -> str:
    """The text that UTF-8 stands for; each of its lines ends with a newline alone."""
    return io.TextIOWrapper(io.BytesIO(content), "utf-8", errors).read()


def read_bytes(path: Path, shown: str = "") -> bytes:
    """What a file holds; of a compressed one, what is compressed in it. Raises `UserError` if it
    cannot be read, holds too much, or is a pipe that no shell made: nobody might ever write into
    it."""
    name = shown or path
    if path.is_fifo() and Path("/dev") not in path.absolute().parents:
        raise UserError(f"{name}: found a pipe, expected a file")
    try:
        return _decompressed(path, name) if path.suffix == COMPRESSED else path.read_bytes()
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from error


def _decompressed(path: Path, name: str | Path) -> bytes:
    """What is compressed in a file; of what is too large only as much as shows that."""
    try:
        with gzip.open(path) as file:
            content = file.read(MOST_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{name}: not gzip: {line_of(error)}") from error
    if len(content) > MOST_BYTES:
        raise UserError(f"{name}: found more than {MOST_BYTES} bytes compressed in it, expected at"
                        " most so many")
    return content


def read_json(path: Path, shown: str = "") -> Any:
    """The value in a JSON file, whose numbers are finite. Raises `UserError` if there is none."""
    return _decoded(_from_json, "JSON", path, shown)


def read_object(path: Path, shown: str = "", of: type | tuple[type, ...] = object
                ) -> dict[str, Any]:
    """The object in a JSON file, all of whose values are `of` a kind. Raises `UserError` for
    anything else."""
    found = read_json(path, shown)
    if not isinstance(found, dict) or not all(isinstance(value, of) for value in found.values()):
        raise UserError(f"{shown or path}: found {json.dumps(found)[:40]}, expected what this"
                         " version writes there")
    return found


def _from_json(text: str) -> Any:
    return json.loads(text, parse_float=_finite, parse_constant=_finite)


def read_toml(path: Path, shown: str = "") -> dict[str, Any]:
    """The table in a TOML file, whose numbers are finite. Raises `UserError` if there is none."""
    return _decoded(lambda text: tomllib.loads(text, parse_float=_finite), "TOML", path, shown)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found {text}, expected a finite number")
    return value


def _decoded(decode: Any, what: str, path: Path, shown: str) -> Any:
    try:
        return decode(read(path, shown))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{shown or path}: not {what}: {line_of(error)}") from error


# --- locks ----------------------------------------------------------------------------------------


@contextlib.contextmanager
def exclusive(directory: Path, patience_s: float = 10) -> Iterator[int]:
    """Holds the lock of `directory` and yields it as an open file, for programs to inherit.

    A killed run leaves programs that notice only at the end of their turn; they are waited for.
    """
    directory.mkdir(parents=True, exist_ok=True)
    lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + patience_s
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    where = os.path.relpath(directory)
                    raise UserError(f"another run is at work in {where}; start again when it"
                                    " has ended") from None
                time.sleep(0.1)
            except OSError:
                break  # a file system without locks, as some that hosts share
        yield lock
    finally:
        os.close(lock)

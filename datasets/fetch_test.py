"""fetch.py against a server on loopback that misbehaves in every way we could think of."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import re
import socket
import subprocess
import sys
import tarfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

FETCH = Path(__file__).with_name("fetch.py")
TEXT = b"%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 1\n1 3\n2 2\n"
CATALOGUE = """
[matrix.small]
about = "a matrix of the collection"
group = "Group"
name = "small"
rows = 2
columns = 3
nonzeros = 3

[matrix.made]
about = "generated"
generator = "poisson2d"
n = 3
"""
Answer = Callable[["Handler"], None]


def file_member(name: str, data: bytes) -> tuple[tarfile.TarInfo, bytes]:
    """A plain file for `archive`."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    return info, data


def special_member(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    """A link, device or folder for `archive`."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info, b""


def archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    """A .tar.gz with the given members."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for info, data in members:
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def noise(size: int) -> bytes:
    """Bytes that do not compress."""
    blocks = (hashlib.sha256(str(k).encode()).digest() for k in range(size // 32 + 1))
    return b"".join(blocks)[:size]


# The README makes it large enough to break off in the middle.
GOOD = archive(
    special_member("small", tarfile.DIRTYPE),
    file_member("small/README", noise(200_000)),
    file_member("small/small.mtx", TEXT),
    file_member("small/small_b.mtx", b"a right-hand side"),
)


class Handler(BaseHTTPRequestHandler):
    """Answers each request as the test says, one answer after the other, the last one for ever."""

    server: Server

    def do_GET(self) -> None:
        """One request."""
        self.server.requests.append((self.path, self.headers.get("Range")))
        answers = self.server.answers
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        answer(self)

    def log_message(self, format: str, *args: object) -> None:
        """Silence."""

    def begin(self, status: int, **headers: object) -> None:
        """Status line and headers."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()


class Server(ThreadingHTTPServer):
    """A server with a script."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, str | None]] = []
        self.released = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are part of the tests."""


def serve(data: bytes, ranges: bool = True) -> Answer:
    """A server that does everything right."""

    def answer(handler: Handler) -> None:
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        if not ranges or wanted is None:
            handler.begin(200, Content_Length=len(data))
            handler.wfile.write(data)
            return
        start = int(wanted[1])
        if start >= len(data):
            handler.begin(416, Content_Range=f"bytes */{len(data)}", Content_Length=0)
            return
        place = f"bytes {start}-{len(data) - 1}/{len(data)}"
        handler.begin(206, Content_Length=len(data) - start, Content_Range=place)
        handler.wfile.write(data[start:])

    return answer


def break_off(data: bytes, after: int) -> Answer:
    """A server that promises everything and closes the connection in the middle."""

    def answer(handler: Handler) -> None:
        handler.begin(200, Content_Length=len(data))
        handler.wfile.write(data[:after])
        handler.close_connection = True

    return answer


def stall(data: bytes, after: int) -> Answer:
    """A server that falls silent in the middle, until the test is over."""

    def answer(handler: Handler) -> None:
        handler.begin(200, Content_Length=len(data))
        handler.wfile.write(data[:after])
        handler.wfile.flush()
        handler.server.released.wait(60)

    return answer


def without_length(data: bytes) -> Answer:
    """A server that does not tell how much will come."""

    def answer(handler: Handler) -> None:
        handler.begin(200)
        handler.wfile.write(data)
        handler.close_connection = True

    return answer


def fail(status: int) -> Answer:
    """A server that answers with an error."""
    return lambda handler: handler.begin(status, Content_Length=0)


class World:
    """A catalogue, a lock, a cache and a server."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.server = server
        self.catalogue = folder / "catalogue.toml"
        self.catalogue.write_text(CATALOGUE, encoding="utf-8")
        self.lock = folder / "archives.lock"
        self.cache = folder / "cache"
        self.target = self.cache / "Group" / "small.mtx"
        self.part = self.cache / "Group" / "small.tar.gz.part"
        self.url = f"http://127.0.0.1:{server.server_port}"

    def command(self, *arguments: str) -> list[str]:
        """The command line of a fetch, patient for fractions of a second."""
        options = {
            "--catalogue": self.catalogue,
            "--lock": self.lock,
            "--cache": self.cache,
            "--base-url": self.url,
            "--timeout": 5,
            "--retries": 2,
            "--pause": 0.01,
        }
        pairs = [str(word) for option in options.items() for word in option]
        return [sys.executable, str(FETCH), *pairs, *arguments]

    def fetch(self, *arguments: str, answers: list[Answer]) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        self.server.answers = list(answers)
        self.server.requests.clear()
        return subprocess.run(
            self.command(*arguments), capture_output=True, text=True, timeout=60, check=False
        )

    def refuse(self, *arguments: str, answers: list[Answer]) -> str:
        """Run it, make sure that it failed properly, and return its one line."""
        before = self.lock.read_text(encoding="utf-8") if self.lock.exists() else None
        done = self.fetch(*arguments, answers=answers)
        assert done.returncode == 2, done
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1 and done.stderr.endswith("\n"), done.stderr
        after = self.lock.read_text(encoding="utf-8") if self.lock.exists() else None
        assert after == before
        leftovers = {path.name for path in self.cache.rglob("*") if path.is_file()}
        assert leftovers <= {"small.mtx", "small.tar.gz.part"}
        return done.stderr

    def check_fetched(self, done: subprocess.CompletedProcess[str]) -> None:
        """The matrix is there, and nothing else."""
        assert done.returncode == 0, done
        assert done.stdout == f"{self.target}\n"
        assert done.stderr == ""
        assert self.target.read_bytes() == TEXT
        assert [path for path in self.cache.rglob("*") if path.is_file()] == [self.target]

    def await_part(self, process: subprocess.Popen[str]) -> None:
        """Return when some of the archive has arrived."""
        while not (self.part.exists() and self.part.stat().st_size):
            assert process.poll() is None
            time.sleep(0.01)

    def write_lock(self, data: bytes) -> None:
        """Record `data` as the right archive."""
        sha256 = hashlib.sha256(data).hexdigest()
        self.lock.write_text(
            f'"Group/small" = {{ bytes = {len(data)}, sha256 = "{sha256}" }}\n', encoding="utf-8"
        )

    def write_part(self, data: bytes) -> None:
        """Leave `data` behind as if a download had stopped there."""
        self.part.parent.mkdir(parents=True)
        self.part.write_bytes(data)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A fresh world with a running server."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield World(tmp_path, server)
    server.released.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_fetches_records_and_keeps(world: World) -> None:
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    assert world.server.requests == [("/Group/small.tar.gz", None)]
    recorded = tomllib.loads(world.lock.read_text(encoding="utf-8"))
    sha256 = hashlib.sha256(GOOD).hexdigest()
    assert recorded == {"Group/small": {"bytes": len(GOOD), "sha256": sha256}}
    world.check_fetched(world.fetch("small", answers=[fail(500)]))
    assert world.server.requests == []


def test_what_was_recorded_before_stays(world: World) -> None:
    zeros = "0" * 64
    world.lock.write_text(f'"A/b" = {{ bytes = 1, sha256 = "{zeros}" }}\n', encoding="utf-8")
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    recorded = tomllib.loads(world.lock.read_text(encoding="utf-8"))
    assert recorded["A/b"] == {"bytes": 1, "sha256": zeros}
    assert "Group/small" in recorded


def test_again_replaces_what_is_there(world: World) -> None:
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    world.target.write_bytes(b"scratched")
    world.check_fetched(world.fetch("--again", "small", answers=[serve(GOOD)]))


def test_the_environment_names_server_and_cache(world: World) -> None:
    world.server.answers = [serve(GOOD)]
    command = [sys.executable, str(FETCH), "small"]
    command += ["--catalogue", str(world.catalogue), "--lock", str(world.lock)]
    environment = os.environ | {"MEMWALL_CACHE": str(world.cache), "MEMWALL_COLLECTION": world.url}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    world.check_fetched(done)


def test_continues_after_a_break(world: World) -> None:
    world.check_fetched(world.fetch("small", answers=[break_off(GOOD, 70_000), serve(GOOD)]))
    assert [requested for _, requested in world.server.requests] == [None, "bytes=70000-"]


def test_needs_no_length(world: World) -> None:
    world.check_fetched(world.fetch("small", answers=[without_length(GOOD)]))


def test_continues_after_silence(world: World) -> None:
    answers = [stall(GOOD, 80_000), serve(GOOD)]
    world.check_fetched(world.fetch("--timeout", "0.5", "small", answers=answers))
    assert world.server.requests[1][1] == "bytes=80000-"


def test_continues_what_an_earlier_run_left(world: World) -> None:
    message = world.refuse("small", answers=[break_off(GOOD, 50_000), fail(503)])
    assert "HTTP 503" in message and "50000 bytes are kept" in message
    assert world.part.read_bytes() == GOOD[:50_000]
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    assert world.server.requests == [("/Group/small.tar.gz", "bytes=50000-")]


def test_continues_after_an_interrupt(world: World) -> None:
    world.server.answers = [stall(GOOD, 60_000)]
    with subprocess.Popen(world.command("small"), stderr=subprocess.PIPE, text=True) as process:
        world.await_part(process)
        process.send_signal(2)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "fetch small: interrupted; the same command continues\n"
    kept = world.part.stat().st_size
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    assert world.server.requests == [("/Group/small.tar.gz", f"bytes={kept}-")]


def test_starts_over_where_ranges_are_not_served(world: World) -> None:
    world.write_part(b"something else entirely")
    world.check_fetched(world.fetch("small", answers=[serve(GOOD, ranges=False)]))


def test_a_complete_part_needs_no_more_bytes(world: World) -> None:
    world.write_part(GOOD)
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))


def test_a_complete_recorded_part_needs_no_server(world: World) -> None:
    world.write_lock(GOOD)
    world.write_part(GOOD)
    world.check_fetched(world.fetch("small", answers=[fail(500)]))
    assert world.server.requests == []


def test_a_part_longer_than_the_archive_starts_over(world: World) -> None:
    world.write_part(GOOD + b"more")
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    assert len(world.server.requests) == 2


def test_a_part_of_another_archive_is_found_out(world: World) -> None:
    world.write_part(b"\0" * 1000)
    assert "the archive is damaged" in world.refuse("small", answers=[serve(GOOD)])
    assert not world.part.exists()
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))


def test_a_wrong_range_is_refused(world: World) -> None:
    def answer(handler: Handler) -> None:
        handler.begin(206, Content_Length=5, Content_Range="bytes 0-4/5")
        handler.wfile.write(b"abcde")

    world.write_part(GOOD[:10])
    assert "expected one from byte 10 on" in world.refuse("small", answers=[answer])
    assert world.part.read_bytes() == GOOD[:10]


def test_a_changed_archive_is_refused_and_the_old_file_kept(world: World) -> None:
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))
    changed = GOOD[:9] + bytes([GOOD[9] ^ 1]) + GOOD[10:]  # the byte of the operating system
    message = world.refuse("--again", "small", answers=[serve(changed)])
    assert hashlib.sha256(GOOD).hexdigest() in message
    assert hashlib.sha256(changed).hexdigest() in message
    assert world.target.read_bytes() == TEXT


def test_another_size_is_refused_before_the_download(world: World) -> None:
    world.write_lock(GOOD + b"x")
    message = world.refuse("small", answers=[stall(GOOD, 0)])
    assert f"{len(GOOD)} bytes, expected {len(GOOD) + 1} as recorded" in message


def test_another_size_is_refused_after_the_download(world: World) -> None:
    world.write_lock(GOOD + b"x")
    message = world.refuse("small", answers=[without_length(GOOD)])
    assert f"{len(GOOD)} bytes with SHA-256" in message


@pytest.mark.parametrize("announced", [True, False])
def test_more_than_the_matrix_can_take_is_refused(world: World, announced: bool) -> None:
    data = noise(1_500_000)
    answer = serve(data) if announced else without_length(data)
    assert "expected at most 1048876" in world.refuse("small", answers=[answer])


def test_truncated_archives_are_refused(world: World) -> None:
    message = world.refuse("small", answers=[without_length(GOOD[:-5])])
    assert "the archive is damaged" in message
    assert not world.part.exists()


@pytest.mark.parametrize("place", [0, 3, 20, 100_000, len(GOOD) - 3])
def test_corrupted_archives_are_refused(world: World, place: int) -> None:
    data = GOOD[:place] + bytes([GOOD[place] ^ 0x55]) + GOOD[place + 1 :]
    message = world.refuse("small", answers=[serve(data)])
    assert "the archive" in message
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))


@pytest.mark.parametrize("data", [
    b"", b"<html>not here</html>", gzip.compress(b"no tar" * 200, mtime=0)])
def test_what_is_no_archive_is_refused(world: World, data: bytes) -> None:
    assert "the archive" in world.refuse("small", answers=[serve(data)])


MATRIX = file_member("small/small.mtx", TEXT)
HOSTILE = {
    "absolute": [file_member("/memwall_hostile", b"x"), MATRIX],
    "parent": [file_member("small/../../memwall_hostile", b"x"), MATRIX],
    "elsewhere": [file_member("other/small.mtx", b"x"), MATRIX],
    "symlink": [special_member("small/small.mtx", tarfile.SYMTYPE, "/etc/passwd")],
    "symlinked folder": [special_member("small", tarfile.SYMTYPE, "/"), MATRIX],
    "hard link": [special_member("small/small.mtx", tarfile.LNKTYPE, "/etc/passwd")],
    "device": [special_member("small/small.mtx", tarfile.CHRTYPE)],
    "fifo": [special_member("small/small.mtx", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_members_are_refused(world: World, kind: str) -> None:
    message = world.refuse("small", answers=[serve(archive(*HOSTILE[kind]))])
    assert "is not a plain file or folder below small/" in message
    assert not world.target.exists()
    assert not Path("/memwall_hostile").exists()
    assert not list(world.cache.parent.rglob("memwall_hostile"))


def test_a_matrix_twice_is_refused(world: World) -> None:
    message = world.refuse("small", answers=[serve(archive(MATRIX, MATRIX))])
    assert "holds small/small.mtx twice" in message


def test_an_archive_without_the_matrix_is_refused(world: World) -> None:
    data = archive(file_member("small/large.mtx", TEXT))
    assert "holds no small/small.mtx" in world.refuse("small", answers=[serve(data)])


@pytest.mark.parametrize("name", ["small/small.mtx", "small/other"])
def test_huge_members_are_refused(world: World, name: str) -> None:
    data = archive(file_member(name, bytes(50_000_000)))
    assert len(data) < 100_000
    message = world.refuse("small", answers=[serve(data)])
    assert f"member '{name}' of 50000000 bytes is too large" in message


def test_many_members_together_are_refused(world: World) -> None:
    members = [file_member(f"small/{k}", bytes(100_000)) for k in range(20)]
    assert "is too large" in world.refuse("small", answers=[serve(archive(*members))])


def test_a_member_that_promises_more_than_there_is_is_refused(world: World) -> None:
    info, _ = file_member("small/small.mtx", TEXT)
    info.size = 10_000
    data = gzip.compress(info.tobuf() + TEXT)
    assert "the archive is damaged" in world.refuse("small", answers=[serve(data)])
    assert not world.target.exists()


def test_huge_headers_are_refused(world: World) -> None:
    info = tarfile.TarInfo("small/small.mtx")
    info.pax_headers = {"comment": "x" * 5_000_000}
    data = archive((info, b""))
    assert "more than its members say" in world.refuse("small", answers=[serve(data)])


def test_an_endless_tail_is_refused(world: World) -> None:
    data = gzip.compress(gzip.decompress(archive(MATRIX)) + bytes(30_000_000))
    assert "more than its members say" in world.refuse("small", answers=[serve(data)])


def test_a_missing_archive_is_one_line_at_once(world: World) -> None:
    message = world.refuse("small", answers=[fail(404)])
    assert message == f"fetch small: {world.url}/Group/small.tar.gz: HTTP 404 Not Found\n"
    assert len(world.server.requests) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_tried_again(world: World, status: int) -> None:
    world.check_fetched(world.fetch("small", answers=[fail(status), serve(GOOD)]))
    assert f"HTTP {status}" in world.refuse("--again", "small", answers=[fail(status)])
    assert len(world.server.requests) == 3


def test_without_a_network_is_one_line(world: World) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, not listening: connections are refused
        world.url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        message = world.refuse("small", answers=[])
    assert "Connection refused" in message
    assert list(world.cache.rglob("*.part")) == []


def test_garbage_in_place_of_http_is_one_line(world: World) -> None:
    def answer(handler: Handler) -> None:
        handler.wfile.write(b"\xff\xfe not http\r\n\r\n")
        handler.close_connection = True

    assert world.url in world.refuse("small", answers=[answer])


def test_unknown_and_generated_names_are_one_line(world: World) -> None:
    message = world.refuse("smal", answers=[])
    assert message == 'fetch smal: unknown matrix "smal"; the nearest names are small\n'
    message = world.refuse("made", answers=[])
    assert message == 'fetch made: matrix "made" is generated, there is nothing to fetch\n'


def test_the_others_are_fetched_when_one_fails(world: World) -> None:
    done = world.fetch("nothing", "small", answers=[serve(GOOD)])
    assert done.returncode == 2
    assert world.target.read_bytes() == TEXT


@pytest.mark.parametrize("text", ["= [", "x = 1\n", '"Group/small" = { bytes = 1 }\n'])
def test_a_damaged_lock_is_one_line(world: World, text: str) -> None:
    world.lock.write_text(text, encoding="utf-8")
    assert str(world.lock) in world.refuse("small", answers=[serve(GOOD)])


@pytest.mark.parametrize("text", ["= [", "x = 1\n"])
def test_a_damaged_catalogue_is_one_line(world: World, text: str) -> None:
    world.catalogue.write_text(text, encoding="utf-8")
    assert str(world.catalogue) in world.refuse("small", answers=[serve(GOOD)])


def test_two_fetches_of_one_matrix_do_not_mix(world: World) -> None:
    world.server.answers = [stall(GOOD, 60_000)]
    with subprocess.Popen(world.command("small"), stderr=subprocess.DEVNULL, text=True) as first:
        world.await_part(first)
        assert "another fetch" in world.refuse("small", answers=[serve(GOOD)])
        first.terminate()
    world.check_fetched(world.fetch("small", answers=[serve(GOOD)]))


def test_the_catalogue_of_the_project_can_be_fetched_from() -> None:
    catalogue = tomllib.loads(FETCH.with_name("catalogue.toml").read_text(encoding="utf-8"))
    entries = [entry for entry in catalogue["matrix"].values() if "group" in entry]
    assert len(entries) > 34
    for entry in entries:
        assert re.fullmatch(r"[A-Za-z0-9_]+", entry["group"])
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", entry["name"])
        assert entry["nonzeros"] > 0

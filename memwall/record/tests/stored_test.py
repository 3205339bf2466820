"""Compressed files, and which results a machine's folder holds."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.record import files, results, stored
from memwall.record.errors import UserError
from memwall.record.results import Json

HERE = Path("mine.json.gz")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_compressed_result_is_read_as_it_was_written(raw: Json) -> None:
    results.write(raw, HERE)
    assert results.load(HERE).raw == raw
    assert gzip.decompress(HERE.read_bytes()).decode() == results.encoded(raw)
    results.write(raw, Path("plain.json"))
    assert Path("plain.json").read_text(encoding="utf-8") == results.encoded(raw)


def test_it_has_the_same_bytes_whenever_and_wherever_it_is_written(raw: Json) -> None:
    names = (HERE, Path("another.json.gz"))
    for path in names:
        results.write(raw, path)
    one, other = (path.read_bytes() for path in names)
    assert one == other
    assert one[:10] == b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"  # no name, no time, compressed most


def test_it_is_small(raw: Json) -> None:
    results.write(raw, HERE)
    assert 4 * HERE.stat().st_size < len(results.encoded(raw))


def _otherwise(content: bytes) -> bytes:
    """Ends with the sum of another text."""
    return content[:-8] + files.compressed(b"{}")[-8:]


@pytest.mark.parametrize(("how", "said"), [
    (lambda whole: whole[:len(whole) // 2], "Compressed file ended before"),
    (lambda whole: whole[:5], "Compressed file ended before"),
    (lambda whole: b'{"schema": 2}', "Not a gzipped file"),
    (lambda whole: whole + b"more", "Not a gzipped file"),
    (lambda whole: whole[:10] + b"\xff" * 20, "Error -3 while decompressing"),
    (_otherwise, "CRC check failed"),
])
def test_what_is_no_whole_gzip_is_one_line(how: Callable[[bytes], bytes], said: str, raw: Json
                                           ) -> None:
    results.write(raw, HERE)
    HERE.write_bytes(how(HERE.read_bytes()))
    with pytest.raises(UserError, match=rf"^mine\.json\.gz: not gzip: {said}[^\n]*$"):
        results.load(HERE)


def test_of_what_is_too_large_no_more_is_decompressed(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands behind it is not looked at, be it broken."""
    HERE.write_bytes(files.compressed(b" " * files.MOST_BYTES))
    assert len(files.read_bytes(HERE)) == files.MOST_BYTES
    HERE.write_bytes(files.compressed(b" " * (files.MOST_BYTES + 1)))
    with pytest.raises(UserError, match=r"^mine\.json\.gz: found more than 64000000 bytes"):
        files.read(HERE)
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    HERE.write_bytes(files.compressed(b" " * (1 << 20)) + b"no gzip")
    with pytest.raises(UserError, match=r": found more than 1000 bytes compressed in it, expected"):
        files.read(HERE)


def test_other_files_are_as_large_as_they_like(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_BYTES", 1000)
    Path("plain.json").write_bytes(b" " * 2000)
    assert len(files.read(Path("plain.json"))) == 2000


@pytest.mark.parametrize(("name", "said"), [("none.gz", "No such file or directory"),
                                            ("folder.gz", "Is a directory")])
def test_what_cannot_be_opened_is_one_line(name: str, said: str) -> None:
    Path("folder.gz").mkdir()
    with pytest.raises(UserError, match=f"^{name}: cannot be read: {said}$"):
        files.read(Path(name))


def test_a_compressed_text_has_lines_as_a_plain_one() -> None:
    text, plain = b"a\r\nb", Path("note.md")
    plain.write_bytes(text)
    HERE.write_bytes(files.compressed(text))
    assert files.read(plain) == files.read(HERE) == "a\nb"
    HERE.write_bytes(files.compressed(b"a\xff"))
    with pytest.raises(UserError, match=r"^mine\.json\.gz: cannot be read: byte 1 is no UTF-8$"):
        files.read(HERE)


# --- a machine's folder ---------------------------------------------------------------------------


def folder_of(*names: str) -> Path:
    """A machine's folder with files of these names."""
    room = Path("reports/box/results")
    room.mkdir(parents=True)
    for name in names:
        (room / name).touch()
    return room.parent


def test_results_of_a_folder_are_by_experiment_and_title() -> None:
    names = ["alpha.json", "alpha@one.json.gz", "alpha@two.json", "alpha-beta.json",
             "beta@one.json.gz"]
    others = [".0123456789ab.part", "notes.txt", "beta.json.bak", "gamma.json.gz"]
    folder = folder_of(*reversed(names), *others)
    assert [path.name for path in stored.results_of(folder)] == names
    assert stored.results_of(Path("nowhere")) == []


def test_a_run_that_stands_there_twice_is_one_line() -> None:
    folder = folder_of("alpha.json", "alpha@one.json", "alpha@one.json.gz")
    said = (r"^reports/box/results/alpha@one\.json: found alpha@one\.json\.gz beside it,"
            " expected one of the two$")
    with pytest.raises(UserError, match=said):
        stored.results_of(folder)


@pytest.mark.parametrize(("name", "names"), [
    ("alpha.json", ("alpha", "")), ("alpha@one-two.json", ("alpha", "one-two")),
    ("alpha@one-two.json.gz", ("alpha", "one-two")), ("alpha@a@b.json", ("alpha", "a@b")),
    ("alpha@.json", ("alpha@", "")), ("alpha.old.json", ("alpha.old", "")),
])
def test_names_of_a_result(name: str, names: tuple[str, str]) -> None:
    assert stored.names_of(Path("reports/box/results", name)) == names


def test_a_kept_run_has_its_name() -> None:
    kept = Path(stored.kept_name("alpha", "one"))
    assert stored.names_of(kept) == ("alpha", "one")
    assert stored.plain_of(kept) == Path("alpha@one.json")

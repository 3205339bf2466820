"""What comes out of a mail folder: each is read, or refused with its reason, by itself."""

import io
import os
import socket
import stat
import struct
import subprocess
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.grade import submissions, unpack
from memwall.grade.tests import calls
from memwall.record.kits import GradeError

TEXT = b"int main() {}\n"
Make = Callable[[Path], object]


def zipped(path: Path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """An archive of members."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in members:
            archive.writestr(zipfile.ZipInfo(name), text, method)
    return path


def tarred(path: Path, *members: tuple[str, bytes, bytes], mode: str = "w:gz",
           **of_each: object) -> Path:
    """An archive of members: name, type, text."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, kind, text in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.size, entry.linkname = kind, len(text), "/etc/passwd"
            for attribute, value in of_each.items():
                setattr(entry, attribute, value)
            archive.addfile(entry, io.BytesIO(text))
    return path


def patched(path: Path, *changes: tuple[bytes, int, bytes]) -> Path:
    """The file with bytes behind each mark put in the place of others."""
    data = bytearray(path.read_bytes())
    for mark, offset, new in changes:
        at = data.index(mark) + offset
        data[at:at + len(new)] = new
    path.write_bytes(data)
    return path


def with_encryption(path: Path) -> Path:
    """A zip whose headers say that its member is encrypted."""
    zipped(path, ("spmv.cpp", TEXT))
    return patched(path, (b"PK\3\4", 6, b"\1\0"), (b"PK\1\2", 8, b"\1\0"))


def with_method(path: Path, method: int) -> Path:
    """A zip whose member is compressed in a way that nobody knows."""
    zipped(path, ("spmv.cpp", TEXT))
    number = struct.pack("<H", method)
    return patched(path, (b"PK\3\4", 8, number), (b"PK\1\2", 10, number))


def of_huge_header(path: Path) -> Path:
    """A small archive whose second header has a gigabyte, all of blanks."""
    block = tarfile.TarInfo("pax")
    block.type, block.size = tarfile.XHDTYPE, 1 << 30
    packer = zlib.compressobj(9, wbits=31)
    start = packer.compress(block.tobuf(tarfile.USTAR_FORMAT)) + packer.flush(zlib.Z_FULL_FLUSH)
    blanks = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    path.write_bytes(start + 700 * blanks)
    return path


def bound_socket(path: Path) -> None:
    """A socket."""
    with socket.socket(socket.AF_UNIX) as one:
        here = os.getcwd()
        os.chdir(path.parent)  # its whole name may be too long for a socket
        one.bind(path.name)
        os.chdir(here)


def folder(*members: tuple[str, bytes], **others: Make) -> Make:
    """A folder of files, and of others that are made."""
    def make(path: Path) -> None:
        path.mkdir(exist_ok=True)
        for name, of_this_kind in others.items():
            of_this_kind(path / name.replace("_", "."))
        for name, text in members:
            file = path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text)
    return make


def sparse(path: Path) -> None:
    """A file of a terabyte that takes no room."""
    with path.open("wb") as file:
        file.truncate(1 << 40)


def nested(path: Path, levels: int) -> None:
    """Folders within folders."""
    path.mkdir()
    here = os.open(path, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


READ: dict[str, Make] = {
    "ada.cpp": lambda path: path.write_bytes(TEXT),
    "ada.CPP": lambda path: path.write_bytes(TEXT),
    "ADA.ZIP": lambda path: zipped(path, ("SpMV.cpp", TEXT)),
    "ada.Tar.Gz": lambda path: tarred(path, ("a/Spmv.CPP", tarfile.REGTYPE, TEXT)),
    "ada.tar.xz": lambda path: tarred(path, ("spmv.cpp", tarfile.REGTYPE, TEXT), mode="w:xz"),
    "ada.tar.bz2": lambda path: tarred(path, ("spmv.cpp", tarfile.REGTYPE, TEXT), mode="w:bz2"),
    "ada.tar": lambda path: tarred(path, ("./spmv.cpp", tarfile.REGTYPE, TEXT), mode="w"),
    "ada.zip": lambda path: zipped(path, ("work\\spmv.cpp", TEXT)),  # of an old Windows
    "ada@1.zip": lambda path: zipped(path, ("spmv.cpp", TEXT), method=zipfile.ZIP_LZMA),
    "mac.zip": lambda path: zipped(path, ("spmv.cpp", TEXT), ("__MACOSX/._spmv.cpp", b"x"),
                                   ("__MACOSX/spmv.cpp", b"x"), (".DS_Store", b"\0")),
    "named.zip": lambda path: zipped(path, ("spmv.cpp/", b""), ("spmv.cpp/spmv.cpp", TEXT)),
    "Ada Lovelace_4711_assignsubmission_file_": folder(("Spmv.cpp", TEXT), (".DS_Store", b"\0")),
    "Ada Byron_4711_assignsubmission_file_": folder(
        my_zip=lambda path: zipped(path, ("homework/spmv.cpp", TEXT))),
    "a" * 230 + ".cpp": lambda path: path.write_bytes(TEXT),
    "=cmd|' -C calc'!A0.cpp": lambda path: path.write_bytes(TEXT),
    "ada\x1b[2J\u202e\n.cpp": lambda path: path.write_bytes(TEXT),
    "loop": folder(("spmv.cpp", TEXT), up=lambda path: path.symlink_to("..")),
    "tree": folder(("spmv.cpp", TEXT), pipe=os.mkfifo),
}

REFUSED: dict[str, tuple[Make, str]] = {
    "password.zip": (with_encryption, "it is encrypted: hand it in without a password"),
    "method.zip": (lambda path: with_method(path, 99), "cannot be read: That compression method"),
    "garbage.zip": (lambda path: path.write_bytes(b"PK\3\4" + bytes(range(256)) * 9),
                    "cannot be read: File is not a zip file"),
    "cut.zip": (lambda path: path.write_bytes(zipped(path, ("spmv.cpp", TEXT)).read_bytes()[:40]),
                "cannot be read"),
    "checksum.zip": (lambda path: patched(zipped(path, ("spmv.cpp", TEXT), method=0),
                                          (TEXT, 0, b"X")), "cannot be read: Bad CRC-32"),
    "empty.zip": (lambda path: path.write_bytes(b""), "cannot be read"),
    "empty.tar": (lambda path: path.write_bytes(b""), "empty file"),
    "cut.tar.gz": (lambda path: path.write_bytes(
        tarred(path, ("spmv.cpp", tarfile.REGTYPE, os.urandom(9999))).read_bytes()[:5000]),
                   "cannot be read"),
    "text.tar.xz": (lambda path: path.write_bytes(TEXT), "cannot be read"),
    "header.tar.gz": (of_huge_header, "it takes more than 512 MB of memory to read"),
    "bomb.zip": (lambda path: zipped(path, ("spmv.cpp", TEXT), ("big", bytes(65 << 20))),
                 "it unpacks to more than 64 MB"),
    "bomb.tgz": (lambda path: tarred(path, ("big", tarfile.REGTYPE, bytes(65 << 20))),
                 "it unpacks to more than 64 MB"),
    "text.zip": (lambda path: zipped(path, ("spmv.cpp", bytes((1 << 20) + 1))),
                 "the file has more than 1048576 bytes"),
    "members.tar.gz": (lambda path: tarred(path, *((str(number), tarfile.REGTYPE, b"")
                                                   for number in range(10_001))),
                       "it holds more than 10000 files"),
    "nested.zip": (lambda path: zipped(path, ("spmv.zip", b"PK")),
                   "expected one file spmv.cpp in it, found none but spmv.zip"),
    "twice.zip": (lambda path: zipped(path, ("a/spmv.cpp", TEXT), ("b/SPMV.cpp", TEXT)),
                  "expected one file spmv.cpp in it, found 2: a/spmv.cpp, b/SPMV.cpp"),
    "absolute.zip": (lambda path: zipped(path, ("/etc/spmv.cpp", TEXT)), "reaches outside"),
    "drive.zip": (lambda path: zipped(path, ("C:\\work\\spmv.cpp", TEXT)), "reaches outside"),
    "up.zip": (lambda path: zipped(path, ("a\\..\\..\\spmv.cpp", TEXT)), "reaches outside"),
    "link.tar.gz": (lambda path: tarred(path, ("spmv.cpp", tarfile.SYMTYPE, b"")),
                    "it holds a link, a pipe or a device: spmv.cpp"),
    "hard.tar.gz": (lambda path: tarred(path, ("spmv.cpp", tarfile.LNKTYPE, b"")), "a link"),
    "pipe.tar": (lambda path: tarred(path, ("spmv.cpp", tarfile.FIFOTYPE, b""), mode="w"),
                 "it holds a link, a pipe or a device"),
    "latin.tar": (lambda path: tarred(path, ("spmv\udce4\x1b.cpp", tarfile.REGTYPE, TEXT),
                                      mode="w"), "found none but spmv\\udce4\\x1b.cpp"),
    "pipe.cpp": (os.mkfifo, "it is a pipe, expected a file"),
    "pipe.zip": (os.mkfifo, "it is a pipe, expected a file"),
    "socket.cpp": (bound_socket, "it is a socket, expected a file"),
    "dangling.cpp": (lambda path: path.symlink_to("nowhere"), "it is a link, expected a file"),
    "turning.cpp": (lambda path: path.symlink_to(path.name), "it is a link, expected a file"),
    "sparse.cpp": (sparse, "the file has 1099511627776 bytes, expected at most 1048576"),
    "sparse.zip": (sparse, "the file has 1099511627776 bytes, expected at most 1048576"),
    "empty.cpp": (lambda path: path.write_bytes(b" \r\n"), "the file is empty"),
    "utf16.cpp": (lambda path: path.write_bytes(TEXT.decode().encode("utf-16")),
                  "found a zero byte, as UTF-16 has; save it as UTF-8"),
    "notes.pdf": (lambda path: path.write_bytes(b"%PDF"), "expected a file .cpp, a folder or an"),
    "rest.7z": (lambda path: path.write_bytes(b"7z"), "expected a file .cpp, a folder or an"),
    "no suffix": (lambda path: path.write_bytes(TEXT), "expected a file .cpp, a folder or an"),
    "nothing": (Path.mkdir, "expected one file spmv.cpp in it, found none"),
    "inside": (folder(spmv_cpp=os.mkfifo), "it is a pipe"),
    "pointing": (folder(spmv_cpp=lambda path: path.symlink_to("/etc/passwd")), "it is a link"),
    "two": (folder(("a/spmv.cpp", TEXT), ("b/spmv.cpp", TEXT)), "found 2: a/spmv.cpp, b/spmv.cpp"),
}


@pytest.mark.parametrize("name", READ)
def test_it_is_read(name: str, tmp_path: Path) -> None:
    READ[name](tmp_path / name)
    read = submissions.read(calls.kit(), tmp_path / name)
    assert (read.refused, read.text) == ("", TEXT)
    assert read.label.isprintable()


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_its_reason(name: str, tmp_path: Path) -> None:
    make, reason = REFUSED[name]
    make(tmp_path / name)
    read = submissions.read(calls.kit(), tmp_path / name)
    assert read.refused
    assert reason in read.refused
    assert read.refused.isprintable()
    assert read.text == b""


def test_folders_within_folders_are_refused(tmp_path: Path) -> None:
    try:
        nested(tmp_path / "deep", 1200)
        assert submissions.read(calls.kit(), tmp_path / "deep").refused
    finally:
        subprocess.run(["rm", "-r", tmp_path / "deep"], check=True)  # pytest itself cannot


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices, and reads everything else")
def test_a_device_is_not_read(tmp_path: Path) -> None:
    try:
        os.mknod(tmp_path / "zero.cpp", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no right to make a device")
    assert "it is a device" in submissions.read(calls.kit(), tmp_path / "zero.cpp").refused


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_nobody_may_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    read = submissions.read(calls.kit(), tmp_path / "closed")
    assert read.refused == "cannot be read: Permission denied"


def test_a_name_without_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"Andr\xe9.cpp")
    (tmp_path / name).write_bytes(TEXT)
    assert submissions.read(calls.kit(), tmp_path / name).student == "Andr\\udce9"


@pytest.mark.parametrize(("name", "student"), [
    ("ada@1.cpp", "ada"), ("ada@12.tar.gz", "ada"), ("ada@uni-a.de.cpp", "ada@uni-a.de"),
    ("ada@uni-b.de@3.cpp", "ada@uni-b.de"), ("ada@home.cpp", "ada@home"), ("@1.cpp", "@1"),
    (".cpp", ".cpp")])
def test_an_at_and_a_number_tell_tries_apart(name: str, student: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    assert submissions.read(calls.kit(), tmp_path / name).student == student


def test_two_of_one_name_are_nobodys_and_the_others_theirs(tmp_path: Path) -> None:
    for name, text in (("a/spmv.cpp", b"1"), ("b/spmv.cpp", b"2"), ("ada.cpp", b"3"),
                       ("c/ada.cpp", b"3")):
        folder((name, text))(tmp_path)
    paths = [tmp_path / name for name in ("a/spmv.cpp", "b/spmv.cpp", "ada.cpp", "c/ada.cpp")]
    found, nobodys = submissions.read_all(calls.kit(), [*paths, tmp_path / "missing.cpp"])
    assert [one.label for one in found] == ["ada"]  # the same, twice
    assert len(nobodys) == 2
    assert "missing.cpp: no such submission" in nobodys[0]
    assert nobodys[1].startswith("spmv: found 2 submissions of this name, none is graded: ")


def test_names_that_look_alike_are_those_of_two(tmp_path: Path) -> None:
    names = [os.fsdecode(b"Andr\xe9.cpp"), "Andr\\udce9.cpp", "Ada L.cpp", "Ada\tL.cpp",
             "Ada\\x09L.cpp"]
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(b"%d" % number)
    found, nobodys = submissions.read_all(calls.kit(), [tmp_path / name for name in names])
    assert nobodys == []
    assert [one.student for one in found] == [
        "Andr\\udce9", "Andr\\\\udce9", "Ada L", "Ada\\x09L", "Ada\\\\x09L"]


def test_kinds_of_one_name_in_one_folder_are_tries(tmp_path: Path) -> None:
    (tmp_path / "bob.cpp").write_bytes(TEXT)
    zipped(tmp_path / "bob.zip", ("spmv.cpp", b"// other\n" + TEXT))
    (tmp_path / "bob.tar").write_bytes(b"garbage")
    found, nobodys = submissions.read_all(calls.kit(), sorted(tmp_path.iterdir()))
    assert nobodys == []
    assert [(one.student, one.label, bool(one.refused)) for one in found] == [
        ("bob", "bob.cpp", False), ("bob", "bob.tar", True), ("bob", "bob.zip", False)]


def test_whatever_ends_the_reader_ends_nothing_else(tmp_path: Path,
                                                    monkeypatch: pytest.MonkeyPatch) -> None:
    reader = tmp_path / "reader.py"
    monkeypatch.setattr(unpack, "__file__", str(reader))
    archive = zipped(tmp_path / "ada.zip", ("spmv.cpp", TEXT))
    reader.write_text("import os\nos.abort()\n")
    assert "killed by SIGABRT" in submissions.read(calls.kit(), archive).refused
    reader.write_text("raise OSError('no room for a reader')\n")
    with pytest.raises(GradeError, match="no room for a reader"):
        submissions.read(calls.kit(), archive)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has rights to give up")
def test_the_reader_has_no_rights(tmp_path: Path) -> None:
    command = ("import os, resource, sys; sys.path.insert(0, sys.argv[1]); import unpack;"
               "unpack._give_up_rights();"
               "print(os.getresuid(), os.getgroups(), resource.getrlimit(resource.RLIMIT_FSIZE))")
    done = subprocess.run(["python3", "-I", "-c", command, Path(unpack.__file__).parent],
                          capture_output=True, text=True, check=True)
    assert done.stdout.split(") ")[0] == "(64000, 64000, 64000"
    assert done.stdout.endswith("[] (0, 0)\n")


@pytest.mark.parametrize("name", [".DS_Store", "__MACOSX", "._ada.cpp", "Thumbs.db",
                                  "ada.zip:Zone.Identifier", "desktop.ini"])
def test_what_systems_leave_is_nobodys(name: str) -> None:
    assert submissions.is_litter(Path("somewhere") / name)
    assert not submissions.is_litter(Path(name) / "ada.cpp")

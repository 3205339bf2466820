"""What the system complains of is one line and an exit code; files are whole or not there."""

import ast
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memwall.record import errors, files, numbers
from memwall.record.errors import UserError

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
from pathlib import Path
from memwall.record import errors, files
def command():
    {work}
    return 0
sys.exit(errors.exit_code(command))
"""


def ended(work: str, tail: str = "", **environment: str) -> tuple[int, str]:
    """The exit code and standard error of a command, whose shell line ends with `tail`."""
    script = PROGRAM.format(work=work)
    done = subprocess.run(["bash", "-c", f'exec "$0" -c "$1" {tail}', sys.executable, script],
                          capture_output=True, text=True, check=False, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(ROOT), **environment})
    return done.returncode, done.stderr


@pytest.mark.parametrize(("work", "tail", "code", "line"), [
    ("print('x' * 9)", ">/dev/full", 2, "standard output: No space left on device"),
    ("print('x' * 99999)", ">/dev/full", 2, "standard output: No space left on device"),
    ("print('x')", ">&-", 0, ""),
    ("open('a-file', 'w').write('x'); print('y')", "<&- >&- 2>&-", 0, ""),
    ("Path('/none/such').read_text()", "", 2, "/none/such: No such file or directory"),
    ("files.read(Path('/proc/self/mem'))", "", 2,
     "/proc/self/mem: cannot be read: Input/output error"),
    ("files.write(Path('/proc/x'), 'y')", "", 2, "/proc/x: No such file or directory"),
    ("files.write(Path('/dev/full'), 'y')", "", 2, "/dev/full: No space left on device"),
    ("files.write(Path('n' * 300), 'y')", "", 2, "n" * 300 + ": File name too long"),
    ("import subprocess; subprocess.run(['no-such-program'])", "", 2,
     "no-such-program: No such file or directory"),
    ("raise MemoryError", "", 2, "out of memory"),
    ("(lambda g: g(g))(lambda g: g(g))", "", 2, "found a text nested too deeply"),
    ("Path('me').symlink_to('me'); Path('me').resolve()", "", 2, "Symlink loop from '{here}/me'"),
    ("raise KeyboardInterrupt", "", 130, ""),
    ("import os, signal; os.kill(os.getpid(), signal.SIGTERM); import time; time.sleep(9)", "",
     130, ""),
    ("print('\\u00e9\\u2192\\udcff')", "", 0, ""),
])
def test_every_end_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: str,
                               tail: str, code: int, line: str) -> None:
    monkeypatch.chdir(tmp_path)
    said = line.format(here=tmp_path)
    assert ended(work, tail) == (code, said + "\n" * bool(said))


@pytest.mark.parametrize("locale", [{"LC_ALL": "xx_XX"}, {"LANG": "C", "PYTHONUTF8": "0"},
                                    {"PYTHONIOENCODING": "ascii"}])
def test_every_locale_prints_every_name(locale: dict[str, str]) -> None:
    code, said = ended("print('\\u00e9\\u2192')", "", **locale)
    assert (code, [line for line in said.splitlines() if "setlocale" not in line]) == (0, [])


def test_a_reader_that_goes_is_no_error() -> None:
    work = "[print(i) for i in range(100000)]"
    assert ended(work, "> >(head -n 1 >/dev/null)") == (1, "")


def test_a_folder_that_was_deleted_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    done = subprocess.run(["bash", "-c", f'mkdir {gone}; cd {gone}; rmdir {gone}; "$0" -c "$1"',
                           sys.executable, PROGRAM.format(work="print(1)")], capture_output=True,
                          text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stderr) == (2, "the current folder: No such file or directory\n")


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    """A file system of 64 KiB in a namespace of its own, where root may make one."""
    work = "files.write(Path('disk/page'), 'x' * 200000)"
    script = ('mkdir disk && mount -t tmpfs -o size=64k none disk && echo old >disk/page'
              ' || exit 77; "$0" -c "$1"; code=$?; ls -A disk; cat disk/page; exit $code')
    done = subprocess.run(["unshare", "--mount", "--map-root-user", "bash", "-c", script,
                           sys.executable, PROGRAM.format(work=work)], capture_output=True,
                          text=True, check=False, cwd=tmp_path,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    if done.returncode not in (0, 2) or "mount:" in done.stderr or "unshare" in done.stderr:
        pytest.skip("no file systems may be made here")
    assert done.stderr == "disk/page: No space left on device\n"
    assert done.stdout == "page\nold\n"


def test_a_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path, link = tmp_path / "a/page.md", tmp_path / "link"
    files.write(path, "one")
    path.chmod(0o640)
    link.symlink_to(path)
    files.write(link, "two")
    assert path.read_text() == "two"
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    with pytest.raises(UnicodeEncodeError):
        files.write(path, "three\udcff")
    with pytest.raises(OSError, match="a/page.md"):
        files.write(path / "below", "four")
    assert [file.name for file in path.parent.iterdir()] == ["page.md"]
    assert path.read_text() == "two"


def test_a_folder_is_whole_or_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), files.whole_folder(tmp_path / "kit") as made:
        files.write(made / "file", "text")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UserError, match="kit: exists already"), \
            files.whole_folder(tmp_path / "kit") as made:
        files.write(tmp_path / "kit/file", "of another one")  # that was quicker
    assert [file.name for file in tmp_path.iterdir()] == ["kit"]


def test_two_at_once_are_told(tmp_path: Path) -> None:
    entered = threading.Event()
    with files.exclusive(tmp_path), pytest.raises(UserError, match="another run is at work in"), \
            files.exclusive(tmp_path, patience_s=0.1):
        entered.set()
    assert not entered.is_set()
    with files.exclusive(tmp_path, patience_s=0.1):
        pass


@pytest.mark.parametrize("text", ["nan", "inf", "-inf", "1e999", "", " ", "0x10", "1_000", "one",
                                  "-1", "9" * 400, "\u0663"])
def test_numbers_are_finite_and_in_range(text: str) -> None:
    for ask in (numbers.whole, numbers.finite):
        if ask is numbers.finite and text in ("\u0663",):
            continue  # a digit all the same
        with pytest.raises(UserError, match=r"^--ranks: found .{2,60}, expected a [\w ]+"):
            ask("--ranks", text)


def test_files_are_written_and_commands_end_in_one_place() -> None:
    """Nothing but `record/files.py` writes a file in the ways that leave a half, and every file is
    read with an encoding given."""
    offences = []
    for path in sorted((ROOT / "memwall").rglob("*.py")):
        if "tests" in path.parts or path.name in ("files.py", "conftest.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                name = node.func.attr
                encoded = any(word.arg == "encoding" for word in node.keywords)
                is_text = any(word.arg == "text" and ast.unparse(word.value) == "True"
                                  for word in node.keywords)
                writes = name == "write_text" or (name == "replace" and len(node.args) == 2
                                                  and ast.unparse(node.func.value) == "os")
                if writes or (name == "read_text" and not encoded) or is_text:
                    offences.append(f"{path.relative_to(ROOT)}:{node.lineno}: {name}")
    assert offences == []


def test_every_program_ends_through_it() -> None:
    for name in ("memwall/__main__", "memwall/run/bundle", "memwall/study/bundle",
                 "datasets/fetch"):
        assert "errors.exit_code(" in (ROOT / f"{name}.py").read_text(encoding="utf-8")


def test_every_signal_is_told() -> None:
    told = [errors.ending(-number) for number in range(1, 65)]
    assert told[8] == "killed by SIGKILL" and told[34] == "killed by signal 35"
    assert (errors.ending(0), errors.ending(3)) == ("exit code 0", "exit code 3")


def test_a_name_that_is_no_text_is_kept(tmp_path: Path) -> None:
    """Names of files may hold any bytes."""
    value = {"file": os.fsdecode(b"caf\xe9 \xc3\xa9.mtx"), "a\\": "\\udce9"}
    files.write_json(tmp_path / "note.json", value)
    assert files.read_json(tmp_path / "note.json") == value


def test_a_pipe_among_files_is_not_waited_for(tmp_path: Path) -> None:
    """One that a shell makes for a command is read."""
    os.mkfifo(tmp_path / "result.json")
    with pytest.raises(UserError, match=r"result\.json: found a pipe, expected a file"):
        files.read_json(tmp_path / "result.json")
    code = ("import sys\nfrom memwall.record import files\n"
            "print(files.read(files.Path(sys.argv[1])))")
    done = subprocess.run(["bash", "-c", f'{sys.executable} -c "$1" <(echo 42)', "", code],
                          cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.stdout == "42\n\n", done.stderr


def test_line_of_is_one_line() -> None:
    assert errors.line_of(OSError(28, "No space", "a\nb")) == "a b: No space"
    assert errors.line_of(UserError("a\n  b")) == "a b"

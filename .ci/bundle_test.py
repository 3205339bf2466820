"""The commands of a bundle: they start from anywhere, and what hinders them is told in a line."""

import os
import shutil
import subprocess
from pathlib import Path

import bundle
import pytest

PYTHON = """\
#!/bin/sh
[ "$1" != -c ] || exit 0
printf '%s|' "$@" "$PYTHONHOME" "$LD_LIBRARY_PATH"
"""
Done = subprocess.CompletedProcess[str]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An unpacked archive with a Python that tells how it was started."""
    tree = tmp_path / "here and there/memwall"
    (tree / "python/bin").mkdir(parents=True)
    (tree / bundle.LAST).touch()
    bundle.script(tree / "run", bundle.RUN.format(
        command="run", module="memwall.run.bundle", what="Runs.", last=bundle.LAST, glibc="2.36",
        architecture=os.uname().machine))
    bundle.script(tree / "python/bin/python3", PYTHON)
    return tree


def run(command: str | Path, *words: str, cwd: Path | None = None, **environment: str) -> Done:
    usual = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    return subprocess.run([command, *words], text=True, capture_output=True, check=False,
                          stdin=subprocess.DEVNULL, cwd=cwd, env={**usual, **environment})


def told(tree: Path, libraries: str = "") -> str:
    """What the Python of a tree says."""
    return (f"-P|-m|memwall.run.bundle|run|alpha|{tree}/python|"
            f"{tree}/shared:{libraries}{tree}/vendor|")


def test_it_starts_from_anywhere(tree: Path, tmp_path: Path) -> None:
    link = tmp_path / "bin/measure"
    link.parent.mkdir()
    link.symlink_to(tree / "run")
    again = link.with_name("again")
    again.symlink_to("measure")
    path = f"{link.parent}:{os.environ['PATH']}"
    for done in (run(tree / "run", "alpha"), run("./run", "alpha", cwd=tree),
                 run("memwall/run", "alpha", cwd=tree.parent, CDPATH=f".:{tree.parent}"),
                 run("sh", "run", "alpha", cwd=tree, CDPATH="/:."),
                 run(link, "alpha"), run(again, "alpha"),
                 run("sh", "-c", "measure alpha", PATH=path)):
        assert (done.stdout, done.stderr) == (told(tree), "")


def test_libraries_that_a_user_names_are_found(tree: Path) -> None:
    """After those with which all was built, before those of vendors that the archive brings."""
    assert run(tree / "run", "alpha", LD_LIBRARY_PATH="/opt/new:/b").stdout == told(
        tree, "/opt/new:/b:")
    assert bundle.VENDORS.fullmatch("libmkl_rt.so.2")
    for ours in ("libstdc++.so.6", "libgomp.so.1", "libcurl.so.4", "libmpi.so.40"):
        assert not bundle.VENDORS.fullmatch(ours)


def test_a_library_that_programs_open_by_name_is_taken_along(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "OPENED", ("libgcc_s.so.1", "libnobody-has.so.1"))
    opens, opens_not = tmp_path / "opens", tmp_path / "opens-not"
    opens.write_bytes(b"\x7fELF libgcc_s.so.1\0libnobody-has.so.1\0")
    opens_not.write_bytes(b"\x7fELF")
    found = bundle.opened([opens_not, opens])
    assert list(found) == ["libgcc_s.so.1"]
    assert found["libgcc_s.so.1"].exists()
    assert bundle.opened([opens_not]) == {}


@pytest.mark.parametrize(("says", "line"), [
    ("python3: /lib/libc.so.6: version `GLIBC_2.38' not found (required by python3)",
     "the C library has to be glibc 2.36 or later"),
    ("sh: 1: /x/python3: not found", "the C library has to be glibc 2.36 or later"),
    ("python3: error while loading shared libraries: libz.so.1: cannot open",
     "cannot start: python3: error while loading shared libraries: libz.so.1: cannot open"),
    ("Fatal Python error: no encodings\nCurrent thread 0x1:",
     "cannot start: Fatal Python error: no encodings"),
])
def test_what_hinders_python_is_told(tree: Path, says: str, line: str) -> None:
    complains = f"cat >&2 <<'END'\n{says}\nEND\nexit 1\n"
    bundle.script(tree / "python/bin/python3", f"#!/bin/sh\n{complains}")
    done = run(tree / "run", "alpha")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith("run: ")
    assert done.stderr.endswith(f"{line}\n")


def test_a_library_of_the_user_that_does_not_fit_is_named(tree: Path) -> None:
    bundle.script(tree / "python/bin/python3", """#!/bin/sh
case $LD_LIBRARY_PATH in */old*) echo "python3: version GLIBC_2.99 not found"; exit 1 ;; esac
""")
    said = run(tree / "run", "alpha", LD_LIBRARY_PATH="/opt/old").stderr
    assert said == ("run: cannot start with the libraries of LD_LIBRARY_PATH=/opt/old: "
                    "python3: version GLIBC_2.99 not found\n")


@pytest.mark.parametrize("lost", [bundle.LAST, "python"])
def test_an_archive_that_was_cut_short_is_told(tree: Path, lost: str) -> None:
    shutil.move(tree / lost, tree / "gone")
    done = run(tree / "run", "alpha")
    assert done.returncode == 2
    assert done.stderr == (f"run: {tree} is not whole: the archive, or its unpacking, was cut"
                           " short; unpack it again\n")


def test_another_machine_is_told(tree: Path, tmp_path: Path) -> None:
    bundle.script(tmp_path / "bin/uname", "#!/bin/sh\necho riscv64\n")
    bundle.script(tree / "python/bin/python3", "#!/bin/sh\nexit 126\n")
    said = run(tree / "run", PATH=f"{tmp_path}/bin:{os.environ['PATH']}").stderr
    assert "run: cannot start: this machine is of riscv64, and all was built for" in said


def test_lost_modes_are_told(tree: Path) -> None:
    (tree / "python/bin/python3").chmod(0o644)
    done = run(tree / "run")
    assert (done.returncode, "lets no program run" in done.stderr) == (2, True)


def test_a_file_system_without_execution_is_told(tree: Path, tmp_path: Path) -> None:
    place = tmp_path / "mounted"
    place.mkdir()
    done = run("unshare", "--mount", "--map-root-user", "sh", "-ec", f"""
        mount -t tmpfs -o noexec none '{place}' || {{ echo cannot mount; exit 77; }}
        cp -r '{tree}/.' '{place}'
        exec sh '{place}/run' alpha""")
    if "lets no program run" not in done.stderr and done.returncode in (1, 77):
        pytest.skip("no rights to mount here")
    assert done.stderr == (f"run: {place} lets no program run: its file system is mounted noexec,"
                           " or modes of files were lost\n")

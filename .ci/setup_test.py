"""`.ci/setup` with a package manager of our own: what it installs, and what it says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("bash", "env", "dirname", "readlink", "grep", "cut", "tr", "cmp", "cp", "tail", "touch")
ALL = [line.split()[0] for line in (ROOT / ".ci/packages.txt").read_text().splitlines()
       if line and not line.startswith("#")]
PROJECT = """\
[project]
dependencies = ["jinja==1"]
optional-dependencies.tools = ["just=={}"]
"""


class Machine:
    """A checkout with a ready .venv, and a PATH that holds a few tools and fakes of the rest."""

    def __init__(self, folder: Path) -> None:
        self.tree = folder / "tree"
        self.bin = folder / "bin"
        self.log = folder / "apt.log"
        (self.tree / ".ci").mkdir(parents=True)
        for name in ("setup", "packages.txt"):
            shutil.copy(ROOT / ".ci" / name, self.tree / ".ci" / name)
        (self.tree / ".venv/bin").mkdir(parents=True)
        (self.tree / "lib/peers").mkdir(parents=True)
        (self.tree / "lib/peers/requirements.txt").write_text("mkl==1\n")
        (self.tree / "pyproject.toml").write_text(PROJECT.format(1))
        (self.tree / ".venv/requirements.txt").write_text("jinja==1\njust==1\n")
        self.bin.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found is not None
            (self.bin / tool).symlink_to(found)
        self.python(f'exec "{sys.executable}" "$@"', logs=False)

    def fake(self, name: str, script: str) -> None:
        """A command that is a shell script."""
        path = self.bin / name
        path.write_text(f"#!{self.bin}/bash\n{script}\n")
        path.chmod(0o755)

    def debian(self, installed: list[str], apt: str = "", user: int = 0) -> None:
        """The package manager, what it has installed, and what `apt-get install` does."""
        lines = "\n".join(f"echo '{name} installed'" for name in installed)
        self.fake("dpkg-query", lines or "exit 1")
        self.fake("apt-get", f'echo "$*" >> {self.log}; [ "$1" = update ] && exit 0\n{apt}\nexit 0')
        self.fake("id", f"echo {user}")

    def python(self, script: str, logs: bool = True) -> None:
        """In place of .venv's Python: logs how it was called, then runs a shell script."""
        path = self.tree / ".venv/bin/python"
        log = f'echo "$*" >> {self.log}' if logs else ""
        path.write_text(f"#!{self.bin}/bash\n{log}\n{script}\n")
        path.chmod(0o755)

    def setup(self, *arguments: str) -> tuple[int, str]:
        """Exit code and everything that was said."""
        done = subprocess.run([self.tree / ".ci/setup", *arguments], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PATH": str(self.bin)})
        return done.returncode, done.stdout

    def calls(self) -> list[str]:
        """How apt-get and a fake Python were called."""
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_silent_when_nothing_is_missing(machine: Machine) -> None:
    machine.debian(ALL)
    assert machine.setup("test") == (0, "")
    assert machine.calls() == []


def test_a_removed_package_is_noticed_and_installed(machine: Machine) -> None:
    machine.debian([name for name in ALL if name != "meson"])
    code, said = machine.setup("run")
    assert code == 0
    assert "meson                  describes the build" in said
    assert machine.calls()[0] == "update"
    assert machine.calls()[1].startswith("install --yes --no-install-recommends ")
    assert machine.calls()[1].endswith(" meson")


def test_a_level_asks_only_for_its_own(machine: Machine) -> None:
    machine.debian([name for name in ALL if name != "doxygen"])
    assert machine.setup("run") == (0, "")
    assert machine.setup("just") == (0, "")
    assert "doxygen" in machine.setup("test")[1]


def test_only_the_whole_test_run_needs_a_linter_of_cpp(machine: Machine) -> None:
    machine.debian([name for name in ALL if name != "clang-tidy"])
    assert machine.setup("test") == (0, "")
    code, said = machine.setup("all")
    assert code == 0
    assert "clang-tidy             `.ci/tidy`" in said
    assert machine.calls()[1].endswith(" clang-tidy")


def test_without_rights_it_prints_the_line_to_run(machine: Machine) -> None:
    machine.debian([name for name in ALL if name not in ("g++", "git")], user=1000)
    code, said = machine.setup("run")
    assert code == 1
    line = "apt-get update && apt-get install --yes --no-install-recommends g++ git"
    assert said.splitlines()[-1].endswith(line)
    assert machine.calls() == []


def test_check_only_tells(machine: Machine) -> None:
    machine.debian([name for name in ALL if name != "g++"])
    code, said = machine.setup("--check", "run")
    assert (code, said) == (1, "setup: missing here: g++; ./justw setup installs it\n")
    assert machine.calls() == []


def test_a_package_that_cannot_be_had_is_named(machine: Machine) -> None:
    machine.debian(ALL[:-1], apt='echo "E: Unable to locate package x"; exit 100')
    code, said = machine.setup("all")
    assert code == 1
    last = said.splitlines()[-1]
    assert last == f"setup: apt-get install failed: Unable to locate package x (wanted: {ALL[-1]})"


def test_without_apt_it_says_what_is_needed(machine: Machine) -> None:
    machine.fake("python3", "exit 0")
    code, said = machine.setup("run")
    assert code == 1
    assert said.startswith("setup: no apt-get here, and no g++ meson ninja pkg-config: install")
    assert len(said.splitlines()) == 1


def test_what_makes_python_is_installed_first(machine: Machine) -> None:
    machine.debian([name for name in ALL if name not in ("git", "python3-venv")])
    assert machine.setup("run")[0] == 0
    assert [call.split()[-1] for call in machine.calls()[:2]] == ["update", "python3-venv"]
    assert "git" in machine.calls()[2].split()


def test_packages_of_python_come_beside_those_of_debian(machine: Machine) -> None:
    """And whichever fails, setup does."""
    (machine.tree / ".venv/requirements.txt").unlink()
    begun = machine.tree / ".venv/wanted.txt"
    machine.debian([name for name in ALL if name != "git"],
                   apt=f"for i in {{1..1200}}; do [ -e {begun} ] || read -rt 0.1 <> <(:); done\n"
                       f"[ -e {begun} ] || {{ echo E: alone; exit 100; }}")
    machine.python(f"""[ "$1" != - ] || exec "{sys.executable}" "$@"
        echo "ERROR: no just"; exit 1""")
    code, said = machine.setup("run")
    assert (code, said.splitlines()[-1]) == (
        1, "setup: pip could not install the packages of pyproject.toml into .venv: ERROR: no just")


def test_changed_requirements_are_installed(machine: Machine) -> None:
    machine.debian(ALL)
    (machine.tree / "pyproject.toml").write_text(PROJECT.format(2))
    code, said = machine.setup("--check", "run")
    assert (code, said) == (1, "setup: missing here: .venv; ./justw setup installs it\n")


def test_packages_of_another_python_are_installed_anew(machine: Machine) -> None:
    machine.debian(ALL)
    machine.python('[ "$1" != - ]')
    assert machine.setup("--check", "run") == (
        1, "setup: missing here: .venv; ./justw setup installs it\n")


def test_a_moved_tree_keeps_its_python(machine: Machine, tmp_path: Path) -> None:
    machine.debian(ALL)
    machine.tree = machine.tree.rename(tmp_path / "moved tree")
    assert machine.setup("test") == (0, "")


def test_mkl_is_installed_once_and_alone(machine: Machine) -> None:
    machine.python("exit 0")
    code, said = machine.setup("peers")
    assert (code, said) == (0, "setup: MKL goes into .venv, about 700 MB\n")
    install = "-m pip install --no-deps --requirement lib/peers/requirements.txt"
    assert machine.calls() == [install]
    assert (machine.tree / "lib/peers/meson.build").exists()
    assert machine.setup("peers") == (0, "")
    assert machine.calls() == [install]


def test_debians_mkl_is_enough(machine: Machine) -> None:
    machine.fake("pkg-config", '[ "$*" = "--exists mkl-sdl-lp64" ]')
    machine.python("exit 1")
    assert machine.setup("peers") == (0, "")
    assert machine.calls() == []


def test_mkl_that_cannot_be_had_is_one_line(machine: Machine) -> None:
    machine.python('echo "ERROR: No matching distribution found for mkl==1"; exit 1')
    code, said = machine.setup("peers")
    assert code == 1
    assert said.splitlines()[1:] == [
        "setup: pip could not install the packages of lib/peers/requirements.txt into .venv: "
        "ERROR: No matching distribution found for mkl==1"]


def test_each_package_says_what_it_is_for() -> None:
    for line in (ROOT / ".ci/packages.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, level, purpose = line.split(maxsplit=2)
            assert level in ("just", "run", "test", "all"), name
            assert purpose


def test_the_first_call_says_what_it_needs_before_it_installs(machine: Machine) -> None:
    """In one line, from committed numbers; later calls say nothing."""
    for name in ("justw", ".ci/needs.txt"):
        shutil.copy(ROOT / name, machine.tree / name)
    machine.debian([], apt="echo E: no space >&2; exit 100")
    machine.fake("just", "exit 0")

    def said(*arguments: str) -> list[str]:
        done = subprocess.run([machine.tree / "justw", *arguments], text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PATH": str(machine.bin)})
        return done.stdout.splitlines()

    (machine.tree / ".venv/requirements.txt").unlink()
    numbers = dict(line.split(maxsplit=1)
                   for line in (ROOT / ".ci/needs.txt").read_text().splitlines()
                   if not line.startswith("#"))
    for command in ("run-all", "test"):
        minutes, megabytes, gigabytes = numbers[command].split()
        assert said(command)[:2] == [
            f"{command}: the first call here takes about {minutes} minutes on two cores,"
            f" {megabytes} MB of downloads and {gigabytes} GB of disk",
            "setup: these Debian packages are missing:"]
    assert said("check")[0] == "setup: these Debian packages are missing:"
    machine.debian(ALL)
    (machine.tree / ".venv/requirements.txt").write_text("jinja==1\njust==1\n")
    assert said("run-all") == []
    machine.debian([name for name in ALL if name != "clang-tidy"], apt="exit 100")
    assert said("test") == []
    assert "clang-tidy" in said("test", "--all")[1]

"""Boxes in which what students hand in is compiled and run.

Each has a uid of its own, no network, and nothing to see but /usr and the folder that it is given.
Two tiers are known; a probe tries which of them this machine has. Without either nothing is graded.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memwall.record.kits import GradeError

TOOLS = ("bwrap", "setpriv", "prlimit", "taskset")
INSTALL = "apt install bubblewrap"
ROOT_ONLY = "no sandbox: each submission gets a uid of its own, which only root can give"
FIRST_UID = 64_001  # of those that Debian leaves to nobody
MEGABYTE = 1 << 20
#: Of a box: files that are open at once, and timers that send signals. Each may be a timer, which
#: goes off while the box is frozen, in the time of those it is compared with.
FILES, TIMERS = 256, 128


@dataclass(frozen=True)
class Limits:
    """What a box may use."""

    processes: int
    seconds: int = 60  # of processor time
    file_megabytes: int = 64
    memory_megabytes: int | None = 4096  # of address space; None where the judge limits memory


@dataclass(frozen=True)
class Box:
    """A folder in which one uid works."""

    uid: int
    folder: Path  # /box in it
    limits: Limits
    writable: bool = False
    threads: Sequence[int] = ()  # hardware threads it starts on; empty: any
    environment: Mapping[str, str] = field(default_factory=dict)


def command(tier: str, box: Box, words: Sequence[str]) -> list[str]:
    """The command that runs another in a box."""
    place = ["taskset", "-c", ",".join(map(str, box.threads))] if box.threads else []
    limits = [*place, "prlimit", f"--nproc={box.limits.processes}", f"--cpu={box.limits.seconds}",
              f"--fsize={box.limits.file_megabytes * MEGABYTE}", "--core=0",
              f"--nofile={FILES}", f"--sigpending={TIMERS}"]
    if box.limits.memory_megabytes is not None:
        limits.append(f"--as={box.limits.memory_megabytes * MEGABYTE}")
    identity = ["setpriv", "--reuid", str(box.uid), "--regid", str(box.uid), "--clear-groups"]
    if tier == "A":
        return [*identity, *limits, "bwrap", "--unshare-user", "--disable-userns",
                *_file_system(box), *words]
    powers = [word for name in ("SETUID", "SETGID", "SETPCAP")
              for word in ("--cap-add", f"CAP_{name}")]
    return [*limits, "bwrap", *powers, *_file_system(box), *identity, "--no-new-privs",
            "--bounding-set=-all", "--inh-caps=-all", *words]


def _file_system(box: Box) -> list[str]:
    words = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--as-pid-1",
             "--die-with-parent", "--new-session", "--clearenv", "--ro-bind", "/usr", "/usr"]
    for link in ("bin", "lib", "lib64"):
        if Path("/", link).is_symlink():
            words += ["--symlink", f"usr/{link}", f"/{link}"]
        elif Path("/", link).is_dir():
            words += ["--ro-bind", f"/{link}", f"/{link}"]
    for path in ("/sys/devices/system", "/etc/openmpi", "/etc/alternatives"):
        words += ["--ro-bind-try", path, path]
    words += ["--proc", "/proc", "--dev", "/dev"]
    for path in ("/dev/shm", "/tmp"):
        words += ["--perms", "1777", "--size", str(64 * MEGABYTE), "--tmpfs", path]
    words += ["--bind" if box.writable else "--ro-bind", str(box.folder), "/box", "--chdir", "/box",
              "--remount-ro", "/dev", "--remount-ro", "/"]  # memory that no size bounds
    environment = {"PATH": "/usr/bin:/bin:/usr/local/cuda/bin", "HOME": "/tmp", "LC_ALL": "C",
                   **box.environment}
    for name, value in environment.items():
        words += ["--setenv", name, value]
    return words


def probe(folder: Path) -> str:
    """The tier that works here, A if it does; `folder` is one that boxes may be in."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        raise GradeError(f"no sandbox: no {', '.join(missing)} here: {INSTALL}")
    tier = next((tier for tier in ("A", "B") if works(tier, folder)), None)
    if tier is None:
        raise GradeError("no sandbox: bubblewrap works here neither with user namespaces nor"
                         " without; a container needs the rights to make them")
    return tier


def works(tier: str, folder: Path) -> bool:
    """Does a box of this tier start, as the user that it should be, and hold to its limit?"""
    box = Box(FIRST_UID, folder, Limits(processes=2))
    tried = subprocess.run(command(tier, box, ["id", "-u"]), stdin=subprocess.DEVNULL,
                           capture_output=True, encoding="utf-8", errors="replace",
                           check=False)
    forks = subprocess.run(command(tier, box, ["sh", "-c", "sleep 0 & sleep 0 & wait; echo yes"]),
                           stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                           errors="replace", check=False)
    return tried.stdout.strip() == str(FIRST_UID) and "yes" not in forks.stdout


def end_all(users: Container[int]) -> None:
    """Ends every process of these uids, which a grader that was killed, or a box whose time was up,
    may have left."""
    for _ in range(500):
        left = [path for path in Path("/proc").glob("[0-9]*") if _user(path) in users]
        if not left:
            return
        for path in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(path.name), signal.SIGKILL)
            _thaw(path)
        time.sleep(0.01)


def _user(process: Path) -> int:
    """The user of a process that has not ended; its folder is root's where it forbids dumps."""
    try:
        found = re.search(rb"^State:\t[^ZX].*^Uid:\t(\d+)", (process / "status").read_bytes(),
                          re.M | re.S)
    except OSError:
        return -1
    return int(found[1]) if found else -1


def _thaw(process: Path) -> None:
    """Lets a process die that a judge had frozen: in a cgroup of version 1 it could not."""
    with contextlib.suppress(OSError):
        found = re.search(rb"^\d+:(?:[^:]*,)?freezer(?:,[^:]*)?:(.*/memwall-[\d-]+)$",
                          (process / "cgroup").read_bytes(), re.M)
        if found:
            group = Path(f"/sys/fs/cgroup/freezer{os.fsdecode(found[1])}")
            (group / "freezer.state").write_bytes(b"THAWED")

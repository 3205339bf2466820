"""Compiles the kit's own programs, and in boxes what was handed in; asks the judge."""

import contextlib
import errno
import json
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from memwall.grade import assignment, sandbox
from memwall.grade.sandbox import Box, Limits
from memwall.grade.submissions import Submission
from memwall.record import files, processors
from memwall.record.kits import GradeError, InputFamily, Kit

COMPILE = Limits(processes=32, seconds=60)
COMPILE_SECONDS = 120
JUDGE_SECONDS = 900
SANITIZED_MEGABYTES = 4096  # of memory: a sanitizer takes terabytes of address space
RACES = Limits(processes=32, seconds=300, memory_megabytes=None)  # a symbolizer is one of them
SAID_BYTES = 4000
CONTENDERS = ("naive", "model", "model_again", "floor", "submission")
LARGEST_PROGRAM = 64 << 20
ROOM_TO_COMPILE = 256 << 20  # where less is left, nobody's code is at fault
RUNNING = range(sandbox.FIRST_UID, sandbox.FIRST_UID + len(CONTENDERS))  # uids, as of compilers
COMPILING = range(RUNNING.stop, RUNNING.stop + 2)
PLACE = Path("/var/lib/memwall-grade")


@dataclass(frozen=True)
class Binary:
    """What came out of a compilation: a program, or what the compiler said."""

    path: Path | None
    said: str = ""

    def remove(self) -> None:
        """Makes room where it was."""
        if self.path:
            self.path.unlink(missing_ok=True)
            self.path.with_name(f"{self.path.name}.races").unlink(missing_ok=True)


def said_of_calls(out: str) -> list[dict[str, Any]]:
    """What a judge has said, a line for each call; the last line may be cut. Other letters that end
    lines stand as they are in what a hand-in has printed."""
    return [json.loads(line) for line in out.split("\n")[:-1]]


@contextlib.contextmanager
def opened(kit: Kit, patience_s: float = 30, cores: Sequence[int] = ()) -> Iterator["Workshop"]:
    """A workshop, the only one of this machine: uids and processors are not for two. What one that
    was killed has left is cleared away first. `cores`: hardware threads on which is timed."""
    strange = sorted({*cores} - os.sched_getaffinity(0))
    if strange:
        raise GradeError(f"found the core {strange[0]}, expected some of "
                         + ", ".join(map(str, sorted(os.sched_getaffinity(0)))))
    if cores and len({*cores}) < kit.processors:
        raise GradeError(f"found {len({*cores})} cores, expected {kit.processors}, on which the kit"
                         " measures")
    if os.geteuid() != 0:
        raise GradeError(sandbox.ROOT_ONLY)
    if (usable := processors.usable()) < kit.processors:
        raise GradeError(f"the kit measures on {kit.processors} processors, and {usable} may be"
                         " used here (affinity, or a container's quota)")
    with files.exclusive(PLACE, patience_s):
        room = PLACE / "room"
        sandbox.end_all([*RUNNING, *COMPILING])
        shutil.rmtree(room, ignore_errors=True)
        room.mkdir()
        try:
            yield Workshop(kit, room, cores)
        finally:
            shutil.rmtree(room, ignore_errors=True)


class Exhausted(Exception):
    """The calls of a submission took most of the time that all may take."""


class Workshop:
    """A kit with its programs, in a folder where boxes can be."""

    cores: Sequence[int] = ()  # hardware threads to time on; none: some of different cores

    def __init__(self, kit: Kit, room: Path, cores: Sequence[int] = ()) -> None:
        self.kit = kit
        self.cores = cores
        self.room = room
        self._compilers: SimpleQueue[int] = SimpleQueue()  # users of which nothing runs
        for uid in COMPILING:
            self._compilers.put(uid)
        for folder in (room.parent, room):
            folder.chmod(0o711)  # uids of boxes pass through, and see nothing but their own
        (room / "probe").mkdir(mode=0o755)
        self.tier = sandbox.probe(room / "probe")
        self.home = room / "home"
        shutil.copytree(kit.folder / "student", self.home)
        self.home.chmod(0o700)
        shutil.copy(kit.folder / f"model{kit.suffix}", self.home)
        self.look_for_races = self._make("look-for-races").split() if kit.openmp else []
        if kit.openmp and not self.look_for_races:
            raise GradeError("no search for races, which kits of OpenMP need: no clang++ with its"
                             " Archer here: apt install clang libclang-rt-dev libomp-dev llvm")
        self._make("references", "build/model", *(["build/model.races"] * kit.openmp))

    def _make(self, *targets: str) -> str:
        made = subprocess.run(["make", "-s", "-j2", "-C", self.home, *targets],
                              capture_output=True, encoding="utf-8", errors="replace",
                              check=False)
        if made.returncode:
            said = (made.stdout + made.stderr).strip()[-SAID_BYTES:]
            raise GradeError(f"the kit does not compile: {said}")
        return made.stdout

    def compile(self, submission: Submission, number: int) -> Binary:
        """Compiles in a box of its own; the compiler sees what a student has, and no more."""
        folder = self.room / f"compile-{number}"
        student = self.kit.folder / "student"
        shutil.copytree(student, folder)
        (folder / "build").mkdir(exist_ok=True)
        shared = [f"{name}{kind}" for name in self.kit.shared_objects for kind in self._kinds()]
        for name in [*shared, *(["box_races.races"] * self.kit.openmp)]:
            shutil.copy2(self.home / f"build/{name}.o", folder / "build")
        (folder / self.kit.file).write_bytes(submission.text)
        name = Path(self.kit.file).stem
        targets = [f"build/{name}{kind}" for kind in self._kinds()]
        with (self.room / f"said-{number}").open("w+b") as said:
            code = self._make_in_box(folder, targets, said)
            said.seek(0)
            text = said.read(SAID_BYTES).decode(errors="replace")
        program = self.room / f"program-{number}"
        if code == 0 and all(_taken(folder / f"build/{name}{kind}",
                                    program.with_name(f"{program.name}{kind}"))
                             for kind in self._kinds()):
            shutil.rmtree(folder, ignore_errors=True)
            return Binary(program, text)
        free = shutil.disk_usage(self.room).free  # beside what was written until it failed
        shutil.rmtree(folder, ignore_errors=True)
        if free < ROOM_TO_COMPILE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.room))
        if code is None:
            return Binary(None, f"the compiler took more than {COMPILE_SECONDS} s")
        return Binary(None, text or f"the compiler ended with code {code}")

    def _make_in_box(self, folder: Path, targets: list[str], said: BinaryIO) -> int | None:
        """The exit code, or None where that took too long. Nothing runs on as its user."""
        uid = self._compilers.get()
        try:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, uid, uid, follow_symlinks=False)
            box = Box(uid, folder, COMPILE, writable=True)
            words = sandbox.command(self.tier, box, ["make", "-s", *targets])
            return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                  timeout=COMPILE_SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            return None
        finally:
            sandbox.end_all([uid])
            self._compilers.put(uid)

    def _kinds(self) -> list[str]:
        """What is behind the names of all programs that are made of a source."""
        return ["", ".races"] if self.kit.openmp else [""]

    def judge(self, program: Path) -> list[dict[str, Any]]:
        """Every call of a program and of the references beside it; then, where races are looked
        for, what was found, a line for each case in which that is something."""
        return [*self.judge_again(program, self.kit.cases),
                *(self.races(program) if self.kit.openmp else [])]

    def judge_again(self, program: Path, cases: Sequence[InputFamily]) -> list[dict[str, Any]]:
        """The calls of some cases alone. Where they take too long, the program is at fault if its
        own took most of that."""
        contenders = [self._contender(name, uid, self._source(name, program))
                      for uid, name in zip(RUNNING, CONTENDERS, strict=True)]
        calls, in_time = self._calls(self.kit.rounds, self._lines(cases), contenders)
        own = sum(call["wall"] for call in calls if call["contender"] == "submission")
        if not in_time and own > JUDGE_SECONDS / 2:
            raise Exhausted(f"its calls took {own:.0f} of the {JUDGE_SECONDS} s that it and the"
                            " solutions beside it may take")
        if not in_time:
            raise GradeError(f"the judge took more than {JUDGE_SECONDS} s, calls of the submission"
                             f" {own:.0f} s of them")
        return calls

    def races(self, program: Path) -> list[dict[str, Any]]:
        """The cases in which a program has a race. The model solution stands beside it: where it
        seems to have one, the search is at fault. Small inputs are looked at as well: of two
        uses of one place far apart in time, the search has forgotten the first. What it has not
        found when its time is up is none."""
        head = f"sanitized\t{self.kit.file}\t{SANITIZED_MEGABYTES}\n"
        small = self._lines(self.kit.cases, small=True)
        calls, _ = self._calls(1, small + self._lines(self.kit.cases), [
            head, *(self._contender(name, uid, self._source(name, program, ".races"), races=True)
                    for uid, name in zip(RUNNING, ("model", "submission"), strict=False))])
        return [{**call, "contender": "races", "fault": "", "race": call["fault"]}
                for call in calls if call["contender"] == "submission" and call["race"]]

    @staticmethod
    def _lines(cases: Sequence[InputFamily], small: bool = False) -> list[str]:
        return [f"{'hidden' if case.hidden else 'case'}\t{case.small if small else case.line}\n"
                for case in cases]

    def _calls(self, rounds: int, cases: list[str], lines: list[str]
               ) -> tuple[list[dict[str, Any]], bool]:
        """What a judge says of each call, and whether it came to its end in time."""
        task = "".join([assignment.task(self.kit, [], rounds), *cases, *lines])
        in_time = True
        with (self.room / "said").open("w+b") as said:  # device code prints there as well
            with subprocess.Popen([self.home / "build/judge"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=said, encoding="utf-8",
                                  errors="replace", preexec_fn=_die_with_parent) as process:
                try:
                    out, _ = process.communicate(task, timeout=JUDGE_SECONDS)
                except subprocess.TimeoutExpired:
                    in_time = False
                    process.kill()
                    out, _ = process.communicate()
                    sandbox.end_all(RUNNING)  # what it had frozen would hold a uid
                except BaseException:
                    process.kill()
                    raise
            said.seek(-min(said.seek(0, os.SEEK_END), SAID_BYTES), os.SEEK_END)
            complaints = said.read().decode(errors="replace").strip()
        if in_time and process.returncode not in (0, 1):
            raise GradeError(complaints or f"the judge ended: {process.returncode}")
        return said_of_calls(out), in_time

    def _source(self, name: str, program: Path, kind: str = "") -> Path:
        own = program if name == "submission" else self.home / "build" / name.split("_")[0]
        return own.with_name(f"{own.name}{kind}")

    def _contender(self, name: str, uid: int, source: Path, races: bool = False) -> str:
        folder = self.room / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o755)
        if self.kit.on_gpu:  # its host code is the kit's, and runs in no box
            words = [str(self.home / "build/box"), str(source), str(folder / "link")]
            return "\t".join(["contender", name, "0", str(folder / "link"), *words]) + "\n"
        shutil.copy(source, folder / "program")
        (folder / "program").chmod(0o755)
        threads = str(self.kit.processors if self.kit.ranks == 1 else 1)
        # Threads that wake together may be put on one processor, and a call takes twice as long.
        environment = {"OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "passive",
                       "OMP_PROC_BIND": "true", "OMP_PLACES": "cores",
                       "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
                       "OMPI_MCA_osc": "^ucx",  # which makes no window without that mechanism
                       "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_plm_rsh_agent": "false"}
        box = Box(uid, folder, RACES if races else self._limits(), environment=environment,
                  threads=self._threads())
        before = self.look_for_races if races else self.kit.launch
        words = sandbox.command(self.tier, box, [*before, "/box/program", "/box/link"])
        return "\t".join(["contender", name, str(uid), str(folder / "link"), *words]) + "\n"

    def _threads(self) -> list[int]:
        """The hardware threads that a contender starts on."""
        return (sorted({*self.cores})[:self.kit.processors]
                or processors.apart(self.kit.processors))

    def _limits(self) -> Limits:
        memory = self.kit.memory
        if self.kit.ranks > 1:
            return Limits(8 * self.kit.ranks + 8, seconds=600, memory_megabytes=memory)
        # The threads that it is allowed; in tier A bubblewrap itself is one process of this uid.
        return Limits(self.kit.processors + (self.tier == "A"), seconds=300,
                      memory_megabytes=memory)


def _die_with_parent() -> None:
    import ctypes
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _taken(source: Path, target: Path) -> bool:
    """Copies a program out of a box, if it is a file and nothing on the way to it is a link."""
    try:
        folder = os.open(source.parent, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
    except OSError:
        return False
    try:
        descriptor = os.open(source.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK,
                             dir_fd=folder)
    except OSError:
        return False
    finally:
        os.close(folder)
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > LARGEST_PROGRAM:
            return False
        target.write_bytes(file.read())
    target.chmod(0o700)
    return True

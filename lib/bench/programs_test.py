"""Programs end with one line and an exit code where output, memory or a file fails.

    programs_test.py DESCRIBE ANATOMY MACHINE FORMATS EXPERIMENT [SANITIZED]

EXPERIMENT is one with an axis `matrix`. Under a sanitizer a program needs terabytes of address
space, and none can be taken from it.
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

BANNER = "%%MatrixMarket matrix coordinate pattern general\n"
FULL = "standard output: cannot be written: No space left on device\n"
# One thread, as OpenMP ends a program that cannot have another.
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def run(command: "list[str]", output: int = subprocess.PIPE,
        limit: Callable[[], object] | None = None) -> "subprocess.CompletedProcess[str]":
    """Runs a program under a limit."""
    return subprocess.run(command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False, env=ENVIRONMENT, preexec_fn=limit)


def last_line(done: "subprocess.CompletedProcess[str]") -> str:
    """What it said at last; before that may stand its progress."""
    assert done.stderr.endswith("\n"), done
    return done.stderr.splitlines()[-1]


def full_device(commands: "list[list[str]]") -> None:
    """Whatever is printed, a full device is noticed."""
    for command in commands:
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = run(command, full.fileno())
        assert done.returncode == 2, (command, done)
        assert done.stderr.endswith(f"{Path(command[0]).name}: {FULL}"), (command, done)


def closed_pipe(commands: "list[list[str]]") -> None:
    """Who reads no more is told nothing."""
    for command in commands:
        read, write = os.pipe()
        os.close(read)
        for default in (True, False):
            end = signal.SIG_DFL if default else signal.SIG_IGN
            done = run(command, write, partial(signal.signal, signal.SIGPIPE, end))
            assert done.returncode == -signal.SIGPIPE, (command, done)
            assert "written" not in done.stderr and "pipe" not in done.stderr.lower(), done
        os.close(write)


def short_memory(commands: "list[list[str]]", file: str) -> None:
    """A matrix that does not fit is named, with what it takes where the reader finds out."""
    for command in commands:
        told = []
        for megabytes in (*range(16, 40), *range(40, 400, 8)):
            size = megabytes << 20
            done = run(command, limit=partial(resource.setrlimit, resource.RLIMIT_AS, (size, size)))
            if done.returncode == 127 or done.stderr.startswith("\nlibgomp: Out of memory"):
                continue  # not even its libraries fit
            if done.returncode == 0:
                break
            assert done.returncode == 2, (megabytes, done)
            told.append(last_line(done))
            assert told[-1].startswith(f"{Path(command[0]).name}: "), (megabytes, done)
        named = f"{file}:2: found 1000000 entries and 1000 rows, expected enough memory: "
        assert any(named in line for line in told), (command, told)


def odd_files(program: str, folder: Path) -> None:
    """What is no matrix, or no file, is said in one line that begins with its name."""
    os.mkfifo(folder / "fifo.mtx")
    (folder / "folder.mtx").mkdir()
    (folder / "empty.mtx").touch()
    (folder / "empty.mtx.gz").touch()
    (folder / "huge.mtx").write_text(BANNER + "9223372036854775807 1 1\n1 1\n", encoding="utf-8")
    (folder / "none.mtx").symlink_to(folder / "nowhere")
    (folder / "long.mtx" if len(str(folder)) > 200 else folder / ("x" * 240 + ".mtx")).touch()
    for file in [*folder.glob("*.mtx*"), folder / ("y" * 300), Path("/dev/stdin")]:
        if file.name in ("good.mtx", "large.mtx"):
            continue
        done = run([program, str(file), "--max-empty-rows", "9223372036854775807"])
        assert done.returncode == 2, (file, done)
        assert done.stderr.count("\n") == 1, (file, done)
        assert done.stderr.startswith(f"describe: {file}:"), (file, done)


def whole_results(program: str, matrix: str, folder: Path) -> None:
    """A result is whole or not there, and what cannot be one is refused before it is measured."""
    result = folder / "result.json"
    command = [program, "--profile", "tiny", "--study", "spmv", "--matrix", matrix, "--filter",
               "unroll4", "--output", str(result)]
    limit = (4000, 4000)  # the journal, but not the result
    done = run(command, limit=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
    assert done.returncode == 2, done
    assert last_line(done).endswith("cannot be written: File too large"), done
    assert [file.name for file in folder.glob("result*")] == ["result.json.journal"], done
    done = run(command)
    assert done.returncode == 0, done
    assert [file.name for file in folder.glob("result*")] == ["result.json"], done
    for place in (folder, Path("/dev/null"), Path("/dev/full")):
        done = run([*command[:-1], str(place)])
        assert done.returncode == 2 and done.stderr.count("\n") == 1, done
        assert f"{place}: found a" in done.stderr, done
    done = run([*command[:-1], "/proc/none/result.json"])
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    assert "/proc/none" in done.stderr, done


def odd_folder(program: str, matrix: str, folder: Path) -> None:
    """A result may stand in a folder whose name is no UTF-8, and a runner is told of it."""
    result = folder / os.fsdecode(b"caf\xe9") / "result.json"
    command = [program, "--profile", "tiny", "--study", "spmv", "--matrix", matrix, "--filter",
               "unroll4", "--output", str(result), "--events", str(folder / "events")]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(command[-1])
        listener.listen()
        listener.settimeout(60)
        with subprocess.Popen(command, stderr=subprocess.PIPE, env=ENVIRONMENT) as process:
            runner, _ = listener.accept()
            last: dict[str, str] = {}
            with runner, runner.makefile("rb") as events:
                for event in events:
                    last = json.loads(event)
                    if last["event"] == "turn":
                        runner.sendall(b"\n")
            said = process.communicate()[1]
    assert process.returncode == 0 and result.exists(), said
    assert last.get("output", "").endswith("caf\\xe9/result.json"), last


def main() -> None:
    """Tries all programs."""
    describe, anatomy, machine, formats, experiment, *sanitized = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        good = folder / "good.mtx"
        good.write_text(BANNER + "3 3 2\n1 1\n3 2\n", encoding="utf-8")
        commands = [
            [describe, str(good)], [describe, str(good), "--json"], [describe, "--help"],
            [anatomy, str(good)], [anatomy, "--help"], [machine], [formats],
            [experiment, "--list", "--matrix", str(good)], [experiment, "--help"]]
        full_device(commands)
        closed_pipe(commands)
        whole_results(experiment, str(good), folder)
        odd_folder(experiment, str(good), folder)
        odd_files(describe, folder)
        if not sanitized:
            large = folder / "large.mtx"
            large.write_text(BANNER + "1000 1000 1000000\n" + "2 2\n" * 1000000, encoding="utf-8")
            short_memory([[describe, str(large)], [anatomy, str(large)],
                          [experiment, "--list", "--threads", "1", "--matrix", str(large)]],
                         str(large))


if __name__ == "__main__":
    main()

"""Errors that a user can cause or meet, each as one line: the only place that turns what the
system complains of into words and exit codes."""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

from memwall.record.escape import opened, visible
from memwall.record.terminal import harmless

#: Exit code after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: What is no fault of a program: it becomes a line.
OF_SYSTEM = (OSError, UnicodeError, MemoryError, RecursionError, subprocess.SubprocessError)
#: What `Path.resolve` says, before Python 3.13, of a link that names itself.
LOOP = "Symlink loop"
#: What the system says where no more can be written.
OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF)


class UserError(Exception):
    """One line that says which file, where in it, what was found and what was expected."""

    code = 2  # what the command exits with

    def __init__(self, message: str) -> None:
        super().__init__(visible(opened(message)))


def exit_code(command: Callable[[], int]) -> int:
    """Runs a command to its exit code, whatever it or the system says: a user's error, a file that
    cannot be written, memory that does not suffice are one line on standard error.

    Every way to stop the command raises `KeyboardInterrupt` in it, so that it ends what it
    started; an output that nobody reads any more ends it quietly.
    """
    _require_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, signal.default_int_handler)
    try:
        code = _attempted(command)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        _silence()
        return 1
    except OSError as error:
        _silence()
        _say(f"standard output: {line_of(error)}")
        return 2


def _attempted(command: Callable[[], int]) -> int:
    """The exit code of a command; raises only what standard output complains of."""
    try:
        _require_folder()
        return command()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except SystemExit:  # of argparse, which may have printed its help
        sys.stdout.flush()
        raise
    except UserError as error:
        _say(str(error))
        return error.code
    except OF_SYSTEM as error:
        if isinstance(error, OSError) and not error.filename and error.errno in OF_WRITING:
            raise  # only what is printed has no name
        _say(line_of(error))
        return 2
    except RuntimeError as error:
        if not str(error).startswith(LOOP):
            raise
        _say(line_of(error))
        return 2


def line_of(error: BaseException) -> str:
    """What an error of the system says, in one line that names the file if there is one."""
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, RecursionError):
        return "found a text nested too deeply"
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        _, target, reason = error.args[0][0]  # of all files of a folder that were not copied
        return f"{target}: {reason}"
    said = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        named = isinstance(error.filename, (str, bytes, os.PathLike))
        name = os.fsdecode(error.filename) if named else ""
        said = f"{name}: {error.strerror}" if name else error.strerror
    return " ".join(said.split())


def ending(code: int) -> str:
    """How a process ended that has this exit code, in words."""
    if code >= 0:
        return f"exit code {code}"
    known = {each.value: each.name for each in signal.Signals}  # not all of real time
    return f"killed by {known.get(-code, f'signal {-code}')}"


def _require_folder() -> None:
    """Refuses to begin in a folder that was deleted: every relative path would fail one by one."""
    try:
        os.getcwd()
    except OSError as error:
        raise UserError(f"the current folder: {error.strerror}") from None


def _require_streams() -> None:
    """Opens what is closed of the three standard streams, so that no file takes its number, and
    lets every locale print every name."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        print(harmless(line), file=sys.stderr, flush=True)


def _silence() -> None:
    """Lets what is still buffered for standard output go nowhere, without a complaint at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError):  # where a test has put something else in its place
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)

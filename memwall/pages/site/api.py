"""The library's pages, which Doxygen makes of the headers."""

import re
import shutil
import subprocess
from pathlib import Path

from memwall.record import files
from memwall.record.errors import UserError

MISSING = ("no doxygen here: the site is without the library's pages; `./justw test` installs it,"
           " as does your package manager")
#: Members need no sentence where that of their type or first overload says it (`size()`, `rows`).
ALLOWED = re.compile(r"Member .* is not documented")


class Api:
    """Doxygen at work beside others: it begins at once, and `finished` waits for its pages."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root, self.folder = root, folder
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.complaints = folder.with_suffix(".log")
        settings = (f"{files.read(root / 'Doxyfile')}\nOUTPUT_DIRECTORY = {folder}\n"
                    f"WARN_LOGFILE = {self.complaints}\n")
        self.process = subprocess.Popen(["doxygen", "-"], stdin=subprocess.PIPE, cwd=root,
                                        encoding="utf-8")
        assert self.process.stdin is not None
        self.process.stdin.write(settings)
        self.process.stdin.close()

    def finished(self) -> Path:
        """The folder of the pages. Raises `UserError` with the first of what Doxygen warns of."""
        code = self.process.wait()
        warnings = [line.replace(f"{self.root}/", "")
                    for line in files.read(self.complaints).splitlines()
                    if not ALLOWED.search(line)]
        if code or warnings:
            more = f" (and {len(warnings) - 1} more lines)" if len(warnings) > 1 else ""
            raise UserError(f"doxygen: {(warnings or [f'exit code {code}'])[0]}{more}")
        return self.folder

    def stop(self) -> None:
        """Ends Doxygen if it is still at work."""
        self.process.kill()
        self.process.wait()


def is_here() -> bool:
    """Whether there is a Doxygen."""
    return shutil.which("doxygen") is not None

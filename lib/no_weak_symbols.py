"""Fail if a library whose objects have flags of their own defines a weak symbol.

The linker keeps one of all equal weak symbols of a program. If it kept one that was compiled with
special flags (-mavx512f, -ffast-math), other code would run with these flags: with other rounding,
or not at all on this CPU.

Usage: no_weak_symbols.py LIBRARY...
"""

import subprocess
import sys


def defined_symbols(library: str) -> list[tuple[str, str]]:
    """Return (name, kind) of each symbol that `library` defines, with nm's letters for kinds."""
    listing = subprocess.run(["nm", "--format=posix", "--defined-only", library],
                             check=True, capture_output=True, text=True).stdout
    fields = (line.split() for line in listing.splitlines())
    return [(entry[0], entry[1]) for entry in fields if len(entry) >= 3]


def complaints(library: str) -> list[str]:
    """Return one line for each weak (V, v, W, w) or process-wide (u) symbol of `library`."""
    symbols = defined_symbols(library)
    if not any(kind.isupper() for _, kind in symbols):
        return [f"{library}: exports nothing, so nothing was checked"]
    return [f"{library}: weak symbol {name}" for name, kind in symbols if kind in "uvVwW"]


def main(libraries: list[str]) -> int:
    """Check every library and print what was found."""
    found = [line for library in libraries for line in complaints(library)]
    print(*found, f"{len(libraries)} libraries, {len(found)} complaints", sep="\n")
    return 1 if found or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Fails if an archive of kernels with special flags defines a weak symbol.

The linker keeps one of all equal weak symbols of a program. If it kept one that was compiled with
the flags of a kernel, other code would run with these flags too: at other speed, with other
rounding, or not at all.
"""

import subprocess
import sys


def weak_symbols(nm: str, archive: str) -> list[str]:
    """Lines of `nm` about defined symbols that are weak (V, W) or unique in the process (u)."""
    listing = subprocess.run([nm, "--demangle", "--defined-only", archive],
                             check=True, capture_output=True, text=True).stdout
    symbols = [line.split(maxsplit=2) for line in listing.splitlines()]
    if not any(len(symbol) == 3 and symbol[1].isupper() for symbol in symbols):
        raise SystemExit(f"{archive}: exports nothing, so nothing was tested")
    return [symbol[2] for symbol in symbols if len(symbol) == 3 and symbol[1] in "VWu"]


def main() -> int:
    """Checks the archives `argv[2:]` with the `nm` in `argv[1]`."""
    nm, *archives = sys.argv[1:]
    found = [(archive, name) for archive in archives for name in weak_symbols(nm, archive)]
    for archive, name in found:
        print(f"{archive}: weak symbol {name}", file=sys.stderr)
    print(f"{len(archives)} archives, {len(found)} weak symbols")
    return 1 if found or not archives else 0


if __name__ == "__main__":
    sys.exit(main())

"""Numbers that people give on command lines and in the environment: asked once, here."""

import argparse
import math
import re
from collections.abc import Callable

from memwall.record.errors import UserError

#: As many as an index of 32 bits counts.
MOST = 2**31 - 1


def whole(name: str, text: str, least: int = 1, most: int = MOST,
          what: str = "a whole number") -> int:
    """The whole number that a text is, in decimal digits. Raises `UserError` for anything else."""
    if re.fullmatch(r"-?[0-9]{1,20}", text) and least <= int(text) <= most:
        return int(text)
    raise UserError(f"{name}: found {_short(text)}, expected {what} from {least} to {most}")


def finite(name: str, text: str, least: float = 0) -> float:
    """The finite number that a text is. Raises `UserError` for anything else."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if math.isfinite(value) and value >= least and "_" not in text:
        return value
    raise UserError(f"{name}: found {_short(text)}, expected a finite number of at least {least}")


def option(of: Callable[[str, str], float], name: str) -> Callable[[str], float]:
    """`whole` or `finite` as the type of an option of argparse, which says the rest."""

    def convert(text: str) -> float:
        try:
            return of(name, text)
        except UserError as error:
            raise argparse.ArgumentTypeError(str(error).partition(": ")[2]) from None

    return convert


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")

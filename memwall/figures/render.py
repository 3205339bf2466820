"""Specifications become pictures in a process of their own: what renders has threads, which no
process that forks afterwards may have started. There is one for each process that draws."""

import atexit
import json
import os
import subprocess
import sys
from functools import cache

VERSION = "6.4"  # of Vega-Lite


@cache
def rendered(spec: str) -> str:
    """The SVG of a specification."""
    helper = _helper(os.getpid())
    assert helper.stdin is not None and helper.stdout is not None
    helper.stdin.write(json.dumps(spec) + "\n")
    helper.stdin.flush()
    answer = helper.stdout.readline()
    if not answer:
        raise RuntimeError("the process that renders figures ended")
    svg, error = json.loads(answer)
    if error:
        raise ValueError(f"vl-convert: {error}")
    return str(svg)


@cache
def _helper(pid: int) -> "subprocess.Popen[str]":
    """That of this process; it ends with it."""
    helper = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, encoding="utf-8")
    atexit.register(_end, helper)
    return helper


def _end(helper: "subprocess.Popen[str]") -> None:
    assert helper.stdin is not None and helper.stdout is not None
    helper.stdin.close()
    helper.stdout.close()
    helper.wait()


def _serve() -> None:
    """Answers each line, a specification, with a line: the picture, or what is wrong."""
    import vl_convert

    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    for line in sys.stdin:
        try:
            told = (vl_convert.vegalite_to_svg(json.loads(line), vl_version=VERSION), "")
        except ValueError as error:
            told = ("", str(error))
        print(json.dumps(told), flush=True)


if __name__ == "__main__":
    _serve()

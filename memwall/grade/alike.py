"""Which hand-ins are alike: SIM of Dick Grune compares them, token by token (Debian's
similarity-tester). It tells whom to ask, and decides nothing."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from memwall.record.course import AlikePair
from memwall.record.errors import UserError

TOOL = "sim_c++"
MISSING = f"hand-ins are not compared: no {TOOL} here: apt install similarity-tester"
SHORTEST_RUN = 16  # tokens
LEAST = 70  # per cent
PATIENCE_S = 300
NOBODY = 64_000
LINE = re.compile(r"^(\d+)\.cpp consists for (\d+) % of (\d+)\.cpp material$", re.M)


def is_here() -> bool:
    """Whether the tool is."""
    return shutil.which(TOOL) is not None


def pairs(texts: Mapping[str, bytes], least: int = LEAST) -> list[AlikePair]:
    """Those of some texts that are alike, most first."""
    names = list(texts)
    with tempfile.TemporaryDirectory() as room:
        Path(room).chmod(0o755)
        for number, name in enumerate(names):
            (Path(room) / f"{number}.cpp").write_bytes(texts[name])
        # It reads what strangers wrote: without rights, and with an end.
        rights = (["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
                  if os.geteuid() == 0 else [])
        command = [*rights, "prlimit", f"--cpu={PATIENCE_S}", f"--as={2 << 30}", "--fsize=0", TOOL,
                   "-p", "-e", "-a", "-s", f"-r{SHORTEST_RUN}", f"-t{least}",
                   *(f"{number}.cpp" for number in range(len(names)))]
        done = subprocess.run(command, cwd=room, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", check=False)
    if done.returncode:
        raise UserError(f"{TOOL}: {done.stderr.strip()[-300:] or done.returncode}")
    shares = {(int(one), int(other)): int(share)
              for one, share, other in LINE.findall(done.stdout)}
    found = [AlikePair(names[one], names[other], min(share, shares[other, one]))
             for (one, other), share in shares.items() if one < other and (other, one) in shares]
    return sorted(found, key=lambda pair: (-pair.per_cent, pair.one, pair.other))

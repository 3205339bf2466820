"""How many processors may be used: as `lib/machine/limits.cpp` reads it, for what starts programs.

One file of cases, `lib/machine/limits_test.json`, holds both to the same.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path


def usable(root: Path = Path("/")) -> int:
    """How many threads can run at once here: those of the affinity, as far as the quotas of control
    groups (a container's, a job's) give whole processors to them; at least one."""
    quota = min(map(_quota, _groups(root)), default=math.inf)
    return int(max(1, min(len(os.sched_getaffinity(0)), math.floor(min(quota, 1 << 31)))))


def apart(count: int, root: Path = Path("/")) -> list[int]:
    """So many hardware threads of the affinity: those of different cores first."""
    taken: Counter[str] = Counter()
    ranks = {}
    for thread in sorted(os.sched_getaffinity(0)):
        core = _text(root / f"sys/devices/system/cpu/cpu{thread}/topology/thread_siblings_list")
        ranks[thread] = taken[core or str(thread)]
        taken[core or str(thread)] += 1
    return sorted(sorted(ranks, key=lambda thread: (ranks[thread], thread))[:count])


def _groups(root: Path) -> Iterator[Path]:
    """The folders of the control groups that this process is in, and of those around them."""
    mounts = list(_mounts(root))
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, group = [*line.split(":", 2), "", ""][:3]
        kind = "cpu" if controllers else ""
        if kind and kind not in controllers.split(","):
            continue
        for folder, top, has in mounts:
            if kind in has:
                yield folder
                prefix = top.rstrip("/") + "/"
                parts = group.removeprefix(prefix).split("/") if group.startswith(prefix) else []
                for part in filter(None, parts):
                    folder /= part
                    yield folder


def _mounts(root: Path) -> Iterator[tuple[Path, str, list[str]]]:
    """Where control groups are mounted, which group that shows, and its controllers; of version 2
    no name. Lines are `36 35 0:30 TOP POINT OPTIONS [TAG...] - TYPE SOURCE CONTROLLERS,OPTIONS`."""
    for line in _text(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        places, kinds = before.split(" "), after.split(" ")
        if len(places) > 4 and len(kinds) > 2 and kinds[0] in ("cgroup", "cgroup2"):
            top, point = (_unescaped(text) for text in places[3:5])
            yield (root / point.lstrip("/"), top,
                   kinds[2].split(",") if kinds[0] == "cgroup" else [""])


def _unescaped(text: str) -> str:
    """Of /proc, where a blank is written as \\040."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _quota(group: Path) -> float:
    """Processors that one group may keep busy, on average."""
    used, period = [*_text(group / "cpu.max").split(), "", ""][:2]
    if not used:
        used, period = (_text(group / f"cpu.cfs_{of}_us").strip() for of in ("quota", "period"))
    if used.isdecimal() and period.isdecimal() and int(period):
        return int(used) / int(period)
    return math.inf


def _text(path: Path) -> str:
    """A file's text; none where there is no such file, as outside of groups or of Linux."""
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""

"""How many processors may be used, and what they are.

How many is read as `lib/machine/limits.cpp` reads it, for what starts programs: one file of cases,
`lib/machine/limits_test.json`, holds both to the same.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from memwall.record import notation


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


# --- what they are, for people --------------------------------------------------------------------

#: What tells processors apart that have one name.
IDENTITY = {"vendor": "vendor", "family": "family", "model_number": "model"}
NO_FRACTION = re.compile(r"\.0+(?= )")


def processor_kind(cpu: Mapping[str, Any]) -> str:
    """`family 25, model 17`, or the architecture where these are not known; the vendor too if the
    name of the processor does not say it."""
    vendor = cpu.get("vendor", "")
    known = {name: cpu[name] for name in ("family", "model_number") if name in cpu}
    words = [] if vendor in cpu["model"].lower() else [vendor]
    return ", ".join([*words, _named(known) or cpu["architecture"]])


def data_caches(cpu: Mapping[str, Any]) -> str:
    """`32 KiB, 1 MiB and 32 MiB`: one data cache of each level; empty if none is known."""
    levels: dict[int, dict[str, None]] = {}
    for known in sorted(cpu["caches"], key=lambda one: (one["level"], one["bytes"])):
        if known["kind"] != "instruction":
            size = NO_FRACTION.sub("", notation.size(known["bytes"]))
            levels.setdefault(known["level"], {})[size] = None
    *others, last = ["", *(" or ".join(sizes) for sizes in levels.values())]
    return f"{', '.join(others[1:])} and {last}" if others[1:] else last


def _named(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{IDENTITY[name]} {value}" for name, value in known.items())

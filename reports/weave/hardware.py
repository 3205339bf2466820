"""What a machine consists of, in a few words, and what shows that two machines are not one."""

import re
from collections.abc import Mapping
from typing import Any

from weave import formats

Machine = Mapping[str, Any]

#: What tells processors apart that have one name.
IDENTITY = {"vendor": "vendor", "family": "family", "model_number": "model"}
NO_FRACTION = re.compile(r"\.0+(?= )")


def kind(cpu: Mapping[str, Any]) -> str:
    """`family 25, model 17`, or the architecture where these are not known; the vendor too if the
    name of the processor does not say it."""
    vendor = cpu.get("vendor", "")
    known = {name: cpu[name] for name in ("family", "model_number") if name in cpu}
    words = [] if vendor in cpu["model"].lower() else [vendor]
    return ", ".join([*words, _identity(known) or cpu["architecture"]])


def data_caches(cpu: Mapping[str, Any]) -> str:
    """`32 KiB, 1 MiB and 32 MiB`: one data cache of each level; empty if none is known."""
    levels: dict[int, dict[str, None]] = {}
    for cache in sorted(cpu["caches"], key=lambda cache: (cache["level"], cache["bytes"])):
        if cache["kind"] != "instruction":
            size = NO_FRACTION.sub("", formats.size(cache["bytes"]))
            levels.setdefault(cache["level"], {})[size] = None
    *others, last = ["", *(" or ".join(sizes) for sizes in levels.values())]
    return f"{', '.join(others[1:])} and {last}" if others[1:] else last


def difference(known: Machine, here: Machine) -> str:
    """What shows that two machines are not one; empty if nothing does that is known of both."""
    both = [name for name in IDENTITY if name in known["cpu"] and name in here["cpu"]]
    told = {
        "processor": [_identity({name: of["cpu"][name] for name in both}) for of in (known, here)],
        "caches": [data_caches(of["cpu"]) for of in (known, here)],
        "GPU": [", ".join(sorted({gpu["name"] for gpu in of["gpus"]})) for of in (known, here)],
    }
    differing = [
        f"{what}: {before}, here {now}"
        for what, (before, now) in told.items()
        if before and now and before != now
    ]
    return "; ".join(differing)


def _identity(known: Mapping[str, Any]) -> str:
    return ", ".join(f"{IDENTITY[name]} {value}" for name, value in known.items())


#: Bits that a lane of PCI Express carries in a second, and the part of them that is data: the base
#: specifications, since 6.0 with flits of 256 bytes.
LANE_RATES = {1: (2.5e9, 8 / 10), 2: (5e9, 8 / 10), 3: (8e9, 128 / 130), 4: (16e9, 128 / 130),
              5: (32e9, 128 / 130), 6: (64e9, 236 / 256)}
GENERATIONS = tuple(LANE_RATES)
LANES = (1, 2, 4, 8, 16)


def bus_rate(generation: int, lanes: int) -> float:
    """Bytes of data that a link of PCI Express carries at most in one direction, per second."""
    bits, data = LANE_RATES[generation]
    return bits / 8 * data * lanes

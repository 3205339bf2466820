"""What the processor of a machine is, for people."""

import re
from collections.abc import Mapping
from typing import Any

from memwall.record import notation

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

"""The table of what a profiler counted in kernels, as `just profile-gpu` puts it into a book."""

from collections.abc import Sequence
from typing import Any


def table(kept: dict[str, Any]) -> str:
    """A Markdown table of what a book keeps."""
    lines = ["| matrix | variant | kernel | time | memory | L2 | L1 | L2 hits | L1 hits |"
             " sectors a load | L2 atomics a second | occupancy | warps wait for |",
             "| --- | --- | --- |" + 9 * " ---: |" + " --- |"]
    for one in kept["multiplies"]:
        for kernel in one["kernels"]:
            lines.append("| " + " | ".join([one["matrix"], f"`{one['variant']}`",
                                            f"`{kernel['name']}`", *_cells(kernel)]) + " |")
    return "\n".join(lines)


def _cells(kernel: dict[str, Any]) -> Sequence[str]:
    def said(name: str, form: str, factor: float = 1) -> str:
        return form.format(kernel[name] * factor) if name in kernel else "-"

    seconds = kernel.get("seconds", 0)
    atomics = kernel.get("l2_atomics", 0) / seconds if seconds else 0
    stalls = sorted(kernel["stalls"].items(), key=lambda item: -item[1])[:2]
    return [said("seconds", "{:.1f} µs", 1e6), said("dram_percent", "{:.0f} %"),
            said("l2_percent", "{:.0f} %"), said("l1_percent", "{:.0f} %"),
            said("l2_hit_percent", "{:.0f} %"), said("l1_hit_percent", "{:.0f} %"),
            said("sectors_per_request", "{:.1f}"),
            f"{atomics / 1e9:.2g} G" if atomics else "none", said("occupancy_percent", "{:.0f} %"),
            ", ".join(f"{name.replace('_', ' ')} {value:.1f}" for name, value in stalls)]

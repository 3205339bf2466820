"""What one launch reached at best: the rates of probes; and what makers promise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memwall.analysis import numerics
from memwall.analysis.quantities import Unknown
from memwall.record.results import Case, Json


@dataclass(frozen=True)
class Ceiling:
    """What one launch reached at best, per second."""

    name: str
    moves_bytes: bool  # else it counts flops
    rate: numerics.Estimate
    fastest: float  # of all passes: what a neighbour on a shared machine leaves varies
    source: str = ""  # of a nominal peak
    target: str = ""  # where its probe ran

    @property
    def unit(self) -> str:
        return "GB/s" if self.moves_bytes else "GFLOP/s"

    def work_of(self, case: Case) -> float:
        return case.bytes if self.moves_bytes else case.flops


@dataclass(frozen=True)
class Ceilings:
    """The ceilings of one result; `named` are those that its experiment names."""

    raw: Json
    named: Sequence[str]

    def one(self, launch: int, names: str | Sequence[str] | None = None) -> Ceiling:
        """A probe's rate in one launch, from the samples before and after all cases, or a nominal
        peak (`peak:device_read`).

        Without a name: the one the experiment names first, or else the fastest that moves bytes.
        """
        return self.of(launch, names)[0]

    def of(self, launch: int, names: str | Sequence[str] | None = None) -> list[Ceiling]:
        """As `one`, of each name: the work of a case can take no less time than the slowest
        allows."""
        names = [names] if isinstance(names, str) else names or self.named
        if names:
            return [self._find(launch, name) for name in names]
        moving = self._moving(launch)
        if not moving:
            raise Unknown("no ceiling that moves bytes in the result")
        return [max(moving, key=lambda ceiling: (ceiling.rate.value, ceiling.name))]

    def probes(self, launch: int) -> Mapping[str, Ceiling]:
        """All probes' rates in one launch, by name."""
        return self._probes.get(launch, {})

    @cached_property
    def peaks(self) -> Mapping[str, Ceiling]:
        """What the makers of the processor and of its GPU promise."""
        machine = self.raw["machine"]
        peaks = [*machine.get("peaks", []), *machine["cpu"].get("peaks", [])]
        peaks += machine["gpus"][0].get("peaks", []) if machine["gpus"] else []
        found = {}
        for peak in peaks:
            rate = peak.get("bytes_per_s", peak.get("flops_per_s"))
            name = f"peak:{peak['name']}"
            found[name] = Ceiling(name, "bytes_per_s" in peak, numerics.exact(rate), rate,
                                  peak["source"])
        return found

    def are_known(self, launch: int) -> bool:
        """Whether bounds can be computed in a launch."""
        known = self._known(launch)
        return bool(self._moving(launch)) and all(name in known for name in self.named)

    def fastest(self, launch: int, target: str) -> Ceiling:
        """Of a target if any ran there: the one the experiment names, or else that with the fastest
        pass that moved bytes."""
        moving = self._moving(launch)
        moving = [each for each in moving if each.target == target] or moving
        if self.named:
            first = self._known(launch).get(self.named[0])
            if first is not None and (first in moving or not first.moves_bytes):
                return first
        return max(moving, key=lambda ceiling: (ceiling.fastest, ceiling.name))

    def _find(self, launch: int, name: str) -> Ceiling:
        found = self._known(launch)
        if name not in found:
            known = ", ".join(sorted(found)) or "none"
            raise Unknown(f'no ceiling "{name}" in the result, which has: {known}')
        return found[name]

    def _known(self, launch: int) -> Mapping[str, Ceiling]:
        return {**self.peaks, **self.probes(launch)}

    def _moving(self, launch: int) -> list[Ceiling]:
        """The probes of a launch that move bytes."""
        return [each for each in self.probes(launch).values() if each.moves_bytes]

    @cached_property
    def _probes(self) -> Mapping[int, Mapping[str, Ceiling]]:
        rates: dict[tuple[int, str, bool, str], list[float]] = {}
        for probe in self.raw["ceilings"]:
            moves_bytes = probe["bytes"] > 0
            work = probe["bytes"] if moves_bytes else probe["flops"]
            if work == 0:
                continue  # it says nothing of what the machine can do
            target = probe.get("target", "host")
            key = (probe["launch"], probe["name"], moves_bytes, target)
            rates.setdefault(key, []).extend(work / seconds for seconds in probe["samples_s"])
        found: dict[int, dict[str, Ceiling]] = {}
        for (launch, name, moves_bytes, target), samples in rates.items():
            reached = numerics.estimate(samples)
            ceiling = Ceiling(name, moves_bytes, reached, max(samples), target=target)
            found.setdefault(launch, {})[name] = ceiling
        return found

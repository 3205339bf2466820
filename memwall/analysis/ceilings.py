"""What one launch reached at best: the rates of probes; and what makers promise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memwall.analysis import numerics
from memwall.analysis.quantities import Unknown
from memwall.record.results import Case, Json

#: `bench::ceiling_definition`: of what a ceiling is since the fastest look counts alone.
DEFINITION = 2


@dataclass(frozen=True)
class Ceiling:
    """What one launch reached at best, per second."""

    name: str
    moves_bytes: bool  # else it counts flops
    rate: numerics.Estimate
    fastest: float  # of all passes: what a neighbour on a shared machine leaves varies
    source: str = ""  # of a nominal peak
    target: str = ""  # where its probe ran
    definition: int = 1  # `bench::ceiling_definition`: shares of two are not compared
    working_set: float = 0  # bytes that a pass goes through

    @property
    def is_older(self) -> bool:
        """Whether it is by an older definition, which says less than a machine can do."""
        return self.definition < DEFINITION

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
        """A probe's rate in one launch, or a nominal peak (`peak:device_read`).

        Without a name: the one the experiment names first, or else the fastest that moves bytes.
        """
        return self.of(launch, names)[0]

    def of(self, launch: int, names: str | Sequence[str] | None = None,
           target: str = "") -> list[Ceiling]:
        """As `one`, of each name: the work of a case can take no less time than the slowest
        allows. What was named for a whole experiment bounds only what runs where it was measured:
        nothing on a GPU is a share of what a processor reads."""
        if names:
            names = [names] if isinstance(names, str) else names
            return [self._find(launch, name) for name in names]
        bounds = [self._find(launch, name) for name in self.named] or self._moving(launch)
        bounds = [one for one in bounds if not target or one.target in ("", target)]
        if not bounds:
            at = f" of {target}" if target else ""
            raise Unknown(f"no ceiling{at} that moves bytes in the result")
        fastest = max(bounds, key=lambda ceiling: (ceiling.rate.value, ceiling.name))
        return bounds if self.named else [fastest]

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
        looks: dict[tuple[int, str], list[Json]] = {}
        for probe in self.raw["ceilings"]:
            if probe["bytes"] or probe["flops"]:  # else it says nothing of what the machine can do
                looks.setdefault((probe["launch"], probe["name"]), []).append(probe)
        found: dict[int, dict[str, Ceiling]] = {}
        for (launch, name), probes in looks.items():
            found.setdefault(launch, {})[name] = _reached(name, probes)
        return found


def _reached(name: str, looks: Sequence[Json]) -> Ceiling:
    """What a probe reached at its looks: since definition 2 in the fastest of them, before in all
    together."""
    one = looks[0]
    work = one["bytes"] or one["flops"]
    rates = [[work / seconds for seconds in look["samples_s"]] for look in looks]
    every = [rate for look in rates for rate in look]
    definition = one.get("definition", 1)
    rate = (numerics.estimate(every) if definition == 1
            else max(map(numerics.estimate, rates), key=lambda look: look.value))
    return Ceiling(name, one["bytes"] > 0, rate, max(every), target=one.get("target", "host"),
                   definition=definition, working_set=one["bytes"])

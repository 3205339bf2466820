"""What a kit says of itself: `kit.toml`."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from memwall.record import files
from memwall.record.errors import UserError
from memwall.record.schemas import check_schema

SCHEMA = Path(__file__).with_name("kit.schema.json")
#: What makes an input large, and what it is divided by to make it small.
SHRUNK = {"rows": 64, "columns": 64, "edges": 64, "nonzeros": 64, "n": 8, "m": 8, "k": 8}


class GradeError(UserError):
    """Something that a lecturer can put right, in one line."""


@dataclass(frozen=True)
class InputFamily:
    """A family of inputs."""

    line: str  # as lib/kit/problem.hpp reads it
    about: str
    next: str  # what to try where time is lost in it
    hidden: bool
    known_as: str  # what students read of it
    model: float | None  # share of the bound that the model reached where the kit was made
    weight: float = 1  # of its speed in the mean over all cases

    @property
    def name(self) -> str:
        """Its first word."""
        return self.line.split()[0]

    @property
    def small(self) -> str:
        """A line for inputs of this kind that are some sixty times as small."""
        def less(found: re.Match[str]) -> str:
            numbers = [int(number) for number in found[2].split("..")]
            small = [number - 6 if found[1] == "scale" else number // SHRUNK.get(found[1], 1)
                     for number in numbers]
            return f"{found[1]}={'..'.join(map(str, small))}"

        return re.sub(r"(\w+)=([\d.]+)", less, self.line)


@dataclass(frozen=True)
class Kit:
    """An assignment."""

    folder: Path
    title: str
    file: str  # the one that is handed in
    compiler: str
    flags: str
    main: str  # lib/kit/<main>.cpp is the process of a contender
    processors: int
    ranks: int
    problem: str  # as lib/kit/problem.hpp reads it
    floor: str  # what floor.cpp does, as a part of a sentence
    rounds: int
    correctness: int  # points
    speed: int
    span: float  # points for speed begin where a call takes so many times as long as the model's
    tests: tuple[str, ...]
    cases: tuple[InputFamily, ...]
    #: In place of the model: at so many times the speed of naive, such a part of the points.
    thresholds: tuple[tuple[float, float], ...] = ()
    log: float = 0  # points that a lecturer can give for the work log; students keep one if any
    #: Calls are added until the standard error of the points is no larger.
    error: float = 0.6
    memory: int = 4096  # megabytes of address space that each process may have

    @property
    def name(self) -> str:
        """The name of its experiment, in the tree and wherever a kit was made."""
        named = self.folder / "name"
        return files.read(named).strip() if named.exists() else name_of(self.folder)

    @property
    def settings(self) -> dict[str, int]:
        """Those of its problem."""
        words = (word.split("=") for word in self.problem.split()[1:])
        return {name: int(value) for name, value in words}

    @property
    def on_gpu(self) -> bool:
        """Device code alone is handed in."""
        return self.file.endswith(".cu")

    @property
    def openmp(self) -> bool:
        """Its threads are those of OpenMP, and races between them are looked for."""
        return "-fopenmp" in self.flags.split()

    @property
    def function(self) -> str:
        """What is written in that file, and what its header is called."""
        return Path(self.file).stem

    @property
    def suffix(self) -> str:
        """Of every source of it."""
        return Path(self.file).suffix

    @property
    def shared_objects(self) -> list[str]:
        """What each program of a contender is linked with."""
        return [] if self.on_gpu else ["box", "box_call", self.main, "call"]

    @property
    def launch(self) -> list[str]:
        """What starts its ranks."""
        if self.ranks == 1:
            return []
        return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(self.ranks)]

    def digest(self) -> str:
        """Changes where anything does that grades depend on."""
        digest = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and "build" not in path.relative_to(self.folder).parts:
                digest.update(path.relative_to(self.folder).as_posix().encode() + b"\0")
                digest.update(path.read_bytes())
        return digest.hexdigest()


def name_of(folder: Path) -> str:
    """The name of a kit in the tree: that of its experiment, and what is behind `kit-`."""
    return folder.parent.name + folder.name.removeprefix("kit")


def all_folders(root: Path) -> dict[str, Path]:
    """The kits of a tree by their names: each experiment may have a kit/, and any kit-NAME/."""
    found = [path.parent for path in root.glob("experiments/*/kit*/kit.toml")]
    return {name_of(folder): folder for folder in sorted(found)}


def load(folder: Path) -> Kit:
    """Reads a kit.toml."""
    path = folder / "kit.toml"
    if not path.is_file():
        raise GradeError(f"{folder}: no kit.toml here, expected the folder for instructors that"
                         " `just assignment` makes")
    raw = files.read_toml(path)
    check_schema(raw, files.read_json(SCHEMA), str(path))
    hidden = 0
    cases = []
    for one in raw["case"]:
        hidden += one.get("hidden", False)
        known_as = f"hidden {hidden}" if one.get("hidden") else one["case"].split()[0]
        cases.append(InputFamily(one["case"], one["about"], one["next"],
                                 one.get("hidden", False), known_as, one.get("model"),
                                 one.get("weight", 1)))
    return Kit(folder=folder.resolve(), title=raw["title"], file=raw["file"],
               compiler=raw["compiler"], flags=raw["flags"], main=raw["main"],
               processors=raw["processors"], ranks=raw["ranks"], problem=raw["problem"],
               floor=raw["floor"], rounds=raw["rounds"],
               correctness=raw["points"]["correctness"], speed=raw["points"]["speed"],
               span=raw["points"]["span"], tests=tuple(one["case"] for one in raw["test"]),
               cases=tuple(cases),
               thresholds=tuple((one["speedup"], one["part"])
                                for one in raw["points"].get("threshold", ())),
               log=raw["points"].get("log", 0),
               error=raw["points"].get("error", Kit.error), memory=raw.get("memory", Kit.memory))

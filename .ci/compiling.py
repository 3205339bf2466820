"""How sources are compiled, as a configured build directory of Meson knows it, and what the front
ends of compilers say of them, which takes half of the time of making objects."""

import json
import os
import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

#: Options with a value that say where something is written.
WRITTEN = ("-o", "-MQ", "-MF")


@dataclass(frozen=True)
class Compilation:
    """The command of one object, run in its build directory."""

    sources: tuple[Path, ...]  # several, if compiled as one
    output: str
    words: tuple[str, ...]

    @property
    def front(self) -> tuple[str, ...]:
        """The compiler, its options and the file, without what is written."""
        words, left = [], iter(self.words)
        for word in left:
            if word in WRITTEN:
                next(left)
            elif word not in ("-c", "-MD"):
                words.append(word)
        return tuple(words)

    def alike(self, directory: Path) -> tuple[object, ...]:
        """The same for two objects that are made from the same sources in the same way, in build
        directories beside each other."""
        return (tuple(os.path.relpath(source, directory) for source in self.sources), self.front)


def commands(directory: Path) -> list[Compilation]:
    """Of every object of a build directory."""
    listed = json.loads((directory / "compile_commands.json").read_text())
    return [Compilation(sources_of(directory / entry["file"]), entry["output"],
                        tuple(shlex.split(entry["command"]))) for entry in listed]


def sources_of(file: Path) -> tuple[Path, ...]:
    """The sources that a file of compile commands stands for."""
    if "-unity" not in file.name:
        return (file.resolve(),)
    return tuple(Path(line.removeprefix("#include<").removesuffix(">")).resolve()
                 for line in file.read_text().splitlines())


def added(directory: Path, base: Path) -> list[Compilation]:
    """What a build directory compiles otherwise than the one beside it, or alone."""
    known = {one.alike(base) for one in commands(base)}
    return [one for one in commands(directory) if one.alike(directory) not in known]


def front_ends(directory: Path, compiled: Sequence[Compilation]) -> Path:
    """Writes a file for Ninja that asks front ends of each, and makes what they have to read. A .cu
    file becomes PTX: to assemble that takes longer than all else. What the file promises to make is
    never made, so that each is asked again every time."""
    listed = subprocess.run(["ninja", "-C", directory, "-t", "targets", "all"], text=True,
                            capture_output=True, check=True).stdout
    made = [name for name, rule in (line.rsplit(": ", 1) for line in listed.splitlines()
                                    if ": " in line) if rule == "CUSTOM_COMMAND"]
    read = {os.path.relpath(source, directory) for one in compiled for source in one.sources}
    made = sorted(read & set(made))
    if made:
        subprocess.run(["ninja", "-C", directory, "--quiet", *made], check=True)
    lines = ["rule look", "  command = $looked"]
    for number, one in enumerate(compiled):
        on_gpu = any(source.suffix == ".cu" for source in one.sources)
        seen = f"front/{number}"
        words = [*one.front, *(("-ptx", "-o", f"{seen}.ptx") if on_gpu
                               else ("-fsyntax-only",))]
        lines += [f"build {seen}: look", f"  looked = {shlex.join(words).replace('$', '$$')}"]
    file = directory / "front.ninja"
    file.write_text("\n".join(lines) + "\n")
    return file


def installed(directory: Path) -> list[tuple[Path, Path]]:
    """Every header that a build directory installs, and its place below where they are looked
    for."""
    listed = subprocess.run(["meson", "introspect", "--installed", directory], text=True,
                            capture_output=True, check=True).stdout
    places = {Path(source): Path(place) for source, place in json.loads(listed).items()
              if source.endswith(".hpp")}
    return [(source, Path(*place.parts[place.parts.index("memwall") + 1:]))
            for source, place in places.items()]

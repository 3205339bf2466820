#!/usr/bin/env python3
"""Generate the C++ source that tells a program what it was built from.

The marked source texts of every variant, the flags of the objects they were compiled into, and the
commit. Runs on every build; rewrites its output only when something changed.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

SOURCE_SUFFIXES = {".hpp", ".cpp", ".cuh", ".cu"}
NO_SOURCES = (".md", ".md.in", ".svg", "/report.json")  # pages: no program knows them
MARKER = re.compile(r"^\s*//! \[([^\]]+)\]\s*$")
# Lines of course kits (memwall/grade): what stands between them is not in a student's file.
SOLUTION = re.compile(r"^\s*//+ (BEGIN|END) SOLUTION\s*$")


class ProvenanceError(Exception):
    """A marker that is not closed or not unique."""


def marked_texts(path: Path) -> dict[str, str]:
    """The texts between pairs of lines `//! [name]` in one file, without common indentation."""
    texts: dict[str, str] = {}
    opened: dict[str, int] = {}
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        match = MARKER.match(line)
        if not match:
            continue
        name = match.group(1)
        if name not in opened:
            opened[name] = number
            continue
        if name in texts:
            raise ProvenanceError(f"{path}:{number + 1}: marker [{name}] occurs a third time")
        body = [text for text in lines[opened[name] + 1 : number]
                if not MARKER.match(text) and not SOLUTION.match(text)]
        if not any(text.strip() for text in body):
            raise ProvenanceError(f"{path}:{number + 1}: nothing between the markers [{name}]")
        texts[name] = without_indentation(body)
    for name, number in opened.items():
        if name not in texts:
            raise ProvenanceError(f"{path}:{number + 1}: marker [{name}] is not closed")
    return texts


def without_indentation(lines: list[str]) -> str:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "\n".join(line[min(indents) :] for line in lines) + "\n"


def excerpts(root: Path, folders: list[Path]) -> list[tuple[str, str, str]]:
    """(name, file, text) of every marked text below the folders, sorted by name."""
    found: dict[str, tuple[str, str, str]] = {}
    for path in sorted({file for folder in folders for file in folder.rglob("*")}):
        if path.suffix not in SOURCE_SUFFIXES or path.stem.endswith("_test"):
            continue
        file = path.relative_to(root).as_posix()
        for name, text in marked_texts(path).items():
            if name in found:
                raise ProvenanceError(f"{file}: marker [{name}] also stands in {found[name][1]}")
            found[name] = (name, file, text)
    return [found[name] for name in sorted(found)]


def kept_flags(command: str) -> str:
    """The flags of a compile command that decide what code comes out of it."""
    kept = []
    words = iter(shlex.split(command)[1:])
    for word in words:
        if word in {"-o", "-c", "-MF", "-MQ", "-MT", "-isystem", "-include", "-x", "-idirafter"}:
            next(words, None)
        elif word.startswith(("-O", "-m", "-f", "-std", "-arch", "-gencode", "-G")):
            kept.append(word)
    return " ".join(word for word in kept if not word.startswith("-fdiagnostics"))


def object_flags(build: Path, root: Path, folders: list[Path]) -> list[tuple[str, str, str]]:
    """(object, source, flags) of every object below the folders, less those of tests.

    Marked texts may stand in headers, so objects without one may hold kernels too.
    """
    entries = []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        path = (Path(entry["directory"]) / entry["file"]).resolve()
        if not path.is_relative_to(root):
            continue
        source = path.relative_to(root).as_posix()
        tested = path.stem.endswith("_test")
        if not tested and any(path.is_relative_to(folder) for folder in folders):
            entries.append((entry["output"], source, kept_flags(entry["command"])))
    return sorted(entries)


def git(root: Path, *arguments: str) -> str | None:
    """What Git says of the tree `root`; None where that has no repository.

    It is asked of the tree's own one: one that lies above holds other sources, and so does one that
    variables name, as they do in hooks. Named like this, it may belong to another user.
    """
    command = ["git", f"--git-dir={root / '.git'}", f"--work-tree={root}", "--no-optional-locks"]
    usual = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        answer = subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True,
                                check=True, env=usual)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def commit(root: Path) -> tuple[str, bool]:
    """The checked-out commit, "unknown" without a repository, and whether a source differs."""
    head = git(root, "rev-parse", "--verify", "HEAD")
    if head is None:
        return "unknown", False
    changed = git(root, "status", "--porcelain", "--untracked-files=normal", "--", "lib",
                  "experiments", "meson.build", *(f":!*{suffix}" for suffix in NO_SOURCES))
    return head, changed != ""


def literal(text: str) -> str:
    """A C++ raw string, in pieces that every compiler accepts."""
    pieces = [text[i : i + 8000] for i in range(0, len(text), 8000)] or [""]
    return " ".join(f'R"~memwall~({piece})~memwall~"' for piece in pieces)


def table(kind: str, name: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"    {{{', '.join(literal(cell) for cell in row)}}},\n" for row in rows]
    return f"constexpr std::array<bench::{kind}, {len(rows)}> {name}{{{{\n{''.join(lines)}}}}};\n"


def generate(arguments: argparse.Namespace) -> str:
    root = arguments.root.resolve()
    folders = [(root / folder).resolve() for folder in arguments.folders]
    marked = excerpts(root, folders)
    head, dirty = commit(root)
    return f"""#include "bench/provenance.hpp"

#include <array>

namespace {{

{table("Excerpt", "excerpts", marked)}
{table("ObjectFlags", "objects", object_flags(arguments.build, root, folders))}
}} // namespace

bench::Provenance const& bench::provenance()
{{
    static Provenance const built{{{literal(head)}, {str(dirty).lower()},
        {literal(arguments.compiler)}, {literal(arguments.build_type)}, excerpts, objects}};
    return built;
}}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--build-type", required=True)
    parser.add_argument("folders", nargs="+", help="relative to the root")
    arguments = parser.parse_args()
    try:
        text = generate(arguments)
    except ProvenanceError as error:
        print(error, file=sys.stderr)
        return 1
    if not arguments.output.exists() or arguments.output.read_text(encoding="utf-8") != text:
        arguments.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

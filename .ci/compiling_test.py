"""What is made of the commands of a build directory."""

import json
import subprocess
from pathlib import Path

import compiling
import pytest


def configured(folder: Path, **commands: str) -> Path:
    """A build directory with such commands, of a source each."""
    folder.mkdir()
    for name in commands:
        (folder.parent / f"{name}.cpp").touch()
    (folder / "compile_commands.json").write_text(json.dumps([
        {"directory": str(folder), "file": f"../{name}.cpp", "output": f"{name}.o",
         "command": f"{command} -MD -MQ {name}.o -MF {name}.o.d -o {name}.o -c ../{name}.cpp"}
        for name, command in commands.items()]))
    return folder


def test_front_ends_are_asked_without_what_is_written(tmp_path: Path) -> None:
    (one,) = compiling.commands(configured(tmp_path / "build", a="g++ -DX='a b' -O1"))
    assert one.front == ("g++", "-DX=a b", "-O1", "../a.cpp")
    assert one.sources == (tmp_path / "a.cpp",)


def test_only_what_is_compiled_otherwise_or_alone_is_added(tmp_path: Path) -> None:
    base = configured(tmp_path / "base", a="g++", b="g++ -O1")
    other = configured(tmp_path / "other", a="g++", b="g++ -O1 -DGPU", c="g++")
    assert [one.output for one in compiling.added(other, base)] == ["b.o", "c.o"]


def test_sources_that_are_compiled_as_one_are_told_apart(tmp_path: Path) -> None:
    """Though the file that includes them has the same name in both directories."""
    for name, sources in (("base", "ab"), ("other", "abc")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "x-unity0.cpp").write_text(
            "".join(f"#include<{tmp_path}/{source}.cpp>\n" for source in sources))
        (folder / "compile_commands.json").write_text(json.dumps([
            {"directory": str(folder), "file": "x-unity0.cpp", "output": "x.o",
             "command": "g++ -o x.o -c x-unity0.cpp"}]))
    (one,) = compiling.added(tmp_path / "other", tmp_path / "base")
    assert [source.name for source in one.sources] == ["a.cpp", "b.cpp", "c.cpp"]
    assert compiling.added(tmp_path / "other", tmp_path / "other") == []


@pytest.mark.parametrize(("text", "code"), [("int a = 1;", 0), ("int a = nobody;", 1)])
def test_a_source_that_does_not_compile_is_found(tmp_path: Path, text: str, code: int) -> None:
    folder = configured(tmp_path / "build", a="g++ -DDOLLAR='\"$\"'")
    (folder / "build.ninja").touch()
    (tmp_path / "a.cpp").write_text(f"char const* dollar = DOLLAR;\n{text}\n")
    file = compiling.front_ends(folder, compiling.commands(folder))
    done = subprocess.run(["ninja", "-C", folder, "-f", file], capture_output=True, text=True,
                          check=False)
    assert done.returncode == code, done.stdout
    assert ("nobody" in done.stdout) == bool(code)


@pytest.mark.parametrize("name", ["a.cpp", "a.cu"])
def test_a_fault_that_came_after_is_found(tmp_path: Path, name: str) -> None:
    """What an earlier run has made does not stand for a source that was changed."""
    folder, source = tmp_path / "build", tmp_path / name
    folder.mkdir()
    compiler = folder / "compiler"
    compiler.write_text('#!/bin/sh\nfor last; do :; done\n[ ! -d front ] || touch "$last"\n'
                        f"! grep nobody {source}\n")
    compiler.chmod(0o755)
    (folder / "compile_commands.json").write_text(json.dumps([
        {"directory": str(folder), "file": f"../{name}", "output": "a.o",
         "command": f"{compiler} -o a.o -c ../{name}"}]))
    (folder / "build.ninja").touch()
    codes = []
    for text in ("int a = 1;", "int a = nobody;"):
        source.write_text(text)
        file = compiling.front_ends(folder, compiling.commands(folder))
        codes.append(subprocess.run(["ninja", "-C", folder, "-f", file], capture_output=True,
                                    check=False).returncode)
    assert codes == [0, 1]

"""The listing in CONTRIBUTING.md is code: the host's part compiles, a GPU's where nvcc is."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: A block of C++ or of Meson that names its file in the first line.
LISTING = re.compile(r"^```(?:cpp|meson)\n(?://|#) ([\w/.-]+)[^\n]*\n(.*?)^```$",
                     re.DOTALL | re.MULTILINE)
MESONS_OWN = {"cuda_args", "override_options"}  # names of arguments
FLAGS = ["-std=c++20", f"-I{ROOT / 'lib'}"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What somebody has who copies the listing."""
    root = tmp_path_factory.mktemp("listing")
    found = {}
    for name, text in LISTING.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        path = found[Path(name).name] = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return found


def compiles(*command: str | Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_listing_is_whole(files: dict[str, Path]) -> None:
    assert set(files) == {"main.cpp", "twice.hpp", "twice.cu", "meson.build"}


def test_the_part_of_the_host_compiles(files: dict[str, Path]) -> None:
    compiles("g++", *FLAGS, "-fopenmp", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
             files["main.cpp"])


@pytest.mark.skipif(not shutil.which("nvcc"), reason="no nvcc here")
def test_the_part_of_a_gpu_compiles(files: dict[str, Path], tmp_path: Path) -> None:
    """As the stage `cuda` does it: to an object, which no GPU has to run."""
    compiles("nvcc", *FLAGS, "-arch=sm_90", "-Werror=all-warnings", "-c", files["twice.cu"],
             "-o", tmp_path / "twice.o")


def test_meson_names_what_is_there(files: dict[str, Path]) -> None:
    """Its sources are those of the listing; what it depends on is defined by the tree."""
    text = files["meson.build"].read_text(encoding="utf-8")
    program = text.partition("custom_target")[0]
    assert set(re.findall(r"'([\w.]+\.(?:cpp|cu))'", program)) == {"main.cpp", "twice.cu"}
    tree = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("lib/**/meson.build"))
    for name in {*re.findall(r"\b(\w+_(?:command|args|options|dep))\b", text)} - MESONS_OWN:
        assert re.search(rf"\b{name} \+?= ", tree), name

"""What the pages draw by themselves: beside each specification a script that hands it over, as a
page that was opened from a folder may fetch nothing, and the libraries that draw it."""

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from memwall.figures import sheet
from memwall.figures.render import VERSION
from memwall.pages.book import WOVEN, House
from memwall.pages.site.contents import Contents
from memwall.record import files

SPECIFICATION, SCRIPT = ".vl.json", ".vl.js"
#: Prints Vega, Vega-Lite and Vega-Embed as one script, all of which vl-convert carries.
BUNDLER = "import sys, vl_convert; print(vl_convert.javascript_bundle(vl_version=sys.argv[1]))"


def scripts(house: House, contents: Contents) -> dict[str, str]:
    """By their paths scripts that hand over specifications, each with the runs whose numbers they
    may show, by machine."""
    told = {}
    for file, experiment, kept in _specifications(house, contents):
        path = file.relative_to(house.root).as_posix()
        runs = {one.machine: one.result.run["id"] for one in house.found
                if (one.result.experiment, one.title) == (experiment, kept)}
        told[path.removesuffix(SPECIFICATION) + SCRIPT] = (
            f"memwallFigure({files.read(file, path).strip()},{json.dumps(runs)})\n")
    return told


def _specifications(house: House, contents: Contents) -> Iterator[tuple[Path, str, str]]:
    """Each with its experiment and the title of the kept run that it shows, which may be none."""
    for experiment in house.experiments:
        kept = {figure.file: figure.draw.get("run", "") for figure in experiment.figures}
        folder = house.root / "experiments" / experiment.name / "figures"
        for file in sorted(folder.glob(f"*{SPECIFICATION}")):
            picture = file.name.removesuffix(SPECIFICATION) + ".svg"
            yield file, experiment.name, kept.get(picture, "")
    for guest in contents.guests:
        for file in sorted((house.root / WOVEN / guest).glob(f"figures/*/*{SPECIFICATION}")):
            name, _, title = file.parent.name.partition("--")
            yield file, name, title


def libraries(room: Path) -> str:
    """The script that draws, and what each colour is on a dark page. It takes seconds to make, and
    is kept in a folder until vl-convert changes."""
    kept = room / f"vega-{importlib.metadata.version('vl-convert-python')}.js"
    if not kept.exists():
        made = subprocess.run([sys.executable, "-c", BUNDLER, VERSION], capture_output=True,
                              check=True)
        files.write(kept, made.stdout)
    return f"{files.read(kept)}\nwindow.memwallDark = {json.dumps(sheet.DARK)};\n"

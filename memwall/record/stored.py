"""The result files of a machine's folder: `results/NAME.json` of a complete run of an experiment,
`results/NAME@TITLE.json.gz` of one that was kept under a title. Older versions kept it as plain
`NAME@TITLE.json`, which is read as well.
"""

from pathlib import Path

from memwall.record import files
from memwall.record.errors import UserError


def results_of(folder: Path) -> list[Path]:
    """All of them, by experiment and title. Raises `UserError` if a run stands there twice."""
    kept = [*folder.glob(f"results/*@*.json{files.COMPRESSED}")]
    for path in kept:
        if (plain := plain_of(path)).exists():
            raise UserError(f"{files.shown(plain)}: found {path.name} beside it, expected one of"
                            " the two")
    return sorted([*folder.glob("results/*.json"), *kept], key=names_of)


def names_of(path: Path) -> tuple[str, str]:
    """The experiment of a result file, and the title under which its run was kept; empty of a
    complete run."""
    name = path.name.removesuffix(files.COMPRESSED).removesuffix(".json")
    experiment, _, title = name.partition("@")
    return (experiment, title) if title else (name, "")


def kept_name(experiment: str, title: str) -> str:
    """The name of the file of a kept run."""
    return f"{experiment}@{title}.json{files.COMPRESSED}"


def plain_of(path: Path) -> Path:
    """Where older versions kept what stands in a compressed file."""
    return path.with_suffix("")

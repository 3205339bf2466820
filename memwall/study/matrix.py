"""`just study FILE.mtx...`: what there is to say about each matrix, as one JSON object."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memwall.record import sources
from memwall.record.console import Console, duration
from memwall.record.errors import UserError
from memwall.record.files import write_json
from memwall.record.sources import Tree
from memwall.run.workspace import Workspace, describe_machine
from memwall.study import findings, measuring

Json = dict[str, Any]
SUFFIXES = (".mtx.gz", ".mtx")


def study_all(workspace: Workspace, files: Sequence[Path], console: Console,
              finish: Callable[[Path], str]) -> int:
    """Studies each matrix, and lets a page be made of what was written; 1 if a variant failed its
    verification."""
    files = list({file.resolve(): file for file in files}.values())  # each once
    for file in files:
        name_of(file)
    described = [measuring.described(workspace, file) for file in files]  # all errors come first
    gpus = bool(describe_machine(workspace)["gpus"])
    tree = sources.read_tree(workspace.root)
    found = [_study(workspace, file, features, gpus, tree, console, finish)
             for file, features in zip(files, described, strict=True)]
    return max(found)


def name_of(file: Path) -> str:
    """A matrix' name: that of its file. Raises `UserError` for other files."""
    for suffix in SUFFIXES:
        name = file.name.removesuffix(suffix)
        if name != file.name and name.strip("."):
            return name
    raise UserError(f"{file}: found another ending, expected a file .mtx or .mtx.gz")


def _study(workspace: Workspace, file: Path, features: Json, gpus: bool, tree: Tree,
           console: Console, finish: Callable[[Path], str]) -> int:
    started = time.monotonic()
    place = measuring.own_folder(workspace.build / "study", name_of(file), file)
    try:
        with place as (folder, lock):
            failures = _measure(workspace, file.resolve(), features, gpus, folder, tree, console,
                                lock)
            said = finish(folder / "study.json")
    except KeyboardInterrupt:
        console.line("interrupted: the same command goes on from here")
        raise
    for failure in failures:
        console.line(failure)
    console.line(f"{said}  {duration(time.monotonic() - started)}")
    return 1 if failures else 0


def _measure(workspace: Workspace, file: Path, features: Json, gpus: bool, folder: Path, tree: Tree,
             console: Console, lock: int) -> list[str]:
    """Measures what is missing and writes `study.json`; what failed."""
    anatomy = measuring.anatomy(workspace, file, folder, console)
    given = measuring.options(file, features["nnz"])
    found, failures = [], []
    for asked in measuring.PROGRAMS:
        if asked.needs_gpu and not (gpus and workspace.program(asked.name).is_file()):
            continue
        measured, failed = measuring.measured(workspace, asked, given, [file], folder, console,
                                              lock, tree)
        found.append((asked.title, measured))
        failures += failed
    study = together(file, features, anatomy, found) | {"name": folder.name}
    write_json(folder / "study.json", study)
    measuring.warn(study["runs"], workspace.shown(folder), console)
    return failures


def together(file: Path, features: Json, anatomy: Json, found: Sequence[tuple[str, Any]]) -> Json:
    """All findings of a matrix."""
    rankings = [{"title": title, "cases": findings.cases(one)} for title, one in found]
    every = [case for ranking in rankings for case in ranking["cases"]]
    pieces = dict(anatomy)
    partitions = pieces.pop("partitions")
    graph = {"partitioner": pieces.pop("graph_partitioner"),
             "missing": pieces.pop("graph_missing", "")}
    return {
        "schema": 1,
        "name": name_of(file),
        "file": file.name,
        "machine": findings.machine(found[0][1]),
        "features": features,
        "anatomy": pieces,
        "formats": findings.conversions(every, features["nnz"]),
        "plans": findings.plans(every),
        "rankings": rankings,
        "skipped": [entry for _, one in found for entry in findings.skipped(one)],
        "partitions": partitions,
        "graph": graph,
        "runs": [findings.run(one) for _, one in found],
    }

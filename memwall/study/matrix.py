"""`just study FILE.mtx...`: what there is to say about each matrix, as one `Study`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memwall.analysis.measurements import Measurements
from memwall.record import sources, studies
from memwall.record.console import Console, duration
from memwall.record.errors import UserError
from memwall.record.shapes import read_as
from memwall.record.studies import (
    Anatomy,
    Features,
    GraphPartitioner,
    Partition,
    Ranking,
    Study,
)
from memwall.run.workspace import Workspace, describe_machine
from memwall.study import findings, measuring
from memwall.study.measuring import Bench, Contest

Json = dict[str, Any]
SUFFIXES = (".mtx.gz", ".mtx")


def study_all(workspace: Workspace, files: Sequence[Path], profile: str, console: Console,
              finish: Callable[[Path], str]) -> int:
    """Studies each matrix, and lets a page be made of what was written; 1 if a variant failed its
    verification."""
    files = list({file.resolve(): file for file in files}.values())  # each once
    for file in files:
        name_of(file)
    workspace.build_programs("lib/sparse/describe", "lib/distributed/anatomy", "lib/bench/machine",
                             *(f"experiment:{contest.name}" for contest in measuring.CONTESTS))
    described = [measuring.described(workspace, file) for file in files]  # all errors come first
    gpus = bool(describe_machine(workspace)["gpus"])
    contests = [contest for contest in measuring.CONTESTS if not contest.needs_gpu
                or (gpus and workspace.program(contest.name).is_file())]
    tree = sources.read_tree(workspace.root)
    codes = []
    for file, features in zip(files, described, strict=True):
        place = measuring.own_folder(workspace.build / "study", name_of(file), file)
        with place as (folder, lock):
            bench = Bench(workspace, tree, console, folder, lock)
            given = measuring.options(file, features.nnz, profile)
            codes.append(_study(bench, file, features, given, contests, finish))
    return max(codes)


def name_of(file: Path) -> str:
    """A matrix' name: that of its file. Raises `UserError` for other files."""
    for suffix in SUFFIXES:
        name = file.name.removesuffix(suffix)
        if name != file.name and name.strip("."):
            return name
    raise UserError(f"{file}: found another ending, expected a file .mtx or .mtx.gz")


def _study(bench: Bench, file: Path, features: Features, given: Sequence[str],
           contests: Sequence[Contest], finish: Callable[[Path], str]) -> int:
    started = time.monotonic()
    try:
        failures = _measure(bench, file, features, given, contests)
    except KeyboardInterrupt:
        bench.console.line("interrupted: the same command goes on from here")
        raise
    said = finish(bench.folder / "study.json")
    for failure in failures:
        bench.console.line(failure)
    bench.console.line(f"{said}  {duration(time.monotonic() - started)}")
    return 1 if failures else 0


def _measure(bench: Bench, file: Path, features: Features, given: Sequence[str],
             contests: Sequence[Contest]) -> list[str]:
    """Measures what is missing and writes `study.json`; what failed."""
    structure = bench.structure(file)
    found, failures = [], []
    for contest in contests:
        measured, failed = bench.measured(contest, given, [file])
        found.append((contest.title, measured))
        failures += failed
    study = together(file, features, structure, found)
    studies.write(replace(study, name=bench.folder.name), bench.folder / "study.json")
    bench.warn(study.runs)
    return failures


def together(file: Path, features: Features, structure: Json,
             found: Sequence[tuple[str, Measurements]]) -> Study:
    """All findings of a matrix; `structure` is what the program `anatomy` says."""
    rankings = tuple(Ranking(title, findings.cases(one)) for title, one in found)
    every = [case for ranking in rankings for case in ranking.cases]
    pieces = dict(structure)
    partitions = pieces.pop("partitions")
    graph = GraphPartitioner(pieces.pop("graph_partitioner"), pieces.pop("graph_missing", ""))
    return Study(
        name=name_of(file),
        file=file.name,
        machine=findings.machine(found[0][1]),
        features=features,
        anatomy=read_as(Anatomy, pieces, "anatomy"),
        formats=findings.conversions(every, features.nnz),
        plans=findings.plans(every),
        rankings=rankings,
        skipped=tuple(entry for _, one in found for entry in findings.skipped(one)),
        partitions=tuple(read_as(Partition, each, "anatomy") for each in partitions),
        graph=graph,
        runs=tuple(findings.run(one) for _, one in found),
    )

"""Random results of two machines that never were, and the report that they weave to."""

import random
from pathlib import Path

from memwall.pages import book
from memwall.pages.report import page
from memwall.pages.report.told import Place
from memwall.pages.survey import NOBODY, OnMachine, Survey
from memwall.pages.tests import oracle, oracle_run
from memwall.record import definition, escape, files, results, sources
from memwall.record.results import Json
from memwall.tests import synthetic

#: Conditions of every kind, beside those of the made-up experiment.
CLAIMS = """
[[claim]]
id = "random.kinds"
article = 0
removes = "everything"
says = "Conditions of many kinds hold."
kind = "magnitude"
needs = ["matrices>=3"]
{conditions}
"""
CONDITIONS = (
    'faster = "csrl"\nthan = "textbook"\nexpect = "faster"\nwhere = { precision = "fp64" }',
    'faster = "csrl"\nthan = "unroll4"\nexpect = "clearly"\nwhere = { threads = "max" }',
    'faster = "unroll4"\nthan = ["avx512", "restrict"]\nexpect = [0.8, 1.3]',
    'faster = "unroll4"\nthan = "textbook"\nexpect = 1.1\non = "every"\nwhere = { threads = 1 }',
    'faster = "csrl"\nthan = "unroll4"\nexpect = "far"\non = "any"\nper = ["matrix", "precision"]',
    'faster = "restrict"\nthan = "textbook"\nexpect = "never-below"',
    'faster = "restrict"\nthan = "textbook"\nexpect = "keeps-up"\nwhere = { matrix = "!r*" }',
    'faster = "textbook"\nthan = { best_of = ["csrl", "unroll4"] }\nexpect = "most"',
    'faster = "csrl"\nthan = { best_of = "own" }\nexpect = 0.9\nwhere = { matrix = "r*" }',
    'faster = "textbook"\nthan = { variant = "textbook", threads = 1 }\nexpect = "faster"\n'
    'where = { threads = "max" }',
    'less = "csrl"\nthan = "textbook"\nof = "stored_bytes"',
    'less = "csrl"\nthan = "textbook"\nof = "count_a"\nthan_of = "count_b"\non = "any"',
    'more = "csrl"\nthan = { variant = "csrl", threads = 1 }\nof = "of_ceiling"\nexpect = 0.9\n'
    'where = { threads = "max" }',
    'faster = "csrl"\nthan = "textbook"\nalong = "runs"\nbetween = [0.2, 0.6]\n'
    'where = { precision = "fp32", threads = 1 }',
    'value = "of_ceiling"\nof = "csrl"\nat_least = 0.4\nwhere = { precision = "fp64" }',
    'value = "of_ceiling"\nof = "unroll4"\non = "every"\nper = ["matrix"]\nat_most = 0.9\n'
    'ceiling = "triad"\nwhere = { threads = 1, precision = "fp32" }',
    'value = "gflops"\nof = "textbook"\nat_least = 0.5\nat_most = 2\nwhere = { matrix = "fem3" }',
    'faster = "csrl"\nthan = "unroll4"\nexpect = "keeps-up"\nwhere = { matrix = "fem3" }',
    'faster = "textbook"\nthan = { best_of = ["csrl", "avx512"] }\nexpect = "never-below"',
)
MACHINES = ("example-2c", "other-2c")


def repository(root: Path) -> Path:
    """The tree of made-up results, with claims of all kinds and no figure."""
    synthetic.repository(root)
    path = root / f"experiments/{synthetic.NAME}/experiment.toml"
    text = path.read_text(encoding="utf-8")
    before, _, _ = text.partition("[[figure]]")
    claims = text[text.index("[[claim]]"):]
    conditions = "\n".join(f"[[claim.condition]]\n{one}" for one in CONDITIONS)
    each = "\n".join(CLAIMS.replace("random.kinds", f"random.{number}").format(
        conditions=f"[[claim.condition]]\n{one}") for number, one in enumerate(CONDITIONS))
    files.write(path, before + claims + each + CLAIMS.format(conditions=conditions))
    return root


def result(source: random.Random, machine: str) -> Json:
    """A result in which everything that sentences speak of is a matter of chance."""
    raw = synthetic.result(seed=source.randrange(10**6), rounds=source.choice((5, 7, 9, 15, 21)))
    raw["machine"]["slug"] = machine
    raw["run"]["id"] = f"{source.randrange(16**16):016x}"
    chooser = random.Random(raw["run"]["id"])
    spread = source.choice((0.0, 0.01, 0.1, 0.6))
    paces = {(v, m): source.lognormvariate(0, source.choice((0.02, 0.2, 1)))
             for v in synthetic.PACES for m in synthetic.MATRICES}
    for dataset in raw["datasets"].values():
        dataset["features"]["runs"] = source.choice((0.1, 0.2, 0.3, 0.5, 0.9))
    for case in raw["cases"]:
        pace = paces[case["variant"], case["parameters"]["matrix"]]
        pace = 1.0 if case["twin"] or case["variant"] == "textbook" else pace
        case["samples_s"] = [seconds * pace * (1 + spread * source.random())
                             for seconds in case["samples_s"]]
        case["setup"]["counts"] = {"count_a": source.randint(1, 9), "count_b": source.randint(1, 9)}
        if source.random() < 0.5:
            case["setup"]["stored_bytes"] = case["work"]["bytes"] * source.uniform(0.3, 3)
        if case["samples_s"] and source.random() < 0.2:
            case["disturbed"] = {"preempted": sorted(source.sample(range(raw["run"]["rounds"]),
                                                                   source.randint(1, 3)))}
        if case["variant"] == "restrict":
            case["setup"]["notes"] = [f"{chooser.choice(('csrl', 'unroll4', 'restrict'))}; why"]
        if case["variant"] == "unroll4":  # whose notes may tell it in words: none is counted then
            case["setup"]["notes"] = [chooser.choice(("csrl; why", "csrl, or so", "own words"))]
    chance = source.random()
    if chance < 0.2:
        synthetic.drop(raw, source.choice(("csrl", "unroll4", "restrict")))
    elif chance < 0.4:
        raw["excerpts"][source.choice(("csrl", "unroll4"))]["text"] = "an older text\n"
    elif chance < 0.5:
        for probe in raw["ceilings"]:
            probe["definition"] = 2
    if source.random() < 0.2:
        raw["machine"]["cpu"]["instruction_sets"].append("avx512f")
    return raw


def narrowed(raw: Json) -> None:
    """As if somebody had chosen other matrices."""
    for name in ("cases", "skipped"):
        raw[name] = [one for one in raw[name] if one["parameters"]["matrix"] != "fem3"]


def woven(root: Path, seed: int, folder: Path) -> tuple[Path, oracle.Evaluator]:
    """The report of two random results, written into a folder; and who evaluates it."""
    source = random.Random(seed)
    experiment = definition.load(root, synthetic.NAME)
    tree = sources.read_tree(root)
    found: list[OnMachine] = []
    runs: dict[str, oracle_run.Run] = {}
    for machine in MACHINES:
        raw = result(source, machine)
        if found and source.random() < 0.3:
            raw["datasets"] = found[0].result.raw["datasets"]
        is_narrowed = source.random() < 0.3
        if is_narrowed:
            narrowed(raw)
        results.validate(raw, machine)
        runs[raw["run"]["id"]] = oracle_run.load(root, synthetic.NAME, raw, is_narrowed)
        of = results.of(raw, folder / f"{machine}.json")
        found.append(book.on_machine(machine, of, experiment, tree, "", partial=is_narrowed))
    survey = Survey(experiment, MACHINES[0], tuple(found), NOBODY)
    report = page.weave(survey, Place("../../reports", is_committed=True))
    files.write(folder / "report.md", escape.markdown(report.text))
    files.write(folder / "report.json", report.json)
    return folder / "report.md", oracle.Evaluator(root, synthetic.NAME, runs)

"""Books, experiment pages and the scorecard, as texts by their path in the repository.

Nothing is written here but by `write`: the same texts are compared with the tree by `check`.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from weave import (
    blocks,
    claims,
    definition,
    formats,
    hardware,
    pages,
    parallel,
    results,
    sources,
)
from weave.claims import Verdict
from weave.definition import Claim, Experiment
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Result
from weave.sources import Tree
from weave.tables import markdown

Texts = dict[str, str]
WOVEN = "<!-- Woven, do not edit: `just report` makes it from the results. -->\n"
DIFF_LINES = 40
TITLE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Entry:
    """One experiment in one machine's book; `title` is that of a kept run, which claims nothing."""

    machine: str
    experiment: Experiment
    result: Result
    verdicts: Mapping[str, Verdict]
    title: str = ""

    @property
    def page(self) -> str:
        name = f"{self.experiment.name}--{self.title}" if self.title else self.experiment.name
        return f"reports/{self.machine}/{name}.md"

    @property
    def result_path(self) -> str:
        """Where its result lies in the repository."""
        file = pages.result_file(self.experiment.name, self.title)
        return f"reports/{self.machine}/results/{file}"

    @property
    def figures(self) -> str:
        """The folder of its figures as its page sees it."""
        return f"figures/{self.title}" if self.title else "figures"


@dataclass(frozen=True)
class House:
    """Everything that pages are made from."""

    root: Path
    tree: Tree
    experiments: tuple[Experiment, ...]
    entries: tuple[Entry, ...]
    kept: tuple[Entry, ...] = ()

    def of_machine(self, machine: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.machine == machine]

    def all_of(self, machine: str) -> list[Entry]:
        """Complete runs and kept ones."""
        return [*self.of_machine(machine), *(one for one in self.kept if one.machine == machine)]

    def of_experiment(self, name: str) -> list[Entry]:
        return [entry for entry in self.entries if entry.experiment.name == name]

    @property
    def machines(self) -> list[str]:
        return sorted({entry.machine for entry in [*self.entries, *self.kept]})


def read(root: Path) -> House:
    """Reads and validates every definition and every result of the tree."""
    tree = sources.read(root)
    experiments = {e.name: e for e in definition.load_all(root)}
    paths = sorted((root / "reports").glob("*/results/*.json"))
    found = parallel.each(lambda path: _entry(root, path, experiments, tree), paths)
    return House(
        root,
        tree,
        tuple(experiments.values()),
        tuple(entry for entry in found if not entry.title),
        tuple(entry for entry in found if entry.title),
    )


def _entry(root: Path, path: Path, experiments: Mapping[str, Experiment], tree: Tree) -> Entry:
    """What a result file of a book holds."""
    shown = path.relative_to(root).as_posix()
    result = results.parse(path, shown)
    name, at, title = path.stem.partition("@")
    if result.experiment != name or result.experiment not in experiments:
        raise WeaveError(
            f'{shown}: $.run.experiment: found "{result.experiment}", expected "{name}",'
            " an experiment of the tree"
        )
    require_own_run(result, shown)
    machine, experiment = path.parents[1].name, experiments[name]
    if at:
        require_title(title, shown)
        return Entry(machine, experiment, result, {}, title)
    if pages.is_partial(result):
        command = " ".join(result.run["arguments"])
        raise WeaveError(f"{shown}: found a narrowed run ({command}), expected a complete one")
    return Entry(machine, experiment, result, _judge_all(machine, experiment, result, tree))


def require_own_run(result: Result, shown: str) -> None:
    """Refuses samples that were measured to be added to another run, which made the exact check."""
    if "--again" in result.run["arguments"]:
        raise WeaveError(f"{shown}: found samples for an earlier run (--again), expected a run")


def require_title(title: str, shown: str) -> None:
    """Checks the title of a kept run; `shown` is what the error speaks of."""
    if not TITLE.fullmatch(title):
        raise WeaveError(f'{shown}: found the title "{title}", expected words-with-hyphens')


def everything(house: House) -> Texts:
    """All woven texts of the repository."""
    return scorecard(house) | books(house, house.machines)


def books(house: House, machines: Sequence[str]) -> Texts:
    """The books of machines: in each its README, a page for each experiment and the figures."""
    texts = {}
    for machine in machines:
        _require_book(house, machine)
        texts[f"reports/{machine}/README.md"] = _machine_readme(house, machine)
    entries = [entry for machine in machines for entry in house.all_of(machine)]
    pages_of_entries = parallel.each(lambda entry: _page(house, entry), entries)
    for entry, page in zip(entries, pages_of_entries, strict=True):
        texts[entry.page] = page.text + _navigation(entry)
        for file, svg in page.figures.items():
            path = f"reports/{entry.machine}/{entry.figures}/{file}"
            if path in texts:
                raise WeaveError(f"{path}: drawn by two experiments, expected one")
            texts[path] = svg
    return texts


def _page(house: House, entry: Entry) -> pages.Page:
    return pages.weave(
        entry.result,
        entry.experiment,
        house.tree,
        figures=entry.figures,
        notes=house.root / f"reports/{entry.machine}/notes",
        kept=entry.title,
    )


def _require_book(house: House, machine: str) -> None:
    if machine not in house.machines:
        known = ", ".join(house.machines) or "none"
        raise WeaveError(
            f'no results of the machine "{machine}" below reports/, which has: {known}'
        )


def scorecard(house: House) -> Texts:
    """`reports/README.md` and the README of each experiment."""
    texts = {"reports/README.md": _scorecard(house)}
    for experiment in house.experiments:
        path = f"experiments/{experiment.name}/README.md"
        texts[path] = _experiment_readme(house, experiment)
    return texts


def weave_book(root: Path, machine: str) -> None:
    """Writes one machine's book and the pages that all machines share."""
    house = read(root)
    write(root, books(house, [machine]) | scorecard(house))


def weave_page(root: Path, result: Result, folder: Path) -> Path:
    """Writes the page of a single run into a folder and returns its file. No book is touched."""
    experiment = definition.load(root, result.experiment)
    woven = pages.weave(result, experiment, sources.read(root))
    figures = {f"figures/{name}": svg for name, svg in woven.figures.items()}
    write(folder, {f"{experiment.name}.md": woven.text} | figures)
    return folder / f"{experiment.name}.md"


def write(folder: Path, texts: Texts) -> None:
    """Writes woven texts; files that are already right are left alone."""
    for name, text in texts.items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def remove_obsolete(root: Path, texts: Texts) -> None:
    """Deletes pages and figures of books that nothing weaves any more."""
    for name in obsolete(root, texts):
        (root / name).unlink()


def obsolete(root: Path, texts: Texts) -> list[str]:
    """Woven files in the tree that `everything` does not contain."""
    found: list[Path] = []
    for folder in sorted((root / "reports").glob("*/results")):
        found += [*folder.parent.glob("*.md"), *folder.parent.glob("figures/**/*")]
    names = [path.relative_to(root).as_posix() for path in found if path.is_file()]
    return sorted(name for name in names if name not in texts)


def differences(root: Path, texts: Texts) -> list[str]:
    """What of the tree is not as it would be woven now, each as a readable diff."""
    found = []
    for name, text in texts.items():
        path = root / name
        if not path.exists():
            found.append(f"{name}: missing, expected it to be woven (`just report`)")
        elif (present := path.read_text(encoding="utf-8")) != text:
            found.append(f"{name}: differs from what is woven now\n{_diff(present, text)}")
    for name in obsolete(root, texts):
        found.append(f"{name}: found a file that nothing weaves")
    return found


def _diff(present: str, woven: str) -> str:
    lines = list(
        difflib.unified_diff(
            present.splitlines(), woven.splitlines(), "in the tree", "woven", "", "", 1, ""
        )
    )
    shown = [line[:160] for line in lines[:DIFF_LINES]]
    more = len(lines) - len(shown)
    return "\n".join([*shown, *([f"... {more} more lines"] if more > 0 else [])])


def _judge_all(machine: str, experiment: Experiment, result: Result,
               tree: Tree) -> dict[str, Verdict]:
    """The verdict of each claim, by its id."""
    measured = Measurements(result, experiment, tree)
    verdicts = {}
    for claim in experiment.claims:
        try:
            verdicts[claim.id] = claims.judge(measured, claim)
        except WeaveError as error:
            shown = f"experiments/{experiment.name}/experiment.toml"
            raise WeaveError(f'{shown}: claim "{claim.id}" on {machine}: {error}') from error
    return verdicts


def _link(from_file: str, to_file: str) -> str:
    """A relative link between two files of the repository."""
    here, there = PurePosixPath(from_file).parent.parts, PurePosixPath(to_file).parts
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([*[".."] * (len(here) - shared), *there[shared:]])


def _verdict_cell(from_file: str, entry: Entry, claim: Claim) -> str:
    verdict = entry.verdicts[claim.id]
    numbers = ", ".join(verdict.decided_by)
    link = f"[{verdict.verdict}]({_link(from_file, entry.page)}#{claim.anchor})"
    return f"{link} {numbers}".strip()


def _navigation(entry: Entry) -> str:
    about = _link(entry.page, f"experiments/{entry.experiment.name}/README.md")
    return (
        "\n---\n[All experiments on this machine](README.md) · [Scorecard](../README.md) ·"
        f" [About this experiment]({about})\n"
    )


def _machine_readme(house: House, machine: str) -> str:
    entries, everything = house.of_machine(machine), house.all_of(machine)
    latest = max(everything, key=lambda entry: (entry.result.run["utc"], entry.experiment.name))
    known = latest.result.raw["machine"]
    cpu = known["cpu"]
    processor = dict.fromkeys([cpu["architecture"], hardware.kind(cpu)])
    gpus = blocks.gpu_names(known)
    title = f"{cpu['model']} with {gpus}" if gpus else cpu["model"]
    compilers = dict.fromkeys(entry.result.raw["build"]["compiler"] for entry in everything)
    facts = [
        ("processor", f"{cpu['model']} ({', '.join(processor)})"),
        ("sockets, cores, threads", f"{cpu['sockets']}, {cpu['cores']}, {cpu['hardware_threads']}"),
        ("NUMA nodes", str(cpu["numa_nodes"])),
        ("caches", blocks.caches(known)),
        ("instruction sets", ", ".join(cpu["instruction_sets"]) or "none known"),
        ("frequency governor", cpu["governor"]),
        ("memory", formats.size(known["memory_bytes"])),
        ("GPUs", blocks.gpus(known) or "none"),
        ("virtual machine", "yes" if known["virtual"] else "no"),
        ("operating system", known["os"]),
        ("compiler", "; ".join(compilers)),
    ]
    head = ["experiment", "question", "date", "profile", *claims.VERDICTS]
    rows = [_experiment_row(entry) for entry in entries]
    parts = [
        f"{WOVEN}# {title}: `{machine}`",
        markdown(["what", "value"], [list(fact) for fact in facts], 2),
        "## Experiments",
        markdown(head, rows, 4) if rows else "No complete run yet.",
        *_kept_runs(everything[len(entries):]),
        *_harness(house.root / f"reports/{machine}/harness.json"),
        "[Scorecard of all machines](../README.md)",
    ]
    return "\n\n".join(parts) + "\n"


def _kept_runs(kept: Sequence[Entry]) -> list[str]:
    """The runs that `just keep` put into the book."""
    if not kept:
        return []
    head = ["kept run", "experiment", "narrowed by", "threads", "date", "rounds"]
    rows = []
    for entry in kept:
        run, launches = entry.result.run, entry.result.raw["launches"]
        threads = dict.fromkeys(str(launch["threads"]) for launch in launches)
        rows.append(
            [
                f"[{entry.title}]({PurePosixPath(entry.page).name})",
                entry.experiment.name,
                pages.narrowing_words(entry.result),
                ", ".join(threads),
                run["utc"][:10],
                str(run["rounds"]),
            ]
        )
    return [
        "## Kept runs",
        "Runs on other data or of chosen variants (`just keep`); no verdict rests on them.",
        markdown(head, rows, 5),
    ]


def _harness(record: Path) -> list[str]:
    """What `just check-harness` found on this machine, if it ran there."""
    if not record.exists():
        return []
    compared = json.loads(record.read_text(encoding="utf-8"))
    rows = [
        [
            f"`{kernel}`",
            formats.time(found["memwall_s"]),
            formats.time(found["google_benchmark_s"]),
            formats.factor(found["memwall_s"] / found["google_benchmark_s"]),
        ]
        for kernel, found in compared.items()
    ]
    return [
        "## The harness",
        "The same kernels timed with this harness and with Google Benchmark (`just check-harness`),"
        " medians:",
        markdown(["kernel", "memwall", "Google Benchmark", "ratio"], rows, 1),
    ]


def _experiment_row(entry: Entry) -> list[str]:
    experiment, run = entry.experiment, entry.result.run
    verdicts = [verdict.verdict for verdict in entry.verdicts.values()]
    counts = [str(verdicts.count(verdict) or "") for verdict in claims.VERDICTS]
    link = f"[{experiment.name}]({experiment.name}.md)"
    return [link, experiment.title, run["utc"][:10], run["profile"], *counts]


def _experiment_readme(house: House, experiment: Experiment) -> str:
    here = f"experiments/{experiment.name}/README.md"
    entries = house.of_experiment(experiment.name)
    article = f" It re-tells a part of article {experiment.article}." if experiment.article else ""
    needs = f" It needs {', '.join(experiment.needs)}." if experiment.needs else ""
    parts = [
        f"{WOVEN}# {experiment.title}",
        f"{experiment.question}{article}{needs}",
        f"```\njust run {experiment.name}\n```",
        "## Reports",
        _report_list(here, entries),
    ]
    if experiment.claims:
        parts += ["## Claims", _claims_table(here, [experiment], entries)]
    return "\n\n".join(parts) + "\n"


def _report_list(here: str, entries: Iterable[Entry]) -> str:
    lines = [
        f"- [{entry.machine}]({_link(here, entry.page)}):"
        f" {blocks.machine_summary(entry.result.raw['machine'])}"
        for entry in entries
    ]
    return "\n".join(lines) or "No machine has measured it yet: `just run-all` makes its book."


def _claims_table(here: str, experiments: Sequence[Experiment], entries: Sequence[Entry]) -> str:
    """Claims downwards, machines across."""
    machines = sorted({entry.machine for entry in entries})
    found = {(entry.experiment.name, entry.machine): entry for entry in entries}
    rows = []
    for experiment in experiments:
        for claim in experiment.claims:
            inferred = " (inferred)" if claim.inferred else ""
            cells = [found.get((experiment.name, machine)) for machine in machines]
            verdicts = [_verdict_cell(here, entry, claim) if entry else "" for entry in cells]
            rows.append([f"`{claim.id}`", claim.says + inferred, *verdicts])
    return markdown(["claim", "in our words", *machines], rows, 2 + len(machines))


def _scorecard(house: House) -> str:
    here = "reports/README.md"
    parts = [f"{WOVEN}# Scorecard: which claims hold where"]
    claiming = [experiment for experiment in house.experiments if experiment.claims]
    if claiming:
        table = _claims_table(here, claiming, house.entries)
        parts += [f"{LEGEND}\n\n{table}"]
    parts += ["## Machines", _machines_table(house)]
    figures = _figures_table(here, house)
    if figures:
        parts += ["## Figures", figures]
    return "\n\n".join(parts) + "\n"


LEGEND = (
    "Each verdict links to the numbers behind it; beside it stands what decided it: a speed-up,\n"
    "how many times less is needed, or the place of a crossover.\n"
    "REPRODUCED and NOT REPRODUCED rest on an interval that lies on one side of the threshold,\n"
    "INCONCLUSIVE on one that does not, even with three times the samples. NOT APPLICABLE: this\n"
    "machine or run lacks something that the claim needs. STALE: code or data changed since."
)


def _machines_table(house: House) -> str:
    rows = []
    for machine in house.machines:
        entries = house.all_of(machine)
        summary = blocks.machine_summary(entries[-1].result.raw["machine"])
        latest = max(entry.result.run["utc"] for entry in entries)
        complete = str(len(house.of_machine(machine)))
        rows.append([f"[{machine}]({machine}/README.md)", summary, complete, latest[:10]])
    if not rows:
        return "No machine has a book yet: `just run-all` makes the first."
    return markdown(["machine", "what it is", "experiments", "latest run"], rows, 2)


def _figures_table(here: str, house: House) -> str:
    rows = []
    for experiment in house.experiments:
        for figure in experiment.figures:
            links = [
                f"[{entry.machine}]({_link(here, entry.page)})"
                f" ([{figure.file}]({entry.machine}/figures/{figure.file}))"
                for entry in house.of_experiment(experiment.name)
                if figure.belongs_to(entry.result.cases)
            ]
            readme = f"[{experiment.name}](../experiments/{experiment.name}/README.md)"
            rows.append([f"`{figure.id}`", figure.caption, readme, ", ".join(links)])
    return markdown(["figure", "shows", "experiment", "reports and files"], rows, 4) if rows else ""

"""The short page of each machine: what it is, its ceilings, its verdicts, its runs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from memwall.analysis.ceilings import Ceiling
from memwall.pages import blocks
from memwall.pages.probes import words
from memwall.pages.scorecard import JOINED, WOVEN
from memwall.pages.survey import OnMachine, Survey, best_ceilings
from memwall.pages.tables import markdown
from memwall.record import escape, files, hardware, notation, results
from memwall.record.errors import UserError
from memwall.record.results import Json


def page(machine: str, found: Sequence[OnMachine], surveys: Sequence[Survey],
         folder: Path) -> str:
    """`reports/<machine>/README.md`: what it is, its ceilings, its verdicts, its runs."""
    latest = max(found, key=lambda one: one.result.run["utc"])
    known = latest.result.raw["machine"]
    title = ", ".join(filter(None, [known["cpu"]["model"], blocks.gpu_names(known)]))
    compilers = dict.fromkeys(one.result.raw["build"]["compiler"] for one in found)
    parts = [
        f"{WOVEN}# {machine}: {title}",
        markdown(["what", "value"], facts(known, compilers), 2),
        "## Ceilings",
        ceilings(found),
        "## Verdicts",
        _verdicts(machine, surveys),
        "## Runs",
        _runs(found),
        f"`just report {machine}` weaves its full pages into `build/reports/{machine}/`.",
        *_notes(folder / "notes"),
        *_harness(folder / "harness.json"),
        "[Scorecard of all machines](../README.md)",
    ]
    return "\n\n".join(parts) + "\n"


def facts(known: Json, compilers: Iterable[str]) -> list[list[str]]:
    """What a machine is, row by row of a table."""
    cpu = known["cpu"]
    processor = dict.fromkeys([cpu["architecture"], hardware.processor_kind(cpu)])
    return [
        ["processor", f"{cpu['model']} ({', '.join(processor)})"],
        ["sockets, cores, threads", f"{cpu['sockets']}, {cpu['cores']}, {cpu['hardware_threads']}"],
        ["caches", blocks.caches(known)],
        ["memory, NUMA nodes", f"{notation.size(known['memory_bytes'])}, {cpu['numa_nodes']}"],
        ["GPUs", blocks.gpus(known) or "none"],
        ["virtual machine", "yes" if known["virtual"] else "no"],
        ["operating system", known["os"]],
        ["compiler", "; ".join(compilers)],
    ]


def _rank(ceiling: Ceiling) -> tuple[int, float]:
    """What an older definition found counts only where nothing else is known."""
    return ceiling.definition, ceiling.rate.value


def ceilings(found: Sequence[OnMachine]) -> str:
    """The best that each probe reached in any run, in which, and what the makers promise."""
    best: dict[str, Any] = {}
    where: dict[str, str] = {}
    peaks: dict[str, Any] = {}
    for one in found:
        for name, ceiling in best_ceilings(one.measured).items():
            if name not in best or _rank(ceiling) > _rank(best[name]):
                best[name], where[name] = ceiling, f"`{one.result.run['id'][:8]}`"
        peaks |= one.measured.ceilings.peaks
    rows = []
    for name, ceiling in sorted(best.items(), key=lambda each: (not each[1].moves_bytes, each[0])):
        peak = peaks.get(f"peak:{name}")
        rate = f"{notation.significant(ceiling.rate.value / 1e9)}{JOINED}{ceiling.unit}"
        rows.append([words(name), f"`{name}`", rate, where[name],
                     f"{notation.significant(peak.rate.value / 1e9)}" if peak else "",
                     notation.percent(ceiling.rate.value / peak.rate.value).replace(" ", JOINED)
                     if peak else "",
                     peak.source if peak else ""])
    if not rows:
        return "Not measured yet: `just run machine-ceilings`."
    head = ["what", "probe", "measured", "in run", "nominal", "share",
            "source of the nominal peak"]
    if not any(row[-1] for row in rows):  # of older runs
        head, rows = head[:4], [row[:4] for row in rows]
    return ("Bandwidth of memory and of buses, and rates of arithmetic:\n\n"
            + markdown(head, rows, 2, prose=[3, 6])
            + "\n\n<sub>Every run measures its ceilings anew. A chapter uses those of its own run,"
            " so they may be lower than these.</sub>")


def _verdicts(machine: str, surveys: Sequence[Survey]) -> str:
    rows = []
    for survey in surveys:
        if machine not in survey.machines:
            continue
        words: dict[str, int] = {}
        for claim in survey.experiment.claims:
            verdict = survey.verdicts[claim.id][machine]
            if verdict.is_asked:
                words[verdict.word] = words.get(verdict.word, 0) + 1
        shown = [f"{count} {word}" for word, count in sorted(words.items())]
        rows.append([f"[{survey.experiment.name}](../../experiments/{survey.experiment.name}"
                     "/report.md)", ", ".join(shown) or "no claims"])
    return markdown(["report", "verdicts"], rows, 2) if rows else "No complete run yet."


def _runs(found: Sequence[OnMachine]) -> str:
    rows = []
    for one in found:
        run, floor = one.result.run, one.measured.noise
        rows.append([
            one.result.experiment + (f", kept as {one.title}" if one.title else ""),
            f"`{run['id'][:8]}`",
            run["utc"][:10],
            run["profile"],
            str(run["rounds"]),
            notation.percent(floor.factor - 1) if floor.pairs else "unknown",
            str(len(one.measured.stale_variants) or "–"),
        ])
    head = ["experiment", "run", "date", "profile", "rounds", "noise floor", "variants out of date"]
    return markdown(head, rows, 4)


def _notes(folder: Path) -> list[str]:
    names = sorted(path.name for path in folder.glob("*.md"))
    if not names:
        return []
    links = ", ".join(f"[{name.removesuffix('.md')}](notes/{name})" for name in names)
    return [f"Notes of those who measured: {links}."]


def _harness(record: Path) -> list[str]:
    """What `just check-harness` found on this machine, if it ran there."""
    if not record.exists():
        return []
    shown = f"reports/{record.parent.name}/{record.name}"
    try:
        compared = escape.sealed(results.decode(files.read(record, shown), shown))
        results.check_numbers(compared, shown)
        ratios = [notation.factor(found["memwall_s"] / found["google_benchmark_s"])
                  for found in compared.values()]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise UserError(f"{shown}: found {type(error).__name__}: {error}, expected what"
                         " `just check-harness` writes") from error
    kernels = notation.listed([f"`{kernel}`" for kernel in compared])
    return [f"The same kernels timed here with this harness and with Google Benchmark"
            f" (`just check-harness`), ratio of the medians for {kernels}:"
            f" {notation.listed(ratios)}."]

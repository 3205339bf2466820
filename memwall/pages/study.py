"""The page of a study: one HTML file that needs no other, in the look of this repository."""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from memwall.figures import study as figures
from memwall.figures.sheet import INK
from memwall.record import escape as sealing
from memwall.record import files, notation, studies
from memwall.record.errors import UserError
from memwall.record.studies import (
    YOURS,
    AtPoint,
    Conversion,
    ProductCase,
    Ranking,
    Study,
    StudyMachine,
    StudyRun,
    TriedKernel,
)

#: So many products tell nothing any more.
NEVER = "never"
PRECISIONS = {"fp32": "single precision", "fp64": "double precision"}


def _style() -> str:
    names = {"panel", "ink", "muted", "grid", "alike"}
    light, dark = ("; ".join(f"--{name}: {pair[i]}" for name, pair in INK.items() if name in names)
                   for i in (0, 1))
    return f"""
:root {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ background: var(--panel); color: var(--ink); margin: 0 auto; padding: 16px;
  max-width: 1012px; font: 16px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }}
h1, h2 {{ line-height: 1.25; }}
h2 {{ border-bottom: 1px solid var(--grid); padding-bottom: 4px; margin-top: 40px; }}
figure {{ margin: 16px 0; }}
figure img {{ max-width: 100%; height: auto; display: block; }}
figcaption, .muted {{ color: var(--muted); font-size: 14px; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: 14px; margin: 8px 0; }}
th, td {{ border: 1px solid var(--grid); padding: 3px 9px; text-align: right; }}
th:first-child, td:first-child {{ text-align: left; }}
td.words, th.words {{ text-align: left; }}
th {{ background: var(--alike); }}
code {{ font: 13px "DejaVu Sans Mono", monospace; }}
pre {{ overflow-x: auto; background: var(--alike); padding: 10px; }}
summary {{ cursor: pointer; margin: 8px 0; }}
"""


def draw(file: Path) -> Path:
    """Draws the page of what a study or a trial wrote, beside it. Raises `UserError` for another
    file."""
    told = studies.read(file)
    try:
        page = kernel_page(told) if isinstance(told, TriedKernel) else study_page(told)
    except (ValueError, LookupError, ArithmeticError) as error:
        raise UserError(f"{file}: found {type(error).__name__}: {error}, expected numbers as this"
                         " version writes them") from error
    drawn = file.with_name("index.html")
    files.write(drawn, page)
    return drawn


def study_page(study: Study) -> str:
    """The page of one matrix."""
    study = sealing.sealed(study)  # it may come from anywhere
    f = study.features
    parts = [
        f"<p class=muted>{escape(study.file)} on {escape(_machine(study.machine))}</p>",
        "<h2>In short</h2>", _list(in_short(study)),
        "<h2>Structure</h2>", _structure(study),
        "<h2>What each format stores</h2>", _formats(study),
        "<h2>How fast, against the bound</h2>", *_rankings(study),
        "<h2>What the plan chose</h2>", _plans(study),
        "<h2>Ranks: what partitions cost</h2>", *_partitions(study),
        "<h2>Runs</h2>", *_runs(study),
    ]
    title = (f"{study.name}: {notation.count(f.rows)} rows,"
             f" {notation.count(f.nnz)} nonzeros")
    return document(title, parts)


def kernel_page(tried: TriedKernel) -> str:
    """The page of somebody's own product: its places, a figure for each matrix, and its text."""
    tried = replace(sealing.sealed(tried), source=sealing.listing(tried.source))
    places = [_place(ranking) for ranking in tried.rankings]
    parts = [
        f"<p class=muted>Among the variants of {tried.experiment}, in the same rounds, on"
        f" {escape(_machine(tried.machine))}</p>",
        "<h2>In short</h2>", _list([*_busy(tried.runs), *places]),
        "<h2>How fast, against the bound</h2>",
        *(part for ranking in tried.rankings for part in ranking_parts(ranking)),
        "<h2>The file</h2>", f"<pre><code>{escape(tried.source)}</code></pre>",
        "<h2>Runs</h2>", *_runs(tried),
    ]
    return document(f"{tried.file}: your kernel among ours", parts)


def _place(ranking: Ranking) -> str:
    """The place of `yours` at its best point."""
    mine = [case for case in ranking.timed if case.variant == YOURS]
    if not mine:
        return f"{escape(ranking.title)}: <code>yours</code> was not timed."
    best = min(mine, key=lambda case: case.time)
    return f"{escape(ranking.title)}: {ranking.place(best)} on {_where(best)}, {best.speed}."


def document(title: str, parts: Sequence[str]) -> str:
    """A whole page, in which text of strangers stands as text."""
    body = "\n".join([f"<h1>{escape(title)}</h1>", *parts])
    return sealing.html(
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title>\n<style>{_style()}</style>\n</head>\n<body>\n"
        f"{body}\n</body>\n</html>\n")


# --- sections -------------------------------------------------------------------------------------


def in_short(study: Study) -> list[str]:
    """The answers, each a sentence of HTML."""
    said = _busy(study.runs)
    for plan in (p for p in study.plans if p.variant in ("plan", "auto")):
        csr = next((c.speed_over_csr for c in study.formats
                    if c.variant == plan.variant and c.point == plan.point), None)
        chose = re.split("[:;,]", plan.explain)[0]
        over = f", {notation.factor(csr)} times the speed of CSR" if csr else ""
        said.append(f"In {PRECISIONS.get(plan.precision, plan.precision)} on {_where(plan)}"
                    f" the plan takes <code>{escape(chose)}</code>{over}.")
    stored = [c for c in study.formats if c.stored_bytes and c.nonzero_bytes]
    if stored:
        small = min(stored, key=lambda c: c.nonzero_bytes)
        said.append(f"The smallest format is <code>{small.variant}</code> in"
                    f" {PRECISIONS.get(small.precision, small.precision)}, with"
                    f" {notation.significant(small.nonzero_bytes)} bytes a nonzero.")
    fastest = _fastest(study)
    if fastest:
        said.append(f"The fastest of all is <code>{fastest.variant}</code> on {_where(fastest)}:"
                    f" {fastest.speed}.")
    eight = [p for p in study.partitions if p.ranks == 8]
    if eight:
        best = min(eight, key=lambda p: p.ghosts)
        said.append(f"For 8 ranks the partition that sends least is {figures.WAYS[best.way]}:"
                    f" {notation.count(best.ghosts)} elements of x travel for a product, and the"
                    f" busiest rank has {notation.factor(best.imbalance)} times the mean work.")
    return said


def _busy(runs: Sequence[StudyRun]) -> list[str]:
    return [f"<strong>{escape(words)}</strong>" for words in studies.busy(runs)]


def _fastest(study: Study) -> ProductCase | None:
    timed = [case for ranking in study.rankings for case in ranking.timed]
    return min(timed, key=lambda case: case.time, default=None)


def _structure(study: Study) -> str:
    f, anatomy = study.features, study.anatomy
    rows = [
        ("file", f"{f.kind}, {notation.count(f.entries)} entries"),
        ("rows, columns", f"{notation.count(f.rows)}, {notation.count(f.cols)}"),
        ("nonzeros", notation.count(f.nnz)),
        ("row length", f"mean {notation.significant(f.mean_row)}, longest"
                       f" {notation.count(f.max_row)}, standard deviation"
                       f" {notation.significant(f.std_row)}"),
        ("empty rows", notation.count(f.empty_rows)),
        ("runs of consecutive columns", f"{notation.count(f.nzseg)},"
                                        f" {notation.significant(f.nzseg_per_nnz)} a nonzero"),
        ("bandwidth", f"{notation.count(anatomy.lower_bandwidth)} below the diagonal,"
                      f" {notation.count(anatomy.upper_bandwidth)} above"),
    ]
    picture = _figure(figures.structure(anatomy),
                      "A bar stands for the sizes from its number to just below the next.")
    return picture + table(["what", "value"], [[a, b] for a, b in rows], words=(1,))


def _formats(study: Study) -> str:
    """A table for each precision, of the host and of a GPU: bytes once, time and products for each
    number of threads."""
    parts = []
    found = [c for c in study.formats if c.variant != "plan_untimed"]
    for precision, on_gpu in sorted({(c.precision, c.target != "host") for c in found}):
        of = [c for c in found
              if c.precision == precision and (c.target != "host") == on_gpu]
        places = sorted({(c.target, c.threads) for c in of})
        head = [precision, "bytes a nonzero"]
        for target, threads in places:
            name = studies.panel_title(target, threads)
            head += [f"over CSR, {name}", f"conversion, {name}", f"pays after, {name}"]
        names = sorted({c.variant for c in of},
                       key=lambda n: (min(c.nonzero_bytes for c in of if c.variant == n), n))
        rows = [_format_row(name, of, places) for name in names]
        parts.append(table(head, rows))
    why = [s for s in study.skipped if s.group == "format"]
    reasons = _list([f"<code>{escape(s.variant)}</code>: {escape(s.reason)}" for s in why])
    note = ("<p class=muted>Bytes of the matrix alone. <em>Pays after</em>: products until the"
            " conversion has paid, compared with CSR; medians.</p>")
    return note + "".join(parts) + (f"<p>Not possible here:</p>{reasons}" if why else "")


def _format_row(name: str, of: Sequence[Conversion],
                places: Sequence[tuple[str, int]]) -> list[str]:
    cells = [f"<code>{name}</code>"]
    mine = {(c.target, c.threads): c for c in of if c.variant == name}
    sizes = dict.fromkeys(notation.significant(c.nonzero_bytes) for c in mine.values())
    cells.append(" or ".join(sizes))
    for place in places:
        case = mine.get(place)
        if case is None:
            cells += ["not possible"] + 2 * ["–"]
            continue
        speed = case.speed_over_csr
        cells += [notation.times(speed) if speed else "no CSR here",
                  notation.time(case.setup_seconds), _products(case, speed)]
    return cells


def _products(case: Conversion, speed: float | None) -> str:
    if speed is None:
        return "–"
    count = case.products_until_paid
    return NEVER if count is None else notation.count(count)


def _rankings(study: Study) -> list[str]:
    parts = []
    if any(c.cache == "warm" for r in study.rankings for c in r.cases):
        parts.append("<p class=muted>The caches may hold this matrix: products follow one another"
                     " as they do in a solver. The bound is that of memory, so shares above 100 %"
                     " mean that caches are faster than memory.</p>")
    for ranking in study.rankings:
        parts += ranking_parts(ranking)
    return parts


def ranking_parts(ranking: Ranking) -> list[str]:
    """The figure of one program, the numbers folded below it."""
    title, cases = ranking.title, ranking.cases
    if not cases:
        return [f"<p>{escape(title)}: nothing was measured.</p>"]
    failed = [f"<code>{escape(c.variant)}</code> on {_where(c)} <strong>failed</strong>:"
              f" {escape(c.reason)}" for c in cases if c.verdict == "failed"]
    rows = [[f"<code>{escape(c.variant)}</code>", escape(c.group), _where(c), c.precision,
             notation.time(c.seconds), c.share]
            for c in sorted(cases, key=lambda c: (c.point, c.seconds or 0))
            if c.seconds is not None]
    numbers = table(["variant", "group", "where", "precision", "a product", "of the bound"], rows,
                    words=(1, 2))
    return [_figure(figures.ranking(cases, title), f"{title}: share of the memory bound,"
                    " fastest first."),
            _list(failed), folded("All times", numbers)]


def _plans(study: Study) -> str:
    rows = [[f"<code>{plan.variant}</code>", _where(plan), plan.precision,
             escape(plan.explain),
             f"<code>{plan.best_format}</code>" if plan.best_format else "–",
             notation.times(plan.speed_over_best_format)
             if plan.speed_over_best_format else "–"] for plan in study.plans]
    return table(["", "where", "precision", "what and why", "best format here",
                  "speed of the plan over it"], rows, words=(1, 2, 3, 4))


def _partitions(study: Study) -> list[str]:
    found = study.partitions
    if not found:
        return ["<p>One row cannot be shared.</p>"]
    imbalance = figures.partitions(found, lambda p: p.imbalance,
                                   "nonzeros of the busiest rank over the mean", "Imbalance")
    ghosts = figures.partitions(found, lambda p: p.ghosts,
                                "elements of x that travel for a product",
                                "Elements of x that travel")
    rows = [[figures.WAYS[p.way], str(p.ranks), notation.factor(p.imbalance),
             *map(notation.count, (p.ghosts, p.most_ghosts, p.messages, p.most_messages,
                                   p.idle_ranks))]
            for p in sorted(found, key=lambda p: (p.ranks, p.way))]
    head = ["way", "ranks", "imbalance", "elements that travel", "to the busiest", "messages",
            "to the busiest", "idle ranks"]
    graph = study.graph
    missing = (f"<p>No graph partition: {escape(graph.missing)}.</p>" if graph.missing
               else f"<p class=muted>Graph partitions by {escape(graph.partitioner)}.</p>")
    shown = [row for row in rows if row[1] in ("8", "128")]
    return [_figure(imbalance, "Work of the busiest rank over the mean: 1 is perfect."),
            _figure(ghosts, "What has to travel before a product, all ranks together."),
            table(head, shown) if shown else "", missing,
            folded("All partitions", table(head, rows))]


def _runs(study: Study | TriedKernel) -> list[str]:
    rows = []
    for run in study.runs:
        rates = [f"{notation.significant(c.rate / 1e9)} {c.unit} ({c.threads} thread"
                 f"{'s' * (c.threads > 1)})" for c in run.ceilings]
        floor = run.noise_floor
        rows.append([f"<code>{run.experiment}</code>", run.utc[:10], str(run.rounds),
                     notation.percent(floor) if floor is not None else "unknown",
                     ", ".join(rates) or "none"])
    return [table(["program", "date", "rounds", "noise floor", "ceiling"], rows, words=(4,)),
            "<p class=muted>Every variant was verified before it was timed, with integers and with"
            " reals. A difference below the noise floor means nothing. Why formats and loops differ"
            " is told in the chapters of this repository.</p>"]


# --- pieces ---------------------------------------------------------------------------------------


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: Sequence[int] = ()) -> str:
    """A table; the columns of `words` are aligned to the left. Cells are HTML."""
    def cells(tag: str, row: Sequence[str], of: Callable[[str], str]) -> str:
        return "".join(f"<{tag}{' class=words' * (i in words)}>{of(cell)}</{tag}>"
                       for i, cell in enumerate(row))
    lines = [f"<tr>{cells('td', row, str)}</tr>" for row in rows]
    return (f"<div class=scroll><table>\n<thead><tr>{cells('th', head, escape)}</tr></thead>\n"
            f"<tbody>\n{chr(10).join(lines)}\n</tbody></table></div>\n")


def folded(title: str, inside: str) -> str:
    """Something that a click opens."""
    return f"<details><summary>{escape(title)}</summary>\n{inside}</details>\n"


def _list(items: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>\n" if items else ""


def _figure(svg: str, caption: str) -> str:
    """An image of its own: the styles of one figure must not reach another."""
    source = base64.b64encode(svg.encode()).decode()
    return (f'<figure><img src="data:image/svg+xml;base64,{source}" alt="{escape(caption)}">'
            f"<figcaption>{escape(caption)}</figcaption></figure>\n")


def _where(case: AtPoint) -> str:
    return case.where.replace("GPU", "the GPU")


def _machine(machine: StudyMachine) -> str:
    gpus = f", {', '.join(machine.gpus)}" if machine.gpus else ""
    return f"{machine.processor}{gpus}, {machine.hardware_threads} hardware threads"

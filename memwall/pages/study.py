"""The page of a study: one HTML file that needs no other, in the look of this repository."""

import base64
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from memwall.figures import study as figures
from memwall.figures.sheet import INK
from memwall.pages.html import HTML
from memwall.record import escape, files, notation, studies
from memwall.record.errors import UserError
from memwall.record.studies import (
    YOURS,
    Conversion,
    Partition,
    PlanChoice,
    ProductCase,
    Ranking,
    Study,
    TriedKernel,
)

#: So many products tell nothing any more.
NEVER = "never"
PRECISIONS = {"fp32": "single precision", "fp64": "double precision"}
#: A table of formats: its head, and its rows.
FormatTable = tuple[list[str], list[list[str]]]


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
    study = escape.shown(study)  # it may come from anywhere
    rankings = study.rankings
    return _page(
        "study.html.j2",
        study=study,
        precisions=PRECISIONS,
        ways=figures.WAYS,
        warnings=studies.busy(study.runs),
        choices=list(_choices(study)),
        smallest=_smallest(study.formats),
        fastest=_fastest(case for ranking in rankings for case in ranking.timed),
        least_sent=_least_sent(study.partitions),
        structure=_picture(figures.structure(study.anatomy)),
        formats=list(_format_tables(study)),
        is_warm=any(case.cache == "warm" for ranking in rankings for case in ranking.cases),
        rankings=_pictured(rankings),
        partitions=sorted(study.partitions, key=lambda p: (p.ranks, p.way)),
        pictures=_pictures(study.partitions),
    )


def kernel_page(tried: TriedKernel) -> str:
    """The page of somebody's own product: its places, a figure for each matrix, and its text."""
    tried = replace(escape.shown(tried), source=escape.listing(tried.source))
    return _page("try.html.j2", tried=tried, yours=YOURS, warnings=studies.busy(tried.runs),
                 rankings=_pictured(tried.rankings))


def _page(template: str, **told: object) -> str:
    names = {"panel", "ink", "muted", "grid", "alike"}
    light, dark = ("; ".join(f"--{name}: {pair[i]}" for name, pair in INK.items() if name in names)
                   for i in (0, 1))
    return HTML.get_template(template).render(light=light, dark=dark, notation=notation,
                                              **told)


def _picture(svg: str) -> str:
    """An image of its own: the styles of one figure must not reach another."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _pictured(rankings: Iterable[Ranking]) -> list[tuple[Ranking, str]]:
    """Each with its figure, or none where nothing was measured."""
    return [(one, _picture(figures.ranking(one.cases, one.title)) if one.cases else "")
            for one in rankings]


def _pictures(partitions: Sequence[Partition]) -> dict[str, str]:
    """What partitions cost, over the ranks; none of no partitions."""
    if not partitions:
        return {}
    imbalance = figures.partitions(partitions, lambda p: p.imbalance,
                                   "nonzeros of the busiest rank over the mean", "Imbalance")
    ghosts = figures.partitions(partitions, lambda p: p.ghosts,
                                "elements of x that travel for a product",
                                "Elements of x that travel")
    return {"imbalance": _picture(imbalance), "ghosts": _picture(ghosts)}


# --- what is told in short ------------------------------------------------------------------------


def _choices(study: Study) -> Iterator[tuple[PlanChoice, float | None]]:
    """What plans took, and how many times as fast as CSR that is."""
    speeds = {(c.variant, c.point): c.speed_over_csr for c in reversed(study.formats)}
    for plan in study.plans:
        if plan.variant in ("plan", "auto"):
            yield plan, speeds.get((plan.variant, plan.point))


def _smallest(formats: Iterable[Conversion]) -> Conversion | None:
    stored = [each for each in formats if each.stored_bytes and each.nonzero_bytes]
    return min(stored, key=lambda each: each.nonzero_bytes, default=None)


def _fastest(timed: Iterable[ProductCase]) -> ProductCase | None:
    return min(timed, key=lambda case: case.time, default=None)


def _least_sent(partitions: Iterable[Partition]) -> Partition | None:
    """Of those for 8 ranks."""
    return min((p for p in partitions if p.ranks == 8), key=lambda p: p.ghosts, default=None)


# --- tables of formats ----------------------------------------------------------------------------


def _format_tables(study: Study) -> Iterator[FormatTable]:
    """One for each precision, of the host and of a GPU: bytes once, time and products for each
    number of threads."""
    found = [c for c in study.formats if c.variant != "plan_untimed"]
    for precision, on_gpu in sorted({(c.precision, c.target != "host") for c in found}):
        of = [c for c in found if c.precision == precision and (c.target != "host") == on_gpu]
        places = sorted({(c.target, c.threads) for c in of})
        head = [precision, "bytes a nonzero"]
        for target, threads in places:
            name = studies.panel_title(target, threads)
            head += [f"over CSR, {name}", f"conversion, {name}", f"pays after, {name}"]
        names = sorted({c.variant for c in of},
                       key=lambda n: (min(c.nonzero_bytes for c in of if c.variant == n), n))
        yield head, [_format_row(name, of, places) for name in names]


def _format_row(name: str, of: Sequence[Conversion],
                places: Sequence[tuple[str, int]]) -> list[str]:
    mine = {(c.target, c.threads): c for c in of if c.variant == name}
    sizes = dict.fromkeys(notation.significant(c.nonzero_bytes) for c in mine.values())
    cells = [name, " or ".join(sizes)]
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

"""One page: a template, a result and the verbs become Markdown and figures."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path

import jinja2

from weave import results
from weave.definition import Experiment
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Result
from weave.sources import Tree
from weave.verbs import Verbs

TEMPLATE_FRAME = "<template>"
HEADER = (
    "<!-- Woven from experiments/{name}/report.md.in and results/{result}. Do not edit: change"
    " the template, then `just report`. -->\n"
)
#: Options with more values, or longer ones, are named without them.
MOST_VALUES = 3
MOST_LETTERS = 40


@dataclass(frozen=True)
class Page:
    """A woven report and the figures it shows, by file name."""

    text: str
    figures: dict[str, str]


def narrowing(result: Result) -> list[tuple[str, ...]]:
    """The options of a run that narrow it, a filter or values of an axis, each with its values."""
    axes = {name for case in result.cases for name in case.parameters}
    axes |= {name for entry in result.raw["skipped"] for name in results.parameters(entry)}
    names = {"--filter", *(f"--{axis}" for axis in axes)}
    options = (_split(option) for option in results.options(result.run["arguments"]))
    return [option for option in options if option[0] in names]


def is_partial(result: Result) -> bool:
    """Whether a run was narrowed on its command line."""
    return bool(narrowing(result))


def narrowing_words(result: Result) -> str:
    """What narrowed a run, in short: `--matrix` (38 values), `--filter csrl`."""
    return ", ".join(_option_words(*option) for option in narrowing(result)) or "nothing"


def _split(option: tuple[str, ...]) -> tuple[str, ...]:
    """`--name=value` as two words."""
    name, equals, value = option[0].partition("=")
    return (name, *([value] if equals else []), *option[1:])


def _option_words(name: str, *values: str) -> str:
    text = " ".join([name, *values])
    if len(values) > MOST_VALUES:
        return f"`{name}` ({len(values)} values)"
    return f"`{text}`" if len(text) <= MOST_LETTERS else f"`{name}`"


def weave(
    result: Result,
    experiment: Experiment,
    tree: Tree,
    *,
    figures: str = "figures",
    notes: Path | None = None,
    kept: str = "",
) -> Page:
    """Weaves one result. `figures` is the figures' folder as the page sees it.

    `kept` is the title of a run that was kept beside the complete ones.
    """
    measured = Measurements(result, experiment, tree, partial=bool(kept) or is_partial(result))
    if miscounted := measured.beyond_ceiling():
        raise WeaveError(miscounted)
    verbs = Verbs(measured, figures, notes)
    shown = f"experiments/{experiment.name}/report.md.in"
    body = render(experiment.folder / "report.md.in", shown, verbs)
    due = [figure for figure in experiment.figures if figure.belongs_to(result.cases)]
    missing = [figure.id for figure in due if figure.file not in verbs.plot.drawn]
    if missing and not (measured.may_lack or verbs.new_code):
        raise WeaveError(f'{shown}: the figure "{missing[0]}" of experiment.toml is not drawn')
    file = result_file(experiment.name, kept)
    text = HEADER.format(name=experiment.name, result=file) + _with_banner(body, measured, kept)
    return Page(text, verbs.plot.drawn)


def result_file(experiment: str, kept: str = "") -> str:
    """The name of a result in a book."""
    return f"{experiment}@{kept}.json" if kept else f"{experiment}.json"


def render(path: Path, shown: str, verbs: Verbs) -> str:
    """The text of a template; errors name its line."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, lstrip_blocks=True)
    try:
        source = path.read_text(encoding="utf-8")
        text = environment.from_string(source, globals=verbs.all()).render()
    except OSError as error:
        raise WeaveError(f"{shown}: cannot be read: {error.strerror}") from error
    except jinja2.TemplateSyntaxError as error:
        raise WeaveError(f"{shown}:{error.lineno}: {error.message}") from error
    except (WeaveError, jinja2.UndefinedError, TypeError) as error:
        raise WeaveError(f"{shown}:{_template_line(error)}: {_one_line(error)}") from error
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _template_line(error: Exception) -> int:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == TEMPLATE_FRAME]
    return lines[-1] or 0 if lines else 0


def _one_line(error: Exception) -> str:
    """A wrong call reads `table() got ...`, without the class it belongs to."""
    return str(error).replace("\n", " ").replace("Verbs.", "").replace("Plot.", "plot.")


def _with_banner(body: str, measured: Measurements, kept: str) -> str:
    """Tells above the text that it is of a kept run, and that some of it is out of date."""
    banners = []
    if kept:
        narrowed = narrowing_words(measured.result)
        banners.append(
            f"> **{kept}**: a kept run, narrowed by {narrowed}; the scorecard does not count it.\n"
        )
    if measured.stale_variants:
        names = ", ".join(f"`{name}`" for name in measured.stale_variants)
        banners.append(f"> **STALE**: {names} changed since this run; their numbers are marked.\n")
    if not banners:
        return body
    banner = "\n".join(banners)
    title, _, rest = body.partition("\n")
    return f"{title}\n\n{banner}{rest}" if title.startswith("# ") else f"{banner}\n{body}"

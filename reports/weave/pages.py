"""One page: a template, a result and the verbs become Markdown and figures."""

import re
import traceback
from dataclasses import dataclass
from pathlib import Path

import jinja2

from weave.definition import Experiment
from weave.errors import WeaveError
from weave.measurements import Measurements
from weave.results import Result
from weave.sources import Tree
from weave.verbs import Verbs

TEMPLATE_FRAME = "<template>"
HEADER = (
    "<!-- Woven from experiments/{name}/report.md.in and results/{name}.json. Do not edit: change"
    " the template, then `just report`. -->\n"
)


@dataclass(frozen=True)
class Page:
    """A woven report and the figures it shows, by file name."""

    text: str
    figures: dict[str, str]


def is_partial(result: Result) -> bool:
    """Whether a run was narrowed on its command line: a filter, or values of an axis."""
    axes = {name for case in result.cases for name in case.parameters}
    axes |= {name for entry in result.raw["skipped"] for name in entry["parameters"]}
    options = {word.split("=")[0] for word in result.run["arguments"] if word.startswith("--")}
    return bool(options & {"--filter", *(f"--{axis}" for axis in axes)})


def weave(
    result: Result,
    experiment: Experiment,
    tree: Tree,
    *,
    figures: str = "figures",
    notes: Path | None = None,
) -> Page:
    """Weaves one result. `figures` is the figures' folder as the page sees it."""
    measured = Measurements(result, experiment, tree, partial=is_partial(result))
    measured.check_ceilings()
    verbs = Verbs(measured, figures, notes)
    shown = f"experiments/{experiment.name}/report.md.in"
    body = render(experiment.folder / "report.md.in", shown, verbs)
    missing = [f.id for f in experiment.figures if f.file not in verbs.plot.drawn]
    if missing and not (measured.may_lack or verbs.new_code):
        raise WeaveError(f'{shown}: the figure "{missing[0]}" of experiment.toml is not drawn')
    text = HEADER.format(name=experiment.name) + _with_banner(body, measured)
    return Page(text, verbs.plot.drawn)


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


def _with_banner(body: str, measured: Measurements) -> str:
    """Tells above the text that some of it is out of date."""
    if not measured.stale_variants:
        return body
    names = ", ".join(f"`{name}`" for name in measured.stale_variants)
    banner = f"> **STALE**: {names} changed since this run; their numbers are marked.\n"
    title, _, rest = body.partition("\n")
    return f"{title}\n\n{banner}{rest}" if title.startswith("# ") else f"{banner}\n{body}"

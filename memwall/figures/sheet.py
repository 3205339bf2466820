"""From a specification to a figure: colours of both themes, steady bytes, a text for those who
listen; and a sheet to draw on what is no chart.

A figure is 1,012 pixels wide, as wide as a repository page shows it. Charts are Vega-Lite
specifications, made with Altair and rendered by vl-convert. Its text is text, in a family that most
systems have with the same widths (Liberation Sans, Arial, Helvetica); others squeeze or stretch
theirs to these widths.

Everything is drawn in light colours; a style sheet in the file says what each is on a dark page. A
viewer that knows no style sheets shows the light figure.
"""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape, unescape
from typing import Any

import altair as alt
from altair.utils import schemapi

from memwall.figures.render import rendered
from memwall.record.escape import opened

alt.data_transformers.consolidate_datasets = False
schemapi.disable_debug_mode()  # tests look at whole specifications; each part by itself takes long

# name: (light, dark). The light colours are unique: they are how a dark one is found.
INK = {
    "panel": ("#fffffe", "#0d1117"),
    "ink": ("#1f2328", "#e6edf3"),
    "muted": ("#59636e", "#9198a1"),
    "grid": ("#d8dee4", "#2b323b"),
    "limit": ("#b3202c", "#ff7b72"),
    "alike": ("#e8ecf0", "#252c35"),
    "holds": ("#daefe0", "#173a26"),
}

# Told apart with every common kind of colour blindness, and from the panel in both themes.
SERIES = (
    ("#0060a8", "#58a6ff"),
    ("#d1600a", "#ff9a4d"),
    ("#00805c", "#3fca9a"),
    ("#a8438a", "#e792cb"),
    ("#4f9fd0", "#a5dcff"),
    ("#b98600", "#f2c94c"),
    ("#5c5aa6", "#b1adf5"),
    ("#747b83", "#b6bdc5"),
)

#: What a colour says, the same in every figure. The first two often stand together.
ROLES = {
    "fp32": ("#cf5e0b", "#ff9b4e"),
    "fp64": ("#0061a9", "#59a7ff"),
    "fp16": ("#00825e", "#41cb9b"),
    "bf16": ("#a9458b", "#e894cd"),
    "ours": ("#007a63", "#3ecb9b"),
    "library": ("#a7428b", "#e693cc"),
    "reference": ("#757c84", "#b5bcc4"),
    "muted": INK["muted"],
}
#: The role of a group of variants, as experiments name them.
ROLE_OF_GROUP = {"peer": "library", "reference": "reference"}
#: Every light colour, and what it is on a dark page.
DARK = dict([*INK.values(), *SERIES, *ROLES.values()])

WIDTH = 1012  # pixels
FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
HEAD, BODY, SMALL, TINY = 15.0, 13.0, 12.0, 11.0  # sizes of text in pixels; none is smaller
MARGIN = 8.0
ROUNDED = re.compile(r' (?:d|transform|x|y|[xy][12]|width|height|points)="[^"]*"')
COLOUR = re.compile(r' (fill|stroke)="(#[0-9a-f]{6})"')


def ink(name: str) -> str:
    """The light colour that stands for a role."""
    return INK[name][0]


def series_colour(slot: int) -> str:
    """The light colour of a series; slots beyond the palette begin again."""
    return SERIES[slot % len(SERIES)][0]


def role_colour(name: str) -> str:
    """The light colour of what is drawn: `fp32`, `fp64`, `ours`, `library`, `reference`, `muted`,
    or `yours`, which stands out by being grey.

    Further precisions and other names are ours.
    """
    return ROLES.get("muted" if name == "yours" else name, ROLES["ours"])[0]


# --- charts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """A figure as files: the picture, and the specification it was made from, if there is one."""

    svg: str
    spec: str = ""

    def of(self, machine: str) -> "Drawn":
        """The same, and whose numbers they are."""
        head = json.dumps({"usermeta": {"machine": opened(machine)}}, separators=(",", ":"))
        return Drawn(self.svg, f"{head[:-1]},{self.spec[1:]}" if self.spec else "")

    def files(self, name: str) -> dict[str, str]:
        """Both by their names beside `name`, which ends in `.svg`."""
        specification = {name.removesuffix("svg") + "vl.json": self.spec} if self.spec else {}
        return {name: self.svg} | specification


@dataclass(frozen=True)
class Rows:
    """Data of a chart. Altair copies lists each time that it copies a chart, and this never."""

    rows: Sequence[dict[str, Any]]


View = dict[str, Any]  # a part of a specification
#: What Altair calls the data of a chart that has those of its parent.
NO_DATA: tuple[Any, ...] = ({"name": "empty"}, {"values": [{}]})


def view(chart: Any) -> View:
    """An Altair chart as a part of a specification."""
    told: View = chart if isinstance(chart, dict) else chart.to_dict(validate=False)
    return {key: value for key, value in told.items()
            if key not in ("$schema", "config") and value not in NO_DATA}


def layered(*layers: Any, **more: Any) -> View:
    """Charts and views over each other. Altair's own layers copy each of their parts many times."""
    return {"layer": [view(layer) for layer in layers], **more}


def chart(drawn: View, question: str, notes: Sequence[str] = (),
          left: float = 0) -> Drawn:
    """A view, or several beside each other, below its question, and below that what its lines and
    colours mean; `left` are the pixels that names beside it take."""
    title = alt.TitleParams(wrapped(question, WIDTH - 2 * MARGIN, HEAD),
                            subtitle=wrapped(" ".join(notes), WIDTH - 2 * MARGIN, SMALL),
                            dx=-left, offset=12, fontSize=HEAD, lineHeight=line_height(HEAD),
                            subtitleFontSize=SMALL, subtitleColor=ink("muted"),
                            subtitlePadding=5, subtitleLineHeight=line_height(SMALL))
    spec = _plain({"$schema": alt.SCHEMA_URL, **drawn, "title": title.to_dict(validate=False),
                   "config": _config(), "background": ink("panel"), "padding": MARGIN})
    return Drawn(saved(json.dumps(spec), question, " ".join(notes)),
                 json.dumps(spec, ensure_ascii=False, separators=(",", ":")) + "\n")


def saved(spec: str, title: str, about: str) -> str:
    """The SVG of a specification, in colours that follow the page."""
    return finished(rendered(spec), title, about)


def _plain(value: Any) -> Any:
    """What a specification says with texts in their own letters, and without the last digits of
    numbers, in which processors differ."""
    if isinstance(value, Rows):
        return [_plain(row) for row in value.rows]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return steady(value) if math.isfinite(value) else None
    return opened(value) if isinstance(value, str) else value


def _config() -> dict[str, Any]:
    text, grid = ink("ink"), ink("grid")
    return {
        "aria": False,
        "font": FONT,
        "view": {"stroke": None},
        "concat": {"spacing": 0},
        "title": {"anchor": "start", "frame": "group", "fontSize": SMALL, "color": text,
                  "subtitleFontSize": TINY, "subtitleColor": text, "fontWeight": "bold",
                  "subtitlePadding": 1, "lineHeight": line_height(SMALL), "offset": 5},
        "axis": {"labelColor": text, "titleColor": text, "labelFontSize": TINY,
                 "titleFontSize": SMALL, "titleFontWeight": "normal", "gridColor": grid,
                 "domainColor": ink("muted"), "tickColor": ink("muted"), "tickSize": 4,
                 "labelOverlap": False, "labelFlush": False, "labelLimit": 400},
        "axisY": {"labelFontSize": SMALL},
        "legend": {"orient": "top", "direction": "horizontal", "labelColor": text,
                   "labelFontSize": SMALL, "title": None, "symbolSize": 70, "offset": 8},
        "text": {"color": text, "fontSize": SMALL},
        "rule": {"color": ink("muted")},
    }


def finished(svg: str, title: str, about: str) -> str:
    """An SVG with colours that follow the page, its own identifiers, two decimals, and a title and
    a description for screen readers."""
    head = re.search(r'<svg [^>]*width="([^"]*)" height="([^"]*)"[^>]*>', svg)
    assert head is not None
    width, height = max(WIDTH, math.ceil(float(head[1]))), math.ceil(float(head[2]))
    body = ROUNDED.sub(_shorter, svg[head.end():].replace(f' font-family="{FONT}"', ""))
    body = re.sub(r' (?:class|role|aria-\w+|pointer-events)="[^"]*"', "", body)
    body = re.sub(r'<path d="[^"]*"/>', "", body)  # of groups, which have no paint
    body = re.sub(r'^<rect[^>]*>', f'<rect width="{width}" height="{height}"'
                  f' fill="{ink("panel")}"/>', body)
    body = TEXT.sub(_fitted, body)
    for k, old in enumerate(dict.fromkeys(re.findall(r' id="(\w+)"', body))):
        new = f"i{k}"
        body = body.replace(f'id="{old}"', f'id="{new}"').replace(f"#{old})", f"#{new})")
    dark = "".join(f'[{which}="{colour}"]{{{which}:{DARK[colour]}}}'
                   for which, colour in sorted(set(COLOUR.findall(body))) if colour in DARK)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" role="img" font-family="{FONT}">\n'
            f"<title>{escape(opened(title))}</title>\n<desc>{escape(opened(about))}</desc>\n"
            f"<style>@media (prefers-color-scheme:dark){{{dark}}}</style>\n"
            + re.sub(r"(?<=>)(?=<(?:g|path|text|line|rect)\b)", "\n", body) + "\n")


def _shorter(match: re.Match[str]) -> str:
    return re.sub(r"-?\d*\.\d{3,}(?:e-?\d+)?|\d+e-\d+",
                  lambda number: f"{round(float(number[0]), 2) + 0:g}", match[0])


# --- text -----------------------------------------------------------------------------------------

#: The advance of letters in thousandths of their size, the same in Liberation Sans, Arial and
#: Helvetica; of those that are not told 556.
REGULAR = {191: "'", 222: "ijl", 260: "|", 278: " \u00a0!,./:;I[\\]ft", 333: "()-`r\u00b7",
           334: "{}", 355: '"', 389: "*", 469: "^", 500: "Jckvsxyz", 584: "+<=>~\u00d7",
           611: "FTZ", 667: "&ABEKPSVXY", 722: "CDHNRUw", 778: "GOQ", 833: "Mm", 889: "%",
           944: "W", 1000: "\u2190\u2192\u2026", 1015: "@"}
BOLD = {238: "'", 278: " \u00a0,./I\\ijl", 280: "|", 333: "!()-:;[]`ft\u00b7", 389: "*r{}",
        474: '"', 500: "z", 584: "+<=>~\u00d7", 611: "?FLTZbdghnopqu", 667: "EPSVXY",
        722: "&ABCDHKNRU", 778: "GOQw", 833: "M", 889: "%m", 944: "W", 975: "@",
        1000: "\u2190\u2192\u2026"}
ADVANCE = [{letter: wide for wide, letters in of.items() for letter in letters}
           for of in (REGULAR, BOLD)]
SHORT = 4  # letters of a text that may be as wide as it wants
TEXT = re.compile(r"<text(?P<told>[^>]*(?<!/))>(?P<inside>.*?)</text>")


def text_width(text: str, size: float = BODY, bold: bool = False) -> float:
    """The pixels that a text takes, of its longest line."""
    of = (sum(ADVANCE[bold].get(letter, 556) for letter in line) for line in
          opened(text).split("\n"))
    return max(of, default=0) * size / 1000


def _fitted(match: re.Match[str]) -> str:
    """A text that takes its place also in a system that has none of the fonts."""
    told, inside = match["told"], match["inside"]
    size = float(re.search(r'font-size="([\d.]+)', told)[1])  # type: ignore[index]
    bold = 'font-weight="bold"' in told

    def wide(text: str) -> str:
        if len(text) <= SHORT:
            return ""
        return f' textLength="{text_width(unescape(text), size, bold):.1f}"{SQUEEZED}'

    if "<tspan" not in inside:
        return f"<text{told}{wide(inside)}>{inside}</text>"
    lines = re.sub(r"<tspan([^>]*)>([^<]*)", lambda t: f"<tspan{t[1]}{wide(t[2])}>{t[2]}", inside)
    return f"<text{told}>{lines}</text>"


SQUEEZED = ' lengthAdjust="spacingAndGlyphs"'


def wrapped(text: str, width: float, size: float = BODY) -> list[str]:
    """A text in lines that are no wider than told, but for a single word."""
    found: list[str] = []
    for word in text.replace(" %", "\u00a0%").split():
        longer = f"{found[-1]} {word}" if found else word
        if found and text_width(longer, size) <= width:
            found[-1] = longer
        else:
            found.append(word)
    return found


def line_height(size: float) -> float:
    """From one baseline to the next."""
    return round(1.3 * size, 1)


def steady(value: float) -> float:
    """Without the last digits, in which processors differ."""
    return float(f"{value:.6g}")


# --- drawings -------------------------------------------------------------------------------------


@dataclass
class Sheet:
    """What is drawn so far, in pixels from the top left."""

    height: float
    parts: list[str] = field(default_factory=list)

    def svg(self, title: str, about: str = "") -> str:
        """The sheet as an SVG with a title for screen readers."""
        head = f'<svg width="{WIDTH}" height="{math.ceil(self.height)}"><rect/>'
        return finished(head + "".join(self.parts) + "</svg>", title, about)

    def text(self, x: float, y: float, text: str, size: float = BODY, colour: str = "",
             align: str = "start", bold: bool = False) -> None:
        """A text with its baseline at `y`; `align` is start, middle or end."""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" font-size="{size:g}" text-anchor="{align}"{weight}'
            f' fill="{colour or ink("ink")}">{escape(opened(text))}</text>')

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 1) -> None:
        """A line through places."""
        path = "L".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self.parts.append(f'<path d="M{path}" fill="none" stroke="{colour}"'
                          f' stroke-width="{width:g}"/>')

    def arrow(self, tail: tuple[float, float], head: tuple[float, float], colour: str = "") -> None:
        """A thin line with a head at its end."""
        colour = colour or ink("ink")
        angle = math.atan2(head[1] - tail[1], head[0] - tail[0])
        back = [(head[0] - 8 * math.cos(angle + a), head[1] - 8 * math.sin(angle + a))
                for a in (-0.4, 0.4)]
        self.line([tail, head], colour, 1.2)
        self.shape([[head, *back]], colour)

    def shape(self, outlines: Sequence[Sequence[tuple[float, float]]], colour: str,
              opacity: float = 1) -> None:
        """Filled outlines as one shape."""
        path = "".join("M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in one) + "Z" for one in outlines)
        faint = f' fill-opacity="{opacity:g}"' if opacity < 1 else ""
        self.parts.append(f'<path d="{path}" fill="{colour}"{faint}/>')

    def box(self, left: float, top: float, right: float, bottom: float, colour: str,
            edge: str = "", width: float = 1) -> None:
        """A filled rectangle, with a border if `edge` is a colour."""
        border = f' stroke="{edge}" stroke-width="{width:g}"' if edge else ""
        self.parts.append(f'<rect x="{left:.2f}" y="{top:.2f}" width="{right - left:.2f}"'
                          f' height="{bottom - top:.2f}" fill="{colour}"{border}/>')

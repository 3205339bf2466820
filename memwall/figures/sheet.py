"""A sheet to draw on: places in pixels from the top left, colours of both themes, steady bytes.

A figure is 1,012 pixels wide, as wide as a repository page shows it, so a text of 12 pixels is read
as one. Charts compute every place themselves: rows and columns align across panels, and nothing
depends on an automatic layout.

Matplotlib draws with the light colours. In the file each of them is followed by a custom property
that a dark page redefines; a viewer that knows no custom properties shows the light figure.
"""

import io
import math
import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon, Rectangle
from matplotlib.text import Text
from matplotlib.textpath import TextToPath
from matplotlib.transforms import Affine2D, Transform

from memwall.record.escape import opened

# name: (light, dark). The light colours are unique: they are how a property is recognised.
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

COLOURS = (
    INK
    | {f"series-{index}": pair for index, pair in enumerate(SERIES)}
    | {name: pair for name, pair in ROLES.items() if name not in INK}
)
PROPERTY_OF = {light: name for name, (light, _) in COLOURS.items()}
DECLARATION = re.compile(r"\b(fill|stroke): (#[0-9a-f]{6})\b")
STYLE_ATTRIBUTE = re.compile(r' style="([^"]*)"')


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


def switching(svg: str, title: str) -> str:
    """An SVG from matplotlib with colours that follow the page, and a title for screen readers.

    Equal styles become one class: the colours stand in one place and the file is smaller.
    """
    classes: dict[str, str] = {}

    def as_class(match: re.Match[str]) -> str:
        name = classes.setdefault(match[1], f"s{len(classes)}")
        return f' class="{name}"'

    head = re.search(r"<svg [^>]*>", svg)
    assert head is not None
    body = STYLE_ATTRIBUTE.sub(as_class, svg[head.end() :])
    opening = head[0][:-1] + ' role="img">'
    sheet = _style_sheet(classes)
    return f"{svg[: head.start()]}{opening}\n <title>{escape(opened(title))}</title>\n{sheet}{body}"


def _style_sheet(classes: dict[str, str]) -> str:
    light = "; ".join(f"--{name}: {pair[0]}" for name, pair in COLOURS.items())
    dark = "; ".join(f"--{name}: {pair[1]}" for name, pair in COLOURS.items())
    rules = [
        f"  .{name} {{ {DECLARATION.sub(_with_property, style)} }}"
        for style, name in classes.items()
    ]
    return "\n".join(
        [
            " <style>",
            f"  svg {{ {light} }}",
            f"  @media (prefers-color-scheme: dark) {{ svg {{ {dark} }} }}",
            *rules,
            " </style>",
        ]
    )


def _with_property(match: re.Match[str]) -> str:
    attribute, colour = match[1], match[2]
    name = PROPERTY_OF.get(colour)
    return f"{match[0]}; {attribute}: var(--{name})" if name else match[0]


# --- the sheet ------------------------------------------------------------------------------------

WIDTH = 1012  # pixels
DPI = 96  # pixels of an inch
POINT = 72 / DPI  # points of a pixel
BODY, SMALL, TINY = 13.0, 12.0, 11.0  # sizes of text in pixels; none is smaller
MARGIN = 8.0
FAINT = 0.45  # opacity of a faint marker
SANS, MONO = "DejaVu Sans", "DejaVu Sans Mono"
#: A marker of each kind: its shape in matplotlib's letters, and whether it is filled.
MARKERS = {
    "dot": ("o", True),
    "square": ("s", True),
    "triangle": ("^", True),
    "cross": ("X", True),
    "ring": ("o", False),
    "diamond": ("D", False),
    "hollow": ("s", False),
    "bar": ("|", True),
}

STYLE: dict[Any, Any] = {
    "font.family": SANS,
    "figure.facecolor": ink("panel"),
    "savefig.facecolor": ink("panel"),
    "text.color": ink("ink"),
    "svg.fonttype": "path",
    "svg.hashsalt": "memwall",
}
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


def _use_own_fonts() -> None:
    """Fonts that come with matplotlib alone: those of a system have the same names and other
    glyphs, and which were found is remembered in the user's home."""
    fontManager.ttflist.clear()
    for path in sorted(Path(matplotlib.get_data_path(), "fonts/ttf").glob("DejaVu*.ttf")):
        fontManager.addfont(path)


_use_own_fonts()
# A letter that they lack is drawn as a box: names of strangers may have any.
warnings.filterwarnings("ignore", message="Glyph .* missing from")


def saved(figure: Figure, title: str) -> str:
    """The SVG of a figure drawn in `STYLE`, in colours that follow the page."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=NO_METADATA)
    text = switching(buffer.getvalue(), title)
    return "\n".join(line.rstrip() for line in text.splitlines()) + "\n"


def steady(value: float) -> float:
    """Without the last digits, in which processors differ."""
    return float(f"{value:.7g}")


@cache
def _properties(bold: bool, italic: bool, mono: bool) -> FontProperties:
    return FontProperties(
        family=MONO if mono else SANS,
        weight="bold" if bold else "normal",
        style="italic" if italic else "normal",
        size=100,
    )


@cache
def text_width(
    text: str, size: float = BODY, bold: bool = False, italic: bool = False, mono: bool = False
) -> float:
    """Pixels that a text takes, of its longest line."""
    of = TextToPath().get_text_width_height_descent
    fonts = _properties(bold, italic, mono)
    return max(float(of(line, fonts, False)[0]) for line in opened(text).split("\n")) * size / 100


STICKY = "\u00a0"  # a blank at which no line ends


def wrapped(text: str, width: float, lines: int, size: float = BODY, bold: bool = False) -> str:
    """A text in lines that are no wider than told, the last one cut with an ellipsis if need be."""
    found: list[str] = []
    for word in text.replace(" %", f"{STICKY}%").split(" "):
        longer = f"{found[-1]} {word}" if found else word
        if found and text_width(longer, size, bold) <= width:
            found[-1] = longer
        else:
            found.append(word)
    if len(found) > lines:
        found = [*found[: lines - 1], " ".join(found[lines - 1 :])]
    return "\n".join(shortened(line, width, size, bold) for line in found)


def shortened(text: str, width: float, size: float = BODY, bold: bool = False) -> str:
    """A text that is no wider than told, cut with an ellipsis if need be."""
    if text_width(text, size, bold) <= width:
        return text
    while text and text_width(text + "…", size, bold) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@dataclass(frozen=True)
class Mark:
    """A marker that was drawn, in pixels."""

    x: float
    y: float
    kind: str
    colour: str


@dataclass
class Sheet:
    """What is drawn so far; `texts` and `marks` for those who look whether it is all there."""

    height: float
    width: float = WIDTH
    texts: list[Text] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    arrows: int = 0

    def __post_init__(self) -> None:
        self.height = math.ceil(self.height)
        with matplotlib.rc_context(STYLE):
            self.figure = Figure(figsize=(self.width / DPI, self.height / DPI), dpi=DPI)
        self._to_figure = Affine2D()
        self._place = self._to_figure + self.figure.transFigure
        self.crop(self.height)

    @property
    def transform(self) -> Transform:
        """From pixels of the sheet to what matplotlib draws on, for shapes of other modules."""
        return self._place

    def crop(self, height: float) -> None:
        """Makes the sheet so high, as far as its top is concerned."""
        self.height = math.ceil(height)
        self.figure.set_size_inches(self.width / DPI, self.height / DPI)
        self._to_figure.clear().scale(1 / self.width, -1 / self.height).translate(0, 1)

    def svg(self, title: str) -> str:
        """The sheet as an SVG with a title for screen readers."""
        with matplotlib.rc_context(STYLE):
            return saved(self.figure, title)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = BODY,
        colour: str = "",
        align: Literal["left", "center", "right"] = "left",
        bold: bool = False,
        italic: bool = False,
        mono: bool = False,
        angle: float = 0,
    ) -> None:
        """A text with its first baseline at `y`; further lines stand below."""
        for number, line in enumerate(opened(text).split("\n")):
            drawn = Text(
                round(x, 2),
                round(y + number * line_height(size), 2),
                line,
                color=colour or ink("ink"),
                fontsize=size * POINT,
                fontfamily=MONO if mono else SANS,
                fontweight="bold" if bold else "normal",
                fontstyle="italic" if italic else "normal",
                horizontalalignment=align,
                verticalalignment="baseline",
                rotation=angle,
                rotation_mode="anchor",
                parse_math=False,
                transform=self._place,
                zorder=5,
            )
            self.figure.add_artist(drawn)
            self.texts.append(drawn)

    def line(
        self,
        points: Sequence[tuple[float, float]],
        colour: str,
        width: float = 1.0,
        dashes: tuple[float, ...] = (),
        over: float = 2,
    ) -> None:
        """A line through places; `over` is what it lies over, as in matplotlib."""
        pattern: Any = (0, tuple(dash / width for dash in dashes)) if dashes else "-"
        xs, ys = ([round(point[axis], 2) for point in points] for axis in (0, 1))
        self.figure.add_artist(
            Line2D(
                xs,
                ys,
                color=colour,
                linewidth=width * POINT,
                linestyle=pattern,
                solid_capstyle="butt",
                transform=self._place,
                zorder=over,
            )
        )

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        colour: str,
        opacity: float | None = None,
        over: float = 1,
    ) -> None:
        """A filled rectangle without a border."""
        x, y = round(left, 2), round(top, 2)
        self.figure.add_artist(
            Rectangle(
                (x, y),
                round(right - x, 2),
                round(bottom - y, 2),
                facecolor=colour,
                linewidth=0,
                alpha=opacity,
                transform=self._place,
                zorder=over,
            )
        )

    def area(self, points: Iterable[tuple[float, float]], colour: str, opacity: float) -> None:
        """A filled shape without a border."""
        corners = [(round(x, 2), round(y, 2)) for x, y in points]
        self.figure.add_artist(
            Polygon(
                corners,
                closed=True,
                facecolor=colour,
                linewidth=0,
                alpha=opacity,
                transform=self._place,
                zorder=1.5,
            )
        )

    def mark(
        self, x: float, y: float, kind: str, colour: str, size: float = 9.0, faint: bool = False
    ) -> None:
        """A marker; open ones have the colour of the page inside, faint ones let others through."""
        letter, filled = MARKERS[kind]
        edge = 3.0 if letter == "|" else 0.0 if faint else 0.4 if filled else 1.6
        shrunk = {"s": 0.88, "D": 0.8, "X": 1.06}.get(letter, 1.0)
        self.figure.add_artist(
            Line2D(
                [round(x, 2)],
                [round(y, 2)],
                linestyle="none",
                marker=letter,
                markersize=size * shrunk * POINT,
                markerfacecolor=colour if filled else ink("panel"),
                markeredgecolor=colour,
                markeredgewidth=edge * POINT,
                alpha=FAINT if faint else None,
                transform=self._place,
                zorder=3.5 if faint else 4,
            )
        )
        self.marks.append(Mark(round(x, 2), round(y, 2), kind, colour))

    def arrow(self, x: float, y: float, to_right: bool, colour: str) -> None:
        """The head of an arrow whose tip is at `x`: what it ends goes on beyond the axis."""
        back = x - 7 if to_right else x + 7
        corners = [(round(a, 2), round(b, 2)) for a, b in ((x, y), (back, y - 4), (back, y + 4))]
        self.figure.add_artist(
            Polygon(
                corners,
                closed=True,
                facecolor=colour,
                linewidth=0,
                transform=self._place,
                zorder=3,
            )
        )
        self.arrows += 1


def line_height(size: float) -> float:
    """From one baseline to the next."""
    return round(1.3 * size, 1)


def middle(size: float = BODY) -> float:
    """From the middle of a row down to the baseline of a text in it."""
    return round(0.36 * size, 1)

"""Colours of figures, for light and dark pages, and how an SVG switches between them.

Matplotlib draws with the light colours. In the file each of them is followed by a custom property
that a dark page redefines; a viewer that knows no custom properties shows the light figure.
"""

import re
from html import escape

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

#: What a colour says, the same in every figure. The first two always stand together.
ROLES = {
    "fp32": ("#cf5e0b", "#ff9b4e"),
    "fp64": ("#0061a9", "#59a7ff"),
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


def series(slot: int) -> str:
    """The light colour of a series; slots beyond the palette begin again."""
    return SERIES[slot % len(SERIES)][0]


def role(name: str) -> str:
    """The light colour of what is drawn: `fp32`, `fp64`, `ours`, `library`, `reference`, `muted`.

    Further precisions and other names are ours.
    """
    return ROLES.get(name, ROLES["ours"])[0]


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
    sheet = _sheet(classes)
    return f"{svg[: head.start()]}{opening}\n <title>{escape(title)}</title>\n{sheet}{body}"


def _sheet(classes: dict[str, str]) -> str:
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

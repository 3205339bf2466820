"""HTML from the templates of this room, in which text of strangers stands as text."""

from pathlib import Path

import jinja2

HTML = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
                          undefined=jinja2.StrictUndefined, keep_trailing_newline=True,
                          trim_blocks=True, lstrip_blocks=True, autoescape=True)

"""Source code that pages link to: a page for each file, and one for each folder."""

from pathlib import Path

from memwall.pages.site.contents import handout_of
from memwall.record import files
from memwall.record.escape import fenced

ROOM = "source"
#: What Pygments calls the language of a file, where its ending does not say it.
LANGUAGES = {".cu": "cuda", ".cuh": "cuda", ".hpp": "cpp", ".in": "text", ".cff": "yaml"}
UNLISTED = "---\nsearch:\n  exclude: true\n---\n"
BINARY = b"\0"


def page_of(path: str, is_folder: bool) -> str:
    """The page of a source by its path."""
    return f"{ROOM}/{path}/index.md" if is_folder else f"{ROOM}/{path}.md"


def pages(root: Path, wanted: set[str]) -> dict[str, str]:
    """The pages of some files and folders by their paths, and of all that lies in these folders."""
    texts: dict[str, str] = {}
    waiting = sorted(wanted)
    while waiting:
        path = waiting.pop()
        place = root / path
        name = page_of(path, place.is_dir())
        if name in texts:
            continue
        if place.is_dir():
            inside = [each for each in sorted(place.iterdir())
                      if _is_source(each) and not handout_of(f"{path}/{each.name}")]
            waiting += [f"{path}/{each.name}" for each in inside]
            lines = [f"- [{each.name}]({each.name}{'/index' if each.is_dir() else ''}.md)"
                     for each in inside]
            texts[name] = f"{UNLISTED}# {path}/\n\n" + "\n".join(lines) + "\n"
        else:
            texts[name] = _listing(path, place)
    return texts


def _is_source(path: Path) -> bool:
    return not path.name.startswith((".", "__")) and (
        path.is_dir() or BINARY not in path.read_bytes()[:1024])


def _listing(path: str, file: Path) -> str:
    language = LANGUAGES.get(file.suffix, file.suffix[1:] or "text")
    text = fenced(files.read(file, path).rstrip(), language)
    return f"{UNLISTED}# {path}\n\n{text}\n"

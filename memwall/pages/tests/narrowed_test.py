"""Reports of the runs that `just run NAME --matrix FILE` and `--filter` make."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from memwall.figures import sheet
from memwall.pages import book
from memwall.record import machines, results, stored
from memwall.record.results import Json

REPOSITORY = Path(__file__).resolve().parents[3]
MINE = "mine.mtx"
FOUND = [path for machine in machines.listed(REPOSITORY)
         for path in stored.results_of(REPOSITORY / "reports" / machine)]
MEASURED = sorted({stored.names_of(path)[0] for path in FOUND})


@pytest.fixture(autouse=True)
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are specified, not rendered."""
    monkeypatch.setattr(sheet, "saved", lambda spec, title, about: "<svg/>")


def of_my_matrix(raw: Json) -> Json | None:
    """As if the user had measured one matrix of their own: the first one under another name."""
    names = [case["parameters"]["matrix"] for case in raw["cases"] if "matrix" in case["parameters"]
             and case["parameters"]["matrix"] in raw["datasets"]]
    if not names:
        return None

    def mine(entry: Json) -> Json:
        point = entry["parameters"]
        return entry | {"parameters": {**point, "matrix": MINE}}

    def kept(entries: list[Json]) -> list[Json]:
        return [mine(entry) for entry in entries if entry["parameters"].get("matrix") == names[0]]

    return raw | {"run": raw["run"] | {"arguments": ["--matrix", MINE]},
                  "cases": kept(raw["cases"]), "skipped": kept(raw["skipped"]),
                  "datasets": {MINE: raw["datasets"][names[0]]}}


def filtered(raw: Json) -> Json:
    """As if the user had asked for the last variant of the program alone."""
    name = raw["cases"][-1]["variant"]
    cases = [case for case in raw["cases"] if case["variant"] == name]
    texts = {case["excerpt"]: raw["excerpts"][case["excerpt"]] for case in cases}
    skipped = [entry for entry in raw["skipped"] if entry.get("variant") == name]
    return raw | {"run": raw["run"] | {"arguments": ["--filter", f"^{name}$"]}, "cases": cases,
                  "excerpts": texts, "skipped": skipped}


NARROWED: dict[str, Callable[[Json], Json | None]] = {
    "one matrix": of_my_matrix, "one variant": filtered,
}


@cache
def measured(name: str) -> Json:
    """The first committed result of an experiment."""
    return results.load(next(path for path in FOUND if stored.names_of(path)[0] == name)).raw


@pytest.mark.parametrize("how", NARROWED)
@pytest.mark.parametrize("name", MEASURED)
def test_a_narrowed_run_has_a_report(name: str, how: str, tmp_path: Path) -> None:
    """Nothing that it lacks stops the weave."""
    raw = NARROWED[how](measured(name))
    if raw is not None:
        page = book.weave_page(REPOSITORY, results.of(raw, tmp_path / "result.json"), tmp_path)
        text = page.read_text(encoding="utf-8")
        assert "alone; no sentence about what was measured was written by hand" in text
        assert "## Runs" in text

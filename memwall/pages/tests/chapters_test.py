"""Every chapter of the repository by its present template: whole, of another machine, and of the
runs that `just run NAME --matrix FILE` and `--filter` make.

What it says is a matter of `just check`; here nothing may stop the weave.
"""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from memwall.pages import book
from memwall.pages.book import House
from memwall.pages.survey import OnMachine
from memwall.record import machines, results
from memwall.record.errors import UserError
from memwall.record.results import Json

REPOSITORY = Path(__file__).resolve().parents[3]
MINE = "mine.mtx"
MEASURED = sorted({path.stem.partition("@")[0] for machine in machines.listed(REPOSITORY)
                   for path in (REPOSITORY / "reports" / machine).glob("results/*.json")})


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


@pytest.mark.parametrize("name", MEASURED)
def test_every_kind_of_run_weaves(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = book.read(REPOSITORY, name)
    monkeypatch.setattr(book, "read", lambda *_: house)  # the results are parsed once
    experiment = next(e for e in house.experiments if e.name == name)
    survey = house.survey(experiment)
    lead, *others = survey.runs() or house.found
    stops: list[str] = []

    def attempt(what: str, weave: Callable[[], object]) -> None:
        try:
            weave()
        except UserError as error:
            stops.append(f"{what}: {error}")

    attempt("the chapter", lambda: book.chapter(house, experiment))
    for other in sorted(others, key=lambda one: len(house.of_machine(one.machine)))[:1]:
        attempt(f"the page of {other.machine}", lambda: book.machine_pages(house, other.machine))
    for what, narrow in NARROWED.items():
        attempt(what, lambda: page_of_narrowed(house, lead, narrow, tmp_path))
    assert not stops, "\n".join(stops)


def page_of_narrowed(house: House, lead: OnMachine, narrow: Callable[[Json], Json | None],
                     folder: Path) -> None:
    raw = narrow(copy.deepcopy(lead.result.raw))
    if raw is not None:
        result = results.of(raw, folder / "result.json")
        page = book.weave_page(house.root, result, folder).read_text(encoding="utf-8")
        assert "(this run)" in page and "## " in page

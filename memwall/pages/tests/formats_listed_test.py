"""No page leaves a sparse format out that its results have."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("chapter", ["spmv-formats", "spmv-plan", "spmv-gpu-variants"])
def test_a_page_shows_every_format_of_its_results(chapter: str) -> None:
    page = (ROOT / "experiments" / chapter / "README.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| `(\w+)`", page, re.MULTILINE))
    shown = rows | set(re.findall(r"`(\w+)`", page))
    toml = tomllib.loads((ROOT / f"experiments/{chapter}/experiment.toml").read_text("utf-8"))
    file = ROOT / f"reports/{toml['lead']}/results/{chapter}.json"
    result = json.loads(file.read_text("utf-8"))
    formats = {case["variant"] for case in result["cases"] if case["group"] == "format"}
    assert len(formats) > 3
    assert formats <= (shown if chapter == "spmv-gpu-variants" else rows)


@pytest.mark.parametrize(("chapter", "group", "tables"), [
    ("spmv-formats", '"group": "format"', 5),
    ("spmv-plan", '"group": ["format", "plan", "peer"]', 4),
])
def test_a_chapter_names_no_formats_where_a_group_would_do(
    chapter: str, group: str, tables: int
) -> None:
    """Else a format that is added to the list would be missing in its tables."""
    text = (ROOT / f"experiments/{chapter}/report.md.in").read_text(encoding="utf-8")
    assert text.count(group) == tables

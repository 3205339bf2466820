"""No page leaves a sparse format out that its results have."""

import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("chapter", ["spmv-formats", "spmv-plan", "spmv-gpu-variants"])
def test_a_report_shows_every_format_of_its_results(chapter: str) -> None:
    page = (ROOT / "experiments" / chapter / "report.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"`(\w+)`", page))
    toml = tomllib.loads((ROOT / f"experiments/{chapter}/experiment.toml").read_text("utf-8"))
    file = ROOT / f"reports/{toml['lead']}/results/{chapter}.json"
    result = json.loads(file.read_text("utf-8"))
    formats = {case["variant"] for case in result["cases"] if case["group"] == "format"}
    assert len(formats) > 3
    assert formats <= shown

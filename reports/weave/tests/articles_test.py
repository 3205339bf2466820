"""The articles' figures: all that `reports/articles.md` lists are in chapters, and no others."""

import re

import pytest

from weave import definition

ARTICLES = (definition.REPOSITORY / "reports/articles.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"^Figures: ([^.]*(?:\.[^.]+)*)\.$", ARTICLES, re.M))
def test_chapters_have_the_figures_of_an_article(text: str) -> None:
    listed = re.findall(r"`([^`]+)`", text)
    article = listed[0].split(".")[0]
    drawn = [figure.id for experiment in definition.load_all(definition.REPOSITORY)
             for figure in experiment.figures if figure.id.startswith(f"{article}.")]
    assert sorted(drawn) == listed

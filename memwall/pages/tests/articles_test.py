"""The articles' figures: all that `reports/articles.md` lists are in chapters, and no others."""

import re

from memwall.record import definition, sources

ARTICLES = (sources.REPOSITORY / "reports/articles.md").read_text(encoding="utf-8")


def test_chapters_have_the_figures_of_the_articles() -> None:
    lists = re.findall(r"^Figures: (.+?)\.$", ARTICLES, re.MULTILINE | re.DOTALL)
    listed = [id for text in lists for id in re.findall(r"`([^`]+)`", text)]
    drawn = [figure.id for experiment in definition.load_all(sources.REPOSITORY)
             for figure in experiment.figures if figure.id[0].isdigit()]
    assert sorted(drawn) == listed

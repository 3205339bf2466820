"""Weave results into reports: from `results/*.json` and `report.md.in` to Markdown and SVG."""

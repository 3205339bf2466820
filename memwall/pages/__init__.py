"""Lessons, reports, scorecard, pages of machines, studies and grades."""

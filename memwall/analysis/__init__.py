"""From samples to comparisons and verdicts."""

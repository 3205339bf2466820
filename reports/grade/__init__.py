"""Course assignments: kits of experiments, and what students hand in compiled, timed and graded."""

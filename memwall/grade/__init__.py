"""Course assignments: kits of experiments; what students hand in compiled, timed and graded."""

"""Reports: made of nothing but numbers, tables and sentences that are computed."""

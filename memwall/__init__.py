"""memwall: measures the memory wall, judges claims about it, and makes pages of both."""

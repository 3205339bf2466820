"""Measure: from programs to results, alone, in turns, on many hosts, in a bundle. Uses `weave`."""

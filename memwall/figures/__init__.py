"""Specifications of figures, and the drawings."""

"""A user's matrix or kernel: measured with the programs of this repository."""

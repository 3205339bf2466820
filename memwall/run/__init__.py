"""Starts programs, takes turns, resumes, Slurm; what an archive starts."""

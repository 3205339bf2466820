"""Your matrix and your kernel: measures them with the programs of this repository, and makes a page
of what was found."""

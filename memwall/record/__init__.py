"""What exists: results, experiments, the tree, kits, and errors that a user can cause."""

"""The one error of the weaver that a user can cause."""


class WeaveError(Exception):
    """One line that says which file, where in it, what was found and what was expected."""

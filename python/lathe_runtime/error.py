"""What goes wrong."""


class Error(RuntimeError):
    """A folder cannot be loaded, or does not take what it was given. The message says why."""

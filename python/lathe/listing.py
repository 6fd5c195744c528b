"""What there is."""
from lathe import _library
from lathe.tables import table


def list(what: str):
    """Lists transforms, ops, models, judges, metrics, passes, strategies, families or targets, as
    ``lathe list`` does: a name, a kind and a text of each.

    >>> import lathe
    >>> len(lathe.list("transforms")) > 10
    True
    """
    return table(_library.call("list", {"what": what}))

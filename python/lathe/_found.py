"""What classes of results share: they hold what a call of Lathe said, and say parts of it."""
from lathe.tables import as_html, as_text


class Found:
    """Something that Lathe said. Those that have ``_rows``, heads and rows of a table, show it."""

    def __init__(self, found):
        self._found = found

    def _title(self):
        return ""

    def __repr__(self):
        title, (heads, rows) = self._title(), self._rows()
        return "\n".join([*([title] if title else []), as_text(heads, rows)])

    def _repr_html_(self):
        return as_html(self._title(), *self._rows())

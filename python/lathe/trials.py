"""What a search tried."""
import os

from lathe import _library
from lathe._found import Found
from lathe.run import Run
from lathe.tables import table


class Trials(Found):
    """All that a search tried, in order; ``lathe.trials`` returns one."""

    @property
    def about(self) -> dict:
        """What the search depends on: network, machine, options."""
        return dict(self._found["about"])

    @property
    def table(self):
        """What was tried, what came of it, and its time."""
        return table(self._found["trials"])

    def __len__(self):
        return len(self._found["trials"])

    def __iter__(self):
        return iter(self._found["trials"])

    def _rows(self):
        return ["what", "outcome", "ms", "recipe"], [
            [each["subject"], each["outcome"], f"{each['ms']:.3f}" if each["ms"] else "-",
             each["recipe"] or "as it was"] for each in self]


def trials(run: Run | str | os.PathLike) -> Trials:
    """Lists what a search tried, as ``lathe trials`` does. It may still be running.

    >>> import lathe
    >>> lathe.trials("search").about["network"] != "" and len(lathe.trials("search")) > 0
    True
    """
    folder = run.folder if isinstance(run, Run) else run
    return Trials(_library.call("trials", {"folder": os.fspath(folder)}))

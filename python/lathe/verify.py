"""Whether bundles and libraries are what they say."""
import os
import sys

from lathe import _work
from lathe._found import Found
from lathe.tables import table


class Checks(Found):
    """What ``lathe.verify`` looked at; it is true if nothing differs.

    >>> import lathe, tempfile
    >>> folder = lathe.load("model.onnx").compile(tempfile.mkdtemp(), progress=False)
    >>> checks = lathe.verify(folder, progress=False)
    >>> bool(checks), "nothing differs" in checks.summary
    (True, True)
    """

    @property
    def checks(self):
        """What was looked at, and whether it is the same, differs, or was skipped."""
        return table(self._found["checks"])

    @property
    def summary(self) -> str:
        """What came of it, in a line."""
        return self._found["summary"]

    def __bool__(self):
        return self._found["same"]

    def _title(self):
        return self.summary

    def _rows(self):
        return ["what", "result", "detail"], [
            [each["what"], each["result"], each["detail"]] for each in self._found["checks"]]


def verify(folder, *, onnx=None, progress=True, **options) -> Checks:
    """Checks that all files of a bundle, or of a compiled folder, compute the same, as
    ``lathe verify`` does.

    ``onnx`` is the file that a folder was compiled from. Other options: threads, patience, seed.
    """
    options = {"folder": os.fspath(folder), "onnx": None if onnx is None else os.fspath(onnx),
               "python": sys.executable, **options}
    return Checks(_work.call("verify", options, "checking", progress))

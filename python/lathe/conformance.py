"""ONNX's own tests of backends."""
import collections
import os

from lathe import _work
from lathe._found import Found
from lathe.tables import table


class Conformance(Found):
    """What came of ONNX's tests; ``lathe.conformance`` returns one. It is true if none failed."""

    @property
    def table(self):
        """Every test, with the operators that it uses, and why it did not pass."""
        return table(self._found)

    def count(self, status="passed") -> int:
        """How many passed, failed, or are not supported."""
        return sum(each["status"] == status for each in self._found)

    def __bool__(self):
        return self.count("failed") == 0

    def _rows(self):
        kinds = collections.defaultdict(collections.Counter)
        for each in self._found:
            kinds[each["kind"]][each["status"]] += 1
        heads = ["passed", "failed", "not supported"]
        return ["tests", *heads], [[kind, *(str(counts[head]) for head in heads)]
                                   for kind, counts in sorted(kinds.items())]


def conformance(folder, *, only=None, jobs=None, progress=True) -> Conformance:
    """Runs ONNX's own tests of backends, as ``lathe conformance`` does: those of a folder whose
    KIND/NAME matches ``only``, so many ``jobs`` at a time.

    >>> import lathe
    >>> found = lathe.conformance("/usr/share/libonnx-testdata/data", only="node/test_relu$",
    ...                           progress=False)
    >>> found.count(), bool(found)
    (1, True)
    """
    return Conformance(_work.call("conformance", {"folder": os.fspath(folder), "only": only,
                                                  "jobs": jobs}, "tests", progress))

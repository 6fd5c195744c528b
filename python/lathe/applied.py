"""What became of a nest."""
import html
from dataclasses import dataclass

from lathe._loops import Loops
from lathe.tables import as_text


@dataclass(frozen=True)
class Step:
    """A step that was tried, and what it was judged.

    ``kind`` is exact, exact up to rounding, neural or refused; ``reason`` says why, and
    ``evidence`` is a pair of instances that a refused step would put in the wrong order.
    """
    step: str
    kind: str
    reason: str = ""
    evidence: str = ""

    @property
    def accepted(self) -> bool:
        """Was the step done?"""
        return self.kind != "refused"

    def __str__(self):
        text = f"{self.step}: {self.kind}"
        for more in (self.reason, self.evidence):
            text += f"; {more}" if more else ""
        return text


class Applied(Loops):
    """A recipe applied to a nest, as ``Nest.apply`` returns it.

    >>> import lathe
    >>> conv = lathe.nest("conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)")
    >>> grouped = conv.apply("split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)")
    >>> [step.kind for step in grouped.verdicts]
    ['exact', 'exact', 'neural']
    >>> grouped.accepted, grouped.macs / conv.macs
    (True, 0.125)
    """

    def __init__(self, found):
        self._found = found

    @property
    def accepted(self) -> bool:
        """Were all steps done? If not, the last one that was tried was refused."""
        return self._found["accepted"]

    @property
    def verdicts(self) -> list[Step]:
        """Every step that was tried, with its verdict."""
        return [Step(step["step"], **step["verdict"]) for step in self._found["steps"]]

    @property
    def recipe(self) -> list[str]:
        """The steps, as text."""
        return list(self._found["recipe"])

    @property
    def means(self) -> str:
        """The name of what the nest computes now."""
        return self._found["means"]

    def _described(self):
        return self._found["after"]

    def __repr__(self):
        before, after = self._found["before"]["cost"], self._found["after"]["cost"]
        rows = [[name, f"{before[name]:,}", f"{after[name]:,}"] for name in before]
        steps = "\n".join(map(str, self.verdicts))
        return f"{steps}\nmeans {self.means}\n{as_text(['cost', 'before', 'after'], rows)}"

    def _repr_html_(self):
        return f"<pre>{html.escape(repr(self))}</pre>"

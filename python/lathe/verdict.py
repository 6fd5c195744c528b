"""What the gate says of a changed network."""
from lathe.tables import table


class Verdict:
    """May a network take the place of the original? ``lathe.gate`` returns one; it is true if so.

    >>> import lathe
    >>> net = lathe.model("resnet20-cifar")
    >>> verdict = lathe.gate(net, "layer3.1.*: group(2)", samples=8, seeds=1, progress=False)
    >>> verdict.accepted == bool(verdict)
    True
    """

    def __init__(self, found):
        self._found = found

    @property
    def accepted(self) -> bool:
        """Does it keep its capacity, as the rule says?"""
        return self._found["accepted"]

    @property
    def reason(self) -> str:
        """Why, in a sentence."""
        return self._found["reason"]

    @property
    def ratio(self) -> float:
        """Its score, as a multiple of the original's."""
        return self._found["ratio"]

    @property
    def interval(self):
        """The ends of what holds that ratio, to 95 %; None with one seed."""
        return self._found.get("interval")

    @property
    def sure(self):
        """The probability that the verdict is right; None if that is not known."""
        return self._found.get("sure")

    @property
    def predicted(self):
        """The points of accuracy that are expected to change; None if that is not calibrated."""
        return self._found.get("prediction", {}).get("points")

    @property
    def caution(self):
        """Why the prediction is not calibrated for this network; None if it is."""
        return self._found.get("caution")

    @property
    def layers(self):
        """How far the score of each layer moved, as a ratio."""
        return table(self._found["layers"])

    @property
    def mixing(self):
        """How far channels mix in the original and in the changed network."""
        return self._found.get("mixing")

    def __bool__(self):
        return self.accepted

    def __repr__(self):
        return f"<lathe.Verdict {'accepted' if self else 'refused'}: {self.reason}>"

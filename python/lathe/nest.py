"""One operator as a loop nest."""
from lathe import _library
from lathe._loops import Loops
from lathe.applied import Applied


class Nest(Loops):
    """An operator as loops, to try steps on. ``lathe.nest`` makes one.

    >>> import lathe
    >>> conv = lathe.nest("conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)")
    >>> conv.macs, conv.weights
    (115605504, 36864)
    >>> conv.apply("interchange(co, ci)").means
    'the same operator'
    """

    def __init__(self, text):
        self.source = text
        self._applied = self.apply("")

    def apply(self, recipe="", max_error=None) -> Applied:
        """Applies a recipe, and returns what every step was judged and what it made.

        A step that rounds more than ``max_error``, as a multiple of the outputs' root mean square,
        is refused.
        """
        return Applied(_library.call("apply", {"nest": self.source, "recipe": recipe,
                                               "max_error": max_error}))

    def _described(self):
        return self._applied._described()

    def __repr__(self):
        return self.text


def nest(text) -> Nest:
    """Returns a nest: an operator like ``conv(co=64, ...)``, or what a ``.nest`` file holds."""
    return Nest(text)

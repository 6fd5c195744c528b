"""Judging networks before they are trained."""
import os

from lathe import _work
from lathe.data import dataset
from lathe.network import Network
from lathe.scores import Scores
from lathe.verdict import Verdict


def score(net: Network, metrics=None, *, recipe=None, data=None, progress=True,
          **options) -> Scores:
    """Scores a network, and what a recipe makes of it if there is one.

    ``metrics`` is one name, several with commas between, or "all". Options are those of
    ``lathe score``: samples, seeds, normalize, threads, seed ...
    """
    return Scores(_work.call("score", {**net.options, "metrics": metrics, "recipe": recipe,
                                       "data": dataset(data), **options}, "scoring", progress))


def gate(net: Network, recipe, *, rule=None, data=None, progress=True, **options) -> Verdict:
    """Judges whether a network keeps its capacity with a recipe: ``"layer2.*: group(4)"``, or a
    ``.recipe`` file. Options are those of ``lathe gate``: samples, seeds, normalize, threads ..."""
    return Verdict(_work.call("gate", {**net.options, "recipe": os.fspath(recipe), "rule": rule,
                                       "data": dataset(data), **options}, "scoring", progress))

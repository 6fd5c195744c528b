"""What steps do, and what a search did, and why."""
import os

from lathe import _library
from lathe._found import Found
from lathe.nest import Nest
from lathe.run import Run
from lathe.tables import short, table


class Explained(Found):
    """A nest step by step, a search layer by layer, or a layer variant by variant;
    ``lathe.explain`` returns one.

    >>> import lathe
    >>> found = lathe.explain("conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)", "group(2)")
    >>> found.details["steps"][0]["means"]
    'grouped x2'
    >>> search = lathe.explain(lathe.Run("search"))
    >>> len(search.table) > 0 and search.details["tried"] > 0
    True
    >>> layer = search.details["layers"][0]["layer"]
    >>> variants = lathe.explain("search", layer=layer).details["variants"]
    >>> [each["fate"] for each in variants].count("chosen")
    1
    """

    @property
    def details(self) -> dict:
        """All that is known: loops, costs, verdicts; recipes, times, scores."""
        return dict(self._found)

    @property
    def table(self):
        """The steps of a nest, the layers of a search, or the variants of a layer."""
        return table(self._found[self._part()])

    def _part(self):
        return next(part for part in ("steps", "variants", "layers") if part in self._found)

    def _title(self):
        if self._part() == "steps":
            return self._found["loops"]
        about = self._found if self._part() == "layers" else self._found["layer"]
        return about["network"] if "network" in about else f"{about['layer']}: {about['kind']}"

    def _rows(self):
        part = self._found[self._part()]
        if self._part() == "steps":
            return ["step", "verdict", "means", "MACs"], [
                [each["step"], each["verdict"]["kind"], each.get("means", "-"),
                 short(each["cost"]["macs"]) if "cost" in each else "-"] for each in part]
        if self._part() == "layers":
            return ["layer", "became", "ms before", "ms after"], [
                [each["layer"], each["meaning"] if each["recipe"] else "as it was",
                 f"{each['before_ms']:.4f}", f"{each['after_ms']:.4f}"] for each in part]
        return ["could become", "ms", "what came of it"], [
            [each["meaning"] if each["recipe"] else "as it was",
             f"{each['after_ms']:.4f}" if "after_ms" in each else "-", each["fate"]]
            for each in part]


def explain(what: Nest | Run | str | os.PathLike, recipe: str = "", *, layer=None,
            **options) -> Explained:
    """Shows what each step of a recipe does to a nest; or what a search did to a network, and why,
    as ``lathe explain`` does.

    ``what`` is a nest, or an operator in text; or a search, or its folder, then perhaps with one
    ``layer``. An option of nests: max_error.
    """
    if isinstance(what, Run):
        what = what.folder
    if isinstance(what, os.PathLike) or (isinstance(what, str) and os.path.isdir(what)):
        return Explained(_library.call("explain", {"folder": os.fspath(what), "layer": layer,
                                                   **options}))
    nest = what.source if isinstance(what, Nest) else what
    return Explained(_library.call("explain", {"nest": nest, "recipe": recipe, **options}))

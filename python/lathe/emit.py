"""What the compiler makes of something, at any stage."""
from lathe import _library
from lathe.nest import Nest
from lathe.network import Network


def emit(what: Nest | Network | str, recipe: str = "", *, at: str = "loops", layer=None,
         target=None, threads: int = 1, **options) -> str:
    """Returns what the compiler makes of a nest, of a layer of a network, or of its graph, as
    ``lathe emit`` prints it.

    ``at`` is a stage: nest, recipe, loops, code, llvm, asm, ...; of a network without ``layer`` it
    is graph. Other options: max_error, tuned; of a graph passes, after, diff.

    >>> import lathe
    >>> print(lathe.emit("matmul(i=64, j=64, k=64)", "split(j, 8)", at="nest").splitlines()[0])
    nest matmul
    >>> net = lathe.model("resnet20-cifar")
    >>> lathe.emit(net, layer="layer1.0.conv1", at="recipe") != ""
    True
    >>> "conv" in lathe.emit(net, after="FuseOps")
    True
    """
    if isinstance(what, Network):
        subject = {**what.options, "layer": layer}
        at = "graph" if layer is None else at
    else:
        subject = {"nest": what.source if isinstance(what, Nest) else what}
    return _library.call("emit", {**subject, "recipe": recipe, "at": at, "target": target,
                                  "threads": threads, **options})["text"]

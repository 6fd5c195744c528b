"""Which peers take part."""
from __future__ import annotations

import importlib.util
from collections.abc import Callable

OTHERS = ["onnxruntime", "openvino", "ncnn", "torch", "tvm"]
# What users compare with. TVM is only fast after hours of tuning: it takes part when it is named.
BEST = [name for name in OTHERS if name != "tvm"]


def is_installed(peer: str) -> bool:
    """Can the library of the peer be found? The modules are called as the peers are."""
    return importlib.util.find_spec(peer) is not None


def expand(words: list[str]) -> list[str]:
    """The names with "best" and "all" replaced by what they stand for; unknown ones as they are."""
    names: dict[str, None] = {}
    for word in words:
        names |= dict.fromkeys({"best": BEST, "all": OTHERS}.get(word, [word]))
    return [name for name in OTHERS if name in names] + [n for n in names if n not in OTHERS]


def share_out(peers: list[str], installed: Callable[[str], bool]) -> tuple[list[str], list[str]]:
    """Those that are installed, and those that are not."""
    there = [peer for peer in peers if installed(peer)]
    return there, [peer for peer in peers if peer not in there]

"""Runs the examples in the docstrings of the package."""
import doctest
import importlib
import pkgutil
import sys

import lathe


def main():
    failed = tried = 0
    for module in pkgutil.iter_modules(lathe.__path__):
        if module.name == "_train":
            continue
        found = doctest.testmod(importlib.import_module(f"lathe.{module.name}"),
                                optionflags=doctest.ELLIPSIS)
        failed, tried = failed + found.failed, tried + found.attempted
    found = doctest.testmod(lathe)
    failed, tried = failed + found.failed, tried + found.attempted
    print(f"{tried} examples, {failed} failed")
    assert tried > 20
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()

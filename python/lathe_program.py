"""The command ``lathe``: the program that comes with the package. It imports nothing of it, and so
begins at once."""
import importlib.util
import os
import pathlib
import sys


def main():
    """Becomes the program."""
    package = pathlib.Path(importlib.util.find_spec("lathe").origin).parent
    program = package / "native" / "lathe"
    # Searches on other machines begin with this Python.
    os.environ["LATHE_PYTHON"] = sys.executable
    os.execv(program, [str(program), *sys.argv[1:]])

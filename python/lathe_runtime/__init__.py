"""Runs networks that Lathe compiled, without Lathe: the folder has all that is needed.

    model = lathe_runtime.load("out")             # a folder that "lathe compile" wrote
    scores = model(image)                         # NumPy arrays in and out, without copies
"""
from lathe_runtime.error import Error
from lathe_runtime.model import Model, load

__all__ = ["Error", "Model", "load"]

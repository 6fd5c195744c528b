"""Data as Lathe takes it."""
import io
import os

import numpy

from lathe import _cache
from lathe.arrays import to_numpy


def dataset(data):
    """Returns the text by which Lathe knows data; all functions that take data do this.

    ``data`` is such a text (``"cifar10:FOLDER"``, ``"synthetic:0"``), a pair of arrays or tensors
    (images and labels), one without labels, or None. Arrays are written to files once; the same
    arrays are the same text, so a search that goes on knows them again.

    >>> import numpy
    >>> images, labels = numpy.zeros((4, 3, 8, 8), numpy.float32), numpy.arange(4)
    >>> text = dataset((images, labels))
    >>> text.startswith("npy:") and text == dataset((images, labels))
    True
    """
    if data is None or isinstance(data, (str, os.PathLike)):
        return None if data is None else os.fspath(data)
    if isinstance(data, (tuple, list)):
        images, labels = data
        return f"npy:{_file(images, 'images')},{_file(labels, 'labels', numpy.int64)}"
    return f"npy:{_file(data, 'images')}"


def _file(tensor, name, kind=None):
    array = numpy.asarray(tensor) if isinstance(tensor, (list, range)) else tensor
    array = to_numpy(array, {"name": name, "element": "u8" if _is_bytes(array) else "f32"}) \
        if kind is None else numpy.asarray(array).astype(kind)
    file = io.BytesIO()
    numpy.save(file, array)
    return _cache.kept(file.getvalue(), f"{name}.npy")


def _is_bytes(tensor):
    return "uint8" in str(tensor.dtype)

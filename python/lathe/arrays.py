"""Between Lathe's tensors and those of NumPy, PyTorch and others."""
import sys

import numpy

from lathe.error import Error
from lathe_runtime.arrays import TYPES


def numpy_type(element):
    """Returns NumPy's type for an element of Lathe's.

    >>> numpy_type("f32")
    dtype('float32')
    """
    if element not in TYPES:
        raise Error(f"NumPy has no {element}: such tensors are for 'lathe run'")
    return numpy.dtype(TYPES[element])


def to_numpy(tensor, face):
    """Returns a tensor as a dense array of the type that an input has, without a copy if it is."""
    if _is_torch(tensor):
        tensor = tensor.detach().cpu().numpy()
    elif not isinstance(tensor, numpy.ndarray) and hasattr(tensor, "__dlpack__"):
        tensor = numpy.from_dlpack(tensor)
    array, wanted = numpy.asarray(tensor), numpy_type(face["element"])
    if not numpy.can_cast(array.dtype, wanted, "same_kind"):
        raise Error(f"{face['name']} is {wanted}, and was given as {array.dtype}")
    return numpy.ascontiguousarray(array, wanted)


def as_they_came(array, inputs):
    """Returns an output as what the inputs were: a tensor of PyTorch, or an array of NumPy."""
    if not any(_is_torch(each) for each in inputs):
        return array
    import torch
    return torch.from_numpy(array)


def _is_torch(tensor):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(tensor, torch.Tensor)

"""Networks as PyTorch modules: the files that Lathe writes, loaded."""
import importlib.util
import pathlib
import tempfile

from lathe import _cache, _train


def from_file(path):
    """Returns the module of a ``.py`` file that Lathe wrote, with the weights beside it."""
    path = pathlib.Path(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    source = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(source)
    module = source.load()
    module.lathe_names = getattr(source, "NAMES", {})
    return module


def exported(net):
    """Returns a network as a module, with its weights."""
    with tempfile.TemporaryDirectory() as folder:
        return from_file(net.export(pathlib.Path(folder) / "model.py", "torch"))


def trained_file(module, bundle):
    """Returns the path of the bundle's network as an ONNX file with the weights of a module."""
    weights = _train.arrays_of(module, module.lathe_names)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "trained.onnx"
        _train.write_onnx(weights, path, bundle / "model.onnx")
        return _cache.kept(path.read_bytes(), "trained.onnx")

"""Training what was found."""
import pathlib
import tempfile

import numpy

from lathe.error import Error


def finetune(module, teacher, data, *, epochs=12, out=None, **options):
    """Trains a module as the ``train.py`` of bundles does; returns it, with the best weights.

    ``teacher`` is the original, from whose answers the module learns as well as from labels; None:
    labels alone. ``data`` is a ``DataLoader`` (its dataset yields an image and a label), or a pair
    of arrays: images, as bytes or normalised, and labels; these are cropped and mirrored. A tenth
    of it is not trained on, and decides which epoch was best.

    Options are those of ``train.py``: batch, rate, seed, loss ("output": no labels are read),
    distill, temperature, smoothing, decay, normalize, device. ``out`` is a folder for
    ``log.csv``, ``curve.svg`` and a checkpoint; with it, a call that was stopped goes on.
    """
    from lathe import _train
    words = ["--data", "given", "--epochs", str(epochs)]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", str(value)]
    try:
        settings = _train.parsed(words)
    except SystemExit:  # what is wrong was printed
        raise Error(f"finetune: wrong options: {', '.join(options)}") from None
    run = _train.Run(settings, module, teacher)
    images = _images(data)
    images.to(run.device)
    try:
        if out is not None:
            return _trained(_train, run, images, pathlib.Path(out))
        with tempfile.TemporaryDirectory() as folder:
            return _trained(_train, run, images, pathlib.Path(folder))
    except _train.Problem as problem:
        raise Error(str(problem)) from None


def _trained(train, run, images, out):
    out.mkdir(parents=True, exist_ok=True)
    weights, _ = train.tuned(run, images, out)
    run.model.load_state_dict(weights)
    train.fold_norms(run.model)
    return run.model.eval()


def _images(data):
    """Returns data as train.py reads them."""
    from lathe import _train
    if isinstance(data, (tuple, list)):
        images, labels = (numpy.asarray(each) for each in data)
        return _train.MemoryImages(images, labels.astype(numpy.int64))
    return LoaderImages(data)


class LoaderImages:
    """The samples of a DataLoader, in the batches that train.py asks for."""

    def __init__(self, loader):
        self.dataset, self.collate = loader.dataset, loader.collate_fn
        self.workers = loader.num_workers
        self.shape = tuple(self.dataset[0][0].shape)

    def __len__(self):
        return len(self.dataset)

    def to(self, device):
        """Leaves samples where they are: they may be large."""

    def batches(self, order, size, generator=None):
        """Yields images and labels in this order; the dataset chooses how images are changed."""
        from torch.utils.data import DataLoader
        parts = [part.tolist() for part in order.split(size)]
        yield from DataLoader(self.dataset, batch_sampler=parts, collate_fn=self.collate,
                              num_workers=self.workers)

#!/usr/bin/env python3
"""Tunes the network of this folder on your data, and writes it as trained.onnx.

  python3 train.py --data DIR                      12 epochs, on a GPU if there is one
  python3 train.py --data DIR --epochs 30 --rate 0.05 --out longer

model.py is the network, with weights that were made from the original's. original.py, if it is
here, is the original: model.py learns from its answers (distillation) as well as from the labels.

DIR is one of
  a folder of CIFAR-10     data_batch_1.bin ... test_batch.bin, or the pickles that torchvision has
  a folder of images       DIR/train/CLASS/*.png|jpg and DIR/val/CLASS/*.png|jpg (needs Pillow)
  X.npy,Y.npy              images (bytes or floats, count x channels x rows x columns) and labels
  X.npy                    images alone, with --loss output
The best epoch is chosen on a tenth of the training images, at most 5000, which are not trained on.
The test images (for .npy: another tenth) are looked at once, in the end.

With --loss output no label is read: all outputs of the network, of whatever shape, are to be those of
the original. Then percentages are of what the original's outputs vary.

--out (this folder unless told) gets log.csv, curve.svg, checkpoint.pt and, in the end, trained.npz and
trained.onnx. Kill it at any time: the same command goes on after the last whole epoch, and ends
with the same network. It needs torch and numpy; to use your own pipeline, import model.py instead.
"""
import argparse
import contextlib
import csv
import importlib.util
import io
import json
import math
import os
import pathlib
import pickle
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
ENOUGH_STEPS = 1000  # for the usual rate; with fewer, it is lower
NORMALISATIONS = {
    "none": ((0, 0, 0), (1, 1, 1)),
    "imagenet": ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    "cifar": ((0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)),
}


class Problem(Exception):
    """Something that the user can mend."""


# ------------------------------------------------------------------------------------------ data

class MemoryImages:
    """Images that fit into memory: bytes, or floats that are normalised already."""

    def __init__(self, images, labels):
        self.images, self.labels = torch.from_numpy(images), torch.from_numpy(labels).long()
        self.shape = tuple(images.shape[1:])

    def __len__(self):
        return len(self.labels)

    def to(self, device):
        self.images, self.labels = self.images.to(device), self.labels.to(device)

    def batches(self, order, size, generator=None):
        """Yields images and labels in this order; crops and mirrors them if there is a generator."""
        for part in order.split(size):
            images = self.images[part.to(self.images.device)]
            if generator is not None:
                images = cropped(images, generator)
            yield images, self.labels[part.to(self.labels.device)]


def cropped(images, generator):
    """Cuts each image at random from one with 4 more pixels on each side; mirrors half of them."""
    count, channels, height, width = images.shape
    device = images.device
    padded = F.pad(images, (4, 4, 4, 4))
    draw = torch.randint(0, 9, (2, count, 1), generator=generator).to(device)
    mirrored = torch.rand(count, 1, generator=generator).to(device) < 0.5
    rows = draw[0] + torch.arange(height, device=device)
    columns = draw[1] + torch.arange(width, device=device)
    columns = torch.where(mirrored, columns.flip(1), columns)
    samples = torch.arange(count, device=device).view(-1, 1, 1, 1)
    planes = torch.arange(channels, device=device).view(1, -1, 1, 1)
    return padded[samples, planes, rows.view(count, 1, height, 1), columns.view(count, 1, 1, width)]


class FolderImages:
    """Images in files, DIR/CLASS/FILE, read when they are needed, by several processes."""

    SUFFIXES = {".png", ".jpg", ".jpeg"}

    def __init__(self, folder, classes, shape, workers):
        self.shape, self.workers = shape, workers
        self.files = [(path, number) for number, name in enumerate(classes)
                      for path in sorted((folder / name).iterdir())
                      if path.suffix.lower() in self.SUFFIXES]
        if not self.files:
            raise Problem(f"no .png or .jpg file in the folders of '{folder}'")
        self.labels = torch.tensor([number for _, number in self.files])

    def __len__(self):
        return len(self.files)

    def to(self, device):
        pass

    def __getitem__(self, key):
        index, seed = key
        from PIL import Image
        path, label = self.files[index]
        _, height, width = self.shape
        try:
            image = Image.open(path).convert("RGB")
        except OSError as error:
            raise Problem(f"'{path}' is no image: {error}") from None
        box = random_box(image.size, width / height, seed) if seed is not None else \
            middle_box(image.size, width / height)
        image = image.resize((width, height), Image.BILINEAR, box=box)
        pixels = np.asarray(image).transpose(2, 0, 1)
        if seed is not None and seed % 2:
            pixels = pixels[:, :, ::-1]
        return torch.from_numpy(pixels.copy()), label

    def batches(self, order, size, generator=None):
        seeds = [None] * len(order) if generator is None else \
            torch.randint(0, 2**31, (len(order),), generator=generator).tolist()
        keys = list(zip(order.tolist(), seeds))
        parts = [keys[i:i + size] for i in range(0, len(keys), size)]
        loader = torch.utils.data.DataLoader(self, batch_sampler=parts, num_workers=self.workers,
                                             pin_memory=torch.cuda.is_available())
        yield from loader


def middle_box(size, ratio):
    """The largest part in the middle, less an eighth, whose width is "ratio" times its height."""
    width, height = size
    h = min(height, width / ratio) * 0.875
    w = h * ratio
    return (width - w) / 2, (height - h) / 2, (width + w) / 2, (height + h) / 2


def random_box(size, ratio, seed):
    """A random part of a quarter to all of an image, with a ratio a little off."""
    draw = np.random.RandomState(seed)
    width, height = size
    area, ratio = width * height * draw.uniform(0.25, 1), ratio * math.exp(draw.uniform(-0.28, 0.28))
    w, h = min(math.sqrt(area * ratio), width), min(math.sqrt(area / ratio), height)
    x, y = draw.uniform(0, width - w), draw.uniform(0, height - h)
    return x, y, x + w, y + h


def read_cifar_binary(path):
    raw = np.fromfile(path, dtype=np.uint8)
    if raw.size == 0 or raw.size % 3073:
        raise Problem(f"'{path}' is damaged: {raw.size} bytes are no multiple of 3073")
    raw = raw.reshape(-1, 3073)
    return raw[:, 1:].reshape(-1, 3, 32, 32), raw[:, 0].astype(np.int64)


def read_cifar_pickle(path):
    try:
        with open(path, "rb") as file:
            content = pickle.load(file, encoding="bytes")
        return (np.asarray(content[b"data"], dtype=np.uint8).reshape(-1, 3, 32, 32),
                np.asarray(content[b"labels"], dtype=np.int64))
    except Exception as error:
        raise Problem(f"'{path}' is damaged: {error}") from None


def read_cifar(folder, suffix, read):
    def whole(names):
        missing = [name for name in names if not (folder / name).exists()]
        if missing:
            raise Problem(f"'{folder}' has no {missing[0]}")
        parts = [read(folder / name) for name in names]
        return MemoryImages(np.concatenate([p[0] for p in parts]),
                            np.concatenate([p[1] for p in parts]))
    return whole([f"data_batch_{i}{suffix}" for i in range(1, 6)]), whole([f"test_batch{suffix}"])


def read_arrays(text, has_labels):
    paths = text.split(",")
    if len(paths) > 2 or len(paths) < (2 if has_labels else 1):
        raise Problem(f"'{text}': two files are needed, X.npy,Y.npy")
    try:
        images = np.load(paths[0], allow_pickle=False)
        labels = np.load(paths[1], allow_pickle=False) if has_labels else np.zeros(len(images))
    except (OSError, ValueError) as error:
        raise Problem(f"'{text}' cannot be read: {error}") from None
    if images.ndim != 4 or labels.shape != images.shape[:1]:
        raise Problem(f"'{text}': the shapes {images.shape} and {labels.shape} are not those of "
                      "images (count, channels, rows, columns) and their labels (count)")
    if images.dtype != np.uint8:
        images = images.astype(np.float32)
    test = np.arange(len(labels)) % 10 == 9
    def part(chosen):
        return MemoryImages(images[chosen], labels[chosen].astype(np.int64))
    return part(~test), part(test)


def read_folder(folder, shape, workers):
    tests = [name for name in ("val", "test") if (folder / name).is_dir()]
    if not tests:
        raise Problem(f"'{folder}' has a folder train, but no val or test")
    classes = sorted(path.name for path in (folder / "train").iterdir() if path.is_dir())
    others = sorted(path.name for path in (folder / tests[0]).iterdir() if path.is_dir())
    if classes != others:
        raise Problem(f"'{folder}': train and {tests[0]} do not have the same classes")
    return (FolderImages(folder / "train", classes, shape, workers),
            FolderImages(folder / tests[0], classes, shape, workers))


def read_data(text, shape, workers, has_labels=True):
    """Returns the images to train on and those to test with. Labels may be of no use."""
    if text.endswith(".npy"):
        return read_arrays(text, has_labels)
    text = text.removeprefix("cifar10:")
    for folder in (pathlib.Path(text), pathlib.Path(text) / "cifar-10-batches-bin",
                   pathlib.Path(text) / "cifar-10-batches-py"):
        if (folder / "test_batch.bin").exists() or (folder / "data_batch_1.bin").exists():
            return read_cifar(folder, ".bin", read_cifar_binary)
        if (folder / "test_batch").exists() or (folder / "data_batch_1").exists():
            return read_cifar(folder, "", read_cifar_pickle)
    folder = pathlib.Path(text)
    if not folder.is_dir():
        raise Problem(f"there is no folder '{text}'")
    if (folder / "train").is_dir():
        return read_folder(folder, shape, workers)
    raise Problem(f"'{text}' has neither CIFAR-10 (data_batch_1.bin) nor a folder train/CLASS")


def check_fits(data, model, classes):
    """Fails if the images or the labels, unless classes is None, are not those of the network."""
    for images in data:
        if images.shape != model.INPUT_SHAPES[0][1:]:
            raise Problem(f"the images are {'x'.join(map(str, images.shape))}, but the network "
                          f"reads {'x'.join(map(str, model.INPUT_SHAPES[0][1:]))}")
        if classes is None:
            continue
        low, high = int(images.labels.min()), int(images.labels.max())
        if low < 0 or high >= classes:
            raise Problem(f"labels go from {low} to {high}, but the network has {classes} classes")


# -------------------------------------------------------------------------------------- networks

def load_network(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, module.load()


def load_teacher(name):
    """Loads the original of this folder; None if there is none, or if nobody wants one."""
    if name != "none" and (HERE / name).exists():
        return load_network(HERE / name)[1]
    if name not in ("none", "original.py"):
        raise Problem(f"there is no '{HERE / name}'")
    return None


class Normalised(torch.nn.Module):
    """A convolution with a batch normalisation behind it that, at first, changes nothing.

    Exporters fold normalisations into convolutions, but without them training needs rates so low
    that it takes for ever. So they are put back while training lasts, and folded again in the end.
    """

    def __init__(self, convolution, output):
        super().__init__()
        self.convolution, self.norm = convolution, torch.nn.BatchNorm2d(convolution.out_channels)
        self.norm.to(output.device)
        with torch.no_grad():
            mean, variance = output.float().mean((0, 2, 3)), output.float().var((0, 2, 3))
            self.norm.running_mean.copy_(mean)
            self.norm.running_var.copy_(variance)
            self.norm.weight.copy_((variance + self.norm.eps).sqrt())
            self.norm.bias.copy_(mean)

    def forward(self, x):
        return self.norm(self.convolution(x))

    def folded(self):
        """Returns the convolution that computes the same alone."""
        with torch.no_grad():
            scale = self.norm.weight / (self.norm.running_var + self.norm.eps).sqrt()
            self.convolution.weight.mul_(scale.view(-1, 1, 1, 1))
            self.convolution.bias.sub_(self.norm.running_mean).mul_(scale).add_(self.norm.bias)
        return self.convolution


def replaced(model, replacement):
    """Puts replacement(module) in place of every module of a network for which there is one."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            other = replacement(child)
            if other is not None:
                setattr(parent, name, other)


def add_norms(model, images):
    """Adds normalisations to a network that has none, measured on these images."""
    kinds = (torch.nn.BatchNorm2d, torch.nn.GroupNorm, torch.nn.LayerNorm, torch.nn.InstanceNorm2d)
    modules = list(model.modules())
    bare = [m for m in modules if isinstance(m, torch.nn.Conv2d) and m.bias is not None]
    if any(isinstance(m, kinds) for m in modules):
        return
    outputs = {}
    hooks = [m.register_forward_hook(lambda m, _, y: outputs.__setitem__(m, y)) for m in bare]
    with torch.no_grad():
        model.eval()(images)
    for hook in hooks:
        hook.remove()
    replaced(model, lambda m: Normalised(m, outputs[m]) if m in outputs else None)


def fold_norms(model):
    """Takes the normalisations out again that were added."""
    replaced(model, lambda m: m.folded() if isinstance(m, Normalised) else None)


def arrays_of(model, names):
    """Returns the weights of a network by their names in the ONNX file; "names" has those that
    differ."""
    return {names.get(key, key): value.float().cpu().numpy()
            for key, value in model.state_dict().items()
            if not key.endswith("num_batches_tracked")}


def all_outputs(said):
    """Returns what a network said as a list, of one output or of several."""
    return list(said) if isinstance(said, (tuple, list)) else [said]


class Explained:
    """Which share of what the original's outputs vary another network has, too."""

    def __init__(self):
        self.samples, self.sums = 0, {}

    def add(self, own, told):
        """Adds what both said of a batch."""
        self.samples += len(own[0])
        for number, (a, b) in enumerate(zip(own, told)):
            a, b = a.double(), b.double()
            more = b.sum(0), b.square().sum(0), (a - b).square().sum()
            known = self.sums.get(number)
            self.sums[number] = more if known is None else [x + y for x, y in zip(known, more)]

    def percent(self):
        shares = []
        for values, squares, distance in self.sums.values():
            varies = float((squares - values.square() / self.samples).sum())
            lost = float(distance) / varies if varies > 0 else float(distance > 0)
            shares.append(min(1, max(0, 1 - lost)) if lost == lost else 0)
        return 100 * sum(shares) / len(shares)


def grad_scaler(enabled):
    """Keeps small gradients from vanishing in float16; bfloat16 needs nothing of the kind."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler("cuda", enabled=enabled)
    return torch.cuda.amp.GradScaler(enabled=enabled)  # PyTorch before 2.3


class Run:
    """What all parts of a training share: the networks, the device and how numbers are stored."""

    def __init__(self, options, model, teacher=None):
        self.options = options
        name = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.device = torch.device(name)
        self.model = model.to(self.device, memory_format=torch.channels_last)
        self.teacher = teacher
        if teacher is not None:
            teacher.to(self.device, memory_format=torch.channels_last).eval()
            teacher.requires_grad_(False)
        self.by_outputs = options.loss == "output"
        if self.by_outputs and self.teacher is None:
            raise Problem("--loss output needs the original, and there is none")
        if options.decay is None:
            options.decay = 5e-4 if self.teacher is None else 1e-4
        self.is_half = self.device.type == "cuda"
        torch.backends.cudnn.benchmark = True
        bfloat = self.is_half and torch.cuda.is_bf16_supported()
        self.half = torch.bfloat16 if bfloat else torch.float16
        self.scaler = grad_scaler(self.is_half and not bfloat)
        mean, deviation = NORMALISATIONS[options.normalize]
        self.mean, self.deviation = (
            torch.tensor(v, dtype=torch.float32, device=self.device) for v in (mean, deviation))

    def ready(self, images):
        """Returns images as the network reads them: on its device, bytes as normalised floats."""
        images = images.to(self.device, non_blocking=True)
        if images.dtype == torch.uint8:
            def statistic(values):  # more than three channels: the colours' repeat
                return values.repeat(-(-images.shape[1] // 3))[:images.shape[1]].view(1, -1, 1, 1)
            images = (images.float() / 255 - statistic(self.mean)) / statistic(self.deviation)
        return images.contiguous(memory_format=torch.channels_last)

    def mixed(self):
        if not self.is_half:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, self.half)

    def loss(self, images, labels):
        """The distance from the labels, and from what the teacher says of the same images."""
        options = self.options
        with self.mixed():
            scores = self.model(images)
            if self.teacher is not None:
                with torch.no_grad():
                    told = self.teacher(images)
        if self.by_outputs:
            return sum((own.float() - must.float()).square().mean()
                       / must.float().var(0).mean().clamp_min(1e-12)
                       for own, must in zip(all_outputs(scores), all_outputs(told)))
        own = F.cross_entropy(scores.float(), labels, label_smoothing=options.smoothing)
        if self.teacher is None:
            return own
        t = options.temperature
        distance = F.kl_div(F.log_softmax(scores.float() / t, 1),
                            F.log_softmax(told.float() / t, 1),
                            log_target=True, reduction="batchmean") * t * t
        return options.distill * distance + (1 - options.distill) * own

    def accuracy(self, network, images, order):
        """Percent of the images whose labels a network finds; or of what outputs vary."""
        network.eval()
        if self.by_outputs:
            explained = Explained()
            with torch.no_grad():
                # Outputs may be large: no more of them at a time than in training.
                for x, _ in images.batches(order, min(500, self.options.batch)):
                    x = self.ready(x)
                    explained.add(all_outputs(network(x)), all_outputs(self.teacher(x)))
            return explained.percent()
        right = 0
        with torch.no_grad(), self.mixed():
            for x, y in images.batches(order, 500):
                right += (network(self.ready(x)).argmax(1) == y.to(self.device)).sum().item()
        return 100 * right / len(order)


# -------------------------------------------------------------------------------------- training

@contextlib.contextmanager
def whole_file(path):
    """Opens a file for bytes. It is written whole, or the old one stays."""
    draft = path.with_name(path.name + ".draft")
    with open(draft, "wb") as file:
        yield file
    os.replace(draft, path)


def write_log(path, rows):
    with whole_file(path) as file:
        lines = io.StringIO(newline="")
        writer = csv.writer(lines)
        writer.writerow(["epoch", "loss", "validation", "rate", "seconds"])
        writer.writerows(rows)
        file.write(lines.getvalue().encode())


def optimiser_of(model, options, steps):
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    optimiser = torch.optim.SGD([{"params": decayed, "weight_decay": options.decay},
                                 {"params": others, "weight_decay": 0}],
                                lr=options.rate, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.rate,
                                                   total_steps=max(1, steps * options.epochs),
                                                   pct_start=options.warm_up)
    return optimiser, schedule


def usual_rate(run, steps):
    """Returns a rate for so many steps: in few of them it must not rise high, or all is forgotten."""
    return (0.4 if run.teacher is None else 0.1) * min(1, steps / ENOUGH_STEPS)


def one_epoch(run, images, order, epoch, optimiser, schedule):
    """Trains for one epoch; returns the mean loss. The random numbers depend on the epoch alone."""
    options = run.options
    generator = torch.Generator().manual_seed(options.seed * 10000 + epoch)
    torch.manual_seed(options.seed * 10000 + epoch)
    run.model.train()
    order = order[torch.randperm(len(order), generator=generator)]
    steps = len(order) // options.batch
    total = torch.zeros((), device=run.device)
    for number, (x, y) in enumerate(
            images.batches(order[:steps * options.batch], options.batch, generator), 1):
        loss = run.loss(run.ready(x), y.to(run.device))
        optimiser.zero_grad(set_to_none=True)
        run.scaler.scale(loss).backward()
        if run.by_outputs:  # squares have large gradients where outputs are far off
            run.scaler.unscale_(optimiser)
            torch.nn.utils.clip_grad_norm_(run.model.parameters(), 1)
        run.scaler.step(optimiser)
        run.scaler.update()
        schedule.step()
        total += loss.detach()
        if sys.stdout.isatty() and number % 20 == 0:
            print(f"\r  {number} of {steps} steps", end="", flush=True)
    if sys.stdout.isatty():
        print("\r", end="")
    mean = float(total) / steps
    if not math.isfinite(mean):
        raise Problem(f"the loss became {mean}: try a lower --rate than {options.rate:g}")
    return mean


def split(count):
    """Returns which of these images are trained on and which validate: the same in every run."""
    held = max(1, min(5000, count // 10))
    every = torch.randperm(count, generator=torch.Generator().manual_seed(0))
    return every[held:], every[:held]


def weights_of(model):
    return {k: v.detach().clone() for k, v in model.state_dict().items()}


def tuned(run, images, out):
    """Trains to the end, from where an earlier run stopped; returns the best weights."""
    options = run.options
    order, validation = split(len(images))
    if len(order) < options.batch:
        raise Problem(f"{len(order)} images to train on are fewer than a batch of {options.batch}; "
                      "use a smaller --batch")
    if options.norms:
        add_norms(run.model, run.ready(next(images.batches(order[:512], 512))[0]))
    steps = len(order) // options.batch
    if options.rate is None:
        options.rate = usual_rate(run, steps * options.epochs)
    optimiser, schedule = optimiser_of(run.model, options, steps)
    rows, epoch, best, best_weights = [], 0, -1, None
    checkpoint = out / "checkpoint.pt"
    settings = {key: value for key, value in vars(options).items() if key not in ("out", "workers")}
    if checkpoint.exists():
        state = torch.load(checkpoint, map_location=run.device)
        if state["settings"] != settings:
            changed = [k for k in settings if state["settings"].get(k) != settings[k]]
            option = changed[0].replace("_", "-")
            raise Problem(f"'{checkpoint}' is of a run with another --{option}; "
                          "use another --out, or remove it")
        run.model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
        schedule.load_state_dict(state["schedule"])
        run.scaler.load_state_dict(state["scaler"])
        rows, epoch, best, best_weights = (state[k] for k in ("rows", "epoch", "best", "weights"))
        print(f"goes on after epoch {epoch}")
    else:
        before = run.accuracy(run.model, images, validation)
        print(f"before training: {before:.2f} % of {len(validation)} validation images")
        if run.by_outputs:  # the network that was fitted is as good a candidate as later ones
            best, best_weights = before, weights_of(run.model)
    while epoch < options.epochs:
        begin = time.time()
        loss = one_epoch(run, images, order, epoch, optimiser, schedule)
        epoch += 1
        reached = run.accuracy(run.model, images, validation)
        rows.append([epoch, round(loss, 5), reached, schedule.get_last_lr()[0],
                     round(time.time() - begin, 1)])
        if reached >= best:
            best = reached
            best_weights = weights_of(run.model)
        with whole_file(checkpoint) as file:
            torch.save({"settings": settings, "model": run.model.state_dict(),
                        "optimiser": optimiser.state_dict(), "schedule": schedule.state_dict(),
                        "scaler": run.scaler.state_dict(), "rows": rows, "epoch": epoch,
                        "best": best, "weights": best_weights}, file)
        write_log(out / "log.csv", rows)
        write_curve(out / "curve.svg", rows, options.epochs,
                    "outputs explained, %" if run.by_outputs else "validation accuracy, %")
        print(f"epoch {epoch:>3} of {options.epochs}: loss {loss:.4f}, validation {reached:.2f} %"
              f", {rows[-1][4]:.1f} s", flush=True)
    return best_weights, best


# ----------------------------------------------------------------------------------------- files

def write_curve(path, rows, epochs, what):
    """Draws how good the network was after each epoch."""
    width, height, left, top = 560, 260, 56, 24
    values = [row[2] for row in rows]
    low, high = math.floor(min(values)), math.ceil(max(values))
    high = max(high, low + 1)
    def x(epoch):
        return left + (width - left - 16) * (epoch - 1) / max(1, epochs - 1)
    def y(value):
        return top + (height - top - 40) * (high - value) / (high - low)
    points = " ".join(f"{x(row[0]):.1f},{y(row[2]):.1f}" for row in rows)
    marks = "".join(
        f'<line x1="{left}" x2="{width - 16}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ddd"/>'
        f'<text x="{left - 8}" y="{y(v) + 4:.1f}" text-anchor="end">{v:.4g}</text>'
        for v in (low, (low + high) / 2, high))
    ends = "".join(f'<text x="{x(e):.1f}" y="{height - 22}" text-anchor="middle">{e}</text>'
                   for e in sorted({1, epochs}))
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12"><rect width="{width}" height="{height}" '
            f'fill="#fff"/>{marks}{ends}<text x="{left}" y="14">{what}</text>'
            f'<text x="{width / 2}" y="{height - 6}" text-anchor="middle">epoch</text>'
            f'<polyline points="{points}" fill="none" stroke="#1f6fb2" stroke-width="2"/></svg>\n')
    with whole_file(path) as file:
        file.write(text.encode())


def fields(data, begin, end):
    """Yields the fields of a protocol buffer: number, place of its bytes (or its value)."""
    def number(at):
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 127) << shift
            at, shift = at + 1, shift + 7
            if byte < 128:
                return value, at
    while begin < end:
        key, begin = number(begin)
        kind = key & 7
        if kind == 2:
            length, begin = number(begin)
            yield key >> 3, (begin, begin + length)
            begin += length
        elif kind == 0:
            value, begin = number(begin)
            yield key >> 3, value
        else:
            size = {1: 8, 5: 4}[kind]
            yield key >> 3, (begin, begin + size)
            begin += size


def places_of_weights(data):
    """Returns where the bytes of each weight of an ONNX file are, by the weight's name."""
    GRAPH, INITIALIZER, NAME, RAW = 7, 5, 8, 9  # numbers of fields in onnx.proto
    places = {}
    for number, graph in fields(data, 0, len(data)):
        if number != GRAPH:
            continue
        for number, tensor in fields(data, *graph):
            if number != INITIALIZER:
                continue
            parts = dict(fields(data, *tensor))
            if NAME in parts and RAW in parts:
                places[bytes(data[slice(*parts[NAME])]).decode()] = parts[RAW]
    return places


def write_onnx(weights, target, source=HERE / "model.onnx"):
    """Writes an ONNX file anew with these weights: they take the places of the old ones."""
    data = bytearray(source.read_bytes())
    places = places_of_weights(data)
    for name, array in weights.items():
        if name not in places:
            raise Problem(f"'{source}' has no weight '{name}': it was not written with the module")
        begin, end = places[name]
        content = array.astype("<f4").tobytes()
        if len(content) != end - begin:
            raise Problem(f"the weight '{name}' of '{source}' has another size than in the module")
        data[begin:end] = content
    with whole_file(target) as file:
        file.write(data)


def check_onnx(run, images, path):
    """Compares trained.onnx with the module, where ONNX Runtime is installed."""
    try:
        import onnxruntime
    except ImportError:
        return "not checked: onnxruntime is not installed"
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    face = session.get_inputs()[0]
    batch = face.shape[0] if isinstance(face.shape[0], int) else 8
    order = torch.arange(batch) % len(images)
    x, _ = next(iter(images.batches(order, batch)))
    x = run.ready(x).cpu().contiguous()
    network = run.model.cpu().eval()
    with torch.no_grad():
        expected = [output.numpy() for output in all_outputs(network(x))]
    found = session.run(None, {face.name: x.numpy()})
    error = max(float(np.abs(a - b).max() / max(1e-6, np.abs(b).max()))
                for a, b in zip(found, expected))
    if error > 1e-3:
        raise Problem(f"trained.onnx differs from the module by {error:.2g} of its largest output")
    return f"checked: differs from the module by {error:.1g} of its largest output"


def finish(run, module, weights, best, train, test, out):
    run.model.load_state_dict(weights)
    fold_norms(run.model)
    reached = run.accuracy(run.model, test, torch.arange(len(test)))
    result = {"validation": best, "test": reached, "epochs": run.options.epochs,
              "seed": run.options.seed}
    text = f"test: {reached:.2f} %" + (" of what the original's outputs vary" * run.by_outputs)
    if run.teacher is not None and not run.by_outputs:
        result["original"] = run.accuracy(run.teacher, test, torch.arange(len(test)))
        text += f"; the original has {result['original']:.2f} %"
    arrays = arrays_of(run.model, getattr(module, "NAMES", {}))
    with whole_file(out / "trained.npz") as file:
        np.savez(file, **arrays)
    write_onnx(arrays, out / "trained.onnx")
    print(text)
    print(f"{out / 'trained.onnx'}: {check_onnx(run, test, out / 'trained.onnx')}")
    with whole_file(out / "trained.json") as file:
        file.write(json.dumps(result).encode() + b"\n")


def of_bundle(setting, otherwise):
    """Returns a setting that the search of this network had, as the bundle says it."""
    try:
        return json.loads((HERE / "bundle.json").read_text()).get(setting, otherwise)
    except (OSError, ValueError):
        return otherwise


def parsed(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", required=True, metavar="DIR", help="see above")
    add("--epochs", type=int, default=12)
    add("--rate", type=float, help="the highest of the one-cycle schedule; 0.1 with a teacher, "
        f"0.4 without, lower if there are fewer than {ENOUGH_STEPS} steps")
    add("--batch", type=int, default=256)
    add("--seed", type=int, default=0)
    add("--loss", choices=["labels", "output"], default=of_bundle("loss", "labels"),
        help="output: no labels are read; as in the search, unless told")
    add("--teacher", default="original.py", help="the module to learn from; none: labels alone")
    add("--distill", type=float, default=0.9, help="the teacher's share of the loss (0.9)")
    add("--temperature", type=float, default=2)
    add("--smoothing", type=float, default=0.1, help="of labels (0.1)")
    add("--decay", type=float, help="of weights; 0.0001 with a teacher, 0.0005 without")
    add("--warm-up", type=float, default=0.3, help="the share of steps in which the rate rises")
    add("--no-norms", dest="norms", action="store_false",
        help="do not normalise, while training, a network whose normalisations were folded")
    add("--normalize", choices=sorted(NORMALISATIONS), default=of_bundle("normalize", "cifar"),
        help="of bytes; as the network was made for, unless told")
    add("--device", default="", help="cuda or cpu; cuda if there is one")
    add("--workers", type=int, default=4, help="processes that read image files (4)")
    add("--out", type=pathlib.Path, default=HERE, help="a folder; this one unless told")
    options = parser.parse_args(arguments)
    if options.epochs < 1 or options.batch < 1 or (options.rate is not None and options.rate <= 0):
        parser.error("--epochs, --batch and --rate must be greater than 0")
    return options


def main():
    options = parsed(sys.argv[1:])
    try:
        module, model = load_network(HERE / "model.py")
        run = Run(options, model, load_teacher(options.teacher))
        data = read_data(options.data, module.INPUT_SHAPES[0][1:], options.workers,
                         not run.by_outputs)
        with torch.no_grad():
            probe = torch.zeros(module.INPUT_SHAPES[0], device=run.device)
            said = all_outputs(run.model.eval()(probe))
        if not run.by_outputs and len(said) > 1:
            raise Problem(f"the network has {len(said)} outputs: labels are of one; "
                          "--loss output keeps all of them")
        classes = None if run.by_outputs else said[0].flatten(1).shape[1]
        check_fits(data, module, classes)
        for images in data:
            images.to(run.device)
        options.out.mkdir(parents=True, exist_ok=True)
        print(f"{len(data[0])} images, {options.epochs} epochs on {run.device}, "
              f"{'from labels alone' if run.teacher is None else 'with the original as teacher'}"
              f"{', by its outputs' if run.by_outputs else ''}",
              flush=True)
        weights, best = tuned(run, data[0], options.out)
        finish(run, module, weights, best, *data, options.out)
    except Problem as problem:
        print(f"train.py: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ntrain.py: stopped; the same command goes on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

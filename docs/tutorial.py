# %% [markdown]
# # From a PyTorch module to a faster one
#
# Lathe compiles networks, and may change them: layers become smaller operators where the network
# can afford it. This notebook takes a small convolutional network, trained with PyTorch, and ends
# with one that is faster, trained again, and compiled. All of it takes less than a minute on one
# core.
#
# It needs the packages `lathe`, `torch` and `matplotlib`. [Lesson 12](12_python.md) is about
# everything that Python can ask of Lathe.

# %%
import pathlib
import tempfile
import time

import lathe
import numpy
import torch

folder = pathlib.Path(tempfile.mkdtemp())
torch.manual_seed(0)
print("lathe", lathe.__version__)

# %% [markdown]
# ## Something to learn
#
# Images of stripes: ten directions are ten classes. Phase, width and colour differ, and there is
# noise.

# %%
def stripes(count, seed):
    rng = numpy.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    y, x = numpy.mgrid[0:16, 0:16]
    angle = (labels * numpy.pi / 10)[:, None, None]
    wave = rng.uniform(0.5, 1.1, (count, 1, 1))
    phase = rng.uniform(0, 7, (count, 1, 1))
    grey = numpy.sin(wave * (x * numpy.cos(angle) + y * numpy.sin(angle)) + phase)
    colour = rng.uniform(0.2, 1, (count, 3, 1, 1))
    noise = rng.normal(0, 0.8, (count, 3, 16, 16))
    return (grey[:, None] * colour + noise).astype(numpy.float32), labels


images, labels = stripes(1500, seed=1)
unseen, answers = stripes(1000, seed=2)

# %%
from matplotlib import pyplot

_, axes = pyplot.subplots(1, 10, figsize=(10, 1.2))
for label, each in enumerate(axes):
    each.imshow(images[labels == label][0].mean(0), cmap="gray")
    each.set(title=label, xticks=[], yticks=[])

# %% [markdown]
# ## A module
#
# Any module that PyTorch can export will do.

# %%
class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm1 = torch.nn.BatchNorm2d(channels)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm2 = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(x + self.norm2(self.conv2(y)))


class Small(torch.nn.Module):
    def __init__(self, channels=32):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, channels, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(channels)
        self.blocks = torch.nn.Sequential(Block(channels), Block(channels))
        self.fc = torch.nn.Linear(channels, 10)

    def forward(self, image):
        x = self.blocks(torch.relu(self.norm(self.stem(image))))
        return self.fc(x.mean((2, 3)))


def accuracy(module):
    with torch.no_grad():
        scores = module.eval()(torch.from_numpy(unseen))
    return 100 * (scores.argmax(1).numpy() == answers).mean()


module = Small()
optimizer = torch.optim.Adam(module.parameters(), lr=3e-3)
for epoch in range(4):
    module.train()
    for batch in torch.randperm(len(images)).split(64):
        loss = torch.nn.functional.cross_entropy(module(torch.from_numpy(images[batch.numpy()])),
                                                 torch.from_numpy(labels[batch.numpy()]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: {accuracy(module):.1f} % of unseen images are right")

# %% [markdown]
# ## The same network in Lathe
#
# `from_torch` keeps the module's names. Call the network, and it is compiled; it computes what the
# module computes.

# %%
example = torch.from_numpy(unseen[:1])
net = lathe.from_torch(module.eval(), example)
print("largest difference:", float((net(example) - module(example)).abs().max()))
net

# %% [markdown]
# What could its layers become? A profile says how many networks there are to choose from.

# %%
lathe.profile(net, neural=1)

# %% [markdown]
# One layer becomes another operator by steps on its loops. Each step is judged: `split` and
# `interchange` keep what is computed, `group` does not, and has an eighth of the weights.

# %%
conv = lathe.nest("conv(co=32, ci=32, oh=16, ow=16, k=3, pad=1)")
conv.apply("split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)")

# %% [markdown]
# ## A search
#
# It may lose 3 points of accuracy. Variants of each layer are measured on this machine, and judged
# by what the trained layers lose. This search is small; `budget="10m"` gives it time.

# %%
run = lathe.optimize(net, data=(images, labels), tolerance=3, work_dir=folder / "run", samples=16,
                     seeds=1, variants=4, exact=2, tune=0, blocks=False, progress=False)
run

# %%
axes = run.plot()

# %% [markdown]
# ## Tuning its weights
#
# `to_torch` gives a module with weights that were made from the original's. `finetune` trains it,
# with the original as its teacher.

# %%
faster = run.winner.to_torch()
print(f"before: {accuracy(faster):.1f} %")
faster = lathe.finetune(faster, run.winner.teacher(), (images, labels), epochs=4, batch=64)
print(f"after:  {accuracy(faster):.1f} %, the original {accuracy(module):.1f} %")

# %% [markdown]
# ## What is to be used
#
# A folder with a library, which needs neither PyTorch nor Lathe: `lathe_runtime` runs it from
# Python, and its `model.h` declares it for C.

# %%
library = lathe.load(run.winner.compile(folder / "library", trained=faster, progress=False))


def milliseconds(function):
    """Returns the time of the fastest of many runs: other programs make runs slower."""
    times = []
    for _ in range(300):
        begin = time.perf_counter()
        function(unseen[:1])
        times.append(1000 * (time.perf_counter() - begin))
    return min(times)


times = {"the original": milliseconds(net), "the winner": milliseconds(library)}
_, axes = pyplot.subplots(figsize=(6, 1.4))
axes.barh(list(times), list(times.values()))
axes.invert_yaxis()
axes.set(xlabel="milliseconds for one image, called from Python")
pyplot.tight_layout()

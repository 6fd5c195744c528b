"""PyTorch modules in and out: names and weights both ways, what was found, and training it."""
import pathlib
import sys
import tempfile

import numpy as np

import lathe

SKIPPED = 77
try:
    import torch
except ImportError:
    print("skipped: torch is not installed (scripts/setup --all)")
    sys.exit(SKIPPED)


class Block(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(channels)
        self.conv2 = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(channels)

    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(y)))


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = torch.nn.Conv2d(3, 32, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(32)
        self.layer1 = torch.nn.Sequential(Block(32), Block(32))
        self.fc = torch.nn.Linear(32, 10)

    def forward(self, image):
        x = self.layer1(torch.relu(self.norm(self.stem(image))))
        return self.fc(x.mean((2, 3)))


def close(a, b):
    error = float((a - b).abs().max() / b.abs().max())
    assert error < 1e-4, error


def in_and_out(module, x):
    net = lathe.from_torch(module, x)
    names = {layer["name"] for layer in net._about["layers"]}
    assert {"stem", "layer1.0.conv1", "layer1.1.conv2", "fc"} <= names, names
    assert net.inputs[0]["name"] == "image" and net.is_trained
    y = net(x)
    assert isinstance(y, torch.Tensor)
    close(y, module(x).detach())
    back = net.to_torch()
    close(back(x), module(x))
    mine, theirs = module.state_dict(), back.state_dict()
    for name in ("stem.weight", "layer1.0.conv1.weight", "fc.bias"):
        assert torch.equal(mine[name], theirs[name]), name
    back.load_state_dict(mine, strict=False)
    return net


def searched(net, folder):
    rng = np.random.default_rng(0)
    data = (rng.integers(0, 256, (200, 3, 16, 16), dtype=np.uint8), rng.integers(0, 10, 200))
    run = lathe.optimize(net, data=data, tolerance=5, work_dir=folder / "run", samples=8, seeds=1,
                         variants=4, exact=2, tune=0, blocks=False, progress=False)
    module, teacher = run.winner.to_torch(), run.winner.teacher()
    assert teacher is not None
    before = {name: value.clone() for name, value in module.state_dict().items()}
    trained = lathe.finetune(module, teacher, data, epochs=1, batch=32)
    assert any(not torch.equal(value, before[name]) for name, value in trained.state_dict().items())
    out = run.winner.compile(folder / "out", trained=trained, progress=False)
    x = torch.randn(1, 3, 16, 16)
    close(lathe.load(out)(x), trained.cpu()(x).detach())
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(data[0]).float() / 255,
                                             torch.from_numpy(data[1]))
    loader = torch.utils.data.DataLoader(dataset, batch_size=32)
    lathe.finetune(run.winner.to_torch(), teacher, loader, epochs=1, batch=32)


def main():
    torch.manual_seed(0)
    module, x = Small().eval(), torch.randn(1, 3, 16, 16)
    net = in_and_out(module, x)
    with tempfile.TemporaryDirectory() as name:
        searched(net, pathlib.Path(name))


if __name__ == "__main__":
    main()

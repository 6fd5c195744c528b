"""What README.md promises of the package, on networks that take seconds."""
import pathlib
import tempfile

import lathe
import numpy as np

SEARCHED = pathlib.Path(__file__).resolve().parents[1] / "killed_network.graph"


def networks():
    net = lathe.model("resnet20-cifar")
    assert "conv" in str(net) and "<table>" in net._repr_html_()
    x = np.random.default_rng(0).standard_normal((1, 3, 32, 32), dtype=np.float32)
    y = net(x)
    assert y.shape == (1, 10) and y.dtype == np.float32
    # Another number of samples: each is computed alone.
    pair = net(np.concatenate([x, -x]))
    assert pair.shape == (2, 10)
    np.testing.assert_allclose(pair[0], y[0], rtol=1e-3, atol=1e-4)
    wrong = np.zeros((1, 3, 8, 8), np.float32)
    assert "network reads" in message(lambda: net(wrong))
    assert "was given as <U" in message(lambda: net(np.full((1, 3, 32, 32), "a")))


def message(function):
    """Returns the message of the error that a function raises."""
    try:
        function()
    except lathe.Error as error:
        return str(error)
    raise AssertionError("nothing was raised")


def nests():
    conv = lathe.nest("conv(co=64, ci=64, oh=56, ow=56, k=3, pad=1)")
    grouped = conv.apply("split(ci, 8) -> interchange(ci.o, ci.i) -> group(8)")
    assert grouped.accepted and grouped.verdicts[-1].kind == "neural"
    assert grouped.macs * 8 == conv.macs
    assert "xx" in message(lambda: conv.apply("interchange(co, xx)"))
    refused = conv.apply("winograd(4)", max_error=1e-6)
    assert not refused.accepted and not refused.verdicts[-1].accepted


def judging():
    net, recipe = lathe.model("resnet20-cifar"), "layer3.1.*: group(2)"
    scores = lathe.score(net, "fisher,params", recipe=recipe, samples=8, seeds=2,
                         progress=False)
    assert scores.seeds("params", "changed") < scores.seeds("params", "original")
    verdict = lathe.gate(net, recipe, samples=8, seeds=2, progress=False)
    assert isinstance(verdict.accepted, bool) and verdict.reason


def search(network, folder):
    rng = np.random.default_rng(1)
    data = rng.standard_normal((64, 3, 32, 32), dtype=np.float32), rng.integers(0, 10, 64)
    told = []
    run = lathe.optimize(network, data=data, tolerance=2, work_dir=folder / "run",
                         samples=8, seeds=1, variants=4, exact=2, tune=0, blocks=False,
                         progress=told.append)
    assert {"progress", "trial"} <= {event["event"] for event in told}
    assert run.winner.ms > 0 and len(run.layers) > 0 and len(run.frontier) > 0
    assert pathlib.Path(run.report(open=False)).read_text().startswith("<!")
    again = lathe.Run(folder / "run")
    assert again.result == run.result
    assert "ms" in repr(run) and "<table>" in run._repr_html_()
    return run


def compiled(run, folder):
    out = run.winner.compile(folder / "out", progress=False)
    x = np.ones((2, 3, 32, 32), np.float32)
    ready = lathe.load(out)
    np.testing.assert_allclose(ready(x), run.winner.network(x), rtol=1e-3, atol=1e-4)
    assert ready.inputs[0]["shape"] == [2, 3, 32, 32]


def made_again(run, folder):
    made = lathe.replay(run.winner.bundle, folder / "again", progress=False)
    assert made.same and not made.others and "again" in repr(made), made
    checks = lathe.verify(made.folder, progress=False)
    assert checks and "nothing differs" in checks.summary, checks
    (folder / "again/model.onnx").write_bytes(b"")
    assert not lathe.verify(made.folder, progress=False)


def main():
    networks()
    nests()
    judging()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run = search(lathe.load(SEARCHED), folder)
        compiled(run, folder)
        made_again(run, folder)


if __name__ == "__main__":
    main()

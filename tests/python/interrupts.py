"""Ctrl-C while Lathe works: a search keeps the best and goes on later, other calls end."""
import _thread
import pathlib
import tempfile

import lathe

NETWORK = pathlib.Path(__file__).resolve().parents[1] / "killed_network.graph"


def interrupted(function, after):
    """Calls a function with a listener that interrupts the main thread at an event."""
    def tell(event):
        if after(event):
            _thread.interrupt_main()
    return function(tell)


def search(folder):
    net = lathe.load(NETWORK)
    options = {"work_dir": folder / "run", "samples": 8, "seeds": 1, "variants": 4, "tune": 0,
               "blocks": False}
    run = interrupted(lambda tell: lathe.optimize(net, exact=6, progress=tell, **options),
                      lambda event: event["event"] == "trial")
    assert run.stopped and run.winner.ms > 0, run
    whole = lathe.optimize(net, exact=6, progress=False, **options)
    assert not whole.stopped


def scoring():
    net = lathe.model("resnet20-cifar")
    try:
        interrupted(lambda tell: lathe.score(net, samples=8, seeds=50, progress=tell),
                    lambda event: event.get("done") == 1)
    except KeyboardInterrupt:
        return
    raise AssertionError("the score was not interrupted")


def main():
    with tempfile.TemporaryDirectory() as name:
        search(pathlib.Path(name))
    scoring()


if __name__ == "__main__":
    main()

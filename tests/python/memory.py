"""Memory does not grow with the networks that were compiled, run and dropped."""
import gc
import resource

import lathe
import numpy as np

ROUNDS, WARM, MOST_GROWTH = 40, 10, 24  # growth in MiB


def used():
    """Returns the most memory that this process had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    x = np.zeros((1, 3, 32, 32), np.float32)
    for count in range(ROUNDS):
        lathe.model("nasbench201:6111", seed=count)(x)
        lathe.score(lathe.model("nasbench201:6111"), "params", samples=4, seeds=1, progress=False)
        gc.collect()
        if count == WARM:
            before = used()
    growth = used() - before
    print(f"{growth:.1f} MiB more after {ROUNDS - WARM - 1} networks")
    assert growth < MOST_GROWTH


if __name__ == "__main__":
    main()

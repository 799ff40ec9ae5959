"""The smallest use of btune: plain python-blosc2 and an environment variable.

    BTUNE_TRADEOFF=0.5 python create_ndarray.py [FILE.npz]

C-Blosc2 finds the tuner by itself where the package is installed in the `python` of the PATH.
"""

import os
import sys
import time
from pathlib import Path

import blosc2
import numpy as np

SAMPLE = Path(__file__).parent / "data" / "relief_etopo5_f32.npz"


def load(path):
    """The first array of a .npz file."""
    with np.load(path) as arrays:
        return arrays[arrays.files[0]]


def chunk_shape(array, target=256 * 1024):
    """Whole rows of the first axis, about `target` bytes: a search needs some chunks to go on."""
    rows = max(1, target // array[:1].nbytes)
    return (min(rows, array.shape[0]), *array.shape[1:])


def main():
    """Stores the array with the tuner, then without, and prints a row for each."""
    array = load(sys.argv[1] if len(sys.argv) > 1 else SAMPLE)
    tradeoff = os.environ.setdefault("BTUNE_TRADEOFF", "0.5")
    print(f"{array.dtype} {array.shape}, {array.nbytes} bytes")
    blosc2.asarray(array[:1])  # the first one looks for the tuner, which takes a while
    print(f"{'':<22} {'bytes':>9} {'ratio':>6} {'milliseconds':>13}")
    for name in (f"BTUNE_TRADEOFF={tradeoff}", "without a tuner"):
        if name == "without a tuner":
            del os.environ["BTUNE_TRADEOFF"]  # C-Blosc2 looks at it for every new array
        start = time.perf_counter()
        stored = blosc2.asarray(array, chunks=chunk_shape(array))
        seconds = time.perf_counter() - start
        assert np.array_equal(stored[:], array, equal_nan=array.dtype.kind == "f")
        cbytes, ratio = stored.schunk.cbytes, stored.schunk.cratio
        print(f"{name:<22} {cbytes:>9} {ratio:>6.2f} {seconds * 1000:>13.1f}")


if __name__ == "__main__":
    main()

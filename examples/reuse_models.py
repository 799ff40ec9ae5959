"""Several arrays in a row, with models kept in memory from one to the next.

    python reuse_models.py [FOLDER]

FOLDER holds model files. Without one there is no model to keep: the search alone decides.
"""

import sys
import time
from pathlib import Path

import blosc2
import blosc2_btune
import numpy as np

DATA = Path(__file__).parent / "data"


def chunk_shape(array, target=64 * 1024):
    """Whole rows of the first axis, about `target` bytes."""
    rows = max(1, target // array[:1].nbytes)
    return (min(rows, array.shape[0]), *array.shape[1:])


def main():
    """Stores each sample array, and prints a row for it."""
    if len(sys.argv) > 1:
        blosc2_btune.set_params_defaults(models_dir=sys.argv[1])
    print(f"{'array':<22} {'ratio':>7} {'milliseconds':>13}")
    with blosc2_btune.ReuseModels():
        for path in sorted(DATA.glob("*.npz")):
            with np.load(path) as arrays:
                array = arrays["data"]
            start = time.perf_counter()
            cparams = {"tuner": blosc2.Tuner.BTUNE}
            stored = blosc2.asarray(array, chunks=chunk_shape(array), cparams=cparams)
            seconds = time.perf_counter() - start
            assert stored[:].tobytes() == array.tobytes()
            print(f"{path.stem:<22} {stored.schunk.cratio:>7.2f} {seconds * 1000:>13.1f}")


if __name__ == "__main__":
    main()

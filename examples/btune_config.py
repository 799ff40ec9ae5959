"""Settings in the program: what tradeoffs and performance modes make of an array.

python btune_config.py [FILE.npz]
"""

import sys
import time
from pathlib import Path

import blosc2
import blosc2_btune
import numpy as np
from blosc2_btune import PerformanceMode

SAMPLE = Path(__file__).parent / "data" / "ocean_temp_f32.npz"
CHUNKS = 100
MIB = 1024 * 1024


def pieces(path):
    """A series of chunks, long enough for a search: the first array of a file, again and again.

    Each time it begins at another place; no two chunks are the same.
    """
    with np.load(path) as arrays:
        array = arrays[arrays.files[0]].ravel()
    items = min(array.size // 2, 128 * 1024 // array.itemsize)
    steps = range(0, CHUNKS * 4093, 4093)
    return np.concatenate([array[s % (array.size - items) :][:items] for s in steps]), items


def measure(data, items):
    """Ratio, and MiB/s to write and to read."""
    start = time.perf_counter()
    stored = blosc2.asarray(data, chunks=(items,), cparams={"tuner": blosc2.Tuner.BTUNE})
    written = time.perf_counter()
    back = stored[:]
    read = time.perf_counter()
    assert back.tobytes() == data.tobytes()
    size = data.nbytes / MIB
    return stored.schunk.cratio, size / (written - start), size / (read - written)


def main():
    """Prints a row for each setting."""
    data, items = pieces(sys.argv[1] if len(sys.argv) > 1 else SAMPLE)
    print(f"{data.nbytes / MIB:.0f} MiB of {data.dtype} in {CHUNKS} chunks")
    print(f"{'mode':<9} {'tradeoff':>8} {'ratio':>7} {'write MiB/s':>12} {'read MiB/s':>11}")
    for mode in (PerformanceMode.COMP, PerformanceMode.DECOMP, PerformanceMode.BALANCED):
        for tradeoff in (0.1, 0.5, 0.9):
            blosc2_btune.set_params_defaults(perf_mode=mode, tradeoff=tradeoff)
            ratio, write, read = measure(data, items)
            print(f"{mode.name:<9} {tradeoff:>8} {ratio:>7.2f} {write:>12.0f} {read:>11.0f}")


if __name__ == "__main__":
    main()

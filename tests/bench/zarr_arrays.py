"""Measures sizes and times of Zarr arrays (`make bench`).

Each sample array, repeated to a series of 8 MiB in chunks of 256 KiB, is written to memory and
read back with our codec, with tuned Blosc chunks, and with what zarr-python has. The search for
parameters is included.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import support  # noqa: E402
from btune.zarr import Btune, PortableBlosc, disable, enable  # noqa: E402
from hdf5 import progress, table  # noqa: E402

SERIES = 8 << 20
CHUNK = 256 << 10
REFERENCE = "blosc zstd-5 shuffle"
FIXED = [("zstd", 5, "shuffle"), ("lz4", 5, "shuffle"), ("lz4", 1, "bitshuffle")]


def contestants():
    """Compressors by name, made anew: each run starts cold."""
    stock = {REFERENCE: BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"), "default": "auto"}
    tuned = {f"btune {t}": Btune(tradeoff=t) for t in (0.1, 0.5, 0.9)}
    portable = {f"tuned blosc {t}": PortableBlosc(tradeoff=t) for t in (0.1, 0.5, 0.9)}
    return stock | tuned | portable


def write(data, compressors):
    store = zarr.storage.MemoryStore()
    start = time.perf_counter()
    chunks = (CHUNK // data.itemsize,)
    array = zarr.create_array(store, data=data, chunks=chunks, compressors=compressors)
    return time.perf_counter() - start, array


def read(store, data):
    array = zarr.open_array(store, mode="r")
    start = time.perf_counter()
    back = array[:]
    seconds = time.perf_counter() - start
    assert back.tobytes() == data.tobytes()
    return seconds


def measure(data, rounds):
    """Bytes, and least seconds to write and to read, by name."""
    found = {}
    for _ in range(rounds):
        for name, compressors in contestants().items():
            wrote, array = write(data, compressors)
            nbytes = array.nbytes_stored()
            known = found.get(name, (nbytes, wrote, np.inf))
            reading = min(known[2], read(array.store, data))
            found[name] = (min(known[0], nbytes), min(known[1], wrote), reading)
    return found


def read_alike(data, rounds):
    """How many times as fast our codec reads what stock `blosc` wrote, for each of `FIXED`."""
    ratios = []
    for cname, clevel, shuffle in FIXED:
        _, array = write(data, BloscCodec(cname=cname, clevel=clevel, shuffle=shuffle))
        stock, ours = [], []
        for _ in range(2 * rounds):
            stock.append(read(array.store, data))
            enable()
            ours.append(read(array.store, data))
            disable()
        ratios.append(min(stock) / min(ours))
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    relative, alike = {}, []
    for path in support.sample_paths():
        progress(path.stem)
        flat = support.load(path).reshape(-1)
        data = np.resize(flat, SERIES // flat.itemsize)
        found = measure(data, rounds)
        reference = found[REFERENCE]
        for name, figures in found.items():
            pairs = zip(figures, reference, strict=True)
            relative.setdefault(name, []).append([a / b for a, b in pairs])
        alike.append(read_alike(data, rounds))
    print(f"Zarr, {len(alike)} arrays, against {REFERENCE} (geometric means; below 1 is better)\n")
    rows = [
        [name, *(f"{statistics.geometric_mean(column):.2f}" for column in zip(*runs, strict=True))]
        for name, runs in relative.items()
    ]
    table(["compressor", "size", "write", "read"], rows)
    print("Reading what core `blosc` wrote: times as fast as core `blosc`, medians\n")
    columns = zip(*alike, strict=True)
    names = ["-".join(map(str, parameters)) for parameters in FIXED]
    table(names, [[f"{statistics.median(column):.2f}" for column in columns]])


if __name__ == "__main__":
    main()

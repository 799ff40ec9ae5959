"""Writes stored chunks with the Blosc2 packages that this environment has.

    python make.py hdf5plugin    # needs h5py and hdf5plugin
    python make.py blosc2        # needs python-blosc2
    python make.py blosc         # needs python-blosc

A file is named WRITER-VERSION-WHAT.DATA.ITEMSIZE.ELEMENTS.EXTENSION; DATA is a function below.
The files of btune itself are written by `cargo test --test golden -- --ignored`.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent


def integers(values, itemsize):
    return np.asarray(values, "<u8").view("u1").reshape(-1, 8)[:, :itemsize].tobytes()


def squares(itemsize, elements):
    i = np.arange(elements, dtype="u8")
    return integers(i * i // 5 % 65521, itemsize)


def noise(itemsize, elements):
    state, out = 1, bytearray()
    for _ in range(itemsize * elements):
        state = (state * 1103515245 + 12345) % 2**31
        out.append(state >> 16 & 255)
    return bytes(out)


def zeros(itemsize, elements):
    return bytes(itemsize * elements)


def sevens(itemsize, elements):
    return integers(np.full(elements, 7), itemsize)


def nans(itemsize, elements):
    return np.full(elements, np.nan, f"<f{itemsize}").tobytes()


def write(writer, what, data, itemsize, elements, stored, kind="b2frame"):
    name = f"{writer}-{what}.{data.__name__}.{itemsize}.{elements}.{kind}"
    (HERE / name).write_bytes(stored)
    print(f"{len(stored):6} {name}")


def by_hdf5plugin():
    import h5py
    import hdf5plugin

    writer = f"hdf5plugin-{hdf5plugin.version}"
    # What, data, itemsize, shape, (block size, level, filter, codec).
    cases = [
        ("flat-blosclz", squares, 4, (3000,), (0, 5, 1, 0)),
        ("flat-noise", noise, 4, (1000,), (0, 5, 1, 0)),
        ("flat-zeros", zeros, 8, (5000,), (0, 5, 1, 0)),
        ("grid-lz4-bitshuffle", squares, 2, (70, 50), (1000, 5, 2, 1)),
        ("grid-lz4hc", squares, 8, (17, 23, 9), (4000, 9, 1, 2)),
        ("grid-zlib-nofilter", squares, 3, (100, 31), (0, 6, 0, 4)),
        ("grid-zstd", squares, 4, (64, 48), (0, 3, 1, 5)),
        ("grid-delta", squares, 8, (40, 50), (4096, 5, 3, 1)),
        ("grid-level0", squares, 4, (30, 31), (0, 0, 1, 1)),
        ("grid-noise", noise, 2, (41, 43), (500, 5, 1, 5)),
        ("grid-zeros", zeros, 4, (100, 90), (0, 5, 1, 0)),
        ("rank9", squares, 4, (2,) * 9, (0, 5, 1, 1)),
        ("rank16", squares, 4, (2, 1) * 8, (0, 5, 1, 1)),
        ("rank17", squares, 4, (2,) * 6 + (1,) * 11, (0, 5, 1, 1)),
        ("flat-v300", squares, 300, (20,), (0, 5, 1, 0)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        for what, data, itemsize, shape, (block, level, filter_, codec) in cases:
            elements = int(np.prod(shape))
            size = min(itemsize, 8)
            raw = data(size, elements * itemsize // size)
            array = np.frombuffer(raw, f"V{itemsize}").reshape(shape)
            with h5py.File(Path(folder) / "x.h5", "w") as file:
                options = (0, block, 0, 0, level, filter_, codec)
                dataset = file.create_dataset(
                    "x", data=array, chunks=shape, compression=32026, compression_opts=options
                )
                file.flush()
                stored = dataset.id.read_direct_chunk((0,) * len(shape))[1]
            write(writer, what, data, size, len(raw) // size, stored)


def by_blosc2():
    import blosc2

    writer = f"blosc2-{blosc2.__version__}"
    codec, filter_ = blosc2.Codec, blosc2.Filter

    def frame(raw, meta=None, vlmeta=None, **cparams):
        schunk = blosc2.SChunk(
            chunksize=len(raw), data=raw, cparams=cparams, contiguous=True, meta=meta or {}
        )
        for key, value in (vlmeta or {}).items():
            schunk.vlmeta[key] = value
        return schunk.to_cframe()

    def flat(what, data, itemsize, elements, **options):
        stored = frame(data(itemsize, elements), typesize=itemsize, **options)
        write(writer, what, data, itemsize, elements, stored)

    bytedelta = [filter_.SHUFFLE, filter_.BYTEDELTA]
    flat("bytedelta", squares, 8, 3000, codec=codec.ZSTD, filters=bytedelta, filters_meta=[0, 8])
    flat(
        "delta-shuffle", squares, 4, 9000, filters=[filter_.DELTA, filter_.SHUFFLE], blocksize=4096
    )
    flat("dictionary", squares, 4, 9000, codec=codec.ZSTD, use_dict=True, blocksize=2048)
    flat("meta", squares, 2, 2000, meta={"one": [1, 2], "two": "x" * 300})
    flat("vlmeta", squares, 2, 2000, vlmeta={"note": "y" * 500, "more": list(range(99))})
    flat("never-split", squares, 8, 4000, codec=codec.LZ4, splitmode=blosc2.SplitMode.NEVER_SPLIT)
    flat(
        "always-split", squares, 7, 4000, codec=codec.ZLIB, splitmode=blosc2.SplitMode.ALWAYS_SPLIT
    )
    flat("threads", squares, 4, 9000, nthreads=4, blocksize=8192)
    flat("sevens", sevens, 4, 5000)
    flat("odd", squares, 1, 3001, blocksize=1000, codec=codec.LZ4)

    def special(what, data, itemsize, array):
        write(writer, what, data, itemsize, array.size, array.to_cframe())

    one = {"chunks": (60, 50), "blocks": (20, 50)}
    special("grid-zeros", zeros, 8, blosc2.zeros((60, 50), "f8", **one))
    special("grid-nans", nans, 4, blosc2.nans((60, 50), "f4", **one))
    special("grid-full", sevens, 2, blosc2.full((60, 50), 7, "u2", **one))
    special("grid-empty", zeros, 4, blosc2.empty((60, 50), "u4", **one))
    raw = np.frombuffer(squares(4, 3000), "<u4").reshape(60, 50)
    special("grid", squares, 4, blosc2.asarray(raw, chunks=(60, 50), blocks=(13, 17)))

    chunk = blosc2.compress2(squares(4, 3000), typesize=4, codec=codec.LZ4)
    write(writer, "compress2", squares, 4, 3000, chunk, "chunk")
    os.environ["BLOSC_BLOSC1_COMPAT"] = "1"
    chunk = blosc2.compress(squares(4, 3000), typesize=4, codec=codec.BLOSCLZ)
    write(writer, "compress-blosc1", squares, 4, 3000, chunk, "chunk")


def by_blosc():
    import blosc

    writer = f"blosc-{blosc.__version__}"
    for name in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        blosc.set_blocksize(0 if name == "zstd" else 4096)
        shuffle = blosc.BITSHUFFLE if name == "lz4" else blosc.SHUFFLE
        chunk = blosc.compress(squares(4, 3000), typesize=4, shuffle=shuffle, cname=name)
        write(writer, name, squares, 4, 3000, chunk, "chunk")
    chunk = blosc.compress(noise(4, 500), typesize=4)
    write(writer, "noise", noise, 4, 500, chunk, "chunk")


if __name__ == "__main__":
    {"hdf5plugin": by_hdf5plugin, "blosc2": by_blosc2, "blosc": by_blosc}[sys.argv[1]]()

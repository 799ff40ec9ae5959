"""What the child processes of the Zarr tests share: arrays, and what is in their chunks."""

import numpy as np
import zarr
from zarr.core.array_spec import ArrayConfig, ArraySpec
from zarr.core.buffer import default_buffer_prototype

RNG_SEED = 7


def waves(shape, dtype="f4"):
    """A smooth field with some noise, which is worth tuning for."""
    rng = np.random.default_rng(RNG_SEED)
    field = np.cumsum(rng.normal(size=shape), axis=-1)
    return np.round(field, 2).astype(dtype) if np.dtype(dtype).kind == "f" else field.astype(dtype)


def dataset_cases():
    """Arrays of all kinds by name, each with its chunks."""
    rng = np.random.default_rng(RNG_SEED)
    return {
        "f4": (waves((64, 1000)), (16, 1000)),
        "f8": (waves((3, 33, 77), "f8"), (2, 10, 50)),
        "big": (waves((40, 500), ">f8"), (16, 500)),
        "i2": (waves((40, 500), "<i2"), (16, 500)),
        "u1": (rng.integers(0, 4, (101, 103), "u1"), (33, 103)),
        "bool": (waves((100, 300)) > 0, (30, 300)),
        "c16": (waves((20, 100), "f8") * (1 + 2j), (8, 100)),
        "time": (np.arange(4000).astype("M8[s]"), (999,)),
        "noise": (rng.integers(0, 256, (50, 2000), "u1"), (16, 2000)),
        "tiny": (np.arange(3, dtype="i8"), (1,)),
        "scalar": (np.array(2.5), ()),
    }


def create(store, codec, case, **keywords):
    """An array of a case, with this codec."""
    data, chunks = case
    given = {"shape": data.shape, "dtype": data.dtype, "chunks": chunks, "compressors": codec}
    array = zarr.create_array(store, **given | keywords)
    array[...] = data
    return array


def check(array, data):
    """The array has these data, bit by bit."""
    got = array[...]
    assert got.shape == data.shape, (got.shape, data.shape)
    # zarr gives the byte order that it was asked for; values are compared in ours.
    native = data.dtype.newbyteorder("=")
    assert np.asarray(got, native).tobytes() == np.asarray(data, native).tobytes(), array


def as_chunk(array, data):
    """Bytes as the codecs of an array take them, and what these are told with them."""
    prototype, metadata = default_buffer_prototype(), array.metadata
    config = ArrayConfig.from_dict({})
    spec = ArraySpec(array.chunks, metadata.data_type, metadata.fill_value, config, prototype)
    return prototype.buffer.from_bytes(data), spec


def chunks(folder):
    """The bytes of all stored chunks below a folder, by their path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in ("zarr.json", ".zarray", ".zattrs", ".zgroup")
    }


def form(chunk):
    """The stored form of a chunk, by its first bytes."""
    if chunk[:9] == b"\x9e\xa8b2frame":
        return "cframe"
    return {2: "blosc", 5: "chunk", 6: "chunk"}[chunk[0]]


def refused(function, *parts, error=ValueError):
    """A call fails with an error, in whose one line all parts are."""
    try:
        function()
    except error as raised:
        told = str(raised)
    else:
        raise AssertionError(f"no {error.__name__}")
    assert "\n" not in told, told
    assert all(part in told for part in parts), (parts, told)

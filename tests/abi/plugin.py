"""What the cases share: the library and its record, super-chunks to tune, the trace."""

import contextlib
import ctypes
import json
import os
from pathlib import Path

import blosc2
import numpy as np

CHUNK = 64 * 1024
TUNER = blosc2.Tuner.BTUNE
RECORD = np.dtype(
    [
        ("nchunks", "u8"),
        ("codec", "u1"),
        ("codec_meta", "u1"),
        ("clevel", "u1"),
        ("splitmode", "u1"),
        ("filters", "u1", 6),
        ("filters_meta", "u1", 6),
        ("blocksize", "i4"),
        ("nthreads", "i2"),
        ("perf_mode", "u1"),
        ("origin", "u1"),
        ("tradeoff", "f4", 3),
        ("unused", "u4"),
    ]
)
_loaded = []


def load(path):
    """Loads the library, as `import blosc2_btune` does."""
    _loaded.append(ctypes.CDLL(str(path)))


def set_defaults(tradeoff=0.5, perf_mode=3, bandwidth=20 << 20, softs=5, hards=10, repeat=0):
    """`set_params_defaults` of the library; `tradeoff` is a number or three."""
    parts = np.atleast_1d(np.array(tradeoff, "f4"))
    values = (ctypes.c_float * len(parts))(*parts)
    u32 = ctypes.c_uint32
    return _loaded[0].set_params_defaults(
        u32(bandwidth), ctypes.c_int(perf_mode), values, ctypes.c_int(len(parts)),
        ctypes.c_bool(False), ctypes.c_int(-1), ctypes.c_char_p(b""),
        u32(0), u32(softs), u32(hards), ctypes.c_int(repeat),
    )  # fmt: skip


def records(schunk):
    """The runs of chunks that the library remembers of a super-chunk."""
    get = _loaded[0].btune_get_schunk_record
    pointer = ctypes.c_void_p(schunk.c_schunk)
    count = get(pointer, None, ctypes.c_int(0))
    assert count >= 0, f"btune_get_schunk_record: {count}"
    runs = np.zeros(count, RECORD)
    assert get(pointer, runs.ctypes.data_as(ctypes.c_void_p), ctypes.c_int(count)) == count
    return runs


def schunk(data=None, typesize=None, chunksize=CHUNK, storage=(), **cparams):
    """A tuned super-chunk. `storage`: urlpath, contiguous, mode."""
    given = {"tuner": TUNER, "typesize": typesize or data.itemsize, "nthreads": 1, **cparams}
    return blosc2.SChunk(chunksize=chunksize, data=data, cparams=given, **dict(storage))


def check(got, want):
    """The super-chunk `got` holds the bytes of the array `want`, whichever way they are read."""
    raw = want.tobytes()
    assert got.nbytes == len(raw)
    assert b"".join(got.decompress_chunk(i) for i in range(got.nchunks)) == raw
    if raw:
        assert got[:] == raw


def series(array, count, size=CHUNK):
    """`count` chunks of `size` bytes of the nature of `array`, no two the same."""
    flat = array.reshape(-1)
    items = size // flat.itemsize
    twice = np.concatenate([flat, flat[:items]])
    for i in range(count):
        start = (i * (items // 2 + 1)) % flat.size
        yield twice[start : start + items]


def block_sizes(got):
    """The block size of every chunk, from the chunk headers."""
    heads = (got.get_chunk(i)[8:12] for i in range(got.nchunks))
    return [int.from_bytes(head, "little") for head in heads]


@contextlib.contextmanager
def environment(**values):
    """Sets variables for as long as the context lasts."""
    os.environ.update(values)
    try:
        yield
    finally:
        for name in values:
            del os.environ[name]


@contextlib.contextmanager
def trace():
    """A list that has the rows of BTUNE_TRACE=json when the context is over.

    They are read back from stderr, which must be a file from the start: the library prints nothing
    once something else stands in its place.
    """
    rows, before = [], os.fstat(2).st_size
    with environment(BTUNE_TRACE="json"):
        yield rows
    with Path("/proc/self/fd/2").open() as lines:
        lines.seek(before)
        rows += [json.loads(line) for line in lines if line.startswith("{")]


def arrays(folder):
    """The sample arrays by name."""
    found = {}
    for path in sorted(Path(folder).glob("*.npz")):
        with np.load(path) as members:
            found[path.stem] = members["data"]
    return found

"""Stored chunks that are damaged: an error or the right data, and never a crash or a hang."""

import pytest
from support import run_btune

# Each damaged chunk is read in one child process: a crash of it fails the test.
_DAMAGE = """
import random, struct, sys
import h5py, numpy as np

kind, path = sys.argv[1:]
steps = np.arange(60 * 50).reshape(60, 50) // 7
data = {
    "i4": steps.astype("i4"),
    "f8 1d": np.sqrt(steps.ravel()),
    "noise": np.random.default_rng(1).integers(0, 256, (50, 60), "u1"),
}
with h5py.File(path, "w") as f:
    for name, a in data.items():
        f.create_dataset(name, data=a, chunks=a.shape, compression=32026)
        f.create_dataset("stock " + name, data=a, chunks=a.shape, compression=32026,
                         compression_opts=(1, 0, 0, 0, 5, 1, 5))

def damaged(stored):
    if kind == "truncated":
        for end in range(1, len(stored)):
            yield stored[:end]
        return
    rng = random.Random(7)
    for _ in range(2000):
        bytes_ = bytearray(stored)
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            at = rng.randrange(len(bytes_) if rng.random() < 0.5 else min(len(bytes_), 200))
            bytes_[at] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(256)
        yield bytes(bytes_)

right = wrong = refused = 0
with h5py.File(path, "r+") as f:
    for name, d in list(f.items()):
        a = data[name.removeprefix("stock ")]
        first = (0,) * a.ndim
        _, stored = d.id.read_direct_chunk(first)
        for bytes_ in damaged(stored):
            d.id.write_direct_chunk(first, bytes_)
            d.id.refresh()
            try:
                got = d[()]
            except OSError:
                refused += 1
                continue
            assert got.shape == a.shape and got.dtype == a.dtype
            right += (got == a).all()
            wrong += not (got == a).all()
        d.id.write_direct_chunk(first, stored)
        d.id.refresh()
        assert (d[()] == a).all()
print(right, wrong, refused)
"""


@pytest.mark.parametrize("kind", ["truncated", "changed"])
def test_a_damaged_chunk_is_refused_and_nothing_crashes(kind, tmp_path):
    done = run_btune(_DAMAGE, kind, tmp_path / "damaged.h5", timeout=900)
    right, wrong, refused = map(int, done.stdout.split())
    if kind == "truncated":
        assert (right, wrong) == (0, 0)
        assert refused > 1000
    else:
        # Without a checksum, a changed byte of the data itself cannot be noticed.
        assert refused > 2000


_CLAIMS = """
import sys
import h5py, numpy as np
import blosc2
path = sys.argv[1]
a = np.arange(4096, dtype="i4")
with h5py.File(path, "w") as f:
    d = f.create_dataset("x", data=a, chunks=(4096,), compression=32026)
    zeros = blosc2.SChunk(chunksize=1 << 30, cparams={"typesize": 4}, contiguous=True)
    zeros.fill_special(1 << 28, blosc2.SpecialValue.ZERO)
    two = blosc2.SChunk(chunksize=8192, data=a, cparams={"typesize": 4}, contiguous=True)
    for frame in (zeros.to_cframe(), two.to_cframe(), b"", bytes(200), b"\\x9e\\xa8b2frame\\0"):
        if frame:
            d.id.write_direct_chunk((0,), frame)
            d.id.refresh()
            try:
                d[()]
                raise SystemExit(f"{len(frame)} bytes were read")
            except OSError:
                pass
    d.id.write_direct_chunk((0,), blosc2.SChunk(chunksize=16384, data=a, cparams={"typesize": 4},
                                                contiguous=True).to_cframe())
    d.id.refresh()
    assert (d[()] == a).all()
print("held")
"""


def test_frames_of_another_size_are_refused_before_memory_is_taken(tmp_path):
    done = run_btune(_CLAIMS, tmp_path / "claims.h5")
    assert done.stdout == "held\n"


_SHAPES = """
import sys
import blosc2, h5py, numpy as np
a = np.arange(64 * 80, dtype="i4").reshape(80, 64)
small = np.arange(1000, dtype="i4")
with h5py.File(sys.argv[1], "w") as f:
    d = f.create_dataset("x", (64, 80), "i4", chunks=(64, 80), compression=32026)
    for array in (a, a[:40], np.tile(a, 2), a.ravel()):
        frame = blosc2.asarray(array, chunks=array.shape).to_cframe()
        d.id.write_direct_chunk((0, 0), bytes(frame))
        d.id.refresh()
        try:
            d[()]
            raise SystemExit(f"{array.shape} was read")
        except OSError:
            pass
    # A plain frame may be shorter, behind another filter: what is missing reads as zeros.
    d = f.create_dataset("y", (1 << 22,), "i4", chunks=(1 << 22,), compression=32026)
    frame = blosc2.SChunk(chunksize=4000, data=small, cparams={"typesize": 4}, contiguous=True)
    d.id.write_direct_chunk((0,), frame.to_cframe())
    d.id.refresh()
    got = d[()]
    assert (got[:1000] == small).all() and not got[1000:].any()
print("held")
"""


def test_arrays_of_another_shape_are_refused_and_short_chunks_are_not_read_past(tmp_path):
    assert run_btune(_SHAPES, tmp_path / "shapes.h5").stdout == "held\n"

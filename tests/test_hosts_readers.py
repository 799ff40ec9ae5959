"""Readers that have no btune: PyTables, b2h5py, and an old hdf5plugin."""

import json

import blosc2
import h5py
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")


@pytest.fixture(params=[0.1, 0.9])
def tuned(request, arrays, tmp_path):
    """A file with all sample arrays, written with our filter."""
    path = tmp_path / "tuned.h5"
    support.write_tuned(path, arrays, target=256 * 1024, BTUNE_TRADEOFF=request.param)
    return path


def test_pytables(tuned, stock_python):
    done = stock_python(
        """
        import sys
        import numpy as np, tables
        with tables.open_file(sys.argv[1]) as f, np.load(sys.argv[2]) as want:
            for name in want:
                a, node = want[name], f.get_node("/" + name)
                assert np.array_equal(node[...], a), name
                assert np.array_equal(node[1:], a[1:]), name
                assert np.array_equal(node[-1], a[-1]), name
            print(len(want.files))
        """,
        tuned,
        tuned.with_suffix(".source.npz"),
    )
    assert int(done.stdout) == 10


def test_slices_through_b2h5py(tuned, stock_python):
    done = stock_python(
        """
        import sys
        import h5py, numpy as np
        from b2h5py import B2Dataset
        fast = 0
        with h5py.File(sys.argv[1]) as f, np.load(sys.argv[2]) as want:
            for name in want:
                a, d = want[name], B2Dataset(f[name])
                half = tuple(slice(n // 3, n // 3 + n // 2 + 1) for n in a.shape)
                for index in (half, (slice(None),) * a.ndim, tuple(slice(0, 1) for _ in a.shape)):
                    assert np.array_equal(d[index], a[index]), (name, index)
                fast += d.is_b2_fast_slicing
        print(fast)
        """,
        tuned,
        tuned.with_suffix(".source.npz"),
    )
    assert int(done.stdout) >= 0


BYTEDELTA = 35

_READ_CHUNKS = """
import json, sys
import h5py, hdf5plugin, numpy as np
assert hdf5plugin.version == "4.1.1"
result = {}
with h5py.File(sys.argv[1]) as f, np.load(sys.argv[2]) as want:
    for name in want:
        a, d = want[name], f[name]
        for at in d.iter_chunks():
            try:
                got = "equal" if np.array_equal(d[at], a[at]) else "different"
            except OSError:
                got = "error"
            result.setdefault(name, []).append(got)
print(json.dumps(result))
"""


def _uses_bytedelta(dataset, number):
    chunk = dataset.id.get_chunk_info(number)
    raw = dataset.id.read_direct_chunk(chunk.chunk_offset)[1]
    header = blosc2.schunk_from_cframe(raw).get_chunk(0)[:32]
    return BYTEDELTA in header[16:22]


def test_hdf5plugin_4_1_1(tuned, old_python):
    """It has no bytedelta: an error for such a chunk. It reads all others, and none wrongly."""
    source = tuned.with_suffix(".source.npz")
    done = support.run_python(_READ_CHUNKS, tuned, source, python=old_python)
    result = json.loads(done.stdout)
    assert len(result) == 10
    with h5py.File(tuned) as f:
        for name, chunks in result.items():
            assert len(chunks) == f[name].id.get_num_chunks()
            for i, got in enumerate(chunks):
                want = "error" if _uses_bytedelta(f[name], i) else "equal"
                assert got == want, (name, i)
    assert sum(chunks.count("equal") for chunks in result.values()) > 20

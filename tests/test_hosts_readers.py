"""Readers that have no btune: PyTables, b2h5py, and hdf5plugin of 2023."""

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


def test_hdf5plugin_4_1_1(tuned, arrays, old_python, tmp_path):
    support.assert_stock_reads(tuned, arrays, tmp_path, python=old_python)

"""The command-line tools of HDF5 1.10: h5dump and h5repack."""

import h5py
import numpy as np
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")


@pytest.fixture
def tuned(relief, tmp_path):
    """A file with the relief, written with our filter."""
    path = tmp_path / "tuned.h5"
    support.write_tuned(path, {"v": relief, "line": relief[0]}, BTUNE_TRADEOFF=0.5)
    return path


def _params(path, name):
    with h5py.File(path) as f:
        return f[name].id.get_create_plist().get_filter(0)


def test_h5dump_reads(tuned, relief, tmp_path):
    raw = tmp_path / "v.bin"
    support.run(["h5dump", "-d", "v", "-b", "LE", "-o", raw, tuned], env=support.btune_env())
    assert raw.read_bytes() == relief.tobytes()


def test_h5repack_copies_a_tuned_file(tuned, relief, tmp_path):
    path = tmp_path / "copy.h5"
    support.run(["h5repack", tuned, path], env=support.btune_env())
    assert _params(path, "v")[0] == support.FILTER_ID
    support.assert_stock_reads(path, {"v": relief, "line": relief[0]}, tmp_path)


def test_h5repack_takes_the_filter_off(tuned, relief, tmp_path):
    path = tmp_path / "plain.h5"
    support.run(["h5repack", "-f", "NONE", tuned, path], env=support.btune_env())
    with h5py.File(path) as f:
        assert f["v"].id.get_create_plist().get_nfilters() == 0
        assert np.array_equal(f["v"][()], relief)


@pytest.mark.parametrize("flag", [0, 1])
def test_h5repack_compresses(relief, tmp_path, flag):
    plain, path = tmp_path / "plain.h5", tmp_path / "packed.h5"
    with h5py.File(plain, "w") as f:
        f.create_dataset("v", data=relief, chunks=(64, 1024))
        f.create_dataset("line", data=relief[0], chunks=(256,))
    done = support.run(
        ["h5repack", "-f", f"UD=32026,{flag},0", plain, path],
        env=support.btune_env(BTUNE_TRADEOFF=0.5, BTUNE_TRACE="json"),
    )
    assert len(support.trace_rows(done.stderr)) >= 8
    assert path.stat().st_size < 0.7 * plain.stat().st_size
    support.assert_stock_reads(path, {"v": relief, "line": relief[0]}, tmp_path)

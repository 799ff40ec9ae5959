"""Whose filter 32026 is used in a process that imports hdf5plugin."""

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

_WRITE = """
import numpy as np
with h5py.File("memory", "w", driver="core", backing_store=False) as f:
    data = np.arange(10_000)
    f.create_dataset("v", data=data, chunks=(5_000,), compression=32026)
    f.flush()
    assert (f["v"][()] == data).all()
"""
_PREPEND = f"h5py.h5pl.prepend({str(support.PLUGIN_DIR).encode()!r})\n"
_UNREGISTER = "h5py.h5z.unregister_filter(32026)\n"
_REGISTER = 'hdf5plugin.register("blosc2")\n'


def _is_ours(code, on_path):
    # Two chunks that differ: our filter traces two rows. The stock filter's C-Blosc2 looks for a
    # tuner of its own as soon as BTUNE_TRADEOFF is set, so that is left unset.
    env = {"HDF5_PLUGIN_PATH": support.PLUGIN_DIR} if on_path else {}
    done = support.run_python(code + _WRITE, BTUNE_TRACE="json", **env)
    rows = support.trace_rows(done.stderr)
    assert len(rows) in (0, 2)
    return bool(rows)


@pytest.mark.parametrize("first", ["import h5py, hdf5plugin\n", "import hdf5plugin, h5py\n"])
def test_on_the_path_ours_wins_in_either_order(first):
    assert _is_ours(first, on_path=True)


def test_without_the_path_theirs_is_used():
    assert not _is_ours("import h5py, hdf5plugin\n", on_path=False)


def test_registering_takes_it_over_and_unregistering_gives_it_back():
    code = "import h5py, hdf5plugin\n" + _REGISTER
    assert not _is_ours(code, on_path=True)
    assert _is_ours(code + _UNREGISTER, on_path=True)


def test_ours_can_be_put_in_place_of_a_registered_one():
    code = "import h5py, hdf5plugin\n"
    assert not _is_ours(code + _PREPEND, on_path=False)
    assert _is_ours(code + _UNREGISTER + _PREPEND, on_path=False)

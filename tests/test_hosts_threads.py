"""Three HDF5 libraries in one process, each in a thread of its own, all on our filter at once."""

import numpy as np
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

_THREADS = """
import sys, threading
import h5py, netCDF4, numpy as np, tables

folder, source = sys.argv[1:]
a = np.load(source)
ROUNDS, start, errors = 6, threading.Barrier(3), []

def with_h5py():
    with h5py.File(f"{folder}/h5py.h5", "w") as f:
        for i in range(ROUNDS):
            f.create_dataset(f"v{i}", data=a + i, chunks=(64, 1024), compression=32026)
    with h5py.File(f"{folder}/h5py.h5") as f:
        for i in range(ROUNDS):
            assert np.array_equal(f[f"v{i}"][()], a + i)

def with_netcdf4():
    with netCDF4.Dataset(f"{folder}/netcdf4.nc", "a") as d:
        for i in range(1, ROUNDS):
            d["relief"][i * len(a):(i + 1) * len(a)] = a + i
    with netCDF4.Dataset(f"{folder}/netcdf4.nc") as d:
        for i in range(ROUNDS):
            assert np.array_equal(d["relief"][i * len(a):(i + 1) * len(a)].data, a + i)

def with_pytables():
    filters = tables.Filters(complib="blosc2", complevel=5)
    with tables.open_file(f"{folder}/pytables.h5", "w") as f:
        for i in range(ROUNDS):
            f.create_carray("/", f"v{i}", obj=a + i, chunkshape=(64, 1024), filters=filters)
    with tables.open_file(f"{folder}/pytables.h5") as f:
        for i in range(ROUNDS):
            assert np.array_equal(f.get_node(f"/v{i}")[:], a + i)
    with tables.open_file(f"{folder}/tuned.h5") as f:
        for _ in range(ROUNDS):
            assert np.array_equal(f.root.v[:], a)

def guarded(work):
    start.wait()
    try:
        work()
    except BaseException as error:
        errors.append((work.__name__, repr(error)))

threads = [threading.Thread(target=guarded, args=(w,))
           for w in (with_h5py, with_netcdf4, with_pytables)]
for t in threads: t.start()
for t in threads: t.join()
assert not errors, errors
"""

_PREPARE = """
import sys
import h5netcdf, numpy as np
a = np.load(sys.argv[2])
with h5netcdf.File(sys.argv[1], "w") as f:
    f.dimensions = {"t": None, "x": a.shape[1]}
    f.resize_dimension("t", a.shape[0])
    f.create_variable("relief", ("t", "x"), data=a, chunks=(64, 1024), compression=32026)
"""


def test_h5py_netcdf4_and_pytables_at_once(relief, tmp_path):
    source = tmp_path / "relief.npy"
    np.save(source, relief)
    # Without BTUNE_TRADEOFF: the C-Blosc2 inside PyTables would take it as a wish for the tuner of
    # its own, which is not installed, and PyTables would store its chunks raw.
    support.run_btune(_PREPARE, tmp_path / "netcdf4.nc", source)
    support.write_tuned(tmp_path / "tuned.h5", {"v": relief})
    support.run_btune(_THREADS, tmp_path, source)

    want = {f"v{i}": relief + i for i in range(6)}
    support.assert_stock_reads(tmp_path / "h5py.h5", want, tmp_path)
    support.assert_stock_reads(tmp_path / "pytables.h5", want, tmp_path)
    whole = np.concatenate([relief + i for i in range(6)])
    support.assert_stock_reads(tmp_path / "netcdf4.nc", {"relief": whole}, tmp_path)

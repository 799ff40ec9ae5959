"""NetCDF-4: written through the C library, nccopy and h5netcdf, read and appended to by netCDF4."""

import ctypes.util
import shutil

import numpy as np
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

# Names of the axes of the file that `nccopy` starts from.
_MAKE_PLAIN = """
import sys
import netCDF4, numpy as np
a = np.load(sys.argv[2])
with netCDF4.Dataset(sys.argv[1], "w") as d:
    d.createDimension("time", None)
    d.createDimension("x", a.shape[1])
    v = d.createVariable("relief", a.dtype, ("time", "x"), chunksizes=(64, a.shape[1]))
    v[:] = a
"""

_READ = """
import sys
import netCDF4, numpy as np
a = np.load(sys.argv[2])
with netCDF4.Dataset(sys.argv[1]) as d:
    assert (d["relief"][:].data == a).all()
    print(d["relief"].filters())
"""


@pytest.fixture
def source(relief, tmp_path):
    """The relief as a .npy file."""
    path = tmp_path / "relief.npy"
    np.save(path, relief)
    return path


@pytest.fixture
def plain(source, tmp_path):
    """A NetCDF-4 file with the relief, not compressed."""
    path = tmp_path / "plain.nc"
    support.run_python(_MAKE_PLAIN, path, source)
    return path


def _nccopy(spec, plain, path, **env):
    nccopy = shutil.which("nccopy")
    return support.run([nccopy, "-F", spec, plain, path], env=support.btune_env(**env))


@pytest.mark.parametrize("spec", ["relief,32026", "*,32026"])
def test_nccopy_writes_and_netcdf4_reads(plain, source, relief, tmp_path, spec):
    path = tmp_path / "copy.nc"
    done = _nccopy(spec, plain, path, BTUNE_TRADEOFF=0.5, BTUNE_TRACE="json")
    assert len(support.trace_rows(done.stderr)) == 8
    support.run_btune(_READ, path, source)
    support.assert_stock_reads(path, {"relief": relief}, tmp_path)


def test_netcdf4_appends_to_existing_variables(plain, source, relief, tmp_path):
    path = tmp_path / "append.nc"
    _nccopy("relief,32026", plain, path)
    done = support.run_btune(
        """
        import sys
        import netCDF4, numpy as np
        a = np.load(sys.argv[2])
        with netCDF4.Dataset(sys.argv[1], "a") as d:
            d["relief"][len(a):2 * len(a)] = a * 2 + 1
        """,
        path,
        source,
        BTUNE_TRACE="json",
    )
    assert len(support.trace_rows(done.stderr)) == 8
    support.assert_stock_reads(path, {"relief": np.concatenate([relief, relief * 2 + 1])}, tmp_path)


def test_h5netcdf_writes_and_netcdf4_reads(source, relief, tmp_path):
    path = tmp_path / "h5netcdf.nc"
    support.run_btune(
        """
        import sys
        import h5netcdf, numpy as np
        a = np.load(sys.argv[2])
        with h5netcdf.File(sys.argv[1], "w") as f:
            f.dimensions = {"y": a.shape[0], "x": a.shape[1]}
            f.create_variable("relief", ("y", "x"), data=a, chunks=(64, 1024), compression=32026)
        """,
        path,
        source,
        BTUNE_TRADEOFF=0.5,
    )
    support.run_btune(_READ, path, source)
    support.assert_stock_reads(path, {"relief": relief}, tmp_path)


_DEFINE = """
import ctypes, glob, sys
from pathlib import Path
import numpy as np

path, source, library = sys.argv[1:]
if library == "wheel":
    import netCDF4
    libs = Path(netCDF4.__file__).parent.parent / "netcdf4.libs"
    (library,) = glob.glob(str(libs / "libnetcdf-*"))
nc = ctypes.CDLL(library)
a = np.load(source)

def call(name, *args):
    code = getattr(nc, name)(*args)
    assert code == 0, (name, code)

NC_NETCDF4, NC_FLOAT, NC_CHUNKED = 0x1000, 5, 0
file, var, y, x = (ctypes.c_int() for _ in range(4))
call("nc_create", path.encode(), NC_NETCDF4, ctypes.byref(file))
call("nc_def_dim", file, b"y", ctypes.c_size_t(a.shape[0]), ctypes.byref(y))
call("nc_def_dim", file, b"x", ctypes.c_size_t(a.shape[1]), ctypes.byref(x))
dims, chunks = (ctypes.c_int * 2)(y.value, x.value), (ctypes.c_size_t * 2)(64, a.shape[1])
call("nc_def_var", file, b"relief", NC_FLOAT, 2, dims, ctypes.byref(var))
call("nc_def_var_chunking", file, var, NC_CHUNKED, chunks)
call("nc_def_var_filter", file, var, 32026, ctypes.c_size_t(0), None)
call("nc_put_var_float", file, var, a.ctypes.data_as(ctypes.c_void_p))
call("nc_close", file)
"""


@pytest.mark.parametrize("library", ["wheel", "system"])
def test_nc_def_var_filter(source, relief, tmp_path, library):
    path = tmp_path / "c.nc"
    name = "wheel" if library == "wheel" else ctypes.util.find_library("netcdf")
    done = support.run_btune(_DEFINE, path, source, name, BTUNE_TRADEOFF=0.5, BTUNE_TRACE="json")
    assert len(support.trace_rows(done.stderr)) == 8
    support.run_btune(_READ, path, source)
    support.assert_stock_reads(path, {"relief": relief}, tmp_path)

"""btune.inspect of the installed wheel, and `python -m btune`."""

import pytest
import support

PRELUDE = """
import sys
import numpy as np
from pathlib import Path

def data(nchunks=4):
    "Rows of chunks that compress to more than the 1 KiB from which on a record is kept."
    rng = np.random.default_rng(3)
    return np.cumsum(rng.integers(0, 9, (nchunks * 16, 1024)), axis=1).astype("i4")

def create(path, compression):
    import h5py
    with h5py.File(path, "w") as f:
        f.create_dataset("v", data=data(), chunks=(16, 1024), compression=compression)
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args):
        return support.run_python(PRELUDE + code, *args, python=wheel_python)

    return run


def test_inspect_tells_all_kinds_of_chunks(child, tmp_path):
    child(
        """
import h5py, btune
from btune.h5 import Btune
path = sys.argv[1]
chunks = {"chunks": (16, 1024)}
with h5py.File(path, "w") as f:
    f.create_dataset("plain", data=data(), **chunks)
    f.create_dataset("gzip", data=data(), compression="gzip", **chunks)
    f.create_dataset("group/deep/v", data=data(), compression=Btune(), **chunks)
    f["link"] = h5py.SoftLink("/group/deep/v")
    f["again"] = f["group/deep/v"]
    f.create_dataset("summed", data=data(), compression=Btune(), fletcher32=True, **chunks)
    f.create_dataset("empty", (64, 1024), "f8", compression=Btune(), **chunks)
    v = f.create_dataset("mixed", (96, 1024), "i4", compression=Btune(), **chunks)
    v[:16] = data(1)
    v[16:48] = np.zeros((32, 1024))
    v.id.write_direct_chunk((48, 0), data(1).tobytes(), filter_mask=1)
    v.id.write_direct_chunk((64, 0), b"not a frame")
    v[80:] = np.frombuffer(np.random.default_rng(1).bytes(65536), "i4").reshape(16, 1024)

found = {d["name"]: d for d in btune.inspect(Path(path))}
deep = [name for name in found if name in ("/group/deep/v", "/again")]
assert len(deep) == 1, "one dataset under two names is told once"
assert set(found) == {*deep, "/summed", "/empty", "/mixed"}
assert list(found["/summed"]) == ["name", "shape", "dtype", "chunks", "nbytes", "cbytes",
                                  "tradeoff", "perf_mode", "records"]
for name in (*deep, "/summed"):
    d = found[name]
    assert d["shape"] == (64, 1024) and d["dtype"] == "int32" and d["nbytes"] == 262144
    assert d["chunks"] == 4 == sum(run["chunks"] for run in d["records"])
    assert all(1 <= run["clevel"] <= 9 and run["nthreads"] == 1 for run in d["records"])
    with h5py.File(path) as f:
        assert d["cbytes"] == f[name].id.get_storage_size()
empty = found["/empty"]
assert empty["chunks"] == 0 and empty["records"] == [] and empty["cbytes"] == 0

each = [run for run in found["/mixed"]["records"] for _ in range(run["chunks"])]
first, zero, zeros, skipped, broken, noise = each
assert first["origin"] is not None and not first.get("special")
assert zero is zeros and zero["special"] is True and zero["codec"] is None
assert skipped["clevel"] == 0 and skipped["codec"] is None and not skipped.get("special")
assert broken["clevel"] is None and broken["codec"] is None and not broken.get("special")
assert noise["clevel"] == 0 and noise["codec"] is None and not noise.get("special")
""",
        tmp_path / "a.h5",
    )


def test_inspect_reads_what_others_wrote(wheel_python, tmp_path):
    path = tmp_path / "a.h5"
    support.run_python(
        PRELUDE
        + """
import hdf5plugin
hdf5plugin.register("blosc2")
create(sys.argv[1], hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=2))
""",
        path,
    )
    support.run_python(
        """
        import sys, btune
        (dataset,) = btune.inspect(sys.argv[1])
        (run,) = dataset["records"]
        assert run["chunks"] == dataset["chunks"] == 4
        assert run["codec"] == "zstd" and run["filters"] == ["bitshuffle"]
        known = [key for key in ("clevel", "nthreads", "tradeoff", "origin") if run[key]]
        assert not known and dataset["tradeoff"] is None
        """,
        path,
        python=wheel_python,
    )


def test_inspect_refuses_what_is_not_hdf5(child, tmp_path):
    child(
        """
import btune, netCDF4
def refused(name, content=None):
    path = Path(sys.argv[1]) / name
    if content is not None:
        path.write_bytes(content)
    try:
        btune.inspect(path)
    except ValueError as error:
        assert str(path) in str(error) and "\\\\n" not in str(error)
        return str(error)
    raise AssertionError(f"{name} is taken")

with netCDF4.Dataset(Path(sys.argv[1]) / "old.nc", "w", format="NETCDF3_CLASSIC") as f:
    f.createDimension("x", 3)
assert "classic NetCDF" in refused("old.nc") and "nccopy -4" in refused("old.nc")
assert "not an HDF5 file" in refused("text.txt", b"some text")
assert "not an HDF5 file" in refused("empty.h5", b"")
try:
    btune.inspect(Path(sys.argv[1]) / "none.h5")
except FileNotFoundError as error:
    assert "none.h5" in str(error)
else:
    raise AssertionError("a file that is not there is taken")
""",
        tmp_path,
    )


def test_the_command_prints_a_table(child, wheel_python, tmp_path):
    path = tmp_path / "a.h5"
    child("from btune.h5 import Btune; create(sys.argv[1], Btune(0.9))", path)
    head, *runs = support.run([wheel_python, "-m", "btune", path]).stdout.splitlines()
    assert head.startswith(f"{path}:/v int32 (64, 1024) ratio ")
    assert head.endswith(" tradeoff 0.9 COMP")
    assert sum(int(line.split(" x ")[0]) for line in runs) == 4
    (tmp_path / "b.h5").write_text("text")
    done = support.run([wheel_python, "-m", "btune", tmp_path / "b.h5"], check=False)
    assert done.returncode == 1
    assert done.stderr == f"btune: {tmp_path / 'b.h5'} is not an HDF5 file\n"

"""btune.h5 of the installed wheel: the filter object, and whose filter serves 32026."""

import numpy as np
import pytest
import support

PRELUDE = """
import os, sys
import numpy as np
from pathlib import Path

def data(nchunks=4):
    "Rows of chunks that compress to more than the 1 KiB from which on a record is kept."
    rng = np.random.default_rng(3)
    return np.cumsum(rng.integers(0, 9, (nchunks * 16, 1024)), axis=1).astype("i4")

def check(path, names=("v",)):
    "All chunks of these datasets were written by btune's filter."
    import btune
    found = {d["name"].strip("/"): d for d in btune.inspect(path)}
    for name in names:
        runs = found[name]["records"]
        assert sum(run["chunks"] for run in runs) == found[name]["chunks"] > 0
        assert all(run["origin"] in ("inference", "genetic", "fixed") for run in runs), runs
    return found

def create(path, compression):
    import h5py
    with h5py.File(path, "w") as f:
        f.create_dataset("v", data=data(), chunks=(16, 1024), compression=compression)
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


def test_bad_values_are_named_with_what_is_allowed(child):
    child("""
from btune.h5 import Btune
bad = [({"tradeoff": 1.5}, "1.5", "0 to 1"), ({"tradeoff": float("nan")}, "nan", "0 to 1"),
       ({"tradeoff": "0.5"}, "'0.5'", "0 to 1"), ({"tradeoff": True}, "True", "0 to 1"),
       ({"tradeoff": (0.5, 0.4, 0.1)}, "(0.5, 0.4, 0.1)", "lossy"),
       ({"perf_mode": "comp"}, "'comp'", "COMP, DECOMP, BALANCED"),
       ({"perf_mode": "AUTO"}, "'AUTO'", "COMP, DECOMP, BALANCED"),
       ({"perf_mode": 1}, "1", "COMP, DECOMP, BALANCED")]
for keywords, value, allowed in bad:
    try:
        Btune(**keywords)
    except ValueError as error:
        told = str(error)
    else:
        raise AssertionError(f"{keywords} is taken")
    assert all(part in told for part in (*keywords, value, allowed)), told
try:
    Btune(level=5)
except TypeError as error:
    assert "level" in str(error)
else:
    raise AssertionError("level is taken")
""")


def test_the_filter_object(child):
    child("""
import h5py
from btune.h5 import Btune
assert issubclass(Btune, h5py.filters.FilterRefBase) and Btune.filter_id == 32026
default = Btune()
assert default.get_config() == {"tradeoff": 0.5, "perf_mode": "COMP"}
assert default == Btune(0.5, "COMP") and hash(default) == hash(Btune(0.5)) != hash(Btune(0.6))
assert repr(default) == "Btune(tradeoff=0.5, perf_mode='COMP')"
assert dict(default) == {"compression": 32026, "compression_opts": default.filter_options}
for mode, name in enumerate(["COMP", "DECOMP", "BALANCED"]):
    for percent in range(101):
        one = Btune(tradeoff=percent / 100, perf_mode=name)
        assert one.filter_options == (1 | 1 << 8 | mode << 9 | percent << 11,)
        assert eval(repr(one)) == one == Btune(**one.get_config())
assert Btune(np.float32(0.9)).get_config()["tradeoff"] == 0.9
""")


@pytest.mark.parametrize(("tradeoff", "mode"), [(0.0, "COMP"), (0.37, "DECOMP"), (1.0, "BALANCED")])
def test_what_is_asked_for_is_in_the_dataset_and_its_chunks(child, tmp_path, tradeoff, mode):
    path = tmp_path / "a.h5"
    child(
        """
import h5py
from btune.h5 import Btune
path, tradeoff, mode = sys.argv[1], float(sys.argv[2]), sys.argv[3]
with h5py.File(path, "w") as f:
    given = {"chunks": (16, 1024)}
    f.create_dataset("v", data=data(), compression=Btune(tradeoff, mode), **given)
    f.create_dataset("w", data=data() + 1, **Btune(tradeoff, mode), **given)
for dataset in check(path, ("v", "w")).values():
    assert (dataset["tradeoff"], dataset["perf_mode"]) == (tradeoff, mode)
    for run in dataset["records"]:
        assert run["tradeoff"] == [tradeoff, round(1 - tradeoff, 4), 0.0], run
        assert run["perf_mode"] == mode, run
np.savez(path + ".npz", v=data(), w=data() + 1)
""",
        path,
        tradeoff,
        mode,
    )
    with np.load(f"{path}.npz") as arrays:
        support.assert_stock_reads(path, dict(arrays), tmp_path)


BEFORE = {
    "nothing": "",
    "hdf5plugin imported": "import hdf5plugin",
    "hdf5plugin asked for": "import hdf5plugin; assert hdf5plugin.register('blosc2')",
    "a dataset open": """
import hdf5plugin, h5py
held = h5py.File(sys.argv[2], "w")
held.create_dataset("x", data=data(), chunks=(16, 1024), compression=hdf5plugin.Blosc2())""",
    "found by HDF5": """
import h5py
assert h5py.h5z.filter_avail(32026)
maps = Path("/proc/self/maps").read_text()
assert "libh5blosc2" in maps and "libh5btune" not in maps
""",
}


@pytest.mark.parametrize("before", BEFORE)
def test_our_filter_serves_whatever_came_before(child, tmp_path, before):
    env = {}
    if before == "found by HDF5":
        code = "import hdf5plugin; print(hdf5plugin.PLUGIN_PATH)"
        env["HDF5_PLUGIN_PATH"] = support.run_python(code).stdout.strip()
    child(
        BEFORE[before]
        + """
import h5py
from btune.h5 import PLUGIN_PATH, Btune, register
before = h5py.h5pl.size()
create(sys.argv[1], Btune())
check(sys.argv[1])
register()
register()
paths = [h5py.h5pl.get(i) for i in range(h5py.h5pl.size())]
assert paths[0] == PLUGIN_PATH.encode() and len(paths) == before + 1, paths
assert os.listdir(PLUGIN_PATH) == ["libh5btune.so"]
create(sys.argv[1], 32026)
check(sys.argv[1])
with h5py.File(sys.argv[1]) as f:
    assert (f["v"][:] == data()).all()
""",
        tmp_path / "a.h5",
        tmp_path / "b.h5",
        **env,
    )


def test_hdf5plugin_after_it_leaves_it(child, tmp_path):
    child(
        """
from btune.h5 import Btune
tuned = Btune()
import hdf5plugin
create(sys.argv[1], tuned)
check(sys.argv[1])

# What it asks for, it gets.
import btune
create(sys.argv[1], hdf5plugin.Blosc2(cname="zstd", clevel=3))
(dataset,) = btune.inspect(sys.argv[1])
assert dataset["tradeoff"] is None and dataset["perf_mode"] is None
(run,) = dataset["records"]
assert run["codec"] == "zstd" and run["filters"] == ["shuffle"], run
""",
        tmp_path / "a.h5",
    )


def test_a_process_that_only_appends(child, tmp_path):
    path = tmp_path / "a.h5"
    child(
        """
import h5py
from btune.h5 import Btune
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("v", (0, 1024), "i4", chunks=(16, 1024), maxshape=(None, 1024),
                     compression=Btune(0.8))
""",
        path,
    )
    child(
        """
import h5py, btune.h5
btune.h5.register()
with h5py.File(sys.argv[1], "a") as f:
    f["v"].resize(64, axis=0)
    f["v"][:] = data()
found = check(sys.argv[1])["v"]
assert found["tradeoff"] == 0.8 and found["records"][0]["tradeoff"] == [0.8, 0.2, 0.0]
""",
        path,
    )


def test_h5netcdf_takes_it_as_an_encoding(child, tmp_path):
    child(
        """
import h5netcdf, h5netcdf.legacyapi
from btune.h5 import Btune
encoding = {"v": dict(Btune(tradeoff=0.9))}
with h5netcdf.File(sys.argv[1], "w") as f:
    f.dimensions = {"y": 64, "x": 1024}
    f.create_variable("v", ("y", "x"), data=data(), chunks=(16, 1024), **encoding["v"])
    f.create_variable("w", ("y", "x"), data=data(), chunks=(16, 1024), compression=Btune())
found = check(sys.argv[1], ("v", "w"))
assert found["v"]["tradeoff"] == 0.9 and found["w"]["tradeoff"] == 0.5
with h5netcdf.File(sys.argv[1]) as f:
    assert (f["v"][:] == data()).all()
""",
        tmp_path / "a.nc",
    )


def test_without_h5py_the_package_can_still_be_imported(child):
    child("""
sys.modules["h5py"] = None
import btune
assert btune.__version__
try:
    btune.inspect(sys.executable)
except ImportError as error:
    assert "h5py" in str(error)
else:
    raise AssertionError("there is an h5py")
""")

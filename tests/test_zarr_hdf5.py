"""HDF5 files of filter 32026 as Zarr, and other codecs of these names beside ours."""

import sys

import pytest
import support

PRELUDE = """
import sys
from pathlib import Path
import numpy as np
import zarr
from zarr_cases import *

def arrays():
    return {"f4": waves((64, 1000)), "i8": waves((33, 7, 101), "i8"), "u1": waves((50, 50), "u1")}
"""
WRITE = """
import h5py
with h5py.File(sys.argv[1], "w") as f:
    for name, data in arrays().items():
        f.create_dataset(name, data=data, chunks=tuple(n // 2 + 1 for n in data.shape), **blosc2)
"""
WRITERS = {
    "ours": "from btune.h5 import Btune\nblosc2 = dict(Btune(0.9))\n",
    "hdf5plugin": "import hdf5plugin\nblosc2 = dict(hdf5plugin.Blosc2('zstd', 5, 2))\n",
}


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


@pytest.mark.parametrize("writer", WRITERS)
def test_virtualizarr_opens_them(child, wheel_python, tmp_path, writer):
    path = tmp_path / "a.h5"
    python = {"ours": wheel_python, "hdf5plugin": sys.executable}[writer]
    support.run_python(PRELUDE + WRITERS[writer] + WRITE, path, python=python)
    child(
        """
from obspec_utils.registry import ObjectStoreRegistry
from obstore.store import LocalStore
from virtualizarr.parsers import HDFParser
path = Path(sys.argv[1])
registry = ObjectStoreRegistry({"file://": LocalStore()})
store = HDFParser()(f"file://{path}", registry)
group = zarr.open_group(store, mode="r")
for name, data in arrays().items():
    assert group[name].metadata.codecs[-1].to_dict() == {"name": "numcodecs.blosc2"}
    check(group[name], data)
""",
        path,
    )


def test_frames_of_n_dimensions_are_in_c_order(child):
    child("""
import blosc2, numcodecs
from btune.zarr import Blosc2Chunk
for data in (waves((30, 70)), waves((9, 8, 7), "i8"), waves((5,), "u1")):
    for blocks in ([4] * data.ndim, [1000] * data.ndim):
        blocks = [min(b, n) for b, n in zip(blocks, data.shape)]
        stored = blosc2.asarray(data, chunks=data.shape, blocks=blocks).to_cframe()
        assert numcodecs.get_codec({"id": "blosc2"}).decode(stored).tobytes() == data.tobytes()
        array = create({}, {"name": "blosc2"}, (data, data.shape))
        key = "/".join(["c"] + ["0"] * data.ndim)
        array.store._store_dict[key] = array.store._store_dict[key].from_bytes(stored)
        check(array, data)
""")


NAMES = """
import importlib.metadata, warnings
from btune.zarr import Blosc2Chunk, Btune
warnings.simplefilter("error")
found = zarr.registry.get_codec_class
assert found("btune") is Btune
"""


def test_arrays_of_names_that_others_write(child):
    child(
        NAMES
        + """
names = ["blosc2", "numcodecs.blosc2", "imagecodecs_blosc2"]
if len(importlib.metadata.entry_points(group="zarr.codecs", name=names[2])) > 1:
    names.pop()  # imagecodecs-zarr is installed.
for name in names:
    assert found(name) is Blosc2Chunk
    array = create({}, {"name": name, "configuration": {"level": 3}}, (waves((9, 9)), (4, 9)))
    assert array.compressors[0].to_dict() == {"name": name, "configuration": {"level": 3}}
    check(array, waves((9, 9)))
"""
    )


def test_where_others_have_these_names_they_keep_them(child, tmp_path):
    (tmp_path / "other.py").write_text("from zarr.codecs import ZstdCodec as Blosc2\n")
    info = tmp_path / "other-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    names = "blosc2 = other:Blosc2\nnumcodecs.blosc2 = other:Blosc2\n"
    (info / "entry_points.txt").write_text(f"[zarr.codecs]\n{names}")
    child(
        NAMES
        + """
import other
assert found("blosc2") is found("numcodecs.blosc2") is other.Blosc2
""",
        PYTHONPATH=f"{support.ROOT / 'tests'}:{tmp_path}",
    )

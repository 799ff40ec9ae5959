"""Zarr v2 and numcodecs: btune.numcodecs of the installed wheel."""

import pytest
import support

PRELUDE = """
import json, pickle, sys
from pathlib import Path
import numcodecs
import numpy as np
import zarr
from btune.numcodecs import Blosc2, Btune
from zarr_cases import *
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


def test_arrays_of_version_2(child, tmp_path):
    child(
        """
root = Path(sys.argv[1])
for format in ("cframe", "chunk"):
    codec = Btune(0.9, format=format)
    for name, case in dataset_cases().items():
        path = root / f"{name}-{format}"
        create(path, codec, case, zarr_format=2)
        stored = json.loads((path / ".zarray").read_text())["compressor"]
        assert stored == {"id": "btune", "tradeoff": 0.9, "perf_mode": "COMP", "format": format}
        assert {form(chunk) for chunk in chunks(path).values()} == {format}
        check(zarr.open_array(path), case[0])
        array = zarr.open_array(path)
        array[...] = case[0][::-1] if case[0].ndim else case[0]
        check(zarr.open_array(path), case[0][::-1] if case[0].ndim else case[0])
    # One object served arrays of many types, each with a tuner.
    assert {1, 2, 4, 8, 16} <= set(codec._tuners)
fortran = create(root / "order", Btune(), dataset_cases()["f4"], zarr_format=2, order="F")
check(zarr.open_array(root / "order"), dataset_cases()["f4"][0])
filters = [numcodecs.Delta("i8")]
create(root / "delta", Btune(), (waves((40, 50), "i8"), (7, 50)), zarr_format=2, filters=filters)
check(zarr.open_array(root / "delta"), waves((40, 50), "i8"))

import xarray as xr
ds = xr.Dataset({"v": (("y", "x"), waves((64, 500)))})
ds.to_zarr(root / "x", zarr_format=2, encoding={"v": {"compressors": Btune(0.9)}})
assert xr.open_zarr(root / "x").identical(ds)
""",
        tmp_path,
    )


def test_the_codec_of_numcodecs(child, tmp_path):
    child(
        """
data = waves((64, 500))
codec = Btune(tradeoff=0.9, typesize=4)
assert codec == numcodecs.get_codec(codec.get_config()) and eval(repr(codec)) == codec
assert pickle.loads(pickle.dumps(codec)) == codec
stored = codec.encode(data)
for one in (codec, numcodecs.get_codec({"id": "btune"}), numcodecs.get_codec({"id": "blosc2"})):
    assert one.decode(stored).tobytes() == data.tobytes()
    assert one.decode(memoryview(stored)).tobytes() == data.tobytes()
    out = np.empty_like(data)
    one.decode(stored, out)
    assert (out == data).all()
    refused(lambda: one.decode(stored, np.empty(7)), error=ValueError)
    refused(lambda: one.decode(b"none"), "btune cannot decode", error=RuntimeError)
for raw in (b"", b"abc", bytearray(1001), memoryview(b"x" * 77), np.asfortranarray(data)):
    got = codec.decode(codec.encode(raw)).tobytes()
    assert got == (raw.tobytes(order="A") if isinstance(raw, np.ndarray) else bytes(raw))
for config, *parts in [({"tradeof": 1}, "tradeof", "typesize, tradeoff"),
                       ({"tradeoff": 2}, "tradeoff=2", "0 to 1"), ({"typesize": 0}, "typesize=0"),
                       ({"format": "blosc"}, "cframe, chunk")]:
    refused(lambda: numcodecs.get_codec({"id": "btune", **config}), *parts)
theirs = {"id": "blosc2", "cname": "lz4", "clevel": 5, "shuffle": 1}
assert numcodecs.get_codec(theirs).get_config() == theirs
assert form(numcodecs.get_codec(theirs).encode(data)) == "chunk"
path = Path(sys.argv[1])
codec.save_profile(path)
assert json.loads(path.read_text()) == json.loads(codec.profile())

import imagecodecs.numcodecs
imagecodecs.numcodecs.register_codecs(["imagecodecs_blosc2"], verbose=False)
raw = Btune(0.9, format="chunk").encode(data)
assert bytes(numcodecs.get_codec({"id": "imagecodecs_blosc2"}).decode(raw)) == data.tobytes()
theirs = numcodecs.get_codec({"id": "imagecodecs_blosc2"}).encode(data)
assert codec.decode(theirs).tobytes() == data.tobytes()
""",
        tmp_path / "profile.json",
    )


def test_without_zarr_it_can_be_imported(child):
    child(
        """
import subprocess
code = '''
import sys
sys.modules["zarr"] = None
import btune, numcodecs
codec = numcodecs.get_codec({"id": "btune"})
assert codec.decode(codec.encode(b"abc")).tobytes() == b"abc"
'''
subprocess.run([sys.executable, "-c", code], check=True)
"""
    )


def test_memory_that_must_not_be_written_is_not(child, tmp_path):
    child(
        """
data = np.random.default_rng(0).normal(size=100_000).astype("f4")
codec = Btune()
stored = codec.encode(data)
# Memory that is read-only: of an object, and of a file, where writing ends the process.
fixed = np.zeros_like(data)
fixed.flags.writeable = False
fixed.tofile(sys.argv[1])
mapped = np.memmap(sys.argv[1], dtype="f4", mode="r")
for out in (fixed, mapped, bytes(data.nbytes)):
    refused(lambda: codec.decode(stored, out), "read-only", error=ValueError)
    assert not np.frombuffer(out, "u1").any()

# The stored chunk is where its data are to go.
for at in (0, 1, 100, 4096, 100_000):
    memory = np.zeros(2 * data.nbytes, "u1")
    source = memory[at : at + len(stored)]
    source[:] = np.frombuffer(stored, "u1")
    out = memory[: data.nbytes].view("f4")
    codec.decode(source, out)
    assert (out == data).all(), at
""",
        tmp_path / "fixed",
    )

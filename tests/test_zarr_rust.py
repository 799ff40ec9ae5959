"""What zarrs writes zarr-python reads, and the other way round, in every stored form."""

import json
import os
from pathlib import Path

import pytest
import support

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", support.ROOT / "target"))
COPY = TARGET / "release" / "examples" / "copy_array"

WRITE = """
import sys
import numpy as np, zarr
from btune.zarr import Blosc2Chunk, Btune, PortableBlosc
source, path, form = sys.argv[1:]
with np.load(source) as arrays:
    a = arrays["data"]
codec = {
    "cframe": Btune(0.9), "chunk": Btune(0.1, format="chunk"), "imagecodecs": Blosc2Chunk(),
    "blosc": PortableBlosc(0.9),
}[form]
zarr.create_array(path, data=a, chunks=(100, *a.shape[1:]), compressors=codec)
"""

CHECK = """
import sys
import numpy as np, zarr
source, *paths = sys.argv[1:]
with np.load(source) as arrays:
    a = arrays["data"]
for path in paths:
    assert np.array_equal(zarr.open_array(path, mode="r")[:], a), path
print(len(paths))
"""

CODECS = [
    {"name": "btune", "configuration": {"typesize": 4, "tradeoff": 0.9}},
    {"name": "btune", "configuration": {"typesize": 4, "format": "chunk"}},
    {"name": "imagecodecs_blosc2", "configuration": {"typesize": 4}},
]


@pytest.mark.parametrize("form", ["cframe", "chunk", "imagecodecs", "blosc"])
def test_arrays_go_from_python_to_rust_and_back(wheel_python, tmp_path, form):
    assert COPY.exists(), f"{COPY} is missing: run `make test`"
    source = next(p for p in support.sample_paths() if p.stem == "relief_etopo5_f32")
    first = tmp_path / "first.zarr"
    support.run_python(WRITE, source, first, form, python=wheel_python)
    copies = []
    for codec in CODECS:
        copies.append(tmp_path / f"copy{len(copies)}.zarr")
        env = support.clean_env()
        done = support.run([COPY, first, copies[-1], json.dumps(codec)], env=env)
        assert done.stdout == "6 chunks\n"
    done = support.run_python(CHECK, source, first, *copies, python=wheel_python)
    assert int(done.stdout) == 1 + len(CODECS)

"""zarr 3.4 and imagecodecs-zarr, which need Python 3.12, where there is one.

It is found as python3.12 to python3.14, or is what NEWER_PYTHON names.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import support

PINS = ["zarr==3.4.2", "numcodecs==0.17.1", "imagecodecs==2026.10.10"]
PINS += ["imagecodecs-zarr==2026.10.10", "numpy==2.4.6"]
PRELUDE = """
import sys
from pathlib import Path
import numpy as np
import zarr
from zarr_cases import *
root = Path(sys.argv[1])
"""
WRITE = """
from btune.zarr import Blosc2Chunk, Btune, PortableBlosc
codecs = {"btune": Btune(0.9), "chunk": Btune(format="chunk"), "raw": Blosc2Chunk(0.9),
          "blosc": PortableBlosc(0.1)}
for name, codec in codecs.items():
    for kind, case in dataset_cases().items():
        create(root / name / kind, codec, case)
    create(root / name / "shards", codec, dataset_cases()["f4"], shards=(32, 1000))
"""
READ = """
for name in names:
    for kind, (data, _) in dataset_cases().items():
        check(zarr.open_array(root / name / kind, mode="r"), data)
    check(zarr.open_array(root / name / "shards", mode="r"), dataset_cases()["f4"][0])
"""


@pytest.fixture(scope="session")
def newer_python():
    """An interpreter with the newest zarr and imagecodecs, without btune. Made on demand."""
    home = support.ROOT / ".venv" / "zarr-3.4"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        names = [f"python3.{minor}" for minor in (14, 13, 12)]
        found = [os.environ.get("NEWER_PYTHON"), *map(shutil.which, names)]
        works = [
            p for p in found if p and not subprocess.run([p, "-c", ""], check=False).returncode
        ]
        if not works:
            pytest.skip("no Python from 3.12 on (NEWER_PYTHON may name one)")
        support.run([works[0], "-m", "venv", "--clear", home], env=dict(os.environ))
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check"]
        support.run([python, *install, *PINS], env=dict(os.environ), timeout=900)
        ready.touch()
    return python


@pytest.fixture
def with_wheel(newer_python, wheel_python):
    """Runs code after PRELUDE in the newer Python, with the packages of our wheel."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = support.run_python(code, python=wheel_python).stdout.strip()
    path = f"{support.ROOT / 'tests'}:{Path(site)}"

    def run(code, *args):
        return support.run_python(PRELUDE + code, *args, python=newer_python, PYTHONPATH=path)

    return run


def test_both_versions_read_what_the_other_wrote(newer_python, with_wheel, wheel_python, tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    ours = "names = ['btune', 'chunk', 'raw', 'blosc']\n" + READ
    portable = """
from importlib.metadata import distributions
assert not [found for found in distributions() if found.name == "btune"]
names = ['raw', 'blosc']
raw = zarr.open_array(root / "raw" / "f4").compressors[0]
assert type(raw).__module__ == "imagecodecs.zarr", type(raw)
"""
    support.run_python(PRELUDE + WRITE, old, python=wheel_python)
    with_wheel(WRITE, new)
    with_wheel(ours, old)
    support.run_python(PRELUDE + ours, new, python=wheel_python)
    for root in (old, new):
        support.run_python(PRELUDE + portable + READ, root, python=newer_python)


def test_one_tuner_serves_an_array_in_the_newer_zarr_too(with_wheel, tmp_path):
    with_wheel(
        """
import btune.zarr
from btune.zarr import Btune, PortableBlosc
from zarr.codecs import BloscCodec
data = waves((64, 1000))
for path in ("BatchedCodecPipeline", "FusedCodecPipeline"):
    with zarr.config.set({"codec_pipeline.path": f"zarr.core.codec_pipeline.{path}"}):
        for codec in (Btune(0.9), PortableBlosc(0.9)):
            a, b = (create({}, codec, (data, (16, 1000))) for _ in range(2))
            assert a.compressors[0]._tuner is not b.compressors[0]._tuner
            tuner = a.compressors[0]._tuner
            assert tuner._native
            a.append(data)
            assert a.compressors[0]._tuner is tuner
            check(a, np.concatenate([data, data]))
            shards = create({}, codec, (data, (16, 500)), shards=(32, 1000))
            assert shards.compressors[0]._tuner._native
            check(shards, data)
        with btune.zarr.enable(0.1):
            array = create({}, BloscCodec(), (data, (16, 1000)))
            assert array.compressors[0]._tuner._native
            check(array, data)
def new(chunk):
    zarr.create_array({}, shape=(2**33,), chunks=(chunk,), shards=(2**31,), dtype="f8",
                      compressors=Btune())
refused(lambda: new(2**28), str(2**31))
""",
        tmp_path,
    )

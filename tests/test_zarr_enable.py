"""btune.zarr.enable: arrays of core codec `blosc` are tuned while it is on."""

import pytest
import support

PRELUDE = """
import json, pickle, sys
from pathlib import Path
import numpy as np
import zarr
from zarr.codecs import BloscCodec
from zarr_cases import *

data = waves((256, 1000))
case = data, (16, 1000)
PLAIN = {"cname": "zstd", "clevel": 5, "shuffle": "shuffle"}

def is_tuned(folder):
    "Plain chunks are the same in every run; those that were tuned for speed are not zstd."
    stored = chunks(Path(folder))
    assert {form(chunk) for chunk in stored.values()} == {"blosc"}
    return not all(chunk[2] >> 5 == 4 for chunk in stored.values())
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


def test_everything_is_tuned_while_it_is_on_and_plain_afterwards(child, tmp_path):
    child(
        """
import btune.zarr
root = Path(sys.argv[1])
def state():
    tables = [v for k, v in vars(zarr.registry).items() if k.endswith("_codec_registries")]
    return (zarr.registry.get_codec_class("blosc"), dict(zarr.config.get("codecs")),
            vars(BloscCodec)["evolve_from_array_spec"], dict(tables[0]["blosc"]))
before = state()
create(root / "old", BloscCodec(**PLAIN), case)
held = zarr.open_array(root / "old")
metadata = (root / "old" / "zarr.json").read_text()
assert not is_tuned(root / "old")

switch = btune.zarr.enable(tradeoff=0.1)
old = zarr.open_array(root / "old")
old[...] = data
create(root / "object", BloscCodec(**PLAIN), case)
create(root / "name", {"name": "blosc", "configuration": PLAIN}, case)
create(root / "default", BloscCodec(), case)
create(root / "shards", BloscCodec(**PLAIN), case, shards=(64, 1000))
for name in ("old", "object", "name", "default"):
    assert is_tuned(root / name), name
    array = zarr.open_array(root / name)
    check(array, data)
    assert isinstance(array.compressors[0], BloscCodec) and array.compressors[0].clevel == 5
    assert (array.compressors[0].tradeoff, array.compressors[0].typesize) == (0.1, 4)
check(zarr.open_array(root / "shards"), data)
again = [json.loads((root / name / "zarr.json").read_text()) for name in ("old", "object", "name")]
assert again == [json.loads(metadata)] * 3
assert json.loads((root / "default" / "zarr.json").read_text()) == json.loads(metadata)
assert pickle.loads(pickle.dumps(old)).compressors[0]._by.on

# Once more, with other settings; a bad one changes nothing.
btune.zarr.enable(tradeoff=1.0, perf_mode="DECOMP")
refused(lambda: btune.zarr.enable(tradeoff=2), "tradeoff=2")
assert zarr.open_array(root / "old").compressors[0].tradeoff == 1.0
btune.zarr.disable()
btune.zarr.disable()
assert state() == before, (state(), before)

# What is open is plain again, as is what is opened and created.
for array in (old, held, zarr.open_array(root / "object", mode="r+"),
              create(root / "new", BloscCodec(**PLAIN), case)):
    array[...] = data
for name in ("old", "object", "new"):
    assert not is_tuned(root / name), name
plain = chunks(root / "new")
assert chunks(root / "old") == plain == chunks(root / "object")

with btune.zarr.enable(0.1) as switch:
    create(root / "with", BloscCodec(**PLAIN), case)
    nested = btune.zarr.enable(0.2)
    with nested:
        pass
    assert state() == before
assert is_tuned(root / "with") and state() == before
# An array that zarr opens is opened, whatever the size of its chunks.
zarr.create_array(root / "wide", shape=(2**40,), chunks=(2**35,), dtype="i1",
                  compressors=BloscCodec())
with btune.zarr.enable():
    assert zarr.open_array(root / "wide")[5] == 0
""",
        tmp_path,
    )
    support.run_python(
        PRELUDE
        + """
root = Path(sys.argv[1])
for name in ("old", "object", "name", "default", "shards", "with", "new"):
    array = zarr.open_array(root / name, mode="r")
    assert type(array.compressors[0]) is BloscCodec
    check(array, data)
""",
        tmp_path,
    )

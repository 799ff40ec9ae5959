"""The codec objects of btune.zarr in the installed wheel: keywords, metadata, copies, errors."""

import pytest
import support

PRELUDE = """
import copy, json, pickle, sys
from pathlib import Path
import numpy as np
import zarr
from zarr.codecs import BloscCodec
from btune.zarr import Blosc2Chunk, Btune, PortableBlosc
from zarr_cases import *
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


def test_keywords_metadata_and_copies(child):
    child("""
default = Btune()
assert default == Btune(0.5, "COMP", "cframe") and hash(default) == hash(Btune(0.5))
assert default != Btune(0.6) and default != Btune(format="chunk") and default != Btune(typesize=4)
assert default == Btune(threads=2, profile=Path("x.json"))
assert Btune(np.float32(0.25)).tradeoff == 0.25
assert Btune((0.5, 0.25, 0.25)) == Btune([0.5, 0.25, 0.25])
assert repr(default) == "Btune(tradeoff=0.5, perf_mode='COMP', format='cframe', typesize=None)"
assert default.to_dict() == {
    "name": "btune", "configuration": {"tradeoff": 0.5, "perf_mode": "COMP", "format": "cframe"}}
for codec in (default, Btune(1, "DECOMP", "chunk", 8), Btune([0.5, 0.25, 0.25], "BALANCED"),
              Blosc2Chunk(0.9), PortableBlosc(0.9, typesize=4, shuffle="shuffle")):
    stored = codec.to_dict()
    json.dumps(stored)
    assert type(codec).from_dict(stored).to_dict() == stored
    for one in (copy.copy(codec), copy.deepcopy(codec), pickle.loads(pickle.dumps(codec))):
        assert one == codec and repr(one) == repr(codec) and one.to_dict() == stored
        # What runs elsewhere has the settings that no metadata have.
        assert one._tuner._options == codec._tuner._options
assert eval(repr(Btune([0.5, 0.25, 0.25], "BALANCED", "chunk", 4))).typesize == 4

# As other writers of these names do.
assert Blosc2Chunk().to_dict() == {"name": "imagecodecs_blosc2"}
theirs = {"name": "numcodecs.blosc2", "configuration": {"level": 5, "typesize": 4}}
read = Blosc2Chunk.from_dict(theirs)
assert read.to_dict() == theirs and read.typesize == 4

# In the place of a BloscCodec.
for plain in (BloscCodec(), BloscCodec(cname="lz4", clevel=9, blocksize=4096),
              BloscCodec(typesize=2, shuffle="noshuffle")):
    tuned = PortableBlosc.from_blosc(plain, 0.9, perf_mode="DECOMP", threads=2)
    assert tuned.to_dict() == plain.to_dict() and isinstance(tuned, BloscCodec)
    assert (tuned.tradeoff, tuned.perf_mode, tuned.threads) == (0.9, "DECOMP", 2)
assert Btune.from_blosc(BloscCodec(typesize=2), tradeoff=0.9) == Btune(0.9, typesize=2)
assert Btune.from_blosc(BloscCodec(), format="chunk") == Btune(format="chunk")
""")


def test_bad_values_are_named_with_what_is_allowed(child, tmp_path):
    child(
        """
bad = [({"tradeoff": 2}, "2", "0 to 1"), ({"tradeoff": float("nan")}, "nan", "0 to 1"),
       ({"tradeoff": True}, "True", "0 to 1"), ({"tradeoff": [0.5, 0.2, 0.2]}, "0.2", "sum to 1"),
       ({"tradeoff": "0.5"}, "'0.5'", "0 to 1"), ({"perf_mode": "comp"}, "'comp'", "COMP, DECOMP"),
       ({"format": "blosc"}, "'blosc'", "cframe, chunk"), ({"typesize": 0}, "0", "from 1"),
       ({"typesize": 2.5}, "2.5", "integer"), ({"threads": 0}, "0", "from 1"),
       ({"profile": 3}, "3", "path")]
for keywords, *parts in bad:
    refused(lambda: Btune(**keywords), *keywords, *parts)
    if not {"format", "typesize"} & set(keywords):
        refused(lambda: PortableBlosc(**keywords), *keywords, *parts)
        refused(lambda: Blosc2Chunk(**keywords), *keywords, *parts)

# In metadata: an array that has them does not open.
path = Path(sys.argv[1])
create(path, Btune(), (waves((4, 8)), (4, 8)))
def opened(**configuration):
    metadata = json.loads((path / "zarr.json").read_text())
    metadata["codecs"][-1]["configuration"] = configuration
    (path / "zarr.json").write_text(json.dumps(metadata))
    return zarr.open_array(path, mode="r")
bad_metadata = [({"level": 5}, "typesize, tradeoff, perf_mode, format"),
                ({"threads": 2}, "unknown"), ({"typesize": None}, "None")]
for keywords, *parts in bad[:1] + bad[4:9] + bad_metadata:
    refused(lambda: opened(**keywords), *keywords, *parts)
check(opened(), waves((4, 8)))
check(opened(typesize=1024, tradeoff=1), waves((4, 8)))
""",
        tmp_path / "a.zarr",
    )


def test_every_array_has_a_codec_of_its_own(child):
    child("""
template = Btune(0.9)
data = {"a": waves((64, 500)), "b": waves((64, 500), "i8"), "c": waves((64, 500))}
group = zarr.create_group({})
arrays = {n: create(group.store, template, (d, (16, 500)), name=n) for n, d in data.items()}
codecs = {n: a.compressors[0] for n, a in arrays.items()}
assert [c.typesize for c in codecs.values()] == [4, 8, 4] and template.typesize is None
assert len({id(c._tuner) for c in (template, *codecs.values())}) == 4
assert codecs["a"] == codecs["c"] == Btune(0.9, typesize=4)
for name, array in arrays.items():
    # The one that is shown is the one that encodes, also after the array has grown.
    for _ in range(2):
        [used] = array.async_array.codec_pipeline.bytes_bytes_codecs
        assert used._tuner is array.compressors[0]._tuner and used._tuner._native
        array.append(data[name])
    check(array, np.concatenate([data[name]] * 3))
assert not template._tuner._native

# Opened twice; with the typesize given; from the codec of an array of another type.
one, two = (zarr.open_array(group.store, path="a").compressors[0] for _ in range(2))
assert one == two == codecs["a"] and one._tuner is not two._tuner
explicit = Btune(typesize=4)
a, b = (create({}, explicit, (data["a"], (16, 500))).compressors[0] for _ in range(2))
assert a == b == explicit and a._tuner is not b._tuner
d = create({}, codecs["a"], (data["b"], (16, 500))).compressors[0]
assert d.typesize == 8 and d.tradeoff == 0.9 and d._tuner is not codecs["a"]._tuner
portable = PortableBlosc(0.9, typesize=4, shuffle="shuffle")
a, b = (create({}, portable, (data["a"], (16, 500))).compressors[0] for _ in range(2))
assert a._tuner is not b._tuner
""")


def test_chunks_of_two_gib_are_refused_at_creation(child):
    child("""
for codec in (Btune(), Blosc2Chunk(), PortableBlosc()):
    def new(chunk, dtype="f8", **keywords):
        store = {}
        zarr.create_array(store, shape=(2**33,), chunks=(chunk,), dtype=dtype, compressors=codec,
                          **keywords)
        return store
    refused(lambda: new(2**28), str(2**28), str(2**31), "2147483615")
    refused(lambda: new(2**31 - 32, "i1"), "2147483616")
    refused(lambda: new(2**25, "U64"), str(2**33))
    assert new(2**31 - 33, "i1") and new(2**28 - 8)
    # The size of a shard does not count.
    assert new(2**20, shards=(2**30,))
    try:
        codec.compute_encoded_size(100, None)
    except NotImplementedError:
        assert not codec.is_fixed_size
    else:
        raise AssertionError("the size is known")
""")


def test_corrupt_chunks_fail_clearly(child, tmp_path):
    child(
        """
root = Path(sys.argv[1])
case = waves((64, 1000)), (64, 1000)
for codec in (Btune(), Btune(format="chunk"), Blosc2Chunk()):
    path = root / f"{codec.to_dict()['name']}-{codec._form}"
    array = create(path, codec, case)
    [(name, stored)] = chunks(path).items()
    for broken in (b"", b"garbage", stored[:20], stored[:-40], b"\\0" * len(stored),
                   b"\\xff" * len(stored), stored[:4] + b"\\xff" * 28 + stored[32:]):
        (path / name).write_bytes(broken)
        refused(lambda: array[:], "btune cannot decode this chunk: ", error=RuntimeError)
    (path / name).write_bytes(stored)
    check(array, case[0])
""",
        tmp_path,
    )

"""Arrays of all kinds through the codecs of btune.zarr, and who reads them."""

import pytest
import support

PRELUDE = """
import json, sys
from pathlib import Path
import numpy as np
import zarr
from zarr.codecs import BloscCodec, BytesCodec, Crc32cCodec, TransposeCodec
from zarr_cases import *
"""
OURS = "from btune.zarr import Blosc2Chunk, Btune, PortableBlosc\n"
FORMS = {
    "btune": ("Btune(0.9)", "cframe"),
    "chunk": ("Btune(0.1, 'DECOMP', 'chunk')", "chunk"),
    "imagecodecs": ("Blosc2Chunk(0.9)", "chunk"),
    "blosc": ("PortableBlosc(0.1)", "blosc"),
}


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + OURS + code, *args, python=wheel_python, **kwargs)

    return run


def stock(code, *args):
    """Runs code after PRELUDE where btune is not installed."""
    none = """
from importlib.metadata import distributions
assert not [found for found in distributions() if found.name == "btune"]
"""
    return support.run_python(PRELUDE + none + code, *args)


@pytest.mark.parametrize("name", FORMS)
def test_all_kinds_of_arrays_in_every_form(child, tmp_path, name):
    codec, form = FORMS[name]
    child(
        f"codec, stored = {codec}, {form!r}\n"
        + """
root = Path(sys.argv[1])
for name, case in dataset_cases().items():
    path = root / name
    create(path, codec, case)
    data = case[0]
    found = chunks(path)
    assert {form(chunk) for chunk in found.values()} == {stored}, name
    array = zarr.open_array(path)
    check(array, data)
    # Parts, and writing them: chunks are read, changed and encoded again.
    if data.ndim == 2:
        array[5:9, 3:50] = data[6:10, 4:51]
        data = data.copy()
        data[5:9, 3:50] = data[6:10, 4:51].copy()
        assert (array[4:20:3, 1::7] == data[4:20:3, 1::7]).all()
    check(zarr.open_array(path), data)
""",
        tmp_path,
    )


def test_settings_reach_the_tuner(child, tmp_path):
    child(
        """
from blosc2_btune._library import read_record
root, series = Path(sys.argv[1]), (waves((640, 1000)), (16, 1000))
def stored(codec):
    path = root / str(len(list(root.iterdir())))
    create(path, codec, series)
    return list(chunks(path).values())
for tradeoff, mode, code in ((0.9, "DECOMP", 1), ([0.25, 0.75, 0], "BALANCED", 2)):
    weights = tradeoff if isinstance(tradeoff, list) else [0.9, 0.1, 0]
    for chunk in stored(Btune(tradeoff, mode)):
        record, tuned = read_record(chunk)
        assert tuned and record.perf_mode == code, chunk[:100]
        assert np.allclose(list(record.tradeoff), weights, atol=1e-4), list(record.tradeoff)
size = {key: sum(map(len, stored(make(t)))) for t in (0.1, 0.9) for key, make in {
    ("cframe", t): Btune, ("chunk", t): Blosc2Chunk, ("blosc", t): PortableBlosc}.items()}
for form in ("cframe", "chunk", "blosc"):
    assert size[form, 0.9] < 0.95 * size[form, 0.1], size
assert size["chunk", 0.9] < sum(map(len, stored(Btune(0.9, typesize=1)))), size
""",
        tmp_path,
    )


def test_others_read_the_portable_forms(child, tmp_path):
    child(
        """
root = Path(sys.argv[1])
for name, case in dataset_cases().items():
    shards = {"shards": tuple(2 * n for n in case[1])} if name in ("f4", "u1") else {}
    for tradeoff in (0.1, 0.9):
        create(root / f"{name}-{tradeoff}", PortableBlosc(tradeoff), case, **shards)
    # Their metadata are those that zarr writes.
    create(root / "plain", BloscCodec(), case, overwrite=True, **shards)
    plain = json.loads((root / "plain" / "zarr.json").read_text())
    assert plain == json.loads((root / f"{name}-0.9" / "zarr.json").read_text()), name
    create(root / f"{name}-raw", Blosc2Chunk(0.9), case)
""",
        tmp_path,
    )
    stock(
        """
import imagecodecs
root = Path(sys.argv[1])
codecs = set()
for name, (data, shape) in dataset_cases().items():
    for tradeoff in (0.1, 0.9):
        array = zarr.open_array(root / f"{name}-{tradeoff}", mode="r")
        assert type(array.compressors[0]) is BloscCodec
        check(array, data)
        codecs |= {chunk[2] >> 5 for chunk in chunks(root / f"{name}-{tradeoff}").values()}
    # imagecodecs: the chunks, since its codecs for zarr need a newer Python. Its version 2026.3.6,
    # the last for this one, has no bytedelta (35).
    native = data if data.dtype.byteorder != ">" else data.astype(data.dtype.newbyteorder("<"))
    for key, chunk in chunks(root / f"{name}-raw").items():
        at = [int(i) for i in key.split("/")[1:]]
        part = native[tuple(slice(i * n, (i + 1) * n) for i, n in zip(at, shape))]
        assert 35 not in chunk[16:22]
        got = np.frombuffer(imagecodecs.blosc2_decode(chunk), native.dtype).reshape(shape)
        assert got[tuple(slice(n) for n in part.shape)].tobytes() == part.tobytes(), key
assert len(codecs) > 1, codecs
""",
        tmp_path,
    )


def test_shards_filters_and_checksums(child, tmp_path):
    child(
        """
root = Path(sys.argv[1])
data = waves((96, 1000))
for codec in (Btune(0.9), Btune(format="chunk"), PortableBlosc(0.9)):
    path = root / f"{codec.to_dict()['name']}-{codec._form}"
    array = create(path / "shards", codec, (data, (8, 500)), shards=(32, 1000))
    assert array.compressors[0].typesize == 4
    array[5:50, 7:800] = 0
    changed = data.copy()
    changed[5:50, 7:800] = 0
    check(zarr.open_array(path / "shards"), changed)
    assert len(chunks(path / "shards")) == 3
    create(path / "sums", [codec, Crc32cCodec()], (data, (8, 500)),
           filters=[TransposeCodec(order=(1, 0))])
    check(zarr.open_array(path / "sums"), data)
    create(path / "twice", [Crc32cCodec(), codec], (data, (8, 500)))
    check(zarr.open_array(path / "twice"), data)
""",
        tmp_path,
    )


def test_strings_fill_values_and_nothing(child, tmp_path):
    child(
        """
root = Path(sys.argv[1])
text = np.array([f"row {i} " + "x" * (i % 9) for i in range(1000)], dtype=object)
for codec in (Btune(), Btune(format="chunk"), Blosc2Chunk(), PortableBlosc()):
    path = root / f"{codec.to_dict()['name']}-{codec._form}"
    strings = zarr.create_array(path / "s", shape=(1000,), chunks=(99,), dtype=str,
                                compressors=codec)
    assert strings.compressors[0].typesize == 1
    strings[:] = text
    assert (zarr.open_array(path / "s")[:] == text).all()
    wide = create(path / "u", codec, (text.astype("U40"), (99,)))
    assert wide.compressors[0].typesize == 160
    wider = create(path / "v", codec, (text.astype("U100"), (99,)))
    assert wider.compressors[0].typesize == 400
    check(zarr.open_array(path / "u"), text.astype("U40"))
    check(zarr.open_array(path / "v"), text.astype("U100"))

    # Chunks of the fill value are not stored, unless that is asked for.
    data = np.full((40, 100), 7, "i4")
    data[15] = 8
    create(path / "fill", codec, (data, (10, 100)), fill_value=7)
    assert len(chunks(path / "fill")) == 1
    create(path / "all", codec, (data, (10, 100)), fill_value=7,
           config={"write_empty_chunks": True})
    assert len(chunks(path / "all")) == 4
    for name in ("fill", "all"):
        check(zarr.open_array(path / name), data)
    create(path / "none", codec, (np.empty((0, 5)), (3, 5)))
    check(zarr.open_array(path / "none"), np.empty((0, 5)))

    # Any number of bytes, none included.
    array = create({}, codec, (waves((4, 4)), (4, 4)))
    own = array.compressors[0]
    # (zarr's own codec `blosc` does not read the chunk that it makes of none.)
    for count in [0][isinstance(own, PortableBlosc):] + [1, 3, 15, 16, 17, 127, 1001, 65537]:
        raw, spec = as_chunk(array, np.arange(count).astype("u1").tobytes())
        stored = own._encode_sync(raw, spec)
        assert own._decode_sync(stored, spec).to_bytes() == raw.to_bytes(), count
""",
        tmp_path,
    )


def test_xarray(child, tmp_path):
    path = tmp_path / "a.zarr"
    child(
        """
import warnings
import xarray as xr
tuned, portable = Btune(tradeoff=0.9), PortableBlosc(0.9)
times = np.arange("2020", "2022", dtype="M8[D]")[:40].astype("M8[ns]")
ds = xr.Dataset({"t": (("time", "x"), waves((40, 500))),
                 "n": (("time", "x"), waves((40, 500), "i8"))},
                coords={"time": times})
encoding = {"t": {"compressors": (tuned,), "chunks": (10, 500)},
            "n": {"compressors": (tuned,), "chunks": (10, 500)},
            "time": {"compressors": (portable,)}}
ds.to_zarr(sys.argv[1], encoding=encoding, zarr_format=3, consolidated=False)
ds.to_zarr(sys.argv[1], append_dim="time", consolidated=False)
both = xr.open_zarr(sys.argv[1], consolidated=False)
assert both.identical(xr.concat([ds, ds], "time").chunk({"time": 10}))
kept = [both[name].encoding["compressors"][0] for name in ("t", "n")]
assert kept == [Btune(0.9, typesize=4), Btune(0.9, typesize=8)]
both.to_zarr(sys.argv[1] + ".copy", zarr_format=3, consolidated=False)
copy = xr.open_zarr(sys.argv[1] + ".copy", consolidated=False)
assert copy.identical(both) and copy["n"].encoding["compressors"][0] == kept[1]
for chunk in chunks(Path(sys.argv[1] + ".copy") / "t").values():
    assert form(chunk) == "cframe"
""",
        path,
    )


def test_imagecodecs_reads_data_that_bytedelta_is_best_for(child, tmp_path):
    ocean = support.DATA / "ocean_temp_f32.npz"
    child(
        """
from btune.numcodecs import Blosc2
root, data = Path(sys.argv[1]), np.load(sys.argv[2])["data"]
case = data, (1, 1, *data.shape[2:])
own = create(root / "own", Btune(0.9, format="chunk"), case).compressors[0]
# A profile that says what is best for these data.
learnt = json.loads(own.profile())
for kind in learnt["kinds"]:
    kind |= {"codec": "zstd", "filter": "bytedelta", "clevel": 9}
profile = root / "profile.json"
profile.write_text(json.dumps(learnt))
for name, known in (("fresh", None), ("warm", profile)):
    create(root / name, Blosc2Chunk(0.9, profile=known), case)
create(root / "theirs", Blosc2(), case, zarr_format=2)
# It is best, and chosen where it may be.
create(root / "control", Btune(0.9, format="chunk", profile=profile), case)
control, warm = (list(chunks(root / name).values()) for name in ("control", "warm"))
assert all(35 in chunk[16:22] for chunk in control)
assert sum(map(len, control)) < sum(map(len, warm))
""",
        tmp_path,
        ocean,
    )
    stock(
        """
import imagecodecs
root, data = Path(sys.argv[1]), np.load(sys.argv[2])["data"]
for name in ("fresh", "warm", "theirs"):
    found = chunks(root / name)
    assert len(found) == data.shape[0] * data.shape[1], name
    for key, chunk in found.items():
        at = tuple(map(int, key.removeprefix("c/").replace(".", "/").split("/")))
        assert imagecodecs.blosc2_decode(chunk) == data[at[:2]].tobytes(), (name, key)
""",
        tmp_path,
        ocean,
    )

"""What `btune train` reads: files of h5py, netCDF4, zarr, blosc2 and NumPy."""

import json

import blosc2
import h5py
import hdf5plugin
import netCDF4
import numcodecs
import numpy as np
import pytest
import support
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

BTUNE = support.ROOT / "dist" / "btune"
SYNTHETIC = []
RNG = np.random.default_rng(5)
FIELD = np.cumsum(RNG.integers(-3, 4, (60, 50)), axis=1)


@pytest.fixture(scope="module", autouse=True)
def synthetic(tmp_path_factory):
    """What the synthetic pieces cost, which is measured once: most of what a small run does."""
    folder = tmp_path_factory.mktemp("synthetic")
    np.save(folder / "a.npy", np.arange(10))
    run(folder, folder / "a.npy")
    lines = (folder / "measurements.jsonl").read_text().splitlines(keepends=True)
    SYNTHETIC.extend(line for line in lines if line.count("|") < 2)


def run(folder, *inputs, check=True, **env):
    options = ["--pieces", "1", "--epochs", "1", "--no-report"]
    command = [BTUNE, "train", *inputs, *options]
    return support.run(command, cwd=folder, check=check, timeout=600, env=support.clean_env(**env))


def train(folder, *inputs, check=True, **env):
    """Runs the command, and returns what it did with the costs of all pieces by their names."""
    measurements = folder / "measurements.jsonl"
    measurements.write_text("".join(SYNTHETIC))
    done = run(folder, *inputs, check=check, **env)
    rows = [json.loads(line) for line in measurements.read_text().splitlines()[1:] if line]
    return done, {row["piece"]: [costs[0] for costs in row["costs"]] for row in rows}


def arrays_of(pieces):
    """The names of the arrays that pieces come from."""
    return {piece.split("|")[0] for piece in pieces if piece.count("|") == 2}


def sizes(folder, *inputs, **env):
    """What each piece of the arrays compresses to: the same if the bytes are the same."""
    done, pieces = train(folder, *inputs, **env)
    return done.stderr, {name: cost for name, cost in pieces.items() if name.count("|") == 2}


def assert_read(folder, path, expected, stderr="", **env):
    """The arrays of a file are those expected, by name and to the last byte."""
    other = folder / "expected"
    other.mkdir(exist_ok=True)
    np.savez(other / f"{path.stem}.npz", **expected)
    if len(expected) == 1:
        [array] = expected.values()
        np.save(other / f"{path.stem}.npy", array)
    suffix = "npy" if len(expected) == 1 else "npz"
    _, want = sizes(folder, other / f"{path.stem}.{suffix}")
    said, got = sizes(folder, path, **env)
    assert said == stderr
    assert got.keys() == want.keys()
    assert got == want


def refused(folder, argument):
    """The one line that an input is refused with."""
    done, _ = train(folder, argument, check=False)
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def write_h5(path):
    """A file with all there is in HDF5; returns what is to be read of it."""
    numbers = {}
    with h5py.File(path, "w", userblock_size=1024) as f:
        for name, dtype in {
            "plain": "<i4",
            "big": ">f8",
            "bytes": "u1",
            "deep/er/half": "<f2",
            "deep/turned": ">c8",
            "deep/wide": "<c16",
            "flags": "?",
        }.items():
            numbers[name] = (FIELD % 2 if dtype == "?" else FIELD).astype(dtype)
            f[name] = numbers[name]
        options = {"compression": "gzip", "shuffle": True, "fletcher32": True}
        numbers["zipped"] = FIELD.astype(">u2")
        f.create_dataset("zipped", data=numbers["zipped"], chunks=(17, 50), **options)
        numbers["scaled"] = FIELD
        f.create_dataset("scaled", data=FIELD, chunks=(60, 50), scaleoffset=0)
        colours = h5py.enum_dtype({"red": 0, "green": 1000}, basetype="<i2")
        f.create_dataset("colours", data=FIELD.astype("<i2") // 9 * 1000, dtype=colours)
        numbers["colours"] = FIELD.astype("<i2") // 9 * 1000
        f["single"] = 3.0
        f["none"] = h5py.Empty("f4")
        f["empty"] = np.zeros((0, 5))
        f["words"] = ["a", "bc"]
        f["fixed"] = np.array([b"ab", b"cd"])
        f["pairs"] = np.zeros(5, [("x", "i4"), ("y", "f8")])
        f["blocks"] = np.zeros(5, "(3,)i4")[:, :1]
        numbers["blocks"] = np.zeros((5, 1), "i4")
        ragged = f.create_dataset("ragged", (3,), h5py.vlen_dtype("i4"))
        ragged[0] = [1, 2]
        f.create_dataset("refs", data=[f["plain"].ref], dtype=h5py.ref_dtype)
        f["type"] = np.dtype("<f4")
        f["deep/again"] = f["plain"]
        f["deep/loop"] = f["deep"]
        f["soft"] = h5py.SoftLink("/plain")
        f["broken"] = h5py.SoftLink("/nothing")
        f["outside"] = h5py.ExternalLink("none.h5", "/x")
    del numbers["plain"]
    numbers["deep/again"] = FIELD.astype("<i4")
    return numbers


def test_all_numbers_of_a_file_of_hdf5_are_read(tmp_path):
    path = tmp_path / "f.h5"
    assert_read(tmp_path, path, write_h5(path))


def test_a_dataset_or_a_group_can_be_named(tmp_path):
    path = tmp_path / "f.h5"
    write_h5(path)
    _, one = train(tmp_path, f"{path}::zipped", f"{path}::/soft")
    assert arrays_of(one) == {"f/zipped", "f/soft"}
    _, group = train(tmp_path, f"{path}::deep/er")
    assert arrays_of(group) == {"f/deep/er/half"}
    for inner, message in {
        "words": "words: its elements are no numbers",
        "single": "single: a single value",
        "empty": "empty: the array has no elements",
        "nothing": 'there is no dataset or group "nothing"',
        "broken": 'there is no dataset or group "broken"',
    }.items():
        assert message in refused(tmp_path, f"{path}::{inner}")


def test_a_filter_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as f:
        f["a"] = FIELD
        f.create_dataset("z", data=FIELD, chunks=(60, 50), **hdf5plugin.Zstd())
    line = refused(tmp_path, f"{path}::z")
    assert "z: filter 32015 (zstd) is not available" in line
    warning = f"btune: {path}: {line.split(': ', 2)[2][:-1]}; passed over\n"
    assert_read(tmp_path, path, {"a": FIELD}, stderr=warning)
    plugins = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGINS_PATH}
    assert_read(tmp_path, path, {"a": FIELD, "z": FIELD}, **plugins)


@pytest.mark.usefixtures("plugin_dir")
def test_what_our_own_filter_wrote_is_read(tmp_path):
    path = tmp_path / "tuned.h5"
    support.write_tuned(path, {"a": FIELD, "b": FIELD.astype("f4")})
    expected = {"a": FIELD, "b": FIELD.astype("f4")}
    assert_read(tmp_path, path, expected, HDF5_PLUGIN_PATH=support.PLUGIN_DIR)


def write_netcdf(path, format):
    with netCDF4.Dataset(path, "w", format=format) as f:
        f.createDimension("y", 60)
        f.createDimension("x", 50)
        f.createVariable("t", "f4", ("y", "x"))[:] = FIELD
        f.createVariable("x", "i2", ("x",))[:] = np.arange(50)


def test_netcdf_is_read_from_version_4_on(tmp_path):
    path = tmp_path / "f.nc"
    write_netcdf(path, "NETCDF4")
    assert_read(tmp_path, path, {"t": FIELD.astype("f4"), "x": np.arange(50, dtype="i2")})
    old = tmp_path / "old.nc"
    write_netcdf(old, "NETCDF3_CLASSIC")
    assert "NetCDF before version 4" in refused(tmp_path, old)


@pytest.mark.parametrize("version", [2, 3])
def test_groups_of_zarr_are_read(tmp_path, version):
    path = tmp_path / "f.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=version)
    codecs = {
        2: [numcodecs.Blosc(cname="zstd"), numcodecs.GZip(), numcodecs.Zstd()],
        3: [BloscCodec(cname="lz4"), GzipCodec(), ZstdCodec(checksum=True)],
    }[version]
    expected = {}
    types = {"a": "<f4", "g/b": ">i2", "g/h/c": "bool"}
    for (name, dtype), codec in zip(types.items(), codecs, strict=True):
        data = (FIELD % 2 if dtype == "bool" else FIELD).astype(dtype)
        array = root.create_array(
            name, shape=data.shape, dtype=dtype, chunks=(25, 50), compressors=codec
        )
        array[:] = data
        expected[name] = data
    root.create_array("words", shape=(3,), dtype="str")[:] = np.array(["a", "b", "c"])
    root.create_array("single", shape=(), dtype="i4")[()] = 3
    root.create_array("none", shape=(0,), dtype="i4")
    if version == 2:
        array = root.create_array("f", shape=FIELD.shape, dtype="i8", chunks=(60, 50), order="F")
        array[:] = FIELD
        expected["f"] = FIELD
        root.create_array("pairs", shape=(3,), dtype=[("x", "i4"), ("y", "f8")])
    else:
        shards = {"shards": (32, 64), "chunks": (16, 64)}
        array = root.create_array("s", shape=(60, 50), dtype="f8", **shards)
        array[:] = FIELD
        expected["s"] = FIELD.astype("f8")
    assert_read(tmp_path, path, expected)
    _, group = train(tmp_path, f"{path}::g/h", f"{path}::a")
    assert arrays_of(group) == {"f/g/h/c", "f/a"}
    # The folder above is a folder of files and of groups.
    _, above = train(tmp_path, tmp_path)
    assert {f"f/{name}" for name in expected} <= arrays_of(above)
    assert "no numbers" in refused(tmp_path, f"{path}::words")
    assert "no array or group" in refused(tmp_path, f"{path}::nothing")


def test_a_codec_that_is_not_there_is_named(tmp_path):
    path = tmp_path / "f.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=2)
    root.create_array("a", data=FIELD, chunks=(60, 50))
    root.create_array("l", data=FIELD, chunks=(60, 50), compressors=numcodecs.LZMA())
    assert "lzma" in refused(tmp_path, f"{path}::l")
    done, pieces = train(tmp_path, path)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"btune: {path}: l: ")
    assert done.stderr.endswith("; passed over\n")
    assert arrays_of(pieces) == {"f"}


@pytest.mark.parametrize("contiguous", [True, False])
def test_files_of_blosc2_are_read(tmp_path, contiguous):
    path = tmp_path / "f.b2nd"
    data = FIELD.astype(">f4")
    blosc2.asarray(data, urlpath=str(path), chunks=(23, 50), blocks=(7, 20), contiguous=contiguous)
    assert_read(tmp_path, path, {"data": data})
    # All zeros: no chunk is stored.
    zeros = tmp_path / "zeros.b2nd"
    blosc2.zeros((60, 50), dtype="i8", urlpath=str(zeros), contiguous=contiguous)
    assert_read(tmp_path, zeros, {"data": np.zeros((60, 50), "i8")})
    frame = tmp_path / "f.b2frame"
    options = {"cparams": {"typesize": 8, "codec": blosc2.Codec.ZSTD}, "contiguous": contiguous}
    blosc2.SChunk(chunksize=7000, data=FIELD, urlpath=str(frame), **options)
    assert_read(tmp_path, frame, {"data": FIELD.astype("u8")})


def test_broken_and_foreign_files_of_blosc2_are_refused(tmp_path):
    path = tmp_path / "f.b2nd"
    blosc2.asarray(FIELD, urlpath=str(path), chunks=(23, 50))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "f.b2nd: the file is cut short" in refused(tmp_path, path)
    for at in range(10, 200, 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        done = support.run(
            [BTUNE, "train", path, "--pieces", "0"], cwd=tmp_path, check=False, timeout=60
        )
        assert done.returncode in (0, 1)
        assert done.stderr.count("\n") <= 1
    words = tmp_path / "words.b2nd"
    blosc2.asarray(np.array(["ab", "cd"]), urlpath=str(words))
    assert "no numbers" in refused(tmp_path, words)


def test_folders_are_read_with_all_that_is_in_them(tmp_path):
    folder = tmp_path / "all"
    (folder / "sub" / "deeper").mkdir(parents=True)
    np.save(folder / "a.npy", FIELD)
    np.save(folder / "words.npy", np.array(["a", "b"]))
    np.savez_compressed(folder / "sub" / "two.npz", x=FIELD, y=FIELD.astype("f4"))
    write_netcdf(folder / "sub" / "old.nc", "NETCDF3_CLASSIC")
    with h5py.File(folder / "sub" / "deeper" / "data", "w") as f:
        f["a"] = FIELD
    (folder / "readme.txt").write_text("hello")
    (folder / "table.zip").write_bytes((folder / "sub" / "two.npz").read_bytes())
    done, pieces = train(tmp_path, folder)
    assert arrays_of(pieces) == {"a", "sub/two/x", "sub/two/y", "sub/deeper/data"}
    assert done.stderr.count("\n") == 1
    assert f"{folder}/sub/old.nc: a file of NetCDF before" in done.stderr
    (folder / "broken.h5").write_text("hello")
    assert "broken.h5: not a file of HDF5" in refused(tmp_path, folder)
    assert "readme.txt: not a file of a known format" in refused(tmp_path, folder / "readme.txt")


def test_our_own_codec_for_zarr_is_read(tmp_path):
    path = tmp_path / "f.zarr"
    array = zarr.create_array(path, shape=FIELD.shape, chunks=(60, 50), dtype="i8", zarr_format=2)
    array[:] = FIELD
    # What the codec writes: one Blosc2 chunk each.
    metadata = json.loads((path / ".zarray").read_text())
    metadata["compressor"] = {"id": "blosc2"}
    (path / ".zarray").write_text(json.dumps(metadata))
    chunk = blosc2.compress2(FIELD.tobytes(), typesize=8)
    (path / "0.0").write_bytes(chunk)
    assert_read(tmp_path, path, {"data": FIELD})

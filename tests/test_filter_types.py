"""Types, layouts and neighbouring filters: ours writes, ours and the registered read."""

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

# `cases()` yields the same in every process: name, data, and how to create it; where a chunk may
# stay as it is, the masks that tell so.
_CASES = """
import sys
import h5py, numpy as np

rng = np.random.default_rng(5)

def steps(n, dtype):
    raw = np.repeat(rng.integers(0, 64, n * np.dtype(dtype).itemsize // 16 + 1, "u1"), 16)
    return raw[: n * np.dtype(dtype).itemsize].view(dtype)

def cases():
    for dtype in ("u1", "i1", "?", "<i2", ">i2", "<f2", "<f4", ">f4", "<i8", ">i8", "<f8", ">f8",
                  "<c8", "<c16", "S3", "S255", "S256", "S300", "V1", "V7", "V255", "V256", "V1000"):
        for shape, chunks in (((300,), (70,)), ((30, 11), (8, 4)), ((5, 6, 7), (2, 6, 3))):
            a = steps(int(np.prod(shape)), dtype).reshape(shape)
            yield f"{dtype} {shape}", (a & 1 if dtype == "?" else a), {"chunks": chunks}
    compound = np.dtype([("a", "<i4"), ("b", "<f8"), ("c", "S5"), ("d", "<i2", (2, 3))])
    for n, chunks in ((200, (64,)), (210, (3, 70))):
        a = steps(n, compound).reshape((-1,) if len(chunks) == 1 else (3, 70))
        yield f"compound {n}", a, {"chunks": chunks}
    wide = np.dtype([("a", "<i4", (100,)), ("b", "<f8")])
    yield "wide compound", steps(60, wide).reshape(6, 10), {"chunks": (3, 4)}
    for base, inner in (("<f4", (3,)), ("<i2", (2, 5)), ("<f8", (70,)), ("S300", (2,))):
        dtype = np.dtype((base, inner))
        for shape, chunks in (((50,), (20,)), ((12, 7), (5, 7))):
            a = steps(int(np.prod(shape + inner)), base).reshape(shape + inner)
            yield f"array {base} {inner} {shape}", a, {"dtype": dtype, "chunks": chunks}
    enum = h5py.enum_dtype({"A": 1, "B": 2}, basetype="u1")
    yield "enum", np.tile(np.array([1, 2], "u1"), 200), {"dtype": enum, "chunks": (90,)}
    for vlen in (False, True):
        strings = np.array(["text %d" % (i // 9) for i in range(100)], object)
        dtype = h5py.string_dtype() if vlen else h5py.string_dtype(length=12)
        # Before HDF5 2.1 the values of such a data set are not set: it may be stored as it is.
        masks = ({0}, {1}) if vlen else ({0},)
        yield f"strings {vlen}", strings, {"dtype": dtype, "chunks": (30,), "masks": masks}

    field = np.cumsum(rng.integers(-3, 4, (50, 64)), 1).astype("<i4")
    for name, extra in (("shuffle", {"shuffle": True}), ("fletcher", {"fletcher32": True}),
                        ("both", {"shuffle": True, "fletcher32": True}),
                        ("scale", {"scaleoffset": 0}),
                        ("scale, shuffle", {"scaleoffset": 0, "shuffle": True})):
        yield name, field, {"chunks": (16, 20)} | extra
        yield name + " 1d", field[0], {"chunks": (25,)} | extra
    yield "one", field[:3, :3], {"chunks": (1, 1)}
    yield "one 1d", field[0], {"chunks": (1,)}
    yield "byte", field[0].astype("u1"), {"chunks": (1,)}
    yield "odd", field.astype("u1")[:, :63], {"chunks": (13, 17)}
    yield "noise", rng.integers(0, 256, (100, 999), "u1"), {"chunks": (64, 100)}
    yield "noise f8", rng.random((100, 99)), {"chunks": (64, 50)}
    yield "zeros", np.zeros((100, 100), "f4"), {"chunks": (64, 64)}
    yield "nan", np.full((100, 100), np.nan, "f4"), {"chunks": (64, 64)}
    yield "constant", np.full((100, 100), 7.5, "f8"), {"chunks": (64, 64)}
    yield "16d", steps(1 << 12, "i2").reshape((1,) * 4 + (2,) * 12), {"chunks": (1,) * 16}
    yield "20d", steps(1 << 8, "i2").reshape((1,) * 12 + (2,) * 8), {"chunks": (1,) * 18 + (2,) * 2}
    yield "large", steps(600 * 700, "<f8").reshape(600, 700), {"chunks": (600, 700)}
"""

_WRITE = (
    _CASES
    + """
path, opts = sys.argv[1], eval(sys.argv[2])
with h5py.File(path, "w") as f:
    for name, data, how in cases():
        how = {"dtype": data.dtype} | how
        how.pop("masks", None)
        shape = data.shape[: len(how["chunks"])]
        d = f.create_dataset(name, shape, compression=32026, compression_opts=opts, **how)
        d[...] = data
"""
)

_READ = (
    _CASES
    + """
path = sys.argv[1]
if sys.argv[2] == "stock":
    import hdf5plugin
count = 0
with h5py.File(path) as f:
    for name, data, how in cases():
        d = f[name]
        got = d.asstr()[()] if data.dtype == object else d[()]
        assert got.shape == data.shape, (name, got.shape)
        if data.dtype == object:
            assert (got == data).all(), name
        else:
            assert got.tobytes() == data.tobytes(), name
        masks = {d.id.get_chunk_info(i).filter_mask for i in range(d.id.get_num_chunks())}
        assert masks in how.get("masks", ({0},)), (name, masks)
        count += 1
print(count)
"""
)

ENVIRONMENTS = {
    "tuned": (None, {}),
    "explicit": ((1, 0, 0, 0, 5, 1, 5), {}),
    "delta": ((1, 0, 0, 0, 5, 3, 5), {}),
    "bytedelta": ((1, 0, 0, 0, 5, 35, 1), {}),
    "stored": ((1, 0, 0, 0, 0, 1, 5), {}),
    "speed": (None, {"BTUNE_TRADEOFF": "0"}),
    "size, threads": (None, {"BTUNE_TRADEOFF": "1", "BLOSC_NTHREADS": "2"}),
    "balanced": (None, {"BTUNE_TRADEOFF": "0.5", "BTUNE_PERF_MODE": "BALANCED"}),
    # C-Blosc2 obeys these itself, unless it is told otherwise.
    "all of Blosc's": (
        None,
        {
            "BTUNE_TRADEOFF": "0.5",
            "BLOSC_CLEVEL": "9",
            "BLOSC_SHUFFLE": "NOSHUFFLE",
            "BLOSC_COMPRESSOR": "zlib",
            "BLOSC_NTHREADS": "2",
            "BLOSC_BLOCKSIZE": "5000",
            "BLOSC_SPLITMODE": "ALWAYS",
            "BLOSC_DELTA": "1",
            "BLOSC_TYPESIZE": "3",
        },
    ),
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_type_comes_back(tmp_path, name):
    opts, env = ENVIRONMENTS[name]
    path = tmp_path / "types.h5"
    done = support.run_btune(_WRITE, path, repr(opts), **env)
    assert done.stderr == ""
    ours = support.run_btune(_READ, path, "btune", **env)
    stock = support.run_python(_READ, path, "stock")
    assert int(ours.stdout) == int(stock.stdout) >= 100


def test_what_the_registered_filter_writes_is_read(tmp_path):
    path = tmp_path / "stock.h5"
    # All but those that it cannot write, or writes so that it cannot read them itself.
    loop = "for name, data, how in cases():"
    skip = """
        base = np.dtype(how.get("dtype", data.dtype)).base
        if "masks" in how or base.itemsize > 255:
            continue"""
    write = "import hdf5plugin" + _WRITE.replace(loop, loop + skip)
    read = _READ.replace(
        "d = f[name]", "d = f.get(name)\n        if d is None:\n            continue"
    )
    support.run_python(write, path, "(1, 0, 0, 0, 5, 1, 5)")
    assert int(support.run_btune(read, path, "btune").stdout) >= 80


def test_references(tmp_path):
    path = tmp_path / "refs.h5"
    code = """
        import sys
        import h5py
        if sys.argv[2] == "stock":
            import hdf5plugin
        with h5py.File(sys.argv[1], "a" if sys.argv[2] == "write" else "r") as f:
            if sys.argv[2] == "write":
                for i in range(40):
                    f.create_group(f"g{i}")
                for name, dtype in (("o", h5py.ref_dtype), ("r", h5py.regionref_dtype)):
                    f.create_dataset(name, (8, 5), dtype, chunks=(4, 5), compression=32026)
                for i in range(40):
                    f["o"][i // 5, i % 5] = f[f"g{i}"].ref
                    f["r"][i // 5, i % 5] = f["o"].regionref[i // 5, :]
            for i in range(40):
                assert f[f["o"][i // 5, i % 5]].name == f"/g{i}"
                assert f["o"].regionref.selection(f["r"][i // 5, i % 5]) == (1, 5)
            print("ok")
        """
    for run, who in ((support.run_btune, "write"), (support.run_btune, "read")):
        assert run(code, path, who).stdout == "ok\n"
    assert support.run_python(code, path, "stock").stdout == "ok\n"

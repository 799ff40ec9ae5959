"""The filter's values in a data set: slot 0, the registered filter's values, explicit options."""

import json
import struct

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

# Creates one data set per line of JSON in argv[2], and prints values and the first stored chunk.
_CREATE = """
import json, sys
import h5py, numpy as np
if sys.argv[3] == "stock":
    import hdf5plugin
path, made = sys.argv[1], {}
with h5py.File(path, "w") as f:
    for name, spec in json.loads(sys.argv[2]).items():
        n = int(np.prod(spec["shape"]))
        a = (np.arange(n) // 3 * 7 % 1000).astype(spec["dtype"]).reshape(spec["shape"])
        opts = spec["opts"] and tuple(spec["opts"])
        d = f.create_dataset(name, data=a, chunks=tuple(spec["chunks"]), compression=32026,
                             compression_opts=opts)
        values = d.id.get_create_plist().get_filter(0)[2]
        mask, chunk = d.id.read_direct_chunk((0,) * a.ndim)
        made[name] = {"values": values, "mask": mask, "chunk": chunk.hex()}
print(json.dumps(made))
"""


def spec(opts=None, shape=(64, 90), chunks=(32, 50), dtype="i4"):
    return {"opts": opts, "shape": shape, "chunks": chunks, "dtype": dtype}


def create(path, specs, *, stock=False, **env):
    """What was made of the data sets, and stderr."""
    run = support.run_python if stock else support.run_btune
    done = run(_CREATE, path, json.dumps(specs), "stock" if stock else "btune", **env)
    return json.loads(done.stdout), done.stderr


def fields(value):
    """The fields of slot 0."""
    return {
        "revision": value & 0xFF,
        "tuned": value >> 8 & 1,
        "mode": value >> 9 & 3,
        "percent": value >> 11 & 0x7F,
        "extension": value >> 18 & 1,
        "token": value >> 19,
    }


def chunk_header(frame):
    """Of a stored chunk of one frame: what says how it was compressed."""
    (head,) = struct.unpack(">i", frame[11:15])
    chunk = frame[head:]
    nbytes, block, _ = struct.unpack("<3i", chunk[4:16])
    flags, typesize = chunk[2:4]
    return {
        "codec and level": frame[26],
        "flags": flags,
        "typesize": typesize,
        "nbytes": nbytes,
        "block": block,
        "filters": chunk[16:22],
        "metas": chunk[24:30],
        "codec": chunk[22],
        "b2nd": b"b2nd" in frame[:head],
    }


def test_fields(tmp_path):
    shapes = {"1d": spec(shape=(500,), chunks=(100,)), "2d": spec(), "few": spec([1, 0, 0, 0])}
    for env, mode, percent in [
        ({}, 0, 50),
        ({"BTUNE_TRADEOFF": "0.9", "BTUNE_PERF_MODE": "BALANCED"}, 2, 90),
        ({"BTUNE_TRADEOFF": "0"}, 0, 0),
        ({"BTUNE_TRADEOFF": "1", "BTUNE_PERF_MODE": "DECOMP"}, 1, 100),
        ({"BTUNE_TRADEOFF": "0.333"}, 0, 33),
    ]:
        made, stderr = create(tmp_path / "f.h5", shapes, **env)
        assert stderr == ""
        for name in shapes:
            got = fields(made[name]["values"][0])
            assert got.pop("token") > 0
            expected = {"revision": 1, "tuned": 1, "mode": mode, "percent": percent}
            assert got == expected | {"extension": 0}, (env, name)


def test_values_are_those_of_the_registered_filter(tmp_path):
    specs = {
        "2d": spec(),
        "3d": spec(shape=(4, 5, 60), chunks=(2, 5, 7)),
        "16d": spec(shape=(2,) * 16, chunks=(1,) * 8 + (2,) * 8),
        "big": spec(dtype=">f8"),
        "level": spec([1, 0, 0, 0, 9]),
        "all": spec([1, 0, 0, 0, 9, 2, 5]),
        "block": spec([1, 512, 0, 0, 9, 2, 5]),
        "more": spec([1, 0, 9, 9, 9, 2, 5, 3, 1, 1, 1, 1]),
        "1d all": spec([1, 0, 0, 0, 9, 2, 5], (500,), (100,)),
        "17d": spec([1, 0, 0, 0, 9, 2, 5], (2,) * 17, (1,) * 8 + (2,) * 9),
    }
    ours, _ = create(tmp_path / "o.h5", specs)
    stock, _ = create(tmp_path / "s.h5", specs, stock=True)
    for name, s in specs.items():
        assert ours[name]["values"][1:] == stock[name]["values"][1:], name
        assert ours[name]["values"][0] & 0xFF == stock[name]["values"][0], name
        assert fields(ours[name]["values"][0])["tuned"] == (s["opts"] is None), name
    # The registered filter leaves these at four values, with which it does not compress.
    one = {"1d": spec(shape=(500,), chunks=(100,))}
    ours, _ = create(tmp_path / "o.h5", one)
    stock, _ = create(tmp_path / "s.h5", one, stock=True)
    assert ours["1d"]["values"][1:] == [*stock["1d"]["values"][1:4], 5, 1, 0]


def test_the_token_depends_on_the_data_set_alone(tmp_path):
    specs = {
        "a": spec(),
        "same": spec(),
        "chunks": spec(chunks=(32, 51)),
        "type": spec(dtype="f4"),
        "size": spec(dtype="i8"),
        "options": spec([1, 0, 0, 0, 9, 2, 5]),
        "level": spec([1, 0, 0, 0, 8, 2, 5]),
    }
    first, _ = create(tmp_path / "a.h5", specs)
    again, _ = create(tmp_path / "b.h5", dict(reversed(specs.items())))
    tokens = {name: fields(made["values"][0])["token"] for name, made in first.items()}
    assert tokens == {name: fields(again[name]["values"][0])["token"] for name in specs}
    assert tokens.pop("same") == tokens["a"]
    assert len(set(tokens.values())) == len(tokens)


def explicit_options():
    for codec in (0, 1, 2, 4, 5):
        for filter_ in (0, 1, 2, 3):
            yield [1, 0, 0, 0, 1 + codec, filter_, codec]
    yield from ([1, block, 0, 0, 5, 1, 5] for block in (512, 1000, 4096, 100_000))
    yield [1, 0, 0, 0, 9, 1, 5]


def test_explicit_options_are_done_as_the_registered_filter_does_them(tmp_path):
    layouts = {
        "1d": ((9000,), (4000,)),
        "2d": ((200, 90), (100, 50)),
        "3d": ((30, 40, 50), (16, 20, 25)),
    }
    specs = {
        f"{name} {dtype} {opts}": spec(opts, *layout, dtype)
        for opts in explicit_options()
        for name, layout in layouts.items()
        for dtype in ("u1", "i4", "f8")
    }
    ours, stderr = create(tmp_path / "o.h5", specs, BTUNE_TRACE="json")
    assert stderr == ""
    stock, _ = create(tmp_path / "s.h5", specs, stock=True)
    for name in specs:
        assert (ours[name]["mask"], stock[name]["mask"]) == (0, 0), name
        got, want = (bytes.fromhex(made[name]["chunk"]) for made in (ours, stock))
        got, want = chunk_header(got), chunk_header(want)
        assert got == want, name


def test_options_that_are_not_valid_are_named_and_replaced(tmp_path):
    made, stderr = create(tmp_path / "b.h5", {"a": spec([1, 0, 0, 0, 10, 99, 3])})
    lines = stderr.splitlines()
    assert len(lines) == 3
    for line, words in zip(lines, ("compression level 10", "filter 99", "codec 3"), strict=True):
        assert words in line
        assert "is not valid" in line
    assert made["a"]["values"][4:7] == [5, 1, 0]
    assert made["a"]["mask"] == 0


def test_values_live_on_when_a_data_set_is_made_again(tmp_path):
    done = support.run_btune(
        """
        import sys
        import h5py, numpy as np
        with h5py.File(sys.argv[1], "w") as f:
            a = f.create_dataset("a", (64, 90), "f4", chunks=(32, 50), compression=32026)
            dcpl = a.id.get_create_plist()
            again = h5py.h5d.create(f.id, b"b", a.id.get_type(), a.id.get_space(), dcpl)
            print(*again.get_create_plist().get_filter(0)[2])
            print(*dcpl.get_filter(0)[2])
            # With an extension, and another shape.
            values = list(dcpl.get_filter(0)[2])
            values = [values[0] | 1 << 18, *values[1:], 77, 78]
            space = h5py.h5s.create_simple((5, 5, 5))
            new = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            new.set_chunk((5, 5, 5))
            new.set_filter(32026, 1, tuple(values))
            c = h5py.h5d.create(f.id, b"c", a.id.get_type(), space, new)
            print(*c.get_create_plist().get_filter(0)[2])
        """,
        tmp_path / "again.h5",
        BTUNE_TRADEOFF="0.8",
    )
    again, first, extended = ([int(n) for n in line.split()] for line in done.stdout.splitlines())
    assert again == first
    assert extended[1:] == [0, 4, 500, 5, 1, 0, 3, 5, 5, 5, 77, 78]
    got = fields(extended[0])
    assert (got["tuned"], got["percent"], got["extension"]) == (1, 80, 1)


def test_two_gibibytes_are_refused_when_the_data_set_is_made(tmp_path):
    done = support.run_btune(
        """
        import sys
        import h5py
        with h5py.File(sys.argv[1], "w") as f:
            try:
                f.create_dataset("a", (1 << 31,), "u1", chunks=(1 << 31,), compression=32026)
            except (ValueError, OSError) as error:
                print(type(error).__name__)
        """,
        tmp_path / "large.h5",
    )
    assert done.stdout.strip() != ""
    (line,) = done.stderr.splitlines()
    assert "2147483648 bytes is too large for Blosc2" in line

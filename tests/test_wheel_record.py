"""blosc2_btune.record(): what the chunks of a super-chunk were compressed with."""

import pytest
import support

PRELUDE = """
import sys
import numpy as np, blosc2, blosc2_btune
from blosc2_btune import record

ITEMS = 32_768
rng = np.random.default_rng(7)

def chunk(i):
    "A chunk of 128 KiB that compresses, unlike any other."
    return (np.cumsum(rng.integers(0, 9, ITEMS)) + i).astype("i4")

def tuned(nchunks=12, **kwargs):
    cparams = {"tuner": blosc2.Tuner.BTUNE, "typesize": 4}
    schunk = blosc2.SChunk(chunksize=4 * ITEMS, cparams=cparams, **kwargs)
    for i in range(nchunks):
        schunk.append_data(chunk(i))
    return schunk

def fixed(nchunks=3, codec=blosc2.Codec.ZSTD, **kwargs):
    cparams = {"codec": codec, "clevel": 5, "typesize": 4, "filters": [blosc2.Filter.SHUFFLE],
               "filters_meta": [0]}
    schunk = blosc2.SChunk(chunksize=4 * ITEMS, cparams=cparams, **kwargs)
    for i in range(nchunks):
        schunk.append_data(chunk(i))
    return schunk

def contents(schunk):
    return b"".join(schunk.decompress_chunk(i) for i in range(schunk.nchunks))

def stored(schunk):
    "The codec and filters of each chunk by its header, read apart from the module."
    flags = {0: "blosclz", 1: "lz4", 3: "zlib", 4: "zstd"}
    names = {1: "shuffle", 2: "bitshuffle", 35: "bytedelta"}
    heads = [schunk.get_chunk(i)[:32] for i in range(schunk.nchunks)]
    return [(flags[h[2] >> 5], [names[f] for f in h[16:22] if f]) for h in heads]

def told(runs):
    "The same as in the runs."
    each = [run for run in runs for _ in range(run["chunks"])]
    return [((r["codec"] or "").replace("lz4hc", "lz4"), r["filters"]) for r in each]

def from_tuner(runs):
    return [run["origin"] is not None for run in runs]
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **env):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **env)

    return run


@pytest.mark.parametrize("contiguous", [True, False])
@pytest.mark.parametrize("in_file", [True, False])
def test_a_tuned_super_chunk(child, tmp_path, contiguous, in_file):
    path = tmp_path / "a.b2frame" if in_file else ""
    child(
        """
contiguous, path = sys.argv[1] == "True", sys.argv[2] or None
schunk = tuned(contiguous=contiguous, urlpath=path)
before = contents(schunk)
chunks = [schunk.get_chunk(i) for i in range(schunk.nchunks)]
runs = record(schunk)
assert contents(schunk) == before and schunk.nchunks == 12
assert [schunk.get_chunk(i) for i in range(schunk.nchunks)] == chunks
assert schunk.vlmeta["btune"] == runs
assert sum(run["chunks"] for run in runs) == 12
assert told(runs) == stored(schunk)
for run in runs:
    assert list(run) == ["chunks", "codec", "clevel", "filters", "filters_meta", "split",
                         "blocksize", "nthreads", "tradeoff", "perf_mode", "origin"], run
    assert 1 <= run["clevel"] <= 9 and run["nthreads"] >= 1, run
    assert run["split"] in ("always", "never") and 0 < run["blocksize"] <= 4 * ITEMS
    assert run["tradeoff"] == [0.5, 0.5, 0.0] and run["perf_mode"] == "COMP"
    assert run["origin"] in ("inference", "genetic")
    assert len(run["filters"]) == len(run["filters_meta"])
for run, after in zip(runs, runs[1:]):
    assert {**run, "chunks": 0} != {**after, "chunks": 0}, "alike in a row"

# More chunks, and the list made again.
schunk.append_data(chunk(99))
again = record(schunk)
assert sum(run["chunks"] for run in again) == 13 and all(from_tuner(again))
assert schunk.vlmeta["btune"] == again

if path:
    opened = blosc2.open(path, mode="a")
    assert opened.vlmeta["btune"] == again, "what was kept is in the file"
    runs = record(opened)
    assert told(runs) == stored(opened)
    assert not any(from_tuner(runs)), "nobody can tell any more"
    assert {run["clevel"] for run in runs} == {None}
""",
        contiguous,
        path,
    )


def test_nothing_is_known_of_chunks_that_were_not_tuned(child):
    child("""
schunk = fixed()
(run,) = record(schunk)
blocksize = int.from_bytes(schunk.get_chunk(0)[8:12], "little")
split = "never" if schunk.get_chunk(0)[2] & 0x10 else "always"
assert run == {"chunks": 3, "codec": "zstd", "clevel": None, "filters": ["shuffle"],
    "filters_meta": [0], "split": split, "blocksize": blocksize, "nthreads": None,
    "tradeoff": None, "perf_mode": None, "origin": None}, run
assert record(fixed(codec=blosc2.Codec.LZ4HC))[0]["codec"] == "lz4hc"
assert record(fixed(codec=blosc2.Codec.LZ4))[0]["codec"] == "lz4"
assert record(fixed(codec=blosc2.Codec.ZLIB))[0]["codec"] == "zlib"
assert record(fixed(0)) == []
""")


CHANGES = {
    "updated": "schunk.update_data(3, chunk(50), copy=True)",
    "updated with another codec": "schunk.update_chunk(3, fixed(1).get_chunk(0))",
    "deleted": "schunk.delete_chunk(0)",
    "appended as a chunk": "schunk.append_chunk(fixed(1, blosc2.Codec.ZLIB).get_chunk(0))",
    "inserted as a chunk": "schunk.insert_chunk(0, fixed(1, blosc2.Codec.ZLIB).get_chunk(0))",
    "deleted and replaced": """
schunk.delete_chunk(0)
schunk.append_chunk(fixed(1, blosc2.Codec.ZLIB).get_chunk(0))""",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_after_a_change_what_is_stored_decides(child, change):
    child(f"""
schunk = tuned()
assert all(from_tuner(record(schunk)))
{change}
runs = record(schunk)
assert told(runs) == stored(schunk)
assert not any(from_tuner(runs)), "the tuner's records are of other chunks"
""")


def test_chunks_of_one_value_and_chunks_that_are_stored(child):
    child("""
schunk = tuned(4)
schunk.append_data(np.zeros(ITEMS, "i4"))
schunk.append_data(np.zeros(ITEMS, "i4"))
schunk.append_data(rng.bytes(4 * ITEMS))
schunk.append_data(chunk(9))
runs = record(schunk)
each = [run for run in runs for _ in range(run["chunks"])]
special, noise, last = each[4], each[6], each[7]
assert special["special"] is True and special["codec"] is None and special["origin"] is None
assert each[5] is special, "two in a row are one run"
assert noise["clevel"] == 0 and noise["codec"] is None and noise["filters"] == []
assert not noise.get("special") and noise["origin"] is not None, noise
assert last["codec"] is not None and last["origin"] is not None
assert [run.get("special", False) for run in each] == [False] * 4 + [True] * 2 + [False] * 2

# The same where the tuner was not asked at all.
schunk = fixed(2)
schunk.append_data(np.zeros(ITEMS, "i4"))
assert [(run["chunks"], run.get("special")) for run in record(schunk)] == [(2, None), (1, True)]
for array in (blosc2.full((8, 100), 3.5, chunks=(2, 100)), blosc2.nans((8, 100), chunks=(2, 100))):
    (run,) = record(array)
    assert run["chunks"] == 4 and run["special"] is True and run["codec"] is None
""")


def test_an_array_is_taken_as_well(child):
    child("""
a = np.arange(6 * ITEMS, dtype="i4").reshape(6, ITEMS)
array = blosc2.asarray(a, chunks=(1, ITEMS), cparams={"tuner": blosc2.Tuner.BTUNE})
runs = record(array)
assert sum(run["chunks"] for run in runs) == 6 and all(from_tuner(runs))
assert array.schunk.vlmeta["btune"] == runs and (array[:] == a).all()
assert record(array.schunk) == runs
try:
    record(a)
except TypeError as error:
    assert "ndarray" in str(error)
else:
    raise AssertionError("a numpy array is taken")
""")


def test_what_is_read_only_is_left_alone(child, tmp_path):
    child(
        """
path = sys.argv[1]
fixed(urlpath=path, contiguous=True)
with open(path, "rb") as file:
    before = file.read()
opened = blosc2.open(path, mode="r")
try:
    record(opened)
except ValueError as error:
    assert "reading only" in str(error) and path in str(error), error
else:
    raise AssertionError("it is stored in a read-only file")
assert record(opened, store=False)[0]["codec"] == "zstd"
with open(path, "rb") as file:
    assert file.read() == before
memory = fixed()
record(memory, store=False)
assert "btune" not in memory.vlmeta
""",
        tmp_path / "a.b2frame",
    )


def test_many_runs(child):
    child("""
# Small chunks that take turns: more runs than fit in the first call.
schunk = blosc2.SChunk(chunksize=4096, cparams={"tuner": blosc2.Tuner.BTUNE, "typesize": 4})
for i in range(150):
    data = rng.bytes(4096) if i % 2 else chunk(i)[:1024]
    schunk.append_data(data)
runs = record(schunk)
assert sum(run["chunks"] for run in runs) == 150 and len(runs) > 64
assert all(from_tuner(runs))
""")

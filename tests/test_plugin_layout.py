"""Where C-Blosc2 keeps what a tuner reads and writes, in wheels of both layouts of the context."""

import struct

import pytest
import support
from abi import matrix

CONTEXT, TARGET = 1248, 128
# Field -> its format, its offset in layouts 2 and 3, and its value, which no other field has there.
AT_INIT = {
    "blocksize": ("i", (36, 36), 7168),
    "splitmode": ("i", (40, 44), 2),
    "typesize": ("i", (56, 60), 7),
    "compcode": ("i", (76, 116), 4),
    "compcode_meta": ("B", (80, 120), 5),
    "clevel": ("i", (84, 124), 3),
    "filters": ("6s", (129, 169), bytes([2, 0, 0, 0, 0, 0])),
    "filters_meta": ("6s", (135, 175), bytes([9, 0, 0, 0, 0, 0])),
    "do_compress": ("i", (848, 888), 1),
    "nthreads": ("h", (928, 968), 2),
    "new_nthreads": ("h", (930, 970), 2),
}
ABSENT_AT_INIT = {"prefilter": ("Q", (784, 824), 0), "tuner_params": ("Q", (856, 896), 0)}
AT_FIRST_CHUNK = AT_INIT | {
    "sourcesize": ("i", (20, 20), 28000),
    "destsize": ("i", (52, 56), 28032),
    "filter_flags": ("B", (128, 168), 4),
    "tuner_id": ("i", (864, 904), 32),
}
# A block size of its own for the header of a chunk: whoever sets the one sets the other.
HEADER_BLOCKSIZE = ("i", 40, 7168)
SCHUNK = {
    "version": ("B", (0, 0), 0),
    "compcode": ("B", (1, 1), 4),
    "compcode_meta": ("B", (2, 2), 5),
    "clevel": ("B", (3, 3), 3),
    "splitmode": ("B", (4, 4), 2),
    "typesize": ("i", (8, 8), 7),
    "blocksize": ("i", (12, 12), 7168),
    "filters": ("6s", (20, 22), bytes([2, 0, 0, 0, 0, 0])),
    "filters_meta": ("6s", (26, 28), bytes([9, 0, 0, 0, 0, 0])),
}
SCHUNK_AT_FIRST_CHUNK = SCHUNK | {"chunksize": ("i", (16, 16), 28000)}
SCHUNK_CCTX = (96, 104)

_HOST = """
import ctypes, sys
import blosc2
ctypes.CDLL(sys.argv[1])
cparams = {
    "tuner": blosc2.Tuner.BTUNE, "typesize": 7, "clevel": 3, "codec": blosc2.Codec.ZLIB,
    "codec_meta": 5, "filters": [blosc2.Filter.BITSHUFFLE], "filters_meta": [9],
    "splitmode": blosc2.SplitMode.NEVER_SPLIT, "nthreads": 2, "blocksize": 7168,
}
try:
    schunk = blosc2.SChunk(chunksize=28000, cparams=cparams)
except RuntimeError:
    print("refused")
else:
    schunk.append_data(bytes(range(7, 207)) * 140)
    print("made")
"""


class Dump:
    """What probe.c wrote."""

    def __init__(self, path):
        raw = path.read_bytes()
        assert len(raw) == 8 + CONTEXT + 3 * (1 + TARGET)
        self.address = raw[:8]
        self.context = raw[8 : 8 + CONTEXT]
        targets = [raw[-i * (1 + TARGET) :][: 1 + TARGET] for i in (3, 2, 1)]
        self.src, *self.schunks = (t[1:] if t[0] else None for t in targets)


def _values(raw, fields, layout):
    """The values of fields as one layout has them."""
    return {
        name: struct.unpack_from(f"<{form}", raw, offsets[layout - 2])[0]
        for name, (form, offsets, _) in fields.items()
    }


def _expected(fields):
    return {name: value for name, (_, _, value) in fields.items()}


def _assert_layout(dump, layout, context, schunk):
    other = 5 - layout
    assert _values(dump.context, context, layout) == _expected(context)
    moved = {name: field for name, field in context.items() if len(set(field[1])) == 2}
    for name, value in _values(dump.context, moved, other).items():
        assert value != context[name][2], f"{name} is in both layouts"
    assert dump.schunks[other - 2] is None
    assert _values(dump.schunks[layout - 2], schunk, layout) == _expected(schunk)


@pytest.fixture(scope="session")
def probe(tmp_path_factory):
    """The probe of abi/probe.c, as a library."""
    path = tmp_path_factory.mktemp("probe") / "libblosc2_btune.so"
    source = support.ROOT / "tests" / "abi" / "probe.c"
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", f"-Wl,-soname,{path.name}"]
    support.run(["cc", *flags, "-o", path, source])
    return path


@pytest.mark.parametrize("version", matrix.WHEELS)
def test_a_context_that_was_just_made(version, probe, tmp_path):
    done = support.run_python(
        _HOST, probe, python=matrix.python(version), PROBE_INIT=tmp_path / "init"
    )
    assert done.stdout == "refused\n"
    dump, layout = Dump(tmp_path / "init"), matrix.WHEELS[version][0]
    _assert_layout(dump, layout, AT_INIT, SCHUNK)
    absent = _expected(ABSENT_AT_INIT)
    assert _values(dump.context, ABSENT_AT_INIT, layout) == absent
    assert _values(dump.context, ABSENT_AT_INIT, 5 - layout) == absent
    assert dump.src is None


@pytest.mark.parametrize("version", matrix.WHEELS)
def test_a_context_about_to_compress(version, probe, tmp_path):
    names = {"PROBE_INIT": tmp_path / "init", "PROBE_NEXT": tmp_path / "next"}
    done = support.run_python(_HOST, probe, python=matrix.python(version), **names)
    assert done.stdout == "made\n"
    dump, layout = Dump(tmp_path / "next"), matrix.WHEELS[version][0]
    _assert_layout(dump, layout, AT_FIRST_CHUNK, SCHUNK_AT_FIRST_CHUNK)
    assert dump.src == bytes(range(7, 7 + TARGET))
    schunk, cctx = dump.schunks[layout - 2], SCHUNK_CCTX[layout - 2]
    assert schunk[cctx : cctx + 8] == dump.address
    form, offset, value = HEADER_BLOCKSIZE
    assert (struct.unpack_from(f"<{form}", dump.context, offset)[0] == value) == (layout == 3)

"""Cases: what is done to a super-chunk after, or instead of, appending arrays to it."""

import tempfile
from pathlib import Path

import blosc2
import numpy as np
from plugin import CHUNK, TUNER, block_sizes, check, environment, schunk, series, set_defaults


def chunks_of_a_list(data):
    for array in data.values():
        parts = [part.copy() for part in series(array, 24)]
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "file.b2frame")
            for storage in ({}, {"contiguous": True}, {"urlpath": path, "mode": "w"}):
                got = schunk(typesize=array.itemsize, storage=storage)
                _edit(got, list(parts))


def _edit(got, parts):
    spare = parts[16:]
    want = parts[:8]
    for part in want:
        got.append_data(part)
    for index, part in zip((0, 5, 9), spare, strict=False):
        got.insert_data(index, part, True)
        want.insert(index, part)
    for index, part in zip((0, 4, 10), spare[3:], strict=False):
        got.update_data(index, part, True)
        want[index] = part
    chunk = blosc2.compress2(spare[6], tuner=TUNER, typesize=spare[6].itemsize)
    got.insert_chunk(2, chunk)
    want.insert(2, spare[6])
    got.update_chunk(3, chunk)
    want[3] = spare[6]
    for index in (0, 4, 8):
        got.delete_chunk(index)
        del want[index]
    check(got, np.concatenate(want))
    items = want[0].size
    got[items // 2 : items // 2 + items] = want[5].tobytes()
    whole = np.concatenate(want)
    whole[items // 2 : items // 2 + items] = want[5]
    check(got, whole)


def parameters_replaced(data):
    parts = list(series(data["relief_etopo5_f32"], 40))
    got = schunk(typesize=4)
    for number, part in enumerate(parts):
        if number % 10 == 9:
            changes = {"tuner": TUNER, "typesize": 4, "nthreads": 1 + number // 20}
            got.cparams = _parameters(**changes)
        got.append_data(part)
    check(got, np.concatenate(parts))


def _parameters(**changes):
    return blosc2.CParams(**changes) if hasattr(blosc2, "CParams") else changes


def slices_across_block_sizes(data):
    rng = np.random.default_rng(4)
    varied = False
    with tempfile.TemporaryDirectory() as folder:
        for name in ("relief_etopo5_f32", "flights_delay_i64", "mri_t1_u8", "nn_embed_f16"):
            array, path = data[name], str(Path(folder) / name)
            for storage in (
                {},
                {"contiguous": True},
                {"urlpath": path + ".b2frame", "mode": "w"},
                {"urlpath": path, "contiguous": False, "mode": "w"},
            ):
                got, want = _varied(array, storage)
                varied |= len(set(block_sizes(got))) > 1
                _slices(got, want, rng)
    assert varied, "all chunks have the same block size"


def _varied(array, storage):
    """Chunks of several block sizes: what is wanted of a super-chunk changes on the way."""
    got = schunk(typesize=array.itemsize, chunksize=256 * 1024, storage=storage)
    parts = list(series(array, 24, 256 * 1024))
    for number, part in enumerate(parts):
        if number % 8 == 7:
            set_defaults(tradeoff=(0.1, 0.5, 0.95)[number // 8])
            blocksize = (0, 16 * 1024, 0)[number // 8]
            got.cparams = _parameters(tuner=TUNER, typesize=array.itemsize, blocksize=blocksize)
        got.append_data(part)
    return got, np.concatenate(parts)


def _slices(got, want, rng):
    assert got[:] == want.tobytes()
    for _ in range(60):
        start, stop = (int(n) for n in np.sort(rng.integers(0, want.size + 1, 2)))
        if start == stop:
            continue
        assert got[start:stop] == want[start:stop].tobytes(), (start, stop)
        near = min(stop, start + 50)
        assert got.get_slice(start, near) == want[start:near].tobytes(), (start, near)
        assert got[start : start + 1] == want[start : start + 1].tobytes(), start


def filler(data):
    source = data["relief_etopo5_f32"].reshape(-1)
    for items in (source.size, source.size - 100):
        got = schunk(typesize=4)

        @got.filler(((source[:items], source.dtype),), source.dtype)
        def _(inputs, output, _offset):
            output[:] = inputs[0] + 1

        check(got, source[:items] + 1)


def prefilter(data):
    parts = list(series(data["flights_origin_i32"], 40))
    got = schunk(typesize=4)

    @got.prefilter(np.dtype("i4"), np.dtype("i4"))
    def _(given, output, _offset):
        output[:] = given * 2 + 1

    for part in parts[:20]:
        got.append_data(part)
    got.remove_prefilter("_")
    for part in parts[20:]:
        got.append_data(part)
    want = np.concatenate(parts)
    want[: want.size // 2] = want[: want.size // 2] * 2 + 1
    check(got, want)


def lazy_expression(data):
    array = data["ocean_temp_f32"][0]
    with environment(BTUNE_TRADEOFF="0.5"):
        operand = blosc2.asarray(array)
        expression = operand * 2 + operand
        compute = getattr(expression, "compute", None) or expression.eval
        for _ in range(3):
            got = compute()
            assert np.array_equal(got[()], array * 2 + array, equal_nan=True)
    got = compute(cparams={"tuner": TUNER, "nthreads": 1})
    assert np.array_equal(got[()], array * 2 + array, equal_nan=True)


def filled_to_the_brim(data):
    """Chunks that do not compress, and chunks of one value, in between others."""
    rng = np.random.default_rng(5)
    parts = list(series(data["scada_wind_f64"], 30))
    for number in range(0, 30, 3):
        parts[number] = rng.integers(0, 1 << 62, CHUNK // 8).view("f8")
        parts[number + 1] = np.full(CHUNK // 8, float(number))
    got = schunk(typesize=8)
    for part in parts:
        got.append_data(part)
    check(got, np.concatenate(parts))

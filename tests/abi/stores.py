"""Cases: the kinds of containers, of elements and of callers that a tuner meets."""

import contextlib
import os
import tempfile
import threading
from pathlib import Path

import blosc2
import numpy as np
from plugin import CHUNK, TUNER, check, environment, records, schunk, series


def automatic_block_size(data):
    for array in data.values():
        check(schunk(array, blocksize=0), array)


def given_block_size(data):
    for array in data.values():
        got = schunk(array, blocksize=8 * 1024)
        check(got, array)


def ndarray(data):
    for array in data.values():
        got = blosc2.asarray(array, cparams={"tuner": TUNER, "nthreads": 1})
        _check_ndarray(got, array)
        chunks = tuple(max(1, n // 3) for n in array.shape)
        blocks = tuple(max(1, n // 2) for n in chunks)
        got = blosc2.asarray(array, chunks=chunks, blocks=blocks, cparams={"tuner": TUNER})
        assert got.blocks == blocks
        _check_ndarray(got, array)
        assert got.copy()[()].tobytes() == array.tobytes()


def _check_ndarray(got, want):
    rng = np.random.default_rng(1)
    assert got[()].tobytes() == want.tobytes()
    for _ in range(20):
        ends = [np.sort(rng.integers(0, n + 1, 2)) for n in want.shape]
        part = tuple(slice(int(a), int(b)) for a, b in ends)
        assert got[part].tobytes() == want[part].tobytes(), part


def ndarray_resized_and_assigned(data):
    want = data["relief_etopo5_f32"].copy()
    got = blosc2.empty(want.shape, want.dtype, chunks=(64, 256), cparams={"tuner": TUNER})
    got[()] = want
    part = want[11:201, 6:901].copy()
    got[10:200, 5:900] = part
    want[10:200, 5:900] = part
    assert np.array_equal(got[()], want)
    got.resize((600, 1024))
    got[512:] = want[:88]
    assert np.array_equal(got[()], np.concatenate([want, want[:88]]))


def special_arrays(data):
    options = {"cparams": {"tuner": TUNER}, "chunks": (100, 300)}
    shape, dtype = (250, 700), np.dtype("f8")
    assert not blosc2.zeros(shape, dtype, **options)[()].any()
    assert (blosc2.full(shape, 1.5, dtype, **options)[()] == 1.5).all()
    got = blosc2.uninit(shape, dtype, **options)
    got[50:150] = 3
    assert (got[50:150] == 3).all()
    if hasattr(blosc2, "nans"):
        assert np.isnan(blosc2.nans(shape, dtype, **options)[()]).all()
    for special in (blosc2.SpecialValue.ZERO, blosc2.SpecialValue.NAN):
        got = schunk(typesize=4)
        got.fill_special(3 * CHUNK // 4, special)
        last = data["relief_etopo5_f32"][0, :16]
        got.append_data(last)
        assert got.nbytes == 3 * CHUNK + last.nbytes
        assert got[-16:] == last.tobytes()
    constant = np.full(100_000, 7, "i4")
    check(schunk(constant), constant)


def one_call_each(data):
    for array in data.values():
        for chunk in series(array, 12):
            packed = blosc2.compress2(chunk, tuner=TUNER, typesize=chunk.itemsize, nthreads=1)
            assert blosc2.decompress2(packed) == chunk.tobytes()


def files(data):
    with tempfile.TemporaryDirectory() as folder:
        for name, array in data.items():
            for contiguous in (True, False):
                _file(Path(folder) / f"{name}-{contiguous}.b2frame", contiguous, array)


def _file(path, contiguous, array):
    storage = {"urlpath": str(path), "contiguous": contiguous, "mode": "w"}
    check(schunk(array, storage=storage), array)
    more = array.reshape(-1)[CHUNK // array.itemsize :][: CHUNK // array.itemsize]
    want = more.tobytes() + array.tobytes()[CHUNK:]
    with environment(BTUNE_TRADEOFF="0.9"):  # that there is a tuner is not kept in the file
        opened = blosc2.open(str(path), mode="a")
        opened.update_data(0, more, copy=True)
        if array.nbytes % CHUNK == 0:  # nothing can follow a short chunk
            opened.append_data(more)
            want += more.tobytes()
    assert blosc2.open(str(path), mode="r")[:] == want


def frames_in_memory(data):
    for array in data.values():
        for contiguous in (True, False):
            got = schunk(array, storage={"contiguous": contiguous})
            check(got, array)
            with environment(BTUNE_TRADEOFF="0.5"):
                check(blosc2.schunk_from_cframe(got.to_cframe(), copy=True), array)


def types(data):
    for array in (
        data["scada_wind_f64"].reshape(-1),
        data["flights_origin_i32"],
        data["nn_embed_f16"].view("u2"),
        data["landmask_bool"],
        data["mri_t1_u8"].reshape(-1),
    ):
        check(schunk(array), array)
    raw = data["turbidity_u8"].reshape(-1)
    for typesize in (3, 5, 12, 255, 300, 1000):
        part = raw[: raw.size // typesize * typesize].view(f"V{typesize}")
        items = CHUNK // typesize
        check(schunk(part.view("u1"), typesize=typesize, chunksize=items * typesize), part)


def odd_lengths(data):
    raw = data["scada_wind_f64"].reshape(-1).view("u1")
    rng = np.random.default_rng(3)
    for typesize in (1, 2, 7, 8, 300):
        for length in (1, 3, 16, 31, 33, 127, 1001, *rng.integers(1000, 300_000, 5)):
            packed = blosc2.compress2(raw[:length], tuner=TUNER, typesize=typesize)
            assert blosc2.decompress2(packed) == raw[:length].tobytes(), (typesize, length)
    for length in (CHUNK - 1, CHUNK + 1, 3 * CHUNK + 8, 5 * CHUNK - 8):
        check(schunk(raw[:length], typesize=1), raw[:length])


def small_and_empty(data):
    array = data["flights_delay_i64"]
    for items in (1, 2, 5, 17):
        check(schunk(array[:items]), array[:items])
        got = blosc2.asarray(array[:items], cparams={"tuner": TUNER})
        assert np.array_equal(got[()], array[:items])
    got = schunk(typesize=8)
    check(got, array[:0])
    with contextlib.suppress(RuntimeError, ValueError):  # not every version takes it
        got.append_data(array[:0])
    assert got.nbytes == 0


def several_threads_in_a_context(data):
    for array in data.values():
        got = schunk(array, chunksize=4 * CHUNK, nthreads=2)
        check(got, array)
        if records(got).size:
            assert (records(got)["nthreads"] <= 2).all()


def several_callers(data):
    failed = []

    def run(array):
        try:
            got = schunk(typesize=array.itemsize)
            parts = list(series(array, 40))
            for part in parts:
                got.append_data(part)
            check(got, np.concatenate(parts))
            for part in parts[:10]:
                packed = blosc2.compress2(part, tuner=TUNER, typesize=part.itemsize)
                assert blosc2.decompress2(packed) == part.tobytes()
        except BaseException as error:
            failed.append(error)
            raise

    some = [data["relief_etopo5_f32"], data["ocean_temp_f32"], data["scada_wind_f64"]]
    threads = [threading.Thread(target=run, args=[array]) for array in (*some, *some)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def forked(data):
    array = data["relief_etopo5_f32"]
    got = schunk(typesize=4)
    parts = list(series(array, 20))
    for part in parts[:10]:
        got.append_data(part)
    child = os.fork()
    for part in parts[10:]:
        got.append_data(part)
    status = int(got[:] != np.concatenate(parts).tobytes())
    if child == 0:
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert status == 0

"""The filter without HDF5: its functions called as HDF5 calls them, from threads and after forks.

h5py lets one thread at a time into HDF5; here calls really come in at the same time.
"""

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

_CLASS = """
import ctypes as C, os, sys, threading, time
import numpy as np

Callback = C.CFUNCTYPE(C.c_int, C.c_int64, C.c_int64, C.c_int64)
Filter = C.CFUNCTYPE(C.c_size_t, C.c_uint, C.c_size_t, C.POINTER(C.c_uint), C.c_size_t,
                     C.POINTER(C.c_size_t), C.POINTER(C.c_void_p))

class Class(C.Structure):
    _fields_ = [("version", C.c_int), ("id", C.c_int), ("encoder", C.c_uint),
                ("decoder", C.c_uint), ("name", C.c_char_p), ("can_apply", Callback),
                ("set_local", Callback), ("filter", Filter)]

plugin = C.CDLL(os.environ["HDF5_PLUGIN_PATH"] + "/libh5btune.so")
plugin.H5PLget_plugin_info.restype = C.POINTER(Class)
cls = plugin.H5PLget_plugin_info().contents
libc = C.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = C.c_void_p, [C.c_size_t]
libc.free.argtypes = [C.c_void_p]
OPTIONAL, REVERSE = 0x001, 0x100

def call(flags, values, data):
    "What the filter makes of the bytes; None if it fails, and then they are as they were."
    data = bytes(data)
    start = libc.malloc(len(data))
    C.memmove(start, data, len(data))
    buf, size = C.c_void_p(start), C.c_size_t(len(data))
    values = (C.c_uint * len(values))(*values)
    n = cls.filter(flags, len(values), values, len(data), C.byref(size), C.byref(buf))
    if n == 0:
        assert (buf.value, size.value) == (start, len(data))
        assert C.string_at(start, len(data)) == data
    assert size.value >= n
    result = C.string_at(buf.value, n) if n else None
    libc.free(buf)
    return result

TUNED = 1 | 1 << 8
def values(percent, mode=0, shape=(100, 100), typesize=4, choice=(5, 1, 0)):
    nbytes = int(np.prod(shape)) * typesize
    slot = TUNED | mode << 9 | percent << 11
    return (slot, 0, typesize, nbytes, *choice, len(shape), *shape)

def field(seed, shape=(100, 100)):
    return np.cumsum(np.random.default_rng(seed).integers(-2, 3, shape), 1).astype("i4").tobytes()

def round_trip(values, data, flags=OPTIONAL):
    stored = call(flags, values, data)
    assert stored is not None
    assert call(flags | REVERSE, values, stored) == data
    return stored
"""


def run(code, **env):
    return support.run_btune(_CLASS + code, **env)


def test_class():
    done = run(
        """
assert plugin.H5PLget_plugin_type() == 0
assert (cls.version, cls.id, cls.encoder, cls.decoder) == (1, 32026, 1, 1)
assert cls.name == b"blosc2 (btune)"
assert C.addressof(plugin.H5PLget_plugin_info().contents) == C.addressof(cls)
assert cls.can_apply(1, 2, 3) == 1
# No HDF5 calls here, and none can be found: nothing is changed, and nothing fails.
assert cls.set_local(1, 2, 3) == 1
"""
    )
    assert (done.stdout, done.stderr) == ("", "")


def test_values_of_any_length():
    run(
        """
full = values(50)
for n in range(4, len(full) + 1):
    assert len(round_trip(full[:n], field(n))) < 20000
for n in range(4):
    # Too few for other readers: the chunk is left as it is, if it may be.
    assert call(OPTIONAL, full[:n], field(n)) is None
    round_trip(full[:n], field(n), flags=0)
odd = (full[:2] + (0,) + full[3:], full[:2] + (300,) + full[3:], full[:7] + (17,) + (1,) * 17,
       full[:7] + (0xFFFFFFFF,), full[:7] + (2, 0, 0), full[:7] + (2, 0xFFFFFFFF, 0xFFFFFFFF),
       (0xFFFFFFFF,) * 12, (1, 0xFFFFFFFF, 4, 40000, 5, 1, 5), (1, 7, 4, 40000, 77, 77, 77))
for v in odd:
    for data in (field(1), field(1)[:39999], b"x"):
        round_trip(v, data)
"""
    )


def test_what_is_not_stored_by_this_filter_is_refused():
    run(
        """
for data in (b"x", bytes(100), bytes(40000), field(1), bytes(range(256)) * 10):
    assert call(REVERSE, values(50), data) is None
"""
    )


def test_old_chunks_without_a_frame():
    run(
        """
import blosc2
for codec in (blosc2.Codec.BLOSCLZ, blosc2.Codec.LZ4, blosc2.Codec.ZSTD):
    chunk = blosc2.compress2(field(1), codec=codec, typesize=4)
    assert call(REVERSE, (1, 0, 4, 40000), chunk) == field(1)
    assert call(REVERSE, values(50), chunk[:-1]) is None
"""
    )


@pytest.mark.parametrize("trace", [{}, {"BTUNE_TRACE": "json"}])
def test_threads_at_the_same_time(trace):
    done = run(
        """
failed = []
def work(n):
    try:
        for i in range(60):
            explicit = (1, 0, 4, 40000, 5, 1, 5, 2, 100, 100)
            # Some states are shared, some data too.
            round_trip(explicit if i % 4 == 0 else values(n % 3 * 40), field(i % 7 * n))
    except BaseException as error:
        failed.append(error)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not failed, failed
""",
        BLOSC_NTHREADS=2,
        **trace,
    )
    # Lines of different threads are not mixed up.
    assert len(support.trace_rows(done.stderr)) == len(done.stderr.splitlines())
    assert bool(done.stderr) == bool(trace)


@pytest.mark.parametrize("trace", [{}, {"BTUNE_TRACE": "json"}])
def test_forks_while_other_threads_work(trace):
    """A child has the locks of its parent, but not the threads that held them."""
    done = run(
        """
stop = False
def work(n):
    while not stop:
        round_trip(values(50), field(np.random.default_rng().integers(1 << 30)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
[t.start() for t in threads]
round_trip(values(50), field(1))
def wait(child):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(child, 9)
    return "hangs"
outcomes = []
for i in range(40):
    child = os.fork()
    if child == 0:
        for j in range(3):
            round_trip(values(50), field(j))
        os._exit(7)
    outcomes.append(wait(child))
stop = True
[t.join() for t in threads]
assert {os.waitstatus_to_exitcode(o) if o != "hangs" else o for o in outcomes} == {7}, outcomes
""",
        BLOSC_NTHREADS=2,
        **trace,
    )
    assert bool(done.stderr) == bool(trace)


def test_the_data_set_or_the_environment_says_how_to_tune():
    code = """
round_trip(values(90, mode=2), field(1))
round_trip((1, *values(90)[1:]), field(2))
"""
    tuned = "Performance Mode: {}, Compression tradeoff: {}0000, Bandwidth: 20 GB/s"

    def settings(**env):
        lines = run(code, BTUNE_TRACE="1", **env).stderr.splitlines()
        return [line for line in lines if line.startswith("Performance Mode")]

    # The second data set has explicit options, and only the variable has it tuned.
    assert settings() == [tuned.format("BALANCED", "0.90")]
    assert settings(BTUNE_PERF_MODE="DECOMP") == [tuned.format("DECOMP", "0.90")]
    assert settings(BTUNE_TRADEOFF="0.25") == [
        tuned.format("BALANCED", "0.25"),
        tuned.format("COMP", "0.25"),
    ]


def test_each_bad_setting_is_one_line_in_a_process():
    code = """
threads = [threading.Thread(target=round_trip, args=(values(50), field(n))) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
os.environ["BTUNE_TRADEOFF"] = "3"
round_trip(values(50), field(9))
round_trip(values(50), field(8))
"""
    done = run(code, BTUNE_TRADEOFF="abc", BTUNE_PERF_MODE="FAST", BTUNE_USE_INFERENCE="-2")
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    for words in (
        ('BTUNE_TRADEOFF="abc"', "0 (speed) to 1 (ratio)"),
        ('BTUNE_TRADEOFF="3"', "0 (speed) to 1 (ratio)"),
        ('BTUNE_PERF_MODE="FAST"', "COMP, DECOMP or BALANCED"),
        ('BTUNE_USE_INFERENCE="-2"', "-1 (every chunk)"),
    ):
        assert any(all(word in line for word in words) for line in lines), words
    done = run(code.split("os.")[0], BTUNE_TRADEOFF="(0.3, 0.1, 0.6)")
    assert done.stderr.splitlines() == [
        "btune: BTUNE_TRADEOFF: this filter is lossless; tuning with the tradeoff 0.60"
    ]

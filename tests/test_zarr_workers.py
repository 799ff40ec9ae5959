"""btune.zarr in threads and processes, and profiles."""

import pytest
import support

PRELUDE = """
import json, os, pickle, subprocess, sys, threading
from pathlib import Path
import numpy as np
import zarr
from btune.zarr import Blosc2Chunk, Btune, PortableBlosc
from zarr_cases import *
"""


@pytest.fixture
def child(wheel_python):
    """Runs code after PRELUDE where the wheel is installed."""

    def run(code, *args, **kwargs):
        return support.run_python(PRELUDE + code, *args, python=wheel_python, **kwargs)

    return run


def test_threads_write_and_read_one_array(child):
    child("""
from concurrent.futures import ThreadPoolExecutor
zarr.config.set({"async.concurrency": 16, "threading.max_workers": 8})
data = waves((256, 2000))
for codec in (Btune(0.9, threads=2), Blosc2Chunk(), PortableBlosc(0.9)):
    array = create({}, codec, (data * 0, (8, 2000)))
    def rows(i):
        array[i * 8 : i * 8 + 8] = data[i * 8 : i * 8 + 8]
        assert (array[i * 8 : i * 8 + 8] == data[i * 8 : i * 8 + 8]).all()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(rows, range(32)))
    check(array, data)
    array[...] = data[::-1]
    check(array, data[::-1])

# Others run while a chunk is encoded, and while it is decoded.
big = waves((4000, 2000))
array = create({}, Btune(1.0), (big, (4000, 2000)))
ticks, done = [], threading.Event()
def tick():
    while not done.wait(0.001):
        ticks.append(1)
thread = threading.Thread(target=tick)
raw, spec = as_chunk(array, big.tobytes())
codec = array.compressors[0]
thread.start()
stored = codec._encode_sync(raw, spec)
encoding = len(ticks)
codec._decode_sync(stored, spec)
done.set()
thread.join()
assert encoding > 5, encoding
assert len(ticks) > encoding, (encoding, len(ticks))
""")


def test_processes_of_dask_write_one_array(child, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        PRELUDE
        + """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import dask, dask.array as da
import xarray as xr

def tuners(array):
    "Where a task of a worker sees an array, the tuner is that of the tasks before it."
    array[0, 0]
    codec = array.compressors[0]
    codec.profile()
    return os.getpid(), id(codec._tuner)

if __name__ == "__main__":
    root = Path(sys.argv[1])
    data = waves((128, 2000))
    blocks = da.from_array(data, chunks=(8, 2000))
    workers = ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))
    with workers as pool, dask.config.set(scheduler="processes", pool=pool):
        for codec in (Btune(0.9), Blosc2Chunk(0.9), PortableBlosc(0.9)):
            path = root / codec.to_dict()["name"]
            array = create(path, codec, (np.zeros_like(data), (8, 2000)))
            blocks.store(array, lock=False)
            check(zarr.open_array(path), data)
            assert {form(chunk) for chunk in chunks(path).values()} == {array.compressors[0]._form}
            seen = dask.compute([dask.delayed(tuners)(array) for _ in range(8)])[0]
            assert os.getpid() not in {pid for pid, _ in seen}
            assert len(set(seen)) == len({pid for pid, _ in seen}), seen
        sharded = create(root / "shards", Btune(0.9), (data * 0, (8, 500)), shards=(32, 2000))
        blocks.rechunk((32, 2000)).store(sharded, lock=False)
        check(zarr.open_array(root / "shards"), data)
        ds = xr.Dataset({"v": (("y", "x"), blocks)})
        ds.to_zarr(root / "x", encoding={"v": {"compressors": (Btune(0.9),)}}, zarr_format=3,
                   consolidated=False)
        assert (xr.open_zarr(root / "x", consolidated=False)["v"].values == data).all()
"""
    )
    child(
        "subprocess.run([sys.executable, sys.argv[1], sys.argv[2]], check=True)",
        script,
        tmp_path / "data",
    )


def test_forked_and_pickled_codecs_start_anew(child):
    child("""
data = waves((64, 1000))
array = create({}, Btune(0.9), (data, (16, 1000)))
codec = array.compressors[0]
learnt = codec.profile()
other = pickle.loads(pickle.dumps(codec))
assert other == codec and other._tuner is not codec._tuner and not other._tuner._native
# Copies that reach a process go on together; they do not leave it with what they learnt.
assert pickle.loads(pickle.dumps(codec))._tuner is other._tuner
assert pickle.loads(pickle.dumps(array)).compressors[0]._tuner is other._tuner

# A process that is forked while another thread encodes does not wait for it.
stop = threading.Event()
def busy():
    while not stop.is_set():
        codec._tuner.encode(data.ravel().view("u1"))
threads = [threading.Thread(target=busy) for _ in range(2)]
[thread.start() for thread in threads]
for _ in range(20):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            codec._tuner.encode(data.ravel().view("u1"))
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
[thread.join() for thread in threads]
""")


def test_profiles_are_kept_and_given_back(child, tmp_path):
    first = tmp_path / "profile.json"
    child(
        """
path = Path(sys.argv[1])
for codec in (PortableBlosc(0.9), Blosc2Chunk(0.9), Btune(0.9)):
    array = create({}, codec, (waves((2560, 1000)), (16, 1000)))
    learnt = array.compressors[0].profile()
    assert json.loads(learnt) != json.loads(codec.profile()), learnt
    array.compressors[0].save_profile(path)
    assert path.read_text() == learnt and os.listdir(path.parent) == [path.name]
refused(lambda: codec.save_profile(path.parent / "none" / "x"), "none", error=FileNotFoundError)
again = Btune(0.9, typesize=4, profile=path)
assert json.loads(again.profile()) == json.loads(learnt)
assert "profile" not in again.to_dict()["configuration"]
fresh = create({}, Btune(0.9, profile=path), (waves((16, 1000)), (16, 1000))).compressors[0]
assert fresh._tuner._options == again._tuner._options
""",
        first,
    )
    learnt = first.read_text()
    env = {"BTUNE_PROFILE": first}
    code = "print(json.dumps(json.loads(Btune(0.9, typesize=4).profile())))"
    done = child("import json\n" + code, **env)
    assert done.stdout.strip() == child(f"print(json.dumps({learnt}))").stdout.strip()
    assert done.stderr == ""


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"other": 1}', None])
def test_a_bad_profile_is_reported_and_ignored(child, tmp_path, content):
    path = tmp_path / "bad.json"
    if content is not None:
        path.write_text(content)
    code = """
data = waves((64, 1000))
for _ in range(2):
    array = create({}, Btune(profile=sys.argv[1] or None), (data, (16, 1000)))
    check(array, data)
"""
    given = child(code, path)
    from_env = child(code, "", BTUNE_PROFILE=path)
    for done in (given, from_env):
        [line] = done.stderr.splitlines()
        assert "bad.json" in line, line
        assert "profile" in line.lower(), line


ENDS = {
    "live": "import builtins; builtins.kept = new()",
    "cycle": "t = new(); t.library, LIBRARY.tuner = LIBRARY, t; t.own = t; del t",
    "atexit": "t = new(); import atexit; atexit.register(t.encode, data)",
    "threads": """
t = new()
def work():
    while True:
        decode(np.frombuffer(t.encode(data), "u1"))
        new()
[threading.Thread(target=work, daemon=True).start() for _ in range(4)]
time.sleep(0.1)
""",
    # The child leaves as a script does: what it has from its parent is freed.
    "forked": """
t = new()
for use in (False, True):
    if os.fork() == 0:
        use and t.encode(data)
        sys.exit(0)
    assert os.wait()[1] == 0
t.encode(data)
""",
    "forked busy": """
t, stop = new(), []
def work():
    while not stop:
        t.encode(data)
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
for _ in range(8):
    if os.fork() == 0:
        t.encode(data)
        del t
        new()
        sys.exit(0)
    assert os.wait()[1] == 0
stop.append(True)
""",
}


@pytest.mark.parametrize("end", ENDS)
def test_processes_end_with_live_codecs(child, end):
    prelude = """
import time
from btune._tuner import LIBRARY, Tuner, decode
data = np.arange(200_000, dtype="f4").cumsum()
def new():
    tuner = Tuner(format="cframe", typesize=4, threads=2)
    tuner.encode(data)
    return tuner
"""
    done = child(prelude + ENDS[end])
    assert done.stderr == ""


def test_all_functions_of_the_library_are_declared(child):
    # One that is not has its pointers cut to 32 bits by ctypes: to free a codec ends the process.
    child("""
import re
from btune._tuner import LIBRARY
names = set(re.findall(rb"\\0(btune_[a-z_]+)(?=\\0)", Path(LIBRARY._name).read_bytes()))
assert b"btune_codec_free" in names and len(names) == 8, names
for name in names:
    function = vars(LIBRARY)[name.decode()]
    assert function.argtypes is not None, name
""")

"""The tuner lives from chunk to chunk, and apart for each kind of data."""

import shutil
from collections import Counter, defaultdict

from support import assert_stock_reads, run_btune, trace_rows

_WRITE = """
import sys
import h5py, numpy as np
from test_filter_state import variables, ROWS

paths, first, last = sys.argv[1].split(","), int(sys.argv[2]), int(sys.argv[3])
files = [h5py.File(path, "a") for path in paths]
# HDF5 itself loads a plugin to create a dataset and to read one, but not to append to one.
assert h5py.h5z.filter_avail(32026)
for row in range(first, last):
    # Interleaved: every variable of every file gets its next chunk in turn.
    for file in files:
        for name, chunk in variables(row).items():
            if name not in file:
                file.create_dataset(name, (0, 512), "f4", chunks=chunk.shape,
                                    maxshape=(None, 512), compression=32026)
            d = file[name]
            d.resize(d.shape[0] + ROWS, 0)
            d[-ROWS:] = chunk
            file.flush()
"""

ROWS = 64
KINDS = 12


def variables(row):
    """The chunk after `row` others of twelve variables of one shape and type, of twelve natures."""
    import numpy as np

    rng = np.random.default_rng(row)
    y, x = np.mgrid[row * ROWS : (row + 1) * ROWS, 0:512].astype("f4")
    noise = rng.normal(size=(ROWS, 512)).astype("f4")
    fields = {
        "smooth": np.sin(x / 90) * np.cos(y / 70),
        "smooth and noise": np.sin(x / 90) + noise / 1000,
        "noise": noise,
        "counts": np.floor(np.abs(noise) * 4),
        "two values": (noise > 1).astype("f4"),
        "mask": ((x / 300 + y / 500) % 2 < 1).astype("f4"),
        "ramp": y * 512 + x,
        "rounded": np.round(np.sin(x / 90) * 280, 1),
        "walk": np.cumsum(noise, axis=1),
        "sparse": np.where(noise > 2.5, noise, 0),
        "days": np.floor((y * 512 + x) / 1440),
        "bits": rng.integers(0, 2**32, (ROWS, 512), "u4").view("f4"),
    }
    assert len(fields) == KINDS
    return {name: field.astype("f4") for name, field in fields.items()}


def expected(rows):
    import numpy as np

    parts = defaultdict(list)
    for row in rows:
        for name, chunk in variables(row).items():
            parts[name].append(chunk)
    return {name: np.concatenate(chunks) for name, chunks in parts.items()}


def test_twelve_natures_interleaved_in_two_files_and_a_copy_that_both_grow(tmp_path):
    a, b, copy = (tmp_path / name for name in ("a.h5", "b.h5", "copy.h5"))
    done = run_btune(_WRITE, f"{a},{b}", 0, 16, BTUNE_TRADEOFF=0.7, BTUNE_TRACE="json")
    rows = trace_rows(done.stderr)
    # All chunks of the first file are new; the second one's are the same bytes again.
    assert len(rows) >= 16 * KINDS
    chosen = defaultdict(Counter)
    for row in rows[len(rows) // 2 :]:
        chosen[row["regime"]][(row["codec"], row["filter"], row["clevel"], row["block_size"])] += 1
    assert len(chosen) >= 5, "natures that differ much are told apart"
    favourites = {counts.most_common(1)[0][0] for counts in chosen.values()}
    assert len(favourites) >= 3, favourites
    shutil.copy(a, copy)
    for path, first in ((a, 16), (copy, 20)):
        done = run_btune(_WRITE, path, first, first + 4, BTUNE_TRACE="json")
        rows = trace_rows(done.stderr)
        assert rows, "appending tunes without BTUNE_TRADEOFF"
    for path, rows in ((a, range(20)), (b, range(16)), (copy, [*range(16), *range(20, 24)])):
        assert_stock_reads(path, expected(rows), tmp_path)


_PARTIAL = """
import sys
import h5py, numpy as np
rng = np.random.default_rng(3)
a = np.cumsum(rng.normal(size=(512, 1024)), axis=1).astype("f4")
with h5py.File(sys.argv[1], "w", rdcc_nbytes=0) as f:
    d = f.create_dataset("x", a.shape, "f4", chunks=(64, 1024), compression=32026)
    for row in range(0, 512, 8):
        d[row : row + 8] = a[row : row + 8]
with h5py.File(sys.argv[1]) as f:
    assert (f["x"][()] == a).all()
"""


def test_part_filled_chunks_encoded_again_are_not_new_evidence(tmp_path):
    done = run_btune(_PARTIAL, tmp_path / "partial.h5", BTUNE_TRADEOFF=0.5, BTUNE_TRACE="json")
    rows = trace_rows(done.stderr)
    # Eight chunks, each encoded eight times.
    assert len([row for row in rows if row["winner"] != "S"]) == 8


_FORK = """
import os, sys
import h5py, numpy as np
a = np.cumsum(np.random.default_rng(4).normal(size=(64, 4096)), axis=1).astype("f4")

def write(path):
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=a, chunks=(4, 4096), compression=32026)
    with h5py.File(path) as f:
        assert (f["x"][()] == a).all()

folder = sys.argv[1]
write(folder + "/before.h5")
children = []
for n in range(3):
    child = os.fork()
    if child == 0:
        write(f"{folder}/child{n}.h5")
        os._exit(0)
    children.append(child)
write(folder + "/parent.h5")
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
print("done")
"""


def test_a_fork_goes_on_with_a_state_of_its_own(tmp_path):
    done = run_btune(_FORK, tmp_path, BTUNE_TRADEOFF=0.5, BLOSC_NTHREADS=2, timeout=120)
    assert done.stdout == "done\n"
    assert done.stderr == ""


_MODES = """
import sys
import h5py, numpy as np
a = np.cumsum(np.random.default_rng(5).normal(size=(96, 8192)), axis=1).astype("f4")
before = a.copy()
with h5py.File(sys.argv[1], "w") as f:
    f.create_dataset("x", data=a, chunks=(2, 8192), compression=32026)
    assert (a == before).all(), "the caller's array is left alone"
with h5py.File(sys.argv[1]) as f:
    assert (f["x"][()] == a).all()
"""


def test_decompression_modes_leave_the_array_alone_and_measure_decompression(tmp_path):
    for mode in ("DECOMP", "BALANCED"):
        for tradeoff in ("0.2", "(0.3, 0.1, 0.6)"):
            done = run_btune(
                _MODES,
                tmp_path / "modes.h5",
                BTUNE_TRADEOFF=tradeoff,
                BTUNE_PERF_MODE=mode,
                BTUNE_TRACE="json",
            )
            assert len(trace_rows(done.stderr)) == 48


_CLOSED = """
import os, sys
import h5py, numpy as np
os.close(2)
a = np.cumsum(np.random.default_rng(1).integers(-3, 4, 400_000)).astype("f4")
with h5py.File(sys.argv[1], "w") as f:
    assert f.id.get_vfd_handle() == 2
    f.create_dataset("a", data=a, chunks=(2000,), compression=32026)
with h5py.File(sys.argv[1]) as f:
    assert (f["a"][()] == a).all()
print("intact")
"""


def test_a_file_that_got_the_number_of_a_closed_stderr_is_not_written_to(tmp_path):
    done = run_btune(_CLOSED, tmp_path / "closed.h5", BTUNE_TRADEOFF=0.5, BTUNE_TRACE=1)
    assert done.stdout == "intact\n"


_LITTLE_MEMORY = """
import resource, sys
import h5py, numpy as np
a = (np.arange(1 << 21, dtype="u4") // 3).reshape(64, -1)
with h5py.File(sys.argv[1], "w", rdcc_nbytes=0) as f:
    d = f.create_dataset("a", a.shape, "u4", chunks=a.shape, compression=32026)
    f.create_dataset("loads the plugin", data=a[:, :16], chunks=(8, 8), compression=32026)
    pages = int(open("/proc/self/statm").read().split()[0])
    limit = pages * resource.getpagesize() + (int(sys.argv[2]) << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        d[()] = a
    except (MemoryError, OSError):
        raise SystemExit("HDF5 itself had no memory")
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
"""


def test_without_memory_a_chunk_is_stored_as_it_is_and_nothing_is_aborted(tmp_path):
    for spare in (9, 12, 18, 26, 40):
        done = run_btune(
            _LITTLE_MEMORY, tmp_path / "memory.h5", spare, BTUNE_TRADEOFF=0.5, check=False
        )
        assert done.returncode in (0, 1), done.stderr


_SMALL = """
import sys
import h5py, numpy as np
with h5py.File(sys.argv[1], "w") as f:
    a = np.arange(100_000).reshape(100, 1000)
    f.create_dataset("a", data=a, chunks=(10, 1000), compression=32026)
"""


def test_blosc_info_has_no_effect(tmp_path):
    done = run_btune(_SMALL, tmp_path / "info.h5", BTUNE_TRADEOFF=0.5, BLOSC_INFO=1)
    assert (done.stdout, done.stderr) == ("", "")

"""The measured part of the benchmark: `worker.py stock|btune FILE`, a process with one filter.

Tasks are lines of JSON on stdin; each is answered by a line of JSON on stdout. The worker `stock`
imports hdf5plugin; in the other one HDF5 finds the filter by itself.
"""

import functools
import json
import sys
import time
from pathlib import Path

import numpy as np
import support

MARK = "@task"


@functools.cache
def series(file, nbytes):
    """A file's array, then rolled copies of it, up to `nbytes`, one after the other.

    No two chunks are the same, yet all are of the nature of the array.
    """
    a = support.load(file)
    flat = a.reshape(-1)
    copies = -(-nbytes // a.nbytes)
    rolled = [np.roll(flat, i * (flat.size // 7 + 13)) for i in range(max(1, copies))]
    return np.concatenate(rolled).reshape(-1, *a.shape[1:])


def write_and_read(h5py, task, path):
    """Seconds to write and to read one array; what is read is compared."""
    a = series(task["file"], task["nbytes"])
    chunks = support.row_chunks(a.shape, a.itemsize, task["chunk"])
    if task["nbytes"]:  # a series: whole chunks only, since padding compresses too well
        a = a[: max(1, len(a) // chunks[0]) * chunks[0]]
    options = {"compression": support.FILTER_ID}
    if task.get("opts"):
        options["compression_opts"] = tuple(task["opts"])

    with h5py.File(path, "w") as f:
        d = f.create_dataset("v", a.shape, a.dtype, chunks=chunks, **options)
        start = time.perf_counter()
        d[...] = a
        f.flush()
        write = time.perf_counter() - start
        stored = d.id.get_storage_size()
    got = np.empty_like(a)
    with h5py.File(path) as f:
        d = f["v"]
        start = time.perf_counter()
        d.read_direct(got)
        read = time.perf_counter() - start
    if got.tobytes() != a.tobytes():
        raise SystemExit(f"{task}: what was read is not what was written")
    return {"write": write, "read": read, "stored": stored, "nbytes": a.nbytes}


def main():
    stock, path = sys.argv[1] == "stock", Path(sys.argv[2])
    if stock:
        import hdf5plugin  # noqa: F401  registers its filter
    import h5py

    with h5py.File("warm-up", "w", driver="core", backing_store=False) as f:
        # Loads the filter, so that no task's time has it.
        opts = hdf5plugin.Blosc2() if stock else {"compression": support.FILTER_ID}
        f.create_dataset("v", data=np.arange(4096), chunks=(1024,), **opts)
    for line in sys.stdin:
        print(MARK, file=sys.stderr, flush=True)
        print(json.dumps(write_and_read(h5py, json.loads(line), path)), flush=True)


if __name__ == "__main__":
    main()

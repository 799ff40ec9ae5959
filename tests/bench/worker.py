"""The measured part of the benchmark: one process, one filter, one JSON task on stdin.

`tasks` are run in order, and their results are printed as one JSON list. A process that is to
measure hdf5plugin has `stock` set and imports it; otherwise HDF5 finds the filter by itself.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import support

MARK = "@task "


def series(a, nbytes):
    """The array, then rolled copies of it, up to `nbytes` and cut into rows of the first axis.

    No two chunks are the same, yet all are of the nature of the array.
    """
    flat = a.reshape(-1)
    copies = -(-nbytes // a.nbytes)
    rolled = [np.roll(flat, i * (flat.size // 7 + 13)) for i in range(max(1, copies))]
    return np.concatenate(rolled).reshape(-1, *a.shape[1:])


def write_and_read(h5py, task, path):
    """Seconds to write and to read one array; what is read is compared."""
    a = series(support.load(task["file"]), task["nbytes"])
    chunks = support.row_chunks(a.shape, a.itemsize, task["chunk"])
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
    job = json.load(sys.stdin)
    if job["stock"]:
        import hdf5plugin  # noqa: F401  registers its filter
    import h5py

    path = Path(job["folder"]) / "bench.h5"
    with h5py.File("warm-up", "w", driver="core", backing_store=False) as f:
        opts = tuple(job["tasks"][0].get("opts") or ()) or None
        f.create_dataset(
            "v",
            data=np.arange(4096),
            chunks=(1024,),
            compression=support.FILTER_ID,
            compression_opts=opts,
        )
    results = []
    for i, task in enumerate(job["tasks"]):
        print(f"{MARK}{i}", file=sys.stderr, flush=True)
        results.append(write_and_read(h5py, task, path))
    print(json.dumps(results))


if __name__ == "__main__":
    main()

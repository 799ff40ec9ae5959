"""Writes real arrays to HDF5 with the stock default and tuned, reads them back, prints a table.

    export HDF5_PLUGIN_PATH=$PWD/dist/h5plugins      # what a user does; here the children get it
    python examples/hdf5_tune.py [FILE.npy|FILE.npz …] [--tradeoffs 0.1 0.5 0.9] [--chunk-kib 256]

The stock default is hdf5plugin's Blosc2 filter with zstd level 5 and shuffle. Tuned files are
written by plain h5py with `compression=32026` where HDF5 finds the btune filter. All files are read
by a process that has hdf5plugin and no btune. Every setting has a process of its own, every round
a fresh one; times are the best of the rounds.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ROOT / "dist" / "h5plugins"
STOCK = "stock"
STEERING = ("BTUNE_", "BLOSC_", "HDF5_PLUGIN_")
MARK = "@array "


def load(path):
    """The array of a .npy file, or the only one of a .npz file."""
    data = np.load(path)
    return data if isinstance(data, np.ndarray) else data[data.files[0]]


def chunks_of(a, target):
    """Whole rows of the first axes, about `target` bytes."""
    chunk = list(a.shape)
    for axis in range(a.ndim):
        rest = math.prod(a.shape[axis + 1 :]) * a.itemsize
        if rest <= target or axis == a.ndim - 1:
            chunk[axis] = max(1, min(a.shape[axis], target // rest))
            break
        chunk[axis] = 1
    return tuple(chunk)


# Children -----------------------------------------------------------------------------------


def write(path, setting, target, files):
    """Writes each file's array to a dataset of its own; prints the seconds and sizes as JSON."""
    options = {"compression": 32026}
    if setting == STOCK:
        import hdf5plugin

        options = hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE)
    import h5py

    with h5py.File("warm-up", "w", driver="core", backing_store=False) as f:
        # Loads the filter: that is no part of the first array's time.
        f.create_dataset("v", data=np.arange(4096), chunks=(1024,), **options)

    result = []
    with h5py.File(path, "w") as f:
        for i, file in enumerate(files):
            a = load(file)
            print(f"{MARK}{i}", file=sys.stderr, flush=True)
            start = time.perf_counter()
            d = f.create_dataset(str(i), data=a, chunks=chunks_of(a, target), **options)
            f.flush()
            seconds = time.perf_counter() - start
            result.append({"seconds": seconds, "stored": d.id.get_storage_size()})
    print(json.dumps(result))


def read(path, files):
    """Reads each dataset, compares it with its file; prints the seconds as JSON."""
    import h5py
    import hdf5plugin  # noqa: F401  registers the stock filter

    assert "HDF5_PLUGIN_PATH" not in os.environ
    result = []
    with h5py.File(path) as f:
        for i, file in enumerate(files):
            f[str(i)][:1]  # warm-up
            start = time.perf_counter()
            got = f[str(i)][()]
            seconds = time.perf_counter() - start
            if got.tobytes() != load(file).tobytes():
                sys.exit(f"{file}: what was read is not what was written")
            result.append({"seconds": seconds})
    print(json.dumps(result))


# Parent -------------------------------------------------------------------------------------


def child(verb, *args, **env):
    """Runs this script's `verb` in a process with a clean environment plus `env`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(STEERING)}
    command = [sys.executable, __file__, "--child", verb, *map(str, args)]
    done = subprocess.run(command, env=kept | env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stderr}\n{verb} {args[0]} failed")
    return json.loads(done.stdout), done.stderr


def most_chosen(stderr):
    """The parameters of most chunks, for each array, from the trace."""
    chosen = {}
    for line in stderr.splitlines():
        if line.startswith(MARK):
            counter = chosen.setdefault(int(line.removeprefix(MARK)), Counter())
        elif line.startswith("{") and chosen:
            row = json.loads(line)
            counter[f"{row['codec']}-{row['clevel']} {row['filter']}"] += 1
    return {
        i: "{} ({} of {})".format(*counter.most_common(1)[0], counter.total())
        for i, counter in chosen.items()
        if counter
    }


def measure(setting, folder, target, files):
    """Writes and reads all files with a setting, once; one result per file."""
    path = Path(folder) / f"{setting}.h5"
    env = {}
    if setting != STOCK:
        env = {
            "HDF5_PLUGIN_PATH": str(PLUGINS),
            "BTUNE_TRADEOFF": str(setting),
            "BTUNE_TRACE": "json",
        }
    written, stderr = child("write", path, setting, target, *files, **env)
    again, _ = child("read", path, *files)
    chosen = most_chosen(stderr)
    return [
        {
            "write": w["seconds"],
            "read": r["seconds"],
            "stored": w["stored"],
            "chosen": "zstd-5 shuffle" if setting == STOCK else chosen.get(i, "?"),
        }
        for i, (w, r) in enumerate(zip(written, again, strict=True))
    ]


def best_of(rounds):
    """For each file the result of the last round, with the shortest times of all rounds."""
    return [
        {**runs[-1], **{what: min(run[what] for run in runs) for what in ("write", "read")}}
        for runs in zip(*rounds, strict=True)
    ]


def geomean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def print_table(files, settings, results):
    """One line per array and setting, then the means against the stock default."""
    width = max(len(Path(f).stem) for f in files)
    head = f"{'array':{width}}  tradeoff   ratio  write MB/s  read MB/s  parameters of most chunks"
    print(head)
    print("-" * len(head))
    for i, file in enumerate(files):
        nbytes = load(file).nbytes
        for setting in settings:
            r = results[setting][i]
            name = Path(file).stem if setting == settings[0] else ""
            print(
                f"{name:{width}}  {setting!s:>8}  {nbytes / r['stored']:6.2f}"
                f"  {nbytes / r['write'] / 1e6:10.0f}  {nbytes / r['read'] / 1e6:9.0f}"
                f"  {r['chosen']}"
            )
    print("-" * len(head))
    stock = results[STOCK]
    for setting in settings[1:]:
        both = list(zip(results[setting], stock, strict=True))
        size = geomean([t["stored"] / s["stored"] for t, s in both])
        write_ = geomean([s["write"] / t["write"] for t, s in both])
        read_ = geomean([s["read"] / t["read"] for t, s in both])
        print(
            f"tradeoff {setting}: files {size:.2f} x as large as stock's,"
            f" written {write_:.1f} x and read {read_:.1f} x as fast"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help=".npy or .npz (default: examples/data)")
    parser.add_argument("--tradeoffs", nargs="+", type=float, default=[0.1, 0.5, 0.9])
    parser.add_argument("--chunk-kib", type=int, default=256, help="chunk size (default: 256)")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    args = parser.parse_args()
    files = args.files or sorted(map(str, (ROOT / "examples" / "data").glob("*.npz")))
    if missing := [f for f in files if not Path(f).is_file()]:
        parser.error(f"no such file: {', '.join(missing)}")
    if not (PLUGINS / "libh5btune.so").exists():
        sys.exit(f"{PLUGINS / 'libh5btune.so'} is not there: run `make build`")

    settings = [STOCK, *args.tradeoffs]
    rounds = {setting: [] for setting in settings}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(args.rounds):
            for setting in settings:
                print(f"round {number + 1} of {args.rounds}: {setting} …", file=sys.stderr)
                rounds[setting].append(measure(setting, folder, args.chunk_kib * 1024, files))
    results = {setting: best_of(rounds[setting]) for setting in settings}
    print()
    print_table(files, settings, results)
    mib = sum(load(f).nbytes for f in files) / 2**20
    print(
        f"Times are the best of {args.rounds} rounds; the last lines are geometric means. All was"
        " read back by\nhdf5plugin without btune, and is equal."
        f" {mib:.0f} MiB in {args.chunk_kib} KiB chunks: in arrays this small the\nsearch for"
        " parameters, which the first chunks pay for, is a good part of the time to\nwrite."
        " For your own arrays: examples/hdf5_tune.py FILE.npy …"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        verb, *rest = sys.argv[2:]
        if verb == "write":
            path, setting, target, *files = rest
            write(path, setting, int(target), files)
        else:
            read(rest[0], rest[1:])
    else:
        main()

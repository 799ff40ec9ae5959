"""Measures the HDF5 filter against hdf5plugin's, and prints tables (`make bench`).

All figures are ratios of times of one run, the two sides taking turns, so that a busy machine
disturbs both. `--json FILE` keeps the figures.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import hdf5plugin  # noqa: E402
import support  # noqa: E402
import worker  # noqa: E402

TRADEOFFS = (0.1, 0.5, 0.9)
MIB = 1 << 20


def progress(text):
    print(text, file=sys.stderr, flush=True)


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def table(head, rows):
    """Prints rows of cells under a head; the first column to the left, the others to the right."""
    cells = [head, *([c if isinstance(c, str) else f"{c:.2f}" for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for n, row in enumerate(cells):
        first, *rest = (
            f"{c:<{w}}" if i == 0 else f"{c:>{w}}"
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *rest]).rstrip())
        if n == 0:
            print("-" * (sum(widths) + 2 * len(widths) - 2))
    print()


def worker_process(folder, stock, **env):
    """A fresh process that measures hdf5plugin's filter or ours."""
    name = "stock" if stock else "btune"
    return subprocess.Popen(
        [sys.executable, HERE / "worker.py", name, Path(folder) / f"{name}.h5"],
        env=support.clean_env(**env) if stock else support.btune_env(**env),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, tasks, *, stock=False, **env):
    """Results of the tasks in a fresh process, and its rows of trace by task."""
    process = worker_process(folder, stock, **env)
    stdout, stderr = process.communicate("".join(json.dumps(t) + "\n" for t in tasks))
    if process.returncode != 0:
        sys.exit(stderr)
    rows = [support.trace_rows(part) for part in stderr.split(worker.MARK)[1:]]
    return [json.loads(line) for line in stdout.splitlines()], rows


def ask(process, task):
    """One result of a process that stays."""
    process.stdin.write(json.dumps(task) + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    return json.loads(line) if line else sys.exit(process.communicate()[1])


# Tuned against the stock default ------------------------------------------------------------


def zstd_shuffle():
    options = hdf5plugin.Blosc2(cname="zstd", clevel=5, filters=hdf5plugin.Blosc2.SHUFFLE)
    return options["compression_opts"]


def tuned(folder, files, chunk, nbytes, repeats):
    """Per tradeoff and array: ratios of size and times to the stock default, and the trace."""
    plain = [{"file": str(f), "chunk": chunk, "nbytes": nbytes} for f in files]
    opted = [task | {"opts": zstd_shuffle()} for task in plain]
    runs = {"stock": [], **{t: [] for t in TRADEOFFS}}
    for repeat in range(repeats):
        order = list(runs) if repeat % 2 == 0 else list(runs)[::-1]
        for setting in order:
            progress(f"  repetition {repeat + 1} of {repeats}: {setting}")
            if setting == "stock":
                runs[setting].append(run(folder, opted, stock=True))
            else:
                env = {"BTUNE_TRADEOFF": setting, "BTUNE_TRACE": "json"}
                runs[setting].append(run(folder, plain, **env))

    def best(setting, i, what):
        return min(results[i][what] for results, _ in runs[setting])

    figures = []
    for i, file in enumerate(files):
        for t in TRADEOFFS:
            rows = [traces[i] for _, traces in runs[t]]
            figures.append(
                {
                    "array": file.stem,
                    "tradeoff": t,
                    "chunks": len(rows[0]),
                    **{
                        what: best(t, i, what) / best("stock", i, what)
                        for what in ("stored", "write", "read")
                    },
                    "probe share": statistics.median(map(probe_share, rows)),
                    "chunks to within 10 %": statistics.median(map(chunks_to_good, rows)),
                }
            )
    return figures


def probe_share(rows):
    """Time of the probes over time of compressing, in a whole run."""
    return sum(row["probe_time"] for row in rows) / sum(row["ctime"] for row in rows)


def chunks_to_good(rows):
    """Chunks that went by until one had parameters within 10 % of the best of the run.

    Parameters are judged by the mean of J over their chunks, if there are three at least: single
    chunks differ in how well they can be compressed at all.
    """
    by_parameters = defaultdict(list)
    for row in rows:
        by_parameters[parameters(row)].append(row["j"])
    often = {p: js for p, js in by_parameters.items() if len(js) >= 3} or by_parameters
    mean = {p: statistics.mean(js) for p, js in often.items()}
    limit = min(mean.values()) + math.log(1.1)
    return next(i for i, row in enumerate(rows) if mean.get(parameters(row), math.inf) <= limit)


def parameters(row):
    return tuple(row[k] for k in ("codec", "filter", "clevel", "split", "block_size", "threads"))


def print_tuned(title, figures):
    print(f"{title}\nx = tuned / stock default (zstd level 5, shuffle): below 1 is better\n")
    columns = ("stored", "write", "read", "probe share", "chunks to within 10 %")
    head = ["array", "tradeoff", "chunks", "size x", "write time x", "read time x",
            "probe/compr.", "chunks to 10 %"]  # fmt: skip
    rows = [
        [f["array"], f"{f['tradeoff']}", f"{f['chunks']}", *(f[c] for c in columns)]
        for f in figures
    ]
    for t in TRADEOFFS:
        of_t = [f for f in figures if f["tradeoff"] == t]
        means = [geomean(f[c] for f in of_t) for c in columns[:3]]
        medians = [statistics.median(f[c] for f in of_t) for c in columns[3:]]
        rows.append(["geomean (last two: median)", f"{t}", "", *means, *medians])
    table(head, rows)


# Fixed parameters through both filters ------------------------------------------------------

FIXED = {
    "zstd-5 shuffle": {"cname": "zstd", "clevel": 5, "filters": hdf5plugin.Blosc2.SHUFFLE},
    "lz4-5 shuffle": {"cname": "lz4", "clevel": 5, "filters": hdf5plugin.Blosc2.SHUFFLE},
    "lz4-1 bitshuffle": {"cname": "lz4", "clevel": 1, "filters": hdf5plugin.Blosc2.BITSHUFFLE},
}


def fixed(folder, file, rounds):
    """Per parameters and chunk size: our speed over hdf5plugin's, for writing and reading.

    Two processes take turns at one array each time.
    """
    figures = []
    processes = {stock: worker_process(folder, stock) for stock in (True, False)}
    for name, options in FIXED.items():
        opts = hdf5plugin.Blosc2(**options)["compression_opts"]
        for chunk in (20_000, 1_000_000):
            progress(f"  {name}, chunks of {chunk // 1000} kB")
            task = {"file": str(file), "chunk": chunk, "nbytes": 0, "opts": opts}
            results = {True: [], False: []}
            for i in range(rounds + 1):
                for stock in (True, False) if i % 2 == 0 else (False, True):
                    results[stock].append(ask(processes[stock], task))
            # The first of each fills caches.
            theirs, ours = (results[stock][1:] for stock in (True, False))
            figure = {"parameters": name, "chunk": chunk}
            figure["stored"] = theirs[0]["stored"] / ours[0]["stored"]
            for what in ("write", "read"):
                for kind, of in (("median", statistics.median), ("best", min)):
                    figure[f"{what} {kind}"] = of(r[what] for r in theirs) / of(
                        r[what] for r in ours
                    )
            figures.append(figure)
    for process in processes.values():
        process.communicate()
    return figures


def print_fixed(figures):
    print("Fixed parameters: speed of our filter / speed of hdf5plugin's (above 1 is better),")
    print("by the medians of the times and by the best, which a busy machine disturbs less\n")
    columns = ("write median", "write best", "read median", "read best", "stored")
    table(
        ["parameters", "chunk", *(f"{c} x" for c in columns)],
        [[f["parameters"], f"{f['chunk'] // 1000} kB", *(f[c] for c in columns)] for f in figures],
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--chunk-kib", type=int, default=256, help="default: 256")
    parser.add_argument("--repeats", type=int, default=3, help="of each setting; default: 3")
    parser.add_argument("--series-mib", type=int, default=8, help="of each long run; default: 8")
    args = parser.parse_args()
    files = support.sample_paths()
    relief = next(f for f in files if "relief" in f.name)
    memory = Path("/dev/shm")

    figures = {}
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        chunk, long = args.chunk_kib * 1024, args.series_mib * MIB
        progress("arrays as they are")
        figures["as they are"] = tuned(folder, files, chunk, 0, args.repeats)
        progress(f"series of {args.series_mib} MiB")
        figures["series"] = tuned(folder, files, chunk, long, args.repeats)
        progress("fixed parameters")
        figures["fixed"] = fixed(folder, relief, rounds=60)

    print()
    print_tuned(f"Sample arrays as they are, {args.chunk_kib} KiB chunks", figures["as they are"])
    print_tuned(
        f"Series of {args.series_mib} MiB of each kind, {args.chunk_kib} KiB chunks",
        figures["series"],
    )
    print_fixed(figures["fixed"])
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()

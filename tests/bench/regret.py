"""Measures how much whole runs lose against the best fixed parameters in hindsight (`make bench`).

A run compresses a sequence of chunks of one array, from a cold start: what a tuner spends on its
search counts. `--original` installs the original Btune, which is under the AGPL, beside ours.
On a busy machine BENCH_CLOCK=cpu in the environment counts CPU time, where others do not disturb.
"""

import argparse
import json
import math
import statistics
import sys
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import hosts  # noqa: E402
import report  # noqa: E402
import settled  # noqa: E402
import support  # noqa: E402
from hdf5 import progress  # noqa: E402
from objective import FLOOR, admissible, cost, must_save, ratio, speed  # noqa: E402

CHUNK = 512 * 1024
CELLS = ["0.1:COMP", "0.5:COMP", "0.9:COMP", "0.5:DECOMP"]
MODES = ("COMP", "DECOMP", "BALANCED")
CODECS = ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
FILTERS = ("nofilter", "shuffle", "bitshuffle", "bytedelta")
SPLITS = ("always", "never")
STOCK = {"codec": "zstd", "filter": "shuffle", "clevel": 5, "split": "always"}
STORE = {"codec": "lz4", "filter": "nofilter", "clevel": 0, "split": "never"}
TUNERS = ("btune", "original")


def parse_cell(text):
    """A tradeoff and a performance mode."""
    tradeoff, _, mode = text.partition(":")
    if mode not in MODES or not 0 <= float(tradeoff) <= 1:
        raise ValueError(text)
    return float(tradeoff), mode


def name_of(parameters):
    name = "{codec}-{clevel} {filter} {split}".format(**parameters)
    return f"{name}, one block" if "block" in parameters else name


# Fixed parameters in hindsight ----------------------------------------------------------------


def sweep(file, chunks, levels):
    """All fixed parameters, each with its sums over three chunks of the run."""
    space = [
        dict(zip(("codec", "filter", "clevel", "split"), one, strict=True))
        for one in product(CODECS, FILTERS, levels, SPLITS)
    ]
    picks = sorted({0, chunks // 2, chunks - 1})
    task = {"file": str(file), "chunk": CHUNK, "chunks": chunks, "picks": picks}
    answers = hosts.ask("btune", "schunks.py", task | {"parameters": space})
    return list(zip(space, answers, strict=True))


def candidates(swept, tradeoff, mode):
    """The parameters that may turn out best in a whole run."""
    ratios = [ratio(sums) for _, sums in swept]
    may = admissible(ratios, tradeoff)
    allowed = [one for one, ok in zip(swept, may, strict=True) if ok]
    ranked = sorted(allowed, key=lambda one: cost(one[1], tradeoff, mode))
    best, second = (parameters for parameters, _ in ranked[:2])
    found = [best, second, best | {"block": CHUNK}]
    return found if must_save(ratios, tradeoff) else [*found, STORE]


# Runs -----------------------------------------------------------------------------------------


def run(name, parameters, file, chunks, cell):
    """The sums of a run in a fresh process; none if it failed."""
    task = {"file": str(file), "chunk": CHUNK, "chunks": chunks, "parameters": [parameters]}
    tradeoff, mode = cell
    # Without a tuner these variables would call for one.
    env = {"BTUNE_TRADEOFF": tradeoff, "BTUNE_PERF_MODE": mode} if name in TUNERS else {}
    host = "original" if name == "original" else "btune"
    try:
        [sums] = hosts.ask(host, "schunks.py", task, **env)
    except hosts.Failed as reason:
        progress(f"    {name} {reason}")
        return None
    return sums


def measure(file, chunks, cell, fixed, tuners, repeats):
    """Runs of each contestant, and of the fixed parameters by their names; all take turns."""
    sides = {"stock": STOCK, **dict.fromkeys(tuners), **{name_of(p): p for p in fixed}}
    runs = {name: [] for name in sides}
    for repeat in range(repeats):
        order = list(sides) if repeat % 2 == 0 else list(sides)[::-1]
        for name in order:
            runs[name].append(run(name, sides[name], file, chunks, cell))
    return {name: summary(done, cell) for name, done in runs.items()}


def summary(runs, cell):
    """Medians over the repeats of a run; none if one failed."""
    if None in runs:
        return None
    costs = [cost(sums, *cell) for sums in runs]
    return {
        "cost": statistics.median(costs),
        "spread": math.expm1(max(costs) - min(costs)),
        "ratio": statistics.median(map(ratio, runs)),
        "speed": statistics.median(speed(sums, cell[1]) for sums in runs),
        "raw": statistics.median(sums["raw"] for sums in runs),
        "runs": runs,
    }


def compare(file, chunks, cell, swept, tuners, repeats):
    """What each contestant of a cell lost."""
    fixed = candidates(swept, *cell)
    measured = measure(file, chunks, cell, fixed, tuners, repeats)
    names = list(map(name_of, fixed))
    if any(measured[name] is None for name in names):
        sys.exit(f"{file.stem}: fixed parameters failed")
    may = admissible([measured[name]["ratio"] for name in names], cell[0])
    allowed = [name for name, ok in zip(names, may, strict=True) if ok]
    best = min(allowed, key=lambda name: measured[name]["cost"])
    reference = {"parameters": best} | measured[best]
    contestants = {name: measured[name] for name in ("stock", *tuners)}
    for result in filter(None, contestants.values()):
        result["log regret"] = result["cost"] - reference["cost"]
        result["raw"] -= reference["raw"]
        result["floor"] = cell[0] == 0 or result["ratio"] >= min(FLOOR, 0.99 * reference["ratio"])
    return {
        "array": file.stem,
        "tradeoff": cell[0],
        "mode": cell[1],
        "reference": reference,
        "contestants": contestants,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    files = {file.stem: file for file in support.sample_paths()}
    parser.add_argument("--json", type=Path, help="also write the figures here")
    parser.add_argument("--arrays", nargs="+", choices=files, default=list(files), metavar="NAME")
    parser.add_argument("--cells", nargs="+", type=parse_cell, default=list(map(parse_cell, CELLS)),
                        metavar="TRADEOFF:MODE", help=f"default: {' '.join(CELLS)}")  # fmt: skip
    parser.add_argument("--chunks", type=int, default=60, help="of 512 KiB, per run; default: 60")
    parser.add_argument("--repeats", type=int, default=3, help="of each run; default: 3")
    parser.add_argument("--full", action="store_true", help="look at all levels in hindsight")
    parser.add_argument("--original", action="store_true", help="measure the original Btune too")
    args = parser.parse_args()
    tuners = TUNERS if args.original else TUNERS[:1]
    for name in tuners:
        hosts.make(name)

    figures = []
    for array in args.arrays:
        progress(f"{array}: sweep")
        swept = sweep(files[array], args.chunks, range(1, 10, 1 if args.full else 2))
        for cell in args.cells:
            progress(f"{array}: {cell[0]:g}:{cell[1]}")
            setting = (args.chunks, cell, swept, tuners, args.repeats)
            figures.append(compare(files[array], *setting))
    overhead = settled.measure(files["relief_etopo5_f32"])
    print()
    report.show(figures, ("stock", *tuners))
    settled.show(overhead)
    if args.json:
        args.json.write_text(json.dumps({"runs": figures, "settled": overhead}, indent=1))
    return 1 if any(figure["contestants"]["btune"] is None for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())

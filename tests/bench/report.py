"""The tables of regret."""

import math
import statistics

from hdf5 import table

OURS, THEIRS = "btune", "original"


def show(figures, names):
    """Prints all runs, and their means; `names` are the contestants."""
    print_runs(figures, names)
    print_summary(figures, names)
    print_faults(figures, names)


def per_cent(logarithm):
    return f"{100 * math.expm1(logarithm):.1f}"


def regret(result):
    if result is None:
        return "failed"
    raw = f" ({result['raw']:.0f} raw)" if result["raw"] > 0 else ""
    return per_cent(result["log regret"]) + raw


def ratio_and_speed(result):
    return f"{result['ratio']:.2f} @ {result['speed']:.3f}" if result else "-"


def print_runs(figures, names):
    print("Regret in % against the best fixed parameters in hindsight (and how many more chunks")
    print("are stored raw than with these); ratio @ GiB/s of the time that counts\n")
    head = ["array", "cell", *(f"{name} %" for name in names)]
    head += [*(f"{name} x @ GiB/s" for name in names), "best x @ GiB/s", "best fixed parameters"]
    rows = []
    for figure in figures:
        results = [figure["contestants"][name] for name in names]
        best = figure["reference"]
        row = [figure["array"], cell_of(figure), *map(regret, results)]
        rows.append([*row, *map(ratio_and_speed, [*results, best]), best["parameters"]])
    table(head, rows)


def cell_of(figure):
    return f"{figure['tradeoff']:g}:{figure['mode']}"


def logs(figures, name):
    results = (figure["contestants"][name] for figure in figures)
    return [result["log regret"] for result in results if result]


def print_summary(figures, names):
    print("Regret in %: geometric mean, median and worst\n")
    kinds = {"mean": statistics.mean, "median": statistics.median, "worst": max}
    head = ["cell", "runs", *(f"{name} {kind}" for name in names for kind in kinds)]
    both = {OURS, THEIRS} <= set(names)
    rows = []
    for cell in [*dict.fromkeys(map(cell_of, figures)), "all"]:
        some = [figure for figure in figures if cell in (cell_of(figure), "all")]
        of_name = {name: logs(some, name) for name in names}
        row = [cell, f"{len(some)}"]
        row += [
            per_cent(kind(of_name[name])) if of_name[name] else "-"
            for name in names
            for kind in kinds.values()
        ]
        rows.append([*row, mean_ratio(of_name)] if both else row)
    table([*head, f"{OURS} / {THEIRS}"] if both else head, rows)


def mean_ratio(of_name):
    """Our mean regret over the original's."""
    both = of_name[OURS], of_name[THEIRS]
    if not all(both):
        return "-"
    ours, theirs = (math.expm1(statistics.mean(each)) for each in both)
    return ours / theirs if theirs > 0 else "-"


def print_faults(figures, names):
    for name in names:
        results = [figure["contestants"][name] for figure in figures]
        stored = sum(not result["floor"] for result in results if result)
        failed = results.count(None)
        if stored or failed:
            said = f"{failed} failed, {stored} saved less than 3 % of what can be compressed"
            print(f"{name}: of {len(results)} cells {said}")
    spreads = [
        result["spread"]
        for figure in figures
        for result in (figure["reference"], *figure["contestants"].values())
        if result
    ]
    spread = 100 * statistics.median(spreads)
    print(f"The repeats of a run are up to {spread:.1f} % apart in exp(J) (median of all runs).\n")

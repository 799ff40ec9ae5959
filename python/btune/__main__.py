"""Prints what the tuned datasets of HDF5 files were compressed with: python -m btune FILE..."""

import sys

from .inspect import inspect


def _line(run):
    if run.get("special"):
        what = "one repeated value"
    elif run["clevel"] == 0:
        what = "stored"
    elif run["codec"] is None:
        what = "not known"
    else:
        level = "?" if run["clevel"] is None else run["clevel"]
        filters = "+".join(run["filters"]) or "nofilter"
        what = f"{run['codec']}-{level} {filters} split:{run['split']} blocks:{run['blocksize']}"
    return f"{run['chunks']:>8} x {what} {run['origin'] or ''}".rstrip()


def main(paths):
    """Prints a table per dataset, up to the first file that cannot be read."""
    if not paths:
        sys.exit("usage: python -m btune FILE...")
    for path in paths:
        try:
            datasets = inspect(path)
        except (ImportError, OSError, ValueError) as error:
            sys.exit(f"btune: {error}")
        for d in datasets:
            ratio = d["nbytes"] / d["cbytes"] if d["cbytes"] else 0
            tuned = f"tradeoff {d['tradeoff']} {d['perf_mode']}" if d["perf_mode"] else "not tuned"
            print(f"{path}:{d['name']} {d['dtype']} {d['shape']} ratio {ratio:.2f} {tuned}")
            print("\n".join(map(_line, d["records"])))


if __name__ == "__main__":
    main(sys.argv[1:])

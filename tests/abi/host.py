"""Runs one case of the plugin in this Python's blosc2: `host.py LIBRARY CASE DATA 2>LOG`; says ok.

It needs numpy and blosc2, from 2.7.1 on, and nothing else. `host.py` alone lists the cases.
"""

import os
import sys

import edits
import numpy as np
import plugin
import stores
import tuning

MODULES = (stores, edits, tuning)
CASES = {
    name: case
    for module in MODULES
    for name, case in vars(module).items()
    if getattr(case, "__module__", None) == module.__name__ and not name.startswith("_")
}


def main(library, name, folder):
    for variable in [v for v in os.environ if v.startswith(("BTUNE_", "BLOSC_"))]:
        del os.environ[variable]
    plugin.load(library)
    data = plugin.arrays(folder)
    before = {key: array.copy() for key, array in data.items()}
    CASES[name](data)
    for key, array in data.items():
        assert np.array_equal(array.view("u1"), before[key].view("u1")), f"{key} was changed"
    print("ok")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(*sys.argv[1:])
    else:
        print(*CASES, sep="\n")

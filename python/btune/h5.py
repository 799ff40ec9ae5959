"""The tuned filter for h5py and what is built on it.

>>> f.create_dataset("v", data=a, chunks=True, compression=btune.h5.Btune(tradeoff=0.9))
"""

import ctypes
import functools
import numbers
from pathlib import Path

import h5py

from ._slot import FILTER_ID, PERF_MODES, pack

PLUGIN_PATH = str(Path(__file__).resolve().parent / "plugins")


def register():
    """Makes btune's filter the one that serves 32026 in h5py, whichever did before.

    Needed by itself only where no `Btune` is made: to append to a dataset, or to read one.
    """
    path = PLUGIN_PATH.encode()
    if path not in map(h5py.h5pl.get, range(h5py.h5pl.size())):
        h5py.h5pl.prepend(path)
    # Not left to the search: HDF5 remembers a plugin that it found on another path.
    if not h5py.h5z.register_filter(_library().H5PLget_plugin_info()):
        raise RuntimeError("HDF5 does not take btune's filter")


@functools.cache
def _library():
    library = ctypes.CDLL(str(Path(PLUGIN_PATH) / "libh5btune.so"))
    library.H5PLget_plugin_info.restype = ctypes.c_void_p
    return library


class Btune(h5py.filters.FilterRefBase):
    """Lossless compression tuned while it is written, as `compression=Btune()` or `**Btune()`.

    `tradeoff` goes from 0 (only speed counts) to 1 (only size counts), in steps of 0.01;
    `perf_mode` says which time counts: "COMP", "DECOMP" or "BALANCED" (their sum).
    """

    filter_id = FILTER_ID

    def __init__(self, tradeoff=0.5, perf_mode="COMP"):
        number = isinstance(tradeoff, numbers.Real) and not isinstance(tradeoff, bool)
        if not number or not 0 <= tradeoff <= 1:
            allowed = "a number from 0 to 1 (three parts are for lossy compression: this is not)"
            raise ValueError(f"tradeoff={tradeoff!r} is not valid: it must be {allowed}")
        if perf_mode not in PERF_MODES:
            allowed = ", ".join(PERF_MODES)
            raise ValueError(f"perf_mode={perf_mode!r} is not valid: it must be one of {allowed}")
        register()
        self._config = {"tradeoff": round(float(tradeoff), 2), "perf_mode": perf_mode}
        self.filter_options = (pack(**self._config),)

    def get_config(self):
        """The keywords that make this filter."""
        return dict(self._config)

    def __repr__(self):
        return "Btune({})".format(", ".join(f"{k}={v!r}" for k, v in self._config.items()))

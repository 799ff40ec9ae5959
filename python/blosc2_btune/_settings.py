"""What super-chunks are tuned for, where nothing else is said."""

from ctypes import c_float
from enum import Enum

from ._library import LIBRARY
from ._values import flag, folder, integer, member, tradeoff


class PerformanceMode(Enum):
    """Which time counts; AUTO takes it from BTUNE_PERF_MODE."""

    COMP = 0
    DECOMP = 1
    BALANCED = 2
    AUTO = 3


class RepeatMode(Enum):
    """What follows the last readapt: nothing, soft ones for ever, or everything again."""

    STOP = 0
    SOFT = 1
    ALL = 2


params_defaults = {
    "bandwidth": 20 * 1024**2,
    "perf_mode": PerformanceMode.AUTO,
    "tradeoff": 0.5,
    "cparams_hint": False,
    "use_inference": -1,
    "models_dir": "",
    "nwaits": 0,
    "nsofts": 5,
    "nhards": 10,
    "repeat_mode": RepeatMode.STOP,
}


def set_params_defaults(**kwargs):
    """Sets what super-chunks made from now on are tuned for.

    Keys that are left out take their value in `params_defaults`, whatever an earlier call said.
    """
    unknown = [key for key in kwargs if key not in _READERS]
    if unknown:
        allowed = ", ".join(_READERS)
        raise ValueError(f"unknown parameter {unknown[0]!r}: allowed are {allowed}")
    given = params_defaults | kwargs
    values = {key: read(key, given[key]) for key, read in _READERS.items()}
    weights = values["tradeoff"]
    result = LIBRARY.set_params_defaults(
        values["bandwidth"],
        values["perf_mode"].value,
        (c_float * 3)(*weights),
        len(weights),
        values["cparams_hint"],
        values["use_inference"],
        values["models_dir"],
        values["nwaits"],
        values["nsofts"],
        values["nhards"],
        values["repeat_mode"].value,
    )
    if result < 0:
        raise ValueError("the tuner library refuses these parameters (stderr has the reason)")


_COUNT = integer(0, 2**32 - 1, "an integer from 0 to 4294967295")

_READERS = {
    "bandwidth": integer(1, 2**32 - 1, "kB/s: an integer from 1 to 4294967295"),
    "perf_mode": member(PerformanceMode),
    "tradeoff": tradeoff,
    "cparams_hint": flag,
    "use_inference": integer(-1, 2**31 - 1, "-1 (all chunks), 0 (none) or a number of chunks"),
    "models_dir": folder,
    "nwaits": _COUNT,
    "nsofts": _COUNT,
    "nhards": _COUNT,
    "repeat_mode": member(RepeatMode),
}

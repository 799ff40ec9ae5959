"""What super-chunks are tuned for, where nothing else is said."""

import math
import numbers
import os
from ctypes import c_float
from enum import Enum

from ._library import LIBRARY


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


def _refuse(key, value, allowed):
    raise ValueError(f"{key}={value!r} is not valid: it must be {allowed}")


def _integer(least, most, allowed):
    def read(key, value):
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return int(value) if whole and least <= value <= most else _refuse(key, value, allowed)

    return read


def _member(enum):
    def read(key, value):
        if isinstance(value, enum):
            return value
        if isinstance(value, str) and value in enum.__members__:
            return enum[value]
        return _refuse(key, value, " or ".join(f"{enum.__name__}.{name.name}" for name in enum))

    return read


def _flag(key, value):
    return value if isinstance(value, bool) else _refuse(key, value, "True or False")


def _folder(key, value):
    try:
        path = os.fsencode(value)
    except TypeError:
        path = None
    # The library keeps it in a buffer of PATH_MAX bytes.
    if path is None or len(path) > 4095 or b"\0" in path:
        return _refuse(key, value, "a path of at most 4095 bytes")
    return path


def _number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _tradeoff(key, value):
    if _number(value) and 0 <= value <= 1:
        return (float(value),)
    if hasattr(value, "__iter__"):
        weights = tuple(value)
        each = len(weights) == 3 and all(_number(w) and 0 <= w <= 1 for w in weights)
        if each and math.isclose(sum(weights), 1, abs_tol=1e-4):
            return tuple(map(float, weights))
    allowed = "a number from 0 to 1, or three (ratio, speed, quality) that sum to 1"
    return _refuse(key, value, allowed)


_COUNT = _integer(0, 2**32 - 1, "an integer from 0 to 4294967295")

_READERS = {
    "bandwidth": _integer(1, 2**32 - 1, "kB/s: an integer from 1 to 4294967295"),
    "perf_mode": _member(PerformanceMode),
    "tradeoff": _tradeoff,
    "cparams_hint": _flag,
    "use_inference": _integer(-1, 2**31 - 1, "-1 (all chunks), 0 (none) or a number of chunks"),
    "models_dir": _folder,
    "nwaits": _COUNT,
    "nsofts": _COUNT,
    "nhards": _COUNT,
    "repeat_mode": _member(RepeatMode),
}

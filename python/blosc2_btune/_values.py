"""What a keyword may be: readers that give its value in its one form, or refuse it by its name."""

import math
import numbers
import os


def refuse(key, value, allowed):
    raise ValueError(f"{key}={value!r} is not valid: it must be {allowed}")


def integer(least, most, allowed):
    def read(key, value):
        whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
        return int(value) if whole and least <= value <= most else refuse(key, value, allowed)

    return read


def member(enum):
    def read(key, value):
        if isinstance(value, enum):
            return value
        if isinstance(value, str) and value in enum.__members__:
            return enum[value]
        return refuse(key, value, " or ".join(f"{enum.__name__}.{name.name}" for name in enum))

    return read


def flag(key, value):
    return value if isinstance(value, bool) else refuse(key, value, "True or False")


def folder(key, value):
    try:
        path = os.fsencode(value)
    except TypeError:
        path = None
    # The library keeps it in a buffer of PATH_MAX bytes.
    if path is None or len(path) > 4095 or b"\0" in path:
        return refuse(key, value, "a path of at most 4095 bytes")
    return path


def _number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def tradeoff(key, value):
    if _number(value) and 0 <= value <= 1:
        return (float(value),)
    if hasattr(value, "__iter__"):
        weights = tuple(value)
        each = len(weights) == 3 and all(_number(w) and 0 <= w <= 1 for w in weights)
        if each and math.isclose(sum(weights), 1, abs_tol=1e-4):
            return tuple(map(float, weights))
    allowed = "a number from 0 to 1, or three (ratio, speed, quality) that sum to 1"
    return refuse(key, value, allowed)

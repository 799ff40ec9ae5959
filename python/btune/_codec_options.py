"""The keywords of the codecs: which values they take."""

import os

from blosc2_btune._values import integer, refuse, tradeoff

from ._slot import PERF_MODES

# What is in the metadata of codec `btune`.
STORED = ("typesize", "tradeoff", "perf_mode", "format")
FORMATS = ("cframe", "chunk")

_MAX_TYPESIZE = 255


def read(**given):
    """The values of keywords in their one form; a bad one is refused by its name."""
    return {key: _READERS[key](key, value) for key, value in given.items()}


def check_stored(configuration):
    """Refuses metadata that codec `btune` does not have."""
    for key, value in configuration.items():
        if key not in STORED:
            allowed = ", ".join(STORED)
            raise ValueError(f"codec btune: unknown key {key!r}: allowed are {allowed}")
        if value is None:
            refuse(key, value, "left out, or a value")


def known_typesize(size):
    """The size of an element as the tuner takes it: 1 for those that Blosc does not know."""
    return size if size is not None and size <= _MAX_TYPESIZE else 1


def _one_of(names):
    def read(key, value):
        known = isinstance(value, str) and value in names
        return value if known else refuse(key, value, f"one of {', '.join(names)}")

    return read


def _or_none(reader):
    return lambda key, value: None if value is None else reader(key, value)


def _weights(key, value):
    weights = tradeoff(key, value)
    return weights[0] if len(weights) == 1 else weights


def _path(key, value):
    try:
        return os.fsdecode(value)
    except TypeError:
        return refuse(key, value, "the path of a profile")


_READERS = {
    "tradeoff": _weights,
    "perf_mode": _one_of(PERF_MODES),
    "format": _one_of(FORMATS),
    "typesize": _or_none(integer(1, 2**31 - 1, "an integer from 1 to 2147483647")),
    "threads": integer(1, 2**15 - 1, "an integer from 1 to 32767"),
    "profile": _or_none(_path),
}

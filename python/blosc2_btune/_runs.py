"""Records as plain dictionaries, and chunks in a row that are alike as one of them."""

from itertools import groupby

from ._library import UNKNOWN_LEVEL

_CODECS = {0: "blosclz", 1: "lz4", 2: "lz4hc", 4: "zlib", 5: "zstd"}
_FILTERS = {1: "shuffle", 2: "bitshuffle", 3: "delta", 4: "trunc_prec", 35: "bytedelta"}
_FILTERS |= {34: "bytedelta_old", 36: "int_trunc"}
_SPLITS = {1: "always", 2: "never"}
_PERF_MODES = {0: "COMP", 1: "DECOMP", 2: "BALANCED"}
_ORIGINS = {0: "inference", 1: "genetic", 2: "hint", 3: "fixed"}

# What is said of a chunk of which nothing is known.
UNKNOWN = {
    "codec": None,
    "clevel": None,
    "filters": [],
    "filters_meta": [],
    "split": None,
    "blocksize": None,
    "nthreads": None,
    "tradeoff": None,
    "perf_mode": None,
    "origin": None,
}
# A chunk of one repeated value, which no codec saw.
SPECIAL = UNKNOWN | {"special": True}
# A chunk that is stored as it was.
STORED = UNKNOWN | {"clevel": 0}


def describe(record, tuned):
    """A record with names instead of codes; `tuned`: it is the tuner's, not a header's alone."""
    told = dict(STORED) if record.clevel == 0 else _pipeline(record)
    told["blocksize"] = record.blocksize
    if tuned:
        told["nthreads"] = record.nthreads
        told["tradeoff"] = [round(weight, 4) for weight in record.tradeoff]
        told["perf_mode"] = _PERF_MODES.get(record.perf_mode)
        told["origin"] = _ORIGINS.get(record.origin)
    return told


def run_lengths(chunks):
    """The descriptions of chunks in order, those in a row that are equal as one with a count."""
    return [{"chunks": len(list(alike)), **told} for told, alike in groupby(chunks)]


def _pipeline(record):
    filters = [pair for pair in zip(record.filters, record.filters_meta, strict=True) if pair[0]]
    return UNKNOWN | {
        "codec": _CODECS.get(record.codec, f"codec{record.codec}"),
        "clevel": None if record.clevel == UNKNOWN_LEVEL else record.clevel,
        "filters": [_FILTERS.get(code, f"filter{code}") for code, _ in filters],
        "filters_meta": [meta for _, meta in filters],
        "split": _SPLITS.get(record.splitmode),
    }

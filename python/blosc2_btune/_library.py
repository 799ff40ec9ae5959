"""The tuner library and the C functions of it that are used here."""

import ctypes
from ctypes import POINTER, c_bool, c_char_p, c_float, c_int, c_size_t, c_uint32, c_void_p

from ._paths import get_libpath

UNKNOWN_LEVEL = 255


class Record(ctypes.Structure):
    """What chunks in a row were compressed with: `btune_record` of btune.h."""

    _fields_ = [
        ("nchunks", ctypes.c_uint64),
        ("codec", ctypes.c_uint8),
        ("codec_meta", ctypes.c_uint8),
        ("clevel", ctypes.c_uint8),
        ("splitmode", ctypes.c_uint8),
        ("filters", ctypes.c_uint8 * 6),
        ("filters_meta", ctypes.c_uint8 * 6),
        ("blocksize", ctypes.c_int32),
        ("nthreads", ctypes.c_int16),
        ("perf_mode", ctypes.c_uint8),
        ("origin", ctypes.c_uint8),
        ("tradeoff", ctypes.c_float * 3),
    ]


def _load():
    """Loads the library, by which C-Blosc2 finds it too: it asks for the same SONAME."""
    try:
        library = ctypes.CDLL(get_libpath())
    except OSError as error:
        raise ImportError(f"btune's library cannot be loaded: {error}") from None
    library.set_params_defaults.argtypes = [
        c_uint32,
        c_int,
        POINTER(c_float),
        c_int,
        c_bool,
        c_int,
        c_char_p,
        c_uint32,
        c_uint32,
        c_uint32,
        c_int,
    ]
    library.btune_set_reuse_models.argtypes = [c_bool]
    library.btune_set_reuse_models.restype = None
    library.btune_free_all_models.argtypes = []
    library.btune_free_all_models.restype = None
    library.btune_get_schunk_record.argtypes = [c_void_p, POINTER(Record), c_int]
    library.btune_read_record.argtypes = [c_char_p, c_size_t, POINTER(Record)]
    return library


LIBRARY = _load()


def schunk_records(address):
    """The runs that the tuner of the C super-chunk at `address` knows of; none if it has none."""
    capacity = 64
    while True:
        records = (Record * capacity)()
        count = LIBRARY.btune_get_schunk_record(address, records, capacity)
        if count <= capacity:
            return records[: max(count, 0)]
        capacity = count


def read_record(frame):
    """The record of a stored frame or chunk, and whether it is complete (not of its header alone).

    None for what is not one of Blosc2.
    """
    record = Record()
    found = LIBRARY.btune_read_record(frame, len(frame), record)
    return None if found < 0 else (record, found == 1)

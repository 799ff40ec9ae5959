"""Encoding by a tuner, and decoding, through the C functions of the codec library."""

import ctypes
import functools
import json
import os
import threading
import uuid
from ctypes import c_char_p, c_int64, c_size_t, c_void_p
from pathlib import Path

import numpy as np

# What Blosc2 takes, of which the longest header is part.
MAX_BYTES = 2**31 - 1 - 32
_MESSAGE_BYTES = 1024


def _load():
    path = Path(__file__).resolve().parent / "libbtune_zarr.so"
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"btune's codec library cannot be loaded: {error}") from None
    message = [c_char_p, c_size_t]
    encoded, decoded = [c_void_p, c_size_t], [c_void_p, c_size_t]
    functions = {
        "new": ([c_char_p, *message], c_void_p),
        "free": ([c_void_p], None),
        "bound": ([c_void_p, c_size_t], c_size_t),
        "encode": ([c_void_p, *decoded, *encoded, *message], c_int64),
        "decoded_size": ([*encoded, *message], c_int64),
        "decode": ([*encoded, *decoded, *message], c_int64),
        "profile": ([c_void_p], c_void_p),
    }
    for name, (arguments, result) in functions.items():
        function = getattr(library, f"btune_codec_{name}")
        function.argtypes, function.restype = arguments, result
    library.btune_string_free.argtypes = [c_void_p]
    library.btune_string_free.restype = None
    return library


LIBRARY = _load()


def check_size(nbytes, what):
    """Refuses more bytes than one chunk can have."""
    if nbytes > MAX_BYTES:
        raise ValueError(f"{what} has {nbytes} bytes: btune takes at most {MAX_BYTES} (2 GiB)")


def decode(data, out=None):
    """What was stored as `data`, as bytes in a NumPy array: in `out` if that has the right size.

    Both are contiguous NumPy arrays. All stored forms are told apart by their first bytes.
    """
    source = data.ctypes.data, data.nbytes
    size = _checked("decode", LIBRARY.btune_codec_decoded_size, *source)
    target = out if _can_take(out, size, data) else np.empty(size, "u1")
    _checked("decode", LIBRARY.btune_codec_decode, *source, target.ctypes.data, size)
    return target


def _can_take(out, size, data):
    """Whether the library may write to `out`: NumPy knows what C does not see."""
    fits = out is not None and out.nbytes == size
    return fits and out.flags.writeable and not np.may_share_memory(out, data)


def _checked(what, function, *arguments):
    """The result of a C function, or the error that it tells of."""
    message = ctypes.create_string_buffer(_MESSAGE_BYTES)
    result = function(*arguments, message, len(message))
    if result < 0:
        raise RuntimeError(f"btune cannot {what} this chunk: {_text(message)}")
    return result


def _text(message):
    return message.value.decode(errors="replace")


class _Native:
    """A codec of the library, which is safe in threads, and in processes that are forked."""

    def __init__(self, options):
        message = ctypes.create_string_buffer(_MESSAGE_BYTES)
        self.pointer = LIBRARY.btune_codec_new(options.encode(), message, len(message))
        if not self.pointer:
            raise ValueError(f"btune: {_text(message)}")

    def __del__(self):
        LIBRARY.btune_codec_free(self.pointer)


class Tuner:
    """Encodes the chunks of one array, and learns from each.

    Native memory is made for it with the first chunk. A copy that was pickled starts anew; the
    copies that reach one process go on together, as the tasks of a dask worker.
    """

    def __init__(self, token=None, **options):
        given = {key: value for key, value in options.items() if value is not None}
        self._options = json.dumps(given)
        self._token = token or uuid.uuid4().hex
        self._native = {}

    def encode(self, data):
        """The stored form of a contiguous NumPy array, as bytes."""
        check_size(data.nbytes, "a chunk")
        codec = self._start()
        target = np.empty(LIBRARY.btune_codec_bound(codec.pointer, data.nbytes), "u1")
        arguments = data.ctypes.data, data.nbytes, target.ctypes.data, target.nbytes
        size = _checked("encode", LIBRARY.btune_codec_encode, codec.pointer, *arguments)
        return target[:size].tobytes()

    def profile(self):
        """What was learnt, as JSON."""
        text = LIBRARY.btune_codec_profile(self._start().pointer)
        try:
            return ctypes.string_at(text).decode()
        finally:
            LIBRARY.btune_string_free(text)

    def _start(self):
        # Without a lock, which a fork could leave locked: of those made at once, one is kept.
        return self._native.get(0) or self._native.setdefault(0, _Native(self._options))

    def __reduce__(self):
        return _arrived, (self._token, self._options)


@functools.lru_cache(maxsize=64)
def _arrived(token, options):
    return Tuner(token, **json.loads(options))


def save_profile(path, profile):
    """Writes a profile, such that a reader sees the old file or the new one."""
    path = Path(path)
    new = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        new.write_text(profile)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)

"""What the codecs for zarr-python have in common."""

import asyncio
import copy
import math
from dataclasses import dataclass, field

from zarr.abc.codec import BytesBytesCodec

from .._codec_options import known_typesize, read
from .._tuner import Tuner, check_size, decode, save_profile

_apart = {"compare": False, "repr": False}


def item_size(dtype):
    """The size of the elements of a zarr data type, or 1 if they have none of their own."""
    return getattr(dtype, "item_size", 1) or 1


@dataclass(frozen=True, init=False)
class Tuned(BytesBytesCodec):
    """A codec that encodes by a tuner of its own for every array.

    What a subclass has besides: the attribute `typesize`, and `_form`, the stored form.
    """

    is_fixed_size = False
    # Whether those who read the chunks have the filter bytedelta.
    _bytedelta = True

    tradeoff: float | tuple[float, float, float]
    perf_mode: str
    threads: int = field(**_apart)
    _profile: str | None = field(init=False, **_apart)
    # Of a codec that belongs to an array: its data type, and the codec that it was made from.
    _dtype: object = field(init=False, **_apart)
    _origin: object = field(init=False, **_apart)
    _tuner: Tuner = field(init=False, **_apart)

    def _set(self, *, profile, **given):
        """Sets what the keywords say, for `__init__` of subclasses."""
        self._put(**read(**given), _profile=read(profile=profile)["profile"])
        self._put(_dtype=None, _origin=None)
        self._start()

    def _put(self, **values):
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _start(self):
        tuner = Tuner(
            format=self._form,
            typesize=known_typesize(self.typesize),
            tradeoff=self.tradeoff,
            perf_mode=self.perf_mode,
            threads=self.threads,
            profile=self._profile,
            bytedelta=self._bytedelta,
        )
        self._put(_tuner=tuner)

    def evolve_from_array_spec(self, array_spec):
        """The codec for one array, with a tuner of its own.

        zarr asks again when it has one, for its pipeline or when the array grows: it keeps it.
        """
        if self._dtype == array_spec.dtype:
            return self
        origin = self._origin or self
        own = origin._fitted(array_spec)
        own._put(_dtype=array_spec.dtype, _origin=origin)
        own._start()
        return own

    def _fitted(self, array_spec):
        """A copy that knows the size of the elements."""
        own = copy.copy(self)
        own._put(typesize=self.typesize or item_size(array_spec.dtype))
        return own

    def validate(self, *, shape, dtype, chunk_grid):  # noqa: ARG002
        """Refuses an array whose chunks are too large, before anything is written."""
        # Grids that are not regular have none: their chunks are seen when they are written.
        chunk = getattr(chunk_grid, "chunk_shape", ())
        check_size(math.prod(chunk) * item_size(dtype), f"a chunk of shape {chunk}")

    def compute_encoded_size(self, input_byte_length, chunk_spec):
        """Not known before the data are."""
        raise NotImplementedError

    def profile(self):
        """What was learnt from the chunks of an array, as JSON: see `array.compressors`."""
        return self._tuner.profile()

    def save_profile(self, path):
        """Writes what `profile` returns, to be given as `profile=path`, or as BTUNE_PROFILE."""
        save_profile(path, self.profile())

    def _encode_sync(self, chunk_bytes, chunk_spec):
        encoded = self._tuner.encode(chunk_bytes.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(encoded)

    async def _encode_single(self, chunk_bytes, chunk_spec):
        return await asyncio.to_thread(self._encode_sync, chunk_bytes, chunk_spec)

    def _decode_sync(self, chunk_bytes, chunk_spec):
        return chunk_spec.prototype.buffer.from_bytes(decode(chunk_bytes.as_numpy_array()))

    async def _decode_single(self, chunk_bytes, chunk_spec):
        return await asyncio.to_thread(self._decode_sync, chunk_bytes, chunk_spec)

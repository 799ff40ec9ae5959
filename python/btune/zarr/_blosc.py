"""Tuned chunks under the name of the core codec `blosc`."""

import copy
from dataclasses import dataclass, field

from zarr.codecs import BloscCodec

from ._tuned import Tuned

# zarr's rules for what an array decides, whatever `enable` makes of them.
EVOLVE = BloscCodec.evolve_from_array_spec


@dataclass(frozen=True, init=False)
class PortableBlosc(Tuned, BloscCodec):
    """The core codec `blosc`, which every Zarr reads, with each chunk tuned.

    The keywords of zarr's BloscCodec are what the metadata say; chunks tell themselves what they
    were compressed with. Nothing about the tuning is in the metadata: it is that of this object,
    or of the environment, so an array that is opened again is a plain one.
    """

    _tunable_attrs: set = field(init=False, repr=False, hash=False)

    _form = "blosc"

    def __init__(self, tradeoff=0.5, perf_mode="COMP", *, threads=1, profile=None, **blosc):
        BloscCodec.__init__(self, **blosc)
        stored = {"tradeoff": tradeoff, "perf_mode": perf_mode}
        self._set(**stored, threads=threads, profile=profile)

    @classmethod
    def from_blosc(cls, codec, tradeoff=0.5, **keywords):
        """The codec to take the place of zarr's BloscCodec; the metadata stay the same."""
        return cls(tradeoff, **keywords, **_given(codec))

    def _fitted(self, array_spec):
        plain = EVOLVE(BloscCodec(**_given(self)), array_spec)
        own = copy.copy(self)
        own._put(_tunable_attrs=set(), **_given(plain))
        # zarr's encoder is kept in it, with the size of elements that the codec had.
        own.__dict__.pop("_blosc_codec", None)
        return own

    # Reading is zarr's own.
    _decode_sync = BloscCodec._decode_sync


def _given(codec):
    """The keywords that make a BloscCodec, but those that an array decides."""
    names = ("typesize", "cname", "clevel", "shuffle", "blocksize")
    return {name: getattr(codec, name) for name in names if name not in codec._tunable_attrs}

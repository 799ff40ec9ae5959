"""All arrays of core codec `blosc` as tuned ones, from one call on."""

from contextlib import ExitStack
from dataclasses import dataclass, field

import zarr.registry
from zarr.codecs import BloscCodec

from ._blosc import EVOLVE, PortableBlosc

_switch = None


def enable(tradeoff=0.5, perf_mode="COMP", *, threads=1, profile=None):
    """Makes arrays whose codec is core `blosc` encode tuned from now on, up to `disable`.

    That is all arrays that are opened or created; what they store is still read by every Zarr.
    In `with enable():` the end of the block disables it.
    """
    global _switch
    settings = {"tradeoff": tradeoff, "perf_mode": perf_mode}
    new = _Switch(**settings, threads=threads, profile=profile)
    disable()
    _switch = new
    new.turn_on()
    return new


def disable():
    """Undoes `enable`; arrays that are still open are plain ones again, too."""
    global _switch
    if _switch is not None:
        _switch.turn_off()
        _switch = None


class _Switch:
    """The settings of one `enable`, and how to undo it."""

    def __init__(self, **settings):
        PortableBlosc(**settings)  # Refuses what it does not take.
        self.settings = settings
        self.on = False
        self._undo = ExitStack()

    def turn_on(self):
        self.on = True
        path = f"{EnabledBlosc.__module__}.{EnabledBlosc.__qualname__}"
        zarr.registry.register_codec("blosc", EnabledBlosc, qualname=path)
        self._undo.callback(_unregister, path)
        self._undo.enter_context(zarr.config.set({"codecs.blosc": path}))
        # Codecs that are given as objects are looked up in no registry.
        BloscCodec.evolve_from_array_spec = _evolve
        self._undo.callback(setattr, BloscCodec, "evolve_from_array_spec", EVOLVE)

    def turn_off(self):
        self.on = False
        self._undo.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        if _switch is self:
            disable()

    def __getstate__(self):
        return {"settings": self.settings, "on": self.on}


def _unregister(path):
    # zarr has no function for it, and the name of its table depends on the version.
    for table in ("_codec_registries", "__codec_registries"):
        getattr(zarr.registry, table, {}).get("blosc", {}).pop(path, None)


def _evolve(codec, array_spec):
    """Fits a codec to an array as zarr's method does, after it has been made a tuned one."""
    own = _tuned(codec) if type(codec) is BloscCodec else codec
    return EVOLVE(own, array_spec) if own is codec else own.evolve_from_array_spec(array_spec)


def _tuned(codec):
    if _switch is None:
        return codec
    own = EnabledBlosc.from_blosc(codec, **_switch.settings)
    own._put(_by=_switch)
    return own


@dataclass(frozen=True, init=False)
class EnabledBlosc(PortableBlosc):
    """A codec of core `blosc` while that is enabled, and zarr's own afterwards."""

    _by: _Switch = field(init=False, compare=False, repr=False)

    @classmethod
    def from_dict(cls, data):
        """The codec of an array, from its metadata."""
        return _tuned(BloscCodec.from_dict(data))

    def validate(self, **_):
        """As zarr's own: an array that exists is opened, and may have no chunk that is stored."""

    def _encode_sync(self, chunk_bytes, chunk_spec):
        if not self._by.on:
            return BloscCodec._encode_sync(self, chunk_bytes, chunk_spec)
        return super()._encode_sync(chunk_bytes, chunk_spec)

"""Codec `btune`, and the codec of Blosc2 chunks under names that others read."""

from dataclasses import dataclass, field

from .._codec_options import STORED, check_stored
from ._tuned import Tuned


@dataclass(frozen=True, init=False)
class Btune(Tuned):
    """Lossless compression tuned while it is written: codec `btune`.

    `tradeoff` goes from 0 (only speed counts) to 1 (only size counts), `perf_mode` says which
    time counts: "COMP", "DECOMP" or "BALANCED"; `format` is "cframe", or "chunk" for a Blosc2
    chunk alone. The size of elements is that of the array, unless `typesize` is given. `threads`
    and `profile`, the path of a profile to start from, are not stored in the metadata.
    """

    format: str
    typesize: int | None

    def __init__(
        self,
        tradeoff=0.5,
        perf_mode="COMP",
        format="cframe",
        typesize=None,
        threads=1,
        profile=None,
    ):
        stored = {"tradeoff": tradeoff, "perf_mode": perf_mode, "format": format}
        self._set(**stored, typesize=typesize, threads=threads, profile=profile)

    @property
    def _form(self):
        return self.format

    @classmethod
    def from_blosc(cls, codec, tradeoff=0.5, **keywords):
        """The codec to take the place of one of core `blosc` in new arrays."""
        return cls(tradeoff, typesize=_typesize_of(codec), **keywords)

    @classmethod
    def from_dict(cls, data):
        """The codec of an array, from its metadata."""
        configuration = data.get("configuration") or {}
        check_stored(configuration)
        return cls(**configuration)

    def to_dict(self):
        """The metadata to be stored."""
        values = {key: getattr(self, key) for key in STORED}
        if isinstance(self.tradeoff, tuple):
            values["tradeoff"] = list(self.tradeoff)
        stored = {key: value for key, value in values.items() if value is not None}
        return {"name": "btune", "configuration": stored}


@dataclass(frozen=True, init=False)
class Blosc2Chunk(Tuned):
    """Tuned Blosc2 chunks under the name of imagecodecs: `imagecodecs_blosc2`.

    imagecodecs-zarr reads them without btune; the filter bytedelta, which it has only had since
    2026.10, is left out. Nothing about the tuning is in the metadata: it is
    that of this object, or of the environment. Under this name, and as `blosc2` or
    `numcodecs.blosc2`, it reads all that others stored, frames of HDF5's filter 32026 included.
    """

    name: str = field(init=False)
    # What others stored, on which no chunk depends.
    configuration: dict = field(init=False, hash=False)
    typesize: int | None = field(compare=False)

    _form = "chunk"
    _bytedelta = False

    def __init__(self, tradeoff=0.5, perf_mode="COMP", typesize=None, threads=1, profile=None):
        self._put(name="imagecodecs_blosc2", configuration={})
        stored = {"tradeoff": tradeoff, "perf_mode": perf_mode}
        self._set(**stored, typesize=typesize, threads=threads, profile=profile)

    @classmethod
    def from_dict(cls, data):
        """The codec of an array, from its metadata."""
        configuration = data.get("configuration") or {}
        codec = cls(typesize=_usable(configuration.get("typesize")))
        codec._put(name=data["name"], configuration=dict(configuration))
        return codec

    def to_dict(self):
        """The metadata to be stored: as it was, or the name alone."""
        configuration = {"configuration": dict(self.configuration)} if self.configuration else {}
        return {"name": self.name, **configuration}


def _typesize_of(codec):
    """The size of elements that a Blosc codec was given, or None."""
    inferred = "typesize" in getattr(codec, "_tunable_attrs", ())
    return None if inferred else _usable(getattr(codec, "typesize", None))


def _usable(typesize):
    return typesize if isinstance(typesize, int) and typesize >= 1 else None

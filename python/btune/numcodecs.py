"""The tuned codec for Zarr v2, and for all else that takes codecs of numcodecs.

>>> zarr.create_array(store, zarr_format=2, data=a, compressors=btune.numcodecs.Btune(tradeoff=0.9))
"""

from numcodecs.abc import Codec
from numcodecs.compat import ensure_contiguous_ndarray, ndarray_copy

from ._codec_options import check_stored, known_typesize, read
from ._tuner import Tuner, decode, save_profile


class Btune(Codec):
    """Lossless compression tuned while it is written: codec `btune`.

    `tradeoff` goes from 0 (only speed counts) to 1 (only size counts), `perf_mode` says which
    time counts: "COMP", "DECOMP" or "BALANCED"; `format` is "cframe", or "chunk" for a Blosc2
    chunk alone. The size of elements is that of the array, unless `typesize` is given. `threads`
    and `profile`, the path of a profile to start from, are not part of the configuration.
    """

    codec_id = "btune"
    # Whether those who read the chunks have the filter bytedelta.
    _bytedelta = True

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
        self._stored = read(**stored, typesize=typesize)
        self._others = read(threads=threads, profile=profile)
        # One for each size of elements: an object may serve several arrays.
        self._tuners = {}

    def encode(self, buf):
        """The stored form of a buffer, as bytes."""
        data = ensure_contiguous_ndarray(buf)
        return self._tuner(self._stored["typesize"] or data.itemsize).encode(data)

    def decode(self, buf, out=None):
        """What was stored, in `out` where one is given."""
        if out is not None:
            out = ensure_contiguous_ndarray(out)
        decoded = decode(ensure_contiguous_ndarray(buf), out)
        return decoded if out is None or decoded is out else ndarray_copy(decoded, out)

    def profile(self):
        """What was learnt of the elements of the size that came first, as JSON."""
        first = next(iter(self._tuners), self._stored["typesize"] or 1)
        return self._tuner(first).profile()

    def save_profile(self, path):
        """Writes what `profile` returns, to be given as `profile=path`, or as BTUNE_PROFILE."""
        save_profile(path, self.profile())

    def _tuner(self, typesize):
        # In one step, for threads: at worst one that is not kept is made, without native memory.
        options = {**self._stored, **self._others, "typesize": known_typesize(typesize)}
        tuner = Tuner(**options, bytedelta=self._bytedelta)
        return self._tuners.setdefault(typesize, tuner)

    @classmethod
    def from_config(cls, config):
        """The codec of an array, from its configuration."""
        check_stored(config)
        return cls(**config)

    def get_config(self):
        """The configuration that is stored with an array."""
        stored = {key: value for key, value in self._stored.items() if value is not None}
        return {"id": self.codec_id, **stored}

    def __repr__(self):
        given = list(self.get_config().items())[1:]
        return "{}({})".format(type(self).__name__, ", ".join(f"{k}={v!r}" for k, v in given))


class Blosc2(Btune):
    """Reads what others stored with Blosc2: chunks, and frames as in HDF5's filter 32026.

    The configuration, which no chunk depends on, is kept as it is. What is written are chunks,
    without the filter bytedelta, which not all others have.
    """

    codec_id = "blosc2"
    _bytedelta = False

    def __init__(self, **configuration):
        super().__init__(format="chunk")
        self._configuration = configuration

    @classmethod
    def from_config(cls, config):
        """The codec of an array, whatever its configuration."""
        return cls(**config)

    def get_config(self):
        """The configuration that was given."""
        return {"id": self.codec_id, **self._configuration}

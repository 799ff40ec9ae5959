"""The tuned codecs for zarr-python 3.

>>> zarr.create_array(store, data=a, chunks=…, compressors=btune.zarr.Btune(tradeoff=0.9))

`Btune` is codec `btune`, which others read where btune is installed. `PortableBlosc` writes what
every Zarr reads as core codec `blosc`, `Blosc2Chunk` what imagecodecs reads. `enable` makes all
arrays of codec `blosc` tuned ones.
"""

from ._blosc import PortableBlosc
from ._codecs import Blosc2Chunk, Btune
from ._enable import disable, enable

__all__ = ["Blosc2Chunk", "Btune", "PortableBlosc", "disable", "enable"]

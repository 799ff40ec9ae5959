"""btune for HDF5: `btune.h5` writes tuned files, `btune.inspect` tells what is in them."""

from blosc2_btune import __version__

from .inspect import inspect

__all__ = ["__version__", "inspect"]

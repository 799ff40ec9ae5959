"""The btune tuner for C-Blosc2.

Importing this module is enough: C-Blosc2 then finds the library, which is loaded here.

>>> import blosc2, blosc2_btune
>>> schunk = blosc2.SChunk(cparams={"tuner": blosc2.Tuner.BTUNE})
"""

from ._paths import get_include, get_libpath, print_libpath
from ._record import record
from ._reuse import ReuseModels
from ._settings import PerformanceMode, RepeatMode, params_defaults, set_params_defaults
from ._version import VERSION

__version__ = VERSION

__all__ = [
    "VERSION",
    "PerformanceMode",
    "RepeatMode",
    "ReuseModels",
    "get_include",
    "get_libpath",
    "params_defaults",
    "print_libpath",
    "record",
    "set_params_defaults",
]

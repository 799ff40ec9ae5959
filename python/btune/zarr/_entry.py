"""The codecs of names that are not btune's alone, as zarr asks for them: others come first."""

from importlib.metadata import entry_points

from ._codecs import Blosc2Chunk

_NAMES = {
    "blosc2": "blosc2",
    "imagecodecs_blosc2": "imagecodecs_blosc2",
    "numcodecs_blosc2": "numcodecs.blosc2",
}


def __getattr__(attribute):
    if attribute not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    # zarr warns, and takes any, where two classes have the same name: give it theirs twice.
    found = entry_points(group="zarr.codecs", name=_NAMES[attribute])
    others = [entry for entry in found if not entry.value.startswith("btune.")]
    return others[0].load() if others else Blosc2Chunk

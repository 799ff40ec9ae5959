"""Where the library and its header are."""

# Not pathlib: importing it would take longer than all the rest.
from . import __path__ as _folders


def get_libpath():
    """The path of the tuner library."""
    return f"{_folders[0]}/libblosc2_btune.so"


def print_libpath():
    """Prints the path of the tuner library without a newline: C-Blosc2 reads it from a pipe."""
    print(get_libpath(), end="")


def get_include():
    """The folder of the C header btune.h."""
    return f"{_folders[0]}/include"

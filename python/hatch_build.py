"""Puts the built libraries, the header and the licences into the wheel.

The libraries are taken from the folder BTUNE_LIBS, or else from dist/lib; what is relative starts
at the repository.
"""

import os
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface):
    """Makes a wheel for any Python 3 of this platform."""

    def initialize(self, version, build_data):
        """Adds the files and the tag; `version` is hatchling's name of the kind of wheel."""
        if version == "editable":
            self.app.abort("btune cannot be installed as editable: its libraries need a wheel")
        repository = Path(self.root).parent
        libraries = repository / (os.environ.get("BTUNE_LIBS") or "dist/lib")
        licences = f"btune-{self.metadata.version}.dist-info/licenses"
        files = {
            libraries / "libblosc2_btune.so": "blosc2_btune/libblosc2_btune.so",
            libraries / "libh5btune.so": "btune/plugins/libh5btune.so",
            libraries / "libbtune_zarr.so": "btune/libbtune_zarr.so",
            repository / "cplugin" / "include" / "btune.h": "blosc2_btune/include/btune.h",
            repository / "LICENSE-MIT": f"{licences}/LICENSE-MIT",
            repository / "LICENSE-APACHE": f"{licences}/LICENSE-APACHE",
        }
        for source in files:
            if not source.is_file():
                self.app.abort(f"btune: {source} is missing: run `make build`, or set BTUNE_LIBS")
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"].update({str(k): v for k, v in files.items()})

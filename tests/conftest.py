"""Fixtures: the built filter, sample arrays, Python interpreters of several kinds."""

import os
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
import support


@pytest.fixture(scope="session")
def plugin_dir():
    """The folder with our filter, and nothing else in it."""
    files = sorted(p.name for p in support.PLUGIN_DIR.glob("*"))
    if files != ["libh5btune.so"]:
        pytest.fail(f"{support.PLUGIN_DIR} has {files}: run `make build`", pytrace=False)
    return support.PLUGIN_DIR


@pytest.fixture(scope="session")
def plugin_library():
    """The tuner plugin of C-Blosc2."""
    path = support.ROOT / "dist" / "lib" / "libblosc2_btune.so"
    if not path.exists():
        pytest.fail(f"{path} is missing: run `make build`", pytrace=False)
    return path


@pytest.fixture(scope="session")
def wheel_python(tmp_path_factory):
    """An interpreter that has our wheel, and all packages of the one that runs the tests."""
    home = tmp_path_factory.mktemp("wheel")
    python = home / "bin" / "python"
    venv.EnvBuilder(with_pip=True, symlinks=True).create(home)
    here, there = (sysconfig.get_path("purelib", vars=v) for v in (None, {"base": str(home)}))
    (Path(there) / "host.pth").write_text(f"{here}\n")
    env = dict(os.environ)
    quiet = ["--quiet", "--disable-pip-version-check", "--no-deps"]
    source = support.ROOT / "python"
    build = ["--no-build-isolation", "--wheel-dir", home, source]
    support.run([sys.executable, "-m", "pip", "wheel", *quiet, *build], env=env)
    [wheel] = home.glob("btune-*.whl")
    support.run([python, "-m", "pip", "install", *quiet, "--no-index", wheel], env=env)
    return python


@pytest.fixture(scope="session")
def arrays():
    """The sample arrays by name."""
    return {path.stem: support.load(path) for path in support.sample_paths()}


@pytest.fixture(scope="session")
def stock_python():
    """Runs code in a child process that has hdf5plugin and nothing of ours."""
    return support.run_python


@pytest.fixture(scope="session")
def old_python():
    """An interpreter with hdf5plugin 4.1.1, the oldest reader that is tested. Made on demand."""
    home = support.ROOT / ".venv" / "hdf5plugin-4.1.1"
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        venv.EnvBuilder(clear=True, with_pip=True, symlinks=True).create(home)
        install = ["-m", "pip", "install", "-q", "--disable-pip-version-check"]
        pins = ["hdf5plugin==4.1.1", "h5py==3.16.0", "numpy==2.4.6"]
        support.run([python, *install, *pins], env=dict(os.environ), timeout=900)
        ready.touch()
    return python


@pytest.fixture
def relief(arrays):
    """A small two-dimensional field."""
    return arrays["relief_etopo5_f32"]

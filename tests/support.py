"""What the tests and the benchmark share: clean child processes, sample arrays, the trace."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PLUGIN_DIR = ROOT / "dist" / "h5plugins"
DATA = ROOT / "examples" / "data"
FILTER_ID = 32026

# What would change a filter's choices, or which filter is found.
_STEERING = ("BTUNE_", "BLOSC_", "HDF5_PLUGIN_")


def clean_env(**env):
    """The environment of this process without anything that steers filters, plus `env`.

    A Python child in it can `import support`.
    """
    kept = {k: v for k, v in os.environ.items() if not k.startswith(_STEERING)}
    return kept | {"PYTHONPATH": str(ROOT / "tests")} | {k: str(v) for k, v in env.items()}


def btune_env(**env):
    """A clean environment in which HDF5 finds our filter."""
    return clean_env(HDF5_PLUGIN_PATH=PLUGIN_DIR, **env)


def run(command, *, env=None, cwd=None, check=True, timeout=300):
    """Runs a command in a clean environment (or in `env`) and returns its output as text."""
    done = subprocess.run(
        [str(word) for word in command],
        env=clean_env() if env is None else env,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if check and done.returncode != 0:
        raise AssertionError(
            f"{' '.join(str(w) for w in command[:3])} … exited with {done.returncode}\n"
            f"--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
        )
    return done


def run_python(code, *args, python=sys.executable, cwd=None, check=True, timeout=300, **env):
    """Runs `code` in a child process with a clean environment plus `env`.

    `args` are its `sys.argv[1:]`. A child that fails raises AssertionError unless `check` is
    false; the CompletedProcess has `stdout` and `stderr` as text.
    """
    command = [python, "-c", textwrap.dedent(code), *args]
    return run(command, env=clean_env(**env), cwd=cwd, check=check, timeout=timeout)


def run_btune(code, *args, **kwargs):
    """`run_python` where HDF5 finds our filter."""
    return run_python(code, *args, HDF5_PLUGIN_PATH=PLUGIN_DIR, **kwargs)


def sample_paths():
    """The files of the sample arrays, in the order of their names."""
    return sorted(DATA.glob("*.npz"))


def members(path):
    """The arrays of an .npz file by name."""
    with np.load(path) as arrays:
        return dict(arrays)


def load(path):
    """The array of a sample file."""
    return members(path)["data"]


def trace_rows(stderr):
    """The rows of BTUNE_TRACE=json among the lines of stderr."""
    return [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]


def row_chunks(shape, itemsize, target):
    """A chunk shape of whole rows of the first axes, of about `target` bytes, at most `shape`."""
    chunk = list(shape)
    for axis in range(len(shape)):
        rest = int(np.prod(shape[axis + 1 :], dtype=int)) * itemsize
        if rest <= target or axis == len(shape) - 1:
            chunk[axis] = max(1, min(shape[axis], target // rest))
            return tuple(chunk)
        chunk[axis] = 1
    return tuple(chunk)


_WRITE = """
import sys
import h5py, numpy as np
from support import row_chunks
path, source, target = sys.argv[1:]
with np.load(source) as arrays, h5py.File(path, "w") as f:
    for name, a in arrays.items():
        chunks = row_chunks(a.shape, a.itemsize, int(target))
        f.create_dataset(name, data=a, chunks=chunks, compression=32026)
"""


def write_tuned(path, arrays, *, target=64 * 1024, **env):
    """Writes `arrays` (by dataset name) with our filter, from h5py in a child process."""
    source = Path(path).with_suffix(".source.npz")
    np.savez(source, **arrays)
    return run_btune(_WRITE, path, source, target, **env)


_STOCK_CHECK = """
import sys
import h5py, hdf5plugin, numpy as np
assert hdf5plugin.get_filters("blosc2"), "this process must read with hdf5plugin"
path, expected = sys.argv[1:]
with h5py.File(path) as f, np.load(expected) as want:
    names = list(want)
    assert names, "nothing to compare"
    for name in names:
        assert "32026" in f[name]._filters, (name, f[name]._filters)
        got = f[name][()]
        assert got.dtype == want[name].dtype, (name, got.dtype)
        assert got.shape == want[name].shape, (name, got.shape)
        assert got.tobytes() == want[name].tobytes(), name
        # An optional filter that fails leaves its chunk as it was: nobody would notice.
        v = f[name].id
        masks = {v.get_chunk_info(i).filter_mask for i in range(v.get_num_chunks())}
        assert masks <= {0}, (name, masks)
    print(len(names))
"""


def assert_stock_reads(path, arrays, scratch, python=sys.executable):
    """A process with hdf5plugin, without btune, reads `arrays` (by dataset name) from `path`."""
    expected = Path(scratch) / f"{Path(path).name}.expected.npz"
    np.savez(expected, **arrays)
    done = run_python(_STOCK_CHECK, path, expected, python=python)
    assert int(done.stdout) == len(arrays)

"""hdf5plugin's own Blosc2 filter, tuned: it makes a context for every chunk and throws it away."""

import h5py
import numpy as np
import pytest
import support

CHUNKS, ITEMS = 120, 16 * 1024

_WRITE = """
import ctypes, sys
import h5py, hdf5plugin, numpy as np
library, source, path = sys.argv[1:]
if library:
    ctypes.CDLL(library)
data = np.load(source)
with h5py.File(path, "w") as f:
    f.create_dataset("v", data=data, chunks=(16 * 1024,), **hdf5plugin.Blosc2())
"""


@pytest.fixture(scope="session")
def series(arrays):
    """Chunks of the nature of a field, no two the same."""
    flat = arrays["relief_etopo5_f32"].reshape(-1)
    starts = np.arange(CHUNKS) * (ITEMS // 2 + 1) % (flat.size - ITEMS)
    return np.concatenate([flat[start : start + ITEMS] for start in starts])


def _write(library, data, path, **env):
    source = path.with_suffix(".npy")
    np.save(source, data)
    return support.run_python(_WRITE, library, source, path, **env)


def _stored(path):
    with h5py.File(path) as f:
        return f["v"].id.get_storage_size()


@pytest.mark.parametrize("tradeoff", [0.1, 0.5, 0.9])
def test_chunks_are_tuned_and_read_by_everyone(series, tradeoff, plugin_library, tmp_path):
    path = tmp_path / "tuned.h5"
    done = _write(plugin_library, series, path, BTUNE_TRADEOFF=tradeoff, BTUNE_TRACE="json")
    rows = support.trace_rows(done.stderr)
    assert len(rows) == len(done.stderr.splitlines()) == CHUNKS
    assert _stored(path) < 0.75 * series.nbytes
    support.assert_stock_reads(path, {"v": series}, tmp_path)


@pytest.mark.parametrize("inference", [0, 1])
def test_the_search_goes_on_from_chunk_to_chunk(series, plugin_library, tmp_path, inference):
    path = tmp_path / "search.h5"
    env = {"BTUNE_TRADEOFF": 0.9, "BTUNE_TRACE": "json", "BTUNE_USE_INFERENCE": inference}
    done = _write(plugin_library, series, path, **env)
    rows = support.trace_rows(done.stderr)
    assert [row["chunk"] for row in rows] == list(range(CHUNKS))
    assert len({row["dataset"] for row in rows}) == 1
    # The start of a search costs about one chunk's time; a search in every chunk would show.
    probed = [row["chunk"] for row in rows if row["probe_time"] > 0]
    assert probed[0] == 0
    assert len(probed) > 1
    later = rows[CHUNKS // 4 :]
    assert sum(row["probe_time"] for row in later) < 0.3 * sum(row["ctime"] for row in later)
    choices = [(row["codec"], row["filter"], row["clevel"]) for row in rows]
    assert len(set(choices)) > 1
    assert rows[-1]["origin"] in ("inference", "genetic")[1 - inference :]


def test_without_the_library_chunks_are_stored_as_they_are(series, tmp_path):
    """What the library is measured against here: the filter alone, with the variable set."""
    path = tmp_path / "raw.h5"
    _write("", series[: 2 * ITEMS], path, BTUNE_TRADEOFF=0.5)
    assert _stored(path) >= 2 * ITEMS * series.itemsize

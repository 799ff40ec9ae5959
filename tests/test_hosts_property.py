"""Round trips over dtype, shape and chunks: ours reads at once, the stock filter at the end."""

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

_CASES = """
import sys
import h5py, numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

DTYPES = ["u1", "i2", ">i2", "f2", "f4", ">f8", "i8", "c16", "S5", "V3", "?",
          "u1,f8", "i4,(3,)f4,S9", "V300", "(70,)f4"]

@st.composite
def cases(draw):
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    base = dtype if dtype.subdtype is None else np.dtype([("sub", dtype)])
    shape = tuple(draw(st.lists(st.integers(1, 40), min_size=1, max_size=3)))
    chunks = tuple(draw(st.integers(1, 45)) for _ in shape)
    n = int(np.prod(shape)) * base.itemsize
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    fill = draw(st.sampled_from(["zero", "ramp", "noise", "steps"]))
    data = {
        "zero": lambda: np.zeros(n, "u1"),
        "ramp": lambda: np.arange(n // 4 + 1, dtype="u4").view("u1")[:n],
        "noise": lambda: rng.integers(0, 256, n, "u1"),
        "steps": lambda: np.repeat(rng.integers(0, 256, n // 50 + 1, "u1"), 50)[:n],
    }[fill]()
    if base.kind in "fc":  # a NaN need not survive a type conversion; its bits are not the point
        data &= 0x3F
    if base.kind == "b":
        data &= 1
    return data.view(base).reshape(shape), chunks

path, expected = sys.argv[1:]
wrote = {}

@settings(max_examples=400, deadline=None, database=None, derandomize=True,
          suppress_health_check=list(HealthCheck))
@given(cases(), st.sampled_from([{}, {"shuffle": True}, {"fletcher32": True}]))
def round_trip(case, pre):
    a, chunks = case
    name = f"v{len(wrote):04}"
    with h5py.File(path, "a") as f:
        f.create_dataset(name, data=a, chunks=chunks, maxshape=(None,) * a.ndim,
                         compression=32026, **pre)
    with h5py.File(path) as f:
        assert f[name][()].tobytes() == a.tobytes(), (name, a.dtype, a.shape, chunks)
    wrote[name] = a

h5py.File(path, "w").close()
round_trip()
np.savez(expected, **wrote)
"""


def test_round_trips(tmp_path):
    path, source = tmp_path / "cases.h5", tmp_path / "cases.npz"
    support.run_btune(_CASES, path, source, BTUNE_TRADEOFF=0.5)
    wrote = support.members(source)
    assert len(wrote) >= 300
    support.assert_stock_reads(path, wrote, tmp_path)

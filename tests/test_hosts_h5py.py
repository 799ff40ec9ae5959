"""h5py writes with our filter; h5py with hdf5plugin reads, and the other way round."""

import h5py
import numpy as np
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")


def test_stock_filter_reads_all_sample_arrays(arrays, tmp_path):
    path = tmp_path / "tuned.h5"
    support.write_tuned(path, arrays, BTUNE_TRADEOFF=0.5)
    support.assert_stock_reads(path, arrays, tmp_path)
    with h5py.File(path) as f:
        stored = sum(f[name].id.get_storage_size() for name in arrays)
    assert stored < 0.7 * sum(a.nbytes for a in arrays.values())


def test_without_any_setting_it_tunes_and_prints_nothing(arrays, tmp_path):
    path = tmp_path / "quiet.h5"
    done = support.write_tuned(path, arrays)
    assert (done.stdout, done.stderr) == ("", "")
    support.assert_stock_reads(path, arrays, tmp_path)


def test_we_read_what_the_stock_filter_writes(relief, stock_python, tmp_path):
    path = tmp_path / "stock.h5"
    source = tmp_path / "relief.npy"
    np.save(source, relief)
    stock_python(
        """
        import itertools, sys
        import h5py, hdf5plugin, numpy as np
        a = np.load(sys.argv[2])
        B = hdf5plugin.Blosc2
        filters = (B.NOFILTER, B.SHUFFLE, B.BITSHUFFLE, B.DELTA, B.TRUNC_PREC)
        with h5py.File(sys.argv[1], "w") as f:
            for cname, f_, level in itertools.product(
                ("blosclz", "lz4", "lz4hc", "zlib", "zstd"), filters[:4], (0, 1, 5, 9)):
                opts = B(cname=cname, clevel=level, filters=f_)
                name = f"{cname}-{f_}-{level}"
                f.create_dataset(name, data=a[:96], chunks=(40, 300), **opts)
                f.create_dataset(name + "-1d", data=a[0], chunks=(1000,), **opts)
                f.create_dataset(name + "-i8", data=a[:9].astype("i8"), chunks=(4, 70), **opts)
        """,
        path,
        source,
    )
    done = support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a = np.load(sys.argv[2])
        with h5py.File(sys.argv[1]) as f:
            for name in f:
                want = a[0] if name.endswith("1d") else a[:9] if name.endswith("i8") else a[:96]
                assert (f[name][()] == want).all(), name
            print(len(f))
        """,
        path,
        source,
    )
    assert int(done.stdout) == 240


@pytest.mark.parametrize("optional", [True, False])
def test_mandatory_and_optional_filter(relief, tmp_path, optional):
    path = tmp_path / "flags.h5"
    source = tmp_path / "relief.npy"
    np.save(source, relief)
    done = support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a, optional = np.load(sys.argv[2]), sys.argv[3] == "True"
        dcpl = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        dcpl.set_chunk((64, 1024))
        h = h5py.h5z
        dcpl.set_filter(32026, h.FLAG_OPTIONAL if optional else h.FLAG_MANDATORY, ())
        with h5py.File(sys.argv[1], "w") as f:
            space = h5py.h5s.create_simple(a.shape)
            d = h5py.h5d.create(f.id, b"v", h5py.h5t.py_create(a.dtype), space, dcpl=dcpl)
            d.write(h5py.h5s.ALL, h5py.h5s.ALL, a)
        with h5py.File(sys.argv[1]) as f:
            v = f["v"].id
            print(v.get_create_plist().get_filter(0)[1] & 1, v.get_chunk_info(0).filter_mask)
        """,
        path,
        source,
        optional,
    )
    assert done.stdout.split() == ["1" if optional else "0", "0"]
    support.assert_stock_reads(path, {"v": relief}, tmp_path)


def test_append_in_a_second_process(relief, tmp_path):
    path, source = tmp_path / "append.h5", tmp_path / "relief.npy"
    np.save(source, relief)
    support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a = np.load(sys.argv[2])
        with h5py.File(sys.argv[1], "w") as f:
            f.create_dataset("v", data=a[:200], maxshape=(None, 1024), chunks=(64, 1024),
                             compression=32026)
        """,
        path,
        source,
        BTUNE_TRADEOFF=0.9,
    )
    # Chunk 3 is half full: it is read, filled up and encoded again.
    done = support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a = np.load(sys.argv[2])
        with h5py.File(sys.argv[1], "a") as f:
            f["v"].resize(512, axis=0)
            f["v"][200:] = a[200:]
        """,
        path,
        source,
        BTUNE_TRACE="json",
    )
    assert support.trace_rows(done.stderr), "the second process did not tune"
    support.assert_stock_reads(path, {"v": relief}, tmp_path)


def test_growing_along_an_unlimited_axis_chunk_by_chunk(arrays, tmp_path):
    series = arrays["flights_delay_i64"][:40_000]
    path, source = tmp_path / "grow.h5", tmp_path / "series.npy"
    np.save(source, series)
    support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a = np.load(sys.argv[2])
        with h5py.File(sys.argv[1], "w") as f:
            whole = f.create_dataset("whole", (0,), a.dtype, maxshape=(None,), chunks=(1000,),
                                     compression=32026)
            odd = f.create_dataset("odd", (0,), a.dtype, maxshape=(None,), chunks=(1000,),
                                   compression=32026)
            for start in range(0, len(a), 1000):
                whole.resize(start + 1000, axis=0)
                whole[start:] = a[start:start + 1000]
            for start in range(0, len(a), 777):
                stop = min(start + 777, len(a))
                odd.resize(stop, axis=0)
                odd[start:stop] = a[start:stop]
                f.flush()
        """,
        path,
        source,
        BTUNE_TRADEOFF=0.5,
    )
    support.assert_stock_reads(path, {"whole": series, "odd": series}, tmp_path)


def test_edge_chunks_and_shrinking(relief, tmp_path):
    path, source = tmp_path / "edge.h5", tmp_path / "relief.npy"
    np.save(source, relief)
    support.run_btune(
        """
        import sys
        import h5py, numpy as np
        a = np.load(sys.argv[2])
        with h5py.File(sys.argv[1], "w") as f:
            f.create_dataset("edge", data=a, chunks=(100, 300), compression=32026)
            f.create_dataset("one", data=a[:3, :5], chunks=(1, 1), compression=32026)
            d = f.create_dataset("wide", data=a[:5, :7], chunks=(64, 64), maxshape=(None, None),
                                 compression=32026, fillvalue=-1)
            d.resize((3, 7))
            d.resize((6, 9))
        """,
        path,
        source,
        BTUNE_TRADEOFF=0.5,
    )
    wide = np.full((6, 9), -1, "f4")
    wide[:3, :7] = relief[:3, :7]
    support.assert_stock_reads(
        path, {"edge": relief, "one": relief[:3, :5], "wide": wide}, tmp_path
    )

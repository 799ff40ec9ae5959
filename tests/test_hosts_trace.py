"""What BTUNE_TRACE prints, and that nothing is printed without it."""

import re

import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

HEADER = [
    "Codec", "Filter", "Split", "C.Level", "C.Threads", "D.Threads",
    "S.Score", "C.Ratio", "Btune State", "Readapt", "Winner",
]  # fmt: skip


def test_table(relief, tmp_path):
    done = support.write_tuned(
        tmp_path / "t.h5", {"v": relief}, BTUNE_TRADEOFF=0.25, BTUNE_TRACE="1"
    )
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert set(lines[0]) == {"-", "="}
    assert lines[1].startswith("Btune version: ")
    assert lines[2] == (
        "Performance Mode: COMP, Compression tradeoff: 0.250000, Bandwidth: 20 GB/s"
    )
    assert lines[3] == "Behaviour: Waits - 0, Softs - 5, Hards - 10, Repeat Mode - STOP"
    head = next(i for i, line in enumerate(lines) if "Codec" in line)
    assert [cell.strip() for cell in lines[head].strip("|").split("|")] == HEADER
    rows = [[cell.strip() for cell in line.split("|")[1:]] for line in lines[head + 1 :]]
    assert len(rows) == 32
    for codec, filter_, split, level, cthreads, dthreads, score, ratio, state, readapt, win in rows:
        assert codec in {"blosclz", "lz4", "lz4hc", "zlib", "zstd"}
        assert filter_ in {"0", "1", "2", "3", "35"}
        assert split in {"0", "1"}
        assert level in set("0123456789")
        assert (cthreads, dthreads) == ("1", "1")
        assert float(score) > 0
        assert re.fullmatch(r"\d+\.\d\dx", ratio)
        assert state in {
            "CODEC_FILTER", "THREADS_COMP", "THREADS_DECOMP", "CLEVEL", "MEMCPY", "WAITING", "STOP",
        }  # fmt: skip
        assert readapt in {"HARD", "SOFT", "WAIT"}
        assert win in {"W", "-", "S"}
    assert any(row[-1] == "W" for row in rows)


def test_json(relief, tmp_path):
    done = support.write_tuned(
        tmp_path / "t.h5", {"v": relief}, BTUNE_TRADEOFF=0.5, BTUNE_TRACE="json"
    )
    rows = support.trace_rows(done.stderr)
    assert len(rows) == len(done.stderr.splitlines()) == 32
    assert [row["chunk"] for row in rows] == list(range(32))
    assert len({row["dataset"] for row in rows}) == 1
    for row in rows:
        assert row.keys() >= {
            "codec", "filter", "clevel", "split", "block_size", "threads", "origin", "readapt",
            "state", "nbytes", "cbytes", "ctime", "dtime", "j", "winner", "probe_time",
        }  # fmt: skip
        assert row["nbytes"] == 65536
        assert 0 < row["cbytes"] <= 65536 + 32
        assert row["ctime"] > 0
        assert row["probe_time"] >= 0


def test_a_bad_setting_is_one_line_and_the_data_is_written(relief, tmp_path):
    path = tmp_path / "bad.h5"
    done = support.write_tuned(path, {"v": relief, "w": relief}, BTUNE_TRADEOFF="abc")
    (line,) = done.stderr.splitlines()
    assert "BTUNE_TRADEOFF" in line
    assert "abc" in line
    support.assert_stock_reads(path, {"v": relief, "w": relief}, tmp_path)

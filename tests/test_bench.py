"""`btune bench`: figures on real arrays, and refusals in one line."""

import json
import math

import numpy as np
import pytest
import support

BTUNE = support.ROOT / "dist" / "btune"


def bench(folder, *args, check=True):
    return support.run([BTUNE, "bench", *args], cwd=folder, check=check, timeout=600)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bench")
    for path in support.sample_paths():
        if path.stem in ("relief_etopo5_f32", "landmask_bool"):
            np.save(folder / f"{path.stem}.npy", support.load(path))
    return folder


def test_figures_of_each_array_and_cell(folder):
    cells = ["--tradeoff", "0.1,0.9", "--mode", "COMP,DECOMP"]
    short = ["--chunks", "12", "--chunk-size", "128", "--repeats", "1", "--json", "figures.json"]
    done = bench(folder, "relief_etopo5_f32.npy", "landmask_bool.npy", *cells, *short)
    assert done.stderr == ""
    figures = json.loads((folder / "figures.json").read_text())
    rows = figures.pop("rows")
    assert figures == {"chunks": 12, "chunk_kib": 128, "repeats": 1}
    assert len(rows) == 2 * 4
    lines = done.stdout.splitlines()
    assert "12 chunks of 128 KiB" in lines[0]
    for row, line in zip(rows, lines[1:], strict=False):
        assert line.startswith(row["array"])
        assert row["best"] in line
        for player in (row["tuner"], row["without_model"], row["stock"]):
            assert math.isfinite(player["regret"])
            assert player["regret"] > -0.99
            assert player["ratio"] > 0.9
            assert player["speed"] > 0
        assert 0 < row["tuner"]["asking"] < 20
        assert row["tuner"]["within"] is None or 1 <= row["tuner"]["within"] <= 12
    assert {(row["tradeoff"], row["perf_mode"]) for row in rows} == {
        (t, mode) for t in (0.1, 0.9) for mode in ("COMP", "DECOMP")
    }
    # What size alone decides does not depend on the clock: the best fixed parameters save most.
    for row in rows:
        if row["tradeoff"] == 0.9:
            assert row["best_ratio"] > row["stock"]["ratio"] * 0.9
    assert [line.split()[0] for line in lines[-3:]] == ["mean", "median", "worst"]


def test_bad_input_is_refused_in_one_line(folder):
    np.save(folder / "empty.npy", np.zeros(0))
    for args, message in [
        (["missing.npy"], "missing.npy: No such file"),
        (["empty.npy"], "empty.npy: the array has no elements"),
        (["relief_etopo5_f32.npy", "--json", "no/such/folder.json"], "no/such/folder.json: "),
    ]:
        short = ["--chunks", "1", "--chunk-size", "16", "--repeats", "1", "--tradeoff", "0.5"]
        done = bench(folder, *args, *short, check=False)
        assert done.returncode == 1, done
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
    for option, value, allowed in [
        ("--tradeoff", "2", "from 0 (speed) to 1 (ratio)"),
        ("--mode", "FAST", "COMP, DECOMP or BALANCED"),
        ("--chunks", "0", "1..="),
    ]:
        done = bench(folder, "relief_etopo5_f32.npy", option, value, check=False)
        assert done.returncode == 2
        assert allowed in done.stderr, done.stderr

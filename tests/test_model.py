"""The model: used, replaced, refused, and made by `btune train`."""

import json
import sysconfig
from pathlib import Path

import numpy as np
import pytest
import support

pytestmark = pytest.mark.usefixtures("plugin_dir")

BTUNE = support.ROOT / "dist" / "btune"
MODELS = support.ROOT / "models"
SHIPPED = MODELS / "model.onnx"


def write(folder, relief, **env):
    """The lines on stderr and the trace's rows of a file that is written."""
    done = support.write_tuned(folder / "t.h5", {"v": relief}, BTUNE_TRACE="json", **env)
    lines = done.stderr.splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    return [line for line in lines if not line.startswith("{")], rows


def first_origin(folder, **env):
    """The lines on stderr, and where the parameters of a chunk come from that says nothing.

    No measurement comes in between.
    """
    said, rows = write(folder, np.zeros((64, 1024), "f4"), **env)
    return said, rows[0]["origin"]


@pytest.mark.parametrize("env", [{}, {"BTUNE_MODELS_DIR": MODELS}], ids=["built in", "in a folder"])
def test_a_model_proposes_unless_it_is_not_to(relief, tmp_path, env):
    assert first_origin(tmp_path, **env) == ([], "inference")
    assert first_origin(tmp_path, BTUNE_USE_INFERENCE=1, **env) == ([], "inference")
    assert first_origin(tmp_path, BTUNE_USE_INFERENCE=0, **env) == ([], "fixed")
    _, without = write(tmp_path, relief, BTUNE_USE_INFERENCE=0, **env)
    assert {row["origin"] for row in without} <= {"fixed", "genetic"}


def test_a_model_that_cannot_be_used_is_reported_once_and_nothing_is_lost(relief, tmp_path):
    other = bytearray(SHIPPED.read_bytes())
    at = other.index(b"btune-features-1")
    other[at : at + 16] = b"other-features-1"
    for name, content in {
        "missing": None,
        "empty": b"",
        "text": b"hello",
        "cut": SHIPPED.read_bytes()[:5000],
        "foreign": bytes(other),
        "long": b"\0" * (5 << 20),
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        if content is not None:
            (folder / "model.onnx").write_bytes(content)
        said, rows = write(folder, relief, BTUNE_MODELS_DIR=folder)
        assert len(said) == 1, said
        assert said[0].startswith(f"btune: {folder}/model.onnx: "), said
        assert said[0].endswith("; going on without inference")
        assert rows
        assert "inference" not in {row["origin"] for row in rows}
        support.assert_stock_reads(folder / "t.h5", {"v": relief}, folder)


def test_onnx_runtime_evaluates_the_model_where_it_is_named(relief, tmp_path):
    site = Path(sysconfig.get_path("purelib")) / "onnxruntime" / "capi"
    [library] = site.glob("libonnxruntime.so.*")
    env = {"BTUNE_ONNX_RUNTIME": library, "ORT_DISABLE_TELEMETRY": 1}
    assert first_origin(tmp_path, **env) == ([], "inference")
    said, rows = write(tmp_path, relief, **env)
    assert not said
    assert rows
    said, origin = first_origin(tmp_path, **env | {"BTUNE_ONNX_RUNTIME": tmp_path / "none.so"})
    assert len(said) == 1
    assert said[0].startswith("btune: BTUNE_ONNX_RUNTIME: ")
    assert said[0].endswith("; the built-in evaluator is used")
    assert origin == "inference"


def train(folder, *args):
    arrays = folder / "arrays"
    if not arrays.exists():
        arrays.mkdir()
        for path in support.sample_paths()[:3]:
            np.save(arrays / f"{path.stem}.npy", support.load(path))
    options = ["--pieces", "1", "--epochs", "3", *args]
    return support.run([BTUNE, "train", arrays, *options], cwd=folder, timeout=600)


def test_train_makes_a_model_that_is_used_and_goes_on_where_it_was(tmp_path):
    done = train(tmp_path, "--json", "report.json")
    assert "mean, median (worst)" in done.stdout
    assert not done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    assert len(report["regrets"]) == 3 * 8
    measured = (tmp_path / "measurements.jsonl").read_text()
    assert first_origin(tmp_path, BTUNE_MODELS_DIR=tmp_path) == ([], "inference")

    model = (tmp_path / "model.onnx").read_bytes()
    train(tmp_path, "--no-report")
    assert (tmp_path / "model.onnx").read_bytes() == model
    # A run that was killed leaves a line that is cut short.
    lines = measured.splitlines(keepends=True)
    (tmp_path / "measurements.jsonl").write_text("".join(lines[:-1]) + lines[-1][:40])
    train(tmp_path, "--no-report")
    again = [line for line in (tmp_path / "measurements.jsonl").read_text().splitlines() if line]
    keys = [json.loads(line)["piece"] for line in again[1:] if line.endswith("}")]
    assert len(keys) == len(set(keys)) == len([line for line in lines if line.strip()]) - 1


def test_train_refuses_in_one_line(tmp_path):
    (tmp_path / "text.npy").write_text("hello")
    (tmp_path / "other.jsonl").write_text("{}\n")
    np.save(tmp_path / "a.npy", np.arange(1000))
    for args, message in [
        (["missing.npy"], "missing.npy: No such file"),
        (["text.npy"], "text.npy: not a .npy file"),
        (["a.npy", "a.npy"], "another array"),
        (["a.npy", "--measurements", "other.jsonl"], "other.jsonl: not a file of measurements"),
        (["a.npy", "--together", "a,"], "--together: a name is empty"),
    ]:
        done = support.run([BTUNE, "train", *args], cwd=tmp_path, check=False)
        assert done.returncode == 1, done
        assert done.stderr.count("\n") == 1
        assert message in done.stderr
        assert not (tmp_path / "model.onnx").exists()
    done = support.run([BTUNE, "train"], cwd=tmp_path, check=False)
    assert done.returncode == 2

"""The ONNX files of btune in `onnx` and ONNX Runtime, and files of others in btune."""

import os
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import support
from onnx import TensorProto, helper, numpy_helper

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", support.ROOT / "target"))
ONNX = TARGET / "release" / "examples" / "onnx"
NETWORKS = 100
CLOSE = {"rtol": 1e-5, "atol": 1e-5}
QUIET = {"ORT_DISABLE_TELEMETRY": "1"}


def library():
    """The library inside the wheel of ONNX Runtime."""
    [path] = (Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")
    return path


def call(*words, check=True, env=None):
    assert ONNX.exists(), f"{ONNX} is missing: run `make test`"
    return support.run([ONNX, *words], env=support.clean_env(**(env or {})), check=check)


def with_onnxruntime(model, row):
    """What ONNX Runtime makes of a row, in Python."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    [port] = session.get_inputs()
    [result] = session.run(None, {port.name: row.reshape(port.shape)})
    return result.ravel()


def with_btune(folder, model, row, *words, env=None):
    """What btune makes of a row, in its own evaluator or in the library that is named."""
    (folder / "model.onnx").write_bytes(model)
    row.astype("<f4").tofile(folder / "row")
    call("run", folder / "model.onnx", folder / "row", *words, env=env)
    return np.fromfile(folder / "row.out", "<f4")


def constant(name, values, *, kind="raw"):
    values = np.asarray(values)
    if kind == "raw":
        return numpy_helper.from_array(values, name)
    return helper.make_tensor(name, TensorProto.FLOAT, values.shape, values.ravel().tolist())


def model(
    nodes, constants, shape=(1, 6), *, opset=13, ir=8, outputs=(1, 5), elem=TensorProto.FLOAT
):
    """A file with the input `x` and the output `y`."""
    x = helper.make_tensor_value_info("x", elem, shape)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, outputs)
    inputs = [x]
    if ir < 4:  # Constants are among the inputs.
        kind = helper.make_tensor_value_info
        inputs += [kind(c.name, c.data_type, c.dims) for c in constants]
    graph = helper.make_graph(nodes, "other", inputs, [y], constants)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=ir)


def node(op, *inputs, out="y", **attributes):
    return helper.make_node(op, list(inputs), [out], **attributes)


random = np.random.default_rng(5)


def numbers(*shape):
    return random.uniform(-1, 1, shape).astype("f4")


def shapes():
    """Files as other tools write them, by name."""
    w, v, b = numbers(6, 5), numbers(4, 5), numbers(5)
    mean, std = numbers(6), np.abs(numbers(6)) + 0.5
    five = [constant("w", w), constant("b", b)]
    dense = [node("MatMul", "x", "w", out="h"), node("Add", "h", "b")]
    yield "MatMul and Add", model(dense, five)
    yield "Add with the constant first", model([dense[0], node("Add", "b", "h")], five)
    floats = [constant("w", w, kind="floats"), constant("b", b, kind="floats")]
    yield "float_data", model(dense, floats)
    yield "Gemm without bias", model([node("Gemm", "x", "w")], five[:1])
    gemm = node("Gemm", "x", "w", "b", alpha=0.5, beta=-2.0)
    yield "Gemm with alpha and beta", model([gemm], five)
    row = [node("Flatten", "x", out="f"), node("Gemm", "f", "w", "b")]
    yield "Flatten first", model(row, five, (1, 2, 3))
    shape = constant("s", np.array([0, -1], "i8"))
    row = [node("Reshape", "x", "s", out="f"), node("Gemm", "f", "w", "b")]
    yield "Reshape first", model(row, [*five, shape], (1, 3, 2))
    deep = [
        node("Sub", "x", "mean", out="c"), node("Div", "c", "std", out="n"),
        node("Gemm", "n", "w", "b", out="h"), node("Relu", "h", out="r"),
        node("Gemm", "r", "v", "none", out="o", transB=1), node("Softmax", "o"),
    ]  # fmt: skip
    scaled = [*five, constant("v", v), constant("mean", mean), constant("std", std)]
    scaled.append(constant("none", np.zeros((), "f4")))
    yield "normalised, Softmax last", model(deep, scaled, outputs=(1, 4))
    yield "opset 7", model(deep, scaled, outputs=("rows", 4), opset=7, ir=3)
    yield "opset 22", model(deep, scaled, outputs=("rows", 4), opset=22, ir=10)
    deep = [
        node("Identity", "x", out="i"), node("Cast", "i", out="c", to=1),
        node("Sigmoid", "c", out="a"), node("Sub", "one", "a", out="d"),
        node("MatMul", "d", "w", out="h"), node("Tanh", "h", out="t"), node("Mul", "t", "two"),
    ]  # fmt: skip
    ones = [constant("one", np.float32(1)), constant("two", numbers(1, 5)), five[0]]
    yield "scaling between activations", model(deep, ones)
    yield "Tanh alone", model([node("Tanh", "x")], [], outputs=("rows", "n"))


@pytest.mark.parametrize(("name", "file"), [pytest.param(*p, id=p[0]) for p in shapes()])
def test_networks_of_other_tools_are_read(tmp_path, name, file):
    onnx.checker.check_model(file, full_check=True)
    file = file.SerializeToString()
    for _ in range(3):
        row = numbers(6)
        expected = with_onnxruntime(file, row)
        assert len(expected) in (4, 5, 6), name
        np.testing.assert_allclose(with_btune(tmp_path, file, row), expected, **CLOSE)
    named = with_btune(tmp_path, file, row, library(), env=QUIET)
    np.testing.assert_allclose(named, expected, **CLOSE)


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """Random networks of btune with a row and its result each."""
    folder = tmp_path_factory.mktemp("networks")
    call("random", folder, NETWORKS)
    return folder


def test_onnx_and_onnxruntime_agree_with_our_files(networks):
    widths = set()
    for number in range(NETWORKS):
        file = networks / f"{number}.onnx"
        checked = onnx.load(file)
        onnx.checker.check_model(checked, full_check=True)
        assert checked.ir_version == 7
        assert [port.name for port in (*checked.graph.input, *checked.graph.output)] == [
            "features", "costs",
        ]  # fmt: skip
        assert [p.key for p in checked.metadata_props] == ["widths"]
        row, result = (
            np.fromfile(networks / f"{number}.{end}", "<f4") for end in ("row", "row.out")
        )
        np.testing.assert_allclose(result, with_onnxruntime(file, row), **CLOSE)
        widths.add(len(result))
    assert len(widths) > 20


def test_the_library_agrees_with_the_evaluator(networks, tmp_path):
    for number in range(10):
        file = (networks / f"{number}.onnx").read_bytes()
        row, result = (
            np.fromfile(networks / f"{number}.{end}", "<f4") for end in ("row", "row.out")
        )
        named = with_btune(tmp_path, file, row, library(), env=QUIET)
        np.testing.assert_allclose(named, result, **CLOSE)


def test_the_library_runs_what_the_evaluator_refuses(tmp_path):
    file = model([node("Softplus", "x")], [], outputs=(1, 6))
    row = numbers(6)
    named = with_btune(tmp_path, file.SerializeToString(), row, library(), env=QUIET)
    np.testing.assert_allclose(named, np.log1p(np.exp(row)), **CLOSE)
    done = call("run", tmp_path / "model.onnx", tmp_path / "row", check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert 'the ONNX model is not read: "Softplus" node ""' in done.stderr


def test_a_library_that_reports_is_refused_and_leaves_no_trace(networks, tmp_path):
    env = {"HOME": tmp_path, "XDG_CACHE_HOME": tmp_path / "cache"}
    words = ("run", networks / "0.onnx", networks / "0.row", library())
    done = call(*words, check=False, env=env)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "set ORT_DISABLE_TELEMETRY=1 before the program starts" in done.stderr
    assert call(*words, env=env | QUIET).stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_libraries_and_models_that_cannot_be_used_are_refused(networks, tmp_path):
    (tmp_path / "junk.onnx").write_bytes(b"\x07junk")
    (tmp_path / "junk.so").write_bytes(b"junk")
    model, row = networks / "0.onnx", networks / "0.row"
    for words, why in [
        ((model, row, tmp_path / "none.so"), "cannot be read"),
        ((model, row, tmp_path / "junk.so"), "is not a library of ONNX Runtime 1"),
        ((model, row, Path(sys.executable)), "is not a library of ONNX Runtime 1"),
        ((tmp_path / "junk.onnx", row, library()), "ONNX Runtime: "),
        ((model, networks / "1.row", library()), "ONNX Runtime: "),
    ]:
        done = call("run", *words, check=False, env=QUIET)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert why in done.stderr
        assert "panicked" not in done.stderr

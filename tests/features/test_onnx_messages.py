"""Graphs written without the onnx package are those it would write."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from dayline.features.onnx import open_session
from dayline.features.onnx_graph import Graph
from dayline.features.onnx_messages import _FIELDS, onnx_messages

WEIGHT = np.random.default_rng(3).normal(size=(4, 3, 3, 3)).astype(np.float32)
BIAS = np.asarray([0.5, -1.0, 2.0, 0.25], dtype=np.float32)


@pytest.fixture(scope="module")
def written():
    graph = Graph("small", size=8)
    x = graph.relu6(graph.convolution(graph.input, WEIGHT, BIAS, stride=2, pads=(0, 0, 1, 1)))
    x = graph.concatenate(
        [x, graph.pool(x, "AveragePool", stride=1, padding=1, count_padding=False)]
    )
    return graph.serialise({"features": (graph.add("Flatten", graph.add("GlobalMaxPool", x)), 8)})


def test_the_bytes_are_those_of_the_onnx_package(written):
    constants = {
        "constant_0": WEIGHT,
        "constant_1": BIAS,
        "constant_2": np.asarray([0.0], dtype=np.float32),
        "constant_3": np.asarray([6.0], dtype=np.float32),
    }
    nodes = [
        helper.make_node(
            "Conv", ["image", "constant_0", "constant_1"], ["conv_0"],
            kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 1, 1], group=1,
        ),
        helper.make_node("Clip", ["conv_0", "constant_2", "constant_3"], ["clip_1"]),
        helper.make_node(
            "AveragePool", ["clip_1"], ["averagepool_2"],
            kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1], count_include_pad=0,
        ),
        helper.make_node("Concat", ["clip_1", "averagepool_2"], ["concat_3"], axis=1),
        helper.make_node("GlobalMaxPool", ["concat_3"], ["globalmaxpool_4"]),
        helper.make_node("Flatten", ["globalmaxpool_4"], ["flatten_5"]),
        helper.make_node("Identity", ["flatten_5"], ["features"]),
    ]  # fmt: skip
    graph = helper.make_graph(
        nodes,
        "small",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, ["n", 8])],
        [numpy_helper.from_array(values, name) for name, values in constants.items()],
    )
    model = helper.make_model(
        graph, producer_name="dayline", ir_version=8, opset_imports=[helper.make_opsetid("", 17)]
    )
    assert written == model.SerializeToString()


def test_the_graph_passes_the_onnx_checker_and_runs(written):
    onnx.checker.check_model(onnx.load_from_string(written), full_check=True)
    (features,) = open_session(written).run(
        None, {"image": np.ones((2, 3, 8, 8), dtype=np.float32)}
    )
    # Inside the picture every output of the convolution is the sum of its weights, plus the bias.
    inside = np.clip(WEIGHT.sum(axis=(1, 2, 3)) + BIAS, 0, 6)
    assert features.shape == (2, 8)
    assert (features[0, :4] >= inside - 1e-5).all()
    np.testing.assert_array_equal(features[0], features[1])


def is_repeated(field):
    # protobuf before 6.30 has only the label, which later versions warn about.
    return (
        field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED
    )


def test_every_field_has_the_number_and_type_of_the_standard():
    theirs = {name: getattr(onnx, name).DESCRIPTOR for name in _FIELDS if hasattr(onnx, name)}
    theirs["TensorTypeProto"] = onnx.TypeProto.Tensor.DESCRIPTOR
    theirs["DimensionProto"] = onnx.TensorShapeProto.Dimension.DESCRIPTOR
    assert set(theirs) == set(_FIELDS)
    for name, descriptor in theirs.items():
        for field in getattr(onnx_messages(), name).DESCRIPTOR.fields:
            other = descriptor.fields_by_name[field.name]
            # An enumeration is written as the whole number that it stands for.
            kind = field.TYPE_INT32 if other.type == field.TYPE_ENUM else other.type
            assert (field.number, field.type, is_repeated(field)) == (
                other.number,
                kind,
                is_repeated(other),
            ), field.name


def test_every_field_that_leads_to_a_tensor_is_known():
    ours = {name: set(fields) for name, fields in _FIELDS.items()}
    for name in (
        "ModelProto",
        "TrainingInfoProto",
        "FunctionProto",
        "GraphProto",
        "NodeProto",
        "AttributeProto",
    ):
        for field in getattr(onnx, name).DESCRIPTOR.fields:
            if field.message_type is not None and leads_to_tensor(field.message_type):
                assert field.name in ours[name], f"{name}.{field.name}"


def leads_to_tensor(message, seen=()):
    if message.name in ("TensorProto", "SparseTensorProto"):
        return True
    inner = [f.message_type for f in message.fields if f.message_type is not None]
    return any(leads_to_tensor(m, (*seen, message.name)) for m in inner if m.name not in seen)


def test_the_default_network_is_built_and_run_without_the_onnx_package(tmp_path):
    code = (
        "import sys, pathlib; sys.modules['onnx'] = None;from dayline.features.extract import"
        " load_extractor; load_extractor('lite0', cache=pathlib.Path(sys.argv[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

